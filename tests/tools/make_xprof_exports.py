"""Generates `sample_profiles/xprof_export` again: `python -m tests.tools.make_xprof_exports`.

The tables are those that `roofline analyze --format xprof` prints, which equal XProf's own cell by
cell; the CSV is written as XProf writes it.
"""

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions
from roofline.devices.resolve import resolve
from roofline.exports.xprof import to_xprof
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from tests.builders import make_steps, profile_from_table, reported
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.xprof_json import our_tables

FOLDER = Path(__file__).resolve().parents[2] / "sample_profiles" / "xprof_export"

TPU = Config(
    device="v5e",
    n_devices=2,
    n_steps=3,
    n_distinct_ops=34,
    n_events=600,
    seed=77,
    traits=("sources", "dma_stall"),
    mean_us=60.0,
    source_files=("model/attention.py", "model/mlp.py", "train/step.py"),
)

# One training step of a small transformer on a GPU, eight times.
GPU_OPS = """
op                  | category         | times | self_us | flop          | hbm_bytes  | source
gemm_fusion_dot.12  | custom fusion    | 64    | 1870.4  | 412316860416  | 603979776  | layers.py:88
cublas-gemm.7       | custom-call      | 64    | 1402.1  | 343597383680  | 536870912  | layers.py:91
loop_fusion.3       | loop fusion      | 128   | 911.75  | 805306368     | 1342177280 | layers.py:95
input_reduce.9      | input fusion     | 64    | 402.6   | 402653184     | 570425344  | norm.py:31
wrapped_transpose.2 | data formatting  | 32    | 288.3   | 0             | 402653184  | layers.py:70
all-reduce.4        | all-reduce       | 8     | 655.2   | 33554432      | 134217728  | train.py:140
custom-call.5       | custom-call      | 16    | 120.9   | –             | –          | topk.py:12
infeed.0            | infeed           | 8     | 90.5    | 0             | 67108864   |
"""


def main() -> None:
    """Write all samples in place."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        tpu = our_tables(write_profile(TPU, scratch))
    gpu = gpu_tables()
    for name, content in {
        "v5e-roofline_model.json": json.dumps(tpu, separators=(",", ":")),
        "a100-roofline_model.csv": as_csv(gpu[0]),
        "a100-hlo_stats.csv": as_csv(hlo_stats(gpu[0])),
    }.items():
        (FOLDER / name).write_text(content, encoding="utf-8")


def gpu_tables() -> list[dict[str, Any]]:
    """The roofline tables of `GPU_OPS` on an A100."""
    device = reported(
        kind=DeviceKind.GPU,
        name="Nvidia GPU (Ampere)",
        gflops=311_869.44,
        gibs={MemoryLevel.HBM: 1448.0},
        has_merged_vmem=True,
    )
    steps = make_steps(
        {"us": 3000.5, "flop": 378_500_000_000, "hbm": 1_800_000_000, "infeed_us": 45.25},
        {"us": 2951.25, "flop": 378_500_000_000, "hbm": 1_800_000_000, "infeed_us": 45.25},
    )
    profile = profile_from_table(GPU_OPS, idle_us=210.0, device=device, steps=steps)
    resolved = resolve(profile.device, catalogue=False)
    analysis = analyse(profile, resolved, AnalysisOptions(xprof_compat=True))
    tables: list[dict[str, Any]] = json.loads(to_xprof(analysis))
    return tables


def as_csv(table: dict[str, Any]) -> str:
    """A table as XProf's CSV writer writes it: all quoted, values as Python prints them."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([column["label"] for column in table["cols"]])
    for row in table["rows"]:
        cells = [None if cell is None else cell.get("v") for cell in row["c"]]
        writer.writerow(["" if value is None else str(value) for value in cells])
    return out.getvalue()


# label in hlo_stats, and the roofline table's column it shows; percent there, fractions here
HLO_STATS = {
    "Rank": "rank",
    "Program id": "hlo_module_id",
    "HLO op category": "category",
    "HLO op name": "operation",
    "HLO op text": "",
    "Framework op name": "",
    "#Occurrences": "occurrences",
    "Total time (us)": "total_time",
    "Avg. time (us)": "avg_time",
    "Total self time (us)": "total_self_time",
    "Avg. self time (us)": "avg_self_time",
    "Total self time (%)": "total_self_time_percent",
    "Model GFLOP/s": "model_flop_rate",
    "Normalized GFLOP/s": "measured_flop_rate",
    "Measured memory BW (GiB/s)": "measured_memory_bw",
    "HBM BW (GiB/s)": "hbm_bw",
    "Operational intensity (FLOPS/Byte)": "operational_intensity",
    "Bound by": "bound_by",
    "Source Info": "source_info",
    "TPU core type": "",
}


def hlo_stats(table: dict[str, Any]) -> dict[str, Any]:
    """The same ops as hlo_stats shows them, infeed left out."""
    ids = [column["id"] for column in table["cols"]]
    rows = [
        dict(zip(ids, (cell.get("v") for cell in row["c"]), strict=True)) for row in table["rows"]
    ]
    kept = [
        row
        for row in rows
        if row["include_infeed_outfeed"]
        and row["category"] not in {"Program", "infeed", "outfeed", "IDLE"}
    ]
    for row in kept:
        row["total_self_time_percent"] *= 100.0
        row[""] = ""
    return {
        "cols": [{"id": column, "label": label} for label, column in HLO_STATS.items()],
        "rows": [{"c": [{"v": row[column]} for column in HLO_STATS.values()]} for row in kept],
    }


if __name__ == "__main__":
    main()

"""XProf's exports: counts recovered exactly, peaks stated or recovered, losses named."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.knowledge import coverage
from roofline.analysis.records import Measures, RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.errors import (
    CorruptProfileError,
    IncompleteProfileError,
    RooflineError,
    UploadRejectedError,
)
from roofline.exports.answering import answer_of
from roofline.exports.text import describe
from roofline.importers.registry import identify
from roofline.importers.source import SourceFile
from roofline.importers.xprof_export import FORMAT_ID, recognises
from roofline.importers.xprof_export.tables import column_id
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.model.units import gib_to_gb
from tests.builders import analysis_on, profile_from_table
from tests.fuzz.importing import read as absurd_read
from tests.narrowing import known
from tests.profiles import imported
from tests.tools import damage
from tests.tools.make_xprof_exports import GPU_OPS, as_csv, gpu_tables, hlo_stats

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_profiles" / "xprof_export"
SHARED = ROOT.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")

GPU_CSV = SAMPLES / "a100-roofline_model.csv"
TPU_JSON = SAMPLES / "v5e-roofline_model.json"
STATS_CSV = SAMPLES / "a100-hlo_stats.csv"


def page(profile: Profile) -> RooflineAnalysis:
    device = resolve(profile.device, catalogue=False)
    return analysis_on(profile, device)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def columns(measures: Measures, rows: Any = slice(None)) -> Iterator[tuple[str, np.ndarray]]:
    """Every numeric column of `Measures`, those per level and unit by "name/key"."""
    for name in (field.name for field in fields(measures)):
        value = getattr(measures, name)
        if isinstance(value, Mapping):
            for key, column in value.items():
                yield f"{name}/{key}", column[rows]
        else:
            yield name, value[rows]


def test_csv_gives_the_ops_it_was_made_from() -> None:
    found, expected = imported(GPU_CSV).ops, profile_from_table(GPU_OPS).ops
    at = [found.name.index(name) for name in expected.name]
    assert [found.category[k] for k in at] == list(expected.category)
    for column in (
        "occurrences",
        "self_time_ps",
        "time_ps",
        "flop",
        "model_flop",
        "bytes_accessed",
    ):
        assert getattr(found, column)[at].tolist() == getattr(expected, column).tolist(), column
    hbm = found.traffic_bytes[MemoryLevel.HBM][at]
    assert hbm.tolist() == expected.traffic_bytes[MemoryLevel.HBM].tolist()
    assert found.cost_known[at].tolist() == expected.cost_known.tolist()
    assert (found.source_file[at[0]], found.source_line[at[0]]) == ("layers.py", 88)


def test_program_and_steps_come_from_the_program_rows() -> None:
    profile = imported(GPU_CSV)
    idle_ps = profile.time_ps - profile.op_time_ps
    assert idle_ps == 210_000_000
    assert profile.steps.label == ("0", "1")
    assert profile.steps.time_ps.tolist() == [3_000_500_000, 2_951_250_000]
    assert profile.steps.sums.flop[0].tolist() == [378_500_000_000, 0]
    assert profile.steps.sums.time_ps[0, 1] == 45_250_000
    assert profile.has_average
    assert profile.device.core_count == 1


def test_csv_peaks_are_recovered_and_the_lack_of_a_name_is_said() -> None:
    profile = imported(GPU_CSV)
    assert profile.device.kind is DeviceKind.GPU
    assert profile.device.name == ""
    assert profile.device.peak_gflops == pytest.approx(311_869.44, rel=1e-9)
    hbm = profile.device.bandwidth_gbs[MemoryLevel.HBM]
    assert hbm == pytest.approx(gib_to_gb(1448.0), rel=1e-9)
    assert "share of the peak" in profile.device.derivation["compute"]
    assert any("neither the device's name nor its peaks" in limit for limit in profile.limits)


def test_csv_without_any_share_asks_for_the_device(tmp_path: Path) -> None:
    tables = gpu_tables()
    ids = [column["id"] for column in tables[0]["cols"]]
    shares = ("compute_efficiency", "roofline_efficiency", "max_mem_bw_utilization")
    for row in tables[0]["rows"]:
        for share in shares:
            row["c"][ids.index(share)]["v"] = 0.0
    profile = imported(written(tmp_path / "t.csv", as_csv(tables[0])))
    assert profile.device.peak_gflops is None
    assert not profile.device.bandwidth_gbs
    assert any("choose the device" in limit for limit in profile.limits)
    assert "no-peaks" in {found.code for found in page(profile).diagnostics}


def test_json_has_name_peaks_and_messages(tmp_path: Path) -> None:
    tables = gpu_tables()
    tables[1]["rows"].append({"c": [{"v": "WARNING"}, {"v": "no step"}]})
    profile = imported(written(tmp_path / "t.json", json.dumps(tables)))
    assert profile.device.name == "Nvidia GPU (Ampere)"
    assert profile.device.peak_gflops == pytest.approx(311_869, rel=1e-5)
    assert not any("CSV" in limit for limit in profile.limits)
    assert [found.message for found in profile.diagnostics] == ["XProf says: no step"]


def test_json_and_csv_give_the_same_ops(tmp_path: Path) -> None:
    table = gpu_tables()[0]
    both = [
        imported(written(tmp_path / "t.json", json.dumps([table]))).ops,
        imported(written(tmp_path / "t.csv", as_csv(table))).ops,
    ]
    assert both[0].name == both[1].name
    assert both[0].flop.tolist() == both[1].flop.tolist()
    assert both[0].bytes_accessed.tolist() == both[1].bytes_accessed.tolist()


def test_tpu_json_counts_every_memory() -> None:
    profile = imported(TPU_JSON)
    assert profile.device.kind is DeviceKind.TPU
    assert profile.device.name == "TPU v5 lite"
    assert profile.device.core_count == 2
    assert profile.steps.label == ("0", "1", "2")
    assert int(profile.ops.traffic_bytes[MemoryLevel.VMEM_READ].sum()) > 0
    assert "ops-not-listed" not in {found.code for found in profile.diagnostics}


def test_hlo_stats_has_ops_and_the_time_of_the_program() -> None:
    profile, whole = imported(STATS_CSV), imported(GPU_CSV)
    assert "infeed.0" not in profile.ops.name
    assert abs(profile.time_ps - whole.time_ps) <= 2
    assert profile.device.peak_gflops is None
    assert profile.device.kind is DeviceKind.GPU
    assert any("no peaks" in limit for limit in profile.limits)
    assert "no-peaks" in {found.code for found in page(profile).diagnostics}


def test_hlo_stats_adds_texts_to_the_roofline_table(tmp_path: Path) -> None:
    table = hlo_stats(gpu_tables()[0])
    table["rows"][0]["c"][4]["v"] = '%dot = bf16[8,8] dot(%a, %b), metadata={"x"}'
    stats = written(tmp_path / "stats.csv", as_csv(table))
    profile = imported(stats, GPU_CSV)
    assert profile.format_label == "XProf export of roofline_model"
    assert profile.ops.long_name[profile.ops.name.index("gemm_fusion_dot.12")].startswith("%dot")


def test_two_tables_of_one_tool_are_refused(tmp_path: Path) -> None:
    other = written(tmp_path / "other.csv", GPU_CSV.read_bytes())
    with pytest.raises(UploadRejectedError, match="both exports of XProf's roofline_model"):
        imported(GPU_CSV, other)


def test_ops_that_the_table_does_not_list_are_named(tmp_path: Path) -> None:
    rows = GPU_CSV.read_text().splitlines(keepends=True)
    kept = "".join(row for row in rows if "cublas-gemm.7" not in row)
    profile = imported(written(tmp_path / "t.csv", kept))
    (note,) = profile.diagnostics
    assert note.code == "ops-not-listed"
    assert "45.4 % of the FLOPs" in note.message


@pytest.mark.parametrize("lost", ["cublas-gemm.7", "cublas-gemm.7 gemm_fusion_dot.12"])
def test_the_export_says_which_part_of_the_time_it_lists(lost: str, tmp_path: Path) -> None:
    """Of a whole table, what no op took is idle time: the part that is listed is not stated."""
    assert coverage(imported(GPU_CSV)) is None
    rows = GPU_CSV.read_text().splitlines(keepends=True)
    kept = "".join(row for row in rows if not any(name in row for name in lost.split()))
    profile = imported(written(tmp_path / "t.csv", kept))
    listed_us = float(profile.ops.self_time_ps.sum()) / 1e6
    assert coverage(profile) == pytest.approx(listed_us / 5951.75)


def test_bytes_that_nobody_split_are_left_out_of_the_programs_memory(tmp_path: Path) -> None:
    tables = gpu_tables()
    ids = [column["id"] for column in tables[0]["cols"]]
    total = tables[0]["rows"][0]["c"]
    assert total[ids.index("operation")]["v"] == "Program"
    unsplit_gibs = 536870912 / (total[ids.index("total_time")]["v"] * 1e-6) / 2**30
    total[ids.index("hbm_bw")]["v"] -= unsplit_gibs
    ops = imported(written(tmp_path / "t.csv", as_csv(tables[0]))).ops
    assert [n for n, k in zip(ops.name, ops.traffic_known, strict=True) if not k] == [
        "cublas-gemm.7",  # 536,870,912 bytes
        "custom-call.5",  # nothing counted
    ]


def test_steps_of_zeros_are_no_steps(tmp_path: Path) -> None:
    tables = gpu_tables()
    ids = [column["id"] for column in tables[0]["cols"]]
    for row in tables[0]["rows"]:
        if row["c"][ids.index("step")]["v"] in {"0", "1", "Average"}:
            row["c"][ids.index("total_time")]["v"] = 0.0
    profile = imported(written(tmp_path / "t.csv", as_csv(tables[0])))
    assert len(profile.steps) == 0
    assert "XProf exported no steps with any time." in profile.limits


def test_spreadsheet_copy_is_read(tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(GPU_CSV.read_text())))
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\r\n").writerows(rows)
    profile = imported(written(tmp_path / "t.csv", out.getvalue().encode("utf-8-sig")))
    assert profile.ops.flop.tolist() == imported(GPU_CSV).ops.flop.tolist()


def test_line_breaks_and_html_in_cells_survive(tmp_path: Path) -> None:
    tables = gpu_tables()
    ids = [column["id"] for column in tables[0]["cols"]]
    source = (
        "<div class='source-info-cell' title='a &lt;b&gt;.py:5\nmain.py:9'>a &lt;b&gt;.py:5</div>"
    )
    name = '<script>alert("x")</script>, fusion'
    row = tables[0]["rows"][3]["c"]
    row[ids.index("source_info")]["v"], row[ids.index("operation")]["v"] = source, name
    ops = imported(written(tmp_path / "t.csv", as_csv(tables[0]))).ops
    at = ops.name.index(name)
    assert (ops.source_file[at], int(ops.source_line[at])) == ("a <b>.py", 5)
    assert ops.source_stack[at] == "a <b>.py:5\nmain.py:9"


def test_a_word_in_a_number_column_is_located(tmp_path: Path) -> None:
    content = GPU_CSV.read_text().replace('"1870.4"', '"fast"')
    with pytest.raises(CorruptProfileError, match=r"line 3: “fast” in column total_time"):
        imported(written(tmp_path / "t.csv", content))


@pytest.mark.parametrize("sample", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_cut_and_flipped_copies(sample: Path, tmp_path: Path) -> None:
    data, path = sample.read_bytes(), tmp_path / "damaged"
    for content in (*damage.cuts(data, 70), *damage.flips(data, 50)):
        damage.outcome([written(path, content)])


def test_a_cut_copy_says_where(tmp_path: Path) -> None:
    error = damage.outcome([written(tmp_path / "cut.csv", GPU_CSV.read_bytes()[:5000])])
    assert "cut.csv ends in the middle of a row (line" in known(error).message
    error = damage.outcome([written(tmp_path / "cut.json", TPU_JSON.read_bytes()[:9000])])
    assert "cut.json is not a whole JSON document" in known(error).message


def test_columns_by_label() -> None:
    assert column_id("Total self time (us)") == "total_self_time"
    assert column_id("Total self time (%)") == "total_self_time_percent"
    assert column_id("SHM/L1 BW (GiB/s)") == "shm_l1_bw"
    assert column_id("Max memory BW utilization (among supported memories) (%)") == (
        "max_mem_bw_utilization"
    )


MI300X = {
    "device_type": "AMD GPU - gfx942",
    "peak_flop_rate": "1.30744e+06",
    "peak_hbm_bw": "2479.55",
    "peak_vmem_write_bw": "76103.2",
}


def on_mi300x(tables: Sequence[dict[str, Any]]) -> str:
    tables[0]["p"] |= MI300X
    return json.dumps(tables)


def test_the_memory_clock_of_amd_is_corrected_as_in_the_capture(tmp_path: Path) -> None:
    """The driver counts half of the transfers of HBM3; the data sheet says 5.3 TB/s."""
    profile = imported(written(tmp_path / "t.json", on_mi300x(gpu_tables())))
    device = resolve(profile.device)
    assert device.part_name == "Instinct MI300X"
    assert device.memory_gbs(MemoryLevel.HBM) == pytest.approx(2 * gib_to_gb(2479.55))
    (hbm,) = (one for one in device.comparisons if one.id == "hbm")
    assert "drawn at twice the profile's figure" in hbm.explanation
    assert "amd-memory-clock" in {found.code for found in profile.diagnostics}


def test_the_peaks_of_an_export_tell_which_nvidia_part_it_is(tmp_path: Path) -> None:
    tables = gpu_tables()
    tables[0]["p"] |= {"peak_hbm_bw": "1448.36", "peak_vmem_write_bw": "36306.1"}
    profile = imported(written(tmp_path / "t.json", json.dumps(tables)))
    device = resolve(profile.device)
    assert "A100" in device.part_name
    # 128 bytes per SM and cycle; XProf says 256.
    assert device.memory_gbs(MemoryLevel.SHARED_L1) == pytest.approx(108 * 1.41 * 128, rel=1e-3)
    assert not any(found.code == "amd-memory-clock" for found in profile.diagnostics)


@needs_shared
def test_an_export_of_an_mi300x_has_the_roofs_of_its_capture() -> None:
    export = imported(SHARED / "samples" / "xprof_export" / "mi300x_conv_roofline_model.json")
    capture = imported(SHARED / "profiles" / "amd-mi300x-conv-jax08" / "host_0.xplane.pb")
    shares = []
    for profile in (export, capture):
        analysis = analysis_on(profile)
        at = analysis.ops.name.index("input_transpose_fusion")
        shares.append(float(analysis.ops.measures.roofline_efficiency_ratio[at]))
    analysis = page(export)
    said = describe(analysis, analysis.with_infeed, answer_of(analysis))
    assert "What a profile of XProf export of roofline_model cannot know" in said
    assert "leaves results in tuples" in " ".join(said.split())
    assert shares[0] == pytest.approx(0.599, abs=0.001)
    assert shares[0] == pytest.approx(shares[1], rel=1e-5)  # the export's peaks have six digits


def only_the_program(tables: Sequence[dict[str, Any]]) -> str:
    """As XProf writes a capture of which it drops every kernel."""
    ids = [column["id"] for column in tables[0]["cols"]]
    program = ids.index("operation")
    rows = [row for row in tables[0]["rows"] if row["c"][program]["v"] == "Program"]
    for row in rows:
        for name, cell in zip(ids, row["c"], strict=True):
            if name.endswith(("_rate", "_bw", "_intensity")):
                cell["v"] = 0.0
    tables[0]["rows"] = rows
    return json.dumps(tables)


def test_an_export_without_any_kernel_is_not_idle(tmp_path: Path) -> None:
    profile = imported(written(tmp_path / "t.json", only_the_program(gpu_tables())))
    assert not len(profile.ops)
    (note,) = profile.diagnostics
    assert note.code == "no-operations"
    assert "none of its kernels names an instruction" in note.message
    analysis = page(profile)
    assert not len(analysis.with_infeed.op)
    assert analysis.with_infeed.program.measures.total_time_us[0] > 0


@needs_shared
def test_a_real_export_without_any_kernel_says_why() -> None:
    """TensorFlow of 2020: no compiled programs, so XProf lists none of 1,330 kernels."""
    profile = imported(SHARED / "profiles" / "gpu-v100-tf-multiworker" / "reference.json")
    assert [found.code for found in profile.diagnostics] == ["no-operations"]
    assert not len(page(profile).with_infeed.op)


def test_hlo_stats_without_any_row_says_what_that_means(tmp_path: Path) -> None:
    table = hlo_stats(gpu_tables()[0])
    table["rows"] = []
    with pytest.raises(IncompleteProfileError, match="XProf lists no operation of this capture"):
        imported(written(tmp_path / "t.csv", as_csv(table)))


# Where XProf's table differs from the capture, as its reference does too: it counts HBM bytes of
# these ops in its own way, and lists neither copies nor the steps of this capture.
# The table does not say which link a collective uses; the capture's replica groups do.
OTHER_IN_XPROF = {"all-gather.11", "all-reduce.10", "dynamic-update-slice.17"}
NOT_LISTED = {"MemcpyH2D"}


@needs_shared
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_a_page_of_the_export_is_that_of_the_capture(suffix: str) -> None:
    capture = page(imported(SHARED / "cases" / "s09_a100_training" / "host_0.xplane.pb"))
    export = page(imported(SHARED / "samples" / "xprof_export" / f"a100_roofline_model.{suffix}"))
    names = [n for n in capture.profile.ops.name if n not in OTHER_IN_XPROF | NOT_LISTED]
    assert set(names) | OTHER_IN_XPROF == set(export.profile.ops.name)
    theirs = [capture.ops.name.index(name) for name in names]
    ours = [export.ops.name.index(name) for name in names]
    tolerance = 1e-9 if suffix == "csv" else 1e-5  # the JSON's peaks have six digits
    expected = dict(columns(capture.ops.measures, theirs))
    for name, column in columns(export.ops.measures, ours):
        if name.split("/")[0] in {"unit", "unit_rate_gflops", "unit_utilisation_ratio"}:
            continue  # an export does not split work by compute unit
        np.testing.assert_allclose(column, expected[name], rtol=tolerance, err_msg=name)
    assert capture.device.core_count == export.device.core_count


@needs_shared
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_the_program_of_the_export_is_what_xprof_shows(suffix: str) -> None:
    reference = json.loads(
        (SHARED / "cases" / "s09_a100_training" / "reference.json").read_text("utf-8")
    )[0]
    ids = [column["id"] for column in reference["cols"]]
    total = dict(zip(ids, (cell["v"] for cell in reference["rows"][0]["c"]), strict=True))
    export = page(imported(SHARED / "samples" / "xprof_export" / f"a100_roofline_model.{suffix}"))
    measures = export.with_infeed.program.measures
    found = {
        "total_time": measures.total_time_us[0],
        "total_time_per_core": measures.total_time_per_core_us[0],
        "measured_flop_rate": measures.flop_rate_gflops[0],
        "model_flop_rate": measures.model_flop_rate_gflops[0],
        "measured_memory_bw": measures.memory_bandwidth_gibs[0],
        "hbm_bw": measures.bandwidth_gibs[MemoryLevel.HBM][0],
        "bottleneck_operational_intensity": measures.bottleneck_intensity[0],
        "roofline_efficiency": measures.roofline_efficiency_ratio[0],
        "compute_efficiency": measures.compute_efficiency_ratio[0],
        "optimal_flop_rate": measures.attainable_gflops[0],
    }
    for name, value in found.items():
        assert value == pytest.approx(total[name], rel=1e-8 if suffix == "csv" else 1e-5), name


def on_gpus(tmp_path: Path, cores: int, *occurrences: int) -> Path:
    """An export of a machine with `cores` GPUs, whose operations ran so many times."""
    table = gpu_tables()[0]
    at = {column["id"]: k for k, column in enumerate(table["cols"])}
    counts = iter(occurrences)
    for row in table["rows"]:
        cells = row["c"]
        cells[at["total_time_per_core"]]["v"] = cells[at["total_time"]]["v"] / cores
        if cells[at["operation"]]["v"] not in ("Program", "IDLE"):
            cells[at["occurrences"]]["v"] = next(counts, occurrences[-1])
    return written(tmp_path / f"{cores}_{occurrences[0]}.csv", as_csv(table))


def test_gpus_that_ran_nothing_are_not_in_the_mean(tmp_path: Path) -> None:
    """One GPU of eight worked for 6 ms: that is not 0.74 ms on each."""
    path = on_gpus(tmp_path, 8, 1)
    profile = imported(path)
    assert profile.device.core_count == profile.hosts[0].core_count == 1
    total = page(profile).with_infeed.program.measures
    assert total.total_time_per_core_us[0] == pytest.approx(5951.75)
    (note,) = [one for one in profile.diagnostics if one.code == "gpus-without-kernels"]
    assert note.message.startswith("7 of 8 GPUs ran nothing")
    as_xprof = imported(path, xprof_compat=True)
    assert as_xprof.device.core_count == 8
    assert "gpus-without-kernels" not in {one.code for one in as_xprof.diagnostics}


def test_only_gpus_that_certainly_rested_are_left_out(tmp_path: Path) -> None:
    most = imported(on_gpus(tmp_path, 8, 3, 2))
    assert most.device.core_count == 3
    assert any("At least 5 of 8 GPUs ran nothing" in one.message for one in most.diagnostics)
    # Ten runs of each operation may be ten of one GPU or two of five: the rows do not tell.
    assert imported(on_gpus(tmp_path, 8, 10)).device.core_count == 8
    assert imported(on_gpus(tmp_path, 8, 0)).device.core_count == 8


@needs_shared
def test_real_export_of_eight_gpus_that_all_ran() -> None:
    path = SHARED / "samples" / "xprof_export" / "mi300x_conv_roofline_model.json"
    assert imported(path).device.core_count == 8


@needs_shared
def test_real_tpu_export_has_steps_and_cmem() -> None:
    profile = imported(SHARED / "samples" / "xprof_export" / "v4_roofline_model.csv")
    assert profile.steps.label == ("0", "1", "2", "3")
    assert profile.device.kind is DeviceKind.TPU
    assert profile.device.peak_gflops == pytest.approx(275_000, rel=1e-9)
    assert int(profile.ops.traffic_bytes[MemoryLevel.CMEM_READ].sum()) > 0


@pytest.mark.parametrize("sample", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_recognised_by_content(sample: Path, tmp_path: Path) -> None:
    copy = SourceFile(written(tmp_path / "something.bin", sample.read_bytes()))
    assert recognises(copy)
    assert identify(copy).FORMAT_ID == FORMAT_ID


@pytest.mark.parametrize(
    "content",
    [
        b"name,flops,time_s\nk,1,2\n",
        b'"Step","Rank"\n',
        b'{"traceEvents": []}',
        b'[{"cols":[{"id":"a"}],"rows":[]}]',
        b"\x00\x01",
    ],
)
def test_other_tables_are_left_to_others(content: bytes, tmp_path: Path) -> None:
    assert not recognises(SourceFile(written(tmp_path / "t", content)))


@pytest.mark.parametrize(
    "content",
    [
        '[{"cols":[{"id":"operation"},{"id":"bottleneck_operational_intensity"}],"rows":[]}]',
        '[{"cols":[{"id":"operation"},{"id":"bottleneck_operational_intensity"}],"rows":[{"c":[]}]}]',
        '[{"cols":"operation bottleneck_operational_intensity","rows":3}]',
        '{"rows":[1],"cols":[{"id":"hlo_op_name"},{"id":"total_self_time"}]}',
    ],
)
def test_hollow_tables_are_refused(content: str, tmp_path: Path) -> None:
    with pytest.raises(RooflineError):
        imported(written(tmp_path / "t.json", content))


@pytest.mark.parametrize(
    ("place", "absurd", "ended"),
    [
        ("cell", "9" * 400, "corrupt-profile"),
        ("cell", "[" * 2_000, "corrupt-profile"),
        ("cell", "1e308", "read"),
        ("peak", "1e308", "read"),
    ],
)
def test_a_number_that_nothing_can_have_gives_a_sentence_or_is_unknown(
    place: str, absurd: str, ended: str, tmp_path: Path
) -> None:
    tables = json.loads(TPU_JSON.read_text())
    if place == "peak":
        tables[0]["p"]["peak_flop_rate"] = "MARK"
    else:
        tables[0]["rows"][3]["c"] = [{"v": "MARK"} for _ in tables[0]["cols"]]
    content = json.dumps(tables).replace('"MARK"', absurd).encode()
    assert absurd_read([("t.json", content)], tmp_path, is_drawn=place == "peak") == ended

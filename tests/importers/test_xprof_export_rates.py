"""Every row of an export shows the rates that the file states: XProf divides work by total time."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.records import Measures, RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.model.memory import TPU_ON_CHIP_LEVELS, MemoryLevel
from tests.builders import analysis_on
from tests.profiles import imported
from tests.tools.make_xprof_exports import as_csv, hlo_stats

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the reference folder is not there")

KEPT = sorted((ROOT / "tests" / "golden" / "xspace").glob("*/reference.json.gz"))
IN_SHARED = sorted(
    [
        *SHARED.glob("cases/*/reference.json"),
        *SHARED.glob("profiles/*/reference.json"),
        *SHARED.glob("samples/xprof_export/*roofline_model.json"),
    ]
)
TRAINING = SHARED / "profiles" / "tpu-v5p-training-golden" / "reference.json"
LEVELS = (MemoryLevel.HBM, *TPU_ON_CHIP_LEVELS)
TOLERANCE = 1e-9

Table = dict[str, Any]
Key = tuple[str, str, str]


def tables_in(path: Path) -> list[Table]:
    data = path.read_bytes()
    tables: list[Table] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return tables


def page(path: Path) -> RooflineAnalysis:
    profile = imported(path)
    return analysis_on(profile, resolve(profile.device, catalogue=False))


def row_of(measures: Measures, row: int) -> dict[str, float]:
    """Times, rates, bandwidths and intensities of one row, by the ids of XProf's columns."""
    columns = {
        "total_time": measures.total_time_us,
        "avg_time": measures.avg_time_us,
        "total_self_time": measures.self_time_us,
        "avg_self_time": measures.avg_self_time_us,
        "total_time_per_core": measures.total_time_per_core_us,
        "dma_stall_percent": measures.dma_stall_ratio,
        "measured_flop_rate": measures.flop_rate_gflops,
        "model_flop_rate": measures.model_flop_rate_gflops,
        "measured_memory_bw": measures.memory_bandwidth_gibs,
        "operational_intensity": measures.operational_intensity,
    }
    for level in LEVELS:
        if level in measures.bandwidth_gibs:
            columns[f"{level}_bw"] = measures.bandwidth_gibs[level]
            columns[f"{level}_operational_intensity"] = measures.intensity[level]
    return {name: float(column[row]) for name, column in columns.items()}


def shown(analysis: RooflineAnalysis, *, infeed: bool) -> dict[Key, dict[str, float]]:
    """What the page shows in one of its two states, by step, operation and program."""
    view = analysis.with_infeed if infeed else analysis.without_infeed
    ops, program = analysis.ops, view.program
    rows = {
        ("Total", ops.name[op], str(ops.program_id[op])): row_of(ops.measures, op)
        for op in view.op.tolist()
    }
    points = {
        (label, "Program", "0"): row_of(program.measures, row)
        for row, label in enumerate(program.label)
    }
    return {**rows, **points}


def stated(table: Table, *, infeed: bool) -> Iterator[tuple[Key, dict[str, Any]]]:
    ids = [column["id"] for column in table["cols"]]
    for row in table["rows"]:
        cells = dict(zip(ids, (cell["v"] for cell in row["c"]), strict=True))
        if cells["include_infeed_outfeed"] == infeed:
            yield (cells["step"], cells["operation"], cells["hlo_module_id"]), cells


def differences(path: Path) -> tuple[int, list[str]]:
    """How many values of a roofline table were compared, and which of them the page shows
    differently. XProf writes 0 for what is unknown and for steps that it could not fill."""
    analysis, compared, found = page(path), 0, []
    for infeed in (True, False):
        rows = shown(analysis, infeed=infeed)
        for key, cells in stated(tables_in(path)[0], infeed=infeed):
            if cells["total_time"] == 0 and key not in rows:
                continue
            for column, value in rows[key].items():
                expected = cells.get(column, 0.0)
                compared += 1
                if expected and value != pytest.approx(expected, rel=TOLERANCE):
                    found.append(f"{key} {column}: {expected} in the file, {value} here")
                if not expected and value > 0:
                    found.append(f"{key} {column}: 0 in the file, {value} here")
    return compared, found


def unpacked(path: Path, folder: Path) -> Path:
    target = folder / "reference.json"
    target.write_text(json.dumps(tables_in(path)))
    return target


@pytest.mark.parametrize("reference", KEPT, ids=lambda path: path.parent.name)
def test_rates_are_those_of_the_file(reference: Path, tmp_path: Path) -> None:
    compared, found = differences(unpacked(reference, tmp_path))
    assert compared > 100
    assert not found, "\n".join(found[:10])


@needs_shared
@pytest.mark.parametrize("reference", IN_SHARED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_rates_of_every_shared_export_are_those_of_the_file(reference: Path) -> None:
    compared, found = differences(reference)
    assert compared > 0
    assert not found, "\n".join(found[:10])


@needs_shared
def test_fusions_that_contain_others_keep_their_rates() -> None:
    """Their total time is up to nine times their self time."""
    ops = page(TRAINING).ops
    tflops = ops.measures.flop_rate_gflops / 1e3
    found = {name: round(float(tflops[ops.name.index(name)]), 1) for name in FUSIONS}
    assert found == FUSIONS


FUSIONS = {"fusion.606": 36.8, "fusion.634": 71.0, "fusion.617": 100.9}


@pytest.mark.parametrize("tool", ["roofline_model", "hlo_stats"])
def test_the_csv_has_the_same_rates(tool: str, tmp_path: Path) -> None:
    """hlo_stats divides by total time, too: tried with XProf 2.24.2 on this capture."""
    table = tables_in(next(path for path in KEPT if "s01" in path.parent.name))[0]
    path = tmp_path / "export.csv"
    path.write_text(as_csv(hlo_stats(table) if tool == "hlo_stats" else table))
    ops = page(path).ops
    contain_others = 0
    for (step, name, _), cells in stated(table, infeed=True):
        if step != "Total" or name == "Program" or name not in ops.name:
            continue
        row = ops.name.index(name)
        contain_others += cells["total_time"] > 1.001 * cells["total_self_time"]
        rate = float(ops.measures.flop_rate_gflops[row])
        moved = float(ops.measures.memory_bandwidth_gibs[row])
        if cells["measured_flop_rate"]:
            assert rate == pytest.approx(cells["measured_flop_rate"], rel=TOLERANCE), name
        if cells["measured_memory_bw"]:
            assert moved == pytest.approx(cells["measured_memory_bw"], rel=TOLERANCE), name
    assert contain_others >= 3

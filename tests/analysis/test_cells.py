"""A quotient that is not a rate is not shown, and its row says why; decisions use all quotients."""

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.causes import Cause, NotShown
from roofline.analysis.records import AnalysisOptions, OpRecords, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.devices.resolve import resolve
from roofline.exports.answering import answer_of
from roofline.exports.render import render
from roofline.model.memory import MemoryLevel
from roofline.model.units import gib_to_gb
from roofline.pipeline import analyse_files
from roofline.presentation.page import PageIdentity, page_data
from tests.builders import analysed, analysis_on, profile_from_table
from tests.moving import moving
from tests.profiles import imported

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
V6E = SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"
CASES = sorted((SHARED / "cases").glob("*/host_0.xplane.pb"))
SAMPLES = sorted((ROOT / "sample_profiles" / "xspace").glob("*.pb"))
# The peaks are 1000 GFLOP/s and 100 GiB/s: 107,374 bytes and 1e6 FLOPs a microsecond.
HEAD = "op|category|self_us|times|flop|hbm_bytes\n"
HBM = MemoryLevel.HBM
MEMORY = ("memory_bandwidth_gibs", "memory_utilisation_ratio", "roofline_efficiency_ratio")


def shown(table: str, **rest: Any) -> OpRecords:
    return analysed(HEAD + table, **rest).ops


def value(ops: OpRecords, column: str, row: int = 0) -> float:
    return float(getattr(ops.cells, column)[row])


def is_empty(ops: OpRecords, *columns: str, row: int = 0) -> bool:
    return all(math.isnan(value(ops, column, row)) for column in columns)


@pytest.mark.parametrize("name", ["copy-start.1|copy-start", "slice-done|async-done"])
def test_an_asynchronous_op_has_no_rate_above_its_peak(name: str) -> None:
    ops = shown(f"{name}|10|1|0|1.2e6")
    assert is_empty(ops, *MEMORY)
    assert math.isnan(ops.cells.bandwidth_gibs[HBM][0])
    assert value(ops, "flop_rate_gflops") == 0.0
    assert ops.not_shown[0] is NotShown.ASYNCHRONOUS
    assert ops.above_roof[0] is Cause.ASYNCHRONOUS
    assert ops.measures.memory_utilisation_ratio[0] == pytest.approx(1.1176, rel=1e-3)
    below = shown(f"{name}|10|1|0|1.1e6")
    assert value(below, "roofline_efficiency_ratio") == pytest.approx(1.0245, rel=1e-3)
    assert below.not_shown[0] is None


@pytest.mark.parametrize(
    ("table", "empty"),
    [
        ("x|loop fusion|1|1|0|1.1e6", MEMORY),
        ("x|dot|1|1|1.1e7|1e3", ("flop_rate_gflops", "compute_efficiency_ratio")),
    ],
)
def test_above_ten_times_its_peak_nothing_is_a_rate(table: str, empty: tuple[str, ...]) -> None:
    ops = shown(table)
    assert is_empty(ops, *empty, "attainable_gflops")
    assert ops.not_shown[0] is NotShown.IMPOSSIBLE
    assert ops.above_roof[0] is not None


def test_up_to_ten_times_a_share_is_shown_with_its_cause() -> None:
    ops = shown("x|loop fusion|1|1|0|1e6")
    assert value(ops, "roofline_efficiency_ratio") == pytest.approx(9.31, rel=1e-3)
    assert (ops.not_shown[0], ops.above_roof[0]) == (None, Cause.COMPILER_ESTIMATE)


@pytest.mark.covers(94, 117, 175, 179)
@pytest.mark.parametrize("share", [0.92, 0.55, 0.35, 0.78])
@pytest.mark.parametrize("of_ridge", [0.5, 2.0])
def test_a_kernel_of_the_guide_has_its_share_of_the_roof(share: float, of_ridge: float) -> None:
    """FLOPs ÷ bytes, FLOPs ÷ time, and the share: below the ridge and beyond it, in a second."""
    flop, ridge = 1e12 * share * min(of_ridge, 1.0), 1000 / gib_to_gb(100)
    ops = shown(f"A|loop fusion|1e6|1|{flop}|{flop / (of_ridge * ridge)}")
    assert value(ops, "roofline_efficiency_ratio") == pytest.approx(share)
    assert value(ops, "operational_intensity") == pytest.approx(of_ridge * ridge)
    assert value(ops, "flop_rate_gflops") == pytest.approx(flop / 1e9)


@pytest.mark.parametrize(("each_ns", "is_rate"), [(9, False), (10, True)])
def test_below_ten_nanoseconds_a_call_nothing_is_a_rate(each_ns: int, is_rate: bool) -> None:
    """The mean of a hundred calls tells as little as one: every call has the error of the clock."""
    ops = shown(f"x|loop fusion|{each_ns / 10}|100|1e5|1e4")
    columns = (*MEMORY, "flop_rate_gflops", "compute_efficiency_ratio", "attainable_gflops")
    assert is_empty(ops, *columns) is not is_rate
    assert ops.not_shown[0] is (None if is_rate else NotShown.SHORT)
    assert value(ops, "operational_intensity") == 10.0
    assert value(ops, "total_time_us") == each_ns / 10


def test_below_a_tick_of_the_files_clock_nothing_is_a_rate() -> None:
    table = "x|loop fusion|90|100|1e6|1e5"
    assert shown(table).not_shown[0] is None
    assert shown(table, clock_tick_ps=1_000_000).not_shown[0] is NotShown.SHORT


@pytest.mark.parametrize(("moved", "is_shown"), [(63, False), (64, True)])
def test_less_than_a_line_of_a_cache_has_no_intensity(moved: int, is_shown: bool) -> None:
    ops = shown(f"x|loop fusion|50|10|500|{10 * moved}")
    names = ("operational_intensity", "bottleneck_intensity")
    assert is_empty(ops, *names) is not is_shown
    assert math.isnan(ops.cells.intensity[HBM][0]) is not is_shown
    assert value(ops, "memory_bandwidth_gibs") > 0
    assert ops.not_shown[0] is (None if is_shown else NotShown.CACHE_LINE)


def test_the_use_of_a_memory_above_all_of_it_needs_the_time_for_itself() -> None:
    head = "op|category|self_us|time_us|flop|hbm_bytes\n"
    held = analysed(f"{head}x|loop fusion|5|10|0|1.2e6").ops
    alone = analysed(f"{head}x|loop fusion|10|10|0|1.2e6").ops
    assert is_empty(held, "memory_utilisation_ratio")
    assert value(alone, "memory_utilisation_ratio") == pytest.approx(1.1176, rel=1e-3)


def test_transfers_have_the_columns_of_their_link_alone() -> None:
    profile = moving()
    ops = analysis_on(profile).ops
    rows = [row for row, cost in enumerate(ops.cost) if cost == "transfer"]
    assert len(rows) == 7
    for row in rows:
        assert is_empty(
            ops,
            *("memory_bandwidth_gibs", "memory_utilisation_ratio"),
            *("operational_intensity", "bottleneck_intensity"),
            row=row,
        )
        assert math.isnan(ops.cells.bandwidth_gibs[HBM][row])
        assert all(math.isnan(column[row]) for column in ops.cells.intensity.values())
        assert ops.not_shown[row] is not None
    done = ops.name.index("copy-done.1")
    assert ops.cells.bandwidth_gibs[MemoryLevel.HOST][done] > 0
    assert value(ops, "roofline_efficiency_ratio", done) == pytest.approx(0.8)
    assert value(ops, "memory_bandwidth_gibs", ops.name.index("matmul")) > 0


def columns_of(ops: OpRecords) -> dict[str, Floats]:
    """Every column that is shown, and shares of peaks."""
    columns: dict[str, Floats] = {}
    for column in fields(ops.cells):
        values = getattr(ops.cells, column.name)
        named = values.items() if isinstance(values, Mapping) else [("all", values)]
        columns |= {f"{key}_{column.name}": by_key for key, by_key in named}
    return columns


@pytest.mark.parametrize("seed", range(20))
def test_of_random_work_no_share_is_above_ten_times_its_peak(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = ["loop fusion", "copy-start", "copy-done", "dot", "while"]
    rows = [
        f"x{k}|{rng.choice(kinds)}|{10 ** rng.uniform(-3, 3):.6f}|{rng.integers(1, 50)}"
        f"|{10 ** rng.uniform(0, 9):.0f}|{10 ** rng.uniform(0, 9):.0f}"
        for k in range(40)
    ]
    analysis = analysed(HEAD + "\n".join(rows))
    ops = analysis.ops
    for name, column in columns_of(ops).items():
        if name.endswith("_ratio"):
            assert np.nan_to_num(column).max(initial=0.0) <= 10, name
    rates = np.nan_to_num(ops.cells.memory_bandwidth_gibs[:-1])
    halves = np.array(["copy-" in category for category in ops.category[:-1]])
    assert rates[halves].max(initial=0.0) <= 103
    every = columns_of(replace(ops, cells=ops.measures))
    told = [row for row, why in enumerate(ops.not_shown) if why is None]
    for name, column in columns_of(ops).items():
        if name != "all_memory_utilisation_ratio":
            assert np.array_equal(column[told], every[name][told], equal_nan=True), name


def is_rate_of(name: str) -> bool:
    """True for rates, but not for those of roofs, and those from which a rule begins."""
    is_rate = name.endswith(("_gibs", "_gbs"))
    return is_rate and not any(word in name for word in ("peak", "roofs", "least"))


def numbers(found: Any, path: str = "") -> list[tuple[str, float]]:
    """Every number of a document, with where it stands."""
    if isinstance(found, dict):
        return [one for key, inner in found.items() for one in numbers(inner, f"{path}.{key}")]
    if isinstance(found, list):
        return [one for inner in found for one in numbers(inner, path)]
    return [(path, float(found))] if isinstance(found, int | float) else []


@pytest.mark.skipif(not V6E.is_file(), reason="the reference folder is not there")
def test_no_view_of_a_real_capture_has_the_rates_of_copies_that_take_no_time() -> None:
    """1,871,446,100 GB/s and 1,142,520 times the peak stood in the table, its exports and notes."""
    analysis = analyse_files([V6E])
    assert np.nanmax(analysis.ops.measures.memory_utilisation_ratio) > 1_000_000
    documents = {
        "json": json.loads(render(analysis, "json", infeed=True)),
        "page": page_data(analysis, answer_of(analysis), PageIdentity(id="p", created_at="")),
    }
    for name, document in documents.items():
        rates = [one for path, one in numbers(document) if is_rate_of(path)]
        assert 100 < max(rates) < 30_000, name
    rows = csv.DictReader(io.StringIO(render(analysis, "csv", infeed=True).decode()))
    for row in rows:
        rates = [float(cell) for name, cell in row.items() if is_rate_of(name) and cell]
        assert max(rates, default=0.0) < 30_000, row
        if row["cost"] == "transfer":
            assert not row["hbm_bandwidth_gibs"] and not row["operational_intensity"]
    text = render(analysis, "text", infeed=True).decode()
    assert "×" not in text


@pytest.mark.parametrize("path", [*SAMPLES, *CASES], ids=lambda path: path.parent.name + path.name)
def test_comparison_mode_shows_every_quotient(path: Path) -> None:
    profile = imported(path, xprof_compat=True)
    found = analyse(
        profile, resolve(profile.device, catalogue=False), AnalysisOptions(xprof_compat=True)
    )
    assert found.ops.cells is found.ops.measures
    assert not any(found.ops.not_shown)


def messages(analysis: RooflineAnalysis) -> str:
    return " ".join(note.message for note in analysis.diagnostics)


def test_notes_name_no_factor_that_no_peak_explains() -> None:
    table = "x|loop fusion|1|1|0|4e6\ny|dot|1|1|4e7|1e3"
    analysis = analysed(HEAD + table)
    found = messages(analysis)
    assert "1 op runs above a memory roof, some by more than 10 times." in found
    assert "1 op runs above the compute peak, some by more than 10 times." in found
    lower = messages(analysed(HEAD + "x|loop fusion|1|1|0|4e5"))
    assert "up to 3.73 times it" in lower


def test_the_page_says_why_a_cell_is_empty() -> None:
    profile = profile_from_table(f"{HEAD}x|loop fusion|0.2|100|1e5|1e4\ny|dot|100|1|1e6|1e5")
    analysis = analysis_on(profile)
    ops = page_data(analysis, answer_of(analysis), PageIdentity(id="p", created_at=""))["ops"][
        "columns"
    ]
    (why,) = (text for text in ops["not_shown"] if text)
    assert why == "Not a rate: the op was measured for 2.00\N{NO-BREAK SPACE}ns."
    assert ops["not_shown"][ops["name"].index("x")] == why

"""Op records: rates, bounds and costs of every op, in both modes."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.units import GB_PER_GIB
from tests.builders import ABSENT, LEVELS, analysed, reported

HBM, VMEM_READ, VMEM_WRITE = MemoryLevel.HBM, MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE
GIB = 2**30

# 1 ms each: 100 MFLOP is 10 % of the compute peak, 10 MiB about 10 % of the HBM peak.
TWO_OPS = """
op     | category | self_us | flop | hbm_bytes
matmul | fusion   | 1000    | 5e8  | 1e6
add    | fusion   | 1000    | 1e6  | 5e7
"""


def measured(analysis: RooflineAnalysis, name: str) -> dict[str, float]:
    """One op's measures, by column."""
    row = analysis.ops.name.index(name)
    measures = analysis.ops.measures
    values = {column: getattr(measures, column) for column in measures.__dataclass_fields__}
    flat = {k: float(v[row]) for k, v in values.items() if not hasattr(v, "keys")}
    return flat | {f"{level}_gibs": float(c[row]) for level, c in measures.bandwidth_gibs.items()}


def test_rates_divide_work_by_time_children_included() -> None:
    analysis = analysed("op|self_us|time_us|flop|hbm_bytes\nouter|1|10|2e7|1e6")
    op = measured(analysis, "outer")
    assert op["flop_rate_gflops"] == pytest.approx(2e7 / 10e3)
    assert op["hbm_gibs"] == pytest.approx(1e6 / 10e-6 / GIB)
    assert op["operational_intensity"] == pytest.approx(20.0)


@pytest.mark.covers(40)
def test_bound_is_the_ceiling_used_most() -> None:
    analysis = analysed(TWO_OPS)
    labels = [analysis.bound_label(int(code)) for code in analysis.ops.measures.bound]
    assert labels == ["Compute", "HBM", "Unknown"]
    assert measured(analysis, "matmul")["roofline_efficiency_ratio"] == pytest.approx(0.5)


@pytest.mark.covers(41)
def test_on_chip_memory_binds_where_it_is_used_most() -> None:
    device = reported(gibs={HBM: 100.0, VMEM_WRITE: 1000.0})
    table = "op|self_us|flop|hbm_bytes|vmem_write_bytes\ncopy|1000|10|1e6|1e9"
    analysis = analysed(table, device=device)
    op = measured(analysis, "copy")
    assert analysis.bound_label(int(op["bound"])) == "VMEM Write"
    assert op["bottleneck_intensity"] == pytest.approx(10 / 1e9)
    assert op["memory_utilisation_ratio"] == pytest.approx(1e9 / 1e-3 / GIB / 1000)


def test_saving_is_the_self_time_beyond_the_roof() -> None:
    analysis = analysed(TWO_OPS, device=reported(cores=4))
    row = analysis.ops.name.index("matmul")
    assert analysis.ops.saving_per_core_us[row] == pytest.approx(1000 / 4 * 0.5)


def test_op_above_its_roof_is_kept_and_promises_no_saving() -> None:
    analysis = analysed("op|self_us|flop|hbm_bytes\nfast|1000|2e9|1e6")
    assert measured(analysis, "fast")["roofline_efficiency_ratio"] == pytest.approx(2.0)
    assert math.isnan(analysis.ops.saving_per_core_us[0])


@pytest.mark.parametrize(
    ("flop", "moved", "cost"),
    [
        ("5", "5", Cost.KNOWN),
        ("5", "0", Cost.KNOWN),
        ("0", "5", Cost.NO_FLOPS),
        (ABSENT, "5", Cost.NO_FLOPS),
        ("0", "0", Cost.NO_FLOPS),
        (ABSENT, ABSENT, Cost.UNKNOWN),
    ],
)
def test_cost_tells_zero_from_not_counted(flop: str, moved: str, cost: Cost) -> None:
    analysis = analysed(f"op|self_us|flop|hbm_bytes\nx|1|{flop}|{moved}")
    assert analysis.ops.cost == (cost, Cost.IDLE)


def test_uncounted_op_has_no_rates_but_zeros_as_in_xprof_in_compat_mode() -> None:
    table = f"op|self_us|flop|hbm_bytes\npallas|1|{ABSENT}|{ABSENT}"
    unknown, zero = (
        measured(analysed(table, xprof_compat=compat), "pallas") for compat in (False, True)
    )
    work = ("flop_rate_gflops", "memory_bandwidth_gibs", "hbm_gibs", "roofline_efficiency_ratio")
    assert all(math.isnan(unknown[name]) for name in (*work, "bottleneck_intensity"))
    assert all(zero[name] == 0 for name in (*work, "bottleneck_intensity"))
    assert unknown["bound"] == zero["bound"] == 0


def test_op_without_flops_has_a_rate_of_zero() -> None:
    op = measured(analysed("op|self_us|flop|hbm_bytes\ncopy|1000|0|5e7"), "copy")
    assert op["flop_rate_gflops"] == 0
    assert op["bottleneck_intensity"] == 0
    assert op["attainable_gflops"] == 0


def test_bytes_without_breakdown_count_as_hbm_and_leave_other_memories_unknown() -> None:
    op = measured(analysed("op|self_us|flop|bytes\nx|1000|5|1e6"), "x")
    assert op["hbm_gibs"] == pytest.approx(1e6 / 1e-3 / GIB)
    assert math.isnan(op["vmem_read_gibs"])


def test_breakdown_without_hbm_is_a_real_zero() -> None:
    op = measured(analysed("op|self_us|flop|bytes|vmem_read_bytes\nx|1000|5|9e6|1e6"), "x")
    assert op["hbm_gibs"] == 0
    assert op["vmem_read_gibs"] > 0


def test_op_that_took_no_time_has_no_rate() -> None:
    for compat in (False, True):
        op = measured(
            analysed("op|self_us|flop|hbm_bytes\nx|0|5|5", xprof_compat=compat, idle_us=1), "x"
        )
        assert op["bound"] == 0
        assert math.isnan(op["flop_rate_gflops"]) is not compat
        assert op["operational_intensity"] == 1


@pytest.mark.parametrize("gflops", [None, 1000.0])
@pytest.mark.parametrize("gibs", [{}, {HBM: 100.0}], ids=["no memory", "HBM"])
def test_without_both_peaks_the_bound_is_unknown(
    gflops: float | None, gibs: Mapping[MemoryLevel, float]
) -> None:
    """With one roof alone, the other resource may be used more."""
    analysis = analysed(TWO_OPS, device=reported(gflops=gflops, gibs=gibs))
    op = measured(analysis, "matmul")
    assert op["flop_rate_gflops"] == pytest.approx(500.0)
    assert math.isnan(op["compute_efficiency_ratio"]) is (gflops is None)
    assert math.isnan(op["memory_utilisation_ratio"]) is (not gibs)
    assert bool(op["bound"]) is bool(gflops and gibs)
    assert ("no-peaks" in codes(analysis)) is (gflops is None or not gibs)


def codes(analysis: RooflineAnalysis) -> list[str]:
    return [found.code for found in analysis.diagnostics]


def test_idle_is_the_last_record() -> None:
    analysis = analysed(TWO_OPS, idle_us=500)
    assert analysis.ops.name[-1] == analysis.ops.category[-1] == "IDLE"
    assert analysis.ops.measures.self_time_us[-1] == 500
    assert analysis.ops.cost[-1] is Cost.IDLE
    assert math.isnan(analysis.ops.saving_per_core_us[-1])


def test_ops_longer_than_the_program_leave_no_idle_time_instead_of_213_days() -> None:
    analysis = analysed(TWO_OPS, time_us=1)
    assert analysis.ops.measures.self_time_us[-1] == 0
    compat = analysed(TWO_OPS, time_us=1, xprof_compat=True)
    assert compat.ops.measures.self_time_us[-1] > 1e13


def test_times_of_all_cores_are_divided_per_core() -> None:
    analysis = analysed(TWO_OPS, device=reported(cores=4))
    assert measured(analysis, "add")["total_time_per_core_us"] == 250
    assert analysis.ops.self_time_per_core_us[0] == 250


def test_stall_and_average_use_time_and_occurrences() -> None:
    table = "op|self_us|time_us|times|stall_us|flop|hbm_bytes\nx|6|12|3|3|1|1"
    op = measured(analysed(table), "x")
    assert (op["avg_time_us"], op["avg_self_time_us"], op["dma_stall_ratio"]) == (4, 2, 0.25)


# ------------------------------------------------------------------------------------ several hosts

ON_CHIP = reported(gibs={HBM: 100.0, VMEM_READ: 1000.0})
VMEM_OP = "op|self_us|flop|hbm_bytes|vmem_read_bytes\nx|1000|10|1e6|5e8"


def test_several_hosts_keep_on_chip_efficiency() -> None:
    analysis = analysed(VMEM_OP, device=ON_CHIP, hosts=2)
    op = measured(analysis, "x")
    assert op["roofline_efficiency_ratio"] == pytest.approx(5e8 / 1e-3 / GIB / 1000)
    assert "on-chip-peaks-kept" in codes(analysis)


def test_compat_mode_counts_on_chip_memory_only_with_its_flag() -> None:
    without = measured(analysed(VMEM_OP, device=ON_CHIP, xprof_compat=True), "x")
    flagged = reported(gibs={HBM: 100.0, VMEM_READ: 1000.0}, has_merged_vmem=True)
    with_flag = measured(analysed(VMEM_OP, device=flagged, xprof_compat=True), "x")
    assert without["memory_utilisation_ratio"] < 0.1 < with_flag["memory_utilisation_ratio"]
    assert without["bound"] == with_flag["bound"] == 2 + LEVELS.index(VMEM_READ)


def test_compat_mode_prefers_cmem_over_vmem() -> None:
    both = reported(
        gibs={HBM: 100.0, VMEM_READ: 1000.0, MemoryLevel.CMEM_READ: 1000.0},
        has_cmem=True,
        has_merged_vmem=True,
    )
    op = measured(analysed(VMEM_OP, device=both, xprof_compat=True), "x")
    assert op["memory_utilisation_ratio"] < 0.1


# ---------------------------------------------------------------------------------- diagnostics


def message(analysis: RooflineAnalysis, code: str) -> str:
    return next(found.message for found in analysis.diagnostics if found.code == code)


def test_uncounted_ops_are_counted_in_words() -> None:
    one = f"op|self_us|flop|hbm_bytes\na|1|{ABSENT}|{ABSENT}"
    many = one + f"\nb|1|{ABSENT}|{ABSENT}"
    assert message(analysed(one), "unknown-cost").startswith("1 op has no FLOP")
    assert message(analysed(many), "unknown-cost").startswith("2 ops have no FLOP")


def test_ops_above_the_compute_peak_are_reported() -> None:
    table = "op|self_us|flop|hbm_bytes\na|1000|1.5e9|1\nb|1000|1|1"
    assert message(analysed(table), "above-compute-peak").startswith(
        "1 op runs above the compute peak, up to 1.50 times it. Its FLOPs"
    )
    assert message(analysed(table + "\nc|1000|2e9|1"), "above-compute-peak").startswith(
        "2 ops run above the compute peak, up to 2.00 times it. Their FLOPs"
    )


@pytest.mark.parametrize("column", ["bytes", "hbm_bytes"])
def test_program_above_its_memory_peak_is_reported(column: str) -> None:
    analysis = analysed(f"op|self_us|flop|{column}\na|1000|1|2e8")
    text = message(analysis, "above-memory-peak")
    assert "1.86 times what HBM can move" in text
    assert ("does not tell bytes of HBM" in text) is (column == "bytes")


def test_asynchronous_copy_above_the_roof_is_no_reason_for_a_warning() -> None:
    table = "op|self_us|flop|hbm_bytes\ncopy-start|1|0|1e6\nmatmul|1000|5e8|1"
    analysis = analysed(table)
    assert measured(analysis, "copy-start")["memory_utilisation_ratio"] > 9
    assert "above-memory-peak" not in codes(analysis)


@pytest.mark.parametrize(
    ("gflops", "gibs", "text"),
    [
        (None, {}, "no peak of its device"),
        (None, {HBM: 1.0}, "no compute peak"),
        (1.0, {}, "no memory peak"),
    ],
)
def test_missing_peaks_are_named(
    gflops: float | None, gibs: Mapping[MemoryLevel, float], text: str
) -> None:
    analysis = analysed(TWO_OPS, device=reported(gflops=gflops, gibs=gibs))
    assert text in message(analysis, "no-peaks")


def test_compat_mode_adds_no_diagnostics() -> None:
    table = f"op|self_us|flop|hbm_bytes\na|1|{ABSENT}|{ABSENT}"
    assert analysed(table, xprof_compat=True).diagnostics == ()


def test_diagnostics_are_whole_sentences(note: Callable[..., object]) -> None:
    found = note("ops are shorter than the ops inside them.", 7)
    assert found == "Some ops are shorter than the ops inside them. Noticed 7 times."
    assert note("ops report nothing.", 1) == "Some ops report nothing."
    assert note("No step markers were found.", 1) == "No step markers were found."


@pytest.fixture
def note() -> Callable[..., object]:
    from roofline.model.profile import Diagnostic, Severity

    def worded(text: str, count: int) -> str:
        found = Diagnostic(severity=Severity.INFO, code="x", message=text, count=count)
        return analysed("", diagnostics=[found]).diagnostics[0].message

    return worded


# -------------------------------------------------------------------------------------- properties

COUNT = st.one_of(st.just(ABSENT), st.integers(0, 10**15).map(str))
OP = st.tuples(st.integers(0, 10**9), COUNT, COUNT, COUNT)
PEAK = st.one_of(st.none(), st.floats(1e-3, 1e9))


def as_table(ops: Sequence[tuple[int, str, str, str]]) -> str:
    lines = [
        f"op{k}|{time / 1e6}|{flop}|{hbm}|{vmem}" for k, (time, flop, hbm, vmem) in enumerate(ops)
    ]
    return "\n".join(["op|self_us|flop|hbm_bytes|vmem_read_bytes", *lines])


@given(ops=st.lists(OP, max_size=6), gflops=PEAK, hbm=PEAK, vmem=PEAK)
def test_no_op_is_above_its_roof_unless_its_share_says_so(
    ops: Sequence[tuple[int, str, str, str]],
    gflops: float | None,
    hbm: float | None,
    vmem: float | None,
) -> None:
    peaks = {level: peak for level, peak in ((HBM, hbm), (VMEM_READ, vmem)) if peak}
    analysis = analysed(as_table(ops), device=reported(gflops=gflops, gibs=peaks))
    measures = analysis.ops.measures
    for row in np.flatnonzero(measures.bound):
        share = measures.roofline_efficiency_ratio[row]
        level = analysis.levels[measures.bound[row] - 2] if measures.bound[row] >= 2 else None
        bandwidth = math.inf if level is None else peaks.get(level, math.inf)
        slanted = bandwidth * measures.bottleneck_intensity[row] * GB_PER_GIB
        # Without a bandwidth for the bound, only the flat roof is left.
        roof = min(gflops or math.inf, slanted if level else math.inf)
        assert measures.flop_rate_gflops[row] <= roof * max(share, 1) * (1 + 1e-9)


@given(ops=st.lists(OP, max_size=6), gflops=PEAK, hbm=PEAK)
@pytest.mark.parametrize("compat", [False, True])
def test_share_of_roof_is_that_of_the_bound(
    compat: bool, ops: Sequence[tuple[int, str, str, str]], gflops: float | None, hbm: float | None
) -> None:
    peaks = {HBM: hbm} if hbm else {}
    analysis = analysed(
        as_table(ops), device=reported(gflops=gflops, gibs=peaks), xprof_compat=compat
    )
    measures = analysis.ops.measures
    columns = [measures.compute_efficiency_ratio, measures.memory_utilisation_ratio]
    for row in np.flatnonzero(measures.bound):
        used = columns[min(measures.bound[row], 2) - 1][row]
        assert measures.roofline_efficiency_ratio[row] == used


@given(ops=st.lists(OP, max_size=6), gflops=PEAK, hbm=PEAK)
def test_compat_mode_knows_every_number(
    ops: Sequence[tuple[int, str, str, str]], gflops: float | None, hbm: float | None
) -> None:
    device = reported(gflops=gflops, gibs={HBM: hbm} if hbm else {})
    analysis = analysed(as_table(ops), device=device, xprof_compat=True)
    measures = analysis.ops.measures
    # The ends of a range are those of work whose unit is not known: XProf knows no units.
    for name in measures.__dataclass_fields__.keys() - {"compute_low_ratio", "compute_high_ratio"}:
        value = getattr(measures, name)
        for column in value.values() if hasattr(value, "values") else [value]:
            assert np.isfinite(column).all(), name


@pytest.mark.parametrize("kind", DeviceKind)
@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("device", [{}, {"gflops": None, "gibs": {}, "cores": 0, "name": ""}])
def test_profile_without_ops_is_analysed(
    kind: DeviceKind, compat: bool, device: Mapping[str, Any]
) -> None:
    analysis = analysed("", device=reported(kind=kind, **device), xprof_compat=compat)
    assert analysis.ops.name == ("IDLE",)
    assert len(analysis.with_infeed.op) == len(analysis.without_infeed.op) == 0
    assert "no-peaks" not in codes(analysis)


def test_times_beyond_64_bits_stop_there() -> None:
    huge = 2**64 // 10**6
    analysis = analysed(
        "op|self_us|flop|hbm_bytes\nx|1|1|1", time_us=4 * huge, device=reported(cores=4)
    )
    assert analysis.with_infeed.total_time_us == pytest.approx(2**64 / 1e6)
    assert analysis.with_infeed.program.measures.total_time_us[0] == pytest.approx(2**64 / 1e6)


def test_without_any_peak_points_lie_at_their_intensity_over_all_bytes() -> None:
    table = "op | self_us | flop | bytes\na | 1 | 1000 | 100"
    analysis = analysed(table, device=reported(gflops=None, gibs={}))
    assert analysis.ops.measures.bottleneck_intensity[0] == 10
    assert np.isnan(analysis.ops.measures.roofline_efficiency_ratio[0])


def test_with_a_peak_what_nothing_binds_has_no_place() -> None:
    table = "op | self_us | flop | bytes\na | 1 | 0 | 0"
    analysis = analysed(table, device=reported(gflops=1000.0))
    assert np.isnan(analysis.ops.measures.bottleneck_intensity[0])

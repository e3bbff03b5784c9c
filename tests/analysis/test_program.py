"""Program points: total, hardware counters, average, steps."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.program import slow_step_us
from roofline.analysis.records import RooflineAnalysis, Scope
from roofline.analysis.roofline import COMPUTE_BOUND
from roofline.exports.records import analysis_to_json
from roofline.exports.render import render
from roofline.model.device import CountedUnits, HardwareCounters, MeasuredWork
from roofline.model.memory import MemoryLevel
from roofline.model.units import gib_to_gb
from tests.builders import ABSENT, analysed, analysis_on, counters, make_steps, reported
from tests.profiles import imported

OPS = """
op      | category | self_us | flop | hbm_bytes
matmul  | fusion   | 800     | 8e8  | 2e6
loop    | while    | 100     | 9e9  | 9e9
feed    | infeed   | 100     | 0    | 3e6
"""
GIB = 2**30
HARDWARE = "Total (HW"
SHARED = Path(__file__).resolve().parents[3] / "shared"
V6E = SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"


def point(analysis: RooflineAnalysis, label: str, *, infeed: bool = True) -> dict[str, float]:
    """One program point as a mapping."""
    points = analysis.view(include_infeed_outfeed=infeed).program
    row = next(k for k, name in enumerate(points.label) if name.startswith(label))
    values = {n: getattr(points.measures, n) for n in points.measures.__dataclass_fields__}
    flat = {n: float(column[row]) for n, column in values.items() if not hasattr(column, "keys")}
    return flat | {"hbm_gibs": float(points.measures.bandwidth_gibs[MemoryLevel.HBM][row])}


def labels(analysis: RooflineAnalysis, *, infeed: bool = True) -> tuple[str, ...]:
    return analysis.view(include_infeed_outfeed=infeed).program.label


def test_total_sums_work_of_all_ops_but_containers_over_all_time() -> None:
    total = point(analysed(OPS, idle_us=1000), "Total")
    assert total["total_time_us"] == 2000
    assert total["flop_rate_gflops"] == pytest.approx(8e8 / 2e6)
    assert total["hbm_gibs"] == pytest.approx(5e6 / 2e-3 / GIB)


def test_total_without_infeed_loses_its_time_and_bytes() -> None:
    total = point(analysed(OPS, idle_us=1000), "Total", infeed=False)
    assert total["total_time_us"] == 1900
    assert total["hbm_gibs"] == pytest.approx(2e6 / 1.9e-3 / GIB)


def test_program_of_uncounted_ops_has_unknown_rates() -> None:
    table = f"op|self_us|flop|hbm_bytes\nx|1|{ABSENT}|{ABSENT}"
    total = point(analysed(table), "Total")
    assert math.isnan(total["flop_rate_gflops"])
    assert math.isnan(total["roofline_efficiency_ratio"])
    assert point(analysed(table, xprof_compat=True), "Total")["flop_rate_gflops"] == 0


# ------------------------------------------------------------------------------------------- steps

STEPS = make_steps(
    {"us": 100, "flop": 1e8, "hbm": 1e6, "infeed_us": 20, "infeed_hbm": 1e6},
    {"us": 300, "flop": 1e8, "hbm": 1e6},
)


@pytest.mark.covers(22)
def test_average_divides_time_but_not_work_per_time() -> None:
    average = point(analysed(OPS, steps=STEPS), "Average")
    assert average["total_time_us"] == 200
    assert average["avg_time_us"] == 400  # undivided, as in XProf
    assert average["flop_rate_gflops"] == pytest.approx(2e8 / 400e3)


@pytest.mark.covers(23)
def test_steps_have_their_own_work_and_time() -> None:
    analysis = analysed(OPS, steps=STEPS)
    assert labels(analysis) == ("Total", "Average", "0", "1")
    assert point(analysis, "0")["hbm_gibs"] == pytest.approx(2e6 / 100e-6 / GIB)
    assert point(analysis, "0", infeed=False)["hbm_gibs"] == pytest.approx(1e6 / 80e-6 / GIB)
    assert point(analysis, "0", infeed=False)["total_time_us"] == 80


@pytest.mark.covers(24)
def test_without_steps_there_is_no_average_but_in_compat_mode() -> None:
    assert labels(analysed(OPS)) == ("Total",)
    compat = analysed(OPS, xprof_compat=True)
    assert labels(compat) == ("Total", "Average")
    assert point(compat, "Average")["total_time_us"] == 0


def test_profile_that_has_no_average_shows_none() -> None:
    assert labels(analysed(OPS, steps=STEPS, has_average=False)) == ("Total", "0", "1")


def test_step_shorter_than_its_infeed_ends_at_zero_and_says_so() -> None:
    steps = make_steps({"us": 10, "infeed_us": 30, "flop": 1, "hbm": 1})
    analysis = analysed(OPS, steps=steps)
    step = point(analysis, "0", infeed=False)
    assert step["total_time_us"] == 0
    assert math.isnan(step["flop_rate_gflops"])
    texts = [d.message for d in analysis.diagnostics if d.code == "infeed-exceeds-program"]
    assert "longer than a step" in texts[0]
    compat = analysed(OPS, steps=steps, xprof_compat=True)
    assert point(compat, "0", infeed=False)["total_time_us"] > 1e13


@pytest.mark.parametrize(
    ("times", "off"),
    [
        ([100, 100, 100, 131], [3]),
        ([100, 100, 100, 130], []),
        ([100, 100, 69, 100], [2]),
        ([100], []),
        ([100, 100, 1], [2]),
        ([0, 0, 0, 5], [3]),
    ],
    ids=str,
)
def test_step_off_the_median_by_more_than_30_percent_is_an_outlier(
    times: Sequence[int], off: Sequence[int]
) -> None:
    steps = make_steps(*({"us": us, "flop": 1, "hbm": 1} for us in times))
    points = analysed(OPS, steps=steps).with_infeed.program
    marked = [row - 2 for row, outlier in enumerate(points.outlier) if outlier]
    assert marked == off


@pytest.mark.parametrize(("count", "slow"), [(19, None), (20, 119.0), (40, 138.0)])
def test_95_percent_of_enough_steps_are_not_slower(count: int, slow: float | None) -> None:
    """Steps of 101, 102 … us: at least 95 of 100 take the 19th of 20, the 38th of 40, or less."""
    steps = make_steps(*({"us": 101 + k, "flop": 1, "hbm": 1} for k in reversed(range(count))))
    analysis = analysed(OPS, steps=steps)
    assert slow_step_us(analysis.with_infeed.program) == slow
    found = json.loads(analysis_to_json(analysis, include_infeed_outfeed=True))
    assert found["steps_p95_us"] == slow
    said = f"95 % of the {count} steps take {slow or 0:.0f} µs per core or less."
    assert (said in render(analysis, "text", infeed=True).decode()) is (slow is not None)


# ---------------------------------------------------------------------------------------- counters


def counted(matrix: float | None, hbm: float | None, **rest: Any) -> RooflineAnalysis:
    return analysed(OPS, device=reported(counters=counters(matrix, hbm)), **rest)


@pytest.mark.covers(21)
def test_both_counters_place_the_program() -> None:
    hardware = point(counted(0.25, 0.5), HARDWARE)
    assert hardware["flop_rate_gflops"] == 250
    assert hardware["hbm_gibs"] == 50
    assert hardware["bottleneck_intensity"] == pytest.approx(250 / gib_to_gb(50))
    assert hardware["roofline_efficiency_ratio"] == 0.5
    assert hardware["attainable_gflops"] == 500
    assert hardware["bound"] == 2
    assert hardware["total_time_us"] == 1000


def test_counters_tie_for_compute() -> None:
    assert point(counted(0.5, 0.5), HARDWARE)["bound"] == 1


@pytest.mark.parametrize(("matrix", "hbm"), [(0.25, None), (None, 0.5)])
def test_one_counter_shows_what_it_knows_and_no_place(
    matrix: float | None, hbm: float | None
) -> None:
    hardware = point(counted(matrix, hbm), HARDWARE)
    assert math.isnan(hardware["flop_rate_gflops"]) is (matrix is None)
    assert math.isnan(hardware["hbm_gibs"]) is (hbm is None)
    assert math.isnan(hardware["compute_efficiency_ratio"]) is (matrix is None)
    assert math.isnan(hardware["memory_utilisation_ratio"]) is (hbm is None)
    unknown = ("bottleneck_intensity", "roofline_efficiency_ratio", "attainable_gflops")
    assert all(math.isnan(hardware[name]) for name in unknown)
    assert hardware["bound"] == 0


def test_counter_of_zero_is_a_measurement_of_one_unit() -> None:
    """A matrix unit that did nothing says nothing about the FLOPs of the vector unit."""
    hardware = point(counted(0.0, 0.5), HARDWARE)
    assert hardware["compute_efficiency_ratio"] == 0
    assert math.isnan(hardware["flop_rate_gflops"])
    assert (hardware["bound"], hardware["roofline_efficiency_ratio"]) == (2, 0.5)
    idle = point(counted(0.0, 0.0), HARDWARE)
    assert (idle["bound"], idle["compute_efficiency_ratio"], idle["hbm_gibs"]) == (0, 0, 0)
    assert math.isnan(idle["operational_intensity"])
    memory_unused = point(counted(0.5, 0.0), HARDWARE)
    assert memory_unused["bound"] == 1
    assert math.isnan(memory_unused["bottleneck_intensity"])


def test_counters_say_which_units_they_cover() -> None:
    assert counters(0.25, 0.5).counted_units is CountedUnits.MATRIX_ONLY
    assert counters(None, 0.5).counted_units is CountedUnits.NONE
    assert counters(math.nan, 0.5).counted_units is CountedUnits.NONE
    assert measured_work().counted_units is CountedUnits.ALL
    codes = [found.code for found in counted(0.25, 0.5).diagnostics]
    assert "matrix-unit-only" in codes
    assert "matrix-unit-only" not in [found.code for found in counted(None, 0.5).diagnostics]


@pytest.mark.skipif(not V6E.is_file(), reason="the real v6e capture lies in ../shared")
def test_a_matrix_unit_that_did_nothing_does_not_mean_no_flops() -> None:
    """All arithmetic of this program is elementwise: 4.47 GFLOP/s by the compiler's count."""
    profile = imported(V6E)
    analysis = analysis_on(profile)
    program = analysis.with_infeed.program
    assert program.scope[:2] == (Scope.TOTAL, Scope.TOTAL_HW)
    assert program.measures.flop_rate_gflops[0] == pytest.approx(4.47, abs=0.01)
    assert math.isnan(program.measures.flop_rate_gflops[1])
    assert program.measures.compute_efficiency_ratio[1] == 0
    assert profile.device.counters.counted_units is CountedUnits.MATRIX_ONLY


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_no_usable_counter_makes_no_point(value: float | None) -> None:
    assert labels(counted(value, value)) == ("Total",)


def test_compat_mode_and_the_state_without_infeed_have_no_counters() -> None:
    for shown in (counted(0.5, 0.5, xprof_compat=True), counted(0.5, 0.5)):
        infeed = shown.options.xprof_compat
        assert not any(label.startswith(HARDWARE) for label in labels(shown, infeed=infeed))


def test_counters_name_what_they_counted() -> None:
    assert labels(counted(0.25, None))[1] == "Total (HW, matrix unit only)"
    assert labels(counted(None, 0.25))[1] == "Total (HW, HBM only)"
    assert labels(counted(0.25, 0.25))[1] == "Total (HW, matrix unit and HBM)"


def test_the_matrix_units_rate_is_a_lower_bound_of_the_programs() -> None:
    points = counted(0.25, 0.5).with_infeed.program
    assert points.flop_is_least[:2].tolist() == [False, True]
    assert not points.bytes_is_least[:2].any()


def test_counters_without_peaks_have_shares_but_no_rates() -> None:
    device = reported(gflops=None, gibs={}, counters=counters(0.5, 0.25))
    hardware = point(analysed(OPS, device=device), HARDWARE)
    assert math.isnan(hardware["flop_rate_gflops"])
    assert (hardware["compute_efficiency_ratio"], hardware["bound"]) == (0.5, 1)


def test_counters_come_after_the_total_and_before_steps() -> None:
    points = counted(0.5, 0.5, steps=STEPS).with_infeed.program
    assert points.scope == (
        Scope.TOTAL,
        Scope.TOTAL_HW,
        Scope.AVERAGE,
        Scope.STEP,
        Scope.STEP,
    )
    assert points.outlier.tolist() == [False, False, False, True, True]
    assert all(len(column) == 5 for column in points.measures.bandwidth_gibs.values())


def measured_work(**given: Any) -> HardwareCounters:
    fields: dict[str, Any] = {
        "flop": 3 * 10**8,
        "unit_flop": {},
        "traffic_bytes": {MemoryLevel.HBM: 2 * 10**6, MemoryLevel.L2: 10**9},
        "time_ps": 400 * 10**6,
        "matched_kernels": 3,
        "total_kernels": 4,
        "source": "Nsight Compute: report.ncu-rep",
    }
    return HardwareCounters(matrix_unit_ratio=0.9, measured=MeasuredWork(**(fields | given)))


def test_work_counted_by_a_kernel_profiler_is_the_point_by_hardware() -> None:
    table = "op|self_us|flop|hbm_bytes\ndot|800|4e8|1e6"
    device = reported(counters=measured_work())
    program = analysed(table, device=device, idle_us=200).with_infeed.program
    assert program.scope[:2] == (Scope.TOTAL, Scope.TOTAL_HW)
    measures = program.measures
    # 400 of 800 µs of ops have counters: so have 500 of the program's 1,000 µs.
    assert measures.flop_rate_gflops[1] == pytest.approx(3e8 / 500e3)
    assert measures.total_time_us[1] == pytest.approx(500)
    assert measures.intensity[MemoryLevel.HBM][1] == pytest.approx(150)
    assert measures.compute_efficiency_ratio[1] == pytest.approx(0.6)
    assert measures.bound[1] == COMPUTE_BOUND


def test_a_kernel_profiler_without_bytes_leaves_them_unknown() -> None:
    table = "op|self_us|flop|hbm_bytes\ndot|800|4e8|1e6"
    device = reported(counters=measured_work(traffic_bytes={}))
    measures = analysed(table, device=device).with_infeed.program.measures
    assert np.isnan(measures.bandwidth_gibs[MemoryLevel.HBM][1])
    assert np.isnan(measures.memory_bandwidth_gibs[1])

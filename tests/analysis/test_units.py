"""Work split by compute unit, and peaks that a profiler measured per launch."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis, Scope
from roofline.analysis.roofline import COMPUTE_BOUND
from roofline.devices.resolve import resolve
from roofline.model.compute import ComputeUnit
from roofline.model.device import ComputePeak, Device, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Provenance
from tests.builders import analysis_on, profile_from_table, reported

MEASURED: dict[str, Any] = {
    "flop_provenance": Provenance.MEASURED,
    "bytes_provenance": Provenance.MEASURED,
}
TENSOR, VECTOR = ComputeUnit.MATRIX_FP16, ComputeUnit.VECTOR_FP32
TABLE = """
op     | self_us | flop | hbm_bytes
matmul | 10      | 6e6  | 1e4
add    | 10      | 1e6  | 1e4
copy   | 10      | 0    | 1e6
"""


def unit_device(**peaks: float) -> Device:
    device = resolve(reported(gflops=None))
    compute = tuple(
        ComputePeak(
            id=unit.value,
            label=unit.label,
            gflops=gflops,
            origin=PeakOrigin.MEASURED,
            source="a test",
            unit=unit,
        )
        for unit, gflops in ((ComputeUnit(name), value) for name, value in peaks.items())
    )
    return replace(device, compute=compute)


def analysed_split(
    device: Device,
    *,
    unit_capacity: Mapping[ComputeUnit, NDArray[np.float64]] | None = None,
    level_capacity: Mapping[MemoryLevel, NDArray[np.float64]] | None = None,
    **rest: Any,
) -> RooflineAnalysis:
    profile = profile_from_table(TABLE, **rest)
    ops = replace(
        profile.ops,
        unit_flop={
            VECTOR: np.array([0, 10**6, 0], np.uint64),
            TENSOR: np.array([6 * 10**6, 0, 0], np.uint64),
        },
        unit_capacity_flop=unit_capacity or {},
        level_capacity_bytes=level_capacity or {},
    )
    return analysis_on(replace(profile, ops=ops), device)


@pytest.mark.covers(235, 238)
def test_an_op_is_held_against_the_unit_that_does_its_work() -> None:
    analysis = analysed_split(unit_device(matrix_fp16=1000.0, vector_fp32=200.0))
    used = analysis.ops.measures.compute_efficiency_ratio
    assert used[:3] == pytest.approx([0.6, 0.5, 0.0])
    assert analysis.units == (VECTOR, TENSOR)
    roofs = [analysis.roof_of_unit(unit) for unit in analysis.ops.measures.unit[:3].tolist()]
    assert roofs == [0, 1, 0]
    assert analysis.ops.measures.bound[:2].tolist() == [COMPUTE_BOUND, COMPUTE_BOUND]
    assert analysis.ops.measures.attainable_gflops[:2] == pytest.approx([1000.0, 200.0])


def test_the_program_is_held_against_its_most_used_unit() -> None:
    analysis = analysed_split(unit_device(matrix_fp16=1000.0, vector_fp32=50.0))
    measures = analysis.with_infeed.program.measures
    assert measures.compute_efficiency_ratio[0] == pytest.approx(1e6 / 30e3 / 50.0)
    assert analysis.units[int(measures.unit[0])] is VECTOR


def test_the_peak_of_one_unit_says_nothing_about_another_ones_work() -> None:
    analysis = analysed_split(unit_device(matrix_fp16=1000.0))
    used = analysis.ops.measures.compute_efficiency_ratio
    assert used[0] == pytest.approx(0.6)
    assert np.isnan(used[1])


def test_a_peak_without_a_name_holds_for_work_of_units_without_peak() -> None:
    analysis = analysed_split(resolve(reported(gflops=2000.0)))
    assert analysis.ops.measures.compute_efficiency_ratio[:2] == pytest.approx([0.3, 0.05])


def test_what_no_unit_claims_counts_against_the_main_peak() -> None:
    profile = profile_from_table(TABLE)
    ops = replace(profile.ops, unit_flop={VECTOR: np.array([10**6, 10**6, 0], np.uint64)})
    device = resolve(reported(gflops=2000.0))
    vector = replace(unit_device(vector_fp32=200.0).compute[0])
    both = replace(device, compute=(*device.compute, vector))
    analysis = analysis_on(replace(profile, ops=ops), both)
    measures = analysis.ops.measures
    assert measures.compute_efficiency_ratio[:2] == pytest.approx([0.5, 0.5])
    assert measures.unit[:2].tolist() == [0, 0]  # 100 of 200 beats 500 of 2,000
    slow = replace(both, compute=(replace(device.compute[0], gflops=800.0), vector))
    measures = analysis_on(replace(profile, ops=ops), slow).ops.measures
    assert measures.compute_efficiency_ratio[0] == pytest.approx(500 / 800)
    assert measures.unit[0] == -1


def test_peaks_measured_per_launch_come_before_the_devices() -> None:
    analysis = analysed_split(
        unit_device(matrix_fp16=1000.0, vector_fp32=200.0),
        unit_capacity={TENSOR: np.array([8e6, np.nan, np.nan])},
        level_capacity={MemoryLevel.HBM: np.array([np.nan, np.nan, 1.25e6])},
    )
    measures = analysis.ops.measures
    assert measures.compute_efficiency_ratio[:2] == pytest.approx([0.75, 0.5])
    assert measures.utilisation_ratio[MemoryLevel.HBM][2] == pytest.approx(0.8)
    assert measures.memory_utilisation_ratio[2] == pytest.approx(0.8)


def test_work_without_a_peak_is_named() -> None:
    found = analysed_split(unit_device(vector_fp32=200.0)).diagnostics
    message = next(one.message for one in found if one.code == "unit-without-peak")
    assert message.startswith(
        "86 % of the FLOPs ran on a compute unit without a known peak (Matrix fp16)"
    )
    held = analysed_split(unit_device(vector_fp32=200.0, matrix_fp16=1e3)).diagnostics
    assert "unit-without-peak" not in {one.code for one in held}


def test_notes_about_xprof_are_for_its_captures() -> None:
    table = "op|self_us|flop|hbm_bytes\nkernel|5|–|–"
    for given, expected in (({}, True), (MEASURED, False)):
        notes = analysis_on(profile_from_table(table, **given), unit_device())
        note = next(one for one in notes.diagnostics if one.code == "unknown-cost")
        assert ("XProf" in note.message, bool(note.remedy)) == (expected, expected)


def test_work_counted_by_hardware_is_the_total_by_hardware() -> None:
    program = analysed_split(unit_device(matrix_fp16=1000.0), **MEASURED).with_infeed.program
    assert (program.scope[0], program.label[0]) == (Scope.TOTAL_HW, "Total (HW)")


def test_xprofs_table_knows_no_units() -> None:
    profile = profile_from_table(TABLE)
    ops = replace(profile.ops, unit_flop={VECTOR: profile.ops.flop})
    device = unit_device(vector_fp32=100.0)
    analysis = analyse(replace(profile, ops=ops), device, AnalysisOptions(xprof_compat=True))
    assert analysis.units == ()
    assert analysis.ops.measures.compute_efficiency_ratio[0] == pytest.approx(6.0)

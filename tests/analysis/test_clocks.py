"""A reader is told where roofs that work is held against belong to one clock, or to two."""

from dataclasses import replace

import numpy as np
import pytest

from roofline.devices.resolve import resolve
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Severity
from tests.builders import analysis_on, profile_from_table

A40 = ReportedDevice(
    kind=DeviceKind.GPU,
    name="NVIDIA A40",
    core_count=1,
    unit_gflops={ComputeUnit.VECTOR_FP32: 28_021.0},
    bandwidth_gbs={MemoryLevel.HBM: 694.0},
    traits=DeviceTraits(processor_count=84),
    peak_origin=PeakOrigin.MEASURED,
    peak_clock_ghz=1.303,
)
INT8 = {ComputeUnit.MATRIX_INT8: np.array([10**6], np.uint64)}
FP32 = {ComputeUnit.VECTOR_FP32: np.array([10**6], np.uint64)}


def note(device: ReportedDevice, unit_flop: dict[ComputeUnit, np.ndarray]) -> Diagnostic | None:
    profile = profile_from_table("op|self_us|flop|hbm_bytes\nkernel|5|1e6|1e4", device=device)
    ops = replace(profile.ops, unit_flop=unit_flop)
    analysis = analysis_on(replace(profile, ops=ops), resolve(device))
    found = [one for one in analysis.diagnostics if one.code in ("measured-clock", "two-clocks")]
    return found[0] if found else None


def test_published_roof_at_the_measured_clock_is_told() -> None:
    found = note(A40, INT8)
    assert found is not None
    assert (found.code, found.severity) == ("measured-clock", Severity.INFO)
    assert found.message == (
        "The roof of Tensor core int8 is what the catalogue's part does per cycle, at 1.303 GHz: "
        "the clock at which the profiler measured the other roofs."
    )


def test_published_roof_at_another_clock_is_a_warning() -> None:
    found = note(replace(A40, peak_clock_ghz=None), INT8 | FP32)
    assert found is not None
    assert (found.code, found.severity) == ("two-clocks", Severity.WARNING)
    assert found.message.startswith("The roof of Tensor core int8 is from a data sheet")
    assert found.remedy


@pytest.mark.parametrize(
    ("device", "unit_flop"),
    [
        (A40, FP32),  # no work is held against a published roof
        (replace(A40, unit_gflops={}), INT8),  # no peak was measured
        (replace(A40, peak_origin=PeakOrigin.PROFILE), INT8),
        (replace(A40, name="NVIDIA Z900"), INT8),
    ],
)
def test_nothing_is_said_where_no_two_sources_stand_in_one_picture(
    device: ReportedDevice, unit_flop: dict[ComputeUnit, np.ndarray]
) -> None:
    assert note(device, unit_flop) is None

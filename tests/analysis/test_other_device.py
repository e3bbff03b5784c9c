"""Shares that a profiler measured of its own peaks count while these are the peaks."""

from dataclasses import replace

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.other_device import under_other_peaks
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.devices.choice import PeakChoice
from roofline.devices.resolve import resolve
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, HardwareCounters, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from tests.builders import profile_from_table, reported

OPS = """
op     | category | self_us | flop | hbm_bytes
matmul | fusion   | 500     | 9e8  | 1e6
copy   | copy     | 100     | 0    | 8e6
"""
GPU = reported(
    kind=DeviceKind.GPU,
    gibs={MemoryLevel.HBM: 100.0},
    cores=2,
    peak_origin=PeakOrigin.MEASURED,
)


def held(profile: Profile, choice: PeakChoice) -> RooflineAnalysis:
    own = resolve(profile.device)
    device = resolve(profile.device, choice=choice)
    return analyse(*under_other_peaks(profile, own, device), AnalysisOptions())


def with_capacity() -> Profile:
    """Each launch could have moved ten times, and computed twice, what it did."""
    profile = profile_from_table(OPS, device=GPU)
    ops = profile.ops
    moved = {MemoryLevel.HBM: ops.traffic_bytes[MemoryLevel.HBM].astype(np.float64) * 10}
    units = {ComputeUnit.VECTOR_FP32: ops.flop}
    could = {ComputeUnit.VECTOR_FP32: ops.flop.astype(np.float64) * 2}
    table = replace(ops, level_capacity_bytes=moved, unit_flop=units, unit_capacity_flop=could)
    return replace(profile, ops=table)


def test_a_measured_share_stays_while_its_peak_does() -> None:
    found = held(with_capacity(), PeakChoice(gflops={None: 700.0})).ops.cells
    np.testing.assert_allclose(found.memory_utilisation_ratio[:2], 0.1)


def test_under_another_peak_it_is_the_rate_over_that() -> None:
    profile = with_capacity()
    found = held(profile, PeakChoice(gbs={MemoryLevel.HBM: 50.0})).ops.cells
    rates = profile.ops.traffic_bytes[MemoryLevel.HBM] / np.array([500e-6, 100e-6])
    np.testing.assert_allclose(found.memory_utilisation_ratio[:2], rates / 50e9)


def test_the_counters_rate_stays_and_its_share_follows_the_peak() -> None:
    counters = HardwareCounters(matrix_unit_ratio=0.4, hbm_ratio=0.2)
    device = replace(reported(gibs={MemoryLevel.HBM: 100.0}), counters=counters)
    profile = profile_from_table(OPS, device=device)
    own = resolve(profile.device)
    assert own.peak_gflops
    half = PeakChoice(gflops={None: own.peak_gflops / 2})
    before, after = (held(profile, choice) for choice in (PeakChoice(), half))
    points = [one.with_infeed.program.measures for one in (before, after)]
    assert points[0].flop_rate_gflops[1] == pytest.approx(points[1].flop_rate_gflops[1])
    assert points[1].compute_efficiency_ratio[1] == pytest.approx(0.8)
    assert points[1].memory_utilisation_ratio[1] == pytest.approx(0.2)


def test_a_share_of_a_peak_that_is_not_known_there_is_not_known() -> None:
    counters = HardwareCounters(matrix_unit_ratio=0.4, hbm_ratio=0.2)
    device = replace(reported(gibs={MemoryLevel.HBM: 100.0}), counters=counters)
    profile = profile_from_table(OPS, device=device)
    found = held(profile, PeakChoice(part_id="intel-max-1550")).with_infeed.program.measures
    assert len(found.bound) == 1 or np.isnan(found.memory_utilisation_ratio[1])

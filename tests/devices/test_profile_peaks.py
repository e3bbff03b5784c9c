"""Peaks of a device: what a file reports, and nothing else."""

import math

import pytest

from roofline.devices.resolve import resolve
from roofline.model.device import DeviceKind, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.units import gib_to_gb
from tests.builders import counters, make_device, reported


def test_peaks_come_from_the_profile_and_say_from_where() -> None:
    device = make_device(gflops=1000.0, gibs={MemoryLevel.VMEM_READ: 7.0, MemoryLevel.HBM: 100.0})
    assert [peak.level for peak in device.memory] == [MemoryLevel.HBM, MemoryLevel.VMEM_READ]
    assert {peak.origin for peak in device.memory} == {PeakOrigin.PROFILE}
    assert {peak.origin for peak in device.compute} == {PeakOrigin.PROFILE}
    assert device.memory[0].source == "peak_hbm_bw_gigabytes_per_second of the device plane"
    assert device.compute[0].source == "peak_teraflops_per_second of the device plane"


@pytest.mark.parametrize("level", MemoryLevel)
def test_every_level_has_a_source(level: MemoryLevel) -> None:
    device = make_device(gibs={level: 1.0})
    stated = ("_bw_gigabytes_per_second of the device plane", "bandwidth in the profile")
    (peak,) = (*device.memory, *device.links)
    assert peak.source.endswith(stated)


def test_unreported_peaks_stay_unknown() -> None:
    device = make_device(gflops=None, gibs={})
    assert (device.compute, device.memory, device.peak_gflops) == ((), (), None)
    assert device.memory_gbs(MemoryLevel.HBM) is None


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, -math.inf])
def test_peak_that_is_no_positive_number_is_no_roof(value: float) -> None:
    device = make_device(gflops=value, gibs={MemoryLevel.HBM: value, MemoryLevel.VMEM_READ: 1.0})
    assert device.compute == ()
    assert [peak.level for peak in device.memory] == [MemoryLevel.VMEM_READ]


def test_peak_of_a_level_is_found_in_gigabytes() -> None:
    device = make_device(gibs={MemoryLevel.HBM: 100.0})
    assert device.memory_gbs(MemoryLevel.HBM) == gib_to_gb(100.0)
    assert device.memory_gbs(MemoryLevel.VMEM_READ) is None


def test_flags_and_counters_are_kept() -> None:
    described = reported(
        cores=3,
        has_megacore=True,
        has_cmem=True,
        has_merged_vmem=True,
        counters=counters(0.0, None),
    )
    device = resolve(described)
    assert (device.core_count, device.has_megacore) == (3, True)
    assert (device.has_cmem, device.has_merged_vmem) == (True, True)
    assert (device.counters.matrix_unit_ratio, device.counters.hbm_ratio) == (0.0, None)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (DeviceKind.TPU, "TensorCore"),
        (DeviceKind.GPU, "GPU"),
        (DeviceKind.CPU, "core"),
        (DeviceKind.UNKNOWN, "core"),
    ],
)
def test_core_is_named_as_on_its_device(kind: DeviceKind, word: str) -> None:
    assert make_device(kind=kind).core_word == word

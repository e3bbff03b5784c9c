"""Measured peaks and published ones of one device belong to one clock, or say so."""

from dataclasses import replace
from pathlib import Path

import pytest

from roofline.devices.catalogue import part as part_of
from roofline.devices.catalogue import parts
from roofline.devices.choice import PeakChoice
from roofline.devices.parts import Part
from roofline.devices.resolve import resolve
from roofline.model.compute import ComputeUnit
from roofline.model.device import (
    ComputePeak,
    DeviceKind,
    DeviceTraits,
    PeakOrigin,
    ReportedDevice,
)
from roofline.model.memory import MemoryLevel
from tests.profiles import imported

FP32, INT8, FP8 = ComputeUnit.VECTOR_FP32, ComputeUnit.MATRIX_INT8, ComputeUnit.MATRIX_FP8
CLOCK = 1.303

# As Nsight Compute measures an A40 whose SMs it holds at their base clock.
A40 = ReportedDevice(
    kind=DeviceKind.GPU,
    name="NVIDIA A40",
    core_count=1,
    unit_gflops={FP32: 84 * 256 * CLOCK},
    bandwidth_gbs={MemoryLevel.DRAM: 694.0, MemoryLevel.L1: 14_010.0},
    traits=DeviceTraits(processor_count=84, clock_ghz=1.74),
    peak_origin=PeakOrigin.MEASURED,
    peak_clock_ghz=CLOCK,
)


def peak(reported: ReportedDevice, unit: ComputeUnit) -> ComputePeak:
    return next(one for one in resolve(reported).compute if one.unit is unit)


def test_published_rates_are_taken_at_the_clock_of_the_measured_ones() -> None:
    found = peak(A40, INT8)
    assert found.gflops == pytest.approx(84 * 2048 * CLOCK)
    assert (found.clock_ghz, found.origin) == (CLOCK, PeakOrigin.CATALOGUE)
    assert found.source.startswith(
        "A40, at the measured 1.303 GHz: 84 processors × 2048 per cycle. NVIDIA A40 data sheet"
    )


def test_every_compute_peak_of_one_device_has_one_clock() -> None:
    assert {one.clock_ghz for one in resolve(A40).compute} == {CLOCK}


def test_measured_and_published_rates_agree_at_one_clock() -> None:
    """The published fp32 rate at 1.303 GHz is the measured one: nothing is left to explain."""
    assert resolve(A40).comparisons == ()
    unknown = replace(A40, peak_clock_ghz=None)
    assert [one.id for one in resolve(unknown).comparisons] == ["vector_fp32"]


def test_memory_of_each_processor_follows_the_clock_and_main_memory_does_not() -> None:
    device = resolve(replace(A40, bandwidth_gbs={}))
    clocks = {one.level: one.clock_ghz for one in device.memory}
    assert clocks == {MemoryLevel.DRAM: None, MemoryLevel.SHARED: CLOCK}
    assert device.memory_gbs(MemoryLevel.SHARED) == pytest.approx(84 * 128 * CLOCK)
    assert device.memory_gbs(MemoryLevel.DRAM) == 696
    own = {one.level: one.clock_ghz for one in resolve(A40).memory}
    assert own[MemoryLevel.L1] == CLOCK
    assert own[MemoryLevel.DRAM] is None


def test_a_slice_of_a_device_has_the_rates_of_its_own_processors() -> None:
    slice_ = replace(A40, traits=DeviceTraits(processor_count=42), unit_gflops={})
    assert peak(slice_, INT8).gflops == pytest.approx(42 * 2048 * CLOCK)


def test_tensor_cores_with_a_clock_of_their_own_have_a_whole_rate_per_cycle() -> None:
    h100 = replace(A40, name="NVIDIA H100 80GB HBM3", traits=DeviceTraits(processor_count=132))
    assert peak(h100, FP8).gflops == pytest.approx(132 * 8192 * CLOCK)


@pytest.mark.parametrize(
    "changed",
    [
        replace(A40, peak_clock_ghz=None),
        replace(A40, peak_origin=PeakOrigin.PROFILE),
        replace(A40, name="Intel(R) Data Center GPU Max 1550", traits=DeviceTraits()),
    ],
)
def test_without_a_measured_clock_published_rates_stay_as_published(
    changed: ReportedDevice,
) -> None:
    published = [one for one in resolve(changed).compute if one.origin is PeakOrigin.CATALOGUE]
    assert published
    assert all("measured" not in one.source for one in published)
    assert all(one.clock_ghz != CLOCK for one in published)


def test_another_device_keeps_its_published_rates() -> None:
    device = resolve(A40, choice=PeakChoice(part_id="l4"))
    assert device.unit_gflops(INT8) == 242_000


@pytest.mark.parametrize(
    ("part_id", "unit", "per_cycle", "ghz"),
    [
        ("h100-sxm", ComputeUnit.MATRIX_BF16, 4096, 1.83),
        ("h100-sxm", ComputeUnit.VECTOR_FP32, 256, 1.98),
        ("b200", ComputeUnit.MATRIX_FP4, 65536 / 2, 1.86),
        ("a100-40-sxm", ComputeUnit.VECTOR_FP16, 512, 1.41),
        ("mi300x", ComputeUnit.MATRIX_FP8, 4096, 2.1),
        ("mi250x", ComputeUnit.MATRIX_FP16, 1024, 1.7),
        ("t4", ComputeUnit.MATRIX_INT4, 4096, 1.59),
    ],
)
def test_published_rates_give_what_one_processor_does_per_cycle(
    part_id: str, unit: ComputeUnit, per_cycle: float, ghz: float
) -> None:
    part = part_of(part_id)
    assert part is not None
    found = next(one for one in part.compute() if one.unit is unit)
    assert found.per_cycle == per_cycle
    assert found.clock_ghz == pytest.approx(ghz, abs=0.01)


@pytest.mark.parametrize("part", parts(), ids=lambda part: str(part.id))
def test_every_rate_of_a_part_with_processors_has_a_clock_near_the_parts(part: Part) -> None:
    clock = part.value("clock")
    for one in part.compute():
        if clock is None:
            assert one.clock_ghz is None
        else:
            assert one.clock_ghz is not None
            assert 0.84 < one.clock_ghz * 1e9 / clock < 1.05, one


REAL = Path(__file__).resolve().parents[2].parent / "shared" / "samples" / "nsight_compute"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real reports is not there")


@needs_real
@pytest.mark.parametrize(
    ("name", "ghz"),
    [
        ("a40_2022.1_imma_indexspaces-74de19f.ncu-rep", 1.303),
        ("a10g_2023.1_roofline_x512_esmm.ncu-rep", 1.311),
        ("a100_2021.2_fp64_constant_moves.ncu-rep", 0.7597),
    ],
)
def test_published_rate_per_cycle_is_what_the_profiler_measured(name: str, ghz: float) -> None:
    measured = imported(REAL / name).device
    assert measured.peak_clock_ghz == pytest.approx(ghz, rel=1e-3)
    published = resolve(replace(measured, unit_gflops={}))
    assert published.unit_gflops(FP32) == pytest.approx(measured.unit_gflops[FP32], rel=1e-9)


@needs_real
def test_int8_work_of_an_a40_is_held_against_its_roof_at_the_clock_of_the_launch() -> None:
    """84 SMs × 2048 operations × 1.303 GHz; at the boost clock it would be 299 TFLOP/s."""
    found = imported(REAL / "a40_2022.1_imma_indexspaces-74de19f.ncu-rep")
    assert resolve(found.device).unit_gflops(INT8) == pytest.approx(224_166, abs=1)

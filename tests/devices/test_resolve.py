"""Peaks from user, profile, this machine and catalogue, and where the last two differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from roofline.devices.catalogue import part as part_of
from roofline.devices.choice import PeakChoice, read_choice
from roofline.devices.measured import machine_part
from roofline.devices.parts import Part
from roofline.devices.resolve import resolve
from roofline.errors import BadViewError
from roofline.model.compute import ComputeUnit
from roofline.model.device import (
    Device,
    DeviceKind,
    DeviceTraits,
    PeakComparison,
    PeakOrigin,
    ReportedDevice,
)
from roofline.model.memory import MemoryLevel

GPU, TPU, CPU = DeviceKind.GPU, DeviceKind.TPU, DeviceKind.CPU
HBM, SHARED_L1 = MemoryLevel.HBM, MemoryLevel.SHARED_L1
BF16, FP8 = ComputeUnit.MATRIX_BF16, ComputeUnit.MATRIX_FP8
H100, A100 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"

MI210 = DeviceTraits(processor_count=104, clock_ghz=1.7, memory_bytes=2**36, memory_gbs=1638.4)


def reported(
    name: str,
    gflops: float | None = None,
    kind: DeviceKind = GPU,
    *,
    gbs: Mapping[MemoryLevel, float] | None = None,
    **rest: Any,
) -> ReportedDevice:
    return ReportedDevice(
        kind=kind, name=name, core_count=1, peak_gflops=gflops, bandwidth_gbs=gbs or {}, **rest
    )


def this_machine(**changes: Sequence[Mapping[str, float | str]] | str) -> Part:
    entry = {
        "version": 1,
        "hostname": "node-7",
        "cpu": "AMD EPYC 9654",
        "vendor": "AMD",
        "threads": 192,
        "memory_bytes": 8e11,
        "measured_on": "2026-11-21",
        "figures": [
            {"of": "vector_fp32", "value": 7e12, "note": "matrix product"},
            {"of": "vector_fp64", "value": 3.5e12},
            {"of": "dram", "value": 4e11},
            {"of": "l2", "value": 9e12},
        ],
    }
    return machine_part({**entry, **changes})


def rates(device: Device) -> dict[ComputeUnit | None, float]:
    return {peak.unit: peak.gflops for peak in device.compute}


def comparison(device: Device, key: str) -> PeakComparison:
    return next(one for one in device.comparisons if one.id == key)


# ---------------------------------------------------------------------------------------- catalogue


def test_profile_peak_stays_the_main_one_and_the_catalogue_adds_precisions() -> None:
    device = resolve(reported("TPU v6 Lite", 946_700, TPU, gbs={HBM: 1638.0}))
    assert [peak.id for peak in device.compute] == [
        "peak",
        "vector_fp32",
        "matrix_int8",
        "matrix_int4",
    ]
    assert device.compute[0].origin is PeakOrigin.PROFILE
    assert {peak.origin for peak in device.compute[1:]} == {PeakOrigin.CATALOGUE}
    assert (device.part_id, device.part_name) == ("tpu-v6e", "TPU v6e (Trillium)")


def test_profile_peak_stands_for_units_as_fast_as_the_main_one() -> None:
    device = resolve(reported("TPU v6 Lite", 946_700, TPU))
    assert device.compute[0].covers == (BF16, FP8)
    assert device.unit_gflops(BF16) == device.unit_gflops(FP8) == 946_700
    assert device.unit_gflops(ComputeUnit.MATRIX_INT8) == 1_836_000


def test_catalogue_fills_missing_memories_at_the_profiles_own_main_level() -> None:
    device = resolve(reported("NVIDIA L4", 121_000, gbs={HBM: 300.0}))
    assert [(peak.level, peak.origin) for peak in device.memory] == [(HBM, PeakOrigin.PROFILE)]
    without = resolve(reported("NVIDIA L4", 121_000))
    assert [peak.level for peak in without.memory] == [MemoryLevel.DRAM]
    levels = [peak.level for peak in resolve(reported(A100, 312_000, gbs={HBM: 2039})).memory]
    assert levels == [HBM, MemoryLevel.L2, MemoryLevel.SHARED]


def test_shared_memory_of_the_catalogue_is_the_profiles_shared_and_l1() -> None:
    device = resolve(reported(A100, 312_000, gbs={HBM: 2039.0, SHARED_L1: 19_491.84}))
    assert [peak.level for peak in device.memory] == [HBM, SHARED_L1, MemoryLevel.L2]
    assert device.comparisons == resolve(reported(A100, 312_000)).comparisons


@pytest.mark.parametrize("gflops", [None, 0.0])
def test_gpu_without_a_peak_gets_the_catalogues(gflops: float | None) -> None:
    device = resolve(reported(H100, gflops))
    assert (device.compute[0].id, device.compute[0].gflops) == ("matrix_bf16", 989_400)
    assert device.compute[0].source.startswith("H100 SXM5 80GB. Glenn K. Lockwood")
    assert device.compute[0].unit is BF16


def test_part_without_bf16_is_held_against_fp16() -> None:
    device = resolve(reported("Tesla V100-SXM2-16GB"))
    assert device.compute[0].unit is ComputeUnit.MATRIX_FP16
    assert BF16 not in rates(device)


def test_unknown_device_has_only_its_own_peaks() -> None:
    device = resolve(reported("NVIDIA Z900", 5.0, gbs={HBM: 1.0}))
    assert ([peak.id for peak in device.compute], len(device.memory)) == (["peak"], 1)
    assert (device.part_id, device.part_name, device.comparisons) == (None, "", ())


def test_without_the_catalogue_nothing_is_added_or_mended() -> None:
    own = reported(H100, 1_070_531, gbs={HBM: 3352.0, SHARED_L1: 66_902.0})
    device = resolve(own, catalogue=False, machine=this_machine())
    assert [(peak.id, peak.gflops, peak.covers) for peak in device.compute] == [
        ("peak", 1_070_531, ())
    ]
    assert [(peak.level, peak.gbs) for peak in device.memory] == [
        (HBM, 3352.0),
        (SHARED_L1, 66_902),
    ]
    assert (device.part_id, device.comparisons) == (None, ())


def test_measured_peaks_by_unit_come_before_the_catalogues() -> None:
    own = reported(
        H100,
        unit_gflops={ComputeUnit.VECTOR_FP32: 50_000.0, ComputeUnit.VECTOR_FP64: 25_000.0},
        peak_origin=PeakOrigin.MEASURED,
    )
    device = resolve(own)
    assert [peak.id for peak in device.compute][:3] == ["vector_fp32", "vector_fp64", "matrix_bf16"]
    assert device.compute[0].origin is PeakOrigin.MEASURED
    assert comparison(device, "vector_fp32").ratio == pytest.approx(50 / 67)


def test_devices_that_are_half_a_chip_get_half_the_peaks() -> None:
    device = resolve(reported("TPU7x", kind=TPU))
    assert device.compute[0].gflops == pytest.approx(1_153_500)
    assert device.memory_gbs(HBM) == pytest.approx(3690)


@pytest.mark.parametrize(
    ("gflops", "int8"), [(459_000, 918_000), (229_500, 459_000), (200_000, 459_000)]
)
def test_chip_that_may_be_split_is_halved_where_the_profile_shows_half(
    gflops: int, int8: int
) -> None:
    device = resolve(reported("TPU v5", gflops, TPU))
    assert device.unit_gflops(ComputeUnit.MATRIX_INT8) == int8


def test_chosen_chip_is_whole_whatever_the_profile_shows() -> None:
    own = reported("TPU v5 lite", 229_500, TPU)
    device = resolve(own, choice=PeakChoice(part_id="tpu-v5p"))
    assert device.peak_gflops == 459_000


def test_families_are_looked_up_by_their_traits() -> None:
    traits = DeviceTraits(
        processor_count=304, clock_ghz=2.1, memory_bytes=192 * 2**30, memory_gbs=2662.4
    )
    device = resolve(reported("AMD GPU - gfx942", 1_307_443, traits=traits, gbs={HBM: 2662.4}))
    assert device.part_id == "mi300x"
    assert device.memory_gbs(MemoryLevel.LLC) == 17_000


# -------------------------------------------------------------------------------------- comparisons


@pytest.mark.parametrize(
    ("own", "key", "ratio", "words"),
    [
        (reported(H100, 1_070_531), "peak", 1.082, "boost clock"),
        (reported("NVIDIA B200", 2_382_000), "peak", 1.059, "boost clock"),
        (reported("TPU v6 Lite", 946_700, TPU), "peak", 1.031, "as if the vector unit were added"),
        (reported("TPU v2", 24_300, TPU), "peak", 1.057, "as if the vector unit were added"),
        (reported("TPU7x", 1_028_750, TPU), "peak", 0.892, "1.9 GHz"),
        (reported("NVIDIA GeForce RTX 4090", 330_301), "peak", 2.0, "GeForce"),
        (reported(H100, 989_400), "matrix_fp8", 0.5, "one compute peak"),
        (reported("AMD Instinct MI210"), "peak", None, "does not say enough"),
        (reported("AMD GPU - gfx90a", traits=MI210), "peak", None, "computes zero"),
        (reported("Tesla T4"), "peak", None, "not say enough"),
        (reported("NVIDIA A10G", 140_083), "peak", 2.0, "Public tables disagree"),
        (reported("NVIDIA L4", 60_000), "peak", 0.496, "72 W board"),
        (reported(H100, 500_000), "peak", 0.505, "No known reason"),
        (reported("TPU v2", 23_000, TPU, gbs={HBM: 716.83}), "hbm", 2.0, "whole chip's bandwidth"),
        (
            reported("AMD Instinct MI300X", 1_307_443, gbs={HBM: 2662.4}),
            "hbm",
            0.502,
            "half of the transfers",
        ),
        (reported(H100, 989_400, gbs={HBM: 3119.9}), "hbm", 0.931, "GiB/s"),
        (reported(H100, 989_400, gbs={SHARED_L1: 66_902.0}), "shared_l1", 2.164, "since Volta"),
        (reported(H100, 989_400, gbs={SHARED_L1: 33_454.0}), "shared_l1", 1.082, "boost clock"),
        (
            reported("TPU v5 lite", 197_000, TPU, gbs={MemoryLevel.VMEM_READ: 9830.0}),
            "vmem_read",
            0.552,
            "an estimate",
        ),
        (reported(H100, 989_400, gbs={HBM: 2000.0}), "hbm", 0.597, "No known reason"),
    ],
)
def test_difference_is_explained(
    own: ReportedDevice, key: str, ratio: float | None, words: str
) -> None:
    found = comparison(resolve(own), key)
    assert found.ratio == (None if ratio is None else pytest.approx(ratio, abs=0.003))
    assert words in found.explanation


@pytest.mark.parametrize(("gflops", "shown"), [(945_000, False), (946_000, True), (891_000, False)])
def test_differences_up_to_3_percent_are_not_shown(gflops: int, shown: bool) -> None:
    device = resolve(reported("TPU v6 Lite", gflops, TPU))
    assert bool(device.comparisons) is shown


def test_comparison_holds_both_values_per_device() -> None:
    found = comparison(resolve(reported("TPU7x", 1_028_750, TPU)), "peak")
    assert (found.label, found.unit, found.profile) == ("Compute", "gflops", 1_028_750)
    assert found.catalogue == pytest.approx(1_153_500)


def test_measured_peaks_are_explained_and_never_mended() -> None:
    own = reported(
        "AMD Instinct MI300X",
        unit_gflops={BF16: 650_000.0},
        gbs={HBM: 2662.4},
        peak_origin=PeakOrigin.MEASURED,
    )
    device = resolve(own)
    assert device.memory_gbs(HBM) == 2662.4
    for key in ("matrix_bf16", "hbm"):
        assert "profiler measured this peak" in comparison(device, key).explanation


def test_bandwidth_of_half_the_transfers_is_doubled() -> None:
    device = resolve(reported("AMD Instinct MI300X", 1_307_443, gbs={HBM: 2662.4}))
    assert device.memory_gbs(HBM) == 5324.8
    assert "Twice the profile's figure" in device.memory[0].source


def test_shared_memory_counted_twice_is_halved() -> None:
    device = resolve(reported(H100, 989_400, gbs={SHARED_L1: 66_902.0}))
    assert device.memory_gbs(SHARED_L1) == 33_451.0
    assert "Half of the profile's figure" in device.memory[1].source


# ------------------------------------------------------------------------------------- this machine


@pytest.mark.parametrize(
    "own",
    [
        reported("CPU", kind=CPU, traits=DeviceTraits(hostname="node-7")),
        reported("AMD EPYC 9654", kind=CPU),
    ],
)
def test_cpu_captured_on_this_machine_gets_its_measured_peaks(own: ReportedDevice) -> None:
    device = resolve(own, machine=this_machine())
    assert device.part_id == "this-machine"
    assert {peak.origin for peak in device.compute} == {PeakOrigin.CALIBRATED}
    assert {peak.origin for peak in device.memory} == {PeakOrigin.CALIBRATED}
    assert device.compute[0].gflops == 7000
    assert device.compute[0].source == (
        "AMD EPYC 9654. Measured on node-7, 2026-11-21, measured: matrix product"
    )
    assert [peak.level for peak in device.memory] == [MemoryLevel.DRAM, MemoryLevel.L2]


def test_matrix_products_of_a_cpu_run_on_its_vector_units() -> None:
    device = resolve(reported("AMD EPYC 9654", kind=CPU), machine=this_machine())
    assert device.unit_gflops(ComputeUnit.MATRIX_FP64) == 3500
    assert device.unit_gflops(ComputeUnit.VECTOR_FP64) == 3500


@pytest.mark.parametrize("host", ["node-8", "", "localhost"])
def test_cpu_of_another_machine_stays_unknown(host: str) -> None:
    own = reported("CPU", kind=CPU, traits=DeviceTraits(hostname=host))
    device = resolve(own, machine=this_machine(hostname=host if host != "node-8" else "node-7"))
    assert (device.compute, device.memory, device.part_id) == ((), (), None)


def test_gpu_on_this_machine_is_not_its_cpu() -> None:
    own = reported("GPU", kind=GPU, traits=DeviceTraits(hostname="node-7"))
    assert resolve(own, machine=this_machine()).compute == ()


def test_profile_comes_before_this_machine_and_that_before_the_catalogue() -> None:
    own = reported("13th Gen Intel(R) Core(TM) i9-13900K", kind=CPU, gbs={MemoryLevel.DRAM: 60.0})
    machine = this_machine(cpu=own.name, figures=[{"of": "vector_fp64", "value": 3.5e11}])
    origins = {peak.id: peak.origin for peak in resolve(own, machine=machine).compute}
    assert origins == {
        "vector_fp64": PeakOrigin.CALIBRATED,
        "vector_fp32": PeakOrigin.CATALOGUE,
    }
    assert resolve(own, machine=machine).memory_gbs(MemoryLevel.DRAM) == 60.0


# ----------------------------------------------------------------------------------------- the user


def test_chosen_part_replaces_the_profiles_peaks() -> None:
    own = reported("TPU v5 lite", 197_000, TPU, gbs={HBM: 819.0, MemoryLevel.VMEM_READ: 9830.0})
    device = resolve(own, choice=PeakChoice(part_id="t4"))
    assert (device.part_id, device.name, device.kind) == ("t4", "TPU v5 lite", TPU)
    assert [(peak.level, peak.gbs) for peak in device.memory] == [(HBM, 320.0)]
    assert device.compute[0].gflops == 65_000
    assert device.comparisons == ()


def test_users_peaks_come_before_all_others() -> None:
    choice = PeakChoice(gflops={None: 900_000.0, FP8: 1.8e6}, gbs={MemoryLevel.DRAM: 3000.0})
    device = resolve(reported(H100, 1_070_531, gbs={HBM: 3352.0}), choice=choice)
    first = device.compute[0]
    assert (first.id, first.gflops, first.origin) == ("peak", 900_000.0, PeakOrigin.USER)
    assert device.unit_gflops(FP8) == 1.8e6
    assert device.unit_gflops(BF16) == 900_000.0
    assert [(one.level, one.gbs, one.origin) for one in device.memory if one.level.is_main] == [
        (HBM, 3000.0, PeakOrigin.USER)
    ]


def test_users_peaks_need_no_other() -> None:
    choice = PeakChoice(gflops={None: 5.0}, gbs={MemoryLevel.DRAM: 3.0, MemoryLevel.L2: 9.0})
    device = resolve(reported("CPU", kind=CPU), choice=choice, catalogue=False)
    assert [(peak.id, peak.gflops) for peak in device.compute] == [("peak", 5.0)]
    assert device.memory_gbs(MemoryLevel.DRAM) == 3.0
    assert device.memory_gbs(MemoryLevel.L2) == 9.0


def test_peak_of_a_unit_that_is_not_known_is_added() -> None:
    device = resolve(reported("?", 5.0), choice=PeakChoice(gflops={FP8: 7.0}))
    assert [(peak.id, peak.label) for peak in device.compute][1:] == [("matrix_fp8", "Matrix fp8")]


def test_this_machine_can_be_chosen_once_it_is_measured() -> None:
    choice = PeakChoice(part_id="this-machine")
    assert resolve(reported("x"), choice=choice, machine=this_machine()).peak_gflops == 7000
    with pytest.raises(BadViewError, match="not been measured"):
        resolve(reported("x"), choice=choice)


def test_part_that_is_not_known_cannot_be_chosen() -> None:
    with pytest.raises(BadViewError, match='no device "h900"'):
        resolve(reported("x"), choice=PeakChoice(part_id="h900"))


def test_every_part_can_be_chosen() -> None:
    for part_id in ("tpu-v2", "mi250x", "intel-max-1550"):
        assert resolve(reported("x"), choice=PeakChoice(part_id=part_id)).part_id == part_id
        assert part_of(part_id) is not None


@pytest.mark.covers(202)
def test_links_of_a_part_are_one_way_and_of_ici_one_link() -> None:
    device = resolve(reported("TPU v6 lite", kind=TPU))
    assert {peak.level.value: peak.gbs for peak in device.links} == {
        "host": 32.0,
        "ici": 100.0,
        "dcn": 12.5,
    }
    assert all(peak.source.startswith("TPU v6e") for peak in device.links)


def test_link_peak_is_the_user_s_where_set() -> None:
    choice = read_choice(None, ["ici=45GB/s"])
    device = resolve(reported("TPU v6 lite", kind=TPU), choice=choice)
    assert device.link_gbs(MemoryLevel.ICI) == 45.0
    assert not any(peak.level.is_link for peak in device.memory)

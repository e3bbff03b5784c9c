"""Family names: resolved by what else the profile says, or not at all."""

from dataclasses import replace

import pytest

from roofline.devices.identification import catalogue_part, resolve_family, resolve_shared_name
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from tests.builders import reported
from tests.narrowing import known

AMPERE, ADA = "Nvidia GPU (Ampere)", "Nvidia GPU (Ada Lovelace)"
HOPPER, VOLTA = "Nvidia GPU (Hopper)", "Nvidia GPU (Volta)"
GFX942, GFX90A = "AMD GPU - gfx942", "AMD GPU - gfx90a"
GIB = 2**30


def traits(
    processors: int | None = None,
    ghz: float | None = None,
    gib: float | None = None,
    gbs: float | None = None,
) -> DeviceTraits:
    return DeviceTraits(
        processor_count=processors,
        clock_ghz=ghz,
        memory_bytes=None if gib is None else int(gib * GIB),
        memory_gbs=gbs,
    )


@pytest.mark.parametrize(
    ("family", "described", "name"),
    [
        (AMPERE, traits(108, 1.41, 79.1, 2039), "A100 SXM4 80GB"),
        (AMPERE, traits(108, 1.41, 79.3, 1935), "A100 PCIe 80GB"),
        (AMPERE, traits(72, 1.695, 22.5, 600), "A10"),
        (AMPERE, traits(80, 1.71, 22.5, 600), "A10G (AWS g5)"),
        (VOLTA, traits(80, 1.53, 15.8, 898), "Tesla V100 SXM2"),
        (VOLTA, traits(80, 1.53, 31.7, 898), "Tesla V100 SXM2"),
        (VOLTA, traits(80, 1.38, 15.8, 898), "Tesla V100 PCIe"),
        ("Nvidia GPU (Turing)", traits(40, 1.59, 14.7, 320), "T4"),
        (ADA, traits(58, 2.04, 22.0, 300), "L4"),
        (ADA, traits(142, 2.52, 44.4, 864), "L40S"),
        (ADA, traits(142, 2.49, 44.4, 864), "L40"),
        (AMPERE, traits(64, 1.695, 23.7, 768), "RTX A5000"),
        (ADA, traits(128, 2.52, 23.6, 1008), "GeForce RTX 4090"),
        (ADA, traits(76, 2.505, 15.7, 717), "GeForce RTX 4080"),
        (ADA, traits(34, 2.535, 15.7, 288), "GeForce RTX 4060 Ti"),
        (AMPERE, traits(84, 1.74, 44.4, 696), "A40"),
        (AMPERE, traits(68, 1.71, 9.6, 760), "GeForce RTX 3080 10GB"),
        ("Nvidia GPU (Turing)", traits(68, 1.545, 10.7, 616), "GeForce RTX 2080 Ti"),
        (HOPPER, traits(132, 1.98, 95, 4022), "GH200 96GB"),
        (HOPPER, traits(132, 1.98, 79.1, 3352), "H100 SXM5 80GB"),
        (HOPPER, traits(114, 1.755, 79.1, 2039), "H100 PCIe 80GB"),
        (HOPPER, traits(132, 1.785, 93.1, 3938), "H100 NVL 94GB"),
        (HOPPER, traits(132, 1.98, 139.8, 4815), "H200 SXM 141GB"),
        ("Nvidia GPU (Blackwell)", traits(148, 1.965, 178.4, 7672), "B200 (HGX, 180-192GB)"),
        (GFX942, traits(304, 2.1, 192, 5300), "Instinct MI300X"),
        (GFX942, traits(304, 2.1, 192, 2662.4), "Instinct MI300X"),
        (GFX942, traits(304, 2.1, 256, 6000), "Instinct MI325X"),
        (AMPERE, traits(84, 1.8, 47.5, 768), "RTX A6000"),
        (GFX942, traits(228, 2.1, 128, 5300), "Instinct MI300A"),
        (GFX90A, traits(104, 1.7, 64, 1638), "Instinct MI210 or Instinct MI250 (per GCD)"),
        (GFX90A, traits(110, 1.7, 64, 1638), "Instinct MI250X (per GCD)"),
        ("AMD GPU - gfx950", traits(256, 2.4, 288, 8000), "Instinct MI355X"),
    ],
)
def test_traits_tell_parts_of_a_family_apart(
    family: str, described: DeviceTraits, name: str
) -> None:
    assert known(resolve_family(family, described)).name == name


def test_a_table_that_a_person_wrote_names_a_part_as_people_do() -> None:
    def part_of(name: str) -> str | None:
        part = catalogue_part(ReportedDevice(kind=DeviceKind.UNKNOWN, name=name, core_count=1))
        return None if part is None else part.id

    names = ("RTX 4090", "H100 SXM", "v6e", "MI300X", "h100", "RTX 4090 Laptop GPU", "GPU 0", "gpu")
    expected = ("rtx-4090", "h100-sxm", "tpu-v6e", "mi300x", None, None, None, None)
    assert tuple(map(part_of, names)) == expected


def test_parts_with_equal_roofs_are_one_with_both_names() -> None:
    found = resolve_family(AMPERE, traits(108, 1.41, 39.4, 1555))
    assert known(found).name == "A100 SXM4 40GB or A100 PCIe 40GB"


@pytest.mark.parametrize(
    ("family", "described"),
    [
        (AMPERE, traits()),
        (AMPERE, traits(108, 1.41)),
        (AMPERE, traits(80, 1.665, 23.7, 768)),  # RTX A5500: not in the catalogue
        (ADA, traits(76, 2.04, 15.7, 576)),  # a laptop's RTX 4090: the processors of RTX 4080
        (GFX942, traits(304, 2.1)),
        (GFX90A, traits(None, None, 64, 1638)),  # MI210 and one half of MI250X alike
        ("Nvidia GPU (Fermi)", traits(108, 1.41, 79.1, 2039)),
        ("TPU", traits(108, 1.41, 79.1, 2039)),
    ],
)
def test_too_little_or_another_part_is_no_part(family: str, described: DeviceTraits) -> None:
    assert resolve_family(family, described) is None


def test_capture_that_names_no_family_needs_every_trait() -> None:
    assert known(resolve_family("GPU", traits(80, 1.53, 15.8, 898))).id == "v100-sxm2"
    assert resolve_family("GPU", traits(None, None, 15.8, 898)) is None


def test_architecture_is_the_family_of_a_device_that_is_named_by_generation() -> None:
    described = replace(traits(104, 1.7, 64, 1638), architecture="gfx90a")
    device = reported(kind=DeviceKind.GPU, name="MI200", gflops=None, traits=described)
    assert known(catalogue_part(device)).id == "mi210"
    assert catalogue_part(replace(device, traits=replace(described, architecture=""))) is None


@pytest.mark.parametrize(
    ("name", "described", "part_id"),
    [
        ("NVIDIA H100", traits(132, None, 79.2), "h100-sxm"),
        ("NVIDIA H100", traits(132, None, 95.0), "h100-sxm-96"),
        ("NVIDIA H100", traits(114), "h100-pcie"),
        ("nvidia geforce rtx 3080", traits(68), "rtx-3080-10gb"),
        ("NVIDIA GeForce RTX 3080", traits(68, 1.845), "rtx-3080-10gb"),  # a faster board
        ("NVIDIA GeForce RTX 3080", traits(70), "rtx-3080-12gb"),
        ("NVIDIA GeForce RTX 3060", traits(28, None, 11.6), "rtx-3060-12gb"),
        ("NVIDIA GeForce RTX 3060", traits(28, None, 7.6), "rtx-3060-8gb"),
        ("NVIDIA GeForce RTX 3050", traits(20), "rtx-3050-8gb"),
        ("NVIDIA GeForce RTX 3050", traits(18), "rtx-3050-6gb"),
        ("GeForce RTX 2060", traits(30), "rtx-2060-6gb"),
        ("GeForce RTX 2060", traits(34), "rtx-2060-12gb"),
    ],
)
def test_name_of_several_boards_is_told_by_processors_or_memory(
    name: str, described: DeviceTraits, part_id: str
) -> None:
    assert known(resolve_shared_name(name, described)).id == part_id
    device = reported(kind=DeviceKind.GPU, name=name, gflops=None, traits=described)
    assert known(catalogue_part(device)).id == part_id


def test_boards_that_differ_in_memory_have_their_compute_in_common() -> None:
    found = resolve_shared_name("NVIDIA H100", traits(132))
    assert known(found).name == "H100 SXM5 80GB or H100 SXM5 96GB"
    assert known(found).compute()[0].gflops == 989_400
    assert (known(found).memory_bytes, known(found).value("hbm")) == (None, None)
    cheaper = resolve_shared_name("NVIDIA GeForce RTX 3060", traits(28))
    assert known(cheaper).compute()[0].gflops == pytest.approx(25_475, abs=1)
    assert known(cheaper).value("dram") is None


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("NVIDIA H100", traits()),
        ("NVIDIA H100", traits(16, None, 10)),  # a slice of one
        ("NVIDIA H100", traits(None, None, 79.2)),  # SXM5 and PCIe alike
        ("NVIDIA GeForce RTX 3050", traits(18, None, 7.6)),  # OEM: not in the catalogue
        ("NVIDIA GeForce RTX 3080", traits()),
        ("NVIDIA A100", traits(108)),
    ],
)
def test_name_of_several_boards_alone_is_no_part(name: str, described: DeviceTraits) -> None:
    assert resolve_shared_name(name, described) is None


@pytest.mark.parametrize("name", ["AMD GPU", "AMD Radeon Graphics"])
def test_amd_part_without_a_name_is_told_by_processors_and_memory(name: str) -> None:
    assert known(resolve_family(name, traits(304, None, 192))).id == "mi300x"
    assert known(resolve_family(name, traits(104, None, 64))).id == "mi210"
    assert resolve_family(name, traits(304)) is None
    assert resolve_family(name, traits(12, None, 64)) is None


def test_other_part_without_a_name_needs_all_traits() -> None:
    assert resolve_family("Nvidia GPU", traits(132, None, 79.2)) is None
    assert known(resolve_family("Nvidia GPU", traits(84, 2.617, 15.9, 960))).id == "rtx-5080"
    assert resolve_family("", traits(84, 2.617, 15.9, 960)) is None

"""Family names: resolved by what else the profile says, or not at all."""

from dataclasses import replace

import pytest

from roofline.devices.families import resolve_family
from roofline.devices.identification import catalogue_part
from roofline.model.device import DeviceKind, DeviceTraits
from tests.builders import reported

AMPERE, ADA = "Nvidia GPU (Ampere)", "Nvidia GPU (Ada Lovelace)"
HOPPER, VOLTA = "Nvidia GPU (Hopper)", "Nvidia GPU (Volta)"
GFX942, GFX90A = "AMD GPU - gfx942", "AMD GPU - gfx90a"
GIB = 2**30


def traits(processors=None, ghz=None, gib=None, gbs=None):
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
        (ADA, traits(128, 2.52, 23.6, 1008), "GeForce RTX 4090"),
        (HOPPER, traits(132, 1.98, 79.1, 3352), "H100 SXM5 80GB"),
        (HOPPER, traits(114, 1.755, 79.1, 2039), "H100 PCIe 80GB"),
        (HOPPER, traits(132, 1.785, 93.1, 3938), "H100 NVL 94GB"),
        (HOPPER, traits(132, 1.98, 139.8, 4815), "H200 SXM 141GB"),
        ("Nvidia GPU (Blackwell)", traits(148, 1.965, 178.4, 7672), "B200 (HGX, 180-192GB)"),
        (GFX942, traits(304, 2.1, 192, 5300), "Instinct MI300X"),
        (GFX942, traits(304, 2.1, 192, 2662.4), "Instinct MI300X"),
        (GFX942, traits(304, 2.1, 256, 6000), "Instinct MI325X"),
        (GFX90A, traits(104, 1.7, 64, 1638), "Instinct MI210"),
        (GFX90A, traits(110, 1.7, 64, 1638), "Instinct MI250X (per GCD)"),
        ("AMD GPU - gfx950", traits(256, 2.4, 288, 8000), "Instinct MI355X"),
    ],
)
def test_traits_tell_parts_of_a_family_apart(family, described, name):
    assert resolve_family(family, described).name == name


def test_parts_with_equal_roofs_are_one_with_both_names():
    found = resolve_family(AMPERE, traits(108, 1.41, 39.4, 1555))
    assert found.name == "A100 SXM4 40GB or A100 PCIe 40GB"


@pytest.mark.parametrize(
    ("family", "described"),
    [
        (AMPERE, traits()),
        (AMPERE, traits(108, 1.41)),
        (AMPERE, traits(84, 1.8, 47.5, 768)),  # A6000: not in the catalogue
        (HOPPER, traits(132, 1.98, 95, 4022)),  # GH200: not in the catalogue
        (ADA, traits(76, 2.505, 15.7, 717)),  # RTX 4080: not in the catalogue
        (GFX942, traits(304, 2.1)),
        (GFX90A, traits(None, None, 64, 1638)),  # MI210 and one half of MI250X alike
        ("Nvidia GPU (Fermi)", traits(108, 1.41, 79.1, 2039)),
        ("TPU", traits(108, 1.41, 79.1, 2039)),
    ],
)
def test_too_little_or_another_part_is_no_part(family, described):
    assert resolve_family(family, described) is None


def test_capture_that_names_no_family_needs_every_trait():
    assert resolve_family("GPU", traits(80, 1.53, 15.8, 898)).id == "v100-sxm2"
    assert resolve_family("GPU", traits(None, None, 15.8, 898)) is None


def test_architecture_is_the_family_of_a_device_that_is_named_by_generation():
    described = replace(traits(104, 1.7, 64, 1638), architecture="gfx90a")
    device = reported(kind=DeviceKind.GPU, name="MI200", gflops=None, traits=described)
    assert catalogue_part(device).id == "mi210"
    assert catalogue_part(replace(device, traits=replace(described, architecture=""))) is None

"""Devices and peaks as written on a command line."""

import pytest

from roofline.devices.catalogue import parts
from roofline.devices.choice import PeakChoice, known_part, read_choice
from roofline.errors import BadViewError
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.units import gib_to_gb


@pytest.mark.parametrize(
    ("text", "gflops"),
    [
        ("compute=900TFLOP/s", 900e3),
        ("Compute = 1,070.5 TFLOP/s", 1_070_500),
        ("compute=500GFLOP/s", 500),
        ("compute=1.9 PFLOPS", 1.9e6),
        ("compute=2e3gflops/s", 2000),
        ("compute=130TOP/s", 130e3),
    ],
)
def test_rate_is_read_with_its_unit(text: str, gflops: float) -> None:
    assert read_choice(None, [text]).gflops == {None: gflops}


@pytest.mark.parametrize(
    ("text", "gbs"),
    [
        ("hbm=3.35TB/s", 3350),
        ("hbm=819GB/s", 819),
        ("HBM=1525.5GiB/s", gib_to_gb(1525.5)),
        ("hbm=2TiB/s", gib_to_gb(2048)),
    ],
)
def test_bandwidth_is_read_with_its_unit(text: str, gbs: float) -> None:
    assert read_choice(None, [text]).gbs[MemoryLevel.HBM] == pytest.approx(gbs)


def test_units_and_levels_are_named_by_key() -> None:
    choice = read_choice("NVIDIA L4", ["matrix_fp8=1TFLOP/s", "vmem_read=9TB/s"])
    assert choice.part_id == "l4"
    assert choice.gflops == {ComputeUnit.MATRIX_FP8: 1000.0}
    assert choice.gbs == {MemoryLevel.VMEM_READ: 9000.0}
    assert not choice.is_empty


def test_nothing_chosen_is_empty() -> None:
    assert read_choice(None, []) == PeakChoice()
    assert PeakChoice().is_empty
    assert read_choice("this-machine", []).part_id == "this-machine"


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("compute=900", "cannot be read", "with its unit"),
        ("compute=fast", "cannot be read", "with its unit"),
        ("compute=-5TFLOP/s", "cannot be read", "above 0"),
        ("compute=0TFLOP/s", "cannot be read", "above 0"),
        ("compute=1.2.3TFLOP/s", "cannot be read", "above 0"),
        ("compute=900GB/s", "cannot be read", "a rate such as"),
        ("hbm=9TFLOP/s", "cannot be read", "a bandwidth such as"),
        ("hbn=9TB/s", '"hbn" in "hbn=9TB/s" is not a peak', "hbm"),
        ("=9TB/s", "has no name", "compute"),
        ("", "has no name", "compute"),
    ],
)
def test_peak_that_cannot_be_read_says_what_to_write(text: str, message: str, remedy: str) -> None:
    with pytest.raises(BadViewError) as caught:
        read_choice(None, [text])
    assert message in caught.value.message
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "near"), [("NVIDIA L41", "l4"), ("h100", "h100-sxm"), ("TPU v5x", "tpu-v5e")]
)
def test_device_that_is_not_known_lists_names_near_it(name: str, near: str) -> None:
    with pytest.raises(BadViewError) as caught:
        read_choice(name, [])
    assert near in caught.value.remedy


def test_device_like_no_other_lists_none() -> None:
    with pytest.raises(BadViewError) as caught:
        read_choice("§§§", [])
    assert caught.value.remedy.startswith("No name is near it.")


def test_name_of_several_parts_lists_them() -> None:
    with pytest.raises(BadViewError, match="the name of several devices") as raised:
        read_choice("NVIDIA H100", [])
    assert raised.value.remedy == "Choose one of: h100-sxm, h100-sxm-96, h100-pcie."


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("v6e", "tpu-v6e"),
        ("V5p", "tpu-v5p"),
        ("v4", "tpu-v4"),
        ("v5lite", "tpu-v5e"),
        ("trillium", "tpu-v6e"),
        ("4090", "rtx-4090"),
        ("RTX4070ti", "rtx-4070-ti"),
        ("H100 SXM", "h100-sxm"),
        ("a100_80gb pcie", "a100-80-pcie"),
        ("MI-300X", "mi300x"),
        ("amd mi300x", "mi300x"),
    ],
)
def test_device_as_people_write_it(written: str, meant: str) -> None:
    assert known_part(written).id == meant


@pytest.mark.parametrize("written", ["v5", "h100", "a100 80gb", "2060", "tpu"])
def test_what_fits_several_devices_is_not_guessed(written: str) -> None:
    with pytest.raises(BadViewError, match="the name of several devices"):
        known_part(written)


def test_every_name_of_the_catalogue_means_its_part() -> None:
    for part in parts():
        assert {known_part(name).id for name in (part.id, part.name, *part.aliases)} == {part.id}

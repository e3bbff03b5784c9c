"""What programs reach of each peak at best, and who says so."""

import pytest

from roofline.devices.choice import read_choice
from roofline.devices.resolve import resolve
from roofline.errors import BadViewError
from roofline.model.compute import ComputeUnit
from roofline.model.device import Device, DeviceKind, ReportedDevice, Sustained
from roofline.model.memory import MemoryLevel


def device(name: str, kind: DeviceKind, *, sustained: tuple[str, ...] = ()) -> Device:
    reported = ReportedDevice(kind=kind, name=name, core_count=1, bandwidth_gbs={})
    return resolve(reported, choice=read_choice(None, [], sustained))


def of_unit(found: Device, unit: ComputeUnit) -> Sustained | None:
    return next(peak.sustained for peak in found.compute if peak.unit is unit)


def of_link(found: Device, level: MemoryLevel) -> Sustained | None:
    return next(peak.sustained for peak in found.links if peak.level is level)


@pytest.mark.covers(198, 201)
def test_matrix_units_reach_less_on_a_gpu_than_on_a_tpu() -> None:
    tpu = of_unit(device("TPU v6e", DeviceKind.TPU), ComputeUnit.MATRIX_BF16)
    gpu = of_unit(device("NVIDIA H100 80GB HBM3", DeviceKind.GPU), ComputeUnit.MATRIX_BF16)
    assert tpu is not None
    assert (tpu.low_ratio, tpu.ratio) == (0.95, 0.95)
    assert gpu is not None
    assert (gpu.low_ratio, gpu.ratio) == (0.80, 0.85)
    assert "large matrix products" in gpu.source


def test_vector_units_have_none() -> None:
    found = device("NVIDIA H100 80GB HBM3", DeviceKind.GPU)
    assert of_unit(found, ComputeUnit.VECTOR_FP32) is None


@pytest.mark.parametrize(
    ("name", "kind", "level", "share"),
    [
        ("TPU v5e", DeviceKind.TPU, MemoryLevel.ICI, 45 / 50),
        ("TPU v5p", DeviceKind.TPU, MemoryLevel.ICI, 90 / 100),
        ("TPU v6e", DeviceKind.TPU, MemoryLevel.ICI, 90 / 100),
        ("NVIDIA H100 80GB HBM3", DeviceKind.GPU, MemoryLevel.NVLINK, 370 / 450),
    ],
)
def test_links_reach_what_was_measured(
    name: str, kind: DeviceKind, level: MemoryLevel, share: float
) -> None:
    found = of_link(device(name, kind), level)
    assert found is not None
    assert found.ratio == pytest.approx(share)
    assert "How to Scale Your Model" in found.source


@pytest.mark.covers(191, 239)
def test_the_users_share_wins() -> None:
    found = device("TPU v6e", DeviceKind.TPU, sustained=("hbm=92%", "compute=0.9"))
    assert found.memory[0].sustained == Sustained(low_ratio=0.92, ratio=0.92, source="Set by you")
    assert found.compute[0].sustained == Sustained(low_ratio=0.9, ratio=0.9, source="Set by you")


def test_a_peak_set_by_the_user_is_what_was_reached() -> None:
    reported = ReportedDevice(kind=DeviceKind.TPU, name="TPU v6e", core_count=1, bandwidth_gbs={})
    found = resolve(reported, choice=read_choice(None, ["compute=850TFLOP/s"]))
    assert found.compute[0].sustained is None


@pytest.mark.parametrize("text", ["hbm=120%", "hbm=0", "hbm=fast", "hbm", "speed=0.9"])
def test_other_shares_are_refused(text: str) -> None:
    with pytest.raises(BadViewError):
        read_choice(None, [], [text])

"""Parts without bf16 run at the rate of fp16 in every answer: one rule, held against each."""

import pytest

from roofline.devices.choice import PeakChoice, known_part
from roofline.devices.resolve import resolve
from roofline.devices.table import ridge_of
from roofline.estimate.kernels import KernelQuery, kernel_rows
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import step_of
from roofline.estimate.on_device import COMPUTE, estimate, main_memory, product_peak
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.presentation.other_devices import with_stand_ins
from tests.narrowing import known


@pytest.mark.parametrize(
    ("device", "rate"),
    [("t4", 65e12), ("v100-sxm2", 125e12), ("rtx-2060-max-q", 18.2e12), ("p100-sxm2", 21.2e12)],
)
def test_every_answer_takes_the_rate_of_fp16(device: str, rate: float) -> None:
    """estimate, predict, the table of devices, its kernels, and a profile on another part."""
    part = known_part(device)
    said = f"{part.name} has no unit for bf16: the rate is that of fp16."
    product = estimate("matmul", "4096x4096x4096", device)
    assert product.peaks[COMPUTE].value == pytest.approx(rate, rel=1e-2)
    assert said in product.notes
    load = workload(PredictOptions(phase="prefill", seq=512))
    step = step_of(preset("llama-3-8b"), load, part)
    assert step.peaks[COMPUTE] == product.peaks[COMPUTE] == product_peak(part, "fp16")[0]
    assert said in step.notes
    memory = known(main_memory(part).value)
    assert ridge_of(part, "bf16") == pytest.approx(rate / memory, rel=1e-2)
    assert all(row.cells[0].rate for row in kernel_rows(KernelQuery(part_ids=(device,))))
    reported = ReportedDevice(kind=DeviceKind.GPU, name="H100", core_count=1, bandwidth_gbs={})
    there = with_stand_ins(resolve(reported, choice=PeakChoice(part_id=part.id)))
    covering = [one for one in there.compute if ComputeUnit.MATRIX_BF16 in one.covers]
    assert [one.gflops * 1e9 for one in covering] == [pytest.approx(rate, rel=1e-2)]


def test_a_type_asked_for_by_name_has_no_stand_in() -> None:
    peak, note = product_peak(known_part("a100-80-sxm"), "fp8")
    assert (peak.value, note) == (None, "")

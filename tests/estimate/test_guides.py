"""Numbers of the guides to rooflines, as `roofline estimate` and `roofline predict` give them."""

from typing import Any

import pytest

from roofline.estimate.document import estimate_document
from roofline.estimate.llm.document import step_document, step_text
from roofline.estimate.llm.request import PredictOptions
from roofline.estimate.llm.step import Step
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import Options
from tests.estimate.llm.cases import serial_ms, step


@pytest.mark.covers(54, 72, 73, 74, 75, 79, 207)
@pytest.mark.parametrize(
    ("op", "shape", "flop_per_byte"),
    [
        ("elementwise", "4096x4096", 1 / (2 + 2)),
        ("norm", "65536x4096", 1.67),
        ("matmul", "1024x128x2048", 107.8),
        ("matmul", "600x600x600", 600 / 3),
        ("matmul", "65536x4096x16384", 3120.8),
        ("dot", "4096", (2 * 4096 - 1) / (4 * 4096 + 2)),
    ],
)
def test_intensities_are_those_of_the_guides(op: str, shape: str, flop_per_byte: float) -> None:
    found = estimate_document(estimate(op, shape, "tpu-v7x"))
    assert found["intensity"]["hbm"] == pytest.approx(flop_per_byte, abs=0.05)


@pytest.mark.covers(82)
@pytest.mark.parametrize("dtype", ["bf16", "fp8"])
def test_a_square_product_is_compute_bound_from_938(dtype: str) -> None:
    """The guide's 961 rests on 7.2 TB/s; in fp8 it is the same size, not 1,922."""
    options = Options(dtype=dtype, out_dtype=dtype, compute=dtype)
    bounds = [estimate("matmul", f"{n}x{n}x{n}", "tpu-v7x", options).bound for n in (937, 938)]
    assert bounds == ["memory", "compute"]


@pytest.mark.covers(89)
def test_an_accumulator_is_counted_once_in_its_own_type() -> None:
    """2,048 x 2,048 x 2,048 in bf16: 25.2 MB; the guide counts the output in fp32 as well, 41.9."""
    found = estimate_document(estimate("matmul", "2048x2048x2048", "tpu-v7x"))
    assert found["bytes"]["hbm"] / 1e6 == pytest.approx(25.2, abs=0.05)


@pytest.mark.covers(187)
def test_of_a_small_batch_the_weights_are_the_bytes() -> None:
    """16 rows of 8,192: weights 99.6 %, the output that a guide calls dominant 0.2 %."""
    found = estimate_document(estimate("matmul", "16x8192x8192", "h100-sxm"))
    share = {name: bytes_ / found["bytes"]["hbm"] for name, bytes_ in found["tensors"].items()}
    assert share == pytest.approx({"a": 0.002, "b": 0.996, "out": 0.002}, abs=5e-4)


def predicted(part: str = "a100-80-sxm", /, **options: Any) -> Step:
    return step("mistral-7b", part, PredictOptions(latency="none", **options))


@pytest.mark.covers(132, 133, 134, 138)
@pytest.mark.parametrize(
    ("options", "flop_per_byte"),
    [
        ({"phase": "decode", "context": 2048}, 1.05),
        ({"phase": "prefill", "seq": 64}, 60.3),
        ({"phase": "prefill", "seq": 2048}, 888.0),
        ({"phase": "prefill", "seq": 8192}, 1558.0),
    ],
)
def test_intensity_of_a_phase(options: dict[str, int | str], flop_per_byte: float) -> None:
    found = predicted(**options)
    intensity = step_document(found, "mistral-7b")["totals"]["intensity"]
    assert intensity == pytest.approx(flop_per_byte, rel=5e-3)
    assert f" ({intensity:,.4g} FLOP/B, the ridge is " in step_text(found, "mistral-7b")


@pytest.mark.covers(153)
@pytest.mark.parametrize(("part", "times"), [("a100-40-sxm", 4.86), ("a100-80-sxm", 6.37)])
def test_an_a100_decodes_by_its_bandwidth_faster_than_a_t4(part: str, times: float) -> None:
    ratio = serial_ms(predicted("t4", context=2048)) / serial_ms(predicted(part, context=2048))
    assert ratio == pytest.approx(times, abs=0.01)


@pytest.mark.covers(157)
def test_four_sequences_are_not_four_times_as_fast() -> None:
    one, four = (predicted(context=2048, batch=batch).tokens_per_s for batch in (1, 4))
    assert one is not None and four is not None
    assert four / one == pytest.approx(3.78, abs=0.005)


@pytest.mark.covers(156)
def test_fused_attention_moves_less() -> None:
    fused, plain = (
        serial_ms(predicted(phase="prefill", seq=8192, flash=flash)) for flash in (True, False)
    )
    assert fused < plain

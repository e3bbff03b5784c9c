"""Products over chips, convolutions, gathers, tiles and fused chains, against sums by hand."""

from math import ceil, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.errors import BadViewError
from roofline.estimate.document import estimate_document, estimate_text
from roofline.estimate.forms import FORMS, crossing, filled, intensity
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import Options


@pytest.mark.covers(212, 213, 233, 257)
def test_two_chips_are_bound_by_arithmetic_from_the_crossover_on() -> None:
    # 7,880 with the 50 GB/s of a link of a v5e; a guide's 8,755 rests on 45 GB/s.
    found = estimate_document(estimate("distributed-matmul", "128x7880x8192", "tpu-v5e"))
    assert found["thresholds"] == {"contracted": pytest.approx(2 * 197e12 / 50e9)}
    assert found["time_us"]["link"] == pytest.approx(found["time_us"]["compute"])
    assert found["time_us"]["link"] == pytest.approx(2 * 128 * 8192 / 50e9 * 1e6)
    assert found["time_us"]["compute"] == pytest.approx(128 * 7880 * 8192 / 197e12 * 1e6)
    assert set(found["bytes"]) == {"hbm", "link"}
    assert found["time_us"].keys() == {"compute", "memory", "link"}
    assert found["t_min_us"] == max(found["time_us"].values())


def test_more_chips_exchange_more() -> None:
    found = estimate_document(
        estimate("distributed-matmul", "64x8192x4096", "h100-sxm", Options(ranks=8))
    )
    assert found["flops"] == 2 * 64 * 8192 * 4096 / 8
    assert found["bytes"]["link"] == pytest.approx(2 * 7 / 8 * 64 * 4096 * 2)
    assert found["thresholds"]["contracted"] == pytest.approx(7 * 2 * 989.4e12 / 450e9)
    assert "from D = 30,781 on" in estimate_text(
        estimate("distributed-matmul", "64x8192x4096", "h100-sxm", Options(ranks=8))
    )


@pytest.mark.parametrize(
    ("shape", "options", "flops", "elements"),
    [
        ("1x224x224x3x64x7x7", Options(stride=2), 2 * 112 * 112 * 64 * 147, (150528, 9408, 802816)),
        ("2x8x8x4x6x3x3", Options(padding="valid"), 2 * 72 * 6 * 36, (512, 216, 432)),
        ("2x8x8x4x4x3x3", Options(groups=4), 2 * 128 * 4 * 9, (512, 36, 512)),
    ],
)
def test_convolutions_count_every_tap(
    shape: str, options: Options, flops: int, elements: tuple[int, ...]
) -> None:
    found = estimate("convolution", shape, "h100-sxm", options)
    assert found.work.matrix_flop == flops
    assert tuple(found.work.tensors.values()) == tuple(2 * one for one in elements)


@pytest.mark.parametrize(
    "options", [Options(groups=3), Options(stride=0), Options(padding="full"), Options(groups=0)]
)
def test_convolutions_that_cannot_be_are_refused(options: Options) -> None:
    with pytest.raises(BadViewError):
        estimate("convolution", "1x8x8x4x4x3x3", "h100-sxm", options)


def test_a_gather_does_no_arithmetic() -> None:
    found = estimate_document(estimate("gather", "4096x1024", "h100-sxm"))
    assert found["flops"] == 0
    assert found["bytes"] == {"hbm": 2 * 4096 * 1024 * 2 + 4096 * 4}
    assert found["bound"] == "memory"
    assert found["attainable_gflops"] is None


@pytest.mark.covers(84, 85)
def test_a_chain_moves_its_bytes_once() -> None:
    """Four ops over 2^28 elements: 4.29 GB alone, 1.07 GB fused, while memory binds them."""
    options = Options(ops=4, flops_per_element=0.25)
    found = estimate_document(estimate("chain", "16384x16384", "tpu-v7x", options))
    assert found["bytes"]["hbm"] == 2**30
    assert found["unfused"]["bytes"] == 2**32
    assert found["unfused"]["speed_up"] == pytest.approx(8 / 2)
    heavy = estimate_document(
        estimate("chain", "512x512", "tpu-v7x", Options(flops_per_element=99))
    )
    assert heavy["unfused"]["speed_up"] == pytest.approx(1.0), "arithmetic is not fused away"


def test_tiles_fill_waves() -> None:
    found = estimate("matmul", "8944x1024x2816", "h100-sxm", Options(tile="128x128"))
    tiles = estimate_document(found)["tiles"]
    assert (tiles["grid"], tiles["count"], tiles["processors"]) == ((70, 22), 1540, 132)
    assert tiles["waves"] == pytest.approx(1540 / 132)
    assert tiles["tail_ratio"] == pytest.approx(1 - 1540 / 132 / 12)
    assert tiles["last_wave_ratio"] == pytest.approx(1540 / 132 - 11)
    assert tiles["padding_ratio"] == pytest.approx(1 - 8944 * 2816 / (70 * 22 * 128 * 128))
    assert "1,540 tiles (70 x 22), 11.67 waves" in estimate_text(found)


@pytest.mark.covers(214)
@given(st.tuples(*[st.integers(1, 500)] * 3), st.tuples(*[st.integers(1, 200)] * 3))
def test_tiles_load_what_the_formula_says(
    shape: tuple[int, int, int], block: tuple[int, int, int]
) -> None:
    m, k, n = shape
    bm, bn, bk = block
    options = Options(tile="x".join(map(str, block)))
    found = estimate_document(estimate("matmul", f"{m}x{k}x{n}", "tpu-v5e", options))
    steps = ceil(m / bm), ceil(n / bn), ceil(k / bk)
    assert found["tiles"]["bytes"] == prod(steps) * (bm * bk + bk * bn) * 2
    assert found["padded_flops"] == 2 * prod(steps) * prod(block) >= found["flops"]
    assert found["tiles"]["waves"] is None, "the catalogue has no number of matrix units"


@pytest.mark.parametrize("tile", ["128", "0x128", "axb", "1x2x3x4", "²x2"])
def test_tiles_that_cannot_be_are_refused(tile: str) -> None:
    with pytest.raises(BadViewError, match="tile"):
        estimate_document(estimate("matmul", "8x8x8", "h100-sxm", Options(tile=tile)))


@pytest.mark.parametrize("op", FORMS)
def test_each_form_has_defaults_that_can_be_estimated(op: str) -> None:
    form = filled(op, {})
    assert estimate_document(estimate(op, form.shape, "h100-sxm", form.options))["t_min_us"] > 0


@pytest.mark.covers(80, 81)
@pytest.mark.parametrize("op", [op for op, form in FORMS.items() if form.swept])
@pytest.mark.parametrize("ridge", [1.0, 17.3, 240.5, 560.4])
def test_the_crossing_is_the_first_size_that_reaches_the_ridge(op: str, ridge: float) -> None:
    form = filled(op, {})
    least = crossing(form, ridge)
    assert least is not None
    assert (intensity(form, least) or 0) >= ridge
    assert least == 1 or (intensity(form, least - 1) or 0) < ridge


def test_a_product_too_small_never_crosses() -> None:
    form = filled("matmul", {"k": "64", "n": "64"})
    assert crossing(form, 240.5) is None
    exact = crossing(filled("matmul", {"k": "8192", "n": "8192"}), 240.5372)
    assert exact == 256, "the seventh case of batch_threshold_exact: 255.56"


@pytest.mark.parametrize(("key", "value"), [("m", "x"), ("m", "-1"), ("m", ""), ("ops", "2.5")])
def test_fields_say_what_they_cannot_read(key: str, value: str) -> None:
    form = filled("chain" if key == "ops" else "matmul", {key: value})
    if value == "":
        assert form.values["m"] == "8192"
        return
    with pytest.raises(BadViewError):
        estimate(form.op, form.shape, "h100-sxm", form.options)

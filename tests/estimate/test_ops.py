"""Estimates of single ops: their work, their clocks, and what cannot be estimated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.errors import BadViewError
from roofline.estimate.document import estimate_document, estimate_text
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import OPS, Options, bytes_per_element


@pytest.mark.covers(53, 78)
def test_matmul_counts_each_tensor_once() -> None:
    found = estimate_document(estimate("matmul", "8192x4096x2048", "h100-sxm"))
    assert found["flops"] == 2 * 8192 * 4096 * 2048
    assert found["tensors"] == {
        "a": 8192 * 4096 * 2,
        "b": 4096 * 2048 * 2,
        "out": 8192 * 2048 * 2,
    }
    assert list(found["bytes"]) == list(found["intensity"]) == ["hbm"]
    assert found["time_us"]["compute"] == pytest.approx(found["flops"] / 989.4e12 * 1e6)
    assert found["time_us"]["memory"] == pytest.approx(found["bytes"]["hbm"] / 3.35e12 * 1e6)
    assert found["t_min_us"] == found["time_us"]["compute"]
    assert found["t_max_us"] == pytest.approx(sum(found["time_us"].values()))
    assert found["bound"] == "compute"
    assert found["attainable_gflops"] == pytest.approx(989_400)


@pytest.mark.covers(258)
def test_a_batch_has_weights_of_its_own() -> None:
    found = estimate_document(estimate("matmul", "8x1x8192x8192", "tpu-v5e"))
    assert found["flops"] == 2 * 8 * 8192 * 8192
    assert found["intensity"]["hbm"] == pytest.approx(0.99976, abs=1e-5)


def test_weight_types_change_bytes_and_never_the_peak() -> None:
    plain = estimate("matmul", "16x4096x4096", "h100-sxm")
    small = estimate("matmul", "16x4096x4096", "h100-sxm", Options(weights="int4:g128"))
    assert small.work.tensors["b"] == 4096 * 4096 * 0.53125
    assert small.time_us["compute"] == plain.time_us["compute"]
    raised = estimate("matmul", "16x4096x4096", "h100-sxm", Options(compute="fp8"))
    assert raised.peaks["compute"].value == pytest.approx(1978.9e12, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "size"), [("int4:g128", 0.53125), ("nvfp4", 0.5625), ("mxfp4", 0.53125), ("BF16", 2)]
)
def test_elements_carry_their_scales(name: str, size: float) -> None:
    assert bytes_per_element(name) == size


def test_attention_reads_each_key_once_per_head_of_keys() -> None:
    options = Options(kv_heads=8, context=2048)
    found = estimate("attention", "8x32x1x128", "tpu-v5e", options)
    assert found.work.matrix_flop == 4 * 8 * 32 * 128 * 2048
    assert found.work.vector_flop == 5 * 8 * 32 * 2048
    assert found.work.memory_bytes == 2 * 8 * 32 * 128 * 2 + 2 * 8 * 2048 * 8 * 128 * 2


def test_masks_and_windows_leave_pairs_out() -> None:
    full = estimate("attention", "1x1x64x128", "h100-sxm").work
    causal = estimate("attention", "1x1x64x128", "h100-sxm", Options(causal=True)).work
    window = estimate("attention", "1x1x64x128", "h100-sxm", Options(window=16)).work
    assert causal.matrix_flop / full.matrix_flop == pytest.approx(65 / 128)
    assert window.matrix_flop == 4 * 128 * sum(min(i, 16) for i in range(1, 65))
    scores = estimate("attention", "1x1x64x128", "h100-sxm", Options(flash=False)).work
    assert scores.tensors["scores"] == 4 * 64 * 64 * 2


@pytest.mark.covers(55)
def test_norms_and_softmax_are_vector_work() -> None:
    layer = estimate("norm", "512x4096", "tpu-v5p").work
    assert (layer.vector_flop, layer.memory_bytes) == (
        10 * 512 * 4096,
        (3 * 512 * 4096 + 2 * 4096) * 2,
    )
    rms = estimate("norm", "512x4096", "tpu-v5p", Options(kind="rms")).work
    assert (rms.vector_flop, rms.memory_bytes) == (4 * 512 * 4096, (2 * 512 * 4096 + 4096) * 2)
    softmax = estimate("softmax", "512x4096", "tpu-v5p")
    assert softmax.work.vector_flop == 5 * 512 * 4096
    assert set(softmax.time_us) == {"vector", "memory"}


@pytest.mark.covers(184)
@pytest.mark.parametrize("ranks", [2, 3, 8, 64])
def test_wire_bytes_are_those_of_rings(ranks: int) -> None:
    payload = 1000 * 2

    def moved(op: str) -> float:
        return estimate(op, "1000", "tpu-v5e", Options(ranks=ranks)).work.link_bytes

    assert moved("all-reduce") == pytest.approx(2 * (ranks - 1) / ranks * payload)
    for op in ("all-gather", "reduce-scatter", "all-to-all"):
        assert moved(op) == pytest.approx((ranks - 1) / ranks * payload)
    assert moved("permute") == payload


def test_links_are_those_of_the_axes_that_the_ranks_fill() -> None:
    """A line of two has one link, a slice of 4x4 two lines, an axis of 16 both ways of a ring."""
    pair = estimate("permute", "1000", "tpu-v5e")
    square = estimate("all-gather", "1000", "tpu-v5e", Options(ranks=16))
    ring = estimate("all-gather", "1000", "tpu-v5e", Options(ranks=16, axes="16"))
    rates = [one.peaks["link"].value for one in (pair, square, ring)]
    assert rates == [50e9, 100e9, 100e9]
    assert estimate_document(pair)["attainable_gflops"] is None
    slow = estimate("all-reduce", "1000", "tpu-v5e", Options(ranks=8, alpha_us=2.0))
    none = estimate("all-reduce", "1000", "tpu-v5e", Options(ranks=8, latency="none"))
    assert (slow.t_min_us or 0) - (none.t_min_us or 0) == pytest.approx(14 * 2.0)


def test_a_part_without_the_unit_says_so() -> None:
    found = estimate_document(estimate("matmul", "64x64x64", "t4", Options(dtype="fp8")))
    assert found["time_us"]["compute"] is None
    assert found["t_min_us"] is found["bound"] is found["attainable_gflops"] is None
    assert "T4" in found["notes"][0]


def test_fp16_stands_in_for_bf16_as_in_a_step() -> None:
    found = estimate_document(estimate("matmul", "64x64x64", "t4"))
    assert found["peaks"]["compute"]["per_second"] == 65e12
    assert found["notes"] == ["T4 has no unit for bf16: the rate is that of fp16."]


def test_a_group_beyond_its_node_needs_a_network() -> None:
    found = estimate_document(estimate("all-reduce", "64x64", "t4", Options(ranks=8)))
    assert found["time_us"]["network"] is found["t_min_us"] is None
    assert "T4: no network is known; give --network." in found["notes"]
    given = Options(ranks=8, network="10GB/s")
    assert estimate("all-reduce", "64x64", "t4", given).t_min_us


@pytest.mark.covers(200, 210, 211, 242)
def test_thresholds_name_the_batch() -> None:
    found = estimate_document(estimate("matmul", "1x8192x8192", "tpu-v5e"))
    assert round(found["thresholds"]["batch"]) == 241
    on_h100 = estimate("matmul", "1x8192x8192", "h100-sxm")
    assert "Compute-bound from 295 rows" in estimate_text(on_h100)
    tiny = estimate_document(estimate("matmul", "1x64x64", "tpu-v5e"))
    assert tiny["thresholds"]["batch_exact"] is None
    assert "never" in estimate_text(estimate("matmul", "1x64x64", "tpu-v5e"))


@pytest.mark.parametrize(
    ("op", "shape", "device", "said"),
    [
        ("matmul", "8x8", "h100-sxm", "MxKxN"),
        ("matmul", "8x-8x8", "h100-sxm", "MxKxN"),
        ("matmul", "8x0x8", "h100-sxm", "MxKxN"),
        ("matmul", "8x8.5x8", "h100-sxm", "MxKxN"),
        ("norm", "8", "h100-sxm", "ROWSxHIDDEN"),
        ("conv", "8", "h100-sxm", "Name one of"),
        ("dot", "8", "h1000", "Near it"),
    ],
)
def test_what_is_not_understood_is_said(op: str, shape: str, device: str, said: str) -> None:
    with pytest.raises(BadViewError) as refused:
        estimate(op, shape, device)
    assert said in f"{refused.value.message} {refused.value.remedy}"


@given(st.integers(1, 10**5), st.integers(1, 10**5), st.integers(1, 10**5))
def test_two_times_bracket_each_clock(m: int, k: int, n: int) -> None:
    found = estimate("matmul", f"{m}x{k}x{n}", "tpu-v6e")
    clocks = found.known_us.values()
    least, most = found.t_min_us or 0.0, found.t_max_us or 0.0
    assert least == max(clocks)
    assert least <= most <= len(clocks) * least * (1 + 1e-12)


@given(st.integers(1, 60), st.integers(0, 60), st.integers(1, 80))
def test_windows_count_the_pairs_of_each_token(tokens: int, cached: int, window: int) -> None:
    options = Options(window=window, context=cached + tokens)
    found = estimate("attention", f"1x1x{tokens}x1", "h100-sxm", options).work
    assert found.matrix_flop == 4 * sum(min(cached + i, window) for i in range(1, tokens + 1))


def test_huge_and_negative_numbers_are_answered_at_once() -> None:
    long = Options(window=5)
    assert estimate("attention", "1x1x1000000000x128", "h100-sxm", long).work.matrix_flop > 0
    for wrong in ("9" * 5000, "1x" * 3 + "9" * 16):
        with pytest.raises(BadViewError):
            estimate("matmul", wrong, "h100-sxm")
    with pytest.raises(BadViewError, match="window"):
        Options(window=-1)
    with pytest.raises(BadViewError, match="torus"):
        estimate("all-reduce", "1000", "h100-sxm", Options(axes=2))
    with pytest.raises(BadViewError, match="flops_per_element"):
        Options(flops_per_element=float("nan"))


@pytest.mark.parametrize("op", OPS)
def test_each_op_has_a_report(op: str) -> None:
    shape = {
        "matmul": "8x8x8",
        "distributed-matmul": "8x8x8",
        "convolution": "8x8x8x8x8x3x3",
        "gather": "8x8",
        "norm": "8x8",
        "softmax": "8x8",
        "reduction": "8x8",
        "attention": "1x1x8x8",
    }
    assert "At least" in estimate_text(estimate(op, shape.get(op, "8"), "h100-sxm"))

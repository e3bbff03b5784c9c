"""FLOPs and bytes of operators from shapes; values worked out by hand."""

from collections.abc import Sequence
from typing import Any

import pytest

from roofline.importers.pytorch.inputs import read_inputs
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.words import operator_category
from roofline.importers.shared.kernel_names import kernel_category
from tests.importers.kineto_profiles import signature as signature_of

FP32, BF16 = "float", "c10::BFloat16"


def signature(operator: str, dims: Any, types: Any = None, **rest: Any) -> Signature:
    return signature_of(operator, dims, [FP32] * len(dims) if types is None else types, **rest)


CONV = ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]
IMAGE, FILTER = [4, 3, 16, 16], [8, 3, 3, 3]
NONE: list[int] = []
HEADS = [2, 4, 64, 32]
SCALARS = ["", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"]


@pytest.mark.parametrize(
    ("operator", "dims", "values", "flop"),
    [
        ("aten::mm", [[64, 32], [32, 16]], None, 65_536),
        ("aten::addmm", [[7], [5, 6], [6, 7]], None, 420),
        ("aten::bmm", [[3, 8, 16], [3, 16, 4]], None, 3_072),
        ("aten::baddbmm", [[3, 8, 4], [3, 8, 16], [3, 16, 4]], None, 3_072),
        ("aten::_int_mm", [[8, 4], [4, 2]], None, 128),
        ("aten::mv", [[8, 4], [4]], None, 64),
        ("aten::dot", [[4], [4]], None, 8),
        # 4 x 8 outputs of 8 x 8 places, 27 products each.
        ("aten::convolution", [IMAGE, FILTER, [8], *[NONE] * 6], CONV, 2 * 4 * 8 * 64 * 27),
        (
            "aten::cudnn_convolution",
            [IMAGE, FILTER],
            ["", "", "[1, 1]", "[1, 1]", "[1, 1]"],
            442_368,
        ),
        ("aten::conv2d", [IMAGE, FILTER], ["", "", "", "[1, 1]", "same", "[1, 1]", "1"], 442_368),
        (
            "aten::miopen_convolution",
            [IMAGE, FILTER, NONE],
            ["", "", "", "[0]", "[1]", "[1]"],
            2 * 4 * 8 * 14 * 14 * 27,
        ),
        (
            "aten::convolution",
            [[4, 8, 8, 8], [8, 3, 2, 2], *[NONE] * 7],
            ["", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "1"],
            2 * 4 * 8 * 64 * 3 * 4,
        ),
        (
            "aten::convolution_backward",
            [[4, 8, 16, 16], IMAGE, FILTER, *[NONE] * 8],
            [*[""] * 4, "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, True]"],
            2 * 442_368,
        ),
        (
            "aten::convolution_backward",
            [[4, 8, 16, 16], IMAGE, FILTER, *[NONE] * 8],
            [
                *[""] * 4,
                "[1, 1]",
                "[1, 1]",
                "[1, 1]",
                "False",
                "[0, 0]",
                "1",
                "[False, True, True]",
            ],
            442_368,
        ),
        (
            "aten::_scaled_dot_product_flash_attention",
            [HEADS] * 3,
            None,
            2 * 2 * 4 * 64 * 64 * (32 + 32),
        ),
        ("aten::_efficient_attention_forward", [[2, 64, 4, 32]] * 3, None, 4_194_304),
        ("aten::_scaled_dot_product_flash_attention_backward", [HEADS] * 6, None, 10_485_760),
        ("flash_attn::_flash_attn_forward", [[2, 64, 4, 32]] * 3, None, 4_194_304),
    ],
    ids=str,
)
def test_flop(
    operator: str, dims: Sequence[Sequence[int]], values: Sequence[str] | None, flop: int
) -> None:
    assert signature(operator, dims, values=values).flop == flop


def test_grouped_queries_share_keys() -> None:
    """Heads of keys do not count: every head of queries meets one of them."""
    dims = [[2, 8, 64, 32], [2, 2, 128, 32], [2, 2, 128, 16]]
    found = signature("aten::_scaled_dot_product_flash_attention", dims)
    assert found.flop == 2 * 2 * 8 * 64 * 128 * (32 + 16)


@pytest.mark.parametrize(
    ("operator", "dims"),
    [
        ("aten::normal_", [[4]]),
        ("aten::mm", [[4, 5], [6, 7]]),
        ("aten::mm", []),
        ("aten::cudnn_convolution", [IMAGE, FILTER]),
        ("aten::_flash_attention_forward", [[100, 4, 32]] * 3),
    ],
    ids=str,
)
def test_unknown_flop(operator: str, dims: Sequence[Sequence[int]]) -> None:
    assert signature(operator, dims).flop is None


@pytest.mark.parametrize(
    ("operator", "dims", "types", "count"),
    [
        ("aten::mm", [[128, 5], [5, 128]], [FP32] * 2, 70_656),
        ("aten::mm", [[128, 5], [5, 128]], ["c10::Half"] * 2, 35_328),
        ("aten::mm", [[128, 5], [5, 128], [128, 128]], [FP32] * 3, 70_656),  # into a given output
        ("aten::add", [[4, 8], [8], []], [FP32, FP32, "Scalar"], 4 * (32 + 8 + 32)),
        ("aten::add_", [[4, 8], [8], []], [FP32, FP32, "Scalar"], 4 * (32 + 8 + 32)),
        ("aten::eq", [[4], [4]], ["double", "double"], 8 * 8 + 4),
        ("aten::copy_", [[4], [4], []], [BF16, FP32, "Scalar"], 8 + 16),
        ("aten::fill_", [[100], []], ["long int", "Scalar"], 800),
        ("aten::embedding", [[1000, 16], [10]], [BF16, "long"], 2 * 10 * 32 + 80),
        ("aten::sum", [[64, 64]], [FP32], 64 * 64 * 4),
        ("aten::cat", [[[4], [6]], []], ["TensorList", "Scalar"], None),  # no types inside lists
        ("aten::index", [[100], [5]], [FP32, "long"], None),
        ("aten::transpose", [[100, 5]], [FP32], None),
        ("AddmmBackward0", [[100, 5]], [FP32], None),
        ("aten::relu", [[4]], ["c10::mystery"], None),
        ("aten::relu", [], [], None),
    ],
    ids=str,
)
def test_bytes(
    operator: str,
    dims: Sequence[Sequence[int | Sequence[int]]],
    types: Sequence[str],
    count: int | None,
) -> None:
    assert signature(operator, dims, types).moved_bytes == count


def test_broadcast_dimensions_are_read_once() -> None:
    found = signature("aten::sum", [[64, 128]], strides=[[0, 1]])
    assert found.moved_bytes == 128 * 4


def test_backward_of_convolution_writes_what_is_asked_for() -> None:
    values = [*[""] * 10, "[False, True, False]"]
    dims = [[4, 8, 16, 16], IMAGE, FILTER, *[NONE] * 8]
    types = [FP32] * 3 + ["ScalarList"] * 8
    found = signature("aten::convolution_backward", dims, types, values=values)
    read = 4 * 8 * 256 + 4 * 3 * 256 + 8 * 27
    assert found.moved_bytes == 4 * (read + 8 * 27)


def test_labels_are_short() -> None:
    found = signature("aten::cat", [[[4, 4], [4, 4]], []], ["TensorList", "Scalar"])
    assert found.label == "aten::cat [2 tensors]"
    many = signature("aten::f", [[k] for k in range(1, 9)])
    assert many.label == "aten::f [1, 2, 3, 4, …] fp32"


@pytest.mark.parametrize(
    "dims", [None, 5, "x", [None], [["a"]], [[-1, 2]], [[True]], [[10**30]], [[[[1]]]]], ids=str
)
def test_damaged_shapes_are_no_tensors(
    dims: int | Sequence[Sequence[int | Sequence[Sequence[int]] | str] | None] | str | None,
) -> None:
    inputs = read_inputs("aten::mm", dims=dims, types=["float"], strides=7, values=[None])
    assert not inputs.all_tensors
    assert signature("aten::mm", dims, ["float"]).flop is None


@pytest.mark.parametrize(
    ("operator", "kernel", "category"),
    [
        ("aten::addmm", "", "matmul"),
        ("aten::cudnn_convolution", "", "convolution"),
        ("aten::native_layer_norm", "", "normalisation"),
        ("aten::_scaled_dot_product_flash_attention", "", "attention"),
        ("aten::mul", "", "elementwise"),
        ("aten::normal_", "", "random numbers"),
        ("aten::bernoulli_", "", "random numbers"),
        ("aten::fill_", "", "copy"),
        ("c10d::broadcast_", "", "communication"),
        ("aten::_fused_adamw_", "", "optimizer"),
        ("custom::thing", "void at::native::vectorized_elementwise_kernel<4>", "elementwise"),
        ("fbgemm::custom", "", "other"),
        ("triton_poi_fused_add_0", "", "fused (Inductor)"),
    ],
)
def test_categories(operator: str, kernel: str, category: str) -> None:
    assert operator_category(operator, kernel) == category


def test_kernel_categories() -> None:
    assert kernel_category("ncclDevKernel_AllReduce_Sum_f32_RING_LL") == "communication"
    assert kernel_category("void fbgemm_gpu::permute_2D_lengths_kernel<int>") == "other"
    assert kernel_category("ampere_sgemm_32x32_sliced1x4_tn") == "matmul"

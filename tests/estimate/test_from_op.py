"""Forms filled in from the ops of profiles: sizes and types of their own, or nothing."""

import math

import pytest

from roofline.estimate.forms import crossing, filled
from roofline.estimate.from_op import MeasuredOp, form_of_op
from roofline.pipeline import analyse_files
from roofline.presentation.op_names import shape_lists
from tests.conftest import ROOT

SHARED = ROOT.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")

QUERY = "bf16[16,559,16,64]{3,1,2,0}"
CONVOLUTION = ("f16[8,64,56,56]", "f16[128,64,3,3]", "f16[128]")


@pytest.mark.parametrize(
    ("op", "shape", "values"),
    [
        (
            MeasuredOp(
                name="aten::addmm [1024, 8944x1024, 1024x2816] bf16",
                category="matmul",
                operands=("bf16[2816]", "bf16[8944,1024]{1,0}", "bf16[1024,2816]{0,1}"),
            ),
            "1x8944x1024x2816",
            {"dtype": "bf16", "weights": ""},
        ),
        (
            MeasuredOp(
                name="aten::linear [..]", category="matmul", operands=("f16[4,8]", "s8[6,8]")
            ),
            "1x4x8x6",
            {"dtype": "fp16", "weights": "int8"},
        ),
        (
            MeasuredOp(name="aten::bmm", category="matmul", operands=("f32[3,4,5]", "f32[3,5,6]")),
            "3x4x5x6",
            {"dtype": "fp32"},
        ),
        (
            MeasuredOp(
                name="dot.34",
                category="dot",
                operands=("f32[1024,256]{1,0}", "f32[1024,512]{1,0}"),
                results=("f32[256,512]{1,0}",),
                flop=2.0 * 1024 * 256 * 512,
            ),
            "1x256x1024x512",
            {"dtype": "fp32"},
        ),
        (
            MeasuredOp(
                name="dot_general.60",
                category="dot",
                operands=("f32[8,8,128,32]", "f32[8,8,128,128]"),
                results=("f32[8,8,32,128]",),
                flop=2.0 * 64 * 128 * 32 * 128,
            ),
            "64x32x128x128",
            {},
        ),
        (
            MeasuredOp(
                name="aten::cudnn_convolution [..]",
                category="convolution",
                operands=CONVOLUTION,
                flop=2.0 * 8 * 28 * 28 * 128 * 64 * 9,
            ),
            "8x56x56x64x128x3x3",
            {"stride": "2", "padding": "same", "dtype": "fp16"},
        ),
        (
            MeasuredOp(
                name="aten::_flash_attention_forward [..]",
                category="attention",
                operands=(QUERY,) * 3,
                flop=4.0 * 16 * 16 * 64 * 559 * 560 / 2,
            ),
            "16x16x559x64",
            {"causal": "yes", "kv_heads": "16", "context": ""},
        ),
        (
            MeasuredOp(
                name="aten::_scaled_dot_product_flash_attention [..]",
                category="attention",
                operands=("bf16[4,32,1,128]", "bf16[4,8,2048,128]", "bf16[4,8,2048,128]"),
            ),
            "4x32x1x128",
            {"causal": "", "kv_heads": "8", "context": "2048"},
        ),
        (
            MeasuredOp(
                name="aten::native_layer_norm [..]",
                category="normalisation",
                operands=("bf16[4,2048,4096]", "bf16[4096]", "bf16[4096]"),
            ),
            "8192x4096",
            {"kind": "layer"},
        ),
        (
            MeasuredOp(
                name="aten::index_select",
                category="embedding",
                operands=("bf16[151936,1024]{1,0}", "s64[8944]{0}"),
            ),
            "8944x1024",
            {"dtype": "bf16"},
        ),
        (
            MeasuredOp(
                name="aten::mul",
                category="elementwise",
                operands=("bf16[16,16,559,64]", "bf16[1,1,559,64]"),
                flop=16.0 * 16 * 559 * 64,
            ),
            "16x16x559x64",
            {"inputs": "1", "flops_per_element": "1"},
        ),
        (
            MeasuredOp(
                name="reduce.1", category="reduce", operands=("f32[8,128]",), results=("f32[8]",)
            ),
            "8x128",
            {"dtype": "fp32"},
        ),
        (
            MeasuredOp(
                name="all-gather.1",
                category="all-gather",
                operands=("bf16[128,64]",),
                results=("bf16[512,64]",),
                group_size=4,
            ),
            "512x64",
            {"ranks": "4", "dtype": "bf16"},
        ),
    ],
)
def test_ops_fill_in_their_form(op: MeasuredOp, shape: str, values: dict[str, str]) -> None:
    form = form_of_op(op)
    assert form is not None
    assert form.shape == shape
    assert {key: form.values[key] for key in values} == values


@pytest.mark.parametrize(
    "op",
    [
        MeasuredOp(name="dot.1", category="dot", operands=("f32[4,8]", "f32[8,4]"), flop=1.0),
        MeasuredOp(name="aten::mm", category="matmul", operands=("f32[4,8]", "f32[9,4]")),
        MeasuredOp(name="aten::cudnn_convolution", category="convolution", operands=CONVOLUTION),
        MeasuredOp(name="all-reduce", category="all-reduce", operands=("f32[4,8]",)),
        MeasuredOp(name="copy-done.1", category="copy-done", operands=("f32[8]", "f32[8]")),
        MeasuredOp(name="aten::mul", category="elementwise", operands=("c64[8]",)),
        MeasuredOp(name="aten::add", category="elementwise", operands=("f32[0]",)),
        MeasuredOp(
            name="aten::_flash_attention_backward", category="attention", operands=(QUERY,) * 3
        ),
    ],
)
def test_what_the_tensors_do_not_settle_is_left_open(op: MeasuredOp) -> None:
    assert form_of_op(op) is None


def test_new_tokens_are_swept_up_to_the_context() -> None:
    form = filled("attention", {"tokens": "1", "context": "2048"})
    assert crossing(form, 1e6) is None
    assert 1 < (crossing(form, 100.0) or 0) <= 2048


@needs_shared
def test_most_of_the_time_of_a_trace_has_an_estimate() -> None:
    """Of a prefill on an H100; the rest are kernels without an operator."""
    path = SHARED / "samples" / "pytorch" / "h100_qwen_causal.json.gz"
    table = analyse_files([path]).profile.ops
    told = 0.0
    for op in range(len(table)):
        shapes = shape_lists(table, op) or {"operands": [], "results": []}
        calls = float(table.occurrences[op])
        flop = float(table.flop[op]) / calls
        form = form_of_op(
            MeasuredOp(
                name=table.name[op],
                category=table.category[op],
                operands=tuple(shapes["operands"]),
                flop=None if math.isnan(flop) else flop,
            )
        )
        told += float(table.self_time_ps[op]) if form else 0.0
    assert told / float(table.self_time_ps.sum()) > 0.6

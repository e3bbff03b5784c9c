"""FLOPs of operators from the shapes of their inputs: matrix products, convolutions, attention.

A multiply-add is two FLOPs. Argument places are those of the operators' schemas in PyTorch's
`native_functions.yaml`; the set of operators is that of `torch.utils.flop_counter`, and the
vendors' convolutions that kernels hang on. All others have no formula: their FLOPs are unknown.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import Inputs, Tensor

_PRODUCTS = {
    **dict.fromkeys(("mm", "bmm", "_scaled_mm", "_grouped_mm", "_int_mm", "mv"), (0, 1)),
    **dict.fromkeys(("dot", "vdot"), (0, 1)),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "_addmm_activation"), (1, 2)),
    "addmv": (1, 2),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Convolution:
    """Places of a convolution's arguments; `None`: the operator has no such argument."""

    stride: int
    padding: int
    dilation: int | None
    transposed: int | None = None
    is_transposed: bool = False


_BIASED = Convolution(stride=4, padding=3, dilation=5)
_GENERAL = Convolution(stride=3, padding=4, dilation=5, transposed=6)
_KERNEL_SIZED = Convolution(stride=4, padding=5, dilation=6)
CONVOLUTIONS = {
    "convolution": _GENERAL,
    "_convolution": _GENERAL,
    "convolution_overrideable": _GENERAL,
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), Convolution(stride=3, padding=4, dilation=5)),
    "cudnn_convolution": Convolution(stride=3, padding=2, dilation=4),
    "cudnn_convolution_transpose": Convolution(stride=4, padding=2, dilation=5, is_transposed=True),
    "cudnn_convolution_relu": Convolution(stride=3, padding=4, dilation=5),
    "cudnn_convolution_add_relu": Convolution(stride=5, padding=6, dilation=7),
    "miopen_convolution": _BIASED,
    "miopen_depthwise_convolution": _BIASED,
    "mkldnn_convolution": _BIASED,
    "miopen_convolution_transpose": Convolution(
        stride=5, padding=3, dilation=6, is_transposed=True
    ),
    **dict.fromkeys(
        ("_conv_depthwise2d", "conv_depthwise3d", "slow_conv_dilated2d", "slow_conv_dilated3d"),
        _KERNEL_SIZED,
    ),
    **dict.fromkeys(
        ("thnn_conv2d", "_slow_conv2d_forward", "slow_conv3d_forward"),
        Convolution(stride=4, padding=5, dilation=None),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backward:
    """Places in a convolution's backward: output gradient, weight, input, mask of gradients."""

    gradient: int
    weight: int
    input: int
    mask: int | None
    transposed: int | None = None


BACKWARDS = {
    "convolution_backward": Backward(gradient=0, weight=2, input=1, mask=10, transposed=7),
    "convolution_backward_overrideable": Backward(
        gradient=0, weight=2, input=1, mask=9, transposed=6
    ),
    "cudnn_convolution_backward": Backward(gradient=1, weight=2, input=0, mask=10),
    "miopen_convolution_backward": Backward(gradient=1, weight=2, input=0, mask=9),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Place of the query (key and value follow), and whether heads come before the sequence."""

    query: int
    heads_first: bool
    is_backward: bool = False


ATTENTIONS = {
    **dict.fromkeys(
        (
            "_scaled_dot_product_flash_attention",
            "_scaled_dot_product_flash_attention_for_cpu",
            "_scaled_dot_product_efficient_attention",
            "_scaled_dot_product_cudnn_attention",
            "_scaled_dot_product_fused_attention_overrideable",
            "_cudnn_attention_forward",
        ),
        Attention(query=0, heads_first=True),
    ),
    **dict.fromkeys(
        (
            "_scaled_dot_product_flash_attention_backward",
            "_scaled_dot_product_flash_attention_for_cpu_backward",
            "_scaled_dot_product_efficient_attention_backward",
            "_scaled_dot_product_cudnn_attention_backward",
            "_scaled_dot_product_fused_attention_overrideable_backward",
            "_cudnn_attention_backward",
        ),
        Attention(query=1, heads_first=True, is_backward=True),
    ),
    **dict.fromkeys(
        ("_flash_attention_forward", "_efficient_attention_forward", "_flash_attn_forward"),
        Attention(query=0, heads_first=False),
    ),
    **dict.fromkeys(
        ("_flash_attention_backward", "_efficient_attention_backward", "_flash_attn_backward"),
        Attention(query=1, heads_first=False, is_backward=True),
    ),
}
# Backward passes compute five products where the forward pass computes two.
_BACKWARD_QUARTERS, _QUARTERS = 10, 4


def bare(operator: str) -> str:
    """The operator without its library: `aten::mm` → `mm`."""
    return operator.rpartition("::")[2]


def counts(operator: str) -> bool:
    """True if there is a formula for `operator`."""
    name = bare(operator)
    return any(name in table for table in (_PRODUCTS, CONVOLUTIONS, BACKWARDS, ATTENTIONS))


def flops(inputs: Inputs) -> int | None:
    """FLOPs of one execution; `None` without a formula, or without what it needs."""
    name = bare(inputs.operator)
    if name in _PRODUCTS:
        shape = product_shape(inputs)
        return 2 * math.prod(shape) if shape else None
    if name in CONVOLUTIONS:
        return _convolution(inputs, CONVOLUTIONS[name])
    if name in BACKWARDS:
        return _convolution_backward(inputs, BACKWARDS[name])
    return _attention(inputs, ATTENTIONS[name]) if name in ATTENTIONS else None


def product_shape(inputs: Inputs) -> tuple[int, int, int, int] | None:
    """Batch, m, k and n of a matrix product; `None` if the shapes do not fit."""
    places = _PRODUCTS.get(bare(inputs.operator))
    left, right = (inputs.tensor(k) for k in places) if places else (None, None)
    if left is None or right is None or not left.shape or not right.shape:
        return None
    a = left.shape if len(left.shape) > 1 else (1, *left.shape)
    b = right.shape if len(right.shape) > 1 else (*right.shape, 1)
    if a[-1] != b[-2]:
        return None
    return math.prod(a[:-2]), a[-2], a[-1], b[-1]


# -------------------------------------------------------------------------------------- convolution


def output_shape(inputs: Inputs) -> tuple[int, ...] | None:
    """Shape of a forward convolution's output; `None` where arguments are unknown."""
    form = CONVOLUTIONS.get(bare(inputs.operator))
    data, weight = inputs.tensor(0), inputs.tensor(1)
    if form is None or not _fits(data, weight) or data is None or weight is None:
        return None
    if _is_transposed(inputs, form):
        return None
    rank = len(weight.shape) - 2
    strides = _integers(inputs.value(form.stride), rank)
    dilations = (
        _integers(inputs.value(form.dilation), rank) if form.dilation is not None else [1] * rank
    )
    if not strides or not dilations or min(strides) < 1:
        return None
    sizes = list(zip(data.shape[2:], weight.shape[2:], strides, dilations, strict=True))
    paddings = _paddings(inputs.value(form.padding), sizes)
    if not paddings:
        return None
    spatial = [
        (size + padding - dilation * (kernel - 1) - 1) // stride + 1
        for (size, kernel, stride, dilation), padding in zip(sizes, paddings, strict=True)
    ]
    return (data.shape[0], weight.shape[0], *spatial) if min(spatial) > 0 else None


def _paddings(text: str, sizes: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """Padding of both sides together, per dimension; empty if unknown."""
    if text == "valid":
        return [0] * len(sizes)
    if text == "same":
        return [dilation * (kernel - 1) for _, kernel, _, dilation in sizes]
    return [2 * padding for padding in _integers(text, len(sizes))]


def _convolution(inputs: Inputs, form: Convolution) -> int | None:
    data, weight = inputs.tensor(0), inputs.tensor(1)
    if data is None or weight is None or not _fits(data, weight):
        return None
    per_element = 2 * math.prod(weight.shape[1:])
    if _is_transposed(inputs, form):
        return per_element * data.shape[0] * weight.shape[0] * math.prod(data.shape[2:])
    shape = output_shape(inputs)
    return per_element * math.prod(shape) if shape else None


def _convolution_backward(inputs: Inputs, form: Backward) -> int | None:
    """One forward's work per gradient that is asked for; both of them where nobody says."""
    gradient, weight = inputs.tensor(form.gradient), inputs.tensor(form.weight)
    data = inputs.tensor(form.input)
    if gradient is None or weight is None or data is None or not _fits(gradient, weight):
        return None
    transposed = form.transposed is not None and _is_true(inputs.value(form.transposed))
    swept = data if transposed else gradient
    channels = weight.shape[0]
    once = 2 * swept.shape[0] * channels * math.prod(swept.shape[2:]) * math.prod(weight.shape[1:])
    return once * len(wanted_gradients(inputs))


def wanted_gradients(inputs: Inputs) -> list[int]:
    """Which of input (0) and weight (1) a convolution's backward differentiates."""
    form = BACKWARDS[bare(inputs.operator)]
    text = inputs.value(form.mask) if form.mask is not None else ""
    flags = [part.strip() for part in text.strip("[]").split(",")]
    if len(flags) < 2:
        return [0, 1]
    return [k for k in (0, 1) if _is_true(flags[k])]


def _is_transposed(inputs: Inputs, form: Convolution) -> bool:
    if form.transposed is None:
        return form.is_transposed
    return _is_true(inputs.value(form.transposed))


def _is_true(text: str) -> bool:
    return text.strip().lower() in {"true", "1"}


def _fits(data: Tensor | None, weight: Tensor | None) -> bool:
    return (
        data is not None
        and weight is not None
        and len(weight.shape) >= 3
        and len(data.shape) == len(weight.shape)
    )


def _integers(text: str, count: int) -> list[int]:
    """A list argument as numbers, one per dimension; empty if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    parts = found if isinstance(found, list) else [found]
    numbers = [part for part in parts if isinstance(part, int) and 0 <= part < 2**32]
    if len(numbers) != len(parts) or len(numbers) not in (1, count):
        return []
    return numbers if len(numbers) == count else numbers * count


# ---------------------------------------------------------------------------------------- attention


def _attention(inputs: Inputs, form: Attention) -> int | None:
    """Two products, scores and values, without a discount for causal masks."""
    found = [inputs.tensor(form.query + k) for k in range(3)]
    shapes = [tensor.shape for tensor in found if tensor is not None and len(tensor.shape) == 4]
    if len(shapes) != 3:
        return None  # ragged batches: the lengths are data, not shapes
    query, key, value = (
        shape if form.heads_first else (shape[0], shape[2], shape[1], shape[3]) for shape in shapes
    )
    batch, heads, n_queries, depth = query
    forward = 2 * batch * heads * n_queries * key[2] * (depth + value[3])
    return forward * _BACKWARD_QUARTERS // _QUARTERS if form.is_backward else forward

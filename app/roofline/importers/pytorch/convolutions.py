"""Convolutions: FLOPs and bytes from shapes, and from strides, padding and dilation.

A multiply-add is two FLOPs. Argument places are those of the operators' schemas in PyTorch's
`native_functions.yaml`, and of the vendors' convolutions that kernels hang on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import (
    Family,
    Inputs,
    Tensor,
    first_precision,
    known_as,
    places_of,
    total_bytes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Convolution:
    """Places of a convolution's arguments; `None`: the operator has no such argument."""

    stride: int
    padding: int
    dilation: int | None
    transposed: int | None = None
    is_transposed: bool = False


CONVOLUTIONS = places_of(_Convolution, "convolutions")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backward:
    """Places in a convolution's backward: output gradient, weight, input, mask of gradients."""

    gradient: int
    weight: int
    input: int
    mask: int
    transposed: int | None = None


BACKWARDS = places_of(_Backward, "convolutions backward")

# Places of the argument that allows TF32, which takes less time and precision than fp32.
_TF32 = {"cudnn_convolution": 8, "cudnn_convolution_transpose": 9, "cudnn_convolution_backward": 9}


def allows_tf32(inputs: Inputs) -> bool:
    """False where an argument of a convolution says that fp32 stays fp32."""
    place = _TF32.get(known_as(inputs.operator))
    return place is None or inputs.flag(place) is not False


def _output_shape(inputs: Inputs) -> tuple[int, ...] | None:
    """Shape of a forward convolution's output; `None` where arguments are unknown."""
    form = CONVOLUTIONS.get(known_as(inputs.operator))
    data, weight = inputs.tensor(0), inputs.tensor(1)
    if form is None or not _fits(data, weight) or data is None or weight is None:
        return None
    if _is_transposed(inputs, form):
        return None
    rank = len(weight.shape) - 2
    strides = _per_dimension(inputs, form.stride, rank)
    dilations = [1] * rank
    if form.dilation is not None:
        dilations = _per_dimension(inputs, form.dilation, rank)
    if not strides or not dilations or min(strides) < 1:
        return None
    sizes = list(zip(data.shape[2:], weight.shape[2:], strides, dilations, strict=True))
    paddings = _paddings(inputs, form.padding, sizes)
    if not paddings:
        return None
    spatial = [
        (size + padding - dilation * (kernel - 1) - 1) // stride + 1
        for (size, kernel, stride, dilation), padding in zip(sizes, paddings, strict=True)
    ]
    return (data.shape[0], weight.shape[0], *spatial) if min(spatial) > 0 else None


def _paddings(inputs: Inputs, place: int, sizes: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """Padding of both sides together, per dimension; empty if unknown."""
    text = inputs.value(place)
    if text == "valid":
        return [0] * len(sizes)
    if text == "same":
        return [dilation * (kernel - 1) for _, kernel, _, dilation in sizes]
    return [2 * padding for padding in _per_dimension(inputs, place, len(sizes))]


def _convolution(inputs: Inputs, form: _Convolution) -> int | None:
    data, weight = inputs.tensor(0), inputs.tensor(1)
    if data is None or weight is None or not _fits(data, weight):
        return None
    per_element = 2 * math.prod(weight.shape[1:])
    if _is_transposed(inputs, form):
        return per_element * data.shape[0] * weight.shape[0] * math.prod(data.shape[2:])
    shape = _output_shape(inputs)
    return per_element * math.prod(shape) if shape else None


def _convolution_backward(inputs: Inputs, form: _Backward) -> int | None:
    """One forward's work per gradient that is asked for; both where the trace does not say."""
    gradient, weight = inputs.tensor(form.gradient), inputs.tensor(form.weight)
    data = inputs.tensor(form.input)
    if gradient is None or weight is None or data is None or not _fits(gradient, weight):
        return None
    transposed = form.transposed is not None and _is_true(inputs.value(form.transposed))
    swept = data if transposed else gradient
    channels = weight.shape[0]
    once = 2 * swept.shape[0] * channels * math.prod(swept.shape[2:]) * math.prod(weight.shape[1:])
    return once * len(_wanted_gradients(inputs))


def _wanted_gradients(inputs: Inputs) -> list[int]:
    """Which of input (0) and weight (1) a convolution's backward differentiates."""
    flags = _mask(inputs)
    return [0, 1] if len(flags) < 2 else [k for k in (0, 1) if _is_true(flags[k])]


def _mask(inputs: Inputs) -> list[str]:
    form = BACKWARDS[known_as(inputs.operator)]
    text = inputs.value(form.mask)
    return [part.strip() for part in text.strip("[]").split(",")]


def are_gradients_unknown(inputs: Inputs) -> bool:
    """True if both gradients are counted because what was recorded does not name them."""
    return known_as(inputs.operator) in BACKWARDS and len(_mask(inputs)) < 2


def _is_transposed(inputs: Inputs, form: _Convolution) -> bool:
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


def _per_dimension(inputs: Inputs, place: int, count: int) -> list[int]:
    """A plain argument as one number per dimension; empty if it is not."""
    numbers = inputs.whole_numbers(place)
    if len(numbers) not in (1, count):
        return []
    return numbers if len(numbers) == count else numbers * count


# -------------------------------------------------------------------------------------------- bytes


def _moved(inputs: Inputs) -> int | None:
    """Forward: data, weight, bias and result; backward: all inputs, and the gradients written."""
    name = known_as(inputs.operator)
    read = total_bytes(inputs.all_tensors)
    if read is None or not inputs.all_tensors:
        return None
    if name in BACKWARDS:
        form = BACKWARDS[name]
        places = (form.input, form.weight)
        written = inputs.sized([places[k] for k in _wanted_gradients(inputs)])
    else:
        shape, item = _output_shape(inputs), inputs.all_tensors[0].item_bytes
        written = math.prod(shape) * item if shape and item else None
    return None if written is None else read + written


def _flops(inputs: Inputs) -> int | None:
    name = known_as(inputs.operator)
    if name in CONVOLUTIONS:
        return _convolution(inputs, CONVOLUTIONS[name])
    return _convolution_backward(inputs, BACKWARDS[name])


FAMILY = Family(
    names=frozenset({*CONVOLUTIONS, *BACKWARDS}),
    flops=_flops,
    moved=_moved,
    precision=first_precision,
    reads_values=frozenset({*CONVOLUTIONS, *BACKWARDS}),
)

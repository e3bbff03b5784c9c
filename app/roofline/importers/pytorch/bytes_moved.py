"""Bytes an operator must at least move, from shapes and types: every input and output once.

A lower bound of what main memory sees without caches between operators. Operators that read only
parts of their inputs are unknown unless their shapes tell how much.
"""

import math
import re

from roofline.importers.pytorch.formulas import (
    ATTENTIONS,
    BACKWARDS,
    bare,
    output_shape,
    product_shape,
    wanted_gradients,
)
from roofline.importers.pytorch.inputs import Inputs, Tensor


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is read depends on the data, or the operator only makes a view.
_UNKNOWN = _words(
    "masked_select nonzero take put_ searchsorted bucketize narrow slice select split unbind view"
    " expand as_strided detach empty empty_strided t transpose permute reshape flatten squeeze"
    " unsqueeze chunk alias _unsafe_view _reshape_alias movedim swapaxes diagonal view_as"
    " expand_as detach_ resolve_conj resolve_neg result_type to lift_fresh set_ resize_ item"
    " _local_scalar_dense is_nonzero empty_like new_empty unfold requires_grad_ AccumulateGrad"
)
# Nodes of autograd only call the operators that compute.
_AUTOGRAD = re.compile(r"^autograd::|Backward\d*$")
_PARTIAL = re.compile(r"index|gather|scatter|embedding|lookup|sparse", re.IGNORECASE)
_LOOKUPS = _words("embedding index_select")
_SAME_AS_FIRST = _words(
    "relu gelu silu sigmoid tanh exp log log2 sqrt rsqrt neg abs cos sin erf pow reciprocal clamp"
    " clamp_min hardtanh leaky_relu elu softplus _softmax _log_softmax native_layer_norm"
    " native_group_norm native_batch_norm cudnn_batch_norm miopen_batch_norm batch_norm"
    " _fused_rms_norm native_dropout clone contiguous threshold_backward gelu_backward"
    " silu_backward tanh_backward sigmoid_backward _softmax_backward_data"
    " _log_softmax_backward_data native_layer_norm_backward native_batch_norm_backward"
    " cudnn_batch_norm_backward native_dropout_backward masked_fill tril triu cumsum flip roll"
    " round floor ceil logical_not bitwise_not"
)
_BROADCAST = _words(
    "add sub rsub mul div true_divide maximum minimum fmod remainder atan2 where lerp addcmul"
    " addcdiv bitwise_and bitwise_or logical_and logical_or"
)
_TERNARY = _words("where lerp addcmul addcdiv")
_COMPARISONS = _words("eq ne lt le gt ge isnan isinf logical_not")
_WRITES_ONLY = _words("fill_ zero_ uniform_ normal_ random_ bernoulli_ exponential_ arange fill")


def moved(inputs: Inputs) -> int | None:
    """Bytes of one execution, `None` where shapes or types do not tell."""
    tensors = inputs.all_tensors
    name = bare(inputs.operator)
    if (
        not tensors
        or name in _UNKNOWN
        or _AUTOGRAD.search(inputs.operator)
        or any(t.item_bytes is None for t in tensors)
    ):
        return None
    if name in _WRITES_ONLY:
        return _size(tensors[0])
    if name in _LOOKUPS:
        return _selected(inputs)
    if _PARTIAL.search(name):
        return None
    read = sum(_size(tensor) for tensor in tensors)
    if name == "copy_":
        return read  # one is written, one is read
    return read if _holds_output(inputs, name) else read + _written(inputs, name)


def _holds_output(inputs: Inputs, name: str) -> bool:
    """True if the output was passed in: one tensor more than the operator takes."""
    n_tensors = len(inputs.all_tensors)
    if name in _TERNARY or name in ("addmm", "baddbmm"):
        return n_tensors > 3
    return n_tensors > 2 and (name in _BROADCAST or name in _COMPARISONS or name in ("mm", "bmm"))


def _size(tensor: Tensor) -> int:
    return tensor.elements * (tensor.item_bytes or 0)


def _written(inputs: Inputs, name: str) -> int:
    """Bytes of the outputs whose shape follows from the inputs; 0 for all others."""
    tensors = inputs.all_tensors
    first = tensors[0]
    item = first.item_bytes or 0
    product = product_shape(inputs)
    if product:
        batch, m, _, n = product
        return batch * m * n * item
    if name in BACKWARDS:
        form = BACKWARDS[name]
        of = {0: inputs.tensor(form.input), 1: inputs.tensor(form.weight)}
        return sum(_size(t) for k in wanted_gradients(inputs) if (t := of[k]) is not None)
    if name in ATTENTIONS:
        return _attention_written(inputs, name)
    shape = output_shape(inputs)
    if shape:
        return math.prod(shape) * item
    if name in _COMPARISONS:
        return _broadcast_elements(tensors)
    if name in _BROADCAST:
        return _broadcast_elements(tensors) * item
    if name == "cat" or name == "stack":
        return sum(_size(tensor) for tensor in tensors)
    if name in _SAME_AS_FIRST or (name.endswith("_") and not name.endswith("__")):
        return math.prod(first.shape) * item
    return 0


def _attention_written(inputs: Inputs, name: str) -> int:
    """Forward: queries by the values' depth; backward: a gradient per query, key and value."""
    form = ATTENTIONS[name]
    found = [inputs.tensor(form.query + k) for k in range(3)]
    query, _, value = found
    if form.is_backward:
        return sum(_size(tensor) for tensor in found if tensor is not None)
    if query is None or value is None or not query.shape or not value.shape:
        return 0
    return math.prod(query.shape[:-1]) * value.shape[-1] * (query.item_bytes or 0)


def _selected(inputs: Inputs) -> int | None:
    """Rows looked up: read and written once, and the indices read."""
    table = inputs.tensor(0)
    indices = inputs.tensor(1) or inputs.tensor(2)
    if table is None or indices is None or not table.shape:
        return None
    row = math.prod(table.shape[1:]) * (table.item_bytes or 0)
    return 2 * indices.elements * row + _size(indices)


def _broadcast_elements(tensors: list[Tensor]) -> int:
    """Elements of the shape that all inputs broadcast to."""
    rank = max(len(tensor.shape) for tensor in tensors)
    padded = [(1,) * (rank - len(t.shape)) + t.shape for t in tensors]
    return math.prod(max(sizes) for sizes in zip(*padded, strict=True))

"""Operators told apart by name, shapes and types; each with what one execution costs.

FLOPs: matrix products, convolutions and attention, as `torch.utils.flop_counter` counts them, and
the same of the libraries that serve language models; 0 for operators that only move data. Bytes:
these, and operators known to move each tensor once. All others have no formula: what they compute
and what they read of their arguments is unknown. Pointwise kernels that Inductor generates are
named by the operators that it fused: where all of these only move data, each argument is read or
written once. Others may read a part of an argument, or read it often: their work is unknown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from roofline.importers.pytorch import (
    attention,
    bytes_moved,
    convolutions,
    experts,
    products,
)
from roofline.importers.pytorch.attention import is_causal, is_mask_unknown
from roofline.importers.pytorch.convolutions import allows_tf32, are_gradients_unknown
from roofline.importers.pytorch.experts import Touched, touched_by
from roofline.importers.pytorch.inputs import (
    Family,
    Inputs,
    Ragged,
    Tensor,
    first_precision,
    known_as,
    read_inputs,
    recorded_as,
    total_bytes,
)

MAX_COUNT = 10**18
_SHOWN_TENSORS = 4

# Kernels of Inductor whose operators compute nothing and use each argument as a whole.
_ONLY_MOVES = re.compile(
    r"triton_poi_fused_(?:(?:_to_copy|constant_pad_nd|clone|copy|moe_forward)_)+\d+\Z"
)
_INDUCTOR = Family(
    names=frozenset(),
    flops=lambda _inputs: 0,
    moved=lambda inputs: total_bytes(inputs.all_tensors) if inputs.all_tensors else None,
    precision=first_precision,
)
_WITHOUT_FORMULA = Family(
    names=frozenset(),
    flops=lambda _inputs: None,
    moved=lambda _inputs: None,
    precision=first_precision,
)
_ARITHMETIC = (products.FAMILY, convolutions.FAMILY, attention.FAMILY)
_FAMILIES = (*_ARITHMETIC, experts.FAMILY, bytes_moved.LIBRARIES, bytes_moved.FAMILY)
_BY_NAME = {name: family for family in _FAMILIES for name in family.names}

# Operators, as traces spell them, whose formulas read plain arguments.
READING_VALUES = frozenset(
    recorded_as(name) for family in _FAMILIES for name in family.reads_values
)
# In a capture, sizes of what is allocated tell of operators that name a layer only.
READING_IN_CAPTURES = READING_VALUES | {"aten::empty"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One kind of operator call. `flop` and `moved_bytes` are per execution, `None` if unknown.

    `has_shapes` is false where the trace recorded none; `is_uncountable` is true where there is a
    formula for the operator, but not what it needs; `is_mask_unknown` where attention is counted
    without a mask, because the trace does not say whether there is one, and `are_gradients_unknown`
    where both gradients of a convolution are counted, because it does not name them; `tf32` is
    false where an argument forbids TF32. Of the bytes,
    `weight_bytes` are a model's weights (`touched`: of which experts) and `cache_bytes` keys and
    values; `ragged` is what attention costs per pair and per key where the lengths of its sequences
    are not arguments, and `window` one that no argument names. `stack` is Python's at its first
    launch, the innermost frame first, where it is known. `is_scope` is true for a named range of
    the program, which computes nothing itself.
    """

    operator: str
    label: str
    dtype: str
    flop: int | None
    moved_bytes: int | None
    has_shapes: bool
    is_uncountable: bool
    is_mask_unknown: bool = False
    are_gradients_unknown: bool = False
    tf32: bool = True
    weight_bytes: int | None = None
    cache_bytes: int | None = None
    touched: Touched | None = None
    window: int | None = None
    ragged: Ragged | None = None
    inputs: Inputs | None = None
    stack: str = ""
    is_scope: bool = False


def read_signature(
    operator: str,
    *,
    dims: object,
    types: object,
    strides: object,
    values: object,
    flop: int,
    moved_bytes: int,
) -> Signature:
    """The signature of a recorded call; `flop` and `moved_bytes` are -1 unless the trace has them.

    Source of the two: `kernel_flop` and `kernel_num_gb`, which Inductor writes.
    """
    inputs = read_inputs(operator, dims=dims, types=types, strides=strides, values=values)
    named = _BY_NAME.get(known_as(operator), _WITHOUT_FORMULA)
    family = _INDUCTOR if _ONLY_MOVES.match(operator) else named
    counted = flop if flop >= 0 else family.flops(inputs)
    counted_bytes = moved_bytes if moved_bytes >= 0 else family.moved(inputs)
    if counted == 0 and counted_bytes is None:
        counted = None  # no arithmetic, and nothing else is known of it
    dtype = family.precision(inputs) or first_precision(inputs)
    return Signature(
        operator=operator,
        label=_label(operator, inputs, dtype),
        dtype=dtype,
        flop=_bounded(counted),
        moved_bytes=_bounded(counted_bytes),
        has_shapes=isinstance(dims, list),
        is_uncountable=counted is None and isinstance(dims, list) and family in _ARITHMETIC,
        is_mask_unknown=flop < 0 and is_mask_unknown(inputs),
        are_gradients_unknown=counted is not None and flop < 0 and are_gradients_unknown(inputs),
        tf32=allows_tf32(inputs),
        weight_bytes=_bounded(family.weights(inputs)),
        cache_bytes=_bounded(family.cached(inputs)),
        touched=touched_by(inputs),
        ragged=family.ragged(inputs) if counted is None else None,
        inputs=inputs,
    )


def _bounded(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= MAX_COUNT else None


def _label(operator: str, inputs: Inputs, dtype: str) -> str:
    """As people write it: `aten::mm [128x64, 64x32] bf16`; a causal mask is named."""
    shapes = [_shape(place) for place in inputs.tensors if place]
    if not shapes:
        return operator
    shown = shapes[:_SHOWN_TENSORS] + (["…"] if len(shapes) > _SHOWN_TENSORS else [])
    mask = " causal" if is_causal(inputs) else ""
    return f"{operator} [{', '.join(shown)}] {dtype}".rstrip() + mask


def _shape(tensors: Sequence[Tensor]) -> str:
    if len(tensors) != 1:
        return f"{len(tensors)} tensors"
    return "x".join(map(str, tensors[0].shape)) or "1"

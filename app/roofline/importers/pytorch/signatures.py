"""Operators told apart by name, shapes and types; each with what one execution costs.

FLOPs: matrix products, convolutions and attention, as `torch.utils.flop_counter` counts them, and
the same of the libraries that serve language models; of vector operators what they need at least; 0
for operators that only move data. Bytes: these, and operators known to move each tensor once. All
others have no formula: what they compute and what they read of their arguments is unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from roofline.importers.pytorch import attention, bytes_moved, convolutions, products, vector_work
from roofline.importers.pytorch.attention import is_causal, is_mask_unknown
from roofline.importers.pytorch.convolutions import allows_tf32, are_gradients_unknown
from roofline.importers.pytorch.inputs import (
    Family,
    Inputs,
    Ragged,
    Tensor,
    first_precision,
    known_as,
    read_inputs,
    recorded_as,
)
from roofline.importers.pytorch.products import Touched, touched_by

MAX_COUNT = 10**18
_SHOWN_TENSORS = 4

_WITHOUT_FORMULA = Family(
    names=frozenset(),
    flops=lambda _inputs: None,
    moved=lambda _inputs: None,
    precision=first_precision,
)
_ARITHMETIC = (products.FAMILY, convolutions.FAMILY, attention.FAMILY)
_MOVES = (bytes_moved.LIBRARIES, bytes_moved.FAMILY, vector_work.LOOKUPS)
_FAMILIES = (*_ARITHMETIC, products.EXPERTS, *_MOVES)
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
    where both gradients of a convolution are counted, because it does not name them. `is_vector` is
    true where the FLOPs are of vector units, and may be `flop_slack` more; `tf32` is false where an
    argument forbids TF32. Of the bytes,
    `weight_bytes` are a model's weights (`touched`: of which experts) and `cache_bytes` keys and
    values; `ragged` is what attention costs per pair and per key where the lengths of its sequences
    are not arguments, and `window` one that no argument names. `stack` is Python's at its first
    launch, the innermost frame first, where it is known. `is_scope` is true for a named range of
    the program, which computes nothing itself. `recorded` is the text of all arguments, where it
    was asked for.
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
    is_vector: bool = False
    flop_slack: int = 0
    tf32: bool = True
    weight_bytes: int | None = None
    cache_bytes: int | None = None
    touched: Touched | None = None
    window: int | None = None
    ragged: Ragged | None = None
    inputs: Inputs | None = None
    stack: str = ""
    is_scope: bool = False
    recorded: str = ""


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
    family = _family_of(operator)
    dtype = family.precision(inputs) or first_precision(inputs)
    call = Signature(
        operator=operator,
        label=_label(operator, inputs, dtype),
        dtype=dtype,
        flop=_bounded(flop if flop >= 0 else family.flops(inputs)),
        moved_bytes=_bounded(moved_bytes if moved_bytes >= 0 else family.moved(inputs)),
        has_shapes=isinstance(dims, list),
        is_uncountable=False,
        is_mask_unknown=flop < 0 and is_mask_unknown(inputs),
        tf32=allows_tf32(inputs),
        weight_bytes=_bounded(family.weights(inputs)),
        cache_bytes=_bounded(family.cached(inputs)),
        touched=touched_by(inputs),
        inputs=inputs,
    )
    if call.flop == 0 and call.moved_bytes is None:  # no arithmetic, and nothing else is known
        call = replace(call, flop=None)
    if call.flop is None:
        uncountable = call.has_shapes and family in _ARITHMETIC
        return replace(call, is_uncountable=uncountable, ragged=family.ragged(inputs))
    if flop >= 0:
        return call
    gradients = are_gradients_unknown(inputs)
    return replace(call, are_gradients_unknown=gradients, **_vector(family, call))


def priced(call: Signature) -> Signature:
    """The call with what its inputs cost, of a vector operator or one that only moves data."""
    if call.inputs is None:
        return call
    family = _family_of(call.operator)
    flop, moved = _bounded(family.flops(call.inputs)), _bounded(family.moved(call.inputs))
    known = replace(call, flop=flop, moved_bytes=moved, dtype=first_precision(call.inputs))
    return replace(known, **_vector(family, known))


def is_reuse_unknown(call: Signature) -> bool:
    """True for a lookup whose bytes are known, but for rows that were looked up before."""
    return call.moved_bytes is not None and _family_of(call.operator) is vector_work.LOOKUPS


def _family_of(operator: str) -> Family:
    if vector_work.is_generated(operator):
        return vector_work.GENERATED
    return _BY_NAME.get(known_as(operator), _WITHOUT_FORMULA)


def _vector(family: Family, call: Signature) -> dict[str, Any]:
    """What tells the work of vector units from that of products."""
    if family.slack is None or not call.flop or call.inputs is None:
        return {}
    return {"is_vector": True, "flop_slack": _bounded(family.slack(call.inputs)) or 0}


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

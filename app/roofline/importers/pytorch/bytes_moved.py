"""Bytes that operators must move, from shapes and types: inputs and outputs once.

A lower bound of what main memory sees without caches between operators: outputs whose shape does
not follow from the inputs (of reductions, they are small) add nothing. Only operators listed here
are known: what another one reads of its arguments may be all of them or next to nothing.

Of the libraries that serve language models (vLLM's, SGLang's and aiter's) a paged cache counts only
by the slots that are written: their number and width are arguments, and the cache is as large as
the device's memory. Places are those of the libraries' bindings. Operators that hold their weights
themselves (mixtures of experts) are not here: what they read is not recorded.
"""

import math
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import (
    Family,
    Inputs,
    Tensor,
    broadcast_shape,
    first_precision,
    known_as,
    places_of,
    total_bytes,
    words,
)
from roofline.importers.pytorch.vector_work import (
    VectorWork,
    flop_of,
    resized_elements,
    slack_of,
    vector_work,
)
from roofline.model.plain_data import read_beside

_FILE = read_beside(__file__, "bytes_moved.json")


def _listed(kind: str) -> frozenset[str]:
    return words(" ".join(_FILE[kind]))


# Elementwise operators by how many tensors they take; one more receives the result.
_TAKES = {
    name: count
    for count, kind in enumerate(("unary", "binary", "ternary"), 1)
    for name in _listed(kind)
}
# Their results are true or false, one byte each.
_COMPARISONS = _listed("comparisons")
# The first output has the first tensor's shape; what else is written is small.
_LIKE_FIRST = _listed("like the first")
# Read once; the result is small beside it, or its shape is not recorded.
_READ = _listed("read")
# The gradient is read and as much as the forward's input, which is an argument, is written.
_POOL_BACKWARD = _listed("pooling backward")
_WRITTEN = _listed("written")
_LOOKUPS = words("embedding index_select")
_JOINED = words("cat stack")
_UPSAMPLED = words(
    "upsample_linear1d upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d"
    " upsample_nearest1d upsample_nearest2d upsample_nearest3d"
    " _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d"
)
# Lists of tensors, each read; the first is written. Of a copy the second one is.
_FOREACH = frozenset(
    f"_foreach_{name}"
    for name in words(
        "add sub mul div addcmul addcdiv lerp sqrt rsqrt neg reciprocal maximum minimum exp pow abs"
        " sign clamp_max clamp_min"
    )
)
_FOREACH_ONCE = words("_foreach_copy _foreach_zero _foreach_norm")
# Fused optimizers: all lists of tensors are read, those at these places are written as well.
_OPTIMIZERS = {
    **dict.fromkeys(("_fused_adam_", "_fused_adamw_"), (0, 2, 3, 4)),
    **dict.fromkeys(("_fused_sgd_", "_fused_adagrad_"), (0, 2)),
}
_COPY, _GATHER = "copy_", "gather"
# Operators that compute nothing.
_MOVES = _LOOKUPS | words(
    f"{_COPY} {_GATHER} fill fill_ zero_ clone contiguous flip roll tril triu where masked_fill"
)
_IN_PLACE = "_"


def _base(operator: str) -> str:
    """The operator without the mark of working in place, where only that tells it apart."""
    name = known_as(operator)
    listed = name in _BY_NAME or name == _COPY or not name.endswith(_IN_PLACE)
    return name if listed else name.removesuffix(_IN_PLACE)


def _moved(inputs: Inputs) -> int | None:
    """Bytes of one execution, `None` where shapes or types do not tell."""
    tensors, name = inputs.all_tensors, _base(inputs.operator)
    read = total_bytes(tensors)
    if not tensors or read is None:
        return None
    if name in _WRITTEN:
        return tensors[0].size_bytes
    if name in _OPTIMIZERS:
        places = [inputs.tensors[at] for at in _OPTIMIZERS[name] if at < len(inputs.tensors)]
        return read + (total_bytes(tensor for place in places for tensor in place) or 0)
    if name in _LOOKUPS:
        return _looked_up(inputs)
    if name == _GATHER:
        return _gathered(inputs)
    if name in _JOINED:
        return 2 * read
    if name in _UPSAMPLED:
        return _resized(inputs)
    if name in _FOREACH:
        return read + (total_bytes(inputs.tensors[0]) or 0)
    if name == _COPY or name in _READ or name in _POOL_BACKWARD or name in _FOREACH_ONCE:
        return read  # of a copy one is read and one is written
    if name in _LIKE_FIRST:
        return read + _like(tensors[0].shape, tensors[0])
    if name not in _COMPARISONS and len(tensors) > _TAKES[name]:
        return read  # the result's tensor is one of them
    item = 1 if name in _COMPARISONS else _result_item(inputs)
    return read + math.prod(broadcast_shape(tensors)) * item


def _like(shape: tuple[int, ...], tensor: Tensor) -> int:
    return math.prod(shape) * (tensor.item_bytes or 0)


def _result_item(inputs: Inputs) -> int:
    """Bytes per element of an elementwise result: the widest operand's, the first's in place.

    Single numbers do not widen the others.
    """
    tensors = inputs.all_tensors
    if inputs.operator.endswith(_IN_PLACE):
        return tensors[0].item_bytes or 0
    return max(t.item_bytes or 0 for t in [t for t in tensors if t.shape] or tensors)


def _looked_up(inputs: Inputs) -> int | None:
    """Rows looked up: read and written once, and the indices read."""
    table = inputs.tensor(0)
    indices = inputs.tensor(1) or inputs.tensor(2)
    if table is None or indices is None or not table.shape:
        return None
    row = _like(table.shape[1:], table)
    return 2 * indices.elements * row + (indices.size_bytes or 0)


def _gathered(inputs: Inputs) -> int | None:
    """Elements picked one by one: read and written once, and the indices read."""
    source, indices = inputs.tensor(0), inputs.tensor(2)
    if source is None or indices is None:
        return None
    return 2 * _like(indices.shape, source) + (indices.size_bytes or 0)


def _resized(inputs: Inputs) -> int | None:
    """The picture is read, and written in its new size."""
    source, elements = inputs.tensor(0), resized_elements(inputs)
    if source is None or source.size_bytes is None or elements is None:
        return None
    return source.size_bytes + elements * (source.item_bytes or 0)


def _arithmetic(inputs: Inputs) -> VectorWork | None:
    return vector_work(_base(inputs.operator).removesuffix(_IN_PLACE), inputs)


_BY_NAME = frozenset(
    {
        *(*_TAKES, *_COMPARISONS, *_LIKE_FIRST, *_READ, *_POOL_BACKWARD, *_WRITTEN, *_LOOKUPS),
        *(*_OPTIMIZERS, *_JOINED, *_UPSAMPLED, *_FOREACH, *_FOREACH_ONCE),
    }
)
FAMILY = Family(
    names=frozenset(
        {
            *_BY_NAME,
            *(f"{name}_" for name in (*_TAKES, *_COMPARISONS, *_FOREACH, *_FOREACH_ONCE)),
            *(_COPY, _GATHER),
        }
    ),
    flops=lambda inputs: 0 if _base(inputs.operator) in _MOVES else flop_of(_arithmetic(inputs)),
    moved=_moved,
    precision=first_precision,
    reads_values=frozenset({"native_batch_norm", "_native_batch_norm_legit", *_UPSAMPLED}),
    slack=lambda inputs: slack_of(_arithmetic(inputs)),
)


# Every tensor, results included, is an argument and is moved once.
_ONCE = frozenset(
    f"{library}::{name}"
    for library, names in _FILE["once"].items()
    for name in words(" ".join(names))
)
# Normalisation of input + residual, both of them read and written.
_RESIDUAL = words(
    "_C::fused_add_rms_norm sgl_kernel::fused_add_rmsnorm sgl_kernel::gemma_fused_add_rmsnorm"
)
# Results that are returned: as large as the first tensor.
_RETURNED = frozenset({"aiter::rms_norm"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _CacheWrite:
    """Places of what is written, of the caches it goes to, and of the slots, one per token."""

    rows: tuple[int, ...]
    caches: tuple[int, ...]
    slots: int


_CACHE_WRITES = places_of(_CacheWrite, "cache writes")
_ROTARY = frozenset({"_C::rotary_embedding", "sgl_kernel::rotary_embedding"})


def _library_moved(inputs: Inputs) -> int | None:
    name = known_as(inputs.operator)
    if name in _CACHE_WRITES:
        return _written_to_cache(inputs, _CACHE_WRITES[name])
    if name in _ROTARY:
        return _rotated(inputs)
    every = total_bytes(inputs.all_tensors)
    if every is None or not inputs.all_tensors:
        return None
    if name in _RESIDUAL:
        again = inputs.sized((0, 1))
        return None if again is None else every + again
    return every + (inputs.sized((0,)) or 0) if name in _RETURNED else every


def _written_to_cache(inputs: Inputs, form: _CacheWrite) -> int | None:
    """Of each slot its row is read, and written in the cache's type; and the slots' numbers.

    Slots that only pad a batch are not written; their number is not recorded.
    """
    slots = inputs.tensor(form.slots)
    if slots is None or slots.size_bytes is None:
        return None
    moved = slots.size_bytes
    for row, cache in zip(form.rows, form.caches, strict=True):
        size = _row_bytes(inputs.tensor(row), inputs.tensor(cache))
        if size is None:
            return None
        moved += slots.elements * size
    return moved


def _cached(inputs: Inputs) -> int | None:
    """The bytes that are written to the caches."""
    form = _CACHE_WRITES.get(known_as(inputs.operator))
    slots = inputs.tensor(form.slots) if form else None
    if form is None or slots is None:
        return None
    total = 0
    for row, cache in zip(form.rows, form.caches, strict=True):
        rows, into = inputs.tensor(row), inputs.tensor(cache)
        if rows is None or into is None or into.item_bytes is None:
            return None
        total += slots.elements * math.prod(rows.shape[1:]) * into.item_bytes
    return total


def cache_of(inputs: Inputs) -> tuple[tuple[int, ...], int] | None:
    """Heads and depth of the keys that are written to a cache, and its bytes per element."""
    form = _CACHE_WRITES.get(known_as(inputs.operator))
    row, cache = (
        (inputs.tensor(form.rows[0]), inputs.tensor(form.caches[0])) if form else (None,) * 2
    )
    if row is None or cache is None or cache.item_bytes is None or len(row.shape) < 3:
        return None
    return row.shape[-2:], cache.item_bytes


def _row_bytes(row: Tensor | None, cache: Tensor | None) -> int | None:
    """Bytes read and written per slot."""
    if row is None or cache is None or row.item_bytes is None or cache.item_bytes is None:
        return None
    return math.prod(row.shape[1:]) * (row.item_bytes + cache.item_bytes)


def _rotated(inputs: Inputs) -> int | None:
    """The rotated part of queries and keys, read and written; angles per token; positions."""
    positions, table, turned = inputs.tensor(0), inputs.tensor(4), _turned(inputs)
    if positions is None or table is None or turned is None:
        return None
    angles = inputs.sized((4,))
    sizes = total_bytes((positions, *(tensor for tensor, _, _ in turned)))
    if sizes is None or angles is None or positions.size_bytes is None:
        return None
    _, width, head = turned[0]
    moved = 2 * ((sizes - positions.size_bytes) * width // head)
    return positions.size_bytes + moved + positions.elements * width * (table.item_bytes or 0)


def _turned(inputs: Inputs) -> list[tuple[Tensor, int, int]] | None:
    """Queries and keys, each with the width that is rotated of every head, and a head's size.

    Places: positions, queries, keys, size of a head, table of angles.
    """
    table, head = inputs.tensor(4), inputs.number(3)
    if table is None or not table.shape or not head or head < table.shape[-1]:
        return None
    tensors = [tensor for place in (1, 2) if (tensor := inputs.tensor(place)) is not None]
    return [(tensor, table.shape[-1], head) for tensor in tensors] or None


def _library_arithmetic(inputs: Inputs) -> VectorWork | None:
    """A rotation is two products and a sum for each number that it turns."""
    name = known_as(inputs.operator)
    turned = _turned(inputs) if name in _ROTARY else None
    if turned is not None:
        return VectorWork(3 * sum(math.prod(t.shape) * w // h for t, w, h in turned), 0)
    return vector_work(name, inputs)


LIBRARIES = Family(
    names=frozenset({*_ONCE, *_RESIDUAL, *_RETURNED, *_CACHE_WRITES, *_ROTARY}),
    # None in moving rows to a cache.
    flops=lambda inputs: (
        0 if known_as(inputs.operator) in _CACHE_WRITES else flop_of(_library_arithmetic(inputs))
    ),
    moved=_library_moved,
    precision=first_precision,
    cached=_cached,
    reads_values=_ROTARY,
    slack=lambda inputs: slack_of(_library_arithmetic(inputs)),
)

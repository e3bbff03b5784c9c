"""Bytes of operators that serve language models: vLLM's, SGLang's and aiter's.

Each tensor is moved once, but a paged cache only by the slots that are written: their number and
width are arguments, and the cache is as large as the device's memory. Places are those of the
libraries' bindings. Operators that hold their weights themselves (mixtures of experts) are not
here: what they read is not recorded.
"""

import math
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import (
    Family,
    Inputs,
    Tensor,
    first_precision,
    known_as,
    total_bytes,
)

_GATED = ("silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul")
# Every tensor, results included, is an argument and is moved once.
_ONCE = frozenset(
    {
        *(
            f"{library}::{name}"
            for library in ("_C", "sgl_kernel", "aiter", "vllm")
            for name in _GATED
        ),
        *(
            f"_C::{name}"
            for name in (
                *("mul_and_silu", "fatrelu_and_mul", "swigluoai_and_mul", "silu_and_mul_quant"),
                *("gelu_new", "gelu_fast", "gelu_quick", "rms_norm", "rms_norm_static_fp8_quant"),
                *("static_scaled_fp8_quant", "dynamic_scaled_fp8_quant"),
                *("dynamic_per_token_scaled_fp8_quant", "static_scaled_int8_quant"),
                "dynamic_scaled_int8_quant",
            )
        ),
        *(
            f"sgl_kernel::{name}"
            for name in (
                *("rmsnorm", "gemma_rmsnorm", "sgl_per_token_group_quant_fp8"),
                *("sgl_per_token_group_quant_int8", "sgl_per_tensor_quant_fp8"),
                "sgl_per_token_quant_fp8",
            )
        ),
        *("aiter::rmsnorm", "aiter::add_rmsnorm", "aiter::rmsnorm2d_fwd_with_add_ck"),
    }
)
# Normalisation of input + residual, both of them read and written.
_IN_PLACE = frozenset(
    {
        "_C::fused_add_rms_norm",
        "sgl_kernel::fused_add_rmsnorm",
        "sgl_kernel::gemma_fused_add_rmsnorm",
    }
)
# Results that are returned: as large as the first tensor.
_RETURNED = frozenset({"aiter::rms_norm"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _CacheWrite:
    """Places of what is written, of the caches it goes to, and of the slots, one per token."""

    rows: tuple[int, ...]
    caches: tuple[int, ...]
    slots: int


_KEYS_AND_VALUES = _CacheWrite(rows=(0, 1), caches=(2, 3), slots=4)
_LATENT = _CacheWrite(rows=(0, 1), caches=(2, 2), slots=3)
_CACHE_WRITES = {
    **dict.fromkeys(
        (
            "_C_cache_ops::reshape_and_cache",
            "_C_cache_ops::reshape_and_cache_flash",
            "aiter::reshape_and_cache",
            "aiter::reshape_and_cache_flash",
            "sglang::store_cache",
            "sgl_kernel::store_cache",
        ),
        _KEYS_AND_VALUES,
    ),
    "_C_cache_ops::concat_and_cache_mla": _LATENT,
    "aiter::concat_and_cache_mla": _LATENT,
}
_ROTARY = frozenset({"_C::rotary_embedding", "sgl_kernel::rotary_embedding"})


def _moved(inputs: Inputs) -> int | None:
    name = known_as(inputs.operator)
    if name in _CACHE_WRITES:
        return _written_to_cache(inputs, _CACHE_WRITES[name])
    if name in _ROTARY:
        return _rotated(inputs)
    every = total_bytes(inputs.all_tensors)
    if every is None or not inputs.all_tensors:
        return None
    if name in _IN_PLACE:
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
    """The rotated part of queries and keys, read and written; angles per token; positions.

    Places: positions, queries, keys, size of a head, table of angles.
    """
    positions, table, head = inputs.tensor(0), inputs.tensor(4), inputs.number(3)
    if positions is None or table is None or not table.shape or not head or head < table.shape[-1]:
        return None
    rotated = [tensor for place in (1, 2) if (tensor := inputs.tensor(place)) is not None]
    sizes = total_bytes((positions, *rotated))
    angles = inputs.sized((4,))
    if sizes is None or angles is None or not rotated or positions.size_bytes is None:
        return None
    width = table.shape[-1]
    per_token = width * (table.item_bytes or 0)
    turned = (sizes - positions.size_bytes) * width // head
    return positions.size_bytes + 2 * turned + positions.elements * per_token


def _flops(inputs: Inputs) -> int | None:
    """None in moving rows to a cache; those of arithmetic have no formula."""
    return 0 if known_as(inputs.operator) in _CACHE_WRITES else None


FAMILY = Family(
    names=frozenset({*_ONCE, *_IN_PLACE, *_RETURNED, *_CACHE_WRITES, *_ROTARY}),
    flops=_flops,
    moved=_moved,
    precision=first_precision,
    cached=_cached,
    reads_values=_ROTARY,
)

"""Attention to sequences whose lengths are data: what one pair and one key of it cost."""

import math

from roofline.importers.pytorch.attention_forms import (
    DECODES,
    FORMS,
    OPAQUE,
    PAGED,
    Form,
    PagedForm,
    has_pages,
    result_bytes,
)
from roofline.importers.pytorch.attention_masks import mask_of
from roofline.importers.pytorch.families import Ragged, known_as
from roofline.importers.pytorch.inputs import Inputs, Tensor, total_bytes


def ragged(inputs: Inputs) -> Ragged | None:
    """The cost of one pair and one key where the lengths of the sequences are data."""
    name = known_as(inputs.operator)
    if name in DECODES:
        form = DECODES[name]
        return _ragged_decode(inputs.tensor(form.query), inputs.tensor(form.values))
    if name in PAGED:
        return _ragged_paged(inputs, PAGED[name])
    form_of_name = FORMS.get(name)
    return _ragged_form(inputs, form_of_name) if form_of_name else None


def _ragged_decode(query: Tensor | None, values: Tensor | None) -> Ragged | None:
    """Values are [blocks, heads, depth, slots]."""
    if query is None or values is None or len(query.shape) != 3 or len(values.shape) < 2:
        return None
    if query.size_bytes is None or values.item_bytes is None:
        return None
    return Ragged(
        queries=query.shape[0],
        flop_per_pair=2 * 2 * query.shape[1] * query.shape[2],
        bytes_per_key=2 * values.shape[1] * query.shape[2] * values.item_bytes,
        other_bytes=2 * query.size_bytes,
    )


def _ragged_paged(inputs: Inputs, form: PagedForm) -> Ragged | None:
    query, key, value = (inputs.tensor(at) for at in (form.query, form.key, form.value))
    result = inputs.tensor(form.result)
    if query is None or key is None or value is None or result is None:
        return None
    if len(query.shape) != 3 or len(key.shape) != 4 or key.item_bytes is None:
        return None
    moved = total_bytes((query, result))
    if moved is None or key.shape[-1] != query.shape[-1] or value.shape[-1] < result.shape[-1]:
        return None
    width = query.shape[-1] + (0 if form.latent else value.shape[-1])
    return Ragged(
        queries=query.shape[0],
        flop_per_pair=2 * query.shape[1] * (query.shape[-1] + result.shape[-1]),
        bytes_per_key=key.shape[-2] * width * key.item_bytes,
        other_bytes=moved,
    )


def _ragged_form(inputs: Inputs, form: Form) -> Ragged | None:
    """Forward attention to sequences one behind the other, or to a paged cache."""
    query, key, value = (inputs.tensor(form.query + k) for k in range(3))
    is_ragged = form.lengths is not None and inputs.tensor(form.lengths) is not None
    if form.is_backward or not (is_ragged or has_pages(inputs, form)):
        return None
    result = result_bytes(inputs, form, query, value)
    if query is None or key is None or value is None or result is None:
        return None
    if min(len(query.shape), len(key.shape)) < 3 or key.item_bytes is None:
        return None
    if query.size_bytes is None or any(inputs.number(at) for at in form.local):
        return None
    mask = mask_of(inputs, form)
    depth, value_depth = query.shape[-1], value.shape[-1]
    return Ragged(
        queries=math.prod(query.shape[:-2]),
        flop_per_pair=2 * query.shape[-2] * (depth + value_depth),
        bytes_per_key=key.shape[-2] * (depth + value_depth) * key.item_bytes,
        other_bytes=query.size_bytes + result,
        window=mask.before + 1 if mask is not None and mask.before is not None else None,
        sees_all=mask is not None and mask.behind is None,
    )


def ragged_of_heads(inputs: Inputs, cache_item: int) -> Ragged | None:
    """The same of an operator that names a layer: queries, keys and values are its first tensors.

    Keys and values lie in a cache with `cache_item` bytes per element.
    """
    query, key, value = (inputs.tensor(at) for at in range(3))
    result = inputs.tensor(3) or query
    if query is None or key is None or value is None or result is None:
        return None
    moved = total_bytes((query, result))
    if moved is None or not len(query.shape) == len(key.shape) == len(value.shape) == 3:
        return None
    width = query.shape[-1] + value.shape[-1]
    return Ragged(
        queries=query.shape[0],
        flop_per_pair=2 * query.shape[-2] * width,
        bytes_per_key=key.shape[-2] * width * cache_item,
        other_bytes=moved,
    )


def names_a_layer(operator: str) -> bool:
    """True for attention whose cache and lengths no argument holds."""
    return known_as(operator) in OPAQUE

"""Attention: FLOPs and bytes from shapes, masks and lengths, forward and backward.

Two products per score forward (queries by keys, scores by values), five backward; a multiply-add is
two FLOPs. Only the scores that the mask keeps count: of a causal mask of n queries and n keys
n * (n + 1) / 2. Of ragged batches the lengths are data; they are known for one sequence, and where
all are as long as the longest. A paged cache never counts as a whole: only the keys of the
sequences count, where their lengths are known. Where they are data, the cost is that of one pair
and of one key.

Places of arguments are those of the operators' schemas: PyTorch's `native_functions.yaml`,
flash-attn, vLLM, SGLang, aiter and xFormers.
"""

import math
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import (
    Family,
    Inputs,
    Ragged,
    Tensor,
    known_as,
    places_of,
    total_bytes,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Places of an attention's arguments; where there are several, versions of it differ.

    `query`: key and value follow. `causal` says whether the mask is causal, `mask_type` names it (0
    none, 1 causal from the top left corner, 2 from the bottom right). `window` is how many keys
    before its own position a query sees, how many behind it follows; with `has_window` they stand
    behind `causal`. `lengths`: where the queries' sequences begin, then the keys'; `longest`: the
    longest of both. `paged` are tensors whose presence means that the keys' lengths are data.
    `local`: a number there limits what queries see in another way. `bias` is added to the scores,
    `result` receives the result.
    """

    query: int = 0
    heads_first: bool = False
    is_backward: bool = False
    is_top_left: bool = False
    causal: tuple[int, ...] = ()
    mask_type: tuple[int, ...] = ()
    window: int | None = None
    has_window: bool = False
    lengths: int | None = None
    longest: tuple[int, ...] = ()
    paged: tuple[int, ...] = ()
    local: tuple[int, ...] = ()
    bias: int | None = None
    result: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeForm:
    """Places in the attention of one new query per sequence to a paged cache of keys and values.

    `longest` is the longest sequence's length.
    """

    query: int
    values: int
    longest: tuple[int, ...]


FORMS = places_of(Form, "attention")
DECODES = places_of(DecodeForm, "decoding")
# Attention whose lengths or masks no argument holds: there is work, and it is not known.
OPAQUE = frozenset({"vllm::unified_attention", "vllm::unified_attention_with_output"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedForm:
    """Places of queries [tokens, heads, depth] and of caches [blocks, slots, heads, depth].

    With `latent` both caches are one of latent vectors, which is read once for keys and values;
    the values are its first `value_depth` numbers, the depth of the result at `result`.
    """

    query: int
    key: int
    value: int
    result: int
    latent: bool = False


# Attention of any number of queries per sequence to a paged cache; lengths are data.
PAGED = places_of(PagedForm, "paged attention")


def has_pages(inputs: Inputs, form: Form) -> bool:
    """True where a paged cache holds the keys: then their lengths are data."""
    return any(inputs.tensor(place) is not None for place in form.paged)


def result_bytes(
    inputs: Inputs, form: Form, query: Tensor | None, value: Tensor | None
) -> int | None:
    """A row of the values' depth per query; of 8-bit queries the result's type is not recorded."""
    receiver = inputs.tensor(form.result) if form.result is not None else None
    if receiver is not None:
        return receiver.size_bytes
    if query is None or value is None or not query.shape or not value.shape:
        return None
    item = query.item_bytes
    return None if item in (None, 1) else math.prod(query.shape[:-1]) * value.shape[-1] * item


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """Which keys a query sees: `before` and `behind` its own position; `None` is all."""

    before: int | None = None
    behind: int | None = None
    is_top_left: bool = False


def kept(n_queries: int, n_keys: int, mask: Mask) -> int:
    """Pairs of a query and a key that `mask` keeps.

    A query's own position counts from the first key, or, bottom right, so that the last query
    stands at the last key.
    """
    offset = 0 if mask.is_top_left else n_keys - n_queries
    end = n_keys if mask.behind is None else offset + mask.behind + 1
    start = -n_queries if mask.before is None else offset - mask.before
    upper = n_queries * n_keys if mask.behind is None else _clipped(n_queries, end, n_keys)
    return max(upper - _clipped(n_queries, start, n_keys), 0)


def _clipped(count: int, start: int, limit: int) -> int:
    """Sum of start, start + 1, … over `count` numbers, each clipped to 0 … limit."""

    def up_to(last: int) -> int:
        if last <= 0:
            return 0
        rising = min(last, limit)
        return rising * (rising + 1) // 2 + limit * (last - rising)

    return up_to(start + count - 1) - up_to(start - 1)


def mask_of(inputs: Inputs, form: Form) -> Mask | None:
    """The mask, `None` if what was recorded does not tell."""
    if form.mask_type:
        number = next((n for at in form.mask_type if (n := inputs.number(at)) is not None), None)
        types = {0: Mask(), 1: Mask(behind=0, is_top_left=True), 2: Mask(behind=0)}
        return types.get(number) if number is not None else None
    place = next((at for at in form.causal if inputs.flag(at) is not None), None)
    if place is None:
        return None
    behind = 0 if inputs.flag(place) else None
    window = place + 1 if form.has_window else form.window
    before = None
    if window is not None:
        before = _limit(inputs, window)
        behind = behind if behind is not None else _limit(inputs, window + 1)
    return Mask(before=before, behind=behind, is_top_left=form.is_top_left)


def _limit(inputs: Inputs, place: int) -> int | None:
    """How far a window reaches; negative numbers mean without end."""
    number = inputs.number(place)
    return number if number is not None and number >= 0 else None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    """`batch` sequences, each of `n_queries` that meet `n_keys`."""

    batch: int
    heads: int
    n_queries: int
    n_keys: int
    depth: int
    value_depth: int


def is_mask_unknown(inputs: Inputs) -> bool:
    """True if FLOPs are counted without a mask because what was recorded does not name one."""
    form = FORMS.get(known_as(inputs.operator))
    return form is not None and mask_of(inputs, form) is None and _flops(inputs) is not None


def is_causal(inputs: Inputs) -> bool:
    """True if a causal mask is known to hide scores."""
    form = FORMS.get(known_as(inputs.operator))
    mask = mask_of(inputs, form) if form else None
    return mask is not None and mask.behind == 0


# ------------------------------------------------------------------------------------------- sizes


def _sizes(inputs: Inputs, form: Form) -> _Sizes | None:
    """Of every sequence; `None` where they differ or where the lengths are data."""
    query, key, value = (inputs.tensor(form.query + k) for k in range(3))
    if query is None or key is None or value is None:
        return None
    if form.lengths is not None and inputs.tensor(form.lengths) is not None:
        return _ragged_sizes(inputs, form, query, key, value)
    if has_pages(inputs, form) or not len(query.shape) == len(key.shape) == len(value.shape) == 4:
        return None
    across = (1, 2) if form.heads_first else (2, 1)
    return _Sizes(
        batch=query.shape[0],
        heads=query.shape[across[0]],
        n_queries=query.shape[across[1]],
        n_keys=key.shape[across[1]],
        depth=query.shape[3],
        value_depth=value.shape[3],
    )


def _ragged_sizes(
    inputs: Inputs, form: Form, query: Tensor, key: Tensor, value: Tensor
) -> _Sizes | None:
    """Sequences one behind the other: one of them, or all as long as the longest."""
    begins = inputs.tensor(form.lengths or 0)
    if begins is None or len(query.shape) < 3 or len(key.shape) < 3 or begins.elements < 2:
        return None
    batch = begins.elements - 1
    place = next((at for at in form.longest if inputs.number(at) is not None), None)
    n_queries, n_keys = (
        (None, None) if place is None else (inputs.number(place), inputs.number(place + 1))
    )
    is_paged = has_pages(inputs, form) or len(key.shape) > len(query.shape)
    if batch == 1:
        n_queries = query.shape[-3]
        n_keys = n_keys if is_paged else key.shape[-3]
    elif is_paged or (n_queries, n_keys) != (query.shape[-3] / batch, key.shape[-3] / batch):
        return None
    if n_queries is None or n_keys is None:
        return None
    return _Sizes(
        batch=batch,
        heads=query.shape[-2],
        n_queries=n_queries,
        n_keys=n_keys,
        depth=query.shape[-1],
        value_depth=value.shape[-1],
    )


# -------------------------------------------------------------------------------------------- FLOPs


def _flops(inputs: Inputs) -> int | None:
    name = known_as(inputs.operator)
    if name in DECODES:
        return _decode_flops(inputs, DECODES[name])
    form = FORMS.get(name)
    sizes = _sizes(inputs, form) if form else None
    if form is None or sizes is None or any(inputs.number(at) for at in form.local):
        return None
    mask = mask_of(inputs, form) or Mask()
    pairs = sizes.batch * sizes.heads * kept(sizes.n_queries, sizes.n_keys, mask)
    by_depth, by_value_depth = (3, 2) if form.is_backward else (1, 1)
    return 2 * pairs * (by_depth * sizes.depth + by_value_depth * sizes.value_depth)


def _decode_flops(inputs: Inputs, form: DecodeForm) -> int | None:
    query, n_keys = inputs.tensor(form.query), _context(inputs, form)
    if query is None or n_keys is None:
        return None
    return 2 * 2 * n_keys * math.prod(query.shape[1:])


def _context(inputs: Inputs, form: DecodeForm) -> int | None:
    """Length of the one sequence; of several, the lengths are data."""
    query = inputs.tensor(form.query)
    if query is None or len(query.shape) != 3 or query.shape[0] != 1:
        return None
    return next((n for at in form.longest if (n := inputs.number(at)) is not None), None)


# -------------------------------------------------------------------------------------------- bytes


def _moved(inputs: Inputs) -> int | None:
    """Forward: queries, keys, values and result; backward also their gradients; each once."""
    name = known_as(inputs.operator)
    if name in DECODES:
        return _decode_moved(inputs, DECODES[name])
    form = FORMS.get(name)
    if form is None:
        return None
    query, key, value = (inputs.tensor(form.query + k) for k in range(3))
    result = result_bytes(inputs, form, query, value)
    if query is None or key is None or value is None or result is None:
        return None
    keys = _cached_bytes(inputs, form, key, value)
    read, bias = query.size_bytes, inputs.tensor(form.bias) if form.bias is not None else None
    added = 0 if bias is None else bias.size_bytes
    if keys is None or read is None or added is None:
        return None
    return 2 * (read + keys + result) if form.is_backward else read + keys + added + result


def _cached_bytes(inputs: Inputs, form: Form, key: Tensor, value: Tensor) -> int | None:
    """Keys and values: as a whole, or what one sequence uses of a paged cache."""
    query = inputs.tensor(form.query)
    is_paged = has_pages(inputs, form) or (query and len(key.shape) > len(query.shape))
    if not is_paged:
        return total_bytes((key, value))
    sizes = _sizes(inputs, form)
    if sizes is None or key.item_bytes is None:
        return None
    width = sizes.depth + sizes.value_depth
    return sizes.batch * sizes.n_keys * key.shape[-2] * width * key.item_bytes


def _decode_moved(inputs: Inputs, form: DecodeForm) -> int | None:
    query, values = inputs.tensor(form.query), inputs.tensor(form.values)
    n_keys = _context(inputs, form)
    if query is None or values is None or n_keys is None or len(values.shape) < 2:
        return None
    if query.size_bytes is None or values.item_bytes is None:
        return None
    return 2 * query.size_bytes + 2 * n_keys * values.shape[1] * query.shape[2] * values.item_bytes


def _precision(inputs: Inputs) -> str:
    """The queries'."""
    name = known_as(inputs.operator)
    place = DECODES[name].query if name in DECODES else FORMS.get(name, Form()).query
    query = inputs.tensor(place)
    return query.dtype if query is not None else ""


FAMILY = Family(
    names=frozenset({*FORMS, *DECODES, *PAGED, *OPAQUE}),
    flops=_flops,
    moved=_moved,
    precision=_precision,
    ragged=ragged,
    reads_values=frozenset({*FORMS, *DECODES}),
)

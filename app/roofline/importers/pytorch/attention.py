"""Attention: FLOPs and bytes from shapes, masks and lengths, forward and backward.

Two products per score forward (queries by keys, scores by values), five backward; a multiply-add is
two FLOPs. Only the scores that the mask keeps count: of a causal mask of n queries and n keys
n * (n + 1) / 2. Argument places are those of the operators' schemas: PyTorch's
`native_functions.yaml`, flash-attn, vLLM, SGLang, aiter and xFormers. Of ragged batches the lengths
are data; they are known for one sequence, and where all are as long as the longest. A paged
cache never counts as a whole: only the keys of the sequences count, where their lengths are known.
"""

import math
from dataclasses import dataclass

from roofline.importers.pytorch.families import Family, Ragged, known_as
from roofline.importers.pytorch.inputs import Inputs, Tensor, total_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
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
class _Decode:
    """Places in the attention of one new query per sequence to a paged cache of keys and values.

    `longest` is the longest sequence's length.
    """

    query: int
    values: int
    longest: tuple[int, ...]


def _sdpa(*causal: int, bias: int | None = None) -> _Form:
    return _Form(heads_first=True, is_top_left=True, causal=causal, bias=bias)


def _sdpa_backward(*causal: int) -> _Form:
    return _Form(query=1, heads_first=True, is_backward=True, is_top_left=True, causal=causal)


def _flash(causal: int) -> _Form:
    return _Form(causal=(causal,), has_window=True)


def _flash_backward(causal: int) -> _Form:
    return _Form(query=1, is_backward=True, causal=(causal,), has_window=True)


_FORMS = {
    "_scaled_dot_product_flash_attention": _sdpa(4),
    "_scaled_dot_product_flash_attention_for_cpu": _sdpa(4),
    "_scaled_dot_product_efficient_attention": _sdpa(6, bias=3),
    "_scaled_dot_product_cudnn_attention": _sdpa(6, 4, bias=3),
    "_scaled_dot_product_fused_attention_overrideable": _sdpa(5, bias=3),
    "_cudnn_attention_forward": _sdpa(10, bias=3),
    "_scaled_dot_product_flash_attention_backward": _sdpa_backward(11),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _sdpa_backward(7),
    "_scaled_dot_product_efficient_attention_backward": _sdpa_backward(11),
    "_scaled_dot_product_cudnn_attention_backward": _sdpa_backward(14, 11),
    "_scaled_dot_product_fused_attention_overrideable_backward": _sdpa_backward(13),
    "_cudnn_attention_backward": _sdpa_backward(14),
    "_flash_attention_forward": _Form(causal=(8,), window=11, lengths=3, longest=(5,), paged=(13,)),
    "_flash_attention_backward": _Form(
        query=1, is_backward=True, causal=(11,), window=15, lengths=6, longest=(8,)
    ),
    "_efficient_attention_forward": _Form(
        mask_type=(9, 8), lengths=4, longest=(6,), paged=(12,), local=(13,), bias=3
    ),
    "_efficient_attention_backward": _Form(
        query=1, is_backward=True, mask_type=(14,), lengths=6, longest=(8,), local=(18,)
    ),
    "flash_attn::_flash_attn_forward": _flash(5),
    "flash_attn::_flash_attn_backward": _flash_backward(11),
    "flash_attn::_flash_attn_varlen_forward": _Form(
        causal=(9,), has_window=True, lengths=3, longest=(5,), paged=(15, 17)
    ),
    "flash_attn::_flash_attn_varlen_backward": _Form(
        query=1, is_backward=True, causal=(15,), has_window=True, lengths=9, longest=(11,)
    ),
    "_vllm_fa2_C::varlen_fwd": _Form(
        causal=(15,), has_window=True, lengths=4, longest=(10,), paged=(6, 8), result=3
    ),
    **dict.fromkeys(
        ("_vllm_fa3_C::fwd", "sgl_kernel::fwd", "flash_attn_3::fwd"),
        _Form(
            causal=(24,),
            has_window=True,
            lengths=7,
            longest=(12,),
            paged=(3, 10, 11, 14),
            result=6,
        ),
    ),
    **dict.fromkeys(("aiter::mha_fwd", "aiter::fmha_v3_fwd"), _flash(5)),
    **dict.fromkeys(("aiter::mha_bwd", "aiter::fmha_v3_bwd"), _flash_backward(8)),
    "aiter::mha_varlen_fwd": _Form(causal=(10, 12), has_window=True, lengths=3, longest=(5,)),
    "xformers::efficient_attention_forward_cutlass": _Form(
        mask_type=(9,), lengths=4, longest=(6,), paged=(11, 12), local=(12, 13), bias=3
    ),
    "xformers_flash::flash_fwd": _Form(
        causal=(9, 10), has_window=True, lengths=3, longest=(5, 6), paged=(5, 14)
    ),
}
_DECODES = {
    "_C::paged_attention_v1": _Decode(query=1, values=3, longest=(9,)),
    "_C::paged_attention_v2": _Decode(query=4, values=6, longest=(12,)),
    "_rocm_C::paged_attention": _Decode(query=4, values=6, longest=(13, 12)),
}
# Attention whose lengths or masks no argument holds: there is work, and it is not known.
_OPAQUE = frozenset({"vllm::unified_attention", "vllm::unified_attention_with_output"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paged:
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
_PAGED = {
    "aiter::paged_attention_ragged": _Paged(query=2, key=3, value=4, result=0),
    "aiter::mla_decode_fwd": _Paged(query=0, key=1, value=1, result=2, latent=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    """`batch` sequences, each of `n_queries` that meet `n_keys`."""

    batch: int
    heads: int
    n_queries: int
    n_keys: int
    depth: int
    value_depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """Which keys a query sees: `before` and `behind` its own position; `None` is all."""

    before: int | None = None
    behind: int | None = None
    is_top_left: bool = False


# ------------------------------------------------------------------------------------------- masks


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


def _mask(inputs: Inputs, form: _Form) -> Mask | None:
    """The mask, `None` if what was recorded does not tell."""
    if form.mask_type:
        return _typed_mask(inputs, form)
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


def _typed_mask(inputs: Inputs, form: _Form) -> Mask | None:
    number = next((n for at in form.mask_type if (n := inputs.number(at)) is not None), None)
    types = {0: Mask(), 1: Mask(behind=0, is_top_left=True), 2: Mask(behind=0)}
    return types.get(number) if number is not None else None


def _limit(inputs: Inputs, place: int) -> int | None:
    """How far a window reaches; negative numbers mean without end."""
    number = inputs.number(place)
    return number if number is not None and number >= 0 else None


def is_mask_unknown(inputs: Inputs) -> bool:
    """True if FLOPs are counted without a mask because what was recorded does not name one."""
    form = _FORMS.get(known_as(inputs.operator))
    return form is not None and _mask(inputs, form) is None and _flops(inputs) is not None


def is_causal(inputs: Inputs) -> bool:
    """True if a causal mask is known to hide scores."""
    form = _FORMS.get(known_as(inputs.operator))
    mask = _mask(inputs, form) if form else None
    return mask is not None and mask.behind == 0


# ------------------------------------------------------------------------------------------- sizes


def _sizes(inputs: Inputs, form: _Form) -> _Sizes | None:
    """Of every sequence; `None` where they differ or where the lengths are data."""
    query, key, value = (inputs.tensor(form.query + k) for k in range(3))
    if query is None or key is None or value is None:
        return None
    if form.lengths is not None and inputs.tensor(form.lengths) is not None:
        return _ragged(inputs, form, query, key, value)
    if _is_paged(inputs, form) or not len(query.shape) == len(key.shape) == len(value.shape) == 4:
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


def _is_paged(inputs: Inputs, form: _Form) -> bool:
    return any(inputs.tensor(place) is not None for place in form.paged)


def _ragged(
    inputs: Inputs, form: _Form, query: Tensor, key: Tensor, value: Tensor
) -> _Sizes | None:
    """Sequences one behind the other: one of them, or all as long as the longest."""
    begins = inputs.tensor(form.lengths or 0)
    if begins is None or len(query.shape) < 3 or len(key.shape) < 3 or begins.elements < 2:
        return None
    batch = begins.elements - 1
    n_queries, n_keys = _longest(inputs, form)
    is_paged = _is_paged(inputs, form) or len(key.shape) > len(query.shape)
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


def _longest(inputs: Inputs, form: _Form) -> tuple[int | None, int | None]:
    place = next((at for at in form.longest if inputs.number(at) is not None), None)
    return (None, None) if place is None else (inputs.number(place), inputs.number(place + 1))


# ------------------------------------------------------------------------------------------- ragged


def ragged(inputs: Inputs) -> Ragged | None:
    """The cost of one pair and one key where the lengths of the sequences are data."""
    name = known_as(inputs.operator)
    if name in _DECODES:
        form = _DECODES[name]
        return _ragged_decode(inputs.tensor(form.query), inputs.tensor(form.values))
    if name in _PAGED:
        return _ragged_paged(inputs, _PAGED[name])
    form_of_name = _FORMS.get(name)
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


def _ragged_paged(inputs: Inputs, form: _Paged) -> Ragged | None:
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


def _ragged_form(inputs: Inputs, form: _Form) -> Ragged | None:
    """Forward attention to sequences one behind the other, or to a paged cache."""
    query, key, value = (inputs.tensor(form.query + k) for k in range(3))
    is_ragged = form.lengths is not None and inputs.tensor(form.lengths) is not None
    if form.is_backward or not (is_ragged or _is_paged(inputs, form)):
        return None
    result = _result_bytes(inputs, form, query, value)
    if query is None or key is None or value is None or result is None:
        return None
    if min(len(query.shape), len(key.shape)) < 3 or key.item_bytes is None:
        return None
    if query.size_bytes is None or any(inputs.number(at) for at in form.local):
        return None
    mask = _mask(inputs, form)
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
    return known_as(operator) in _OPAQUE


# -------------------------------------------------------------------------------------------- FLOPs


def _flops(inputs: Inputs) -> int | None:
    name = known_as(inputs.operator)
    if name in _DECODES:
        return _decode_flops(inputs, _DECODES[name])
    form = _FORMS.get(name)
    sizes = _sizes(inputs, form) if form else None
    if form is None or sizes is None or any(inputs.number(at) for at in form.local):
        return None
    mask = _mask(inputs, form) or Mask()
    pairs = sizes.batch * sizes.heads * kept(sizes.n_queries, sizes.n_keys, mask)
    by_depth, by_value_depth = (3, 2) if form.is_backward else (1, 1)
    return 2 * pairs * (by_depth * sizes.depth + by_value_depth * sizes.value_depth)


def _decode_flops(inputs: Inputs, form: _Decode) -> int | None:
    query, n_keys = inputs.tensor(form.query), _context(inputs, form)
    if query is None or n_keys is None:
        return None
    return 2 * 2 * n_keys * math.prod(query.shape[1:])


def _context(inputs: Inputs, form: _Decode) -> int | None:
    """Length of the one sequence; of several, the lengths are data."""
    query = inputs.tensor(form.query)
    if query is None or len(query.shape) != 3 or query.shape[0] != 1:
        return None
    return next((n for at in form.longest if (n := inputs.number(at)) is not None), None)


# -------------------------------------------------------------------------------------------- bytes


def _moved(inputs: Inputs) -> int | None:
    """Forward: queries, keys, values and result; backward also their gradients; each once."""
    name = known_as(inputs.operator)
    if name in _DECODES:
        return _decode_moved(inputs, _DECODES[name])
    form = _FORMS.get(name)
    if form is None:
        return None
    query, key, value = (inputs.tensor(form.query + k) for k in range(3))
    result = _result_bytes(inputs, form, query, value)
    if query is None or key is None or value is None or result is None:
        return None
    keys = _cached_bytes(inputs, form, key, value)
    read, bias = query.size_bytes, inputs.tensor(form.bias) if form.bias is not None else None
    added = 0 if bias is None else bias.size_bytes
    if keys is None or read is None or added is None:
        return None
    return 2 * (read + keys + result) if form.is_backward else read + keys + added + result


def _cached_bytes(inputs: Inputs, form: _Form, key: Tensor, value: Tensor) -> int | None:
    """Keys and values: as a whole, or what one sequence uses of a paged cache."""
    query = inputs.tensor(form.query)
    is_paged = _is_paged(inputs, form) or (query and len(key.shape) > len(query.shape))
    if not is_paged:
        return total_bytes((key, value))
    sizes = _sizes(inputs, form)
    if sizes is None or key.item_bytes is None:
        return None
    width = sizes.depth + sizes.value_depth
    return sizes.batch * sizes.n_keys * key.shape[-2] * width * key.item_bytes


def _result_bytes(
    inputs: Inputs, form: _Form, query: Tensor | None, value: Tensor | None
) -> int | None:
    """A row of the values' depth per query; of 8-bit queries the result's type is not recorded."""
    given = inputs.tensor(form.result) if form.result is not None else None
    if given is not None:
        return given.size_bytes
    if query is None or value is None or not query.shape or not value.shape:
        return None
    item = query.item_bytes
    return None if item in (None, 1) else math.prod(query.shape[:-1]) * value.shape[-1] * item


def _decode_moved(inputs: Inputs, form: _Decode) -> int | None:
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
    place = _DECODES[name].query if name in _DECODES else _FORMS.get(name, _Form()).query
    query = inputs.tensor(place)
    return query.dtype if query is not None else ""


FAMILY = Family(
    names=frozenset({*_FORMS, *_DECODES, *_PAGED, *_OPAQUE}),
    flops=_flops,
    moved=_moved,
    precision=_precision,
    ragged=ragged,
    reads_values=frozenset({*_FORMS, *_DECODES}),
)

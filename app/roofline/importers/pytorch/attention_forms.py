"""Where the arguments of each attention stand, by the operator's name, and what its mask keeps.

Places are those of the operators' schemas: PyTorch's `native_functions.yaml`, flash-attn, vLLM,
SGLang, aiter and xFormers.
"""

import math
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import Inputs, Tensor


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


def _sdpa(*causal: int, bias: int | None = None) -> Form:
    return Form(heads_first=True, is_top_left=True, causal=causal, bias=bias)


def _sdpa_backward(*causal: int) -> Form:
    return Form(query=1, heads_first=True, is_backward=True, is_top_left=True, causal=causal)


def _flash(causal: int) -> Form:
    return Form(causal=(causal,), has_window=True)


def _flash_backward(causal: int) -> Form:
    return Form(query=1, is_backward=True, causal=(causal,), has_window=True)


FORMS = {
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
    "_flash_attention_forward": Form(causal=(8,), window=11, lengths=3, longest=(5,), paged=(13,)),
    "_flash_attention_backward": Form(
        query=1, is_backward=True, causal=(11,), window=15, lengths=6, longest=(8,)
    ),
    "_efficient_attention_forward": Form(
        mask_type=(9, 8), lengths=4, longest=(6,), paged=(12,), local=(13,), bias=3
    ),
    "_efficient_attention_backward": Form(
        query=1, is_backward=True, mask_type=(14,), lengths=6, longest=(8,), local=(18,)
    ),
    "flash_attn::_flash_attn_forward": _flash(5),
    "flash_attn::_flash_attn_backward": _flash_backward(11),
    "flash_attn::_flash_attn_varlen_forward": Form(
        causal=(9,), has_window=True, lengths=3, longest=(5,), paged=(15, 17)
    ),
    "flash_attn::_flash_attn_varlen_backward": Form(
        query=1, is_backward=True, causal=(15,), has_window=True, lengths=9, longest=(11,)
    ),
    "_vllm_fa2_C::varlen_fwd": Form(
        causal=(15,), has_window=True, lengths=4, longest=(10,), paged=(6, 8), result=3
    ),
    **dict.fromkeys(
        ("_vllm_fa3_C::fwd", "sgl_kernel::fwd", "flash_attn_3::fwd"),
        Form(
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
    "aiter::mha_varlen_fwd": Form(causal=(10, 12), has_window=True, lengths=3, longest=(5,)),
    "xformers::efficient_attention_forward_cutlass": Form(
        mask_type=(9,), lengths=4, longest=(6,), paged=(11, 12), local=(12, 13), bias=3
    ),
    "xformers_flash::flash_fwd": Form(
        causal=(9, 10), has_window=True, lengths=3, longest=(5, 6), paged=(5, 14)
    ),
}
DECODES = {
    "_C::paged_attention_v1": DecodeForm(query=1, values=3, longest=(9,)),
    "_C::paged_attention_v2": DecodeForm(query=4, values=6, longest=(12,)),
    "_rocm_C::paged_attention": DecodeForm(query=4, values=6, longest=(13, 12)),
}
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
PAGED = {
    "aiter::paged_attention_ragged": PagedForm(query=2, key=3, value=4, result=0),
    "aiter::mla_decode_fwd": PagedForm(query=0, key=1, value=1, result=2, latent=True),
}


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

"""Attention in PyTorch traces: which scores a mask keeps, and lengths that are data."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from roofline.importers.pytorch.attention import Mask, kept
from roofline.importers.pytorch.signatures import Signature
from tests.importers.kineto_profiles import (
    codes,
    needs_shared,
    profile_of,
    row,
    shared_profile,
    signature,
)
from tests.tools.make_kineto_traces import BF16, KinetoTrace

HALF, FP8, INT = "c10::Half", "c10::Float8_e4m3fn", "int"
HEADS = [2, 4, 64, 32]  # batch, heads, queries, depth
FULL = 2 * 2 * 4 * 64 * 64 * (32 + 32)
CAUSAL = 2 * 2 * 4 * (64 * 65 // 2) * (32 + 32)
NAMES = ("aten::", "aten::_scaled_dot_product_")


def call(
    operator: str,
    tensors: dict[int, tuple[list[int], str]],
    values: dict[int, str] | None = None,
    length: int = 0,
) -> Signature:
    """A call with tensors and plain arguments at these places."""
    places = range(max([length - 1, *tensors, *(values or {})]) + 1)
    dims, types = map(list, zip(*(tensors.get(k, ([], "")) for k in places), strict=True))
    texts = None if values is None else [values.get(k, "") for k in places]
    return signature(operator, dims, types, texts)


def heads(*places: int, shape: list[int] = HEADS) -> dict[int, tuple[list[int], str]]:
    return dict.fromkeys(places, (shape, HALF))


# ------------------------------------------------------------------------------------------- masks


@pytest.mark.parametrize("is_top_left", [True, False])
@pytest.mark.parametrize(("before", "behind"), list(product([None, 0, 3, 9], [None, 0, 2])))
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 7), (4, 9), (9, 4), (1, 12), (6, 1)])
def test_kept_is_what_the_mask_shows(
    n: int, m: int, before: int | None, behind: int | None, is_top_left: bool
) -> None:
    query, key = np.arange(n)[:, None], np.arange(m)[None, :]
    own = query if is_top_left else query + m - n
    seen = np.ones((n, m), np.bool_)
    if behind is not None:
        seen &= key <= own + behind
    if before is not None:
        seen &= key >= own - before
    mask = Mask(before=before, behind=behind, is_top_left=is_top_left)
    assert kept(n, m, mask) == int(seen.sum())


CALLS = [
    # operator, place of the query, place of the flag, length of the schema
    ("aten::_scaled_dot_product_flash_attention", 0, 4, 7),
    ("aten::_scaled_dot_product_flash_attention_for_cpu", 0, 4, 7),
    ("aten::_scaled_dot_product_efficient_attention", 0, 6, 8),
    ("aten::_scaled_dot_product_cudnn_attention", 0, 6, 9),
    ("aten::_scaled_dot_product_cudnn_attention", 0, 4, 7),  # torch 2.4
    ("aten::_scaled_dot_product_fused_attention_overrideable", 0, 5, 8),
    ("aten::_cudnn_attention_forward", 0, 10, 13),
    ("aten::_scaled_dot_product_flash_attention_backward", 1, 11, 15),
    ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", 1, 7, 10),
    ("aten::_scaled_dot_product_efficient_attention_backward", 1, 11, 13),
    ("aten::_scaled_dot_product_cudnn_attention_backward", 1, 14, 16),
    ("aten::_scaled_dot_product_cudnn_attention_backward", 1, 11, 15),  # torch 2.4
    ("aten::_scaled_dot_product_fused_attention_overrideable_backward", 1, 13, 17),
    ("aten::_cudnn_attention_backward", 1, 14, 16),
]
SEQUENCE_FIRST_CALLS = [
    ("aten::_flash_attention_forward", 0, 8, 15),
    ("aten::_flash_attention_backward", 1, 11, 17),
    ("flash_attn::_flash_attn_forward", 0, 5, 11),
    ("flash_attn::_flash_attn_backward", 1, 11, 18),
    ("aiter::mha_fwd", 0, 5, 14),
    ("aiter::mha_bwd", 1, 8, 18),
    ("_vllm_fa3_C::fwd", 0, 24, 33),
]


@pytest.mark.parametrize(("operator", "query", "flag", "length"), CALLS + SEQUENCE_FIRST_CALLS)
def test_causal_masks_hide_scores(operator: str, query: int, flag: int, length: int) -> None:
    first = operator.startswith(NAMES[1]) or "cudnn" in operator
    shape = HEADS if first else [2, 64, 4, 32]
    tensors = heads(query, query + 1, query + 2, shape=shape)
    factor = 5 if query else 2
    for text, pairs in (("False", 64 * 64), ("True", 64 * 65 // 2)):
        found = call(operator, tensors, {flag: text}, length)
        assert found.flop == factor * 2 * 2 * 4 * pairs * 32
        assert found.label.endswith(" causal") == (text == "True")
        assert not found.is_mask_unknown
    silent = call(operator, tensors, None, length)
    assert silent.flop == factor * 2 * 2 * 4 * 64 * 64 * 32
    assert silent.is_mask_unknown


@pytest.mark.parametrize(
    ("operator", "query", "place", "length"),
    [
        ("aten::_efficient_attention_forward", 0, 9, 14),
        ("aten::_efficient_attention_forward", 0, 8, 13),  # torch 2.1
        ("aten::_efficient_attention_backward", 1, 14, 20),
        ("xformers::efficient_attention_forward_cutlass", 0, 9, 13),
    ],
)
def test_masks_that_have_a_number(operator: str, query: int, place: int, length: int) -> None:
    """0 is none; 1 begins at the first key, 2 ends at the last: 16 queries meet 64 keys."""
    shapes = {query: ([1, 16, 2, 8], HALF), query + 1: ([1, 64, 2, 8], HALF)}
    tensors = {**shapes, query + 2: shapes[query + 1]}
    factor = 5 if query else 2
    rows = {0: 16 * 64, 1: 16 * 17 // 2, 2: sum(range(49, 65))}
    for number, pairs in rows.items():
        found = call(operator, tensors, {place: str(number)}, length)
        assert found.flop == factor * 2 * 2 * pairs * 8
    assert call(operator, tensors, None, length).is_mask_unknown


def test_windows_hide_scores() -> None:
    tensors = heads(0, 1, 2, shape=[1, 64, 1, 8])
    values = {5: "True", 6: "15", 7: "0"}
    pairs = sum(min(k + 1, 16) for k in range(64))
    assert call("flash_attn::_flash_attn_forward", tensors, values).flop == 4 * pairs * 8
    values = {5: "False", 6: "-1", 7: "-1"}
    assert call("flash_attn::_flash_attn_forward", tensors, values).flop == 4 * 64 * 64 * 8


def test_backward_with_values_of_another_depth() -> None:
    """Three products as deep as the queries, two as deep as the values."""
    tensors = {1: (HEADS, HALF), 2: (HEADS, HALF), 3: ([2, 4, 64, 16], HALF)}
    found = call("aten::_scaled_dot_product_flash_attention_backward", tensors, {11: "False"})
    assert found.flop == 2 * 2 * 4 * 64 * 64 * (3 * 32 + 2 * 16)


# ----------------------------------------------------------------------------------------- lengths


def varlen(total: int, n_sequences: int, longest: str, keys: list[int] | None = None) -> Signature:
    """A ragged call of vLLM's; keys of this shape lie in a paged cache."""
    shape = [total, 4, 32]
    tensors = {
        0: (shape, HALF),
        1: (keys or shape, HALF),
        2: (keys or shape, HALF),
        3: (shape, HALF),
        4: ([n_sequences + 1], INT),
    }
    if keys:
        tensors |= {6: ([n_sequences], INT), 8: ([n_sequences, 100], INT)}
    values = {10: longest, 11: "900" if keys else longest, 15: "True", 16: "-1", 17: "-1"}
    return call("_vllm_fa2_C::varlen_fwd", tensors, values, 21)


def test_ragged_batches_are_known_where_lengths_follow() -> None:
    assert varlen(100, 1, "100").flop == 4 * 4 * 5050 * 32  # one sequence
    assert varlen(100, 4, "25").flop == 4 * 4 * 4 * 325 * 32  # all as long as the longest
    ragged = varlen(100, 4, "40")
    assert ragged.flop is None
    assert ragged.is_uncountable
    assert ragged.moved_bytes == 4 * 100 * 4 * 32 * 2  # every key is read once


def test_a_paged_cache_is_never_read_as_a_whole() -> None:
    cache = [200_000, 16, 4, 32]
    assert varlen(64, 8, "8", cache).moved_bytes is None
    assert varlen(64, 8, "8", cache).flop is None
    alone = varlen(8, 1, "8", cache)
    pairs = sum(900 - 7 + k for k in range(8))
    assert alone.flop == 4 * 4 * pairs * 32
    assert alone.moved_bytes == 2 * 8 * 4 * 32 * 2 + 2 * 900 * 4 * 32 * 2


def test_efficient_attention_of_a_packed_batch_does_not_mix_sequences() -> None:
    """The batch is 1, and the sequences stand one behind the other."""
    tensors = {**heads(0, 1, 2, shape=[1, 100, 4, 32]), 4: ([5], INT), 5: ([5], INT)}
    values = {6: "25", 7: "25", 9: "0"}
    found = call("aten::_efficient_attention_forward", tensors, values, 14)
    assert found.flop == 4 * 4 * 4 * 25 * 25 * 32
    values = {6: "40", 7: "40", 9: "0"}
    assert call("aten::_efficient_attention_forward", tensors, values, 14).flop is None


@pytest.mark.parametrize(
    ("operator", "query", "values", "longest", "length"),
    [
        ("_C::paged_attention_v1", 1, 3, 9, 19),
        ("_C::paged_attention_v2", 4, 6, 12, 22),
        ("_rocm_C::paged_attention", 4, 6, 13, 20),
        ("_rocm_C::paged_attention", 4, 6, 12, 18),
    ],
)
def test_decoding_reads_as_much_as_the_sequence_is_long(
    operator: str, query: int, values: int, longest: int, length: int
) -> None:
    cache = [100_000, 2, 64, 16]
    for n, flop in ((1, 4 * 8 * 777 * 64), (3, None)):
        tensors = {query: ([n, 8, 64], HALF), values - 1: (cache, FP8), values: (cache, FP8)}
        found = call(operator, tensors, {longest: "777"}, length)
        assert found.flop == flop
        assert found.moved_bytes == (2 * 8 * 64 * 2 + 2 * 777 * 2 * 64 if n == 1 else None)


def test_attention_that_names_its_layer_only_is_unknown() -> None:
    tensors = {0: ([888, 8, 64], FP8), **heads(1, 2, 3, shape=[888, 8, 64])}
    found = call("vllm::unified_attention_with_output", tensors, {4: ""}, 7)
    assert found.flop is None
    assert found.moved_bytes is None
    assert found.is_uncountable


# --------------------------------------------------------------------------------------- profiles


def test_a_note_says_where_half_may_be_masked(tmp_path: Path) -> None:
    inputs = [((2, 4, 64, 32), BF16)] * 3
    name = "aten::_scaled_dot_product_flash_attention"
    trace = KinetoTrace()
    trace.call(name, inputs, ("flash_fwd_kernel", 5.0))
    profile = profile_of(tmp_path, trace)
    assert codes(profile)["attention-mask-unknown"] == 1
    assert profile.ops.flop[0] == FULL
    told = KinetoTrace()
    told.call(name, inputs, ("flash_fwd_kernel", 5.0), values=["", "", "", "0.", "True"])
    profile = profile_of(tmp_path, told)
    assert "attention-mask-unknown" not in codes(profile)
    assert profile.ops.flop[0] == CAUSAL
    assert any("mask keeps" in sentence for sentence in profile.limits)


def test_calls_with_and_without_a_mask_are_two_rows(tmp_path: Path) -> None:
    trace = KinetoTrace()
    name = "aten::_scaled_dot_product_flash_attention"
    for flag in ("True", "False"):
        inputs = [((2, 4, 64, 32), BF16)] * 3
        trace.call(name, inputs, ("flash_fwd_kernel", 5.0), values=["", "", "", "0.", flag])
    profile = profile_of(tmp_path, trace)
    assert sorted(profile.ops.flop.tolist()) == [CAUSAL, FULL]


@needs_shared
@pytest.mark.parametrize("name", ["h100_qwen_causal", "mi300x_qwen_causal"])
def test_causal_traces(name: str, tmp_path: Path) -> None:
    """24 layers of 16 sequences with 559 tokens, 16 heads of 64."""
    profile = shared_profile(name, tmp_path)
    k = row(profile, "aten::_flash_attention_forward")
    assert profile.ops.flop[k] == 24 * 4 * 16 * 16 * 64 * (559 * 560 // 2)
    assert profile.ops.bytes_accessed[k] == 24 * 4 * 16 * 16 * 559 * 64 * 2
    assert "attention-mask-unknown" not in codes(profile)

"""Servers of language models: steps from annotations, attention by sums of lengths, experts."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.importers.pytorch.products import Routing, grouped_product, touched
from roofline.importers.pytorch.serving import Lengths, ServingStep, serving_steps
from roofline.importers.pytorch.trace import Annotation
from tests.importers.kineto_profiles import (
    codes,
    needs_shared,
    profile_of,
    row,
    shared_profiles,
)
from tests.tools.make_kineto_traces import BF16, FP32, MI300X, KinetoTrace

VLLM = ("mi300x_vllm_graph_decode", "mi300x_vllm_graph_capture")
SGLANG = ("mi300x_sglang_decode", "mi300x_sglang_capture")
INT32 = "int"


def only_step(name: str) -> ServingStep:
    (step,) = serving_steps([Annotation(name=name, begin_ns=0, end_ns=10)])
    return step


# ------------------------------------------------------------------------------------------- steps


def test_the_sums_of_a_step() -> None:
    """32 sequences in decode, whose caches hold 55,086 tokens with the new ones."""
    step = only_step(
        "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"
    )
    assert (step.phase, step.sequences, step.tokens, step.context) == ("decode", 32, 32, 55_086)
    assert step.pairs == 55_086


@pytest.mark.parametrize(
    ("name", "phase", "sequences", "tokens", "context"),
    [
        ("execute_context_1(888)_generation_0(0)", "prefill", 1, 888, None),
        ("execute_context_1(888_788544)_generation_0(0)", "prefill", 1, 888, None),
        ("execute_context_2(100)_generation_3(3)", "mixed", 5, 103, None),
        ("step[DECODE bs=32]", "decode", 32, 32, None),
        ("step[DECODE bs=64 g_sqsq=64 g_sqsk=100032 g_sk=100032]", "decode", 64, 64, 100_032),
        (
            "step[EXTEND bs=1 toks=1025 c_sqsq=1050625 c_sqsk=1050625 c_sk=1025]",
            *("prefill", 1, 1_025, 1_025),
        ),
        (
            "step[MIXED bs=66 c=2 g=64 c_sq=2048 c_sk=2048 c_sqsq=2097152 c_sqsk=2097152"
            " g_sq=64 g_sk=65600 g_sqsq=64 g_sqsk=65600]",
            *("mixed", 66, 2_112, 67_648),
        ),
    ],
)
def test_annotations(
    name: str, phase: str, sequences: int, tokens: int, context: int | None
) -> None:
    step = only_step(name)
    assert (step.phase, step.sequences, step.tokens, step.context) == (
        phase,
        sequences,
        tokens,
        context,
    )


@pytest.mark.parametrize(
    "name",
    [
        "execute_model",
        "step[IDLE bs=4]",
        "step[]",
        "execute_context_0(0)_generation_0(0)",
        "execute_context_x(1)_generation_0(0)",
    ],
)
def test_other_annotations_are_no_steps(name: str) -> None:
    assert not serving_steps([Annotation(name=name, begin_ns=0, end_ns=10)])


def test_annotations_inside_each_other_are_one_step() -> None:
    outer = Annotation(name="execute_context_0(0)_generation_8(8)", begin_ns=0, end_ns=100)
    inner = Annotation(
        name="step[DECODE bs=8 g_sk=640 g_sqsq=8 g_sqsk=640]", begin_ns=10, end_ns=90
    )
    after = Annotation(name="step[DECODE bs=9]", begin_ns=110, end_ns=200)
    steps = serving_steps([after, inner, outer])
    assert [(step.begin_ns, step.end_ns) for step in steps] == [(0, 100), (110, 200)]
    assert steps[0].context == 640


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 60)), min_size=1, max_size=6))
def test_pairs_are_those_of_a_causal_mask(sequences: list[tuple[int, int]]) -> None:
    """Of each sequence of n new tokens behind c old ones, query i sees c + i + 1 keys."""
    keys = [new + old for new, old in sequences]
    sums = Lengths(
        sequences=len(sequences),
        queries=sum(new for new, _ in sequences),
        keys=sum(keys),
        queries_squared=sum(new * new for new, _ in sequences),
        queries_by_keys=sum(new * key for (new, _), key in zip(sequences, keys, strict=True)),
    )
    assert sums.pairs == sum(old + i + 1 for new, old in sequences for i in range(new))


# --------------------------------------------------------------------------------------- attention

HEADS, KV_HEADS, DEPTH, BATCH, CONTEXT = 32, 8, 128, 4, 1_000
SUMS = f"sq{BATCH}sk{CONTEXT}sqsq{BATCH}sqsk{CONTEXT}"
DECODE = f"execute_{BATCH}_context_0(sq0sk0sqsq0sqsk0)_generation_{BATCH}({SUMS})"
FLOP = 2 * 2 * HEADS * DEPTH * CONTEXT
CACHE = 2 * KV_HEADS * DEPTH * CONTEXT * 2
ENDS = 2 * BATCH * HEADS * DEPTH * 2
QUERY = ((BATCH, HEADS, DEPTH), BF16)
ROWS = ((BATCH, KV_HEADS, DEPTH), BF16)
RAGGED = [
    *(QUERY, ((4096,), "unsigned char"), QUERY),
    *[((9_999, 1, KV_HEADS, DEPTH), BF16)] * 2,
    *(((BATCH + 1,), INT32), ((CONTEXT,), INT32)),
]
CALLS = {
    "aiter::paged_attention_ragged": RAGGED,
    "sglang_profiler::attention_paged_attention_ragged_100": RAGGED,
    "_rocm_C::paged_attention": [
        *([((), "")] * 4),
        QUERY,
        ((99, KV_HEADS, DEPTH // 8, 16, 8), BF16),
        ((99, KV_HEADS, DEPTH, 16), BF16),
    ],
}


def decode_of(
    *calls: tuple[str, Sequence[tuple[tuple[int, ...], str]]], name: str = DECODE
) -> KinetoTrace:
    trace = KinetoTrace(device=MI300X, is_hip=True)
    begin = trace.host_us
    for operator, inputs in calls:
        trace.call(operator, inputs, (f"{operator.rpartition(':')[2]}_kernel", 5.0))
    trace.annotate(name, begin)
    return trace


@pytest.mark.parametrize("operator", CALLS)
def test_paged_attention_counts_what_the_sequences_use(operator: str, tmp_path: Path) -> None:
    profile = profile_of(tmp_path, decode_of((operator, CALLS[operator])))
    k = row(profile, operator)
    assert profile.ops.flop[k] == FLOP
    assert profile.ops.bytes_accessed[k] == CACHE + ENDS
    assert "flop-not-counted" not in codes(profile)


VARLEN = {
    # Places of queries, keys and values, lengths, block table and the mask, as in the bindings.
    "_vllm_fa2_C::varlen_fwd": ((0, 1, 2), 4, 8, 15, 20),
    "_vllm_fa3_C::fwd": ((0, 1, 2), 7, 14, 24, 30),
    "flash_attn::_flash_attn_varlen_forward": ((0, 1, 2), 3, 15, 9, 18),
}


@pytest.mark.parametrize("window", [None, 101])
@pytest.mark.parametrize("operator", VARLEN)
def test_flash_attention_of_a_ragged_batch(
    operator: str, window: int | None, tmp_path: Path
) -> None:
    """One query of each of 4 sequences to a paged cache of 1,000 tokens."""
    factors, lengths, blocks, causal, count = VARLEN[operator]
    inputs: list[tuple[tuple[int, ...], str]] = [((), "")] * count
    cache = ((99, 16, KV_HEADS, DEPTH), BF16)
    for place, tensor in zip(factors, (QUERY, cache, cache), strict=True):
        inputs[place] = tensor
    inputs[lengths] = ((BATCH + 1,), INT32)
    inputs[blocks] = ((BATCH, 64), INT32)
    values = [""] * count
    values[causal], values[causal + 1] = "True", "-1" if window is None else str(window - 1)
    trace = KinetoTrace(device=MI300X, is_hip=True)
    begin = trace.host_us
    trace.call(operator, inputs, ("flash_fwd_kernel", 5.0), values=values)
    trace.annotate(DECODE, begin)
    profile = profile_of(tmp_path, trace)
    keys = CONTEXT if window is None else BATCH * window
    assert profile.ops.flop[0] == 2 * 2 * HEADS * DEPTH * keys
    assert profile.ops.bytes_accessed[0] == 2 * KV_HEADS * DEPTH * 2 * keys + ENDS


def test_without_sums_it_is_unknown(tmp_path: Path) -> None:
    operator = "aiter::paged_attention_ragged"
    for name in ("step[DECODE bs=4]", "no annotation"):
        profile = profile_of(tmp_path, decode_of((operator, RAGGED), name=name))
        assert not profile.ops.cost_known.any()


def test_attention_that_names_a_layer_takes_the_type_of_the_cache(tmp_path: Path) -> None:
    attention = ("vllm::unified_attention_with_output", [QUERY, ROWS, ROWS, QUERY])
    cache = ((9_999, 16, KV_HEADS, DEPTH), "unsigned char")
    write = (
        "_C_cache_ops::reshape_and_cache_flash",
        [ROWS, ROWS, cache, cache, ((BATCH,), "long int")],
    )
    profile = profile_of(tmp_path, decode_of(attention))
    assert not profile.ops.cost_known.any()
    profile = profile_of(tmp_path, decode_of(write, attention))
    k = row(profile, attention[0])
    assert profile.ops.flop[k] == FLOP
    assert profile.ops.bytes_accessed[k] == CACHE // 2 + ENDS


def test_steps_of_other_lengths_share_a_row(tmp_path: Path) -> None:
    trace = KinetoTrace(device=MI300X, is_hip=True)
    for context in (1_000, 3_000):
        begin = trace.host_us
        trace.call("aiter::paged_attention_ragged", RAGGED, ("paged_kernel", 5.0))
        sums = f"sq4sk{context}sqsq4sqsk{context}"
        trace.annotate(f"execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4({sums})", begin)
        trace.host_us += 5
    profile = profile_of(tmp_path, trace)
    assert profile.ops.flop[row(profile, "aiter::paged")] == 4 * FLOP


@pytest.mark.parametrize(
    ("queries", "pairs", "keys"), [(12, 12 * 12 - 66, 12), (4, 1_000, 1_000), (16, 1_078, 1_012)]
)
def test_a_mixed_step_is_split_by_the_number_of_queries(
    queries: int, pairs: int, keys: int, tmp_path: Path
) -> None:
    """12 tokens of one new sequence, 4 sequences in decode: alone or in one call."""
    name = f"execute_16_context_1(sq12sk12sqsq144sqsk144)_generation_4({SUMS})"
    query = ((queries, HEADS, DEPTH), BF16)
    inputs = [query, RAGGED[1], query, *RAGGED[3:]]
    profile = profile_of(tmp_path, decode_of(("aiter::paged_attention_ragged", inputs), name=name))
    assert profile.ops.flop[0] == 2 * 2 * HEADS * DEPTH * pairs
    assert (
        profile.ops.bytes_accessed[0] == 2 * KV_HEADS * DEPTH * 2 * keys + ENDS // BATCH * queries
    )


def test_a_batch_that_is_too_small_for_the_step_is_another_one(tmp_path: Path) -> None:
    query = ((2, HEADS, DEPTH), BF16)
    inputs = [query, RAGGED[1], query, *RAGGED[3:]]
    profile = profile_of(tmp_path, decode_of(("aiter::paged_attention_ragged", inputs)))
    assert not profile.ops.cost_known.any()


# ----------------------------------------------------------------------------------------- experts


def test_experts_touched() -> None:
    assert touched(32, 4, 0, 1).most == 0
    one = touched(32, 4, 1, 10)
    assert (one.least, one.most) == (4, 4)
    assert one.expected == pytest.approx(4)
    many = touched(32, 4, 32, 10)
    assert (many.least, many.most) == (4, 32)
    assert many.expected == pytest.approx(32 * (1 - 0.875**32))
    assert many.weight_bytes == round(10 * many.expected)


def test_the_two_products_of_experts() -> None:
    routing = Routing(tokens=32, width=3_072, experts=32, chosen=4, inner=2_944)
    up = grouped_product("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", routing)
    down = grouped_product("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", routing)
    assert up is not None
    assert down is not None
    assert up.flop == 2 * 128 * 3_072 * 5_888
    assert down.flop == 2 * 128 * 2_944 * 3_072
    assert up.touched.bytes_each == 3_072 * 5_888 * 17 // 32
    assert down.moved_bytes == down.touched.weight_bytes + 2 * 128 * (2_944 + 3_072)
    assert grouped_product("_matmul_ogs_NNT_bf16xbf16xint3_16x128x256x1", routing) is None
    assert grouped_product("other_kernel", routing) is None


@pytest.mark.parametrize(("packed", "dtype", "item"), [(1, BF16, 2), (2, "unsigned char", 1)])
def test_experts_whose_weights_are_arguments(
    packed: int, dtype: str, item: int, tmp_path: Path
) -> None:
    """8 tokens of 64 numbers, 2 of 16 experts that are 32 wide."""
    trace = KinetoTrace()
    inputs = [
        *(((8, 64), BF16), ((16, 64, 64 // packed), dtype), ((16, 64, 32 // packed), dtype)),
        *(((8, 2), FP32), ((8, 2), INT32)),
    ]
    trace.call("vllm::outplace_fused_experts", inputs, ("fused_moe_kernel", 5.0))
    profile = profile_of(tmp_path, trace)
    assert profile.ops.flop[0] == 2 * 16 * (64 * 64 + 32 * 64)
    weights = round(touched(16, 2, 8, (64 * 64 + 32 * 64) // packed * item).weight_bytes)
    assert profile.ops.bytes_accessed[0] == weights + 2 * 8 * 64 * 2
    assert codes(profile)["experts-assumed"] == 1


# -------------------------------------------------------------------------------------- real files


@needs_shared
def test_vllm_decode_of_gpt_oss(tmp_path: Path) -> None:
    """24 layers, 32 sequences, 55,086 tokens in the cache; half of the layers have a window."""
    profile = shared_profiles(tmp_path, *VLLM)
    ops = profile.ops
    sizes = {
        "aten::addmm [5120, 32x2880, 2880x5120": 2 * 32 * 2880 * 5120,
        "aten::addmm [2880, 32x4096, 4096x2880": 2 * 32 * 4096 * 2880,
        "aten::addmm [32, 32x2880, 2880x32": 2 * 32 * 2880 * 32,
        "vllm::moe_forward experts gate and up": 2 * 128 * 3072 * 5888,
        "vllm::moe_forward experts down": 2 * 128 * 2944 * 3072,
    }
    for name, flop in sizes.items():
        k = row(profile, name)
        assert ops.occurrences[k] == 24
        assert ops.flop[k] == 24 * flop
    per_key = 2 * 8 * 64 * 2
    ends = 2 * 32 * 64 * 64 * 2
    full, windowed = (
        next(
            k
            for k, name in enumerate(ops.name)
            if name.startswith("vllm::unified_attention") and ("window" in name) == has_window
        )
        for has_window in (False, True)
    )
    assert (ops.occurrences[full], ops.occurrences[windowed]) == (12, 12)
    assert ops.bytes_accessed[full] == 12 * (55_086 * per_key + ends)
    assert ops.bytes_accessed[windowed] == 12 * (32 * 128 * per_key + ends)
    assert ops.flop[full] == 12 * 2 * 2 * 64 * 64 * 55_086
    assert codes(profile)["window-assumed"] == 12
    note = next(one for one in profile.diagnostics if one.code == "experts-assumed")
    assert "31.6 of 32 experts" in note.message
    assert "4 to 32" in note.message


@needs_shared
def test_sglang_decode_of_qwen3_8b(tmp_path: Path) -> None:
    """36 layers, 32 sequences, 32,785 tokens of 147,456 bytes over all layers."""
    profile = shared_profiles(tmp_path, *SGLANG)
    ops = profile.ops
    k = row(profile, "sglang_profiler::attention_paged_attention_ragged")
    ends = 36 * 2 * 32 * 32 * 128 * 2
    assert ops.bytes_accessed[k] == 32_785 * 147_456 + ends
    assert ops.flop[k] == 36 * 2 * 2 * 32 * 128 * 32_785
    assert int(ops.self_time_ps[ops.bytes_known].sum()) >= 0.95 * int(ops.self_time_ps.sum())

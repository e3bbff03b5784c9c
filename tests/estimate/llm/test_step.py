"""Times, memory and thresholds of steps against the worked numbers of the documents."""

from dataclasses import replace
from functools import cache

import pytest

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.document import step_document, step_text
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.request import PredictOptions
from roofline.estimate.llm.step import step_of
from tests.estimate.llm.cases import MODEL, load_of, needs_shared, serial_ms, step

PARTS = ("h100-sxm", "a100-80-sxm", "t4")
ROWS = 36


@cache
def table() -> list[list[str]]:
    """Rows of section 7: model, phase, batch x sequence, work, and milliseconds on three parts."""
    if not MODEL.is_dir():
        return []
    section = (MODEL / "llm-model.md").read_text("utf-8").split("## 7")[1].split("## 8")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if " x " in line]
    return [[cell.strip().replace(",", "") for cell in row] for row in rows if len(row) > 8][1:]


@needs_shared
def test_the_table_has_all_its_rows() -> None:
    assert len(table()) == ROWS


@pytest.mark.parametrize("row", table(), ids=lambda row: "-".join(row[:3]))
def test_serial_times_are_those_of_the_table(row: list[str]) -> None:
    batch, seq = map(int, row[2].split(" x "))
    load = load_of(row[1], batch, seq)
    for part, stated in zip(PARTS, row[8:], strict=True):
        found = step_of(preset(row[0]), load, known_part(part))
        assert serial_ms(found) == pytest.approx(float(stated), rel=2e-3, abs=0.006)
        assert found.total(lambda op: op.matrix) / 1e9 == pytest.approx(float(row[3]), rel=5e-3)


def test_a_part_without_bf16_runs_at_the_rate_of_fp16_and_says_so() -> None:
    found = step("llama-2-7b", "t4", PredictOptions(context=2048))
    assert found.notes == ("T4 has no unit for bf16: the rate is that of fp16.",)


@pytest.mark.covers(149, 150)
@pytest.mark.parametrize(
    ("model", "parameters", "ms"),
    [
        ("llama-2-7b", 6_738_415_616, 4.0),
        ("llama-2-13b", 13_015_864_320, 7.7),
        ("llama-2-70b", 68_976_648_192, 41.0),
        ("llama-3-8b", 8_030_261_248, 4.5),
        ("llama-3-70b", 70_553_706_496, 41.5),
    ],
)
def test_llamas_read_their_weights_for_each_token(model: str, parameters: int, ms: float) -> None:
    """Two bytes of each at 3.35 TB/s; of the embedding one row is read."""
    assert preset(model).parameters == parameters
    found = step(model, "h100-sxm", PredictOptions(context=1))
    assert found.bound == "memory"
    assert serial_ms(found) == pytest.approx(ms, rel=0.03)


@pytest.mark.covers(241)
@pytest.mark.parametrize(("tp", "stated"), [(1, 310), (2, 170), (4, 100), (8, 65)])
def test_tensor_parallel_divides_work_and_adds_collectives(tp: int, stated: float) -> None:
    found = step(
        "llama-3-70b", "h100-sxm", PredictOptions(phase="prefill", seq=2048, tp=tp, latency="none")
    )
    assert serial_ms(found) == pytest.approx(stated, rel=5e-3)
    names = [timed.op.name for timed in found.ops]
    assert ("attn_allreduce" in names) is (tp > 1)


@pytest.mark.covers(152)
@pytest.mark.parametrize(("tp", "stated"), [(1, 43.2), (8, 5.52)])
def test_decode_divides_by_bandwidth(tp: int, stated: float) -> None:
    options = PredictOptions(batch=8, context=2048, tp=tp, latency="none")
    assert serial_ms(step("llama-3-70b", "h100-sxm", options)) == pytest.approx(stated, rel=2e-3)


@pytest.mark.covers(148, 154)
@pytest.mark.parametrize(
    ("batch", "options", "stated"),
    [
        (1, {}, 7.11),
        (8, {}, 8.07),
        (64, {}, 15.71),
        (1, {"weights": "int8"}, 3.62),
        (8, {"weights": "int8"}, 4.58),
        (64, {"weights": "int8"}, 12.23),
        (1, {"weights": "int4:g128"}, 1.99),
        (8, {"weights": "int4:g128"}, 2.95),
        (64, {"weights": "int4:g128"}, 11.51),
        (1, {"weights": "int4:g128", "kv": "int8"}, 1.92),
        (8, {"weights": "int4:g128", "kv": "int8"}, 2.42),
        (64, {"weights": "int4:g128", "kv": "int8"}, 7.30),
    ],
)
def test_fewer_bits_of_storage(batch: int, options: dict[str, str], stated: float) -> None:
    options_of = PredictOptions(batch=batch, context=2048, **options)  # type: ignore[arg-type]
    assert serial_ms(step("mistral-7b", "a100-80-sxm", options_of)) == pytest.approx(
        stated, abs=0.006
    )


@pytest.mark.parametrize(
    ("batch", "touched", "gigabytes"),
    [(1, 2.0, 25.8), (2, 3.5, 43.0), (8, 7.2, 86.4), (32, 8, 102.2)],
)
def test_experts_are_streamed_as_far_as_rows_touch_them(
    batch: int, touched: float, gigabytes: float
) -> None:
    found = step("mixtral-8x7b", "h100-sxm", PredictOptions(batch=batch, context=2048))
    assert found.total(lambda op: op.bytes) / 1e9 == pytest.approx(gigabytes, rel=5e-3)
    experts = step_document(found, "mixtral-8x7b")["touched_experts"]
    assert experts["expected"] == pytest.approx(touched, abs=0.06)
    assert (experts["least"], experts["most"]) == (2, min(8, 2 * batch))


def test_expert_parallel_spreads_experts_and_exchanges_rows() -> None:
    options = PredictOptions(batch=8, context=2048, ep=8)
    found = {t.op.name: t.op for t in step("qwen3-30b-a3b", "h100-sxm", options).ops}
    touched = 128 / 8 * (1 - (1 - 8 / 128) ** 64)
    assert found["expert_down"].weights == pytest.approx(touched * 2048 * 768 * 2)
    assert found["ep_dispatch"].link == 8 * 8 * 2048 * 2 * 7 / 8
    assert found["ep_combine"].calls == 48


def test_latent_attention_decodes_on_compressed_keys() -> None:
    found = {
        t.op.name: t.op for t in step("deepseek-v3", "h100-sxm", PredictOptions(context=4096)).ops
    }
    assert found["attention"].matrix / found["attention"].kv == pytest.approx(241.8, abs=0.05)
    assert "kv_b_proj" not in found
    assert found["expert_down"].calls == 58
    prefill = {
        t.op.name
        for t in step("deepseek-v3", "h100-sxm", PredictOptions(phase="prefill", seq=64)).ops
    }
    assert {"kv_b_proj", "shared_gate_up"} <= prefill
    assert "q_absorb" not in prefill


def test_an_mlp_without_a_gate_has_one_product() -> None:
    gated = preset("llama-3-8b")
    plain = replace(gated, gated=False)
    assert gated.parameters - plain.parameters == 32 * 4096 * 14336
    found = {op.name: op for op in forward(plain, load_of("prefill", 1, 64))}
    assert found["up_proj"].matrix == 2 * 64 * 4096 * 14336
    assert found["mlp_act"].activations == 2 * 64 * 14336 * 2
    assert "gate_up_proj" not in found


def test_windowed_layers_read_no_more_than_their_window() -> None:
    found = {
        t.op.name: t.op for t in step("gemma-3-27b", "h100-sxm", PredictOptions(context=8192)).ops
    }
    assert (found["attention_local"].calls, found["attention_global"].calls) == (52, 10)
    assert found["attention_local"].kv == 2 * 1024 * 16 * 128 * 2
    assert found["attention_global"].kv == 2 * 8192 * 16 * 128 * 2


# ------------------------------------------------------------------------------------------ memory


@pytest.mark.covers(171, 186)
def test_memory_is_weights_and_cache() -> None:
    found = step("llama-3-70b", "h100-sxm", PredictOptions(batch=8, context=2048))
    assert found.memory_bytes == 70_553_706_496 * 2 + 8 * 2048 * 320 * 1024
    assert found.fits is False
    assert "It does not fit." in step_text(found, "llama-3-70b")
    assert serial_ms(found) > 0
    split = step("llama-3-70b", "h100-sxm", PredictOptions(batch=8, context=2048, tp=4))
    assert split.memory_bytes == found.memory_bytes / 4
    assert split.fits is True


def test_memory_of_experts_windows_latent_keys_and_blocks() -> None:
    mixed = step("gpt-oss-120b", "h100-sxm", PredictOptions(context=4096, expert_weights="mxfp4"))
    routed = 36 * 128 * (3 * 2880 * 2880 + 2 * 2880 + 2880)
    cache = 2 * (18 * 4096 + 18 * 128) * 8 * 64 * 2
    assert mixed.memory_bytes == (116_829_156_672 - routed) * 2 + routed * 0.53125 + cache
    latent = step("deepseek-v3", "h100-sxm", PredictOptions(batch=2, context=1000))
    assert latent.memory_bytes == 671_026_404_352 * 2 + 2 * 1000 * 70_272
    paged = step("deepseek-v3", "h100-sxm", PredictOptions(batch=2, context=1000, kv_block=16))
    assert paged.memory_bytes == 671_026_404_352 * 2 + 2 * 1008 * 70_272


def test_heads_of_keys_are_not_split_below_one() -> None:
    options = PredictOptions(context=2048, tp=16)
    found = {t.op.name: t.op for t in step("llama-3-70b", "h100-sxm", options).ops}
    assert found["qkv_proj"].weights == 8192 * (4 + 2) * 128 * 2
    assert found["attention"].kv == 2 * 2048 * 128 * 2


def test_heads_of_keys_that_do_not_divide_are_a_mean_of_the_ranks() -> None:
    found = step("phi-4", "h100-sxm", PredictOptions(context=1024, tp=4))
    ops = {timed.op.name: timed.op for timed in found.ops}
    assert ops["qkv_proj"].weights == 5120 * (10 + 2 * 2.5) * 128 * 2
    assert ops["attention"].kv == 2 * 1024 * 2.5 * 128 * 2
    cache = 40 * 2 * 1024 * 2.5 * 128 * 2
    assert found.memory_bytes == found.model.parameters * 2 / 4 + cache


# ----------------------------------------------------------------------------- phases, parallelism


def test_checking_guessed_tokens_takes_the_head_over_all_of_them() -> None:
    found = step("llama-3-8b", "h100-sxm", PredictOptions(batch=4, context=2048, new_tokens=5))
    head = next(t.op for t in found.ops if t.op.name == "lm_head")
    assert head.matrix == 2 * 20 * 4096 * 128256
    attention = next(t.op for t in found.ops if t.op.name == "attention")
    assert attention.matrix == 4 * 4 * 32 * 128 * (5 * 2043 + 15)
    assert found.tokens_per_s == pytest.approx(20 / serial_ms(found) * 1e3)
    assert found.accepted_tokens_per_s is None
    options = PredictOptions(batch=4, context=2048, new_tokens=5, acceptance=0.8)
    kept = (1 - 0.8**5) / (1 - 0.8)
    assert step("llama-3-8b", "h100-sxm", options).accepted_tokens_per_s == pytest.approx(
        4 * kept / serial_ms(found) * 1e3
    )


def test_a_later_piece_of_a_prompt_attends_to_what_is_cached() -> None:
    options = PredictOptions(phase="prefill", seq=512, cached=1536, pairs="causal")
    found = {t.op.name: t.op for t in step("llama-3-8b", "h100-sxm", options).ops}
    assert found["attention"].matrix == 4 * 32 * 128 * (512 * 1536 + 512 * 513 // 2)
    assert found["attention"].kv == 2 * 2048 * 8 * 128 * 2


def test_a_pipeline_waits_for_every_stage_and_fills_with_microbatches() -> None:
    whole = step("llama-3-8b", "h100-sxm", PredictOptions(phase="prefill", batch=8, seq=512))
    one = step("llama-3-8b", "h100-sxm", PredictOptions(phase="prefill", batch=8, seq=512, pp=4))
    sends = 3 * (8 * 512 * 4096 * 2 / 450e9 * 1e3 + 0.6e-3)
    assert serial_ms(one) == pytest.approx(serial_ms(whole) + sends)
    options = PredictOptions(phase="prefill", batch=8, seq=512, pp=4, microbatches=8)
    filled = step("llama-3-8b", "h100-sxm", options)
    assert serial_ms(filled) < 0.5 * serial_ms(one)
    qkv = next(t for t in filled.ops if t.op.name == "qkv_proj")
    assert (qkv.op.calls, qkv.repeats) == (8, 4 + 8 - 1)
    assert filled.memory_bytes < whole.memory_bytes / 3
    assert one.tokens_per_s_per_device == pytest.approx((one.tokens_per_s or 0) / 4)


def test_three_sums_are_in_order_and_the_expected_line_is_above_serial() -> None:
    found = step("llama-3-8b", "h100-sxm", PredictOptions(phase="prefill", seq=2048))
    sums = found.step_us
    assert sums["overlap"] is not None
    assert sums["serial"] is not None
    assert sums["no_overlap"] is not None
    assert sums["overlap"] < sums["serial"] < sums["no_overlap"]
    expected = found.expected
    assert expected is not None
    assert sums["serial"] < expected.low_us < expected.high_us
    assert expected.matrix == (0.80, 0.85)


def test_a_peak_that_is_not_known_gives_no_time_and_a_sentence() -> None:
    found = step("llama-3-8b", "a100-80-sxm", PredictOptions(context=128, compute="fp8"))
    assert set(found.step_us.values()) == {None}
    assert found.tokens_per_s is None
    assert any("fp8" in note for note in found.notes)
    assert found.expected is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (PredictOptions(), "--context"),
        (PredictOptions(phase="prefill"), "--seq"),
        (PredictOptions(phase="sleep"), "phase"),
        (PredictOptions(context=8, tp=3), "32 heads"),
        (PredictOptions(context=8, ep=2), "0 experts"),
        (PredictOptions(context=8, pp=33), "32 layers"),
        (PredictOptions(context=8, pp=2, batch=3, microbatches=2), "microbatches"),
        (PredictOptions(context=2, new_tokens=5), "fewer keys"),
        (PredictOptions(context=128, new_tokens=0), "--new-tokens is below 1"),
        (PredictOptions(phase="prefill", seq=-5), "prefill step of -5 new tokens"),
        (PredictOptions(phase="prefill", seq=5, cached=-5), "-5 tokens cannot be cached"),
        (PredictOptions(context=8, batch=0), "--batch"),
        (PredictOptions(context=8, grad_bytes=3), "2 or 4"),
        (PredictOptions(context=8, acceptance=1.5), "share"),
        (PredictOptions(context=8, weights="bf17"), "element type"),
        (PredictOptions(context=10**12), "length"),
    ],
)
def test_what_cannot_be_predicted_is_said(options: PredictOptions, said: str) -> None:
    with pytest.raises(BadViewError) as error:
        step("llama-3-8b", "h100-sxm", options)
    assert said in error.value.message + error.value.remedy

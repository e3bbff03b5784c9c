"""Steps that decode and read prompts at once, against the two steps that they replace."""

import pytest

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.document import step_text
from roofline.estimate.llm.memory import cache_bytes
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import Step, step_of

MODELS = ["llama-3-8b", "gemma-3-12b", "mixtral-8x7b", "deepseek-v3"]


def steps(name: str) -> tuple[Step, Step, Step]:
    """Mixed, decode alone and the prompts alone."""
    model, part = preset(name), known_part("h200")
    mixed, decode, prompts = (
        step_of(model, workload(options), part)
        for options in (
            PredictOptions(phase="mixed", batch=32, context=4096, seq=512, prompts=2, cached=1024),
            PredictOptions(phase="decode", batch=32, context=4096),
            PredictOptions(phase="prefill", batch=2, seq=512, cached=1024),
        )
    )
    return mixed, decode, prompts


def total(step: Step, kind: str) -> float:
    """Of all ops but the table, of which each row reads its own part."""
    return step.total(lambda op: 0.0 if op.name == "embed" else float(getattr(op, kind)))


@pytest.mark.parametrize("name", MODELS)
def test_rows_and_memory_are_those_of_both(name: str) -> None:
    mixed, decode, prompts = steps(name)
    assert mixed.load.rows == 32 + 2 * 512
    cached = cache_bytes(prompts.model, prompts.load)
    assert cached > 0
    assert mixed.memory_bytes == pytest.approx(decode.memory_bytes + cached)


@pytest.mark.parametrize("name", MODELS)
def test_work_adds_up_and_weights_are_read_once(name: str) -> None:
    mixed, decode, prompts = steps(name)
    for kind in ("matrix", "activations", "kv"):
        assert total(mixed, kind) == pytest.approx(total(decode, kind) + total(prompts, kind))
    read = [total(one, "weights") for one in (mixed, decode, prompts)]
    assert max(read[1:]) <= read[0] < sum(read[1:])
    if name in {"llama-3-8b", "gemma-3-12b"}:
        assert read[0] == read[1] == read[2]
    assert (mixed.step_us["serial"] or 0) < sum(
        one.step_us["serial"] or 0 for one in (decode, prompts)
    )


def test_attention_runs_for_each_group() -> None:
    mixed, decode, prompts = steps("llama-3-8b")
    said = step_text(mixed, "llama-3-8b")
    assert "32 x 1 tokens after 4,095 and 2 x 512 after 1,024, on H200" in said
    times = {one.op.name: one.time_us for one in mixed.ops}
    for name, alone in (("attention.decode", decode), ("attention.prefill", prompts)):
        (found,) = (one.time_us for one in alone.ops if one.op.name == "attention")
        assert times[name] == found


@pytest.mark.parametrize(
    "change", [{"seq": None}, {"context": None}, {"prompts": 0}, {"microbatches": 2}]
)
def test_mixed_steps_that_cannot_be_are_refused(change: dict[str, int | None]) -> None:
    given = {"batch": 4, "context": 128, "seq": 64, **change}
    with pytest.raises(BadViewError):
        options = PredictOptions(phase="mixed", **given)  # type: ignore[arg-type]
        step_of(preset("llama-3-8b"), workload(options), known_part("h200"))

"""Whatever is asked: sums in order, and no sentence that names a bound which a row denies."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.devices.catalogue import parts
from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import preset, presets
from roofline.estimate.llm.document import step_document, step_text
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import bound_of, request_text
from roofline.estimate.llm.serving import PhaseOfRequest, request_of
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.llm.thresholds import class_of, thresholds_of
from roofline.estimate.on_device import COMPUTE, LINK, NETWORK
from tests.narrowing import known

EXAMPLES = 15  # of each preset
NEAR = 1 + 1e-9
PARTS = [one.id for one in parts()]
JOINED = [name for name in PARTS if known_part(name).topology]
SIZES = [1, 2, 8, 64, 400, 1303]
LENGTHS: dict[str, dict[str, list[Any]]] = {
    "decode": {"context": [1, 64, 2048, 131_072], "new_tokens": [1, 1, 1, 4]},
    "prefill": {"seq": [1, 64, 2048], "cached": [0, 512], "pairs": ["full", "causal"]},
    "mixed": {"context": [64, 2048], "seq": [64, 512], "prompts": [1, 4]},
    "train": {"seq": [128, 4096], "recompute": ["none", "selective", "full"]},
    "request": {"prompt": [1, 128, 2048], "output": [1, 2, 64]},
}
OF_TRAINING: dict[str, list[Any]] = {"dp": [1, 2, 64, 512], "zero": [0, 1, 2, 3]}
USUAL: dict[str, list[Any]] = {
    "batch": SIZES,
    "tp": [1, 1, 2, 8, 16],
    "ep": [1, 1, 4, 32],
    "pp": [1, 1, 2],
    "cp": [1, 1, 2],
    "microbatches": [1, 1, 2],
    "virtual": [1, 1, 2],
    "weights": ["bf16", "fp8", "int4:g128"],
    "fusion": ["typical", "unfused", "ideal"],
    "flash": [True, True, False],
    "latency": ["hops", "library", "none"],
    "network": [None, None, "1GB/s", "400GB/s"],
    "gpus_per_node": [None, None, 2, 72],
    "algorithm": ["two-level", "ring"],
    "in_switch": [False, True],
    "exchange": [None, "direct", "per-node"],
}


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, PredictOptions]:
    """A part, and options of a step or a request; not all of them can be together."""
    phase = draw(st.sampled_from(sorted(LENGTHS)))
    options = {**USUAL, **LENGTHS[phase], **(OF_TRAINING if phase == "train" else {})}
    chosen = {name: draw(st.sampled_from(values)) for name, values in options.items()}
    if chosen.get("dp") == 1:
        chosen["zero"] = 0
    part = draw(st.sampled_from(JOINED if draw(st.integers(0, 4)) else PARTS))
    return part, PredictOptions(phase=phase, **chosen)


def in_order(*times: float) -> bool:
    return all(a <= b * NEAR for a, b in pairwise(times))


@pytest.mark.parametrize("model", list(presets()))
@settings(max_examples=EXAMPLES, deadline=None)
@given(asked=asked())
def test_words_and_sums_agree_with_the_rows(model: str, asked: tuple[str, PredictOptions]) -> None:
    device, options = asked
    part = known_part(device)
    try:
        if options.phase == "request":
            found = request_of(preset(model), options, part)
            assert request_text(found, model)
            for phase in filter(None, (found.prefill, found.decode)):
                check_phase(phase)
            return
        step = step_of(preset(model), workload(options), part)
    except BadViewError:
        return  # what cannot be is refused with a sentence
    check_step(step, model)


def check_phase(phase: PhaseOfRequest) -> None:
    assert in_order(phase.overlap_us, phase.serial_us, phase.no_overlap_us)
    if phase.expected_us:
        assert in_order(phase.serial_us * 0.999, *phase.expected_us)


def check_step(step: Step, model: str) -> None:
    text, document = step_text(step, model), step_document(step, model)
    if not step.is_timed:
        assert step.notes, "a rate that is not known is said"
        assert document["bound"] is None
        return
    sums = [known(step.step_us[k]) for k in ("overlap", "scheduled", "serial", "no_overlap")]
    assert in_order(*sums)
    assert step.bound in {timed.bound for timed in step.ops}
    if step.expected:
        assert in_order(sums[1] * 0.999, step.expected.low_us, step.expected.high_us)
    words = re.search(r" is ((?:\S+-bound)|bound by [a-z ]+) \(", text)
    assert words is None or words[1] == bound_of(step, known(step.bound))
    limits = thresholds_of(step)
    if limits is None:
        return
    each = step.load.batch // step.load.microbatches
    for kind, one in limits.classes.items():
        rows = [t for t in step.ops if class_of(t.op) == kind and t.op.name not in one.never]
        if one.batch and each >= one.batch:
            assert {timed.bound for timed in rows} == {COMPUTE}
        if one.first and each < one.first:
            assert COMPUTE not in {timed.bound for timed in rows}
    check_whole_step(step, text, limits.batch_at_context, limits.prompt)


def check_whole_step(step: Step, text: str, batch: int | None, tokens: int | None) -> None:
    """At the size that a sentence names compute binds the step; links and network may take longer
    where the sentence holds them aside."""
    load, sentence = step.load, next((x for x in text.splitlines() if "hole step" in x), "")
    if batch:
        at = replace(load, batch=batch * load.microbatches)
    elif tokens and tokens % load.cp == 0:
        at = replace(load, new_tokens=tokens)
    else:
        return
    bound = step_of(step.model, at, step.part).bound
    aside = {LINK, NETWORK} if "links and network aside" in sentence else set()
    assert bound in {COMPUTE, *aside}

"""Thresholds and the rows of the table never deny each other, over presets, phases and groups."""

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest

from roofline.devices.choice import known_part
from roofline.estimate.llm.config import ModelConfig, preset, presets
from roofline.estimate.llm.document import step_text
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import bound_of, request_sentences
from roofline.estimate.llm.serving import request_of
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.llm.thresholds import class_of, thresholds_of
from roofline.estimate.on_device import COMPUTE
from tests.narrowing import known

LOADS: tuple[dict[str, Any], ...] = (
    {"phase": "decode", "batch": 1, "context": 512},
    {"phase": "decode", "batch": 256, "context": 4096},
    {"phase": "prefill", "batch": 4, "seq": 1024},
    {"phase": "train", "batch": 1, "seq": 4096},
)
GROUPS: tuple[dict[str, Any], ...] = (
    *({}, {"tp": 2}, {"tp": 4, "dp": 16}, {"dp": 8, "zero": 1}),
    *({"ep": 8}, {"tp": 2, "ep": 4, "dp": 2, "zero": 3}, {"pp": 2}),
    *({"tp": 2, "sequence_parallel": True}, {"cp": 2}, {"tp": 16, "gpus_per_node": 4}),
    {"pp": 2, "virtual": 2, "batch": 4, "microbatches": 2},
)


def step(model: str, device: str, **options: Any) -> Step:
    return step_of(preset(model), workload(PredictOptions(**options)), known_part(device))


def at_batch(found: Step, batch: int) -> Step:
    return step_of(found.model, replace(found.load, batch=batch), found.part)


@pytest.mark.parametrize("model", list(presets()))
def test_rows_at_a_threshold_are_compute_bound_and_not_before(model: str) -> None:
    found = step(model, "h100-sxm", context=512)
    for kind, one in known(thresholds_of(found)).classes.items():
        if one.batch is None:
            continue
        before, after = (at_batch(found, size) for size in (one.batch - 1, one.batch))
        rows = [t for t in after.ops if class_of(t.op) == kind and t.op.name not in one.never]
        assert {t.bound for t in rows} == {COMPUTE}
        names = {t.op.name for t in rows}
        if one.batch > 1:
            assert any(t.bound != COMPUTE for t in before.ops if t.op.name in names)


@pytest.mark.parametrize("model", list(presets()))
def test_the_longest_context_is_the_last_one(model: str) -> None:
    found = step(model, "h100-sxm", context=64)
    limits = known(thresholds_of(found))
    if limits.context is None:
        assert limits.context_note in ("all", "none")
        return
    for keys, holds in ((limits.context, True), (limits.context + 1, False)):
        far = step_of(found.model, replace(found.load, cached=keys - 1, batch=2**24), found.part)
        assert (far.bound == COMPUTE) is holds


def test_no_sentence_names_a_bound_that_a_row_denies() -> None:
    found = step("mixtral-8x7b", "h100-sxm", batch=400, context=512)
    text = step_text(found, "mixtral-8x7b")
    products = "Dense products of the layers are compute-bound from batch 346 (the first from 336)"
    assert products in text
    assert "the routed experts, 8 with 2 active, are compute-bound from batch 1,303" in text
    bounds = {t.op.name: t.bound for t in found.ops}
    assert bounds["qkv_proj"] == "compute"
    assert bounds["expert_down"] == "memory"


@pytest.mark.covers(155)
def test_prefill_says_from_how_many_tokens() -> None:
    found = step("llama-3-8b", "h100-sxm", phase="prefill", seq=2048)
    least = known(known(thresholds_of(found)).prompt)
    sizes = [replace(found.load, new_tokens=size) for size in (least - 1, least)]
    assert [step_of(found.model, one, found.part).bound for one in sizes] == ["memory", "compute"]
    assert thresholds_of(step("llama-3-8b", "h100-sxm", phase="train", seq=64)) is None


DEVICES = ("tpu-v5e", "tpu-v7x", "mi300x", "t4", "gb300", "trainium2", "h20", "gaudi3", "l4")
"""Each beside an H100 for some models and groups: a torus, a mesh, and links that are not known."""


def devices_of(model: str, group: dict[str, Any]) -> tuple[str, str]:
    place = list(presets()).index(model) + 4 * GROUPS.index(group)
    return "h100-sxm", DEVICES[place % len(DEVICES)]


def test_collectives_of_the_same_links_take_turns() -> None:
    """On a torus gradients hide behind work, and not behind an exchange on the same links."""
    options: dict[str, Any] = {"phase": "train", "seq": 4096, "tp": 2, "ep": 4, "dp": 2, "zero": 3}
    found = step("mixtral-8x7b", "tpu-v7x", **options)
    sums = found.step_us
    assert found.bound == "link"
    assert sums["scheduled"] == sums["overlap"] == found.clock_sums_us["link"]
    exposed = found.schedule.exposed_us
    assert exposed["dp"] > 0


def _can_be(model: ModelConfig, phase: str, device: str, group: dict[str, Any]) -> bool:
    chunks = group.get("pp", 1) * group.get("virtual", 1)
    return not (
        (group.get("zero") and phase != "train")
        or (group.get("cp") and phase == "decode")
        or (group.get("gpus_per_node") and device.startswith(("tpu", "trainium2")))
        or group.get("ep", 1) > max(model.experts, 1)
        or model.heads % group.get("tp", 1)
        or ("virtual" in group and model.layers % chunks)
    )


@pytest.mark.parametrize("model", list(presets()))
def test_both_phases_of_a_request_are_named_as_their_rows_have_it(model: str) -> None:
    """On each part a phase is said to be bound by what takes most of it, and a row is, too; the
    threshold that a step's text names is where its own rows turn."""
    for device, batch in (("h100-sxm", 1), ("h200", 64), ("mi300x", 8), ("b200", 16)):
        given = PredictOptions(phase="request", prompt=1024, output=8, batch=batch, tp=8)
        found = request_of(preset(model), given, known_part(device))
        said = list(request_sentences(found))
        for phase, sentence in (("prefill", said[0]), ("decode", said[1])):
            size = {"seq": 1024} if phase == "prefill" else {"context": 1028}
            rows = step(model, device, phase=phase, batch=batch, tp=8, **size)
            words = sentence.partition(" is ")[2].partition(" (")[0]
            assert words == bound_of(rows, known(rows.bound)), (device, batch, sentence)
            assert rows.bound in {timed.bound for timed in rows.ops}


@pytest.mark.parametrize("group", GROUPS, ids=str)
@pytest.mark.parametrize("model", list(presets()))
def test_sums_are_in_order(model: str, group: dict[str, Any]) -> None:
    for options, device in product(LOADS, devices_of(model, group)):
        if not _can_be(preset(model), options["phase"], device, group):
            continue
        found = step(model, device, **options | group)
        if not found.is_timed:
            assert found.notes and found.bound is None, "an unknown rate is said, and binds nothing"
            continue
        sums = {name: known(value) for name, value in found.step_us.items()}
        order = ("overlap", "scheduled", "serial", "no_overlap")
        times = [sums[name] for name in order if name in sums]
        assert all(a <= b * (1 + 1e-12) for a, b in pairwise(times)), sums
        if not group:  # the text asks for thresholds and levers, too
            assert f"is {bound_of(found, known(found.bound))} (" in step_text(found, model)
        assert found.bound in {timed.bound for timed in found.ops}, "a row has the bound, too"
        expected = found.expected
        assert expected is None or expected.low_us >= sums["scheduled"] * 0.999

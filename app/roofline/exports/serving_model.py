"""Which published model a server runs, told by the sizes of its operations.

Hidden size and vocabulary are those of the head, the product with most columns; layers are calls of
attention per step. With these a prediction says what other batches and contexts would cost.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.serving_records import ServingGroup
from roofline.model.units import PS_PER_S, PS_PER_US

_PRODUCT = re.compile(r"\w+\[(\d+),(\d+)\]\S*; \w+\[(\d+),(\d+)\]\S*\Z")
_EXPERTS = re.compile(r"experts .* (mxfp4|fp8e4nv)\b")
_BATCHES = (1, 8, 32, 128, 256)
_EXPERT_TYPES = {"mxfp4": "mxfp4", "fp8e4nv": "fp8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """The name of a preset of `roofline predict`, and the sizes that told it."""

    name: str
    hidden: int
    vocabulary: int
    layers: int
    command: str


def served_model(analysis: RooflineAnalysis) -> ServedModel | None:
    """The one published model with these sizes; `None` where none or several have them."""
    if analysis.serving is None:
        return None
    head, layers = _head(analysis), _layers(analysis)
    if head is None or not layers:
        return None
    from roofline.estimate.llm.config import presets  # only servers need it

    hidden, vocabulary = head
    names = [
        name
        for name, one in presets().items()
        if (one.hidden, one.vocabulary, one.layers) == (hidden, vocabulary, layers)
    ]
    if len(names) != 1:
        return None
    return ServedModel(
        name=names[0],
        hidden=hidden,
        vocabulary=vocabulary,
        layers=layers,
        command=_command(names[0], analysis),
    )


def _head(analysis: RooflineAnalysis) -> tuple[int, int] | None:
    """Rows and columns of the widest right factor."""
    factors = [
        (int(match[3]), int(match[4]))
        for text in analysis.profile.ops.operands
        if (match := _PRODUCT.match(text)) and match[2] == match[3]
    ]
    return max(factors, key=lambda sizes: sizes[1], default=None)


def _layers(analysis: RooflineAnalysis) -> int:
    """Calls of attention in one step of one core; 0 where steps differ."""
    ops = analysis.profile.ops
    counted = zip(ops.category, ops.occurrences.tolist(), strict=True)
    calls = sum(count for category, count in counted if category == "attention")
    steps = len(analysis.profile.steps) * max(analysis.device.core_count, 1)
    return calls // steps if steps and calls % steps == 0 else 0


class _Asked(NamedTuple):
    """Batch and context of the decode steps that ran most often, and how experts are stored."""

    batch: int
    context: int
    expert_weights: str | None


def _asked(analysis: RooflineAnalysis) -> _Asked | None:
    groups = analysis.serving.groups if analysis.serving is not None else ()
    decode = [one for one in groups if _is_known(one)]
    if not decode:
        return None
    one = max(decode, key=lambda group: group.steps)
    stored = next((match[1] for op in analysis.ops.name if (match := _EXPERTS.search(op))), "")
    return _Asked(
        batch=round(one.sequences or 1),
        context=max(round((one.context_tokens or 0) / (one.sequences or 1)), 1),
        expert_weights=_EXPERT_TYPES.get(stored),
    )


def _is_known(group: ServingGroup) -> bool:
    return group.phase == "decode" and bool(group.sequences and group.context_tokens)


def _command(name: str, analysis: RooflineAnalysis) -> str:
    """The prediction of the decode steps that ran most often."""
    asked, words = _asked(analysis), ["roofline predict", name, "--phase decode"]
    if asked is not None:
        words += [f"--batch {asked.batch}", f"--context {asked.context}"]
        words += [f"--expert-weights {asked.expert_weights}"] if asked.expert_weights else []
    words += [f"--device {analysis.device.part_id}"] if analysis.device.part_id else []
    return " ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One decode step of the served model at its roofs, one operation after the other."""

    batch: int
    context: int
    step_us: float
    tokens_per_s: float


def curve(analysis: RooflineAnalysis) -> tuple[CurvePoint, ...]:
    """Decode steps of other batches and contexts; empty without a known model, device or length.

    The model runs on one device in bf16, with the experts stored as in the profile.
    """
    model, asked = served_model(analysis), _asked(analysis)
    part_id = analysis.device.part_id
    if model is None or asked is None or not part_id or analysis.device.core_count > 1:
        return ()
    batches = sorted({*_BATCHES, asked.batch})
    contexts = sorted({max(asked.context // 4, 1), asked.context, 4 * asked.context})
    found = (
        _predicted(model.name, part_id, asked._replace(batch=batch, context=context))
        for context in contexts
        for batch in batches
    )
    return tuple(point for point in found if point is not None)


def _predicted(name: str, part_id: str, asked: _Asked) -> CurvePoint | None:
    from roofline.devices.choice import known_part
    from roofline.estimate.llm.config import preset
    from roofline.estimate.llm.request import PredictOptions, workload
    from roofline.estimate.llm.step import step_of

    options = PredictOptions(
        batch=asked.batch, context=asked.context, expert_weights=asked.expert_weights
    )
    step_us = step_of(preset(name), workload(options), known_part(part_id)).step_us.get("serial")
    if not step_us:
        return None
    rate = asked.batch / (step_us * PS_PER_US / PS_PER_S)
    return CurvePoint(batch=asked.batch, context=asked.context, step_us=step_us, tokens_per_s=rate)

"""From which batch products with weights are compute-bound, and up to which context a step can be.

A decode step multiplies each active parameter once per sequence, and reads every weight once and
the cache of each sequence. Beyond `context` no batch makes it compute-bound.
"""

from dataclasses import dataclass

from roofline.estimate.element_types import bytes_per_element
from roofline.estimate.llm.memory import cache_bytes_per_token
from roofline.estimate.llm.step import Step
from roofline.estimate.on_device import COMPUTE, MEMORY


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """`batch` is the least one for products (weights alone), `context` the longest in tokens, and
    `batch_at_context` the least batch for the whole decode step at the step's own context: `None`
    where no batch is enough. `ridge` is FLOP per byte of what they rest on."""

    ridge: float
    batch: float
    context: float | None
    batch_at_context: float | None


def thresholds_of(step: Step) -> Thresholds | None:
    """The thresholds of the step's model and element types; `None` where a peak is not known."""
    unit, memory = step.peaks[COMPUTE].value, step.peaks[MEMORY].value
    if not unit or not memory:
        return None
    ridge = unit / memory
    size = bytes_per_element(step.load.weights)
    model = step.model
    active = model.active_parameters / step.load.tp
    spare = 2 * active / ridge - _cache(step, step.load.context)
    held = (active + _idle_experts(step)) * size
    return Thresholds(
        ridge=ridge,
        batch=ridge * size / 2,
        context=_longest(step, 2 * active / ridge),
        batch_at_context=held / spare if spare > 0 else None,
    )


def _idle_experts(step: Step) -> float:
    """Parameters of experts that one token does not use, and a batch that large does."""
    model = step.model
    idle = model.experts - model.active_experts
    return model.expert_layers * idle * model.one_expert_parameters / step.load.tp


def _cache(step: Step, tokens: float) -> float:
    """Bytes of keys and values that one sequence of so many tokens reads."""
    full, windowed = cache_bytes_per_token(step.model, step.load)
    return full * tokens + windowed * min(tokens, step.model.window)


def _longest(step: Step, allowed: float) -> float | None:
    """The context at which the cache of a sequence has `allowed` bytes; `None`: at none."""
    full, windowed = cache_bytes_per_token(step.model, step.load)
    inside = allowed / (full + windowed)
    if not windowed or inside <= step.model.window:
        return inside
    return (allowed - windowed * step.model.window) / full if full else None

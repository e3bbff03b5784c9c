"""How a step changes with its batch and its context, and where compute begins to bind it.

From which batch products with weights are compute-bound, and up to which context a step can be.

A decode step multiplies each active parameter once per sequence, and reads every weight once and
the cache of each sequence. Beyond `context` no batch makes it compute-bound.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import cache_bytes_per_token, memory_bytes
from roofline.estimate.llm.step import Step, peaks_of
from roofline.estimate.llm.workload import Workload
from roofline.estimate.on_device import COMPUTE, MEMORY
from roofline.estimate.work import bytes_per_element


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A step at one batch or context: serial time in µs, tokens per second of a device."""

    at: int
    time_us: float
    tokens_per_s: float


def with_context(load: Workload, tokens: int) -> Workload:
    """The load at so many keys of a sequence; a prefill or a training step gets new tokens."""
    if load.phase in ("decode", "mixed"):
        return replace(load, cached=max(tokens - load.new_tokens, 0))
    return replace(load, new_tokens=tokens)


def over_batch(
    model: ModelConfig, load: Workload, part: Part, batches: Iterable[int]
) -> tuple[CurvePoint, ...]:
    """Steps at each batch; those that cannot be, and those without a time, are left out."""
    return _points(model, part, ((one, replace(load, batch=one)) for one in batches))


def over_context(
    model: ModelConfig, load: Workload, part: Part, contexts: Iterable[int]
) -> tuple[CurvePoint, ...]:
    """Steps at each context; those that cannot be, and those without a time, are left out."""
    return _points(model, part, ((one, with_context(load, one)) for one in contexts))


def _points(
    model: ModelConfig, part: Part, loads: Iterable[tuple[int, Workload]]
) -> tuple[CurvePoint, ...]:
    found, peaks = [], None
    for at, load in loads:
        peaks = peaks or peaks_of(part, load)
        try:
            step = peaks.step(model, load)
        except BadViewError:  # a batch that the microbatches do not divide, for example
            continue
        time, rate = step.step_us["serial"], step.tokens_per_s_per_device
        if time and rate:
            found.append(CurvePoint(at=at, time_us=time, tokens_per_s=rate))
    return tuple(found)


def most_that_fits(model: ModelConfig, load: Workload, part: Part, *, of: str) -> float | None:
    """The largest batch, or context, that the part's memory holds; `None` where it is not known.

    `of` is "batch" or "context". Below 1 where not even one fits; training holds the same for all.
    """
    size = part.value("memory_bytes")
    if size is None or load.phase == "train":
        return None
    low, high = 0, _FAR
    while high - low > 1:
        middle = (low + high) // 2
        at = replace(load, batch=middle) if of == "batch" else with_context(load, middle)
        low, high = (middle, high) if memory_bytes(model, at) <= size else (low, middle)
    return float(low)


_FAR = 10**9

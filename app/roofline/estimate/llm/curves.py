"""How a step changes with its batch and with its context on one part."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import memory_bytes
from roofline.estimate.llm.step import peaks_of
from roofline.estimate.llm.workload import Workload


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

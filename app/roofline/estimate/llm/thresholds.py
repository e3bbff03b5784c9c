"""How a step changes with its batch and its context, and where compute begins to bind it.

Thresholds are found on the step itself: the function that fills its table, at other batches and
contexts. What they say at a batch is what the table shows there. Clocks are those of the device;
links and network do not count.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import WEIGHTS, activation_bytes, memory_bytes
from roofline.estimate.llm.rank import ModelOp
from roofline.estimate.llm.step import Step, StepPeaks, TimedOp, peaks_of, step_of
from roofline.estimate.llm.workload import Workload
from roofline.estimate.on_device import COMPUTE, LINK, MEMORY, NETWORK
from roofline.estimate.ops import bytes_per_element, least

_KEPT = 64  # a page asks several times for the thresholds of the same devices
MOST_BATCH = 2**24
_MOST_CONTEXT = 2**26
_MOST_TOKENS = 2**24
PRODUCTS, EXPERTS, ATTENTION, HEAD = "products", "experts", "attention", "head"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """From which batch the ops of a class are compute-bound: the `first`, and all that ever are
    (`batch`); `None` where none is. `never` names ops that are at no batch."""

    first: int | None
    batch: int | None
    never: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where compute begins to bind. `ridge` is FLOP per byte of products in the layers.

    `closed_form` is the batch of a product by weights alone, ridge · w / 2. Of decode, `classes`
    are those of ops, `batch_at_context` the least batch for a whole step at its context (`None`:
    none), `context` the longest in tokens at which there is such a batch, `context_note` "all" or
    "none" in its place. Of prefill, `prompt` is the least number of new tokens for a whole step.
    """

    ridge: float
    closed_form: float
    classes: Mapping[str, Turning] = field(default_factory=dict)
    batch_at_context: int | None = None
    context: int | None = None
    context_note: str | None = None
    prompt: int | None = None


def thresholds_of(step: Step) -> Thresholds | None:
    """The thresholds of the step's model and element types; `None` where a peak is not known, in
    training and in a mixed step."""
    return _thresholds_of(step.model, step.load, step.part)


@lru_cache(_KEPT)
def _thresholds_of(model: ModelConfig, load: Workload, part: Part) -> Thresholds | None:
    step = step_of(model, load, part)
    unit, memory = step.peaks[COMPUTE].value, step.peaks[MEMORY].value
    if not unit or not memory or step.load.phase not in ("decode", "prefill"):
        return None
    ridge = unit / memory
    closed = ridge * bytes_per_element(step.load.weights) / 2
    found = _Search(step)
    if not all(timed.bound for timed in step.ops if not timed.op.sent):
        return None
    if step.load.phase == "prefill":
        return Thresholds(ridge=ridge, closed_form=closed, prompt=found.prompt)
    context, note = found.longest
    return Thresholds(
        ridge=ridge,
        closed_form=closed,
        classes=found.classes,
        batch_at_context=least(lambda size: _is_compute(found.batch(size)), MOST_BATCH),
        context=context,
        context_note=note,
    )


def hidden_from(step: Step) -> int | None:
    """The least tokens of a sequence from which gathers and scatters of shared weights hide behind
    the work of layers; `None` where they never do, and where nothing is shared."""
    load = step.load
    if load.zero != WEIGHTS or not step.is_timed:
        return None
    peaks = peaks_of(step.part, load)

    def is_hidden(tokens: int) -> bool:
        longer = replace(load, new_tokens=tokens)
        return peaks.step(step.model, longer).schedule.is_hidden

    return _least_tokens(load, is_hidden)


def _least_tokens(load: Workload, holds: Callable[[int], bool]) -> int | None:
    """The least tokens of a sequence, equal parts for the ranks of its context, that hold."""
    found = least(lambda parts: holds(parts * load.cp), _MOST_TOKENS // load.cp)
    return None if found is None else found * load.cp


def class_of(op: ModelOp) -> str | None:
    """The class of an op with matrix products; the router belongs to none."""
    if not op.matrix:
        return None
    if op.is_attention:
        return ATTENTION
    if op.is_layer_product:
        return EXPERTS if op.name.startswith("expert_") else PRODUCTS
    return HEAD if op.name == "lm_head" else None


class _Search:
    """Steps like the given one at other batches and contexts, each computed once."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._peaks: StepPeaks = peaks_of(step.part, step.load)
        self._known: dict[tuple[int, int, int], Step] = {}

    def at(self, batch: int, new_tokens: int, cached: int) -> Step:
        """The step of so many sequences in each microbatch."""
        key = batch, new_tokens, cached
        if key not in self._known:
            whole = batch * self._step.load.microbatches
            load = replace(self._step.load, batch=whole, new_tokens=new_tokens, cached=cached)
            self._known[key] = self._peaks.step(self._step.model, load)
        return self._known[key]

    def batch(self, size: int) -> Step:
        """The step at its own context."""
        return self.at(size, self._step.load.new_tokens, self._step.load.cached)

    @property
    def prompt(self) -> int | None:
        """The least number of new tokens of each sequence at which compute binds the step."""
        load = self._step.load
        batch = load.batch // load.microbatches
        return _least_tokens(load, lambda size: _is_compute(self.at(batch, size, load.cached)))

    @cached_property
    def classes(self) -> Mapping[str, Turning]:
        """The classes that the model has."""
        found: dict[str, dict[str, int | None]] = {}
        for place, timed in enumerate(self._step.ops):
            kind = class_of(timed.op)
            if kind is not None:
                found.setdefault(kind, {})[timed.op.name] = least(
                    lambda size, at=place: self._ops(size)[at].bound == COMPUTE,  # type: ignore[misc]
                    MOST_BATCH,
                )
        return {kind: _turning(batches) for kind, batches in found.items()}

    def _ops(self, size: int) -> tuple[TimedOp, ...]:
        return self.batch(size).ops

    @property
    def longest(self) -> tuple[int | None, str | None]:
        """The longest context at which some batch makes the whole step compute-bound."""
        new = self._step.load.new_tokens

        def is_beyond(context: int) -> bool:
            return not _is_compute(self.at(MOST_BATCH, new, context - new))

        if is_beyond(new):
            return None, "none"
        beyond = least(is_beyond, _MOST_CONTEXT, new)
        return (None, "all") if beyond is None else (beyond - 1, None)


def _is_compute(step: Step) -> bool:
    sums = {name: us for name, us in step.clock_sums_us.items() if name not in (LINK, NETWORK)}
    return max(sums, key=sums.__getitem__) == COMPUTE


def _turning(batches: Mapping[str, int | None]) -> Turning:
    known = [size for size in batches.values() if size is not None]
    return Turning(
        first=min(known, default=None),
        batch=max(known, default=None),
        never=tuple(name for name, size in batches.items() if size is None),
    )


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
        time, rate = step.step_us["scheduled"], step.tokens_per_s_per_device
        if time and rate:
            found.append(CurvePoint(at=at, time_us=time, tokens_per_s=rate))
    return tuple(found)


def most_that_fits(model: ModelConfig, load: Workload, part: Part, *, of: str) -> float | None:
    """The largest batch, or context, that the part's memory holds; `None` where it is not known.

    `of` is "batch" or "context". Below 1 where not even one fits; training counts activations.
    """
    size = part.value("memory_bytes")
    if size is None:
        return None

    def is_full(number: int) -> bool:
        at = replace(load, batch=number) if of == "batch" else with_context(load, number)
        return memory_bytes(model, at) + activation_bytes(model, at) > size

    return float((least(is_full, _FAR) or _FAR) - 1)


_FAR = 10**9

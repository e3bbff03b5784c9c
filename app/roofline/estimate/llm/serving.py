"""A request of a language model: a prefill, then a decode step for each further token.

All sequences of the batch start together; `continuous` is a server whose slots are always full.
The sum over steps is exact: a step's numbers are straight lines of its context between a few
places, which are found by halving.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import memory_bytes
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import Step, StepPeaks, peaks_of, step_of
from roofline.estimate.llm.thresholds import class_of
from roofline.estimate.llm.workload import Workload, kept_tokens
from roofline.estimate.ops import bytes_per_element, least
from roofline.model.units import US_PER_S

Sums = dict[str, float]
_NEAR = 1e-9
_LEAST_GAIN = 1.05
_SHOWN = 3
_GUESSED, _ACCEPTED = 4, 0.7
_BOUND, _SHARE, _CLOCK = "bound:", "share:", "clock:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """A change and how many times as fast the phase is with it, per token. With `is_assumed` the
    gain holds if the words are true; `latency_ratio` is the step's time over that before."""

    change: str
    gain: float
    is_assumed: bool = False
    latency_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseOfRequest:
    """Prefill, or all decode steps: times in µs, FLOPs of the matrix unit, bytes of the memory.

    `shares` are those of the time by class of op, `bound` the resource that binds the steps with
    most of the time.
    """

    steps: int
    serial_us: float
    overlap_us: float
    no_overlap_us: float
    expected_us: tuple[float, float] | None
    flops: float
    bytes: float
    bytes_by_kind: Mapping[str, float]
    shares: Mapping[str, float]
    bound: str
    levers: tuple[Lever, ...]

    @property
    def intensity(self) -> float | None:
        """Matrix FLOPs per byte."""
        return self.flops / self.bytes if self.bytes else None


@dataclass(frozen=True, kw_only=True)
class Request:
    """`batch` requests of `prompt` and `output` tokens; times in µs. `decode` is `None` where the
    first token is the only one. `kept` are the tokens of a decode step that stay, `peaks` is the
    prefill and `middle` the decode step at half of the output."""

    model: ModelConfig
    part: Part
    prompt: int
    output: int
    load: Workload
    prefill: PhaseOfRequest
    decode: PhaseOfRequest | None
    first_us: float | None
    last_us: float | None
    single_prefill_us: float
    kept: float
    speedup: float | None
    useless_batch: int | None
    peaks: Step
    middle: Step | None

    @property
    def ttft_us(self) -> float:
        """The time to the first token."""
        return self.prefill.serial_us

    @cached_property
    def tpot_us(self) -> float | None:
        """The time per further token."""
        if self.decode is None:
            return None
        if self.speedup is None:
            return self.decode.serial_us / self.decode.steps
        return self.decode.serial_us / (self.output - 1)

    @property
    def latency_us(self) -> float:
        """The time of the whole request."""
        return self.ttft_us + (self.decode.serial_us if self.decode else 0.0)

    @property
    def tokens_per_s(self) -> float:
        """Output tokens of all sequences, which start together."""
        return self.load.batch * self.output / self.latency_us * US_PER_S

    @property
    def tokens_per_s_per_user(self) -> float | None:
        """Further tokens of one sequence."""
        return US_PER_S / self.tpot_us if self.tpot_us else None

    @property
    def tokens_per_s_per_device(self) -> float:
        """Output tokens of all sequences over the devices of a replica."""
        return self.tokens_per_s / self.load.per_replica

    @property
    def continuous_tpot_us(self) -> float | None:
        """With slots that are always full: the prefills of the other slots lie between steps."""
        if self.tpot_us is None:
            return None
        waits = (self.load.batch - 1) / (self.output - 1) * self.single_prefill_us
        return self.tpot_us + waits

    @property
    def continuous_tokens_per_s(self) -> float | None:
        """Output tokens of such a server."""
        if self.tpot_us is None:
            return None
        each = self.single_prefill_us + (self.output - 1) * self.tpot_us / self.load.batch
        return self.output / each * US_PER_S

    @property
    def memory_bytes(self) -> float:
        """The bytes of one device at the longest context."""
        return memory_bytes(self.model, self.last)

    @property
    def last(self) -> Workload:
        """The decode step at the longest context."""
        return replace(self.load, cached=self.prompt + self.output - self.load.new_tokens)

    @property
    def fits(self) -> bool | None:
        """Whether one device holds it; `None` where its memory is not known."""
        size = self.part.value("memory_bytes")
        return None if size is None else self.memory_bytes <= size

    @property
    def bound(self) -> str:
        """That of the phase that takes longer."""
        decode = self.decode
        longer = decode if decode and decode.serial_us > self.ttft_us else self.prefill
        return longer.bound


def request_of(
    model: ModelConfig, given: PredictOptions, part: Part, draft: ModelConfig | None = None
) -> Request:
    """The request that `given` means (phase "request"); `BadViewError` says what cannot be."""
    prompt, output = _checked(given, draft)
    loads = _Loads(given)
    whole = step_of(model, loads.prefill, part)
    if not whole.is_timed:
        raise BadViewError(" ".join(whole.notes), remedy="Choose other element types, or a part.")
    decoding = _Decoding(model, part, loads, draft)
    decode = decoding.phase() if output > 1 else None
    single = step_of(model, replace(loads.prefill, batch=1, microbatches=1, virtual=1), part)
    ends = (decoding.time(0), decoding.time(decoding.steps - 1)) if decode else (None, None)
    return Request(
        model=model,
        part=part,
        prompt=prompt,
        output=output,
        load=loads.decode(0),
        prefill=_phase(_sums(whole), 1, tuple(levers(whole))),
        decode=decode,
        first_us=ends[0],
        last_us=ends[1],
        single_prefill_us=single.step_us["serial"] or 0.0,
        kept=loads.kept,
        speedup=decoding.speedup() if decode and loads.guessed > 1 else None,
        useless_batch=decoding.useless_batch() if decode and loads.guessed > 1 else None,
        peaks=whole,
        middle=decoding.step(decoding.steps // 2) if decode else None,
    )


def _checked(given: PredictOptions, draft: ModelConfig | None) -> tuple[int, int]:
    prompt, output = given.prompt, given.output
    if prompt is None or output is None:
        raise BadViewError("A request needs --prompt and --output.", remedy="Give both, in tokens.")
    for name, value in (("output", output), ("prompt", prompt)):
        if value < 1:
            raise BadViewError(f"--{name} is a whole number from 1.", remedy="Give tokens.")
    if given.cached >= prompt:
        raise BadViewError(
            "At least one token of the prompt is new: --cached is below --prompt.",
            remedy="Give fewer cached tokens.",
        )
    if given.seq is not None or given.context is not None:
        raise BadViewError(
            "--seq and --context are of single steps; a request has --prompt and --output.",
            remedy="Leave them out.",
        )
    if draft is not None and (given.new_tokens or 1) < 2:
        raise BadViewError(
            "A draft needs --new-tokens, the tokens that are checked at once.",
            remedy="Give --new-tokens 4, for example.",
        )
    if (given.new_tokens or 1) > 1 and given.acceptance is None:
        raise BadViewError(
            "Guessed tokens need --acceptance, the share of them that is right.",
            remedy="Give a number from 0 to 1.",
        )
    return prompt, output


@dataclass(frozen=True)
class _Loads:
    """The steps of a request: `decode(0)` is the first one after the prefill."""

    given: PredictOptions

    @property
    def prompt(self) -> int:
        return self.given.prompt or 1

    @property
    def guessed(self) -> int:
        return self.given.new_tokens or 1

    @cached_property
    def kept(self) -> float:
        share = self.given.acceptance
        return 1.0 if share is None or self.guessed == 1 else kept_tokens(self.guessed, share)

    @property
    def steps(self) -> int:
        return ceil(((self.given.output or 1) - 1) / self.kept)

    @cached_property
    def prefill(self) -> Workload:
        new = self.prompt - self.given.cached
        return workload(
            replace(self.given, phase="prefill", seq=new, new_tokens=None, acceptance=None)
        )

    @cached_property
    def _first(self) -> Workload:
        context = self.prompt + self.guessed
        return workload(replace(self.given, phase="decode", context=context, cached=0))

    def decode(self, number: int) -> Workload:
        """The step after `number` others; its new tokens are part of its context."""
        return replace(self._first, cached=self.prompt + round(number * self.kept))

    def draft(self, number: int) -> Workload:
        return replace(self.decode(number), new_tokens=1, all_logits=False, acceptance=None)


class _Decoding:
    """The decode steps of a request."""

    def __init__(
        self, model: ModelConfig, part: Part, loads: _Loads, draft: ModelConfig | None
    ) -> None:
        self._model, self._loads, self._draft = model, loads, draft
        self._peaks: StepPeaks = peaks_of(part, loads.decode(0))
        self._known: dict[int, Sums] = {}
        self.steps = loads.steps

    def step(self, number: int) -> Step:
        return self._peaks.step(self._model, self._loads.decode(number))

    def sums(self, number: int) -> Sums:
        """A step, and the steps of the draft before it."""
        if number not in self._known:
            found = _sums(self.step(number))
            if self._draft is not None:
                ahead = _sums(self._peaks.step(self._draft, self._loads.draft(number)))
                times = self._loads.guessed - 1
                found = {
                    name: found.get(name, 0.0) + times * ahead.get(name, 0.0)
                    for name in {**found, **ahead}
                }
            self._known[number] = found
        return self._known[number]

    def time(self, number: int) -> float:
        return self.sums(number)["serial"]

    def phase(self) -> PhaseOfRequest:
        middle = self.step(self.steps // 2)
        return _phase(_summed(self.sums, 0, self.steps - 1), self.steps, tuple(levers(middle)))

    def speedup(self) -> float:
        """Kept tokens of a step at half of the output over those of plain decode in its time."""
        return self._speedup(self._loads.decode(self.steps // 2).batch)

    def useless_batch(self) -> int | None:
        """The least batch at which guessing no longer helps; `None` where it always does."""
        return least(lambda batch: self._speedup(batch) <= 1, _MOST_BATCH)

    def _speedup(self, batch: int) -> float:
        at = self.steps // 2
        check = replace(self._loads.decode(at), batch=batch, microbatches=1, virtual=1)
        plain = replace(self._loads.draft(at), batch=batch, microbatches=1, virtual=1)
        taken = self._peaks.step(self._model, check).step_us["serial"] or 0.0
        if self._draft is not None:
            ahead = self._peaks.step(self._draft, plain).step_us["serial"] or 0.0
            taken += (self._loads.guessed - 1) * ahead
        one = self._peaks.step(self._model, plain).step_us["serial"] or 0.0
        return self._loads.kept * one / taken


_MOST_BATCH = 2**20


def _sums(step: Step) -> Sums:
    """The numbers of a step that add up over steps."""
    sums = step.step_us
    serial = sums["serial"] or 0.0
    found = {
        "serial": serial,
        "overlap": sums["overlap"] or 0.0,
        "no_overlap": sums["no_overlap"] or 0.0,
        "flops": step.total(lambda op: op.matrix),
        "bytes": step.total(lambda op: op.bytes),
        "weights": step.total(lambda op: op.weights),
        "kv": step.total(lambda op: op.kv),
        f"{_BOUND}{step.bound}": serial,
    }
    expected = step.expected
    if expected is not None:
        found |= {"low": expected.low_us, "high": expected.high_us}
    for timed in step.ops:
        kind = "collectives" if timed.op.sent else class_of(timed.op) or "other"
        key = f"{_SHARE}{kind}"
        found[key] = found.get(key, 0.0) + timed.counted * (timed.time_us or 0.0)
    return found


def _summed(of: Callable[[int], Sums], first: int, last: int) -> Sums:
    """The sum over all steps from `first` to `last`: trapezoids where they are straight."""
    count = last - first + 1
    if count <= 4:
        return _added([of(at) for at in range(first, last + 1)])
    ends = of(first), of(last)
    places = [first + (last - first) * k // 4 for k in (1, 2, 3)]
    if all(_is_between(of(at), ends, (at - first) / (last - first)) for at in places):
        names = {**ends[0], **ends[1]}
        return {k: (ends[0].get(k, 0.0) + ends[1].get(k, 0.0)) / 2 * count for k in names}
    middle = places[1]
    return _added([_summed(of, first, middle), _summed(of, middle + 1, last)])


def _is_between(found: Sums, ends: tuple[Sums, Sums], share: float) -> bool:
    low, high = ends
    for name in {**found, **low, **high}:
        straight = (1 - share) * low.get(name, 0.0) + share * high.get(name, 0.0)
        if abs(found.get(name, 0.0) - straight) > _NEAR * max(abs(straight), 1.0):
            return False
    return True


def _added(every: list[Sums]) -> Sums:
    total: Sums = {}
    for one in every:
        for name, value in one.items():
            total[name] = total.get(name, 0.0) + value
    return total


def _phase(sums: Sums, steps: int, found: tuple[Lever, ...]) -> PhaseOfRequest:
    bounds = {name: us for name, us in sums.items() if name.startswith(_BOUND)}
    shares = {name: us for name, us in sums.items() if name.startswith(_SHARE)}
    taken = sum(shares.values()) or 1.0
    return PhaseOfRequest(
        steps=steps,
        serial_us=sums["serial"],
        overlap_us=sums["overlap"],
        no_overlap_us=sums["no_overlap"],
        expected_us=(sums["low"], sums["high"]) if "low" in sums else None,
        flops=sums["flops"],
        bytes=sums["bytes"],
        bytes_by_kind={kind: sums[kind] for kind in ("weights", "kv")},
        shares={name.removeprefix(_SHARE): us / taken for name, us in shares.items()},
        bound=max(bounds, key=bounds.__getitem__).removeprefix(_BOUND),
        levers=found,
    )


# ----------------------------------------------------------------------------------------- levers


def levers(step: Step) -> Iterator[Lever]:
    """What would make a step of prefill or decode faster: each change computed on the step itself.

    Changes that the memory does not hold, or that the part has no unit for, are left out, and so
    are gains below 1.05; the largest come first.
    """
    if not step.is_timed or step.load.phase not in ("prefill", "decode"):
        return
    found = [one for one in _levers(step) if one.gain >= _LEAST_GAIN]
    yield from sorted(found, key=lambda one: -one.gain)[:_SHOWN]


def _levers(step: Step) -> Iterator[Lever]:
    before = step.step_us["serial"] or 0.0
    for change, load, tokens, is_assumed in _changes(step):
        try:
            after = step_of(step.model, load, step.part)
        except BadViewError:
            continue
        serial = after.step_us["serial"]
        if serial and after.fits is not False:
            more = serial / before if load.batch > step.load.batch else None
            yield Lever(
                change=change,
                gain=tokens * before / serial,
                is_assumed=is_assumed,
                latency_ratio=more,
            )


def _changes(step: Step) -> Iterator[tuple[str, Workload, float, bool]]:
    """A change in words, the load with it, tokens per step over those before, and whether the
    gain rests on an assumption."""
    load = step.load
    size = bytes_per_element(load.weights)
    is_decode = load.phase == "decode"
    if size > 1:
        yield "fp8 weights", replace(load, weights="fp8"), 1.0, False
    if size >= 1:
        if load.compute != "fp8":
            yield "fp8 products", replace(load, weights="fp8", compute="fp8"), 1.0, False
        yield "int4 weights", replace(load, weights="int4:g128"), 1.0, False
    if is_decode and bytes_per_element(load.kv) > 1:
        yield "fp8 keys and values", replace(load, kv="fp8"), 1.0, False
    if is_decode:
        yield "twice the batch", replace(load, batch=2 * load.batch), 2.0, False
    if is_decode and load.new_tokens == 1:
        guess = replace(load, new_tokens=_GUESSED, all_logits=True, causal=True)
        kept = kept_tokens(_GUESSED, _ACCEPTED)
        yield f"{_GUESSED} tokens at once, if 70 % of guesses are right", guess, kept, True
    if not is_decode and not load.cached and load.new_tokens > 1:
        half = load.new_tokens // 2
        cached = replace(load, new_tokens=load.new_tokens - half, cached=half)
        yield "a prefix cache, if half of the prompt is in it", cached, 1.0, True
    shape = step.part.topology
    if shape and shape.domain and 2 * load.tp <= shape.domain:
        yield f"tp {2 * load.tp}", replace(load, tp=2 * load.tp), 1.0, False
    if not load.flash:
        yield "flash attention", replace(load, flash=True), 1.0, False

"""A step of a model on a part: the time of each op, three sums, memory, tokens per second.

`overlap` is the longest of the sums of each resource, `serial` the sum of each op's longest, and
`no_overlap` the sum of all: kernels run one after another, so `serial` is the realistic bound.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from roofline.devices.parts import Part
from roofline.devices.sustained import sustained_matrix_rate
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import memory_bytes
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.phases import mixed_ops, training_ops
from roofline.estimate.llm.rank import ModelOp
from roofline.estimate.llm.workload import Workload
from roofline.estimate.on_device import (
    COMPUTE,
    LINK,
    MEMORY,
    VECTOR,
    ChipPeak,
    all_links,
    main_memory,
    matrix_peak,
    unknown_peak,
    vector_peak,
)
from roofline.estimate.work import precision_of
from roofline.model.compute import Precision
from roofline.model.units import US_PER_S

OUTSIDE = "compute_activations"
"""The peak of products outside the layers, at the type of activations."""

_OPS = {"train": training_ops, "mixed": mixed_ops}
_CLOCKS = (COMPUTE, VECTOR, MEMORY, LINK)
_MEMORY_REACHED = 0.9
_DEFAULT = Workload().weights


@dataclass(frozen=True, slots=True)
class TimedOp:
    """An op and its clocks in µs per call; `None` where the peak of a clock is not known.

    `repeats` is how often the op counts into the step: more than once in a pipeline.
    """

    op: ModelOp
    clocks_us: Mapping[str, float | None]
    repeats: int = 1

    @property
    def time_us(self) -> float | None:
        """The longest clock; `None` where one is not known."""
        known = [time for time in self.clocks_us.values() if time is not None]
        return max(known, default=0.0) if len(known) == len(self.clocks_us) else None

    @property
    def bound(self) -> str | None:
        """The longest clock's name; equal ones go to the first."""
        known = {name: time for name, time in self.clocks_us.items() if time is not None}
        return max(known, key=known.__getitem__) if known and self.time_us is not None else None

    @property
    def counted(self) -> float:
        """How many calls the step waits for."""
        return self.op.calls * self.repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The serial time at what programs reach of the peaks, from the best to the least, in µs.

    `matrix` are shares of the matrix unit's peak, `memory` of the main memory's.
    """

    low_us: float
    high_us: float
    matrix: tuple[float, float]
    memory: float
    source: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of one device. `peaks` are those of the layers; `OUTSIDE` that of other products."""

    model: ModelConfig
    load: Workload
    part: Part
    peaks: Mapping[str, ChipPeak]
    ops: tuple[TimedOp, ...]
    notes: tuple[str, ...]

    @cached_property
    def is_timed(self) -> bool:
        """True where every clock is known."""
        return all(timed.time_us is not None for timed in self.ops)

    def total(self, of: Callable[[ModelOp], float]) -> float:
        """A sum over all ops, calls and microbatches of a device; stages that wait do not count."""
        return sum(timed.op.calls * self._runs(timed.op) * of(timed.op) for timed in self.ops)

    def _runs(self, op: ModelOp) -> int:
        return 1 if op.place == "step" else self.load.microbatches

    @property
    def clock_sums_us(self) -> Mapping[str, float]:
        """Time of each resource over the step, where it is known."""
        sums = dict.fromkeys(_CLOCKS, 0.0)
        for timed in self.ops:
            for name, time in timed.clocks_us.items():
                sums[name] += timed.counted * (time or 0.0)
        return sums

    @property
    def step_us(self) -> Mapping[str, float | None]:
        """The three sums; `None` where a peak is not known."""
        if not self.is_timed:
            return dict.fromkeys(("overlap", "serial", "no_overlap"))
        sums = self.clock_sums_us
        return {
            "overlap": max(sums.values()),
            "serial": self._serial({}),
            "no_overlap": sum(sums.values()),
        }

    def _serial(self, reached: Mapping[str, float]) -> float:
        """The sum of each op's longest clock, at the share `reached` of each peak."""
        return sum(
            timed.counted
            * max(
                ((time or 0.0) / reached.get(name, 1.0) for name, time in timed.clocks_us.items()),
                default=0.0,
            )
            for timed in self.ops
        )

    @property
    def expected(self) -> Expected | None:
        """The time at the best rates of real programs, by default shares; `None` without a peak."""
        share = sustained_matrix_rate(self.part.kind)
        if share is None or not self.is_timed:
            return None
        matrix = (share.low_ratio or share.ratio, share.ratio)
        high, low = (self._serial({COMPUTE: ratio, MEMORY: _MEMORY_REACHED}) for ratio in matrix)
        return Expected(
            low_us=low,
            high_us=high,
            matrix=matrix,
            memory=_MEMORY_REACHED,
            source=f"default shares, not fitted to a run ({share.source})",
        )

    @property
    def tokens_per_s(self) -> float | None:
        """New tokens of a step over its serial time, of one replica."""
        serial = self.step_us["serial"]
        return self.load.rows / serial * US_PER_S if serial else None

    @property
    def accepted_tokens_per_s(self) -> float | None:
        """Tokens that stay, of a step that checks guessed ones: (1 - x^T) / (1 - x) per sequence.

        `None` without an acceptance x, and where a peak is not known.
        """
        share, serial = self.load.acceptance, self.step_us["serial"]
        if share is None or not serial:
            return None
        tokens = self.load.new_tokens
        kept = tokens if share == 1 else (1 - share**tokens) / (1 - share)
        return self.load.batch * kept / serial * US_PER_S

    @property
    def tokens_per_s_per_device(self) -> float | None:
        """The same over the devices of one replica."""
        whole = self.tokens_per_s
        return None if whole is None else whole / (self.load.tp * self.load.pp)

    @property
    def memory_bytes(self) -> float:
        """The bytes that one device holds, without activations and workspace."""
        return memory_bytes(self.model, self.load)

    @property
    def capacity_bytes(self) -> float | None:
        """The memory of the part; `None` where it is not known."""
        return self.part.value("memory_bytes")

    @property
    def fits(self) -> bool | None:
        """Whether one device holds it; `None` where its memory is not known."""
        size = self.capacity_bytes
        return None if size is None else self.memory_bytes <= size


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPeaks:
    """The peaks of a part at the element types of a load; they hold for every batch and context."""

    part: Part
    inside: Mapping[str, ChipPeak]
    outside: Mapping[str, ChipPeak]
    notes: tuple[str, str]

    def step(self, model: ModelConfig, load: Workload) -> Step:
        """One step of `model` under `load`; `BadViewError` for a load that cannot be."""
        ops = _OPS.get(load.phase, forward)(model, load)
        timed = tuple(
            _timed(op, self.inside if op.is_layer_product else self.outside, load) for op in ops
        )
        unknown = [
            *_unknown(self.part, self.inside, timed, True),
            *_unknown(self.part, self.outside, timed, False),
        ]
        return Step(
            model=model,
            load=load,
            part=self.part,
            peaks={**self.inside, OUTSIDE: self.outside[COMPUTE]},
            ops=timed,
            notes=tuple(
                note
                for note in dict.fromkeys((*self.notes, _stored_note(model, load), *unknown))
                if note
            ),
        )


def peaks_of(part: Part, load: Workload) -> StepPeaks:
    """The peaks that a step of this load uses on `part`."""
    layer, layer_note = _rate(part, load.compute or load.activations)
    other, other_note = _rate(part, load.activations)
    peaks = {
        COMPUTE: layer,
        VECTOR: vector_peak(part),
        MEMORY: main_memory(part),
        LINK: all_links(part),
    }
    return StepPeaks(
        part=part,
        inside=peaks,
        outside={**peaks, COMPUTE: other},
        notes=(layer_note, other_note),
    )


def _stored_note(model: ModelConfig, load: Workload) -> str:
    """Where the config's weights have fewer bits than the step counts by default."""
    if not model.stored or (load.weights, load.expert_weights) != (_DEFAULT, None):
        return ""
    return (
        f"The config says that its weights are stored as {model.stored}, but this step counts "
        f"{_DEFAULT}: choose the element types of weights and of expert weights."
    )


def step_of(model: ModelConfig, load: Workload, part: Part) -> Step:
    """One step of `model` under `load` on `part`; `BadViewError` for a load that cannot be."""
    return peaks_of(part, load).step(model, load)


def _rate(part: Part, name: str) -> tuple[ChipPeak, str]:
    """The peak at this element type, and a note where fp16 stands in for bf16."""
    precision = precision_of(name)
    peak = matrix_peak(part, precision)
    if precision is Precision.BF16 and not peak.value:
        other = matrix_peak(part, Precision.FP16)
        if other.value:
            return other, f"{part.name} has no unit for bf16: the rate is that of fp16."
    return peak, ""


def _timed(op: ModelOp, peaks: Mapping[str, ChipPeak], load: Workload) -> TimedOp:
    amounts = {COMPUTE: op.matrix, VECTOR: op.vector, MEMORY: op.bytes, LINK: op.link}
    clocks: dict[str, float | None] = {}
    for name, amount in amounts.items():
        rate = peaks[name].value
        if amount:
            clocks[name] = amount / rate * US_PER_S if rate else None
    return TimedOp(op, clocks, _repeats(op, load))


def _repeats(op: ModelOp, load: Workload) -> int:
    """How often a step waits for the op: (m + p - 1) stages, (m + p - 2) ways between them."""
    later = load.microbatches - 1
    return {
        "layer": load.pp + later,
        "boundary": load.pp - 1 + later,
        "last": 1 + later,
        "first": 1 if load.pp > 1 else 1 + later,
        "step": 1,
    }[op.place]


def _unknown(
    part: Part, peaks: Mapping[str, ChipPeak], ops: Sequence[TimedOp], is_layer: bool
) -> Sequence[str]:
    """A sentence for each peak that these ops need and that is not known."""
    needed = {
        name
        for timed in ops
        for name, time in timed.clocks_us.items()
        if time is None and timed.op.is_layer_product is is_layer
    }
    return [unknown_peak(part, peaks[name]) for name in peaks if name in needed]

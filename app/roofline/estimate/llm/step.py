"""A step of a model on a part: the time of each op, three sums, memory, tokens per second.

`overlap` is the longest of the sums of each resource, `serial` the sum of each op's longest, and
`no_overlap` the sum of all: kernels run one after another, so `serial` is the realistic bound.
A collective waits for its latency, too, which nothing overlaps but the sum of everything at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from roofline.devices.parts import Part
from roofline.devices.sustained import sustained_matrix_rate
from roofline.devices.topology import (
    ALL_REDUCE,
    CollectiveTime,
    Topology,
    chips_together,
    topology,
)
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import activation_bytes, memory_bytes
from roofline.estimate.llm.ops import forward, stage_of
from roofline.estimate.llm.phases import Schedule, mixed_ops, scheduled, training_ops
from roofline.estimate.llm.rank import ModelOp, Sent
from roofline.estimate.llm.workload import Workload, kept_tokens
from roofline.estimate.on_device import (
    COMPUTE,
    EXP,
    LINK,
    MEMORY,
    NETWORK,
    VECTOR,
    ChipPeak,
    collective_peaks,
    exp_peak,
    main_memory,
    product_peak,
    unknown_peak,
    vector_peak,
)
from roofline.estimate.ops import sparse_ratio
from roofline.model.units import US_PER_S

OUTSIDE = "compute_activations"
"""The peak of products outside the layers, at the type of activations."""

_OPS = {"train": training_ops, "mixed": mixed_ops}
_CLOCKS = (COMPUTE, VECTOR, EXP, MEMORY, LINK, NETWORK)
_MEMORY_REACHED = 0.9
_LINKS_REACHED = 0.8  # measured: 76 to 82 % inside a domain, 91 to 94 % over a network
_NETWORK_REACHED = 0.9
_DEFAULT = Workload().weights


@dataclass(frozen=True, slots=True)
class TimedOp:
    """An op and its clocks in µs per call; `None` where the peak of a clock is not known.

    `repeats` is how often the op counts into the step: more than once in a pipeline. A collective
    waits for `latency_us`, in a library for `library_us`; `sent` is its time by level.
    """

    op: ModelOp
    clocks_us: Mapping[str, float | None]
    repeats: float = 1
    sent: CollectiveTime | None = None
    library_us: float = 0.0

    @property
    def latency_us(self) -> float:
        """What a collective waits for, per call."""
        return self.sent.latency_us if self.sent else 0.0

    @property
    def time_us(self) -> float | None:
        """The longest clock, and the latency; `None` where one is not known."""
        known = [time for time in self.clocks_us.values() if time is not None]
        is_known = len(known) == len(self.clocks_us)
        return max(known, default=0.0) + self.latency_us if is_known else None

    def expected_us(self, reached: Mapping[str, float]) -> float:
        """The time at the share `reached` of each peak, and with a library's latency."""
        clocks = ((time or 0.0) / reached.get(name, 1.0) for name, time in self.clocks_us.items())
        return max(clocks, default=0.0) + self.library_us

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
        return self.clocks_at({})

    def clocks_at(self, reached: Mapping[str, float]) -> Mapping[str, float]:
        """The same at the share `reached` of each peak, all of it by default."""
        sums = dict.fromkeys(_CLOCKS, 0.0)
        for timed in self.ops:
            for name, time in timed.clocks_us.items():
                sums[name] += timed.counted * (time or 0.0) / reached.get(name, 1.0)
        return sums

    @property
    def step_us(self) -> Mapping[str, float | None]:
        """The three sums; `None` where a peak is not known."""
        if not self.is_timed:
            return dict.fromkeys(("overlap", "scheduled", "serial", "no_overlap"))
        sums = self.clock_sums_us
        return {
            "overlap": max(sums.values()),
            "scheduled": self.schedule.time_us,
            "serial": sum(timed.counted * (timed.time_us or 0.0) for timed in self.ops),
            "no_overlap": sum(sums.values()) + self.latency_us,
        }

    @property
    def latency_us(self) -> float:
        """What all collectives of the step wait for."""
        return sum(timed.counted * timed.latency_us for timed in self.ops)

    @property
    def bound(self) -> str | None:
        """The resource with the largest sum over the step; `None` where a peak is not known."""
        sums = self.clock_sums_us
        return max(sums, key=sums.__getitem__) if self.is_timed else None

    def _expected(self, matrix: float) -> float:
        reached = {
            COMPUTE: matrix,
            MEMORY: _MEMORY_REACHED,
            LINK: _LINKS_REACHED,
            NETWORK: _NETWORK_REACHED,
        }
        busiest = max(self.clocks_at(reached).values())
        return schedule(self, lambda one: one.counted * one.expected_us(reached), busiest).time_us

    @cached_property
    def schedule(self) -> Schedule:
        """What overlaps what: collectives between replicas pass behind the work of layers."""
        busiest = max(self.clock_sums_us.values())
        return schedule(self, lambda one: one.counted * (one.time_us or 0.0), busiest)

    @property
    def expected(self) -> Expected | None:
        """The time at the best rates of real programs, by default shares; `None` without a peak."""
        share = sustained_matrix_rate(self.part.kind)
        if share is None or not self.is_timed:
            return None
        matrix = (share.low_ratio or share.ratio, share.ratio)
        high, low = map(self._expected, matrix)
        return Expected(
            low_us=low,
            high_us=high,
            matrix=matrix,
            memory=_MEMORY_REACHED,
            source=f"default shares, not fitted to a run ({share.source})",
        )

    @property
    def tokens_per_s(self) -> float | None:
        """New tokens of a step over its scheduled time, of one replica."""
        taken = self.step_us["scheduled"]
        return self.load.tokens / taken * US_PER_S if taken else None

    @property
    def accepted_tokens_per_s(self) -> float | None:
        """Tokens that stay, of a step that checks guessed ones: (1 - x^T) / (1 - x) per sequence.

        `None` without an acceptance x, and where a peak is not known.
        """
        share, serial = self.load.acceptance, self.step_us["serial"]
        if share is None or not serial:
            return None
        kept = kept_tokens(self.load.new_tokens, share)
        return self.load.batch * kept / serial * US_PER_S

    @property
    def tokens_per_s_per_device(self) -> float | None:
        """The same over the devices of one replica."""
        whole = self.tokens_per_s
        return None if whole is None else whole / self.load.per_replica

    @property
    def memory_bytes(self) -> float:
        """The bytes that one device holds, without activations and workspace."""
        return memory_bytes(self.model, self.load)

    @property
    def activation_bytes(self) -> float:
        """What training keeps for the backward pass, without logits; 0 in other phases."""
        return activation_bytes(self.model, self.load)

    @property
    def capacity_bytes(self) -> float | None:
        """The memory of the part; `None` where it is not known."""
        return self.part.value("memory_bytes")

    @property
    def fits(self) -> bool | None:
        """Whether one device holds it; `None` where its memory is not known."""
        size = self.capacity_bytes
        return None if size is None else self.memory_bytes + self.activation_bytes <= size


def schedule(step: Step, of: Callable[[TimedOp], float], busiest_us: float) -> Schedule:
    """The schedule of a step whose ops take `of` in all, and its longest resource, in µs."""
    return scheduled(
        [(timed.op, of(timed)) for timed in step.ops],
        step.load.zero,
        max(stage_of(step.model, step.load.pp).layers, 1),
        busiest_us,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPeaks:
    """The peaks of a part at the element types of a load; they hold for every batch and context."""

    part: Part
    inside: Mapping[str, ChipPeak]
    outside: Mapping[str, ChipPeak]
    net: Topology
    notes: tuple[str, str]

    def step(self, model: ModelConfig, load: Workload) -> Step:
        """One step of `model` under `load`; `BadViewError` for a load that cannot be."""
        ops = _OPS.get(load.phase, forward)(model, load)
        if load.sparse:
            ops = tuple(_pruned(op, load) for op in ops)
        timed = tuple(
            _timed(op, self.inside if op.is_layer_product else self.outside, load, self.net)
            for op in ops
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
                for note in dict.fromkeys(
                    (*self.notes, _stored_note(model, load), *unknown, *self._told(ops))
                )
                if note
            ),
        )

    def _told(self, ops: Sequence[ModelOp]) -> Sequence[str]:
        """What the network of these collectives rests on, and which groups leave their node."""
        sent = [op.sent for op in ops if op.sent and op.sent.ranks > 1]
        places = [(one, self.net.place(one.ranks, one.inner)) for one in sent]
        found = [note for one, place in places for note in self.net.notes(one.kind, place)]
        crossing = [one for one, place in places if not one.inner and place.nodes > 1]
        if crossing:
            found.append(
                f"tp {crossing[0].ranks} crosses nodes of {self.net.domain}: two all-reduces per "
                "layer go over the network."
            )
        return found


def peaks_of(part: Part, load: Workload) -> StepPeaks:
    """The peaks that a step of this load uses on `part`."""
    layer, layer_note = product_peak(part, load.compute or load.activations, is_sparse=load.sparse)
    other, other_note = product_peak(part, load.activations)
    chips = chips_together(part, load.links, load.devices // load.dp, load.dp)
    net = topology(part, load.links, chips)
    peaks = {
        COMPUTE: layer,
        VECTOR: vector_peak(part),
        MEMORY: main_memory(part),
        **collective_peaks(net, ALL_REDUCE, net.place(load.tp)),
    }
    if part.value(EXP):
        peaks[EXP] = exp_peak(part)
    return StepPeaks(
        part=part,
        inside=peaks,
        outside={**peaks, COMPUTE: other},
        net=net,
        notes=(layer_note, other_note),
    )


def _pruned(op: ModelOp, load: Workload) -> ModelOp:
    """The op with the bytes of pruned weights, where it is a product with a layer's weights."""
    if not op.is_layer_product:
        return op
    is_expert = op.name.rpartition(".")[2].startswith("expert_")
    stored = (load.expert_weights if is_expert else None) or load.weights
    return replace(op, weights=op.weights * sparse_ratio(stored))


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


def _timed(op: ModelOp, peaks: Mapping[str, ChipPeak], load: Workload, net: Topology) -> TimedOp:
    repeats = _repeats(op, load)
    if op.sent is not None:
        return _timed_collective(op, op.sent, repeats, net)
    amounts = {COMPUTE: op.matrix, VECTOR: op.vector, EXP: op.exp, MEMORY: op.bytes}
    clocks: dict[str, float | None] = {}
    for name, amount in amounts.items():
        if amount and name in peaks:
            rate = peaks[name].value
            clocks[name] = amount / rate * US_PER_S if rate else None
    return TimedOp(op, clocks, repeats)


def _timed_collective(op: ModelOp, sent: Sent, repeats: float, net: Topology) -> TimedOp:
    place = net.place(sent.ranks, sent.inner)
    if sent.chosen and not net.is_torus:
        found = net.exchange(sent.payload, sent.chosen, place)
    else:
        found = net.of_place(sent.kind, sent.payload * (sent.chosen or 1), place)
    library = net.of_place(sent.kind, sent.payload, place, "library").latency_us
    clocks = {LINK: found.link_us, NETWORK: found.network_us}
    return TimedOp(op, clocks, repeats, found, library)


def _repeats(op: ModelOp, load: Workload) -> float:
    """How often a step waits for the op: m + (p - 1) / V stages, V (m + p - 2) ways between."""
    later = load.microbatches - 1
    return {
        "layer": (load.pp - 1) / load.virtual + 1 + later,
        "boundary": load.virtual * (load.pp - 1 + later),
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

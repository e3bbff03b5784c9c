"""The work of an op held against a part: one clock per unit, memory, link and network.

T_min is the longest clock (all overlap) and the latency, T_max their sum (one after the other).
Peaks are per chip and dense, from the catalogue; no other precision stands in but fp16 for bf16.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from roofline.devices.choice import known_part
from roofline.devices.in_flight import Launch, in_flight
from roofline.devices.parts import Part
from roofline.devices.topology import CollectiveTime, Place, Topology, check_slice, topology
from roofline.errors import BadViewError
from roofline.estimate.ops import OPS, Op, Options, Work, precision_of, sparse_ratio
from roofline.model.compute import ComputeUnit, Precision
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, US_PER_S

COMPUTE, VECTOR, EXP, MEMORY = "compute", "vector", "exp", "memory"
LINK, NETWORK, LATENCY = "link", "network", "latency"
_PER_CHIP = 1
_BETWEEN = frozenset({MemoryLevel.ICI, MemoryLevel.NVLINK, MemoryLevel.XGMI})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipPeak:
    """One peak of a chip in FLOP/s or B/s; `value` is `None` where it is not known, 0 where the
    part has no such unit. `label` names it, `source` says where the number is from, and `key` is
    the unit or level that it belongs to."""

    label: str
    value: float | None
    source: str
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The expected cost of one call on a part: clocks in µs, and what they follow from.

    A clock is `None` where its peak is not known; then there is no `t_min_us` and no `t_max_us`,
    and `notes` say so. `element_bytes` are those of the first input, of weights and of the output.
    """

    op: str
    shape: tuple[int, ...]
    part: Part
    work: Work
    time_us: Mapping[str, float | None]
    peaks: Mapping[str, ChipPeak]
    notes: tuple[str, ...]
    element_bytes: tuple[float, float, float]
    options: Options
    collective: CollectiveTime | None = None

    @property
    def known_us(self) -> Mapping[str, float]:
        """The clocks that are known."""
        return {name: time for name, time in self.time_us.items() if time is not None}

    @property
    def t_min_us(self) -> float | None:
        """The longest clock; `None` where a clock that has work is not known."""
        if not self._is_complete:
            return None
        clocks = [time for name, time in self.known_us.items() if name != LATENCY]
        return max(clocks) + self.known_us.get(LATENCY, 0.0) if clocks else None

    @property
    def t_max_us(self) -> float | None:
        """The sum of the clocks."""
        return sum(self.known_us.values()) if self._is_complete and self.known_us else None

    @property
    def _is_complete(self) -> bool:
        return len(self.known_us) == len(self.time_us)

    @property
    def bound(self) -> str | None:
        """The longest clock's name; equal ones go to the first. Latency is not a clock."""
        clocks = {name: time for name, time in self.known_us.items() if name != LATENCY}
        return max(clocks, key=clocks.__getitem__) if self.t_min_us else None

    @property
    def flop(self) -> float:
        """FLOPs of the op's own unit."""
        return self.work.matrix_flop or self.work.vector_flop

    @property
    def attainable_gflops(self) -> float | None:
        """FLOPs over the longest clock, in GFLOP/s; `None` for a collective."""
        if not self.flop or not self.t_min_us:
            return None
        return self.flop / (self.t_min_us / US_PER_S) / GIGA


def estimate(name: str, shape: str, device: str, options: Options | None = None) -> Estimate:
    """The cost of the op `name` of this shape on the part that `device` means.

    Raises `BadViewError` for an op, shape, element type or device that is not known.
    """
    chosen = options or Options()
    op = _op(name)
    read = op.read(shape)
    part = known_part(device)
    work = _pruned(op.work(read, chosen), name, chosen)
    peaks, stand_in = _peaks(part, op, work, chosen)
    peaks, launched = _launched(part, peaks, chosen)
    times = _times(work, peaks, chosen)
    unknown = [unknown_peak(part, peaks[clock]) for clock, time in times.items() if time is None]
    told: Sequence[str] = ()
    sent = None
    net = topology(part, chosen.choice, chosen.ranks) if work.link_bytes or chosen.axes else None
    if op.is_collective:
        net = net or topology(part, chosen.choice, chosen.ranks)
        check_slice(net, chosen.ranks)
        place = net.place(chosen.ranks)
        sent = net.of_place(name, work.payload_bytes, place)
        peaks = collective_peaks(net, name, place)
        waits = "given" if chosen.alpha_us is not None else chosen.latency
        peaks[LATENCY] = ChipPeak(label=waits, value=None, source=net.latency_source)
        times = {LINK: sent.link_us, NETWORK: sent.network_us, LATENCY: sent.latency_us}
        told = net.notes(name, place)
        unknown = [unknown_peak(part, peaks[LINK])] if sent.link_us is None else []
    notes = tuple(note for note in (stand_in, launched, *unknown, *told) if note)
    return Estimate(
        op=name,
        shape=read,
        part=part,
        work=work,
        time_us=times,
        peaks=peaks,
        notes=notes,
        element_bytes=(chosen.size(), _weight_bytes(chosen), chosen.out_size),
        options=chosen,
        collective=sent,
    )


def _weight_bytes(options: Options) -> float:
    name = options.weights or options.dtype
    return options.size(name) * (sparse_ratio(name) if options.sparse else 1.0)


_WEIGHTS = {"matmul": "b", "distributed-matmul": "b", "convolution": "weights"}


def _pruned(work: Work, name: str, options: Options) -> Work:
    """The work with the weights' bytes of 2:4 sparsity, where it was chosen."""
    if not options.sparse:
        return work
    if name not in _WEIGHTS:
        raise BadViewError(
            "Only products with weights have sparse ones.", remedy="Leave --sparse out."
        )
    weights = _WEIGHTS[name]
    left = sparse_ratio(options.weights or options.dtype)
    return replace(work, tensors={**work.tensors, weights: work.tensors[weights] * left})


def _op(name: str) -> Op:
    if name not in OPS:
        raise BadViewError(f'"{name}" is not an op.', remedy=f"Name one of: {', '.join(OPS)}.")
    return OPS[name]


def _peaks(part: Part, op: Op, work: Work, options: Options) -> tuple[dict[str, ChipPeak], str]:
    """The peaks that the op's clocks need, by clock, and what stands in for a unit."""
    found: dict[str, ChipPeak] = {}
    note = ""
    if op.is_collective:
        return found, note
    if work.matrix_flop:
        found[COMPUTE], note = product_peak(
            part, options.compute or options.dtype, is_sparse=options.sparse
        )
    if work.vector_flop:
        found[VECTOR] = vector_peak(part)
    if work.exp_ops and part.value(EXP):
        found[EXP] = exp_peak(part)
    found[MEMORY] = main_memory(part)
    if work.link_bytes:
        found[LINK] = one_link(part, options.axes)
    return found, note


def _launched(
    part: Part, peaks: dict[str, ChipPeak], options: Options
) -> tuple[dict[str, ChipPeak], str]:
    """The peaks with no more of the memory than the launch's loads reach, and the sentence that
    says so; the memory's own bandwidth where no latency of it is known."""
    if not options.threads or MEMORY not in peaks:
        return peaks, ""
    need = next((one for one in in_flight(part) if one.level.is_main), None)
    if need is None:
        return peaks, f"{part.name}: no latency of its memory is known, and threads do not count."
    launch = Launch(
        threads=options.threads, load_bytes=options.load_bytes, loads=options.loads_in_flight
    )
    memory = peaks[MEMORY]
    if launch.bytes < need.bytes:
        label = f"{memory.label}, loads in flight"
        memory = replace(memory, label=label, value=launch.rate(need), source=need.figure.text)
    return {**peaks, MEMORY: memory}, launch.sentence(need)


def product_peak(part: Part, name: str, *, is_sparse: bool = False) -> tuple[ChipPeak, str]:
    """The peak of products at this element type, and a note where fp16 stands in for bf16.

    With `is_sparse` that of pruned weights, whose label says so; `BadViewError` where the part has
    no such rate.
    """
    precision = precision_of(name)
    if is_sparse:
        return _sparse_peak(part, precision), ""
    peak = matrix_peak(part, precision)
    if precision is Precision.BF16 and not peak.value:
        other = matrix_peak(part, Precision.FP16)
        if other.value:
            return other, f"{part.name} has no unit for bf16: the rate is that of fp16."
    return peak, ""


def _sparse_peak(part: Part, precision: Precision) -> ChipPeak:
    dense, times = matrix_peak(part, precision), part.sparse(precision.value)
    if not dense.value or times is None:
        raise BadViewError(
            f"{part.name}: no rate of sparse products in {precision.value} is known.",
            remedy="Leave --sparse out: peaks are dense then.",
        )
    pattern = times.note.partition(" ")[0]
    return replace(
        dense,
        label=f"{dense.label}, sparse {pattern}",
        value=dense.value * times.value,
        source=f"{times.value:g} times {dense.source}; {times.text}",
    )


def exp_peak(part: Part) -> ChipPeak:
    """Exponentials per second of the part's special-function units."""
    figure = part.figure(EXP)
    value, source = (None, "") if figure is None else (figure.value, figure.text)
    return ChipPeak(label="exponential unit", value=value, source=source, key=EXP)


def collective_peaks(net: Topology, kind: str, place: Place) -> dict[str, ChipPeak]:
    """The rates of links and network that a collective of this place uses."""
    figure = net.part.figure("network_oneway")
    source = "given" if net.choice.network else figure.text if figure else ""
    scale_up, value = net.scale_up_figure, link_rate(net, kind, place)
    links = all_links(net.part)
    return {
        LINK: replace(links, value=value, source=scale_up.text if scale_up else links.source),
        NETWORK: ChipPeak(label="network", value=net.network, source=source, key=NETWORK),
    }


def link_rate(net: Topology, kind: str, place: Place) -> float | None:
    """B/s of the links that a collective of this place uses; of a torus those of its axes."""
    if not place.axes or net.pair is None:
        return net.rate_inside(kind, place.inside)
    return net.pair * sum(2 if one.is_ring else 1 for one in place.axes)


def matrix_peak(part: Part, precision: Precision) -> ChipPeak:
    """The peak of matrix products at `precision`: a part without a matrix unit for it uses its
    vector unit at the same precision."""
    matrix, vector = (f"{kind}_{precision.value}" for kind in ("matrix", "vector"))
    unit = next((one for one in ComputeUnit if one.value == matrix), None)
    found = _unit_peak(part, unit) if unit else None
    if found is not None and found.value is not None:
        return found
    other = next((one for one in ComputeUnit if one.value == vector), None)
    is_of_both = precision in (Precision.FP32, Precision.FP64) or not part.has_matrix_unit
    if other is not None and is_of_both:
        return _unit_peak(part, other)
    return found or ChipPeak(label=precision.value, value=None, source="")


def vector_peak(part: Part) -> ChipPeak:
    """The vector unit at fp32, whatever the element type."""
    return _unit_peak(part, ComputeUnit.VECTOR_FP32)


def all_links(part: Part) -> ChipPeak:
    """All links of a chip in one direction."""
    key = next((one.level.value for one in part.links(_PER_CHIP) if one.level in _BETWEEN), "")
    figure = part.figure("links_oneway")
    value, source = (None, "") if figure is None else (figure.value, figure.text)
    return ChipPeak(label="links", value=value, source=source, key=key)


def one_link(part: Part, axes: int | str | None = None) -> ChipPeak:
    """The peak along one axis, in one direction: of one link of a TPU, of all links of a GPU; with
    a count of `axes` that of both links of each."""
    figure = part.figure("link_oneway") if part.kind is DeviceKind.TPU else None
    if figure is None:
        return all_links(part)
    links = 2 * int(axes) if axes and str(axes).isdigit() else 1
    return replace(all_links(part), label="links", value=links * figure.value, source=figure.text)


def _unit_peak(part: Part, unit: ComputeUnit) -> ChipPeak:
    peak = next((one for one in part.compute(_PER_CHIP) if one.unit is unit), None)
    if peak is not None:
        rate = peak.gflops * GIGA
        return ChipPeak(label=peak.label, value=rate, source=peak.figure.text, key=unit.value)
    absent = unit in part.absent_units
    value = 0.0 if absent else None
    return ChipPeak(label=unit.label, value=value, source="", key=unit.value)


def main_memory(part: Part) -> ChipPeak:
    """The bandwidth of the part's main memory, per chip."""
    found = next((one for one in part.memory(_PER_CHIP) if one.level.is_main), None)
    if found is None:
        level = MemoryLevel.HBM
        return ChipPeak(label=level.label, value=None, source="", key=level.value)
    rate = found.gbs * GIGA
    return ChipPeak(
        label=found.level.label, value=rate, source=found.figure.text, key=found.level.value
    )


def _times(work: Work, peaks: Mapping[str, ChipPeak], options: Options) -> dict[str, float | None]:
    amounts = {
        COMPUTE: work.matrix_flop,
        VECTOR: work.vector_flop,
        EXP: work.exp_ops,
        MEMORY: work.memory_bytes,
        LINK: work.link_bytes,
    }
    times: dict[str, float | None] = {}
    for clock, peak in peaks.items():
        rate = peak.value
        times[clock] = amounts[clock] / rate * US_PER_S if rate else None
    if LINK in times and times[LINK] is not None:
        times[LINK] = (times[LINK] or 0.0) + work.link_steps * (options.alpha_us or 0.0)
    return times


def unknown_peak(part: Part, peak: ChipPeak) -> str:
    """The sentence that says why there is no time: no such unit, or no figure."""
    if peak.value == 0:
        return f"{part.name}: this part has no {peak.key.rpartition('_')[2]} unit ({peak.label})."
    return f"{part.name}, {peak.label}: no public figure."

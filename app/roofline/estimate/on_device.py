"""The work of an op held against a part: one clock per unit, memory and link.

T_min is the longest clock (all overlap), T_max their sum (one after the other). Peaks are per chip
and dense, from the catalogue; another precision's peak never stands in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from roofline.devices.choice import known_part
from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.estimate.ops import OPS, Op, Options
from roofline.estimate.work import Work, precision_of
from roofline.model.compute import ComputeUnit, Precision
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, US_PER_S

COMPUTE, VECTOR, MEMORY, LINK = "compute", "vector", "memory", "link"
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

    @property
    def known_us(self) -> Mapping[str, float]:
        """The clocks that are known."""
        return {name: time for name, time in self.time_us.items() if time is not None}

    @property
    def t_min_us(self) -> float | None:
        """The longest clock; `None` where a clock that has work is not known."""
        return max(self.known_us.values(), default=None) if self._is_complete else None

    @property
    def t_max_us(self) -> float | None:
        """The sum of the clocks."""
        return sum(self.known_us.values()) if self._is_complete and self.known_us else None

    @property
    def _is_complete(self) -> bool:
        return len(self.known_us) == len(self.time_us)

    @property
    def bound(self) -> str | None:
        """The longest clock's name; equal ones go to the first: compute, vector, memory, link."""
        return max(self.known_us, key=self.known_us.__getitem__) if self.t_min_us else None

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
    work = op.work(read, chosen)
    if chosen.axes and part.kind is not DeviceKind.TPU:
        raise BadViewError(
            f"{part.name} is not part of a torus.", remedy="Leave --axes out: all links count."
        )
    peaks = _peaks(part, op, work, chosen)
    times = _times(work, peaks, chosen)
    notes = tuple(unknown_peak(part, peaks[clock]) for clock, time in times.items() if time is None)
    return Estimate(
        op=name,
        shape=read,
        part=part,
        work=work,
        time_us=times,
        peaks=peaks,
        notes=notes,
        element_bytes=(chosen.size(), chosen.size(chosen.weights), chosen.out_size),
        options=chosen,
    )


def _op(name: str) -> Op:
    if name not in OPS:
        raise BadViewError(f'"{name}" is not an op.', remedy=f"Name one of: {', '.join(OPS)}.")
    return OPS[name]


def _peaks(part: Part, op: Op, work: Work, options: Options) -> dict[str, ChipPeak]:
    """The peaks that the op's clocks need, by clock."""
    if op.is_collective:
        return {LINK: _link(part, options.axes)}
    found = {}
    if work.matrix_flop:
        found[COMPUTE] = matrix_peak(part, precision_of(options.compute or options.dtype))
    if work.vector_flop:
        found[VECTOR] = vector_peak(part)
    found[MEMORY] = main_memory(part)
    if work.link_bytes:
        found[LINK] = _link(part, options.axes) if options.axes else one_link(part)
    return found


def matrix_peak(part: Part, precision: Precision) -> ChipPeak:
    """The peak of matrix products at `precision`: a part without a matrix unit for it uses its
    vector unit at the same precision."""
    matrix, vector = (f"{kind}_{precision.value}" for kind in ("matrix", "vector"))
    unit = next((one for one in ComputeUnit if one.value == matrix), None)
    found = _unit_peak(part, unit) if unit else None
    if found is not None and found.value is not None:
        return found
    other = next((one for one in ComputeUnit if one.value == vector), None)
    if other is not None and precision in (Precision.FP32, Precision.FP64):
        return _unit_peak(part, other)
    return found or ChipPeak(label=precision.value, value=None, source="")


def vector_peak(part: Part) -> ChipPeak:
    """The vector unit at fp32, whatever the element type."""
    return _unit_peak(part, ComputeUnit.VECTOR_FP32)


def all_links(part: Part) -> ChipPeak:
    """All links of a chip in one direction."""
    return _link(part, None)


def one_link(part: Part) -> ChipPeak:
    """The peak along one axis, in one direction: of one link of a TPU, of all links of a GPU."""
    figure = part.figure("link_oneway")
    if figure is None:
        return all_links(part)
    return replace(all_links(part), label="one link", value=figure.value, source=figure.text)


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


def _link(part: Part, axes: int | None) -> ChipPeak:
    """All links of a chip in one direction; with `axes`, the two links of each axis of a torus."""
    figure = part.figure("link_oneway" if axes else "links_oneway")
    key = next((one.level.value for one in part.links(_PER_CHIP) if one.level in _BETWEEN), "")
    if figure is None:
        return ChipPeak(label="links", value=None, source="", key=key)
    links = 2 * axes if axes else 1
    return ChipPeak(label="links", value=links * figure.value, source=figure.text, key=key)


def _times(work: Work, peaks: Mapping[str, ChipPeak], options: Options) -> dict[str, float | None]:
    amounts = {
        COMPUTE: work.matrix_flop,
        VECTOR: work.vector_flop,
        MEMORY: work.memory_bytes,
        LINK: work.link_bytes,
    }
    times: dict[str, float | None] = {}
    for clock, peak in peaks.items():
        rate = peak.value
        times[clock] = amounts[clock] / rate * US_PER_S if rate else None
    if LINK in times and times[LINK] is not None:
        times[LINK] = (times[LINK] or 0.0) + work.link_steps * options.alpha_us
    return times


def unknown_peak(part: Part, peak: ChipPeak) -> str:
    """The sentence that says why there is no time: no such unit, or no figure."""
    if peak.value == 0:
        return f"{part.name}: this part has no {peak.key.rpartition('_')[2]} unit ({peak.label})."
    return f"{part.name}, {peak.label}: no public figure."

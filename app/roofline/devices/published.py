"""The peaks that are published or calibrated for a part, in the terms of a profile.

A profile decides how many devices it shows of one chip, which levels its memories have, and at
which clock its peaks were measured: what a processor does per cycle does not depend on the clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from roofline.devices.choice import PeakChoice
from roofline.devices.parts import Part, PartBandwidth, PartPeak, same_hardware
from roofline.model.compute import ComputeUnit
from roofline.model.device import ComputePeak, MemoryPeak, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel, main_level

_BY_USER = "Set by you"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakTable:
    """Compute peaks, the main one first, and memory peaks by level."""

    compute: tuple[ComputePeak, ...] = ()
    memory: Mapping[MemoryLevel, MemoryPeak] = field(default_factory=dict)

    def or_else(self, other: "PeakTable") -> "PeakTable":
        """These peaks, then those of `other` for units and memories that have none here.

        A device has one main memory: HBM and DRAM stand for each other.
        """
        known = {unit for peak in self.compute for unit in (peak.unit, *peak.covers)}
        added = [peak for peak in other.compute if not known & {peak.unit, *peak.covers}]
        has_main = any(level.is_main for level in self.memory)
        missing = {
            level: peak for level, peak in other.memory.items() if not (has_main and level.is_main)
        }
        return PeakTable(compute=(*self.compute, *added), memory={**missing, **self.memory})

    def with_choice(self, choice: PeakChoice, levels: Sequence[MemoryLevel]) -> "PeakTable":
        """The user's peaks in place of these; `levels` are the profile's own."""
        main = main_level([*self.memory, *levels, *choice.gbs])
        memory = dict(self.memory)
        for chosen, gbs in choice.gbs.items():
            level = main if chosen.is_main else chosen
            memory[level] = MemoryPeak(
                level=level, gbs=gbs, origin=PeakOrigin.USER, source=_BY_USER
            )
        return PeakTable(compute=_with_set_rates(self.compute, choice.gflops), memory=memory)

    @property
    def memory_in_order(self) -> tuple[MemoryPeak, ...]:
        """Memory peaks from the main memory inwards."""
        return tuple(self.memory[level] for level in MemoryLevel if level in self.memory)


def _with_set_rates(
    peaks: Sequence[ComputePeak], rates: Mapping[ComputeUnit | None, float]
) -> tuple[ComputePeak, ...]:
    """`peaks` with the user's rates in place of theirs; `None` is the first."""
    result = list(peaks)
    for unit, gflops in rates.items():
        at = 0 if unit is None else _place(result, unit)
        before = result[at] if at is not None and at < len(result) else None
        mine = ComputePeak(
            id=before.id if before else (unit.value if unit else "peak"),
            label=before.label if before else (unit.label if unit else "Compute"),
            gflops=gflops,
            origin=PeakOrigin.USER,
            source=_BY_USER,
            unit=before.unit if before else unit,
            covers=before.covers if before else (),
        )
        if before is None:
            result.append(mine)
        else:
            result[result.index(before)] = mine
    return tuple(result)


def _place(peaks: Sequence[ComputePeak], unit: ComputeUnit) -> int | None:
    return next((k for k, peak in enumerate(peaks) if peak.unit == unit), None)


_SCRATCH = (MemoryLevel.SHARED, MemoryLevel.LDS)
_HALF_RANGE = (0.85, 1.15)


@dataclass(frozen=True, slots=True)
class MeasuredClock:
    """How many processors a device has, and their clock in GHz while its peaks were measured."""

    processors: int
    ghz: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPeaks:
    """A part's peaks per device of the profile, memories by the profile's own levels.

    `measured_at` is the clock of the profile's measured peaks, to which these were converted.
    """

    part: Part
    compute: tuple[PartPeak, ...]
    memory: Mapping[MemoryLevel, PartBandwidth]
    measured_at: MeasuredClock | None = None
    devices_per_chip: int = 1

    @property
    def table(self) -> PeakTable:
        """The same as ceilings, each with its origin and source."""
        return PeakTable(
            compute=tuple(self._compute_peak(peak) for peak in self.compute),
            memory={level: self._memory_peak(level, peak) for level, peak in self.memory.items()},
        )

    def _compute_peak(self, peak: PartPeak) -> ComputePeak:
        return ComputePeak(
            id=peak.unit.value,
            label=peak.label,
            gflops=peak.gflops,
            origin=self.part.origin,
            source=self._source(peak),
            unit=peak.unit,
            covers=same_hardware(self.part.kind, peak.unit),
            clock_ghz=peak.clock_ghz,
        )

    def _memory_peak(self, level: MemoryLevel, peak: PartBandwidth) -> MemoryPeak:
        return MemoryPeak(
            level=level,
            gbs=peak.gbs,
            origin=self.part.origin,
            source=self._source(peak),
            clock_ghz=peak.clock_ghz,
        )

    def _source(self, peak: PartPeak | PartBandwidth) -> str:
        clock = self.measured_at
        if peak.per_cycle is None or clock is None:
            return f"{self.part.name}. {peak.figure.text}"
        return (
            f"{self.part.name}, at the measured {clock.ghz:.4g} GHz: {clock.processors} processors "
            f"× {peak.per_cycle:g} per cycle. {peak.figure.text}"
        )


def published_peaks(part: Part, reported: ReportedDevice, *, is_own: bool) -> PublishedPeaks:
    """The peaks of `part` for the devices and memory levels of the profile.

    `is_own` says that the profile ran on `part`: only then its peak tells half a chip from a whole,
    and its clock counts.
    """
    devices = _devices_per_chip(part, reported) if is_own else part.devices_per_chip
    compute, memory = part.compute(devices), part.memory(devices)
    clock = _measured_clock(part, reported) if is_own else None
    if clock is not None:
        compute = tuple(peak.at_clock(clock.processors, clock.ghz) for peak in compute)
        memory = tuple(peak.at_clock(clock.processors, clock.ghz) for peak in memory)
    return PublishedPeaks(
        part=part,
        compute=compute,
        memory={_own_level(one.level, reported): one for one in (*memory, *part.links(devices))},
        measured_at=clock,
        devices_per_chip=devices,
    )


def _measured_clock(part: Part, reported: ReportedDevice) -> MeasuredClock | None:
    """The clock at which the profiler measured its peaks, where it says so."""
    processors = reported.traits.processor_count or part.processor_count
    measured = reported.peak_origin is PeakOrigin.MEASURED
    if not (measured and processors and reported.peak_clock_ghz):
        return None
    return MeasuredClock(processors, reported.peak_clock_ghz)


def _devices_per_chip(part: Part, reported: ReportedDevice) -> int:
    """Devices that the profile shows of one chip: two where its own peak is about half a chip's."""
    if not part.may_split or not reported.peak_gflops:
        return part.devices_per_chip
    low, high = _HALF_RANGE
    half = part.compute()[0].gflops / 2
    return 2 if low <= reported.peak_gflops / half <= high else part.devices_per_chip


def _own_level(level: MemoryLevel, reported: ReportedDevice) -> MemoryLevel:
    """The level at which the profile has what the catalogue calls `level`."""
    own = reported.bandwidth_gbs
    if level.is_main:
        return main_level(own) if any(one.is_main for one in own) else level
    if level in _SCRATCH and MemoryLevel.SHARED_L1 in own:
        return MemoryLevel.SHARED_L1
    return level

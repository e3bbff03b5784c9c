"""Peaks of a device, each with its origin: one pass over what is known about it.

The user's choice comes first, then what the profile reports or measured, then what was calibrated
on this machine, then the catalogue. A peak that none of them knows stays unknown: no roof, no
guess.

The peaks that are published or calibrated for a part, in the terms of a profile.

A profile decides how many devices it shows of one chip, which levels its memories have, and at
which clock its peaks were measured: what a processor does per cycle does not depend on the clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

from roofline.devices.choice import PeakChoice, known_part
from roofline.devices.comparisons import compare, correction
from roofline.devices.identification import catalogue_part, is_this_machine
from roofline.devices.measured import measured_part
from roofline.devices.parts import (
    MEASURED,
    THIS_MACHINE,
    Part,
    PartBandwidth,
    PartPeak,
    main_units,
    same_hardware,
)
from roofline.devices.sustained import with_sustained
from roofline.devices.topology import Topology, of_measured
from roofline.model.compute import ComputeUnit
from roofline.model.device import (
    LEAST_PEAK,
    MOST_PEAK,
    ComputePeak,
    Device,
    MemoryPeak,
    PeakComparison,
    PeakOrigin,
    ReportedDevice,
)
from roofline.model.memory import LINKS, MemoryLevel, main_level
from roofline.model.plain_data import alike
from roofline.model.units import GIGA

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


class MeasuredClock(NamedTuple):
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
        return alike(
            ComputePeak,
            peak,
            id=peak.unit.value,
            origin=self.part.origin,
            source=self._source(peak),
            covers=same_hardware(self.part.kind, peak.unit),
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


def resolve(
    reported: ReportedDevice,
    *,
    choice: PeakChoice | None = None,
    catalogue: bool = True,
    machine: Part | None = None,
) -> Device:
    """A device ready for analysis. A peak that is not a positive number counts as unknown.

    `choice` is the user's; `machine` this machine as calibrated. Without `catalogue` only the
    user's choice and the profile count. Raises `BadViewError` for a chosen part that is not known.
    """
    chosen = choice or PeakChoice()
    published = _published(reported, chosen, catalogue=catalogue, machine=machine)
    first = published[0] if published else None
    tables = [one.table for one in published]
    comparisons: tuple[PeakComparison, ...] = ()
    if chosen.part_id is None:
        tables.insert(0, profile_peaks(reported, first))
        if first:
            comparisons = compare(reported, first.part, first.compute, first.memory)
    table = reduce(PeakTable.or_else, tables).with_choice(chosen, list(reported.bandwidth_gbs))
    peaks = table.memory_in_order
    device = alike(
        Device,
        reported,
        compute=table.compute,
        memory=tuple(peak for peak in peaks if not peak.level.is_link),
        links=tuple(peak for peak in peaks if peak.level.is_link),
        part_id=first.part.id if first else None,
        part_name=first.part.name if first else "",
        comparisons=comparisons,
        network=_network(first, chosen),
    )
    return with_sustained(device, first.part if first else None, chosen.sustained)


def _network(published: PublishedPeaks | None, choice: PeakChoice) -> Topology | None:
    """What joins chips of the part, with the rates that the user set."""
    if published is None:
        return None
    between = LINKS - {MemoryLevel.HOST, MemoryLevel.DCN}
    links = [gbs * GIGA for level, gbs in choice.gbs.items() if level in between]
    link = links[0] if links else None
    return of_measured(published.part, choice.network, link, published.devices_per_chip)


def _published(
    reported: ReportedDevice, choice: PeakChoice, *, catalogue: bool, machine: Part | None
) -> tuple[PublishedPeaks, ...]:
    """The peaks published or calibrated for the chosen part, else for the device; best first."""
    if choice.part_id is None and not catalogue:
        return ()
    own = catalogue_part(reported)
    if choice.part_id is not None:
        if choice.part_id.startswith(MEASURED):  # the data sheet's where nothing was measured
            parts = [part for part in measured_part(choice.part_id) if part is not None]
        else:
            here = machine if choice.part_id == THIS_MACHINE else None
            parts = [here or known_part(choice.part_id)]
    else:
        here = machine if machine and is_this_machine(reported, machine) else None
        parts = [part for part in (here, own) if part is not None]
    return tuple(published_peaks(part, reported, is_own=part == own) for part in parts)


_COMPUTE_SOURCE = "peak_teraflops_per_second of the device plane"
_MEMORY_SOURCES = {
    MemoryLevel.HBM: "peak_hbm_bw_gigabytes_per_second",
    MemoryLevel.CMEM_READ: "peak_cmem_rd_bw_gigabytes_per_second",
    MemoryLevel.CMEM_WRITE: "peak_cmem_wr_bw_gigabytes_per_second",
    MemoryLevel.VMEM_READ: "peak_vmem_rd_bw_gigabytes_per_second",
    MemoryLevel.VMEM_WRITE: "peak_vmem_wr_bw_gigabytes_per_second",
    MemoryLevel.SHARED_L1: "peak_sram_rd_bw_gigabytes_per_second",
}


def profile_peaks(reported: ReportedDevice, published: PublishedPeaks | None) -> PeakTable:
    """The profile's peaks; one that is not a positive number counts as unknown.

    `published` are those of the part: they say which units a nameless peak stands for, and which
    bandwidths are known to be wrong.
    """
    memory = {
        level: _memory_peak(reported, level, published)
        for level in MemoryLevel
        if _is_peak(reported.bandwidth_gbs.get(level))
    }
    return PeakTable(
        compute=(*_nameless_peak(reported, published), *_unit_peaks(reported, published)),
        memory=memory,
    )


def _nameless_peak(
    reported: ReportedDevice, published: PublishedPeaks | None
) -> tuple[ComputePeak, ...]:
    gflops = reported.peak_gflops
    if gflops is None or not _is_peak(gflops):
        return ()
    peak = ComputePeak(
        id="peak",
        label="Compute",
        gflops=gflops,
        origin=reported.peak_origin,
        source=reported.derivation.get("compute", _COMPUTE_SOURCE),
        covers=_stands_for(reported, published),
        clock_ghz=reported.peak_clock_ghz,
    )
    return (peak,)


def _stands_for(
    reported: ReportedDevice, published: PublishedPeaks | None
) -> tuple[ComputeUnit, ...]:
    """Units that the profile's one peak is about: the part's main one, and those as fast."""
    peaks = published.compute if published else ()
    return tuple(
        peak.unit
        for peak in peaks
        if peak.gflops == peaks[0].gflops and peak.unit not in reported.unit_gflops
    )


def _unit_peaks(
    reported: ReportedDevice, published: PublishedPeaks | None
) -> tuple[ComputePeak, ...]:
    """Peaks that the profile has by unit and precision, the main one first."""
    labels = {peak.unit: peak.label for peak in published.compute} if published else {}
    found = [
        ComputePeak(
            id=unit.value,
            label=labels.get(unit, unit.label),
            gflops=reported.unit_gflops[unit],
            origin=reported.peak_origin,
            source=reported.derivation.get(unit.value, f"{unit.label} peak in the profile"),
            unit=unit,
            covers=tuple(
                other
                for other in same_hardware(reported.kind, unit)
                if other not in reported.unit_gflops
            ),
            clock_ghz=reported.peak_clock_ghz,
        )
        for unit in ComputeUnit
        if _is_peak(reported.unit_gflops.get(unit))
    ]
    first = main_units(reported.kind)
    return tuple(
        sorted(found, key=lambda p: first.index(p.unit) if p.unit in first else len(first))
    )


def _memory_peak(
    reported: ReportedDevice, level: MemoryLevel, published: PublishedPeaks | None
) -> MemoryPeak:
    gbs, stat = reported.bandwidth_gbs[level], _MEMORY_SOURCES.get(level)
    stated = f"{stat} of the device plane" if stat else f"{level.label} bandwidth in the profile"
    source = reported.derivation.get(level.value, stated)
    known = published.memory.get(level) if published else None
    if published and known:
        mended = correction(reported, published.part, level, gbs / known.gbs)
        if mended:
            how = "Half of" if mended < 1 else "Twice"
            gbs, source = (
                gbs * mended,
                f"{how} the profile's figure, which is known wrong: {source}",
            )
    # Main memory has a clock of its own.
    clock_ghz = None if level.is_main else reported.peak_clock_ghz
    return MemoryPeak(
        level=level, gbs=gbs, origin=reported.peak_origin, source=source, clock_ghz=clock_ghz
    )


def _is_peak(value: float | None) -> bool:
    """A damaged file may state anything; a peak that no device has is unknown."""
    return value is not None and LEAST_PEAK <= value < MOST_PEAK

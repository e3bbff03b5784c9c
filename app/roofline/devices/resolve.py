"""Peaks of a device, each with its origin: one pass over what is known about it.

The user's choice comes first, then what the profile reports or measured, then what was calibrated
on this machine, then the catalogue. A peak that none of them knows stays unknown: no roof, no
guess.
"""

from functools import reduce

from roofline.devices.choice import MEASURED, PeakChoice
from roofline.devices.comparisons import compare, correction
from roofline.devices.identification import catalogue_part, chosen_part, is_this_machine
from roofline.devices.measured import measured_part
from roofline.devices.parts import Part, main_units, same_hardware
from roofline.devices.published import PeakTable, PublishedPeaks, published_peaks
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
    ReportedDevice,
)
from roofline.model.memory import LINKS, MemoryLevel
from roofline.model.units import GIGA


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
    device = Device(
        kind=reported.kind,
        name=reported.name,
        core_count=reported.core_count,
        compute=table.compute,
        memory=tuple(peak for peak in peaks if not peak.level.is_link),
        links=tuple(peak for peak in peaks if peak.level.is_link),
        has_megacore=reported.has_megacore,
        has_cmem=reported.has_cmem,
        has_merged_vmem=reported.has_merged_vmem,
        counters=reported.counters,
        part_id=first.part.id if first else None,
        part_name=first.part.name if first else "",
        comparisons=comparisons,
        network=_network(first, chosen),
    )
    return with_sustained(device, first.part if first else None, chosen.sustained)


def _network(published: PublishedPeaks | None, choice: PeakChoice) -> Topology | None:
    """What joins chips of the part, with the rates that the user set; collectives of devices that
    are half of a chip have no times."""
    if published is None or published.devices_per_chip != 1:
        return None
    between = LINKS - {MemoryLevel.HOST, MemoryLevel.DCN}
    links = [gbs * GIGA for level, gbs in choice.gbs.items() if level in between]
    return of_measured(published.part, choice.network, links[0] if links else None)


def _published(
    reported: ReportedDevice, choice: PeakChoice, *, catalogue: bool, machine: Part | None
) -> tuple[PublishedPeaks, ...]:
    """The peaks published or calibrated for the chosen part, else for the device; best first."""
    if choice.part_id is None and not catalogue:
        return ()
    own = catalogue_part(reported)
    if choice.part_id is not None:
        parts = [chosen_part(choice.part_id, machine)]
        if choice.part_id.startswith(MEASURED):  # the data sheet's where nothing was measured
            parts += [one for one in measured_part(choice.part_id)[1:] if one is not None]
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
        compute=(*_nameless_peak(reported, published), *_unit_peaks(reported)), memory=memory
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


def _unit_peaks(reported: ReportedDevice) -> tuple[ComputePeak, ...]:
    """Peaks that the profile has by unit and precision, the main one first."""
    found = [
        ComputePeak(
            id=unit.value,
            label=unit.label,
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

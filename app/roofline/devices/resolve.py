"""Peaks of a device, each with its origin.

Per peak: what the user set, then what the profile reports or measured, then what was calibrated on
this machine, then the catalogue. A peak that nobody knows stays unknown: no roof, no guess.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from roofline.devices.choice import PeakChoice
from roofline.devices.comparisons import compare, correction
from roofline.devices.lookup import Lookup, chosen_part, look_up, parts_of
from roofline.devices.parts import Part, main_units, same_hardware
from roofline.model.compute import ComputeUnit
from roofline.model.device import (
    ComputePeak,
    Device,
    MemoryPeak,
    PeakComparison,
    PeakOrigin,
    ReportedDevice,
)
from roofline.model.memory import MemoryLevel, main_level

_COMPUTE_SOURCE = "peak_teraflops_per_second of the device plane"
_MEMORY_SOURCES = {
    MemoryLevel.HBM: "peak_hbm_bw_gigabytes_per_second",
    MemoryLevel.CMEM_READ: "peak_cmem_rd_bw_gigabytes_per_second",
    MemoryLevel.CMEM_WRITE: "peak_cmem_wr_bw_gigabytes_per_second",
    MemoryLevel.VMEM_READ: "peak_vmem_rd_bw_gigabytes_per_second",
    MemoryLevel.VMEM_WRITE: "peak_vmem_wr_bw_gigabytes_per_second",
    MemoryLevel.SHARED_L1: "peak_sram_rd_bw_gigabytes_per_second",
}
_BY_USER = "Set by you"


def resolve(
    reported: ReportedDevice,
    *,
    choice: PeakChoice | None = None,
    catalogue: bool = True,
    machine: Part | None = None,
) -> Device:
    """A device ready for analysis. A peak that is no positive number counts as unknown.

    `choice` is the user's; `machine` this machine as calibrated. Without `catalogue` only the
    user's choice and the profile count. Raises `BadViewError` for a chosen part nobody knows.
    """
    chosen = choice or PeakChoice()
    lookups: tuple[Lookup, ...] = ()
    comparisons: tuple[PeakComparison, ...] = ()
    if chosen.part_id is not None:
        lookups = (look_up(chosen_part(chosen.part_id, machine), reported),)
        compute, memory = _published_compute(lookups), _published_memory(lookups)
    else:
        if catalogue:
            lookups = tuple(look_up(part, reported) for part in parts_of(reported, machine))
        compute = _merged_compute(reported, lookups)
        memory = _merged_memory(reported, lookups)
        if lookups:
            first = lookups[0]
            comparisons = compare(reported, first.part, first.compute, first.memory)
    return Device(
        kind=reported.kind,
        name=reported.name,
        core_count=reported.core_count,
        compute=_with_set_rates(compute, chosen.gflops),
        memory=_with_set_bandwidths(memory, chosen.gbs, reported),
        has_megacore=reported.has_megacore,
        has_cmem=reported.has_cmem,
        has_merged_vmem=reported.has_merged_vmem,
        counters=reported.counters,
        part_id=lookups[0].part.id if lookups else None,
        part_name=lookups[0].part.name if lookups else "",
        comparisons=comparisons,
    )


# ------------------------------------------------------------------------------------------ compute


def _merged_compute(reported: ReportedDevice, lookups: Sequence[Lookup]) -> tuple[ComputePeak, ...]:
    """The profile's own peaks, then what it does not have; the main one first."""
    nameless = _nameless_peak(reported, lookups)
    own = (*nameless, *_own_units(reported))
    known = {unit for peak in own for unit in (peak.unit, *peak.covers)}
    added = [peak for peak in _published_compute(lookups) if not known & {peak.unit, *peak.covers}]
    return (*own, *added)


def _nameless_peak(reported: ReportedDevice, lookups: Sequence[Lookup]) -> tuple[ComputePeak, ...]:
    gflops = reported.peak_gflops
    if gflops is None or not _is_peak(gflops):
        return ()
    peak = ComputePeak(
        id="peak",
        label="Compute",
        gflops=gflops,
        origin=reported.peak_origin,
        source=reported.derivation.get("compute", _COMPUTE_SOURCE),
        covers=_stands_for(lookups, reported),
    )
    return (peak,)


def _stands_for(lookups: Sequence[Lookup], reported: ReportedDevice) -> tuple[ComputeUnit, ...]:
    """Units that the profile's one peak is about: the part's main one, and those as fast."""
    peaks = next((lookup.compute for lookup in lookups if lookup.compute), ())
    return tuple(
        peak.unit
        for peak in peaks
        if peak.gflops == peaks[0].gflops and peak.unit not in reported.unit_gflops
    )


def _own_units(reported: ReportedDevice) -> tuple[ComputePeak, ...]:
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
        )
        for unit in ComputeUnit
        if _is_peak(reported.unit_gflops.get(unit))
    ]
    first = main_units(reported.kind)
    return tuple(
        sorted(found, key=lambda p: first.index(p.unit) if p.unit in first else len(first))
    )


def _published_compute(lookups: Iterable[Lookup]) -> tuple[ComputePeak, ...]:
    found: list[ComputePeak] = []
    for lookup in lookups:
        known = {unit for peak in found for unit in (peak.unit, *peak.covers)}
        found += [lookup.compute_peak(p) for p in lookup.compute if p.unit not in known]
    return tuple(found)


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


# ------------------------------------------------------------------------------------------- memory


def _merged_memory(reported: ReportedDevice, lookups: Sequence[Lookup]) -> tuple[MemoryPeak, ...]:
    published = {peak.level: peak for peak in _published_memory(lookups)}
    own = {
        level: _own_memory(reported, level, lookups)
        for level in MemoryLevel
        if _is_peak(reported.bandwidth_gbs.get(level))
    }
    if any(level.is_main for level in own):
        published = {k: peak for k, peak in published.items() if not k.is_main}
    merged = {**published, **own}
    return tuple(merged[level] for level in MemoryLevel if level in merged)


def _own_memory(
    reported: ReportedDevice, level: MemoryLevel, lookups: Sequence[Lookup]
) -> MemoryPeak:
    gbs, stat = reported.bandwidth_gbs[level], _MEMORY_SOURCES.get(level)
    stated = f"{stat} of the device plane" if stat else f"{level.label} bandwidth in the profile"
    source = reported.derivation.get(level.value, stated)
    published = lookups[0].memory.get(level) if lookups else None
    mended = published and correction(reported, lookups[0].part, level, gbs / published.gbs)
    if mended:
        how = "Half of" if mended < 1 else "Twice"
        gbs, source = gbs * mended, f"{how} the profile's figure, which is known wrong: {source}"
    return MemoryPeak(level=level, gbs=gbs, origin=reported.peak_origin, source=source)


def _published_memory(lookups: Iterable[Lookup]) -> tuple[MemoryPeak, ...]:
    found: dict[MemoryLevel, MemoryPeak] = {}
    for lookup in lookups:
        for level, peak in lookup.memory.items():
            found.setdefault(level, lookup.memory_peak(level, peak))
    return tuple(found[level] for level in MemoryLevel if level in found)


def _with_set_bandwidths(
    peaks: Sequence[MemoryPeak], bandwidths: Mapping[MemoryLevel, float], reported: ReportedDevice
) -> tuple[MemoryPeak, ...]:
    found = {peak.level: peak for peak in peaks}
    main = main_level([*found, *reported.bandwidth_gbs, *bandwidths])
    for chosen, gbs in bandwidths.items():
        level = main if chosen.is_main else chosen
        found[level] = MemoryPeak(level=level, gbs=gbs, origin=PeakOrigin.USER, source=_BY_USER)
    return tuple(found[level] for level in MemoryLevel if level in found)


def _is_peak(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value > 0

"""Peaks of a device, each with its origin.

Per peak: what the user set, then what the profile reports or measured, then what was calibrated on
this machine, then the catalogue. A peak that nobody knows stays unknown: no roof, no guess.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.devices.catalogue import find
from app.devices.catalogue import part as catalogue_part
from app.devices.choice import THIS_MACHINE, PeakChoice, known_part
from app.devices.comparisons import compare, correction
from app.devices.families import resolve_family
from app.devices.parts import Part, PartBandwidth, PartPeak, main_units, same_hardware
from app.errors import BadViewError
from app.model.compute import ComputeUnit
from app.model.device import (
    ComputePeak,
    Device,
    DeviceKind,
    MemoryPeak,
    PeakComparison,
    PeakOrigin,
    ReportedDevice,
)
from app.model.memory import MemoryLevel, main_level

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
_SCRATCH = (MemoryLevel.SHARED, MemoryLevel.LDS)
_HALF_RANGE = (0.85, 1.15)
_NO_NAME = ("", "localhost")


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A part's peaks per device of the profile, memories by the profile's own levels."""

    part: Part
    compute: tuple[PartPeak, ...]
    memory: Mapping[MemoryLevel, PartBandwidth]

    def compute_peak(self, peak: PartPeak) -> ComputePeak:
        return ComputePeak(
            id=peak.unit.value,
            label=peak.label,
            gflops=peak.gflops,
            origin=self.part.origin,
            source=f"{self.part.name}. {peak.figure.text}",
            unit=peak.unit,
            covers=same_hardware(self.part.kind, peak.unit),
        )

    def memory_peak(self, level: MemoryLevel, peak: PartBandwidth) -> MemoryPeak:
        source = f"{self.part.name}. {peak.figure.text}"
        return MemoryPeak(level=level, gbs=peak.gbs, origin=self.part.origin, source=source)


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
    lookups: tuple[_Lookup, ...] = ()
    comparisons: tuple[PeakComparison, ...] = ()
    if chosen.part_id is not None:
        lookups = (_look_up(_chosen_part(chosen.part_id, machine), reported),)
        compute, memory = _published_compute(lookups), _published_memory(lookups)
    else:
        if catalogue:
            lookups = tuple(_look_up(part, reported) for part in _parts_of(reported, machine))
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


# --------------------------------------------------------------------------------- which part it is


def identify(reported: ReportedDevice) -> Part | None:
    """The catalogue's part behind a reported device: by its exact name, else by its family."""
    return find(reported.name) or resolve_family(reported.name, reported.traits)


def _parts_of(reported: ReportedDevice, machine: Part | None) -> tuple[Part, ...]:
    """Where to look peaks up, best first."""
    published = identify(reported)
    found = machine if machine is not None and _is_machine(reported, machine) else None
    return tuple(part for part in (found, published) if part is not None)


def _is_machine(reported: ReportedDevice, machine: Part) -> bool:
    """True for a CPU capture that names this machine or its model of CPU."""
    if reported.kind is not DeviceKind.CPU:
        return False
    host = reported.traits.hostname
    return (host not in _NO_NAME and host == machine.hostname) or reported.name == machine.name


def _chosen_part(part_id: str, machine: Part | None) -> Part:
    if part_id != THIS_MACHINE:
        return catalogue_part(part_id) or known_part(part_id)
    if machine is None:
        raise BadViewError(
            "This machine's peaks have not been measured.", remedy="Run `roofline calibrate` first."
        )
    return machine


def _look_up(part: Part, reported: ReportedDevice) -> _Lookup:
    devices = _devices_per_chip(part, reported)
    memory = {_own_level(one.level, reported): one for one in part.memory(devices)}
    return _Lookup(part, part.compute(devices), memory)


def _devices_per_chip(part: Part, reported: ReportedDevice) -> int:
    """Devices that the profile shows of one chip: one half of it where its peak is about half."""
    peaks = part.compute()
    if not part.may_split or not peaks or not reported.peak_gflops:
        return part.devices_per_chip
    low, high = _HALF_RANGE
    half = peaks[0].gflops / 2
    return 2 if low <= reported.peak_gflops / half <= high else part.devices_per_chip


def _own_level(level: MemoryLevel, reported: ReportedDevice) -> MemoryLevel:
    """The level at which the profile has what the catalogue calls `level`."""
    own = reported.bandwidth_gbs
    if level.is_main:
        return main_level(own) if any(one.is_main for one in own) else level
    if level in _SCRATCH and MemoryLevel.SHARED_L1 in own:
        return MemoryLevel.SHARED_L1
    return level


# ------------------------------------------------------------------------------------------ compute


def _merged_compute(
    reported: ReportedDevice, lookups: Sequence[_Lookup]
) -> tuple[ComputePeak, ...]:
    """The profile's own peaks, then what it does not have; the main one first."""
    nameless = _nameless_peak(reported, lookups)
    own = (*nameless, *_own_units(reported))
    known = {unit for peak in own for unit in (peak.unit, *peak.covers)}
    added = [peak for peak in _published_compute(lookups) if not known & {peak.unit, *peak.covers}]
    return (*own, *added)


def _nameless_peak(reported: ReportedDevice, lookups: Sequence[_Lookup]) -> tuple[ComputePeak, ...]:
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


def _stands_for(lookups: Sequence[_Lookup], reported: ReportedDevice) -> tuple[ComputeUnit, ...]:
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


def _published_compute(lookups: Iterable[_Lookup]) -> tuple[ComputePeak, ...]:
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


def _merged_memory(reported: ReportedDevice, lookups: Sequence[_Lookup]) -> tuple[MemoryPeak, ...]:
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
    reported: ReportedDevice, level: MemoryLevel, lookups: Sequence[_Lookup]
) -> MemoryPeak:
    gbs, stat = reported.bandwidth_gbs[level], _MEMORY_SOURCES.get(level)
    stated = f"{stat} of the device plane" if stat else f"{level.label} bandwidth in the profile"
    source = reported.derivation.get(level.value, stated)
    published = lookups[0].memory.get(level) if lookups else None
    mended = correction(lookups[0].part, level, gbs / published.gbs) if published else None
    if mended is not None:
        how = "Half of" if mended < 1 else "Twice"
        gbs, source = gbs * mended, f"{how} the profile's figure, which is known wrong: {source}"
    return MemoryPeak(level=level, gbs=gbs, origin=reported.peak_origin, source=source)


def _published_memory(lookups: Iterable[_Lookup]) -> tuple[MemoryPeak, ...]:
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

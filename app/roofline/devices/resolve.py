"""Peaks of a device, each with its origin: one pass over what is known about it.

The user's choice comes first, then what the profile reports or measured, then what was calibrated
on this machine, then the catalogue. A peak that none of them knows stays unknown: no roof, no
guess.
"""

from functools import reduce

from roofline.devices.choice import PeakChoice
from roofline.devices.comparisons import compare
from roofline.devices.identification import catalogue_part, chosen_part, is_this_machine
from roofline.devices.parts import Part
from roofline.devices.peak_table import PeakTable
from roofline.devices.profile_peaks import profile_peaks
from roofline.devices.published import PublishedPeaks, published_peaks
from roofline.devices.sustained import with_sustained
from roofline.devices.topology import Topology, of_measured
from roofline.model.device import Device, PeakComparison, ReportedDevice
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
    else:
        here = machine if machine and is_this_machine(reported, machine) else None
        parts = [part for part in (here, own) if part is not None]
    return tuple(published_peaks(part, reported, is_own=part == own) for part in parts)

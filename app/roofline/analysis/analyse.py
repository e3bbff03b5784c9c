"""Profile and device to roofline records, for both states of the infeed/outfeed switch."""

from dataclasses import dataclass, replace

import numpy as np

from roofline.analysis.context import Context, Oddities, peaks_of, time_scale
from roofline.analysis.diagnose import diagnose, worded
from roofline.analysis.link_traffic import (
    links_of_ops,
    user_link,
    with_link_traffic,
    with_user_link,
)
from roofline.analysis.links import op_links
from roofline.analysis.nearest import nearest_ops
from roofline.analysis.ops import op_records, view_of
from roofline.analysis.records import AnalysisOptions, Bools, RooflineAnalysis
from roofline.analysis.serving import serving_records
from roofline.analysis.transfers import is_transfer, transfer_records
from roofline.analysis.undecided import units_held
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.profile import Profile
from roofline.model.timeline import Transfers, no_transfers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """All of an analysis that no peak changes: kept while views under many peaks are computed.

    `moves` are the ops of `profile` that only move data over a link.
    """

    profile: Profile
    options: AnalysisOptions
    oddities: Oddities
    moves: Bools
    transfers: Transfers


def analyse(profile: Profile, device: Device, options: AnalysisOptions) -> RooflineAnalysis:
    """Roofline records of a checked profile; total, whatever the profile lacks."""
    return hold(prepare(profile, options), device)


def prepare(profile: Profile, options: AnalysisOptions) -> Prepared:
    """The part of an analysis that is the same under every device."""
    oddities = Oddities(options.xprof_compat)
    timeline = None if oddities.on else profile.timeline
    return Prepared(
        profile=profile,
        options=options,
        oddities=oddities,
        moves=np.zeros(len(profile.ops), np.bool_) if oddities.on else is_transfer(profile),
        transfers=timeline.transfers if timeline else no_transfers(),
    )


def hold(prepared: Prepared, device: Device) -> RooflineAnalysis:
    """The records of a prepared profile under the peaks of `device`."""
    profile, oddities, moves = prepared.profile, prepared.oddities, prepared.moves
    device = on_levels_of(profile, device)
    peaks = peaks_of(device, oddities)
    user = None if oddities.on else user_link(device)
    profile = with_user_link(profile, user)
    seen = profile.timeline.transfers if user and profile.timeline else prepared.transfers
    transfers = transfer_records(seen, device)
    own_links = links_of_ops(profile, moves, transfers, device, user)
    if not oddities.on:
        profile = with_link_traffic(profile, moves, own_links, transfers)
    links = op_links(profile, moves, own_links, transfers, device)
    levels = tuple(level for level in MemoryLevel if level in profile.ops.traffic_bytes)
    units = () if oddities.on else units_held(profile.ops, peaks)
    shared = oddities.shared_memory_moves_hbm_bytes(device)
    context = Context(profile, device, peaks, levels, units, oddities)
    ops = op_records(context, links)
    with_infeed = view_of(context, ops, include=True)
    nearest = nearest_ops(context, ops)
    found = diagnose(context, ops, with_infeed.program, nearest)
    return RooflineAnalysis(
        profile=profile,
        device=device,
        options=prepared.options,
        peaks=peaks,
        levels=(*levels, MemoryLevel.SHARED_L1) if shared else levels,
        units=units,
        ops=ops,
        with_infeed=with_infeed,
        without_infeed=view_of(context, ops, include=False),
        time_scale_multiplier=time_scale(profile),
        diagnostics=(*map(worded, profile.diagnostics), *found),
        transfers=transfers,
        serving=None if oddities.on else serving_records(context),
        nearest=nearest,
    )


def on_levels_of(profile: Profile, device: Device) -> Device:
    """`device` with its main memory called as in `profile`, which may not know that it is HBM."""
    counted = [level for level in profile.ops.traffic_bytes if level.is_main]
    if not counted or any(peak.level in counted for peak in device.memory):
        return device
    main = main_level(counted)
    memory = [replace(peak, level=main) if peak.level.is_main else peak for peak in device.memory]
    return replace(device, memory=tuple(memory))

"""Profile and device to roofline records, for both states of the infeed/outfeed switch."""

from dataclasses import replace

from roofline.analysis.budget import budgets_of
from roofline.analysis.context import Context, Oddities, peaks_of, time_scale
from roofline.analysis.diagnose import diagnose, worded
from roofline.analysis.ops import op_records, view_of
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.analysis.transfers import transfer_records
from roofline.model.compute import ComputeUnit
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.profile import Profile
from roofline.model.timeline import no_transfers


def analyse(profile: Profile, device: Device, options: AnalysisOptions) -> RooflineAnalysis:
    """Roofline records of a checked profile; total, whatever the profile lacks."""
    device = on_levels_of(profile, device)
    oddities = Oddities(options.xprof_compat)
    peaks = peaks_of(device, oddities)
    levels = tuple(level for level in MemoryLevel if level in profile.ops.traffic_bytes)
    units = () if oddities.on else tuple(u for u in ComputeUnit if u in profile.ops.unit_flop)
    shared = oddities.shared_memory_moves_hbm_bytes(device)
    context = Context(profile, device, peaks, levels, units, oddities)
    ops = op_records(context)
    with_infeed = view_of(context, ops, include=True)
    found = diagnose(context, ops, with_infeed.program)
    # XProf has no such division, so comparison mode has none.
    timeline = None if oddities.on else profile.timeline
    transfers = transfer_records(timeline.transfers if timeline else no_transfers(), device)
    return RooflineAnalysis(
        profile=profile,
        device=device,
        options=options,
        peaks=peaks,
        levels=(*levels, MemoryLevel.SHARED_L1) if shared else levels,
        units=units,
        ops=ops,
        with_infeed=with_infeed,
        without_infeed=view_of(context, ops, include=False),
        time_scale_multiplier=time_scale(profile),
        diagnostics=(*map(worded, profile.diagnostics), *found),
        budgets=budgets_of(timeline, ops, levels, transfers) if timeline else None,
        transfers=transfers,
    )


def on_levels_of(profile: Profile, device: Device) -> Device:
    """`device` with its main memory called as in `profile`, which may not know that it is HBM."""
    counted = [level for level in profile.ops.traffic_bytes if level.is_main]
    if not counted or any(peak.level in counted for peak in device.memory):
        return device
    main = main_level(counted)
    memory = [replace(peak, level=main) if peak.level.is_main else peak for peak in device.memory]
    return replace(device, memory=tuple(memory))

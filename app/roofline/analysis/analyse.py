"""Profile and device to roofline records, for both states of the infeed/outfeed switch."""

from dataclasses import dataclass, fields, replace

import numpy as np

from roofline.analysis import prediction, roofline
from roofline.analysis.above_roof import above_roof, causes_above_roof, halves_of
from roofline.analysis.cells import shown_cells
from roofline.analysis.context import NAN, Context, Oddities, peaks_of, time_scale
from roofline.analysis.diagnose import diagnose, worded
from roofline.analysis.knowledge import bytes_known, flop_known, known_time
from roofline.analysis.measure import measure
from roofline.analysis.nearest import nearest_ops
from roofline.analysis.op_clocks import clocks_of, link_clocks
from roofline.analysis.program import Scoped, program_points
from roofline.analysis.records import (
    I64,
    MAX_OPS,
    AnalysisOptions,
    Bools,
    Cost,
    OpRecords,
    Ranking,
    RooflineAnalysis,
    View,
)
from roofline.analysis.roofline import Floats
from roofline.analysis.serving import serving_records
from roofline.analysis.transfers import (
    OpLinks,
    is_transfer,
    link_use,
    links_of_ops,
    op_links,
    transfer_records,
    user_link,
    with_link_traffic,
    with_user_link,
)
from roofline.analysis.undecided import units_held
from roofline.model.categories import IDLE_CATEGORY, is_container, is_infeed_outfeed, is_start
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.op_columns import OpColumns, joined
from roofline.model.profile import Profile
from roofline.model.timeline import Transfers, no_transfers
from roofline.model.units import PS_PER_US


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
        measured=prepared.profile,
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


def op_records(context: Context, links: OpLinks) -> OpRecords:
    """Every op of the profile, and IDLE behind them; `links` are what the ops use."""
    table = context.profile.ops
    work = joined([table.numbers().split(context.levels, context.units), _idle(context)])
    rows = prediction.untimed(work)
    links, moves = links.with_idle(), np.append(links.moves, False)
    in_one_second = measure(
        prediction.in_one_second(work, rows.is_predicted),
        context,
        links=None if context.oddities.on else links,
    )
    measures = prediction.at_best(in_one_second, work, rows.is_predicted)
    of_links = link_clocks(context, work, links)
    self_per_core = measures.self_time_us / max(context.device.core_count, 1)
    causes = causes_above_roof(context, work)
    halves = np.append(halves_of(table), False)
    cells, not_shown = shown_cells(measures, work, context, moves, halves)
    starts = np.array([*map(is_start, table.category), False], np.bool_)
    return OpRecords(
        name=(*table.name, IDLE_CATEGORY),
        category=(*table.category, IDLE_CATEGORY),
        program_id=np.append(table.program_id, np.uint64(0)),
        occurrences=work.occurrences,
        cost=_costs(work, moves),
        above_roof=above_roof(measures, causes, moves),
        compute_cause=causes.compute,
        memory_cause=causes.memory,
        self_time_per_core_us=self_per_core,
        saving_per_core_us=np.where(
            np.isnan(links.saving_us),
            _saving(self_per_core, measures.roofline_efficiency_ratio),
            links.saving_us / max(context.device.core_count, 1),
        ),
        moved=link_use(context, work, links),
        measures=measures,
        cells=cells,
        not_shown=not_shown,
        timing=rows.timing,
        in_one_second=in_one_second,
        is_start=starts,
        clocks=clocks_of(in_one_second, measures.total_time_us, rows, starts, of_links),
    )


def _idle(context: Context) -> OpColumns:
    """The row of IDLE: time in which no op ran."""
    none = np.zeros(1, np.uint64)
    return OpColumns(
        occurrences=np.zeros(1, np.int64),
        time_ps=np.array([context.idle_ps], np.uint64),
        flop=none,
        bytes_accessed=none,
        traffic_known=np.zeros(1, np.bool_),
        cost_known=np.zeros(1, np.bool_),
    )


def _costs(work: OpColumns, moves: Bools) -> tuple[Cost, ...]:
    flops, moved = flop_known(work)[:-1], bytes_known(work)[:-1]
    kinds = np.select(
        [moves[:-1], ~flops & ~moved, ~flops, ~moved, work.flop[:-1] == 0],
        [5, 0, 1, 2, 3],
        default=4,
    )
    return (*(_COSTS[kind] for kind in kinds.tolist()), Cost.IDLE)


_COSTS = (
    Cost.UNKNOWN,
    Cost.FLOPS_UNKNOWN,
    Cost.BYTES_UNKNOWN,
    Cost.NO_FLOPS,
    Cost.KNOWN,
    Cost.TRANSFER,
)


def _saving(self_us: Floats, efficiency: Floats) -> Floats:
    """Self time beyond what the roof needs: self × (1 - efficiency); unknown above the roof."""
    below = efficiency <= 1  # false for NaN
    return np.where(below, self_us * (1 - efficiency), NAN)


# ------------------------------------------------------------------------------------------ views


def view_of(context: Context, ops: OpRecords, *, include: bool) -> View:
    """The ops and the program with or without infeed and outfeed."""
    hosted = np.array([is_infeed_outfeed(category) for category in ops.category], np.bool_)
    total_us = context.program_ps(include=include) / PS_PER_US
    ranking, is_listed = _ranked(context, ops, total_us, hosted & (not include))
    listed, beyond = ranking.select(is_listed), ranking.select(~is_listed)
    scoped = _scoped(context, include=include)
    return View(
        **{one.name: getattr(listed, one.name) for one in fields(Ranking)},
        include_infeed_outfeed=include,
        every=ranking,
        known=scoped.known,
        total_time_us=total_us,
        beyond_ops=len(beyond.op),
        beyond_share_ratio=float(np.nan_to_num(beyond.self_share_ratio).sum()),
        program=program_points(scoped),
    )


def _scoped(context: Context, *, include: bool) -> Scoped:
    """The ops that the program sums up: those of a container are its children's."""
    table = context.profile.ops
    wanted = np.array(
        [
            not is_container(category) and (include or not is_infeed_outfeed(category))
            for category in table.category
        ],
        np.bool_,
    )
    ops = table.numbers().select(wanted & table.time_known)
    return Scoped(context=context, ops=ops, known=known_time(context.profile, ops), include=include)


def _ranked(
    context: Context, ops: OpRecords, total_us: float, dropped: Bools
) -> tuple[Ranking, Bools]:
    """Ops by self time, longest first, equal ones by name, and which of them are listed."""
    order = _by_self_time(ops)
    idle = len(ops) - 1
    if context.oddities.cuts_before_dropping:
        gone = dropped | (ops.occurrences == 0)
        is_top = np.arange(len(order)) < MAX_OPS
        kept = order[~(is_top & gone[order])]
        is_listed = is_top[~(is_top & gone[order])]
        return _ranking(context, ops, total_us, kept), is_listed
    kept = order[~dropped[order] & ((order != idle) | (context.idle_ps > 0))]
    is_listed = (np.cumsum(kept != idle) <= MAX_OPS) | (kept == idle)
    return _ranking(context, ops, total_us, kept), is_listed


def _ranking(context: Context, ops: OpRecords, total_us: float, order: I64) -> Ranking:
    measures = ops.measures

    def share(column: Floats) -> Floats:
        return roofline.ratio(column, total_us, missing=context.oddities.missing)

    self_share = share(measures.self_time_us[order])
    cores = max(context.device.core_count, 1)
    return Ranking(
        op=order,
        rank=np.arange(1, len(order) + 1),
        self_share_ratio=self_share,
        cumulative_share_ratio=np.where(np.isnan(self_share), NAN, np.nancumsum(self_share)),
        total_share_ratio=share(measures.total_time_us[order]),
        saving_share_ratio=share(ops.saving_per_core_us[order] * cores),
    )


def _by_self_time(ops: OpRecords) -> I64:
    """Row numbers by self time down, name up (bytewise); those without a time come last."""
    self_us = np.nan_to_num(ops.measures.self_time_us, nan=-1.0).tolist()
    names = [name.encode("utf-8", "surrogatepass") for name in ops.name]
    order = sorted(range(len(ops)), key=lambda k: (-self_us[k], names[k]))
    return np.array(order, np.int64)

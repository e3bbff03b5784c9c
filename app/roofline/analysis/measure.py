"""Work and time of rows to their roofline columns: rates, intensities, bounds, efficiencies."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.knowledge import KNOWN_SHARE, bytes_known, flop_known, is_light
from roofline.analysis.records import I64, U64, Bools, Measures
from roofline.analysis.roofline import Floats
from roofline.analysis.transfers import (
    OpLinks,
    at_own_link,
    link_bounds,
    link_bytes,
    of_group,
    over_links,
)
from roofline.analysis.undecided import between, decided, fastest, slowest
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns
from roofline.model.units import PS_PER_NS, PS_PER_US, gb_to_gib

# Less than this share of the FLOPs is a difference of sums, not work of another unit.
_ROUNDING = 1e-9


def measure(
    work: OpColumns,
    context: Context,
    divisor: Floats | None = None,
    links: OpLinks | None = None,
) -> Measures:
    """Roofline columns of `work`, one row each.

    Shown times are divided by `divisor` (the number of steps of an average), one entry per row.
    `links` are those of rows that are ops: their link binds transfers, and any other op that uses
    it most.
    """
    if context.oddities.on or not any(flop.any() for flop in work.undecided_flop.values()):
        return _measured(work, context, divisor, links)
    low, high = (
        _measured(ends, context._replace(units=tuple(ends.unit_flop)), divisor, links)
        for ends in (decided(work, context.peaks, pick) for pick in (fastest, slowest))
    )
    fallback = _fallback(context, low.operational_intensity, low.intensity)
    return between(low, high, work, context.units, fallback)


def _measured(
    work: OpColumns, context: Context, divisor: Floats | None, links: OpLinks | None
) -> Measures:
    rates = _rates(work, context, links)
    shares = _shares(work, context, rates, links)
    found = _verdict(work, context, rates, shares, links)
    return Measures(
        **_times(work, context, np.ones(len(work)) if divisor is None else divisor),
        flop_rate_gflops=rates.gflops,
        model_flop_rate_gflops=rates.model_gflops,
        integer_rate_gops=rates.integer_gops,
        memory_bandwidth_gibs=rates.gibs,
        bandwidth_gibs=rates.level_gibs,
        operational_intensity=rates.overall,
        intensity=rates.intensity,
        utilisation_ratio=shares.levels,
        unit=shares.unit,
        unit_rate_gflops=rates.unit_gflops,
        unit_utilisation_ratio=shares.units,
        main_utilisation_ratio=shares.main,
        compute_low_ratio=np.full(len(work), NAN),
        compute_high_ratio=np.full(len(work), NAN),
        bottleneck_intensity=found.intensity,
        bound=found.code,
        attainable_gflops=roofline.ratio(
            rates.gflops, np.nan_to_num(found.efficiency), missing=context.oddities.missing
        ),
        roofline_efficiency_ratio=found.efficiency,
        compute_efficiency_ratio=shares.compute,
        memory_utilisation_ratio=shares.memory,
    )


class _Rates(NamedTuple):
    """Work per time and per byte of each row, and bytes per level of the memory or link."""

    gflops: Floats
    model_gflops: Floats
    integer_gops: Floats
    unit_gflops: dict[ComputeUnit, Floats]
    gibs: Floats
    level_gibs: dict[MemoryLevel, Floats]
    traffic: dict[MemoryLevel, Floats]
    overall: Floats
    intensity: dict[MemoryLevel, Floats]


def _rates(work: OpColumns, context: Context, links: OpLinks | None) -> _Rates:
    missing = context.oddities.missing
    nanoseconds = work.time_ps.astype(np.float64) / PS_PER_NS

    def count(values: U64, known: Bools) -> Floats:
        known = (work.cost_known & known) | context.oddities.knows_all_costs
        return np.where(known, values.astype(np.float64), missing)

    def rate(values: Floats) -> Floats:
        return roofline.ratio(values, nanoseconds, missing=missing)

    flop = count(work.flop, work.flop_known)
    moved = count(work.bytes_accessed, work.bytes_known)
    traffic = _traffic(work, moved, context)
    bandwidth = {level: gb_to_gib(rate(traffic[level])) for level in context.levels}
    if links is not None:
        bandwidth |= over_links(bandwidth, links)
    overall, intensity = _intensities(flop, moved, traffic, missing)
    return _Rates(
        gflops=rate(flop),
        model_gflops=rate(count(work.model_flop, work.flop_known)),
        integer_gops=rate(np.nan_to_num(work.integer_ops, nan=missing)),
        unit_gflops={u: rate(count(work.unit_flop[u], work.flop_known)) for u in context.units},
        gibs=gb_to_gib(rate(moved)),
        level_gibs=bandwidth,
        traffic=traffic,
        overall=overall,
        intensity=intensity,
    )


class _Shares(NamedTuple):
    """Shares of peaks of each row; `unit` is whose peak `compute` is of, -1 for the main one."""

    compute: Floats
    main: Floats
    memory: Floats
    unit: I64
    units: dict[ComputeUnit, Floats]
    levels: dict[MemoryLevel, Floats]


def _shares(work: OpColumns, context: Context, rates: _Rates, links: OpLinks | None) -> _Shares:
    uses = {unit: _unit_use(work, context, unit, rates.unit_gflops[unit]) for unit in context.units}
    compute, unit, main = _compute_utilisation(work, context, rates.gflops, uses)
    levels = {
        level: _level_utilisation(
            work, context, level, rates.level_gibs[level], rates.traffic[level]
        )
        for level in context.levels
    }
    if links is not None:
        levels |= {level: levels[level] / of_group(links, level) for level in context.links}
    return _Shares(
        compute=compute,
        main=main,
        memory=_memory_utilisation(context, levels, len(work)),
        unit=unit,
        units={unit: use.share for unit, use in uses.items()},
        levels=levels,
    )


class _Verdict(NamedTuple):
    """What binds each row, the intensity at which that is so, and its share of the roof there."""

    code: I64
    intensity: Floats
    efficiency: Floats


def _verdict(
    work: OpColumns, context: Context, rates: _Rates, shares: _Shares, links: OpLinks | None
) -> _Verdict:
    binding = context.memories if links is None else context.levels
    bounds = _bounds(context, binding, rates, shares)
    decided = _is_decided(work, context, shares.compute, shares.levels, rates.traffic)
    code = np.where(decided | context.oddities.on, bounds.code, roofline.UNKNOWN_BOUND)
    of_links = [_one_way(level, shares, rates) for level in binding if level.is_link]
    efficiency = roofline.highest(
        [shares.memory, shares.compute, *of_links],
        length=len(work),
        missing=context.oddities.missing,
    )
    if links is not None:
        code = np.where(links.moves, link_bounds(context, links), code)
        share = at_own_link(context, links, shares.levels)
        efficiency = np.where(links.moves, np.where(share > 0, share, NAN), efficiency)
    # Nothing binds, so there is no roof to be compared with (XProf shows 0 % of it).
    unbound = (code == roofline.UNKNOWN_BOUND) & (not context.oddities.on)
    at = np.where(unbound, _fallback(context, rates.overall, rates.intensity), bounds.intensity)
    if links is not None:
        at = np.where(links.moves, at_own_link(context, links, rates.intensity), at)
    return _Verdict(code=code, intensity=at, efficiency=np.where(unbound, NAN, efficiency))


def _times(work: OpColumns, context: Context, divisor: Floats) -> dict[str, Floats]:
    """The columns of `Measures` that hold times, and the share of time stalled."""
    missing = context.oddities.missing
    total_ps, self_ps = (
        np.where(work.time_known, times.astype(np.float64), NAN)
        for times in (work.time_ps, work.self_time_ps)
    )
    total_us, self_us = total_ps / PS_PER_US, self_ps / PS_PER_US
    occurrences = work.occurrences.astype(np.float64)
    shown_us = total_us / divisor
    cores, stall_ps = float(context.device.core_count), work.dma_stall_ps.astype(np.float64)
    return {
        "total_time_us": shown_us,
        "avg_time_us": roofline.ratio(total_us, occurrences, missing=missing),
        "self_time_us": self_us / divisor,
        "avg_self_time_us": roofline.ratio(self_us, occurrences, missing=missing),
        "total_time_per_core_us": roofline.ratio(shown_us, cores, missing=missing),
        "dma_stall_ratio": roofline.ratio(stall_ps, total_ps, missing=missing),
    }


def _intensities(
    flop: Floats, moved: Floats, traffic: Mapping[MemoryLevel, Floats], missing: float
) -> tuple[Floats, dict[MemoryLevel, Floats]]:
    """FLOPs per byte of all memories together, and per level; unknown where no byte moved."""

    def per_byte(moved: Floats) -> Floats:
        return roofline.ratio(flop, np.nan_to_num(moved), missing=missing)

    return per_byte(moved), {level: per_byte(column) for level, column in traffic.items()}


def _is_decided(
    work: OpColumns,
    context: Context,
    compute: Floats,
    used: Mapping[MemoryLevel, Floats],
    traffic: Mapping[MemoryLevel, Floats],
) -> Bools:
    """Rows of which it can be said what binds them: the use of compute and main memory is known.

    With one of the two alone, the other one may be used more. No work uses nothing.
    """
    main, flops = context.main_level, flop_known(work)
    compute_known = (flops & ((work.flop == 0) | ~np.isnan(compute))) | is_light(
        context.profile, work
    )
    if main in used:
        memory_known = ~np.isnan(used[main]) | (traffic[main] == 0)
    else:
        memory_known = np.isfinite(
            roofline.highest([*used.values()], length=len(work), missing=NAN)
        )
    nothing_moved = bytes_known(work) & (work.bytes_accessed == 0)
    decided: Bools = compute_known & (memory_known | nothing_moved)
    return decided


def _fallback(context: Context, overall: Floats, intensity: Mapping[MemoryLevel, Floats]) -> Floats:
    """x of rows that nothing is known to bind: their intensity at the main memory.

    Over all bytes on a device without any known peak: points without roofs still tell ops apart.
    """
    if context.peaks.gflops or context.peaks.binding_gibs:
        return intensity.get(context.main_level, np.full_like(overall, NAN))
    return overall


def _traffic(work: OpColumns, moved: Floats, context: Context) -> dict[MemoryLevel, Floats]:
    """Bytes per level. Without a breakdown all count as the main memory's; on-chip is unknown."""
    missing = context.oddities.missing
    traffic: dict[MemoryLevel, Floats] = {}
    for level in context.links:
        traffic[level] = link_bytes(work, level)
    for level in context.memories:
        counted = work.traffic_bytes[level].astype(np.float64)
        otherwise = moved if level is context.main_level else np.full(len(moved), missing)
        values = np.where(work.traffic_known, counted, otherwise)
        traffic[level] = np.where(np.isnan(moved), moved, values)
    return traffic


def _one_way(level: MemoryLevel, shares: _Shares, rates: _Rates) -> Floats:
    """The share of a level's peak; unknown of the host link beside FLOPs. The bytes of such work go
    in and out, and their sum has no single peak; a copy has one direction."""
    if level is not MemoryLevel.HOST:
        return shares.levels[level]
    return np.where(np.nan_to_num(rates.gflops) > 0, NAN, shares.levels[level])


def _bounds(
    context: Context, levels: Sequence[MemoryLevel], rates: _Rates, shares: _Shares
) -> roofline.Bounds:
    """Compute, then `levels` in order; other than the main memory only where they moved bytes."""
    memory = []
    for level in levels:
        used = _one_way(level, shares, rates)
        if not level.is_main:
            used = np.where(np.nan_to_num(rates.traffic[level]) > 0, used, 0.0)
        memory.append((used, rates.intensity[level]))
    gibs = rates.level_gibs.get(MemoryLevel.HBM)
    if gibs is not None and context.oddities.shared_memory_moves_hbm_bytes(context.device):
        peak = context.peaks.binding_gibs.get(MemoryLevel.SHARED_L1, 0.0)
        used = roofline.ratio(gibs, peak, missing=0.0)
        memory.append((used, rates.intensity[MemoryLevel.HBM]))
    return roofline.classify(shares.compute, rates.overall, memory)


def _share(work: Floats, capacity: Floats, rate: Floats, peak: float, missing: float) -> Floats:
    """Work over what the profiler measured as possible, else the rate over the device's peak."""
    by_peak = roofline.ratio(rate, peak, missing=missing)
    known = np.isfinite(capacity) & (capacity > 0)
    return np.where(known, work / np.where(known, capacity, 1.0), by_peak)


def _level_utilisation(
    work: OpColumns, context: Context, level: MemoryLevel, gibs: Floats, traffic: Floats
) -> Floats:
    """Share of one memory's peak that is used; `missing` where there is no peak."""
    missing, peak = context.oddities.missing, context.peaks.level_gibs(level) or 0.0
    if level not in work.level_capacity_bytes:
        return roofline.ratio(gibs, peak, missing=missing)
    return _share(traffic, work.level_capacity_bytes[level], gibs, peak, missing)


class _UnitUse(NamedTuple):
    """One compute unit: its rate, the share of its peak (NaN where unknown), where it works."""

    gflops: Floats
    share: Floats
    works: Bools

    @property
    def is_held(self) -> Bools:
        """Where its work can be held against a peak."""
        return self.works & ~np.isnan(self.share)


def _unit_use(work: OpColumns, context: Context, unit: ComputeUnit, gflops: Floats) -> _UnitUse:
    capacity = work.unit_capacity_flop.get(unit, np.full(len(gflops), NAN))
    flop = work.unit_flop[unit].astype(np.float64)
    share = _share(flop, capacity, gflops, context.peaks.unit_gflops.get(unit, 0.0), NAN)
    return _UnitUse(gflops=gflops, share=share, works=(flop > 0) & ~np.isnan(gflops))


def _compute_utilisation(
    work: OpColumns, context: Context, flop_rate: Floats, units: Mapping[ComputeUnit, _UnitUse]
) -> tuple[Floats, I64, Floats]:
    """Share of the most used compute peak, whose it is (a unit's, or -1 for the main one), and
    the share of the main one.

    What no unit with a peak claims counts against the main peak, unless that is itself a unit's:
    it says nothing about another unit's work. A row that does most of its work in units without a
    peak has no share; its unit is the one of those that it uses most.
    """
    peaks, missing = context.peaks, context.oddities.missing
    if not units:
        share = roofline.ratio(flop_rate, peaks.gflops, missing=missing)
        return share, np.full(len(share), -1), share
    uses = [units[unit] for unit in context.units]
    claimed = [use.works if peaks.is_of_one_unit else use.is_held for use in uses]
    rest = flop_rate - sum(np.where(c, u.gflops, 0.0) for c, u in zip(claimed, uses, strict=True))
    is_rest = (rest > flop_rate * _ROUNDING) | ~np.logical_or.reduce(claimed)
    main = np.where(is_rest, roofline.ratio(rest, peaks.gflops, missing=NAN), NAN)
    shares = [main, *(np.where(use.is_held, use.share, NAN) for use in uses)]
    share = roofline.highest(shares, length=len(main), missing=NAN)
    best = np.nan_to_num(np.stack(shares), nan=-1.0).argmax(axis=0)
    lost = [np.where(c & ~u.is_held, u.gflops, 0.0) for c, u in zip(claimed, uses, strict=True)]
    unheld = np.stack(lost)
    is_mostly_unheld = unheld.sum(axis=0) > (1 - KNOWN_SHARE) * flop_rate
    number = np.where(
        is_mostly_unheld, unheld.argmax(axis=0), np.where(np.isnan(share), 0, best) - 1
    )
    share = np.where(is_mostly_unheld, NAN, share)
    return share, number, np.where(is_rest, main, 0.0)


def _memory_utilisation(
    context: Context, utilisation: Mapping[MemoryLevel, Floats], length: int
) -> Floats:
    """Share of the most used memory's peak, among the levels that count."""
    missing = context.oddities.missing
    columns = [
        used
        for level, used in utilisation.items()
        if not level.is_link and (not context.oddities.on or level in context.peaks.counted_gibs)
    ]
    return roofline.highest(columns, length=length, missing=missing)

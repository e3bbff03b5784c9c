"""Profile and device to roofline records, for both states of the infeed/outfeed switch.

Records are columns. Two modes: corrected (the page, our exports) and `xprof_compat`, which keeps
XProf 2.24.2's numbers cell by cell; each of its oddities is one named place in `_Oddities`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.analysis import roofline
from app.analysis.roofline import Floats, Peaks
from app.model.categories import IDLE_CATEGORY, is_container, is_infeed_outfeed
from app.model.device import Device, DeviceKind
from app.model.memory import MemoryLevel
from app.model.profile import Diagnostic, Profile, ScopeSums, Severity
from app.model.units import PS_PER_NS, PS_PER_US, gb_to_gib, gib_to_gb

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]

MAX_OPS = 1000
OUTLIER_RATIO = 0.3
_NAN = float("nan")
_U64 = 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """How to analyse. `xprof_compat` reproduces XProf's table exactly, oddities included."""

    xprof_compat: bool = False


class Cost(StrEnum):
    """What is known of an op's work."""

    KNOWN = "known"
    NO_FLOPS = "no_flops"
    UNKNOWN = "unknown"
    IDLE = "idle"


class Scope(StrEnum):
    """What a program-level point sums up."""

    TOTAL = "total"
    TOTAL_HW = "total_hw"
    AVERAGE = "average"
    STEP = "step"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measures:
    """Roofline columns of rows (ops or program points); NaN where unknown.

    Rates are per core: FLOP/s in GFLOP/s (1e9), bandwidth in GiB/s (2**30), intensity in FLOP/byte,
    ratios as fractions. `bound` is a code of `roofline.classify` over `levels` of the analysis.
    """

    total_time_us: Floats
    avg_time_us: Floats
    self_time_us: Floats
    avg_self_time_us: Floats
    total_time_per_core_us: Floats
    dma_stall_ratio: Floats
    flop_rate_gflops: Floats
    model_flop_rate_gflops: Floats
    memory_bandwidth_gibs: Floats
    bandwidth_gibs: Mapping[MemoryLevel, Floats]
    operational_intensity: Floats
    intensity: Mapping[MemoryLevel, Floats]
    bottleneck_intensity: Floats
    bound: I64
    attainable_gflops: Floats
    roofline_efficiency_ratio: Floats
    compute_efficiency_ratio: Floats
    memory_utilisation_ratio: Floats

    def by_id(self, levels: Iterable[MemoryLevel]) -> dict[str, Floats]:
        """Numeric columns by their id on the page and in exports; per memory level for `levels`."""
        levels = tuple(levels)
        return {
            "total_time_us": self.total_time_us,
            "avg_time_us": self.avg_time_us,
            "self_time_us": self.self_time_us,
            "avg_self_time_us": self.avg_self_time_us,
            "total_time_per_core_us": self.total_time_per_core_us,
            "dma_stall_ratio": self.dma_stall_ratio,
            "flop_rate_gflops": self.flop_rate_gflops,
            "model_flop_rate_gflops": self.model_flop_rate_gflops,
            "memory_bandwidth_gibs": self.memory_bandwidth_gibs,
            **{f"{level}_bandwidth_gibs": self.bandwidth_gibs[level] for level in levels},
            "operational_intensity": self.operational_intensity,
            **{f"{level}_intensity": self.intensity[level] for level in levels},
            "bottleneck_intensity": self.bottleneck_intensity,
            "attainable_gflops": self.attainable_gflops,
            "roofline_efficiency_ratio": self.roofline_efficiency_ratio,
            "compute_efficiency_ratio": self.compute_efficiency_ratio,
            "memory_utilisation_ratio": self.memory_utilisation_ratio,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpRecords:
    """All ops, one row each, in the profile's order; the last row is IDLE.

    `saving_per_core_us` is the self time an op would save at its roof.
    """

    name: tuple[str, ...]
    category: tuple[str, ...]
    program_id: U64
    occurrences: I64
    cost: tuple[Cost, ...]
    self_time_per_core_us: Floats
    saving_per_core_us: Floats
    measures: Measures

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramPoints:
    """Total, counters, average and steps, in that order. `outlier` marks steps off the median."""

    scope: tuple[Scope, ...]
    label: tuple[str, ...]
    outlier: Bools
    measures: Measures

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """One state of the infeed/outfeed switch: listed ops by self time, and program points.

    `op` indexes `OpRecords`; the ratios are of the program's time in this state. `beyond_ops` and
    `beyond_share_ratio` are the ops past the first 1000.
    """

    include_infeed_outfeed: bool
    op: I64
    rank: I64
    self_share_ratio: Floats
    cumulative_share_ratio: Floats
    total_share_ratio: Floats
    saving_share_ratio: Floats
    total_time_us: float
    beyond_ops: int
    beyond_share_ratio: float
    program: ProgramPoints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RooflineAnalysis:
    """Everything there is to show or export of one profile on one device."""

    profile: Profile
    device: Device
    options: AnalysisOptions
    peaks: Peaks
    levels: tuple[MemoryLevel, ...]
    ops: OpRecords
    with_infeed: View
    without_infeed: View
    time_scale_multiplier: float | None
    diagnostics: tuple[Diagnostic, ...]

    def view(self, *, include_infeed_outfeed: bool) -> View:
        """The state with or without infeed and outfeed."""
        return self.with_infeed if include_infeed_outfeed else self.without_infeed

    def bound_label(self, code: int) -> str:
        """XProf's text for a bound code."""
        if code <= roofline.COMPUTE_BOUND:
            return ("Unknown", "Compute")[code]
        return self.levels[code - 2].label


@dataclass(frozen=True, slots=True)
class _Oddities:
    """Where XProf 2.24.2 differs from what is right, each switch in one place."""

    on: bool

    @property
    def missing(self) -> float:
        """XProf shows 0 for what it does not know."""
        return 0.0 if self.on else _NAN

    @property
    def cuts_before_dropping(self) -> bool:
        """XProf takes the top 1000 first and drops IDLE and infeed rows from them afterwards."""
        return self.on

    @property
    def knows_all_costs(self) -> bool:
        """XProf takes an unknown cost for zero."""
        return self.on

    @property
    def averages_no_steps(self) -> bool:
        """XProf shows an average of zeros when there is no step."""
        return self.on

    def counter(self, time_ps: int) -> int:
        """A time as a 64-bit counter: XProf's wraps below zero and above its range, ours stops."""
        return time_ps % _U64 if self.on else min(max(0, time_ps), _U64 - 1)

    def shared_memory_moves_hbm_bytes(self, device: Device) -> bool:
        """XProf takes HBM traffic for that of shared memory and L1, which nobody counted."""
        return self.on and device.kind is DeviceKind.GPU

    def counted_levels(self, device: Device) -> frozenset[MemoryLevel]:
        """Levels in efficiency: XProf goes by flags that combining hosts loses, we by peaks."""
        if not self.on:
            return frozenset(peak.level for peak in device.memory)
        levels = {MemoryLevel.HBM}
        if device.has_cmem:
            levels |= {MemoryLevel.CMEM_READ, MemoryLevel.CMEM_WRITE}
        elif device.has_merged_vmem:
            levels |= {MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE}
        return frozenset(levels)


def analyse(profile: Profile, device: Device, options: AnalysisOptions) -> RooflineAnalysis:
    """Roofline records of a checked profile; total, whatever the profile lacks."""
    oddities = _Oddities(options.xprof_compat)
    peaks = _peaks(device, oddities)
    levels = tuple(level for level in MemoryLevel if level in profile.ops.traffic_bytes)
    shared = oddities.shared_memory_moves_hbm_bytes(device)
    context = _Context(profile, device, peaks, levels, oddities)
    ops = _op_records(context)
    with_infeed = _view(context, ops, include=True)
    found = _diagnostics(context, ops, with_infeed.program)
    return RooflineAnalysis(
        profile=profile,
        device=device,
        options=options,
        peaks=peaks,
        levels=(*levels, MemoryLevel.SHARED_L1) if shared else levels,
        ops=ops,
        with_infeed=with_infeed,
        without_infeed=_view(context, ops, include=False),
        time_scale_multiplier=_time_scale(profile),
        diagnostics=(*map(_worded, profile.diagnostics), *found),
    )


@dataclass(frozen=True, slots=True)
class _Context:
    profile: Profile
    device: Device
    peaks: Peaks
    levels: tuple[MemoryLevel, ...]
    oddities: _Oddities

    @property
    def idle_ps(self) -> int:
        return self.oddities.counter(self.profile.time_ps - self.profile.op_time_ps)

    def program_ps(self, *, include: bool) -> int:
        """The program's core-time, in the second state without its infeed and outfeed ops."""
        hosted = 0 if include else self.infeed_outfeed_ps
        return self.oddities.counter(self.profile.time_ps - hosted)

    @property
    def infeed_outfeed_ps(self) -> int:
        table = self.profile.ops
        hosted = np.array([is_infeed_outfeed(category) for category in table.category], np.bool_)
        return int(table.time_ps[hosted].sum(dtype=np.uint64))

    @property
    def counted(self) -> bool:
        """True if the work of any op was counted: else the program's is unknown, too."""
        return bool(self.profile.ops.cost_known.any())


def _peaks(device: Device, oddities: _Oddities) -> Peaks:
    gibs = {peak.level: gb_to_gib(peak.gbs) for peak in device.memory}
    counted = oddities.counted_levels(device)
    return Peaks(
        gflops=device.peak_gflops or 0.0,
        binding_gibs=gibs,
        counted_gibs={level: value for level, value in gibs.items() if level in counted},
    )


def _time_scale(profile: Profile) -> float | None:
    """Op time at the default clock over op time: below 1 where the clock was raised."""
    return profile.normalised_op_time_ps / profile.op_time_ps if profile.op_time_ps else None


# --------------------------------------------------------------------------------------- measures


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """Time and work of rows, as counted; `known` is false where nobody counted."""

    time_ps: U64
    self_time_ps: U64
    occurrences: I64
    dma_stall_ps: U64
    flop: U64
    model_flop: U64
    bytes_accessed: U64
    traffic_bytes: Mapping[MemoryLevel, U64]
    traffic_known: Bools
    known: Bools
    divisor: Floats  # 1, or the number of steps of an average


def _measure(work: _Work, context: _Context) -> Measures:
    missing = context.oddities.missing
    nanoseconds = work.time_ps.astype(np.float64) / PS_PER_NS
    known = work.known | context.oddities.knows_all_costs

    def count(values: U64) -> Floats:
        return np.where(known, values.astype(np.float64), missing)

    def rate(values: Floats) -> Floats:
        return roofline.ratio(values, nanoseconds, missing=missing)

    flop, moved = count(work.flop), count(work.bytes_accessed)
    traffic = _traffic(work, moved, context)
    bandwidth = {level: gb_to_gib(rate(traffic[level])) for level in context.levels}
    overall, intensity = _intensities(flop, moved, traffic, missing)
    flop_rate = rate(flop)
    compute = roofline.ratio(flop_rate, context.peaks.gflops, missing=missing)
    bounds = _bounds(context, compute, overall, bandwidth, intensity, traffic)
    memory = _memory_utilisation(context, bandwidth, len(flop))
    efficiency = roofline.highest([memory, compute], length=len(flop), missing=missing)
    # Nothing binds, so there is no roof to be compared with (XProf shows 0 % of it).
    unbound = (bounds.code == roofline.UNKNOWN_BOUND) & (not context.oddities.on)
    efficiency = np.where(unbound, _NAN, efficiency)
    return Measures(
        **_times(work, context),
        flop_rate_gflops=flop_rate,
        model_flop_rate_gflops=rate(count(work.model_flop)),
        memory_bandwidth_gibs=gb_to_gib(rate(moved)),
        bandwidth_gibs=bandwidth,
        operational_intensity=overall,
        intensity=intensity,
        bottleneck_intensity=np.where(unbound, _fallback(context, overall), bounds.intensity),
        bound=bounds.code,
        attainable_gflops=roofline.ratio(flop_rate, np.nan_to_num(efficiency), missing=missing),
        roofline_efficiency_ratio=efficiency,
        compute_efficiency_ratio=compute,
        memory_utilisation_ratio=memory,
    )


def _times(work: _Work, context: _Context) -> dict[str, Floats]:
    """The columns of `Measures` that hold times, and the share of time stalled."""
    missing = context.oddities.missing
    total_ps, self_ps = work.time_ps.astype(np.float64), work.self_time_ps.astype(np.float64)
    total_us, self_us = total_ps / PS_PER_US, self_ps / PS_PER_US
    occurrences = work.occurrences.astype(np.float64)
    shown_us = total_us / work.divisor
    cores, stall_ps = float(context.device.core_count), work.dma_stall_ps.astype(np.float64)
    return {
        "total_time_us": shown_us,
        "avg_time_us": roofline.ratio(total_us, occurrences, missing=missing),
        "self_time_us": self_us / work.divisor,
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


def _fallback(context: _Context, overall: Floats) -> Floats:
    """x of what nothing binds: none, but over all bytes on a device without any known peak.

    Without peaks nothing ever binds, and points without roofs still tell ops apart.
    """
    if context.peaks.gflops or context.peaks.binding_gibs:
        return np.full_like(overall, _NAN)
    return overall


def _traffic(work: _Work, moved: Floats, context: _Context) -> dict[MemoryLevel, Floats]:
    """Bytes per level. Without a breakdown all bytes count as HBM's, and on-chip is unknown."""
    missing = context.oddities.missing
    traffic: dict[MemoryLevel, Floats] = {}
    for level in context.levels:
        counted = work.traffic_bytes[level].astype(np.float64)
        otherwise = moved if level is MemoryLevel.HBM else np.full(len(moved), missing)
        values = np.where(work.traffic_known, counted, otherwise)
        traffic[level] = np.where(np.isnan(moved), moved, values)
    return traffic


def _bounds(
    context: _Context,
    compute: Floats,
    overall: Floats,
    bandwidth: Mapping[MemoryLevel, Floats],
    intensity: Mapping[MemoryLevel, Floats],
    traffic: Mapping[MemoryLevel, Floats],
) -> roofline.Bounds:
    """Compute, then the memories in order; on-chip ones only where they moved bytes."""
    memory = []
    for level in context.levels:
        peak = context.peaks.binding_gibs.get(level, 0.0)
        used = roofline.ratio(bandwidth[level], peak, missing=0.0)
        if level is not MemoryLevel.HBM:
            used = np.where(np.nan_to_num(traffic[level]) > 0, used, 0.0)
        memory.append((used, intensity[level]))
    if context.oddities.shared_memory_moves_hbm_bytes(context.device):
        peak = context.peaks.binding_gibs.get(MemoryLevel.SHARED_L1, 0.0)
        moved, at = bandwidth[MemoryLevel.HBM], intensity[MemoryLevel.HBM]
        memory.append((roofline.ratio(moved, peak, missing=0.0), at))
    return roofline.classify(compute, overall, memory)


def _memory_utilisation(
    context: _Context, bandwidth: Mapping[MemoryLevel, Floats], length: int
) -> Floats:
    """Share of the most used memory's peak, among the levels that count."""
    missing = context.oddities.missing
    columns = [
        roofline.ratio(bandwidth[level], peak, missing=missing)
        for level, peak in context.peaks.counted_gibs.items()
        if level in bandwidth
    ]
    return roofline.highest(columns, length=length, missing=missing)


# -------------------------------------------------------------------------------------------- ops


def _op_records(context: _Context) -> OpRecords:
    table = context.profile.ops
    idle = np.array([context.idle_ps], np.uint64)

    def with_idle(column: U64, value: U64 | None = None) -> U64:
        return np.concatenate([column, np.zeros(1, np.uint64) if value is None else value])

    known = np.append(table.cost_known, False)
    work = _Work(
        time_ps=with_idle(table.time_ps, idle),
        self_time_ps=with_idle(table.self_time_ps, idle),
        occurrences=np.append(table.occurrences, 0),
        dma_stall_ps=with_idle(table.dma_stall_ps),
        flop=with_idle(table.flop),
        model_flop=with_idle(table.model_flop),
        bytes_accessed=with_idle(table.bytes_accessed),
        traffic_bytes={level: with_idle(table.traffic_bytes[level]) for level in context.levels},
        traffic_known=np.append(table.traffic_known, False),
        known=known,
        divisor=np.ones(len(known)),
    )
    measures = _measure(work, context)
    self_per_core = measures.self_time_us / max(context.device.core_count, 1)
    return OpRecords(
        name=(*table.name, IDLE_CATEGORY),
        category=(*table.category, IDLE_CATEGORY),
        program_id=with_idle(table.program_id),
        occurrences=work.occurrences,
        cost=_costs(work),
        self_time_per_core_us=self_per_core,
        saving_per_core_us=_saving(self_per_core, measures.roofline_efficiency_ratio),
        measures=measures,
    )


def _costs(work: _Work) -> tuple[Cost, ...]:
    def cost(known: bool, flop: int) -> Cost:
        if not known:
            return Cost.UNKNOWN
        return Cost.KNOWN if flop else Cost.NO_FLOPS

    pairs = zip(work.known[:-1].tolist(), work.flop[:-1].tolist(), strict=True)
    return (*(cost(known, flop) for known, flop in pairs), Cost.IDLE)


def _saving(self_us: Floats, efficiency: Floats) -> Floats:
    """Self time beyond what the roof needs: self × (1 - efficiency); unknown above the roof."""
    below = efficiency <= 1  # false for NaN
    return np.where(below, self_us * (1 - efficiency), _NAN)


# ------------------------------------------------------------------------------------------ views


def _view(context: _Context, ops: OpRecords, *, include: bool) -> View:
    hosted = np.array([is_infeed_outfeed(category) for category in ops.category], np.bool_)
    total_us = context.program_ps(include=include) / PS_PER_US
    listed, beyond = _listed(context, ops, hosted & (not include))
    measures = ops.measures

    def share(column: Floats) -> Floats:
        return roofline.ratio(column, total_us, missing=context.oddities.missing)

    self_share = share(measures.self_time_us[listed])
    cores = max(context.device.core_count, 1)
    return View(
        include_infeed_outfeed=include,
        op=listed,
        rank=np.arange(1, len(listed) + 1),
        self_share_ratio=self_share,
        cumulative_share_ratio=np.cumsum(self_share),
        total_share_ratio=share(measures.total_time_us[listed]),
        saving_share_ratio=share(ops.saving_per_core_us[listed] * cores),
        total_time_us=total_us,
        beyond_ops=len(beyond),
        beyond_share_ratio=float(np.nan_to_num(share(measures.self_time_us[beyond])).sum()),
        program=_program(context, include=include),
    )


def _listed(context: _Context, ops: OpRecords, dropped: Bools) -> tuple[I64, I64]:
    """Ops by self time, longest first, equal ones by name: the first 1000, and the rest."""
    order = _by_self_time(ops)
    if context.oddities.cuts_before_dropping:
        gone = dropped | (ops.occurrences == 0)
        top = order[:MAX_OPS]
        return top[~gone[top]], order[MAX_OPS:]
    kept = order[~dropped[order]]
    idle = len(ops) - 1
    ranked = kept[kept != idle]
    chosen = set(ranked[:MAX_OPS].tolist()) | ({idle} if context.idle_ps else set())
    return np.array([k for k in kept.tolist() if k in chosen], np.int64), ranked[MAX_OPS:]


def _by_self_time(ops: OpRecords) -> I64:
    """Row numbers by self time down, name up (bytewise)."""
    self_us = ops.measures.self_time_us.tolist()
    names = [name.encode("utf-8", "surrogatepass") for name in ops.name]
    order = sorted(range(len(ops)), key=lambda k: (-self_us[k], names[k]))
    return np.array(order, np.int64)


# ---------------------------------------------------------------------------------------- program


def _program(context: _Context, *, include: bool) -> ProgramPoints:
    steps = context.profile.steps
    scopes, labels, works = [Scope.TOTAL], ["Total"], [_total_work(context, include=include)]
    averages = len(steps) > 0 or context.oddities.averages_no_steps
    if context.profile.has_average and averages:
        scopes.append(Scope.AVERAGE)
        labels.append("Average")
        works.append(_average_work(context, include=include))
    if len(steps):
        scopes += [Scope.STEP] * len(steps)
        labels += steps.label
        works.append(_step_work(context, include=include))
    measures = _measure(_stack(works, context.levels), context)
    points = ProgramPoints(
        scope=tuple(scopes),
        label=tuple(labels),
        outlier=_outliers(scopes, measures.total_time_us),
        measures=measures,
    )
    # Counters cannot tell infeed and outfeed apart: their point belongs to the whole program.
    return _with_counters(context, points) if include and not context.oddities.on else points


def _outliers(scopes: Sequence[Scope], time_us: Floats) -> Bools:
    """Steps whose time differs from the median step's by more than 30 %."""
    is_step = np.array([scope is Scope.STEP for scope in scopes], np.bool_)
    if not is_step.any():
        return is_step
    median = float(np.median(time_us[is_step]))
    return is_step & (np.abs(time_us - median) > OUTLIER_RATIO * median)


def _total_work(context: _Context, *, include: bool) -> _Work:
    table = context.profile.ops
    classes = [
        -1 if is_container(category) else int(is_infeed_outfeed(category))
        for category in table.category
    ]
    wanted = np.isin(classes, [0, 1] if include else [0])

    def total(column: U64) -> U64:
        return np.array([column[wanted].sum(dtype=np.uint64)], np.uint64)

    return _program_work(
        context,
        np.array([context.program_ps(include=include)], np.uint64),
        flop=total(table.flop),
        model_flop=total(table.model_flop),
        bytes_accessed=total(table.bytes_accessed),
        traffic_bytes={level: total(table.traffic_bytes[level]) for level in context.levels},
        traffic_known=np.array([table.traffic_known[wanted].any()]),
    )


def _step_work(context: _Context, *, include: bool) -> _Work:
    steps = context.profile.steps
    sums = steps.sums
    time = [
        int(t) if include else context.oddities.counter(int(t) - int(moved))
        for t, moved in zip(steps.time_ps.tolist(), sums.time_ps[:, 1].tolist(), strict=True)
    ]
    return _sums_work(np.array(time, np.uint64), sums, context, include=include)


def _average_work(context: _Context, *, include: bool) -> _Work:
    """All steps as one row; its shown times are divided by their number afterwards."""
    steps = context.profile.steps
    time = int(steps.time_ps.sum(dtype=np.uint64))
    if not include:
        moved = int(steps.sums.time_ps[:, 1].sum(dtype=np.uint64))
        time = context.oddities.counter(time - moved)
    whole = ScopeSums(
        time_ps=steps.sums.time_ps.sum(axis=0, keepdims=True, dtype=np.uint64),
        flop=steps.sums.flop.sum(axis=0, keepdims=True, dtype=np.uint64),
        model_flop=steps.sums.model_flop.sum(axis=0, keepdims=True, dtype=np.uint64),
        bytes_accessed=steps.sums.bytes_accessed.sum(axis=0, keepdims=True, dtype=np.uint64),
        traffic_bytes={
            level: column.sum(axis=0, keepdims=True, dtype=np.uint64)
            for level, column in steps.sums.traffic_bytes.items()
        },
        traffic_known=np.logical_or.reduce(steps.sums.traffic_known, axis=0, keepdims=True),
    )
    divisor = float(max(len(steps), 1))
    return _sums_work(np.array([time], np.uint64), whole, context, include=include, divisor=divisor)


def _sums_work(
    time_ps: U64, sums: ScopeSums, context: _Context, *, include: bool, divisor: float = 1.0
) -> _Work:
    wanted = slice(0, 2 if include else 1)

    def total(column: U64) -> U64:
        summed: U64 = np.add.reduce(column[:, wanted], axis=1)
        return summed

    return _program_work(
        context,
        time_ps,
        flop=total(sums.flop),
        model_flop=total(sums.model_flop),
        bytes_accessed=total(sums.bytes_accessed),
        traffic_bytes={level: total(sums.traffic_bytes[level]) for level in context.levels},
        traffic_known=np.logical_or.reduce(sums.traffic_known[:, wanted], axis=1),
        divisor=divisor,
    )


def _program_work(
    context: _Context,
    time_ps: U64,
    *,
    flop: U64,
    model_flop: U64,
    bytes_accessed: U64,
    traffic_bytes: Mapping[MemoryLevel, U64],
    traffic_known: Bools,
    divisor: float = 1.0,
) -> _Work:
    """Program rows occur once and have no self time, as in XProf."""
    rows = len(time_ps)
    return _Work(
        time_ps=time_ps,
        self_time_ps=np.zeros(rows, np.uint64),
        occurrences=np.ones(rows, np.int64),
        dma_stall_ps=np.zeros(rows, np.uint64),
        flop=flop,
        model_flop=model_flop,
        bytes_accessed=bytes_accessed,
        traffic_bytes=traffic_bytes,
        traffic_known=traffic_known,
        known=np.full(rows, context.counted),
        divisor=np.full(rows, divisor),
    )


def _stack(works: Sequence[_Work], levels: Sequence[MemoryLevel]) -> _Work:
    columns = {
        field.name: np.concatenate([getattr(work, field.name) for work in works])
        for field in fields(_Work)
        if field.name != "traffic_bytes"
    }
    traffic = {level: np.concatenate([w.traffic_bytes[level] for w in works]) for level in levels}
    return _Work(traffic_bytes=traffic, **columns)


def _with_counters(context: _Context, points: ProgramPoints) -> ProgramPoints:
    """Insert "Total (HW)" after Total where the capture has utilisation counters."""
    counters = context.device.counters
    compute, memory = _counted(counters.matrix_unit_ratio), _counted(counters.hbm_ratio)
    if math.isnan(compute) and math.isnan(memory):
        return points
    row = _counter_measures(context, compute, memory) | {
        name: float(getattr(points.measures, name)[0])
        for name in ("total_time_us", "total_time_per_core_us")
    }
    return ProgramPoints(
        scope=(points.scope[0], Scope.TOTAL_HW, *points.scope[1:]),
        label=(points.label[0], "Total (HW)", *points.label[1:]),
        outlier=np.insert(points.outlier, 1, False),
        measures=_insert_row(points.measures, row),
    )


def _counted(value: float | None) -> float:
    return _NAN if value is None or not math.isfinite(value) else value


def _counter_measures(context: _Context, compute: float, memory: float) -> dict[str, float]:
    """Counter-derived values: rate = utilisation × peak, intensity = rate / HBM bytes per second.

    Known only as far as the counters go; a program is placed on the roof only with both.
    """
    peak_gflops = context.peaks.gflops or _NAN
    peak_gibs = context.peaks.binding_gibs.get(MemoryLevel.HBM, _NAN)
    rate, bandwidth = compute * peak_gflops, memory * peak_gibs
    intensity = rate / gib_to_gb(bandwidth) if bandwidth > 0 else _NAN
    both = not math.isnan(compute) and not math.isnan(memory)
    efficiency = max(compute, memory) if both else _NAN
    return {
        "flop_rate_gflops": rate,
        "hbm_bandwidth_gibs": bandwidth,
        "hbm_intensity": intensity,
        "operational_intensity": intensity,
        "bottleneck_intensity": intensity,
        "bound": float(_counter_bound(context, compute, memory)),
        "attainable_gflops": rate / efficiency if efficiency > 0 else _NAN,
        "roofline_efficiency_ratio": efficiency,
        "compute_efficiency_ratio": compute,
        "memory_utilisation_ratio": memory,
    }


def _counter_bound(context: _Context, compute: float, memory: float) -> int:
    """As for ops: the more utilised one, compute on a tie, nothing where nothing is used."""
    if math.isnan(compute) or math.isnan(memory) or max(compute, memory) <= 0:
        return roofline.UNKNOWN_BOUND
    if compute >= memory or MemoryLevel.HBM not in context.levels:
        return roofline.COMPUTE_BOUND
    return roofline.COMPUTE_BOUND + 1 + context.levels.index(MemoryLevel.HBM)


def _insert_row(measures: Measures, row: Mapping[str, float]) -> Measures:
    columns: dict[str, object] = {}
    for field in fields(Measures):
        value = getattr(measures, field.name)
        if isinstance(value, Mapping):
            suffix = "bandwidth_gibs" if field.name == "bandwidth_gibs" else "intensity"
            columns[field.name] = {
                level: np.insert(column, 1, row.get(f"{level}_{suffix}", _NAN))
                for level, column in value.items()
            }
        else:
            columns[field.name] = np.insert(value, 1, row.get(field.name, _NAN))
    return Measures(**columns)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------ diagnostics


def _worded(found: Diagnostic) -> Diagnostic:
    """An importer's note as sentences that read alone: "ops are …" becomes "Some ops are …"."""
    if not found.message[:1].islower():
        return found
    times = f" Noticed {found.count:,} times." if found.count > 1 else ""
    return replace(found, message=f"Some {found.message}{times}")


def _diagnostics(context: _Context, ops: OpRecords, program: ProgramPoints) -> list[Diagnostic]:
    """What a reader should know: unknown costs, work above the roof, differences from XProf.

    A message that is about several ops says how many itself; `count` repeats it as a number.
    """
    if context.oddities.on:
        return []
    found = [
        _unknown_costs(ops),
        _above_compute_peak(ops),
        _above_memory_peak(context, program),
        _lost_flags(context),
        _wrapped_time(context),
        _no_peaks(context),
    ]
    return [diagnostic for diagnostic in found if diagnostic is not None]


def _unknown_costs(ops: OpRecords) -> Diagnostic | None:
    count = sum(cost is Cost.UNKNOWN for cost in ops.cost)
    if not count:
        return None
    have = "op has no FLOP and no byte count, so its bound is unknown. XProf shows zeros for it."
    if count > 1:
        have = (
            "ops have no FLOP and no byte count, so their bound is unknown. "
            "XProf shows zeros for them."
        )
    return Diagnostic(
        severity=Severity.INFO,
        code="unknown-cost",
        message=f"{count:,} {have}",
        remedy="For a Pallas or custom call, pass cost_estimate= so that its work is counted.",
        count=count,
    )


def _above_compute_peak(ops: OpRecords) -> Diagnostic | None:
    used = np.nan_to_num(ops.measures.compute_efficiency_ratio)
    count = int((used > 1.0).sum())
    if not count:
        return None
    run = "op runs" if count == 1 else "ops run"
    its, uses = ("Its", "it uses") if count == 1 else ("Their", "they use")
    return Diagnostic(
        severity=Severity.WARNING,
        code="above-compute-peak",
        message=f"{count:,} {run} above the compute peak, up to {float(used.max()):,.2f} times it. "
        f"{its} FLOPs are over-counted, or {uses} a faster precision than the peak's.",
        remedy="FLOPs of a custom call are its author's estimate: check cost_estimate.",
        count=count,
    )


def _above_memory_peak(context: _Context, program: ProgramPoints) -> Diagnostic | None:
    """The whole program cannot move more than its memory can; single asynchronous copies may."""
    measures = program.measures
    code, used = int(measures.bound[0]), float(measures.memory_utilisation_ratio[0])
    if code <= roofline.COMPUTE_BOUND or not used > 1.0:
        return None
    label = context.levels[code - 2].label
    return Diagnostic(
        severity=Severity.WARNING,
        code="above-memory-peak",
        message=f"The bytes counted for this program are {used:,.2f} times what {label} can move "
        f"in its time. {why_bytes_exceed_peak(context.profile)}",
        remedy="Read its share of the roof as an upper limit.",
    )


def why_bytes_exceed_peak(profile: Profile) -> str:
    """One sentence: how a program can seem to move more than its memory can."""
    if not profile.ops.traffic_known.any():
        return (
            "This capture does not tell bytes of HBM from bytes that stayed on the chip, "
            "so all count as HBM's."
        )
    return (
        "The compiler's byte counts are estimates and include bytes that never reach that memory."
    )


def _lost_flags(context: _Context) -> Diagnostic | None:
    on_chip = [level for level in context.peaks.counted_gibs if level is not MemoryLevel.HBM]
    if len(context.profile.hosts) < 2 or not on_chip:
        return None
    return Diagnostic(
        severity=Severity.INFO,
        code="on-chip-peaks-kept",
        message="On-chip memory peaks are kept across hosts. XProf forgets them when it combines "
        "hosts, so its efficiencies of ops bound by on-chip memory are lower.",
    )


def _wrapped_time(context: _Context) -> Diagnostic | None:
    """Where XProf's time without infeed and outfeed wraps below zero."""
    steps = context.profile.steps
    short = int((steps.sums.time_ps[:, 1] > steps.time_ps).sum())
    whole = context.infeed_outfeed_ps > context.profile.time_ps
    if not short and not whole:
        return None
    what = "the program" if whole else "a step" if short == 1 else f"{short:,} of the steps"
    return Diagnostic(
        severity=Severity.WARNING,
        code="infeed-exceeds-program",
        message=f"Infeed and outfeed ops, added up, last longer than {what}, because they are "
        "nested. Without them that time is shown as zero; XProf's wraps to 213 days.",
    )


def _no_peaks(context: _Context) -> Diagnostic | None:
    compute, memory = bool(context.peaks.gflops), bool(context.peaks.binding_gibs)
    if not len(context.profile.ops) or (compute and memory):
        return None
    message = "This capture names no peak of its device, so there is no roof to compare with."
    if compute or memory:
        lacking = "memory" if compute else "compute"
        message = f"This capture names no {lacking} peak of its device, so that roof is missing."
    return Diagnostic(
        severity=Severity.WARNING,
        code="no-peaks",
        message=message,
        remedy="Capture with a runtime that reports device capabilities.",
    )

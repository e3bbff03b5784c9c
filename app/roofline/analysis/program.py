"""Program-level points: total, counters, average and each step."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.knowledge import KNOWN_SHARE, NEARLY_ALL, both_known
from roofline.analysis.measure import measure
from roofline.analysis.records import I64, U64, Bools, KnownTime, Measures, ProgramPoints, Scope
from roofline.analysis.roofline import Floats
from roofline.analysis.serving import batches
from roofline.analysis.step_percentile import LEAST_STEPS_FOR_P95
from roofline.analysis.subjects.records import Sample
from roofline.model.device import MeasuredWork
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns, joined
from roofline.model.profile import Profile, Provenance
from roofline.model.timeline import Timeline
from roofline.model.units import PS_PER_US, gib_to_gb

OUTLIER_RATIO = 0.3
_FEW = 2  # steps: which of them is usual cannot be told
_ALL = 1 - 1e-9  # of the time, but for rounding

_SLACK = 0.02  # of the FLOPs: with less missing a rate is as good as exact
# The columns that follow from the ops that have a place on the roofline.
_OF_PLACEMENT = (
    "operational_intensity",
    "intensity",
    "bottleneck_intensity",
    "attainable_gflops",
    "roofline_efficiency_ratio",
    "bound",
)


class Scoped(NamedTuple):
    """The ops that a view of the program sums up, and how much of their time is known."""

    context: Context
    ops: OpColumns
    known: KnownTime
    include: bool

    @property
    def time_ps(self) -> int:
        """The program's core-time."""
        return self.context.program_ps(include=self.include)


def program_points(scoped: Scoped) -> ProgramPoints:
    """The program's points; the first is the whole program."""
    context, steps = scoped.context, scoped.context.profile.steps
    scope, label = _whole(context.profile)
    scopes, labels, works = [scope], [label], [_total_work(scoped, scoped.ops)]
    divisors = [np.ones(1)]
    averages = len(steps) > 0 or context.oddities.averages_no_steps
    if context.profile.has_average and averages:
        rows = _mean_steps(scoped)
        scopes.append(Scope.AVERAGE)
        is_of_all = len(rows) == len(steps)
        labels.append("Average" if is_of_all else f"Average of {len(rows)} of {len(steps)}")
        works.append(_average_work(scoped, rows))
        divisors.append(np.full(1, max(len(rows), 1)))
    for name, rows in () if context.oddities.on else batches(context.profile.serving):
        scopes.append(Scope.PHASE)
        labels.append(name)
        works.append(_average_work(scoped, rows))
        divisors.append(np.full(1, len(rows)))
    if len(steps):
        scopes += [Scope.STEP] * len(steps)
        labels += steps.label
        works.append(_step_work(scoped))
        divisors.append(np.ones(len(steps)))
    measures = measure(joined(works), context, np.concatenate(divisors))
    placement = _placement(scoped, len(measures.bound))
    points = ProgramPoints(
        scope=tuple(scopes),
        label=tuple(labels),
        outlier=_outliers(scopes, measures.total_time_us),
        flop_is_least=_is_least(
            measures.flop_rate_gflops, scoped.known.flop, context.profile.flop_slack_ratio
        ),
        bytes_is_least=_is_least(measures.memory_bandwidth_gibs, scoped.known.bytes),
        measures=_placed(measures, placement),
        placement=placement,
    )
    # Counters cannot tell infeed and outfeed apart: their point belongs to the whole program.
    return with_counters(context, points) if scoped.include and not context.oddities.on else points


def _whole(profile: Profile) -> tuple[Scope, str]:
    """The kind of the whole program's point: counted by hardware, or by a model."""
    measured = {profile.flop_provenance, profile.bytes_provenance} == {Provenance.MEASURED}
    return (Scope.TOTAL_HW, "Total (HW)") if measured else (Scope.TOTAL, "Total")


def _outliers(scopes: Sequence[Scope], time_us: Floats) -> Bools:
    """Steps whose time differs from the median step's by more than 30 %."""
    is_step = np.array([scope is Scope.STEP for scope in scopes], np.bool_)
    if not is_step.any():
        return is_step
    median = float(np.median(time_us[is_step]))
    return is_step & (np.abs(time_us - median) > OUTLIER_RATIO * median)


def _mean_steps(scoped: Scoped) -> I64:
    """The steps that the average is of: as the mean step of the page; in XProf's way, all."""
    profile, timeline = scoped.context.profile, scoped.context.profile.timeline
    if scoped.context.oddities.on or timeline is None or timeline.steps != len(profile.steps):
        return np.arange(len(profile.steps))
    return of_mean(step_us(timeline))[0]


def step_us(timeline: Timeline) -> Floats:
    """The time of each step, as a mean over the cores that ran it; 0 where none did."""
    inside = timeline.times.scope >= 0
    scope, total = timeline.times.scope[inside], timeline.times.total_ps[inside]
    cores = np.bincount(scope, minlength=timeline.steps)
    sums = np.bincount(scope, total, timeline.steps)
    return np.asarray(sums / np.maximum(cores, 1) / PS_PER_US)


def of_mean(times_us: Floats) -> tuple[I64, Sample]:
    """The steps that a mean step is of: all, but a first one that is far off the others, and a last
    one that is far shorter: the capture ends with its last operation, not with the next step."""
    rows, left_out = np.arange(len(times_us)), dict[str, float]()
    if len(rows) > _FEW:
        usual = float(np.median(times_us[:-1]))
        if times_us[-1] < (1 - OUTLIER_RATIO) * usual:
            rows, left_out["last"] = rows[:-1], float(times_us[-1]) / usual
    if len(rows) > 1:
        usual = float(np.median(times_us[rows[1:]]))
        if usual and abs(times_us[0] - usual) > OUTLIER_RATIO * usual:
            rows, left_out["first"] = rows[1:], float(times_us[0]) / usual
    median = float(np.median(times_us[rows]))
    return rows, Sample(used=len(rows), found=len(times_us), median_us=median, left_out=left_out)


def slow_step_us(points: ProgramPoints) -> float | None:
    """The time per core that 95 % of the steps do not exceed; `None` below 20 steps.

    It is that of a step: the smallest time that at least 95 % of the steps do not exceed.
    """
    is_step = [scope is Scope.STEP for scope in points.scope]
    times = points.measures.total_time_per_core_us[np.array(is_step, np.bool_)]
    if len(times) < LEAST_STEPS_FOR_P95:
        return None
    return float(np.percentile(times, 95, method="inverted_cdf"))


def _is_least(rate: Floats, known: float, slack: float = 0.0) -> Bools:
    """Rates that lack the work of some of the time, or a part `slack` of that of the rest."""
    return ~np.isnan(rate) & (known < NEARLY_ALL or slack > _SLACK)


# --------------------------------------------------------------------------------------- placement


def _placement(scoped: Scoped, rows: int) -> Measures | None:
    """Rates of the ops that have a place on the roofline; `None` where that is all known work.

    Steps are sums that do not tell these ops apart: they have a place where the program's is that
    of all known work. Nothing has one where too little is known.
    """
    context = scoped.context
    if context.oddities.on:
        return None
    nowhere = Measures.unknown(rows, context.levels, context.units)
    if scoped.known.both < KNOWN_SHARE:
        return nowhere
    both = both_known(context.profile, scoped.ops)
    left = scoped.ops.select(~both)
    if not left.flop.any() and not left.bytes_accessed.any():
        return None
    total = measure(_total_work(scoped, scoped.ops.select(both)), context)
    return Measures.unknown(rows - 1, context.levels, context.units).inserted(0, total)


def _placed(measures: Measures, placement: Measures | None) -> Measures:
    """`measures` with bound, intensities and share of the roof of the ops that have a place."""
    if placement is None:
        return measures
    return replace(measures, **{name: getattr(placement, name) for name in _OF_PLACEMENT})


# -------------------------------------------------------------------------------------------- work


def _total_work(scoped: Scoped, ops: OpColumns) -> OpColumns:
    """The sum of `ops`, which are some or all of the program's, over the program's time."""
    total, whole = ops.total(), scoped.ops.total()
    # Peaks were measured per launch; in the time between launches they hold as well.
    stretch = scoped.time_ps / max(int(whole.time_ps[0]), 1)
    stretched = replace(
        total,
        unit_capacity_flop={u: c * stretch for u, c in whole.unit_capacity_flop.items()},
        level_capacity_bytes={lv: c * stretch for lv, c in whole.level_capacity_bytes.items()},
    )
    return _program_work(scoped, stretched, np.array([scoped.time_ps], np.uint64))


def _step_work(scoped: Scoped) -> OpColumns:
    steps, context = scoped.context.profile.steps, scoped.context
    time = [
        int(t) if scoped.include else context.oddities.counter(int(t) - int(moved))
        for t, moved in zip(steps.time_ps.tolist(), steps.sums.time_ps[:, 1].tolist(), strict=True)
    ]
    rows = steps.sums.summed(1, _classes(include=scoped.include))
    return _program_work(scoped, rows, np.array(time, np.uint64))


def _average_work(scoped: Scoped, rows: I64) -> OpColumns:
    """The steps of these `rows` as one row; its shown times are divided by their number
    afterwards."""
    steps = scoped.context.profile.steps
    whole = steps.sums.summed(0, rows, keepdims=True)
    time = int(steps.time_ps[rows].sum(dtype=np.uint64))
    if not scoped.include:
        time = scoped.context.oddities.counter(time - int(whole.time_ps[0, 1]))
    row = whole.summed(1, _classes(include=scoped.include))
    return _program_work(scoped, row, np.array([time], np.uint64))


def _classes(*, include: bool) -> tuple[slice, slice]:
    """Of steps' sums: all rows, with infeed and outfeed or without."""
    return slice(None), slice(0, 2 if include else 1)


def _program_work(scoped: Scoped, rows: OpColumns, time_ps: U64) -> OpColumns:
    """Program rows occur once and have no self time, as in XProf."""
    context = scoped.context
    shape, nothing = len(time_ps), np.zeros(len(time_ps), np.uint64)
    has_integers = np.isfinite(context.profile.ops.integer_ops).any()
    return replace(
        rows.split(context.levels, context.units),
        time_ps=time_ps,
        time_known=np.full(shape, context.has_times),
        self_time_ps=nothing,
        occurrences=np.ones(shape, np.int64),
        dma_stall_ps=nothing,
        integer_ops=rows.integer_ops if has_integers else np.full(shape, np.nan),
        cost_known=np.ones(shape, np.bool_),
        moves_unknown={
            link: rows.moves_unknown[link] if link in rows.moves_unknown else np.full(shape, True)
            for link in context.links
        },
        flop_known=_tells(rows.flop, scoped.known.flop),
        bytes_known=_tells(rows.bytes_accessed, scoped.known.bytes),
    )


def _tells(sums: U64, known: float) -> Bools:
    """Sums that say something: of all of the time, or a lower bound above zero."""
    return (sums > 0) | (known > _ALL)


MATRIX_UNIT = "matrix unit"


def with_counters(context: Context, points: ProgramPoints) -> ProgramPoints:
    """Insert "Total (HW)" after Total where hardware counted the program's work."""
    counters = context.device.counters
    if counters.measured is not None:
        return _inserted(points, "Total (HW)", _measured_row(context, counters.measured))
    compute, memory = _counted(counters.matrix_unit_ratio), _counted(counters.hbm_ratio)
    parts = [name for name, ratio in ((MATRIX_UNIT, compute), ("HBM", memory)) if ratio >= 0]
    if not parts:
        return points
    what = f"{parts[0]} only" if len(parts) == 1 else " and ".join(parts)
    row = _counter_row(context, compute, memory, points.measures)
    # Work of the vector unit is not counted, so the rate is a lower bound.
    return _inserted(points, f"Total (HW, {what})", row, flop_is_least=compute > 0)


def _inserted(
    points: ProgramPoints, label: str, row: Measures, *, flop_is_least: bool = False
) -> ProgramPoints:
    placement = points.placement
    return ProgramPoints(
        scope=(points.scope[0], Scope.TOTAL_HW, *points.scope[1:]),
        label=(points.label[0], label, *points.label[1:]),
        outlier=np.insert(points.outlier, 1, False),
        flop_is_least=np.insert(points.flop_is_least, 1, flop_is_least),
        bytes_is_least=np.insert(points.bytes_is_least, 1, False),
        measures=points.measures.inserted(1, row),
        placement=None if placement is None else placement.inserted(1, row),
    )


def _measured_row(context: Context, counted: MeasuredWork) -> Measures:
    """Work that a kernel profiler counted, over its kernels' share of the program's time.

    Idle time counts in proportion, so that the point compares with the program's modelled one.
    """
    ops_ps = context.profile.op_time_ps
    time_ps = counted.time_ps * (context.program_ps(include=True) / ops_ps if ops_ps else 1.0)
    return measure(_work_of(context, counted, int(time_ps)), context)


def _work_of(context: Context, counted: MeasuredWork, time_ps: int) -> OpColumns:
    def one(count: int) -> U64:
        return np.array([count], np.uint64)

    traffic = counted.traffic_bytes
    return OpColumns(
        time_ps=one(time_ps),
        self_time_ps=one(0),
        occurrences=np.ones(1, np.int64),
        flop=one(counted.flop),
        bytes_accessed=one(traffic.get(context.main_level, 0)),
        traffic_bytes={level: one(traffic.get(level, 0)) for level in context.levels},
        traffic_known=np.ones(1, np.bool_),
        cost_known=np.ones(1, np.bool_),
        bytes_known=np.array([context.main_level in traffic], np.bool_),
        unit_flop={unit: one(counted.unit_flop.get(unit, 0)) for unit in context.units},
    )


def _counted(value: float | None) -> float:
    return NAN if value is None or not math.isfinite(value) else value


def _counter_row(context: Context, compute: float, memory: float, measures: Measures) -> Measures:
    """Counter-derived values: rate = utilisation × peak, intensity = rate / HBM bytes per second.

    Known only as far as the counters go; a program is placed on the roof only with both. The times
    are those of the program's total, the first row of `measures`. The rate is that of the matrix
    unit; where that did nothing, all FLOPs are the vector unit's, and unknown.
    """
    main = context.main_level
    rate = compute * (context.peaks.gflops or NAN) if compute else NAN
    bandwidth = memory * context.peaks.binding_gibs.get(main, NAN)
    intensity = rate / gib_to_gb(bandwidth) if bandwidth > 0 else NAN
    both = not math.isnan(compute) and not math.isnan(memory)
    efficiency = max(compute, memory) if both else NAN
    row = Measures.unknown(1, context.levels, context.units)

    def at_main(columns: Mapping[MemoryLevel, Floats], value: float) -> dict[MemoryLevel, Floats]:
        return {level: _one(value) if level is main else c for level, c in columns.items()}

    return replace(
        row,
        total_time_us=measures.total_time_us[:1],
        total_time_per_core_us=measures.total_time_per_core_us[:1],
        flop_rate_gflops=_one(rate),
        bandwidth_gibs=at_main(row.bandwidth_gibs, bandwidth),
        intensity=at_main(row.intensity, intensity),
        utilisation_ratio=at_main(row.utilisation_ratio, memory),
        operational_intensity=_one(intensity),
        bottleneck_intensity=_one(intensity),
        bound=np.array([_counter_bound(context, compute, memory)], np.int64),
        attainable_gflops=_one(rate / efficiency if efficiency > 0 else NAN),
        roofline_efficiency_ratio=_one(efficiency),
        compute_efficiency_ratio=_one(compute),
        memory_utilisation_ratio=_one(memory),
    )


def _one(value: float) -> Floats:
    return np.array([value])


def _counter_bound(context: Context, compute: float, memory: float) -> int:
    """As for ops: the more utilised one, compute on a tie, nothing where nothing is used."""
    if math.isnan(compute) or math.isnan(memory) or max(compute, memory) <= 0:
        return roofline.UNKNOWN_BOUND
    if compute >= memory or context.main_level not in context.levels:
        return roofline.COMPUTE_BOUND
    return roofline.COMPUTE_BOUND + 1 + context.levels.index(context.main_level)

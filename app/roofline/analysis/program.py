"""Program-level points: total, counters, average and each step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.analysis.context import Context
from roofline.analysis.counters import with_counters
from roofline.analysis.knowledge import KNOWN_SHARE, NEARLY_ALL, both_known
from roofline.analysis.measure import measure
from roofline.analysis.records import I64, U64, Bools, KnownTime, Measures, ProgramPoints, Scope
from roofline.analysis.roofline import Floats
from roofline.analysis.serving import batches
from roofline.analysis.step_percentile import LEAST_STEPS_FOR_P95
from roofline.model.op_columns import OpColumns, joined
from roofline.model.profile import Profile, Provenance

OUTLIER_RATIO = 0.3

# The columns that follow from the ops that have a place on the roofline.
_SLACK = 0.02  # of the FLOPs: with less missing a rate is as good as exact
_OF_PLACEMENT = (
    "operational_intensity",
    "intensity",
    "bottleneck_intensity",
    "attainable_gflops",
    "roofline_efficiency_ratio",
    "bound",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoped:
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
        scopes.append(Scope.AVERAGE)
        labels.append("Average")
        works.append(_average_work(scoped))
        divisors.append(np.full(1, max(len(steps), 1)))
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


def _average_work(scoped: Scoped, chosen: I64 | None = None) -> OpColumns:
    """All steps, or the `chosen` ones, as one row; its shown times are divided by their number
    afterwards."""
    steps = scoped.context.profile.steps
    rows = np.arange(len(steps)) if chosen is None else chosen
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
    """Sums that say something: of nearly all of the time, or a lower bound above zero."""
    return (sums > 0) | (known >= NEARLY_ALL)

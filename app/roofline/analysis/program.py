"""Program-level points: total, counters, average and each step."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roofline.analysis.context import Context
from roofline.analysis.counters import with_counters
from roofline.analysis.measure import measure
from roofline.analysis.records import U64, Bools, ProgramPoints, Scope
from roofline.analysis.roofline import Floats
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.op_columns import OpColumns, joined
from roofline.model.profile import Profile, Provenance

OUTLIER_RATIO = 0.3


def program_points(context: Context, *, include: bool) -> ProgramPoints:
    """The program's points; the first is the whole program."""
    steps = context.profile.steps
    scope, label = _whole(context.profile)
    scopes, labels, works = [scope], [label], [_total_work(context, include=include)]
    divisors = [np.ones(1)]
    averages = len(steps) > 0 or context.oddities.averages_no_steps
    if context.profile.has_average and averages:
        scopes.append(Scope.AVERAGE)
        labels.append("Average")
        works.append(_average_work(context, include=include))
        divisors.append(np.full(1, max(len(steps), 1)))
    if len(steps):
        scopes += [Scope.STEP] * len(steps)
        labels += steps.label
        works.append(_step_work(context, include=include))
        divisors.append(np.ones(len(steps)))
    measures = measure(joined(works), context, np.concatenate(divisors))
    points = ProgramPoints(
        scope=tuple(scopes),
        label=tuple(labels),
        outlier=_outliers(scopes, measures.total_time_us),
        measures=measures,
    )
    # Counters cannot tell infeed and outfeed apart: their point belongs to the whole program.
    return with_counters(context, points) if include and not context.oddities.on else points


def _whole(profile: Profile) -> tuple[Scope, str]:
    """What the whole program's point is: counted by hardware, or by a model."""
    measured = {profile.flop_provenance, profile.bytes_provenance} == {Provenance.MEASURED}
    return (Scope.TOTAL_HW, "Total (HW)") if measured else (Scope.TOTAL, "Total")


def _outliers(scopes: Sequence[Scope], time_us: Floats) -> Bools:
    """Steps whose time differs from the median step's by more than 30 %."""
    is_step = np.array([scope is Scope.STEP for scope in scopes], np.bool_)
    if not is_step.any():
        return is_step
    median = float(np.median(time_us[is_step]))
    return is_step & (np.abs(time_us - median) > OUTLIER_RATIO * median)


def _total_work(context: Context, *, include: bool) -> OpColumns:
    table = context.profile.ops
    classes = [
        -1 if is_container(category) else int(is_infeed_outfeed(category))
        for category in table.category
    ]
    wanted = np.isin(classes, [0, 1] if include else [0]) & table.time_known
    total = table.numbers().total(wanted)
    time_ps = context.program_ps(include=include)
    # Peaks were measured per launch; in the time between launches they hold as well.
    stretch = time_ps / max(int(total.time_ps[0]), 1)
    stretched = replace(
        total,
        unit_capacity_flop={u: c * stretch for u, c in total.unit_capacity_flop.items()},
        level_capacity_bytes={lv: c * stretch for lv, c in total.level_capacity_bytes.items()},
    )
    return _program_work(context, stretched, np.array([time_ps], np.uint64))


def _step_work(context: Context, *, include: bool) -> OpColumns:
    steps = context.profile.steps
    time = [
        int(t) if include else context.oddities.counter(int(t) - int(moved))
        for t, moved in zip(steps.time_ps.tolist(), steps.sums.time_ps[:, 1].tolist(), strict=True)
    ]
    rows = steps.sums.summed(1, _classes(include=include))
    return _program_work(context, rows, np.array(time, np.uint64))


def _average_work(context: Context, *, include: bool) -> OpColumns:
    """All steps as one row; its shown times are divided by their number afterwards."""
    steps = context.profile.steps
    whole = steps.sums.summed(0, keepdims=True)
    time = int(steps.time_ps.sum(dtype=np.uint64))
    if not include:
        time = context.oddities.counter(time - int(whole.time_ps[0, 1]))
    rows = whole.summed(1, _classes(include=include))
    return _program_work(context, rows, np.array([time], np.uint64))


def _classes(*, include: bool) -> tuple[slice, slice]:
    """Of steps' sums: all rows, with infeed and outfeed or without."""
    return slice(None), slice(0, 2 if include else 1)


def _program_work(context: Context, rows: OpColumns, time_ps: U64) -> OpColumns:
    """Program rows occur once and have no self time, as in XProf."""
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
        cost_known=np.full(shape, context.counted),
        flop_known=np.full(shape, context.counted_flop),
        bytes_known=np.full(shape, context.counted_bytes),
    )

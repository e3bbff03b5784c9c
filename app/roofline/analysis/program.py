"""Program-level points: total, counters, average and each step."""

from collections.abc import Mapping, Sequence

import numpy as np

from roofline.analysis.context import NAN, Context
from roofline.analysis.counters import with_counters
from roofline.analysis.measure import Work, measure, stack
from roofline.analysis.records import U64, Bools, ProgramPoints, Scope
from roofline.analysis.roofline import Floats
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile, Provenance, ScopeSums

OUTLIER_RATIO = 0.3


def program_points(context: Context, *, include: bool) -> ProgramPoints:
    """The program's points; the first is the whole program."""
    steps = context.profile.steps
    scope, label = _whole(context.profile)
    scopes, labels, works = [scope], [label], [_total_work(context, include=include)]
    averages = len(steps) > 0 or context.oddities.averages_no_steps
    if context.profile.has_average and averages:
        scopes.append(Scope.AVERAGE)
        labels.append("Average")
        works.append(_average_work(context, include=include))
    if len(steps):
        scopes += [Scope.STEP] * len(steps)
        labels += steps.label
        works.append(_step_work(context, include=include))
    measures = measure(stack(works), context)
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


def _total_work(context: Context, *, include: bool) -> Work:
    table = context.profile.ops
    classes = [
        -1 if is_container(category) else int(is_infeed_outfeed(category))
        for category in table.category
    ]
    wanted = np.isin(classes, [0, 1] if include else [0])

    def total(column: U64) -> U64:
        return np.array([column[wanted].sum(dtype=np.uint64)], np.uint64)

    time_ps = context.program_ps(include=include)
    # Peaks were measured per launch; in the time between launches they hold as well.
    stretch = time_ps / max(int(table.time_ps[wanted].sum(dtype=np.uint64)), 1)

    def capacity(column: Floats) -> Floats:
        return np.array([column[wanted].sum() * stretch])

    return _program_work(
        context,
        np.array([time_ps], np.uint64),
        flop=total(table.flop),
        model_flop=total(table.model_flop),
        bytes_accessed=total(table.bytes_accessed),
        traffic_bytes={level: total(table.traffic_bytes[level]) for level in context.levels},
        traffic_known=np.array([table.traffic_known[wanted].any()]),
        unit_flop={unit: total(table.unit_flop[unit]) for unit in context.units},
        unit_capacity_flop={u: capacity(c) for u, c in table.unit_capacity_flop.items()},
        level_capacity_bytes={lv: capacity(c) for lv, c in table.level_capacity_bytes.items()},
    )


def _step_work(context: Context, *, include: bool) -> Work:
    steps = context.profile.steps
    sums = steps.sums
    time = [
        int(t) if include else context.oddities.counter(int(t) - int(moved))
        for t, moved in zip(steps.time_ps.tolist(), sums.time_ps[:, 1].tolist(), strict=True)
    ]
    return _sums_work(np.array(time, np.uint64), sums, context, include=include)


def _average_work(context: Context, *, include: bool) -> Work:
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
        unit_flop={
            unit: column.sum(axis=0, keepdims=True, dtype=np.uint64)
            for unit, column in steps.sums.unit_flop.items()
        },
    )
    divisor = float(max(len(steps), 1))
    return _sums_work(np.array([time], np.uint64), whole, context, include=include, divisor=divisor)


def _sums_work(
    time_ps: U64, sums: ScopeSums, context: Context, *, include: bool, divisor: float = 1.0
) -> Work:
    wanted = slice(0, 2 if include else 1)

    def total(column: U64) -> U64:
        summed: U64 = np.add.reduce(column[:, wanted], axis=1)
        return summed

    table, unknown = context.profile.ops, np.full(len(time_ps), NAN)
    nothing = np.zeros_like(sums.flop)
    return _program_work(
        context,
        time_ps,
        flop=total(sums.flop),
        model_flop=total(sums.model_flop),
        bytes_accessed=total(sums.bytes_accessed),
        traffic_bytes={level: total(sums.traffic_bytes[level]) for level in context.levels},
        traffic_known=np.logical_or.reduce(sums.traffic_known[:, wanted], axis=1),
        unit_flop={unit: total(sums.unit_flop.get(unit, nothing)) for unit in context.units},
        unit_capacity_flop=dict.fromkeys(table.unit_capacity_flop, unknown),
        level_capacity_bytes=dict.fromkeys(table.level_capacity_bytes, unknown),
        divisor=divisor,
    )


def _program_work(
    context: Context,
    time_ps: U64,
    *,
    flop: U64,
    model_flop: U64,
    bytes_accessed: U64,
    traffic_bytes: Mapping[MemoryLevel, U64],
    traffic_known: Bools,
    unit_flop: Mapping[ComputeUnit, U64],
    unit_capacity_flop: Mapping[ComputeUnit, Floats],
    level_capacity_bytes: Mapping[MemoryLevel, Floats],
    divisor: float = 1.0,
) -> Work:
    """Program rows occur once and have no self time, as in XProf."""
    rows = len(time_ps)
    return Work(
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
        flop_known=np.full(rows, context.counted_flop),
        bytes_known=np.full(rows, context.counted_bytes),
        divisor=np.full(rows, divisor),
        unit_flop=unit_flop,
        unit_capacity_flop=unit_capacity_flop,
        level_capacity_bytes=level_capacity_bytes,
    )

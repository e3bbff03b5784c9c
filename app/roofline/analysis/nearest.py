"""The nearest ceiling of each op: the unit that it uses most, whatever for.

Of each ceiling two shares of the op's time are known at most: `useful`, its work over the peak, and
`busy`, as the profiler measured it. The larger one counts, and the ceiling with the largest share
is the nearest. `docs/verdict.md` has the tables and where their thresholds come from.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.knowledge import opaque_in
from roofline.analysis.nearest_records import OP_CLASSES, TIE, NearestOps, OpClass
from roofline.analysis.records import I64, Cost, OpRecords, Timing
from roofline.analysis.roofline import Floats
from roofline.analysis.verdict import is_bound, is_slack
from roofline.model.ceilings import COMPUTE, Ceiling, CeilingKind
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, Bools

SHORT_CALL_US = 10.0
"""A call shorter than this ends before the device is full."""
_EMPTY_CALL_US = 2.0

_SAMPLED = {"dram", "hbm", "host", "nvlink", "tensor", "issue"}
_ORDER = tuple(one.value for one in Ceiling)


def empty_call_us(kind: DeviceKind) -> float:
    """What a call that does nothing takes, in us: 0.8 to 2 in traces of GPUs, V100 to B200."""
    return _EMPTY_CALL_US if kind is DeviceKind.GPU else 0.0


def nearest_ops(context: Context, ops: OpRecords) -> NearestOps:
    """The nearest ceiling of every op of `ops`, which are those of the context's profile."""
    busy = _busy(context)
    useful = _useful(context, ops, has_counters=bool(busy))
    ids = _in_order({*busy, *useful})
    count = len(ops)
    unknown = np.full(count, NAN)
    found = NearestOps(
        ceilings=ids,
        useful=_stacked([useful.get(one, unknown) for one in ids], count),
        busy=_stacked([busy.get(one, unknown) for one in ids], count),
        named=np.full(count, -1),
        largest=unknown,
        kind=np.full(count, OP_CLASSES.index(OpClass.UNKNOWN)),
        is_busy_known=np.zeros(count, np.bool_),
        why=(),
        why_words=(),
    )
    return _with_reasons(context, ops, _decided(context, ops, found))


def _opaque(context: Context, ops: OpRecords) -> Bools:
    """Ops whose own time has no cost, so that no ceiling is near."""
    is_opaque = opaque_in(context.profile)
    return np.array([is_opaque(category) for category in ops.category], np.bool_)


def _busy(context: Context) -> dict[str, Floats]:
    """Measured busy shares by ceiling, IDLE last; a counter may read a little above 100 %."""
    table = context.profile.ops
    time_ps = table.time_ps.astype(np.float64)
    return {
        ceiling.value: np.append(
            np.minimum(roofline.ratio(busy_ps, time_ps, missing=NAN), 1.0), NAN
        )
        for ceiling, busy_ps in table.busy_ps.items()
    }


_SAME_MEMORY = {MemoryLevel.SHARED: Ceiling.L1, MemoryLevel.SHARED_L1: Ceiling.L1}
_PIPES = {
    ComputeUnit.VECTOR_FP64: Ceiling.FP64,
    ComputeUnit.VECTOR_FP32: Ceiling.FMA,
    ComputeUnit.VECTOR_BF16: Ceiling.FMA,
    ComputeUnit.VECTOR_FP16: Ceiling.FP16,
    ComputeUnit.VECTOR_INT8: Ceiling.ALU,
}


def _useful(context: Context, ops: OpRecords, *, has_counters: bool) -> dict[str, Floats]:
    """Work over peak by ceiling: of memories, and of compute units or the pipes that they are."""
    measures = ops.measures
    columns: dict[str, Floats] = {}

    def add(name: str, share: Floats) -> None:
        columns[name] = np.fmax(columns[name], share) if name in columns else share

    for level in context.levels:
        add(_level_id(level), measures.utilisation_ratio[level])
    for unit, share in measures.unit_utilisation_ratio.items():
        add(_unit_id(context, unit) if has_counters else unit.value, share)
    main = np.where(measures.main_utilisation_ratio > 0, measures.main_utilisation_ratio, NAN)
    if not np.isnan(main).all():
        add(_main_id(context, has_counters=has_counters), main)
    return {name: share for name, share in columns.items() if not np.isnan(share).all()}


def _level_id(level: MemoryLevel) -> str:
    """The ceiling of a level: shared memory and L1 of an SM are one unit."""
    return _SAME_MEMORY.get(level, level).value


def _main_id(context: Context, *, has_counters: bool) -> str:
    """The ceiling of work that no unit claims: the device's main peak."""
    unit = context.device.compute[0].unit if context.device.compute else None
    if unit is None:
        return COMPUTE
    return _unit_id(context, unit) if has_counters else unit.value


def _unit_id(context: Context, unit: ComputeUnit) -> str:
    """The pipe that does the work of a unit, by the counters of this profile."""
    if unit.is_matrix:
        return Ceiling.TENSOR.value
    if Ceiling.VALU in context.profile.ops.busy_ps:
        return Ceiling.VALU.value
    return _PIPES[unit].value


def _in_order(ids: set[str]) -> tuple[str, ...]:
    """Ceilings in the order in which equally near ones are named; those without counters last."""
    return tuple(
        sorted(ids, key=lambda one: (_ORDER.index(one) if one in _ORDER else len(_ORDER), one))
    )


def _stacked(columns: Sequence[Floats], count: int) -> F64:
    return np.stack(columns) if columns else np.zeros((0, count))


def _decided(context: Context, ops: OpRecords, found: NearestOps) -> NearestOps:
    """Class and named ceiling of each op: by counters where it has any, else by its work."""
    counted = np.isfinite(found.busy).any(axis=0)
    moves = np.array([cost is Cost.TRANSFER for cost in ops.cost], np.bool_)
    kind, named, largest = _by_work(context, ops, found)
    if counted.any():
        shares = np.nan_to_num(found.shares(), nan=-1.0)
        most = shares.max(axis=0)
        first = np.argmax(shares >= most - TIE, axis=0)
        named = np.where(counted, np.where(is_slack(most), -1, first), named)
        largest = np.where(counted, most, largest)
        near = is_bound(most, has_counters=True)
        # Of a unit that is not sampled it is not known that it was not busy.
        seen = [one for one in found.ceilings if one not in _SAMPLED]
        others = np.isfinite(found.busy[[found.ceilings.index(one) for one in seen]]).any(axis=0)
        is_far = ~near & (others | (not context.profile.is_busy_sampled)) & _both_sides(found)
        of_counters = np.where(near, _BOUND, np.where(is_far, _LATENCY, _UNKNOWN))
        kind = np.where(counted, of_counters, kind)
    return replace(
        found,
        kind=np.where(moves, _TRANSFER, kind),
        named=named,
        largest=largest,
        is_busy_known=counted & ~moves,
    )


_MAIN_MEMORY = {Ceiling.DRAM, Ceiling.HBM, Ceiling.MEMORY_OTHER}
_OF_CORES = {CeilingKind.SM, CeilingKind.PIPE}


def _both_sides(found: NearestOps) -> Bools:
    """Ops of which something is known of the cores and of the main memory: where one of them was
    not looked at, it may be what was busy."""
    known = np.isfinite(found.shares())
    names = [Ceiling(one) if one in _ORDER else None for one in found.ceilings]
    memory = [one in _MAIN_MEMORY for one in names]
    cores = [one is None or one.kind in _OF_CORES for one in names]
    return np.asarray(known[memory].any(axis=0) & known[cores].any(axis=0))


_BOUND, _LATENCY, _UNKNOWN, _TRANSFER = range(len(OP_CLASSES))


def _by_work(context: Context, ops: OpRecords, found: NearestOps) -> tuple[I64, I64, Floats]:
    """Class, named ceiling and its share where only work is known: the bound of the records.

    A prediction is at the roof that binds it.
    """
    measures = ops.measures
    predicted = np.array([one is Timing.PREDICTED for one in ops.timing], np.bool_)
    share = np.where(predicted, 1.0, measures.roofline_efficiency_ratio)
    is_known = (measures.bound != roofline.UNKNOWN_BOUND) & np.isfinite(share)
    # Of work whose unit is undecided, the class is known where both units give the same.
    most = np.fmax(share, measures.compute_high_ratio)
    is_known &= is_bound(share, has_counters=False) == is_bound(most, has_counters=False)
    is_known &= ~_opaque(context, ops)
    named = np.where(is_known, _places(context, ops, found.ceilings), -1)
    kind = np.where(is_bound(share, has_counters=False), _BOUND, _LATENCY)
    return (
        np.where(is_known, kind, _UNKNOWN),
        named,
        np.where(is_known, share, NAN),
    )


def _places(context: Context, ops: OpRecords, ceilings: Sequence[str]) -> I64:
    """The place among `ceilings` of what the records say binds each op; -1 where that is none."""
    measures = ops.measures
    place = {name: k for k, name in enumerate(ceilings)}
    has_counters = bool(context.profile.ops.busy_ps)
    units = [_unit_id(context, unit) if has_counters else unit.value for unit in context.units]
    compute = [place.get(one, -1) for one in (*units, _main_id(context, has_counters=has_counters))]
    levels = [place.get(_level_id(level), -1) for level in context.levels]
    by_bound = np.array([-1, -1, *levels, -1], np.int64)
    # -1, the main peak, is the last; an undecided unit is -2, also where no op has a decided one.
    of_unit = np.array(compute, np.int64)[np.maximum(measures.unit, -len(compute))]
    is_compute = measures.bound == roofline.COMPUTE_BOUND
    return np.where(is_compute, of_unit, by_bound[measures.bound])


def _with_reasons(context: Context, ops: OpRecords, found: NearestOps) -> NearestOps:
    """The reasons of latency: as the profiler measured them, else that a call is short."""
    table = context.profile.ops
    call_us = np.nan_to_num(ops.measures.avg_time_us, nan=np.inf)
    late = found.is_kind(OpClass.LATENCY)
    reasons = [("", "")] * len(ops)
    for op in np.flatnonzero(late[: len(table)]).tolist():
        if table.slow_why[op]:
            reasons[op] = table.slow_why[op], table.slow_words[op]
        elif call_us[op] < SHORT_CALL_US:
            words = f"a call of {call_us[op]:.2g} µs is over before the device is full"
            reasons[op] = "launch", words
        else:
            reasons[op] = "not_measured", ""
    return replace(
        found, why=tuple(why for why, _ in reasons), why_words=tuple(word for _, word in reasons)
    )

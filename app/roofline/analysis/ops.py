"""The ops of a profile as records, and which of them a view lists."""

import numpy as np

from roofline.analysis import prediction, roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.measure import measure
from roofline.analysis.program import program_points
from roofline.analysis.records import I64, MAX_OPS, Bools, Cost, OpRecords, View
from roofline.analysis.roofline import Floats
from roofline.model.categories import IDLE_CATEGORY, is_infeed_outfeed
from roofline.model.op_columns import OpColumns, joined
from roofline.model.units import PS_PER_US


def op_records(context: Context) -> OpRecords:
    """Every op of the profile, and IDLE behind them."""
    table = context.profile.ops
    work = joined([table.numbers().split(context.levels, context.units), _idle(context)])
    rows = prediction.untimed(work)
    in_one_second = measure(prediction.in_one_second(work, rows.is_predicted), context)
    measures = prediction.at_best(in_one_second, work, rows.is_predicted)
    self_per_core = measures.self_time_us / max(context.device.core_count, 1)
    return OpRecords(
        name=(*table.name, IDLE_CATEGORY),
        category=(*table.category, IDLE_CATEGORY),
        program_id=np.append(table.program_id, np.uint64(0)),
        occurrences=work.occurrences,
        cost=_costs(work),
        self_time_per_core_us=self_per_core,
        saving_per_core_us=_saving(self_per_core, measures.roofline_efficiency_ratio),
        measures=measures,
        timing=rows.timing,
        in_one_second=in_one_second,
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


def _costs(work: OpColumns) -> tuple[Cost, ...]:
    def cost(known: bool, flop: int) -> Cost:
        if not known:
            return Cost.UNKNOWN
        return Cost.KNOWN if flop else Cost.NO_FLOPS

    pairs = zip(work.cost_known[:-1].tolist(), work.flop[:-1].tolist(), strict=True)
    return (*(cost(known, flop) for known, flop in pairs), Cost.IDLE)


def _saving(self_us: Floats, efficiency: Floats) -> Floats:
    """Self time beyond what the roof needs: self × (1 - efficiency); unknown above the roof."""
    below = efficiency <= 1  # false for NaN
    return np.where(below, self_us * (1 - efficiency), NAN)


# ------------------------------------------------------------------------------------------ views


def view_of(context: Context, ops: OpRecords, *, include: bool) -> View:
    """The listed ops and the program with or without infeed and outfeed."""
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
        cumulative_share_ratio=np.where(np.isnan(self_share), NAN, np.nancumsum(self_share)),
        total_share_ratio=share(measures.total_time_us[listed]),
        saving_share_ratio=share(ops.saving_per_core_us[listed] * cores),
        total_time_us=total_us,
        beyond_ops=len(beyond),
        beyond_share_ratio=float(np.nan_to_num(share(measures.self_time_us[beyond])).sum()),
        program=program_points(context, include=include),
    )


def _listed(context: Context, ops: OpRecords, dropped: Bools) -> tuple[I64, I64]:
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
    """Row numbers by self time down, name up (bytewise); those without a time come last."""
    self_us = np.nan_to_num(ops.measures.self_time_us, nan=-1.0).tolist()
    names = [name.encode("utf-8", "surrogatepass") for name in ops.name]
    order = sorted(range(len(ops)), key=lambda k: (-self_us[k], names[k]))
    return np.array(order, np.int64)

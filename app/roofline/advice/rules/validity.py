"""Rules about the profile itself: what must be settled before its numbers are acted on."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from roofline.advice.diagnosis import Label, above
from roofline.advice.formula import IMPOSSIBLE, LEAST_SAVING, Case, Formula, Threshold
from roofline.advice.rule import BOOK, XPROF, Cure, Form, Found, Rule, Run
from roofline.analysis.above_roof import impossible_share
from roofline.analysis.causes import CAUSE_LABELS, EXPLAINED, Cause
from roofline.analysis.op_clocks import MAIN
from roofline.analysis.records import Cost, RooflineAnalysis, Scope
from roofline.analysis.verdict import DOUBTFUL
from roofline.devices.catalogue import part as part_of
from roofline.model.categories import is_vector
from roofline.model.compute import ComputeUnit
from roofline.model.op_columns import F64

MISMATCH = Threshold("MISMATCH", 1.10, "counted by the hardware over modelled")
UNKNOWN_COST = Threshold(
    "UNKNOWN_COST", 0.30, "share of the busy time from which on its cost should be recorded"
)


def _above_the_roof(run: Run) -> Iterator[Found]:
    share = impossible_share(run.analysis, run.analysis.with_infeed)
    if share <= DOUBTFUL:
        return
    ops = run.analysis.ops
    over = np.nan_to_num(ops.measures.roofline_efficiency_ratio)
    impossible = [
        op
        for op in np.flatnonzero(over[: len(run.table)] > IMPOSSIBLE.value).tolist()
        if ops.above_roof[op] not in {None, *EXPLAINED}
    ]
    chosen = np.array(sorted(impossible, key=lambda op: -run.state.own_us[op]), np.int64)
    causes = [cause for op in chosen.tolist() if (cause := ops.above_roof[op]) is not None]
    commonest = max(dict.fromkeys(causes), key=causes.count)
    label = CAUSE_LABELS[Cause(commonest)]
    yield run.flag(chosen, label, share=share, worst=float(over[chosen].max()))


V1 = Rule(
    id="V1",
    when="e > {IMPOSSIBLE}",
    source=BOOK + "roofline",
    formula=Formula("e = ρ ÷ T, no gain above 1.03", lambda rho, t: rho / t),
    cases=(Case({"ρ": 120.0, "T": 100.0}, 1.2),),
    thresholds=(IMPOSSIBLE,),
    label=Label(2, lambda ops: above(ops.e, IMPOSSIBLE.value)),
    finds=_above_the_roof,
    confidence="high",
    urgency=-1,
    title="Fix the cost estimate of {names}",
    why="{count} {count|operation|operations} with {share} of the time {count|reports|report} more "
    "work than possible: up to {worst} of the roof. The likely cause: {what}.",
    cure=Cure(
        "Recount the work of these operations, or name the right peaks. Do not optimise by these "
        "numbers."
    ),
)


def _counted_over_modelled(run: Run, rates: F64) -> Iterator[float]:
    """The ratio of a program's rates, where it is a mismatch."""
    scope = run.analysis.with_infeed.program.scope
    # Where all work was counted, there is no model of it to compare with.
    if Scope.TOTAL_HW not in scope or Scope.TOTAL not in scope:
        return
    counted, modelled = (float(rates[scope.index(name)]) for name in (Scope.TOTAL_HW, Scope.TOTAL))
    ratio = _ratio(counted, modelled or math.nan)
    if ratio > MISMATCH.value:
        yield ratio


def _ratio(value: float, by: float) -> float:
    return value / by


def _more_bytes(run: Run) -> Iterator[Found]:
    ops = _ops_with_more_bytes(run)
    if ops:
        chosen = np.array(list(ops), np.int64)
        yield replace(run.flag(chosen, "hardware counters", ratio=max(ops.values())), kind="ops")
        return
    rates = run.analysis.with_infeed.program.measures.memory_bandwidth_gibs
    for ratio in _counted_over_modelled(run, rates):
        yield Found(what="hardware counters", facts={"ratio": ratio})


def _ops_with_more_bytes(run: Run) -> dict[int, float]:
    """Counted over modelled bytes of each op where it is a mismatch, the longest op first."""
    measured, table = run.analysis.device.counters.measured, run.table
    known = table.bytes_known & table.cost_known & (table.bytes_accessed > 0)
    counted = {} if measured is None else measured.op_bytes
    ratios = {
        op: _ratio(moved, float(table.bytes_accessed[op]))
        for op, moved in counted.items()
        if op < len(table) and known[op]
    }
    found = {op: ratio for op, ratio in ratios.items() if ratio > MISMATCH.value}
    return dict(sorted(found.items(), key=lambda one: -run.own_us[one[0]]))


def _more_flop(run: Run) -> Iterator[Found]:
    rates = run.analysis.with_infeed.program.measures.flop_rate_gflops
    for ratio in _counted_over_modelled(run, rates):
        yield Found(what="hardware counters", facts={"ratio": ratio})


V2 = Rule(
    id="V2",
    when="the hardware counted over {MISMATCH} times the modelled bytes, of an operation or in all",
    source=XPROF,
    formula=Formula("counted bytes ÷ modelled bytes > 1.10", _ratio),
    cases=(Case({"counted bytes": 6e9, "modelled bytes": 4e9}, 1.5),),
    thresholds=(MISMATCH,),
    finds=_more_bytes,
    confidence="high",
    urgency=1,
    title="Take the bytes that the hardware counted",
    why="The hardware counted {ratio} times the bytes of the model: rereads, padding, spills or "
    "parts that the model leaves out.",
    cure=Cure("Look for spills and padding; then tile or lay out the data anew."),
    forms={
        "ops": Form(
            title="Take the bytes that the hardware counted in {names}",
            why="The hardware counted up to {ratio} times the bytes that the model has for "
            "{count} {count|operation|operations}: rereads, padding or spills.",
        ),
    },
)
V3 = Rule(
    id="V3",
    when="the hardware counted over {MISMATCH} times the modelled FLOPs",
    source=XPROF,
    formula=Formula("counted FLOPs ÷ modelled FLOPs > 1.10", _ratio),
    cases=(Case({"counted FLOPs": 3e12, "modelled FLOPs": 2e12}, 1.5),),
    thresholds=(MISMATCH,),
    finds=_more_flop,
    confidence="high",
    urgency=1,
    title="Take the FLOPs that the hardware counted",
    why="The hardware counted {ratio} times the FLOPs of the model: padding, or work that is done "
    "again.",
    cure=Cure("Choose shapes that fill the tiles, and look at what is recomputed."),
)


def _vector_work(run: Run) -> Iterator[Found]:
    """Vector work whose own roof is nearer than the roof that the profile's peak gives it."""
    matrix, vector = _matrix_gflops(run.analysis), vector_gflops(run.analysis)
    clock_us = run.state.clocks.get(MAIN)
    if not matrix or not vector or clock_us is None:
        return
    count = len(run.calls)
    on_vector = np.array([is_vector(category) for category in run.table.category], np.bool_)
    busy_us, roof_us = run.state.busy_us[:count], run.state.roof_us()[:count]
    needs_us = _on_vector_unit(np.nan_to_num(clock_us[:count]) * matrix, vector)
    fits = (needs_us > roof_us) & (needs_us <= IMPOSSIBLE.value * busy_us) & (busy_us > 0)
    ops = np.flatnonzero(on_vector & fits)
    own_us = run.own_us[ops]
    if not own_us.sum() >= LEAST_SAVING.value * run.total_us > 0:
        return
    whole_us = float(busy_us[ops].sum())
    flag = run.flag(
        ops[np.argsort(-own_us, kind="stable")],
        "vector unit",
        ratio=float(needs_us[ops].sum()) / whole_us,
    )
    yield replace(flag, e=float(roof_us[ops].sum()) / whole_us, time_us=float(own_us.sum()))


def _on_vector_unit(flop: F64, peak: float) -> F64:
    return flop / peak


def _matrix_gflops(analysis: RooflineAnalysis) -> float:
    """The main peak, where it is that of a matrix unit."""
    main = analysis.device.compute[0] if analysis.device.compute else None
    units = [] if main is None else [*([main.unit] if main.unit else main.covers)]
    return main.gflops if main is not None and any(unit.is_matrix for unit in units) else 0.0


def vector_gflops(analysis: RooflineAnalysis) -> float:
    """The vector unit's peak at fp32, of the device or its part; 0 where it is not known."""
    own = analysis.device.unit_gflops(ComputeUnit.VECTOR_FP32)
    part = part_of(analysis.device.part_id or "")
    published = [] if part is None else part.compute()
    return own or next(
        (peak.gflops for peak in published if peak.unit is ComputeUnit.VECTOR_FP32), 0.0
    )


V4 = Rule(
    id="V4",
    when="vector work under the matrix unit's peak, and the vector unit needs longer than its roof "
    "says",
    source=BOOK + "roofline",
    formula=Formula(
        "T_v = FLOPs ÷ vector peak > T_min", lambda flop, peak, _: _on_vector_unit(flop, peak)
    ),
    cases=(Case({"FLOPs": 4e9, "vector peak": 14e6, "T_min": 8.7}, 4e9 / 14e6),),
    thresholds=(IMPOSSIBLE, LEAST_SAVING),
    finds=_vector_work,
    confidence="high",
    urgency=1,
    title="Compare {names} with the vector unit",
    why="{count|It is|They are} drawn under the peak of the matrix unit, which "
    "{count|it does|they do} not use, at {efficiency} of {count|its|their} roof. Under the vector "
    "unit it is {ratio}.",
    cure=Cure("Read the distance to the vector roof: there is less to gain than it seems."),
    units={"ratio": "ratio"},
)
V6 = Rule(
    id="V6",
    when="asynchronous halves and transfers: their time is that of others, so they have no share "
    "of a roof",
    label=Label(1, lambda ops: ops.is_async),
)


def unjudged_ratio(run: Run) -> float | None:
    """The share of the busy time whose cost is not known, where it is too large to pass over."""
    # Where some of the work of an op is known, a peak is what is missing.
    unknown = [op for op in run.labelled("V7") if run.analysis.ops.cost[op] is Cost.UNKNOWN]
    busy_us = float(run.own_us.sum())
    share = _ratio(float(run.own_us[unknown].sum()), busy_us) if busy_us else 0.0
    return share if share > UNKNOWN_COST.value else None


V7 = Rule(
    id="V7",
    when="neither known work nor busy shares; over {UNKNOWN_COST} of the busy time, the note under "
    "the list says how to record it",
    source=XPROF,
    formula=Formula("time of unknown cost ÷ busy time > 0.30", _ratio),
    cases=(Case({"time of unknown cost": 40.0, "busy time": 100.0}, 0.4),),
    thresholds=(UNKNOWN_COST,),
    label=Label(15, lambda ops: ~ops.is_known & ~ops.is_counted),
)

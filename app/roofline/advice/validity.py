"""Findings about the profile itself: what must be settled before its numbers are acted on."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.findings import Candidate
from roofline.advice.op_kinds import is_graph_capture
from roofline.advice.plan import Lever
from roofline.advice.rows import Rows, commonest
from roofline.analysis.causes import CAUSE_LABELS, EXPLAINED, Cause
from roofline.analysis.impossible import impossible_share
from roofline.analysis.records import Cost, RooflineAnalysis, Scope
from roofline.analysis.verdict import DOUBTFUL
from roofline.model.op_columns import I64

_REMATERIALISED = ("rematted_computation", "checkpoint/remat", "/remat/")


def above_the_roof(analysis: RooflineAnalysis, rows: Rows) -> Candidate | None:
    """V1: operations above their roof for more than 5 % of the time."""
    share = impossible_share(analysis, analysis.with_infeed)
    if share <= DOUBTFUL:
        return None
    ops, over = analysis.ops, np.nan_to_num(analysis.ops.measures.roofline_efficiency_ratio)
    impossible = [
        op
        for op in np.flatnonzero(over[: len(analysis.profile.ops)] > limit.IMPOSSIBLE).tolist()
        if ops.above_roof[op] not in {None, *EXPLAINED}
    ]
    chosen = np.array(sorted(impossible, key=lambda op: -rows.state.own_us[op]), np.int64)
    causes = [cause for op in chosen.tolist() if (cause := ops.above_roof[op]) is not None]
    worst = float(over[chosen].max())
    return _flag(
        rows, "V1", chosen, CAUSE_LABELS[Cause(commonest(list(causes)))], share=share, worst=worst
    )


def costs_first(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """V7: the cost of so much time is unknown that other advice is about the smaller part."""
    count = len(analysis.profile.ops)
    own_us = rows.state.own_us[:count]
    unknown = np.array(rows.diagnoses.rule[:count], object) == "V7"
    # Where some of the work is known, a peak is what is missing.
    uncounted = np.array([one is Cost.UNKNOWN for one in analysis.ops.cost[:count]], np.bool_)
    chosen = np.flatnonzero(unknown & uncounted & (own_us > 0))
    busy_us = float(own_us.sum())
    if busy_us and float(own_us[chosen].sum()) > limit.UNKNOWN_COST * busy_us:
        chosen = chosen[np.argsort(-own_us[chosen], kind="stable")]
        share = float(own_us[chosen].sum()) / busy_us
        flag = _flag(rows, "V7", chosen, "unknown cost", share=share)
        yield replace(flag, kind=_missing(analysis, rows, chosen))


def _missing(analysis: RooflineAnalysis, rows: Rows, ops: I64) -> str:
    """What a capture lacks: the device, the replay of a graph, shapes; "" where it is the cost."""
    if analysis.profile.is_host_only:
        return "host_only"
    if is_graph_capture(analysis):
        return "capture"
    own_us, operands = rows.state.own_us, analysis.profile.ops.operands
    shapeless_us = sum(float(own_us[op]) for op in ops.tolist() if not operands[op])
    return "no_shapes" if shapeless_us > 0.5 * float(own_us[ops].sum()) else ""


def counted_more(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """V2, V3: the hardware counted more than the model of the work says."""
    program = analysis.with_infeed.program
    # Where all work was counted, there is no model of it to compare with.
    if Scope.TOTAL_HW not in program.scope or Scope.TOTAL not in program.scope:
        return
    counted, modelled = program.scope.index(Scope.TOTAL_HW), program.scope.index(Scope.TOTAL)
    measures = program.measures
    for rule, column in (
        ("V2", measures.memory_bandwidth_gibs),
        ("V3", measures.flop_rate_gflops),
    ):
        ratio = float(column[counted]) / float(column[modelled] or math.nan)
        if ratio > limit.MISMATCH:
            yield _flag(rows, rule, np.array([], np.int64), "hardware counters", ratio=ratio)


def recomputed(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """G7: operations that a training step does again, by their names."""
    table = analysis.profile.ops
    again = np.array(
        [any(word in path for word in _REMATERIALISED) for path in table.framework_path], np.bool_
    )
    flop = table.flop.astype(np.float64)
    share = float(flop[again].sum()) / float(flop.sum() or 1.0)
    if share <= limit.REMATERIALISED:
        return
    ops = np.flatnonzero(again & (rows.state.own_us[: len(table)] > 0))
    nothing = np.zeros(len(ops))
    yield Candidate(
        rule="G7",
        ops=tuple(ops[np.argsort(-rows.state.own_us[ops], kind="stable")].tolist()),
        what="recomputed work",
        resource="calls",
        factor=0.0,
        lever=Lever(rows=ops, scale=dict.fromkeys(rows.state.clocks, nothing), time_us=nothing),
        term="calls",
        confidence="low",
        time_us=float(rows.state.own_us[ops].sum()),
        facts={"share": share},
    )


def _flag(rows: Rows, rule: str, ops: I64, what: str, **facts: float | str) -> Candidate:
    """A finding without a gain."""
    return Candidate(
        rule=rule,
        ops=tuple(ops.tolist()),
        what=what,
        resource="",
        factor=None,
        lever=None,
        term="",
        confidence="high",
        time_us=float(rows.state.own_us[ops].sum()),
        facts=facts,
    )

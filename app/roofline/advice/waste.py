"""W2 and P1: units that are busy with more than the work, or with other instructions."""

from collections.abc import Collection, Iterator

import numpy as np

from roofline.advice.candidates import candidate_of
from roofline.advice.findings import Candidate
from roofline.advice.op_groups import OpGroup, op_groups, reason_of
from roofline.advice.plan import Lever
from roofline.advice.rows import Rows
from roofline.advice.rules_of_ops import target_of
from roofline.analysis.nearest_records import OpClass
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.op_columns import I64

_RULES = frozenset({"W2", "P1"})


def counted_candidates(
    analysis: RooflineAnalysis, rows: Rows, without: Collection[int] = ()
) -> Iterator[Candidate]:
    """One candidate per unit and named waste; without counters there are none."""
    for group, ops in op_groups(analysis, rows, _RULES, without).items():
        chosen = np.array(ops, np.int64)
        yield _candidate(analysis, rows, group, chosen)


def _candidate(analysis: RooflineAnalysis, rows: Rows, group: OpGroup, ops: I64) -> Candidate:
    near, busy_us = rows.nearness, rows.state.busy_us[ops]
    left = (
        _unpiped(analysis, rows, group, ops)
        if group.rule == "P1"
        else _unwasted(analysis, rows, ops)
    )
    weight = busy_us / busy_us.sum()
    largest = int(ops[np.argmax(busy_us)])
    return candidate_of(
        rows,
        group.rule,
        ops,
        Lever(rows=ops, time_us=busy_us * left),
        what=group.category,
        bound=group.bound or None,
        resource=analysis.nearest.ceiling_of(largest),
        factor=float((left * weight).sum()),
        term="closeness",
        confidence="medium" if near.factor[largest] else "low",
        kind=group.kind,
        group=f"op:{analysis.profile.ops.name[largest]}",
        reason=reason_of(analysis, ops),
        ceiling=analysis.nearest.ceiling_of(largest),
        busy=float((near.share[ops] * weight).sum()),
        use=float((np.nan_to_num(near.use[ops]) * weight).sum()),
    )


def _unwasted(analysis: RooflineAnalysis, rows: Rows, ops: I64) -> Floats:
    """The share of the time that is left where the next ceiling is as near; of latency, where one
    is full."""
    near = rows.nearness
    following = near.following[ops] / near.share[ops]
    is_late = analysis.nearest.is_kind(OpClass.LATENCY)[ops]
    left: Floats = np.where(is_late, near.share[ops], np.fmax(near.use[ops], following))
    return np.clip(left, 0.0, 1.0)


def _unpiped(analysis: RooflineAnalysis, rows: Rows, group: OpGroup, ops: I64) -> Floats:
    """The share that is left without that pipe: the next unit is full, or the work at its roof."""
    target = target_of(analysis, group.bound, rows.target) if group.bound else 1.0
    busy_us = rows.state.busy_us[ops]
    closed = rows.state.roof_us()[ops] / target / np.where(busy_us > 0, busy_us, np.inf)
    left: Floats = np.maximum(rows.nearness.following[ops], closed)
    return np.clip(left, 0.0, 1.0)

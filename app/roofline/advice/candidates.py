"""Findings about ops, as candidates for the plan."""

import numpy as np

from roofline.advice.findings import Candidate, Confidence
from roofline.advice.plan import Lever
from roofline.advice.rows import Rows
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.op_columns import I64


def candidate_of(
    rows: Rows,
    rule: str,
    ops: I64,
    lever: Lever | None,
    *,
    what: str,
    bound: str,
    resource: str,
    factor: float | None,
    term: str,
    confidence: Confidence,
    gain: float | None = None,
    **facts: float | str,
) -> Candidate:
    """The finding `rule` on `ops`, largest first; `what`, `bound` and the rest as `Candidate`."""
    own_us = rows.state.own_us[ops]
    busy_us = float(rows.state.busy_us[ops].sum())
    order = np.argsort(-own_us, kind="stable")
    beside = {one for op in ops.tolist() for one in rows.diagnoses.also[op]}
    return Candidate(
        rule=rule,
        ops=tuple(ops[order].tolist()),
        what=what,
        resource=resource,
        factor=factor,
        lever=lever,
        term=term,
        confidence=confidence,
        e=float(rows.state.roof_us()[ops].sum()) / busy_us if busy_us else None,
        bound=bound,
        time_us=float(own_us.sum()),
        also=tuple(sorted(beside)),
        gain=gain,
        facts={"calls": float(rows.calls[ops].sum()), **facts},
    )


def bytes_per_call(analysis: RooflineAnalysis, ops: I64) -> Floats:
    """Bytes that a call of each of `ops` moves."""
    table = analysis.profile.ops
    moved: Floats = table.bytes_accessed[ops] / np.maximum(table.occurrences[ops], 1)
    return moved

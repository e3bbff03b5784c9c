"""Findings about ops, as candidates for the plan."""

from collections.abc import Mapping

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
    bound: str | None,
    resource: str,
    factor: float | None,
    term: str,
    confidence: Confidence,
    gain: float | None = None,
    kind: str = "",
    group: str = "",
    is_hypothetical: bool = False,
    changes_results: bool = False,
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
        kind=kind,
        group=group,
        is_hypothetical=is_hypothetical,
        changes_results=changes_results,
        facts={"calls": float(rows.calls[ops].sum()), **facts},
    )


def part_candidate(
    rows: Rows,
    rule: str,
    names: tuple[str, ...],
    kept: float,
    *,
    term: str,
    what: str,
    group: str,
    ops: tuple[int, ...] = (),
    kind: str = "",
    is_measured: bool = False,
    facts: Mapping[str, float] | None = None,
) -> Candidate:
    """The finding `rule` on parts of the time, of which the share `kept` is left."""
    places = np.array([rows.row_of(name) for name in names], np.int64)
    time_us = float(rows.state.own_us[places].sum())
    return Candidate(
        rule=rule,
        ops=ops,
        what=what,
        resource=names[0],
        factor=kept,
        lever=Lever(rows=places, time_us=rows.state.own_us[places] * kept),
        term=term,
        confidence="low",
        time_us=time_us,
        kind=kind,
        group=group,
        is_measured=is_measured,
        facts={"share": time_us / rows.total_us, **(facts or {})},
    )


def bytes_per_call(analysis: RooflineAnalysis, ops: I64) -> Floats:
    """Bytes that a call of each of `ops` moves."""
    table = analysis.profile.ops
    moved: Floats = table.bytes_accessed[ops] / np.maximum(table.occurrences[ops], 1)
    return moved

"""Advice on an analysis: what contradicts itself, or a plan of what would help."""

from collections.abc import Iterator

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.findings import Advice, Candidate, Finding, Outcome, Predicted
from roofline.advice.fusion import fusion_candidates
from roofline.advice.plan import Lever, State, after, greedy_plan, saving_us
from roofline.advice.rows import Rows, rows_of
from roofline.advice.rules_of_ops import op_candidates
from roofline.advice.rules_of_parts import part_candidates
from roofline.advice.validity import above_the_roof, costs_first, counted_more, recomputed
from roofline.analysis.records import RooflineAnalysis


def advise(analysis: RooflineAnalysis, target: float | None = None) -> Advice:
    """What would help the program of `analysis`, by what each finding adds to those before it.

    `target` is the share of a roof that tuning is taken to reach, where it is not the rule's own.
    """
    rows = rows_of(analysis, target)
    contradiction = above_the_roof(analysis, rows)
    if contradiction is not None:
        only = Finding(of=contradiction, predicted=None)
        return _advice("contradicts", rows, rows.state, (only,), 0)
    least_us = limit.LEAST_SAVING * rows.total_us
    candidates = list(_candidates(analysis, rows, least_us))
    levers = [one.lever for one in candidates if one.lever is not None]
    with_gain = [one for one in candidates if one.lever is not None]
    plan = greedy_plan(rows.state, levers, least_us)
    planned = tuple(
        Finding(of=with_gain[place], predicted=_predicted(rows, with_gain[place], saved_us))
        for place, saved_us in zip(plan.order, plan.savings_us, strict=True)
    )
    first = tuple(Finding(of=one, predicted=None) for one in candidates if one.lever is None)
    left_out = len(levers) - len(planned)
    state: Outcome = "plan" if planned or first else "nothing"
    return _advice(state, rows, plan.end, (*first, *planned), left_out)


def _candidates(analysis: RooflineAnalysis, rows: Rows, least_us: float) -> Iterator[Candidate]:
    """Every rule that holds; rules that need more than the profile has stay silent."""
    yield from costs_first(analysis, rows)
    yield from counted_more(analysis, rows)
    yield from part_candidates(analysis, rows)
    fusions = [
        one
        for one in fusion_candidates(analysis, rows)
        if one.lever is not None and saving_us(rows.state, one.lever) >= least_us
    ]
    yield from fusions
    # Fused, an op is gone: what its own rule would say stands beside the fusion.
    yield from op_candidates(analysis, rows, {op for one in fusions for op in one.ops})
    yield from recomputed(analysis, rows)


def _advice(
    state: Outcome, rows: Rows, end: State, findings: tuple[Finding, ...], left_out: int
) -> Advice:
    at_roof = np.array(rows.diagnoses.rule, object) == "S1"
    return Advice(
        state=state,
        unit=rows.unit,
        now_us=rows.total_us,
        after_us=float(end.own_us.sum()),
        floor_us=rows.floor_us,
        findings=findings,
        left_out=left_out,
        at_roof_us=float(rows.state.own_us[: len(at_roof)][at_roof].sum()),
    )


def _predicted(rows: Rows, candidate: Candidate, saved_us: float) -> Predicted:
    lever = candidate.lever
    assert lever is not None  # only these enter the plan
    return Predicted(
        saving_us=saved_us,
        alone_us=saving_us(rows.state, lever),
        at_roof_us=_at_roof_us(rows, lever),
        limited_by=_limit(rows, lever, candidate.resource),
    )


def _at_roof_us(rows: Rows, lever: Lever) -> float | None:
    """What the same work saves at its roof; `None` where it is not known, or has no roof."""
    known = rows.state.roof_us()[lever.rows] > 0
    ops = lever.rows[known]
    if not len(ops):
        return None
    at_roof = Lever(rows=ops, target=np.ones(len(ops)))
    return saving_us(rows.state, at_roof)


def _limit(rows: Rows, lever: Lever, resource: str) -> str:
    """What the rows are limited by afterwards: the resource whose clock is then longest in most of
    their time."""
    end = after(rows.state, lever)
    is_short = float(end.own_us.sum()) <= end.least_us * (1 + 1e-9)
    if end.least_us and is_short:
        return "link"
    names = [*end.clocks]
    if not names:
        return resource
    stacked = np.stack([np.nan_to_num(end.clocks[name][lever.rows]) for name in names])
    which, known = stacked.argmax(axis=0), stacked.max(axis=0) > 0
    if not known.any():
        return resource
    own_us = end.own_us[lever.rows]
    sums = np.bincount(which[known], own_us[known], len(names))
    return names[int(sums.argmax())]

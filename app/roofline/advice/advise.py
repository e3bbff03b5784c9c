"""Advice on an analysis: what contradicts itself, or a plan of what would help."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.attention import score_candidates
from roofline.advice.batching import batch_candidates
from roofline.advice.chains import chains_of
from roofline.advice.elsewhere import another_part, sharding
from roofline.advice.findings import Advice, Candidate, Finding, Landing, Predicted
from roofline.advice.fusion import fusion_candidates
from roofline.advice.plan import Lever, after, greedy_plan, saving_us
from roofline.advice.rows import Rows, rows_of
from roofline.advice.rules_of_ops import op_candidates
from roofline.advice.rules_of_parts import part_candidates
from roofline.advice.validity import above_the_roof, costs_first, counted_more, recomputed
from roofline.advice.wrong_unit import wrong_unit
from roofline.analysis.records import RooflineAnalysis

_LANDINGS = 20
"""Points of a finding whose end is shown."""

_OF_THE_WHOLE = frozenset({"W1", "C2"})


def advise(analysis: RooflineAnalysis, target: float | None = None) -> Advice:
    """Advice for the program of `analysis`, by what each finding adds to those before it.

    `target` is the share of a roof that tuning is taken to reach, where it is not the rule's own.
    """
    rows = rows_of(analysis, target)
    contradiction = above_the_roof(analysis, rows)
    candidates = list(_candidates(analysis, rows, limit.LEAST_SAVING * rows.total_us))
    chains = chains_of(analysis, rows)
    if contradiction is None:
        has_peaks = bool(analysis.peaks.gflops or analysis.peaks.binding_gibs)
        return replace(_planned(rows, candidates), chains=chains, has_peaks=has_peaks)
    independent = [one for one in candidates if _is_independent(one, contradiction)]
    only = Finding(of=contradiction, predicted=None)
    return Advice(
        state="contradicts",
        unit=rows.unit,
        now_us=rows.total_us,
        after_us=rows.total_us,
        floor_us=rows.floor_us,
        findings=(only,),
        left_out=0,
        at_roof_us=_at_roof_now_us(rows),
        waiting=_planned(rows, independent).findings,
        chains=chains,
    )


def _is_independent(one: Candidate, contradiction: Candidate) -> bool:
    """True for findings that say nothing of the ops whose work or peak is wrong."""
    return one.rule not in _OF_THE_WHOLE and not set(one.ops) & set(contradiction.ops)


def _planned(rows: Rows, candidates: Sequence[Candidate]) -> Advice:
    """The findings to settle first, the plan by what each adds, then the options."""
    least_us = limit.LEAST_SAVING * rows.total_us
    with_gain = [one for one in candidates if one.lever is not None]
    levers = [one.lever for one in with_gain if one.lever is not None]
    plan = greedy_plan(rows.state, levers, least_us)
    planned = tuple(
        Finding(of=with_gain[place], predicted=_predicted(rows, with_gain[place], saved_us))
        for place, saved_us in zip(plan.order, plan.savings_us, strict=True)
    )
    others = [one for one in candidates if one.lever is None]
    first = tuple(Finding(of=one, predicted=None) for one in others if one.gain is None)
    options = sorted((one for one in others if one.gain), key=lambda one: -(one.gain or 0.0))
    last = tuple(Finding(of=one, predicted=None) for one in options)
    return Advice(
        state="plan" if planned or first else "nothing",
        unit=rows.unit,
        now_us=rows.total_us,
        after_us=float(plan.end.own_us.sum()),
        floor_us=rows.floor_us,
        findings=(*first, *planned, *last),
        left_out=len(levers) - len(planned),
        at_roof_us=_at_roof_now_us(rows),
    )


def _candidates(analysis: RooflineAnalysis, rows: Rows, least_us: float) -> Iterator[Candidate]:
    """Every rule that holds; rules that need more than the profile has stay silent."""
    yield from costs_first(analysis, rows)
    yield from counted_more(analysis, rows)
    yield from wrong_unit(analysis, rows)
    yield from part_candidates(analysis, rows)
    fusions = [
        one
        for one in fusion_candidates(analysis, rows)
        if one.lever is not None and saving_us(rows.state, one.lever) >= least_us
    ]
    yield from fusions
    # Fused, an op is gone: what its own rule would say stands beside the fusion.
    scores = list(score_candidates(analysis, rows))
    yield from scores
    fused, told = ({op for one in found for op in one.ops} for found in (fusions, scores))
    yield from op_candidates(analysis, rows, fused, told)
    yield from recomputed(analysis, rows)
    yield from batch_candidates(analysis, rows)
    yield from sharding(analysis, rows)
    yield from another_part(analysis, rows)


def _at_roof_now_us(rows: Rows) -> float:
    at_roof = np.array(rows.diagnoses.rule, object) == "S1"
    return float(rows.state.own_us[: len(at_roof)][at_roof].sum())


def _predicted(rows: Rows, candidate: Candidate, saved_us: float) -> Predicted:
    lever = candidate.lever
    assert lever is not None  # only these enter the plan
    return Predicted(
        saving_us=saved_us,
        alone_us=saving_us(rows.state, lever),
        at_roof_us=_at_roof_us(rows, lever),
        limited_by=_limit(rows, lever, candidate.resource),
        landing=tuple(_landing(rows, candidate, lever)),
    )


def _landing(rows: Rows, candidate: Candidate, lever: Lever) -> Iterator[Landing]:
    """Where the largest ops end with this lever alone; none that would be gone."""
    ends, ops = after(rows.state, lever), lever.rows[lever.rows < len(rows.calls)]
    place = {op: k for k, op in enumerate(lever.rows.tolist())}
    kind = candidate.resource.rpartition("_")[2]
    before_us, after_us = rows.state.busy_us, ends.busy_us
    for op in ops[np.argsort(-rows.state.own_us[ops], kind="stable")][:_LANDINGS].tolist():
        scaled = [float(one[place[op]]) for one in lever.scale.values()]
        factor = min(scaled, default=1.0)
        landing = Landing(
            op=op,
            time_ratio=float(after_us[op] / before_us[op]) if before_us[op] else 1.0,
            flop_ratio=factor if kind == "flops" else 1.0,
            bytes_ratio=factor if kind == "bytes" else 1.0,
        )
        if min(landing.time_ratio, landing.flop_ratio, landing.bytes_ratio) > 0:
            yield landing


def _at_roof_us(rows: Rows, lever: Lever) -> float | None:
    """The saving of the same work at its roof; `None` where it is not known, or has no roof."""
    known = rows.state.roof_us()[lever.rows] > 0
    ops = lever.rows[known]
    if not len(ops):
        return None
    at_roof = Lever(rows=ops, target=np.ones(len(ops)))
    return saving_us(rows.state, at_roof)


def _limit(rows: Rows, lever: Lever, resource: str) -> str:
    """The limit of the rows after the change: the resource whose clock is then longest in most of
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

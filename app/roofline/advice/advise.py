"""Advice on an analysis: a plan of what would help, and what should be settled."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.attention import score_candidates
from roofline.advice.batching import batch_candidates
from roofline.advice.chains import chains_of
from roofline.advice.findings import Advice, Candidate, Finding, Landing, Predicted
from roofline.advice.fusion import fusion_candidates
from roofline.advice.links import link_candidates
from roofline.advice.plan import Lever, State, after, greedy_plan, saving_us
from roofline.advice.rows import Rows, rows_of
from roofline.advice.rules_of_ops import op_candidates
from roofline.advice.rules_of_parts import part_candidates
from roofline.advice.sharding import sharding
from roofline.advice.validity import above_the_roof, costs_first, counted_more, recomputed
from roofline.advice.waste import counted_candidates
from roofline.advice.wrong_unit import wrong_unit
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject

_LANDINGS = 20
"""Points of a finding whose end is shown."""

_FORMATS = frozenset({"G5", "V5"})
_OF_THE_WHOLE = frozenset({"C2"})


def advise(analysis: RooflineAnalysis, subject: Subject, target: float | None = None) -> Advice:
    """Advice on a subject of `analysis`, by what each finding adds to those before it.

    `target` is the share of a roof that tuning is taken to reach, where it is not the rule's own.
    """
    rows = rows_of(analysis, subject, target)
    contradiction = above_the_roof(analysis, rows)
    candidates = list(_candidates(analysis, rows, limit.LEAST_SAVING * rows.total_us))
    doubtful = () if contradiction is None else contradiction.ops
    sure = [one for one in candidates if not _depends(one, doubtful)]
    if contradiction is not None:
        sure.append(contradiction)
    found = _planned(rows, sure)
    has_peaks = bool(analysis.peaks.gflops or analysis.peaks.binding_gibs)
    return replace(
        found,
        waiting=len(candidates) + bool(doubtful) - len(sure),
        doubtful=len(doubtful),
        chains=chains_of(analysis, rows),
        has_peaks=has_peaks,
    )


def _depends(one: Candidate, doubtful: Sequence[int]) -> bool:
    """True for findings about ops whose work or peak is wrong, or about all of the program."""
    return bool(doubtful) and (one.rule in _OF_THE_WHOLE or bool(set(one.ops) & set(doubtful)))


def _planned(rows: Rows, candidates: Sequence[Candidate]) -> Advice:
    """The plan by what each adds, then what should be settled, then the options."""
    with_lever = [one for one in candidates if one.lever is not None]
    sure, instead = _largest_of_groups(rows, with_lever)
    kept, end = _in_plan(rows, rows.state, [one for one in sure if not one.changes_results])
    changing, end = _in_plan(rows, end, [one for one in sure if one.changes_results])
    taken = {one.of.group for one in (*kept, *changing)}
    assumed = [one for one in with_lever if one.is_hypothetical and one.group not in taken]
    behind = [one for one in _alone(rows, instead) if one.of.group in taken]
    keeping = [one for one in behind if not one.of.changes_results]
    shown = [*_ordered([*kept, *_alone(rows, assumed)], keeping), *_ordered(changing, behind)]
    shown += [one for one in behind if one not in shown]
    others = [Finding(of=one, predicted=None) for one in candidates if one.lever is None]
    options = sorted((one for one in others if one.of.gain), key=lambda one: -(one.of.gain or 0.0))
    return Advice(
        state="plan" if shown else "nothing",
        unit=rows.unit,
        unit_word=rows.unit_word,
        now_us=rows.total_us,
        after_us=float(end.own_us.sum()),
        floor_us=rows.floor_us,
        unknown_us=rows.unknown_us,
        findings=(*shown, *(one for one in others if one.of.gain is None), *options),
        left_out=len(with_lever) - len(shown),
        at_roof_us=_at_roof_now_us(rows),
    )


def _largest_of_groups(
    rows: Rows, candidates: Sequence[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """Of each group the finding that saves most, and the others; none with an assumed factor.

    A shorter format of products stands behind what brings the same products nearer to their roof:
    it changes results.
    """
    sure = [one for one in candidates if not one.is_hypothetical]
    saved_us = {id(one): saving_us(rows.state, one.lever) for one in sure if one.lever}
    ranked = sorted(sure, key=lambda one: (one.rule in _FORMATS, -saved_us[id(one)]))
    best: dict[str, Candidate] = {}
    for place, one in enumerate(ranked):
        best.setdefault(one.group or str(place), one)
    first = {id(one) for one in best.values()}
    return [one for one in sure if id(one) in first], [one for one in sure if id(one) not in first]


def _in_plan(
    rows: Rows, start: State, candidates: Sequence[Candidate]
) -> tuple[list[Finding], State]:
    """The findings whose savings add up, the largest first, and the program after them."""
    levers = [one.lever for one in candidates if one.lever is not None]
    plan = greedy_plan(start, levers, limit.LEAST_SAVING * rows.total_us)
    found = [
        Finding(
            of=candidates[place],
            predicted=_predicted(rows, candidates[place], saved_us),
            is_in_plan=True,
        )
        for place, saved_us in zip(plan.order, plan.savings_us, strict=True)
    ]
    return found, plan.end


def _alone(rows: Rows, candidates: Sequence[Candidate]) -> Iterator[Finding]:
    """Each finding with what it would save alone; none below 1 % of the time."""
    for one in candidates:
        saved_us = saving_us(rows.state, one.lever) if one.lever is not None else 0.0
        if saved_us > limit.LEAST_SAVING * rows.total_us:
            yield Finding(of=one, predicted=_predicted(rows, one, saved_us))


def _ordered(findings: Sequence[Finding], instead: Sequence[Finding]) -> list[Finding]:
    """By saving, another way to the same time behind the first; assumed savings count half."""

    def saved_us(one: Finding) -> float:
        assert one.predicted is not None  # only these are ordered
        return one.predicted.saving_us * (0.5 if one.of.is_hypothetical else 1.0)

    behind = sorted(instead, key=saved_us, reverse=True)
    found: list[Finding] = []
    for first in sorted(findings, key=saved_us, reverse=True):
        group = [one for one in behind if one.of.group == first.of.group and first.is_in_plan]
        found += [first, *group]
    return found


def _candidates(analysis: RooflineAnalysis, rows: Rows, least_us: float) -> Iterator[Candidate]:
    """Every rule that holds; rules that need more than the profile has stay silent."""
    yield from costs_first(analysis, rows)
    if analysis.profile.is_host_only:
        return  # nothing of the device was recorded
    yield from counted_more(analysis, rows)
    yield from wrong_unit(analysis, rows)
    yield from link_candidates(analysis, rows)
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
    yield from counted_candidates(analysis, rows, fused)
    yield from recomputed(analysis, rows)
    yield from batch_candidates(analysis, rows)
    yield from sharding(analysis, rows)


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

"""Advice on an analysis: a plan of what would help, and what should be settled."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from roofline.advice.chains import chains_of
from roofline.advice.findings import Advice, Finding, Landing, Predicted
from roofline.advice.formula import LEAST_SAVING
from roofline.advice.plan import Lever, State, after, greedy_plan, saving_us
from roofline.advice.rule import Found, Run
from roofline.advice.rules import RULES
from roofline.advice.rules.validity import unjudged_ratio
from roofline.advice.run import run_of
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject

_LANDINGS = 20
"""Points of a finding whose end is shown."""

_FORMATS = frozenset({"G5", "V5"})
_OF_THE_WHOLE = frozenset({"C2"})
_OF_A_HOST = ("V1",)


def advise(analysis: RooflineAnalysis, subject: Subject, target: float | None = None) -> Advice:
    """Advice on a subject of `analysis`, by what each finding adds to those before it.

    `target` is the share of a roof that tuning is taken to reach, where it is not the rule's own.
    Rules that need more than the profile has are silent.
    """
    run = run_of(analysis, subject, RULES, target)
    # Of a host alone nothing of the device was recorded.
    rules = _OF_A_HOST if analysis.profile.is_host_only else [*RULES]
    every = [found for rule in rules for found in run.found_by(rule)]
    doubtful = {op for found in run.found_by("V1") for op in found.ops}
    sure = [found for found in every if found.rule == "V1" or not _depends(found, doubtful)]
    return replace(
        _planned(run, sure),
        waiting=len(every) - len(sure),
        doubtful=len(doubtful),
        unjudged_ratio=None if analysis.profile.is_host_only else unjudged_ratio(run),
        chains=chains_of(run),
        has_peaks=bool(analysis.peaks.gflops or analysis.peaks.binding_gibs),
    )


def _depends(found: Found, doubtful: set[int]) -> bool:
    """True for findings about ops whose work or peak is wrong, or about all of the program."""
    return bool(doubtful) and (found.rule in _OF_THE_WHOLE or not doubtful.isdisjoint(found.ops))


def _planned(run: Run, candidates: Sequence[Found]) -> Advice:
    """The plan by what each adds, then what should be settled, then the options."""
    with_lever = [found for found in candidates if found.lever is not None]
    sure, instead = _largest_of_groups(run, with_lever)
    keeping, end = _in_plan(run, run.state, [found for found in sure if not found.changes_results])
    changing, end = _in_plan(run, end, [found for found in sure if found.changes_results])
    taken = {finding.of.group for finding in (*keeping, *changing)}
    assumed = [found for found in with_lever if found.is_hypothetical and found.group not in taken]
    behind = [finding for finding in _alone(run, instead) if finding.of.group in taken]
    beside = [finding for finding in behind if not finding.of.changes_results]
    shown = [*_ordered([*keeping, *_alone(run, assumed)], beside), *_ordered(changing, behind)]
    shown += [finding for finding in behind if finding not in shown]
    others = [found for found in candidates if found.lever is None]
    flags = [found for found in others if found.gain is None]
    flags.sort(key=lambda flag: -run.rules[flag.rule].urgency)
    options = sorted(
        (found for found in others if found.gain), key=lambda found: -(found.gain or 0.0)
    )
    return Advice(
        state="plan" if shown else "nothing",
        unit=run.unit,
        unit_word=run.unit_word,
        now_us=run.total_us,
        after_us=float(end.own_us.sum()),
        floor_us=run.floor_us,
        unknown_us=run.unknown_us,
        findings=(*shown, *(Finding(of=found, predicted=None) for found in (*flags, *options))),
        left_out=len(with_lever) - len(shown),
        at_roof_us=float(run.own_us[run.labelled("S1")].sum()),
    )


def _largest_of_groups(run: Run, candidates: Sequence[Found]) -> tuple[list[Found], list[Found]]:
    """Of each group the finding that saves most, and the others; none with an assumed factor.

    A shorter format of products stands behind what brings the same products nearer to their roof:
    it changes results.
    """
    sure = [found for found in candidates if not found.is_hypothetical]
    saved_us = {found: saving_us(run.state, found.lever) for found in sure if found.lever}
    ranked = sorted(sure, key=lambda found: (found.rule in _FORMATS, -saved_us[found]))
    best: dict[str, Found] = {}
    for place, found in enumerate(ranked):
        best.setdefault(found.group or str(place), found)
    first = {*best.values()}
    return [found for found in sure if found in first], [
        found for found in sure if found not in first
    ]


def _in_plan(run: Run, start: State, candidates: Sequence[Found]) -> tuple[list[Finding], State]:
    """The findings whose savings add up, the largest first, and the program after them."""
    levers = [one.lever for one in candidates if one.lever is not None]
    plan = greedy_plan(start, levers, LEAST_SAVING.value * run.total_us)
    findings = [
        Finding(
            of=candidates[place],
            predicted=_predicted(run, candidates[place], saved_us),
            is_in_plan=True,
        )
        for place, saved_us in zip(plan.order, plan.savings_us, strict=True)
    ]
    return findings, plan.end


def _alone(run: Run, candidates: Sequence[Found]) -> Iterator[Finding]:
    """Each finding with what it would save alone; none below 1 % of the time."""
    for found in candidates:
        saved_us = saving_us(run.state, found.lever) if found.lever is not None else 0.0
        if saved_us > LEAST_SAVING.value * run.total_us:
            yield Finding(of=found, predicted=_predicted(run, found, saved_us))


def _ordered(findings: Sequence[Finding], instead: Sequence[Finding]) -> list[Finding]:
    """By saving, another way to the same time behind the first; assumed savings count half."""

    def saved_us(finding: Finding) -> float:
        assert finding.predicted is not None  # only these are ordered
        return finding.predicted.saving_us * (0.5 if finding.of.is_hypothetical else 1.0)

    behind = sorted(instead, key=saved_us, reverse=True)
    ordered: list[Finding] = []
    for first in sorted(findings, key=saved_us, reverse=True):
        others = behind if first.is_in_plan else []
        ordered += [first, *(other for other in others if other.of.group == first.of.group)]
    return ordered


def _predicted(run: Run, candidate: Found, saved_us: float) -> Predicted:
    lever = candidate.lever
    assert lever is not None  # only these enter the plan
    end = after(run.state, lever)
    return Predicted(
        saving_us=saved_us,
        alone_us=saving_us(run.state, lever),
        at_roof_us=_at_roof_us(run, lever),
        limited_by=_limit(end, lever, candidate.resource),
        landing=tuple(_landing(run, candidate, lever, end)),
    )


def _landing(run: Run, candidate: Found, lever: Lever, end: State) -> Iterator[Landing]:
    """Where the largest ops `end` with this lever alone; none that would be gone."""
    ops = lever.rows[lever.rows < len(run.calls)]
    place = {op: k for k, op in enumerate(lever.rows.tolist())}
    kind = candidate.resource.rpartition("_")[2]
    before_us, after_us = run.state.busy_us, end.busy_us
    for op in ops[np.argsort(-run.state.own_us[ops], kind="stable")][:_LANDINGS].tolist():
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


def _at_roof_us(run: Run, lever: Lever) -> float | None:
    """The saving of the same work at its roof; `None` where it is not known, or has no roof."""
    known = run.state.roof_us()[lever.rows] > 0
    ops = lever.rows[known]
    if not len(ops):
        return None
    at_roof = Lever(rows=ops, target=np.ones(len(ops)))
    return saving_us(run.state, at_roof)


def _limit(end: State, lever: Lever, resource: str) -> str:
    """The limit of the rows at the `end`, after the change: the resource whose clock is then
    longest in most of their time."""
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

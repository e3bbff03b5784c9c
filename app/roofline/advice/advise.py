"""Advice on an analysis: a plan of what would help, and what should be settled.

Chains of memory-bound ops that could be one kernel: bytes, time, and the roof that ends it.

A fused chain moves what its members leave of the main memory's traffic (`fusion`), does all of
their arithmetic, and keeps their closeness to the roof. The arithmetic is held against the vector
unit too, whatever roof the ops were held against: T' = max(all clocks, F / vector peak) / e.

The run that rules read, of an analysis and one of its subjects.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from roofline.advice.diagnosis import diagnose, facts_of
from roofline.advice.findings import Advice, Chain, Finding, Landing, Predicted
from roofline.advice.formula import IMPOSSIBLE, LEAST_SAVING
from roofline.advice.nearness import nearness_of
from roofline.advice.plan import Lever, State, after, greedy_plan, saving_us
from roofline.advice.rule import (
    CAPTURE,
    EXPOSED,
    HOST,
    IDLE,
    INFEED,
    STEP,
    UNEXPLAINED,
    UNKNOWN,
    Found,
    Rule,
    Run,
)
from roofline.advice.rules import RULES
from roofline.advice.rules.fusion import Fusible, fusible
from roofline.advice.rules.validity import unjudged_ratio, vector_gflops
from roofline.analysis.context import NAN
from roofline.analysis.knowledge import has_no_place, is_mostly_missing
from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Kind, OpPart, Subject
from roofline.model.op_columns import F64, I64, U64
from roofline.model.tensors import tensors_of
from roofline.model.units import GIGA, US_PER_S

_STEPS = {Kind.STEP, Kind.SERVING}
_WORK = {OpPart.WORK, OpPart.UNKNOWN, OpPart.IMPOSSIBLE}


def run_of(
    analysis: RooflineAnalysis,
    subject: Subject,
    rules: Mapping[str, Rule],
    target: float | None = None,
) -> Run:
    """The run of a subject: its ops, and the parts of its time that no op has."""
    count, ops = len(analysis.profile.ops), subject.ops
    works = np.array([part in _WORK for part in ops.part[:count]], np.bool_)
    busy_us = ops.called_us[:count]
    whole_us = np.nan_to_num(analysis.ops.measures.total_time_us[:count])
    scale = np.divide(busy_us, whole_us, out=np.zeros(count), where=whole_us > 0)
    calls = np.maximum(analysis.profile.ops.occurrences.astype(np.float64), 1) * scale
    known = np.array([part is not OpPart.UNKNOWN for part in ops.part[:count]], np.bool_)
    clocks = _clocks(analysis, np.where(known, scale, NAN))
    parts = {name: us for name, us in _parts(subject).items() if us > 0}
    rest = [np.full(len(parts), NAN)]
    nearness = nearness_of(analysis)
    labels = {name: rule.label for name, rule in rules.items() if rule.label is not None}
    own_us = np.where(works, ops.width_us[:count], 0.0)
    return Run(
        analysis=analysis,
        rules=rules,
        unit=STEP if subject.kind in _STEPS else CAPTURE,
        unit_word=subject.unit_word,
        total_us=subject.time_us,
        floor_us=subject.floor_us,
        state=State(
            busy_us=np.concatenate([busy_us, list(parts.values())]),
            own_us=np.concatenate([own_us, list(parts.values())]),
            clocks={name: np.concatenate([clock, *rest]) for name, clock in clocks.items()},
            least_us=subject.link_need_us,
        ),
        calls=calls,
        parts=tuple(parts),
        diagnoses=diagnose(facts_of(analysis, busy_us, calls, clocks, nearness), labels),
        nearness=nearness,
        target=target,
    )


def _parts(subject: Subject) -> dict[str, float]:
    """Time of a subject that no op works in, by name."""
    parts, ops = subject.parts, subject.ops
    named_us = sum(ops.width_us[k] for k, part in enumerate(ops.part) if part in _WORK)
    return {
        **{f"{EXPOSED}{link}": us for link, us in parts.links.items()},
        HOST: parts.transfers,
        INFEED: parts.input,
        IDLE: parts.host_wait,
        UNEXPLAINED: parts.unknown_wait,
        UNKNOWN: max(parts.work - float(named_us), 0.0),
    }


def _clocks(analysis: RooflineAnalysis, scale: Floats) -> dict[str, Floats]:
    """Clocks of ops per unit; none of transfers, which are held against their links alone."""
    count = len(scale)
    moves = np.array([cost is Cost.TRANSFER for cost in analysis.ops.cost[:count]], np.bool_)
    clocks = {
        name: np.where(moves, NAN, column[:count] * scale)
        for name, column in analysis.ops.clocks.of.items()
    }
    return {name: column for name, column in clocks.items() if np.nansum(column) > 0}


VECTOR = "vector unit"
_LEAST = 0.001  # of the time
_MOST = 50


def chains_of(run: Run) -> tuple[Chain, ...]:
    """The chains that save at least 0.1 % of the time, the largest saving first."""
    chains = [chain for members in fusible(run) for chain in _fused(run, members)]
    worth = [chain for chain in chains if chain.saving_us > _LEAST * run.total_us]
    return tuple(sorted(worth, key=lambda chain: -chain.saving_us)[:_MOST])


def _fused(run: Run, members: Fusible) -> Iterator[Chain]:
    """The chain as one kernel; nothing where its ops are above their roof."""
    ops, state = members.ops, run.state.at(members.ops)
    busy_us, own_us = float(state.busy_us.sum()), float(state.own_us.sum())
    needs = float(state.roof_us().sum())
    if not 0 < needs <= IMPOSSIBLE.value * busy_us:
        return
    clocks = {name: float(np.nansum(column)) for name, column in state.clocks.items()}
    clocks[run.main] = float((state.clocks[run.main] * members.factors).sum())
    flop, is_estimate = _flop(run, ops)
    peak = vector_gflops(run.analysis) * GIGA / US_PER_S
    if peak:
        clocks[VECTOR] = flop / peak
    longest = max(clocks, key=lambda name: clocks[name])
    then_us = min(max(clocks[longest] * busy_us / needs, clocks[longest]), busy_us)
    moved = _per_unit(run, ops, run.table.bytes_accessed)
    yield Chain(
        ops=tuple(ops.tolist()),
        what=members.what,
        known_by=members.known_by,
        calls=float(run.calls[ops].max()),
        now_us=own_us,
        after_us=own_us * then_us / busy_us,
        bytes_now=float(moved.sum()),
        bytes_after=float((moved * members.factors).sum()),
        flop=flop,
        is_flop_estimated=is_estimate,
        limited_by=longest,
    )


def _flop(run: Run, ops: I64) -> tuple[float, bool]:
    """FLOPs of the ops, and whether shapes stand in: one FLOP per element of the largest tensor.

    Profilers count few elementwise operators. What the profile says of an op goes first.
    """
    table = run.table
    counted = np.nan_to_num(_per_unit(run, ops, table.flop))
    tensors = [tensors_of(f"{table.operands[op]}; {table.results[op]}") for op in ops.tolist()]
    largest = np.array([max((t.elements for t in row), default=0) for row in tensors], np.float64)
    by_shapes = largest * run.calls[ops]
    stands_in = (counted <= 0) & (by_shapes > 0)
    return float(np.where(stands_in, by_shapes, counted).sum()), bool(stands_in.any())


def _per_unit(run: Run, ops: I64, column: F64 | U64) -> F64:
    calls = np.maximum(run.table.occurrences[ops].astype(np.float64), 1)
    per_call: F64 = column[ops].astype(np.float64) / calls
    return per_call * run.calls[ops]


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
    is_missing = is_mostly_missing(analysis.profile)
    rules = () if is_missing else _OF_A_HOST if analysis.profile.is_host_only else tuple(RULES)
    every = [found for rule in rules for found in run.found_by(rule)]
    doubtful = {op for found in run.found_by("V1") for op in found.ops}
    sure = [found for found in every if found.rule == "V1" or not _depends(found, doubtful)]
    planned = _planned(run, sure)
    return replace(
        planned,
        state="missing" if is_missing else planned.state,
        waiting=len(every) - len(sure),
        doubtful=len(doubtful),
        unjudged_ratio=unjudged_ratio(run) if len(rules) == len(RULES) else None,
        chains=chains_of(run),
        has_peaks=bool(analysis.peaks.gflops or analysis.peaks.binding_gibs)
        or has_no_place(analysis.profile),
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

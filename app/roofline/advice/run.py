"""The run that rules read, of an analysis and one of its subjects."""

from collections.abc import Mapping

import numpy as np

from roofline.advice.diagnosis import diagnose, facts_of
from roofline.advice.nearness import nearness_of
from roofline.advice.plan import State
from roofline.advice.rule import (
    CAPTURE,
    EXPOSED,
    HOST,
    IDLE,
    INFEED,
    STEP,
    UNEXPLAINED,
    UNKNOWN,
    Rule,
    Run,
)
from roofline.analysis.context import NAN
from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Kind, OpPart, Subject

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

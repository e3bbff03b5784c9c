"""The times of an analysis per unit of a comparison: those of its subjects, whose parts add up."""

from collections import Counter
from dataclasses import replace

import numpy as np

from roofline.analysis.program import step_us
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.costs import Costs
from roofline.analysis.subjects.options import options
from roofline.analysis.subjects.records import Kind, OpPart, Subject
from roofline.analysis.verdict import MOSTLY, verdict_of
from roofline.compare.run import CAPTURE, EXECUTION, STEP, RunSubject, UnitTimes
from roofline.model.categories import is_container
from roofline.model.plain_data import alike
from roofline.model.units import PS_PER_US

_OF_STEPS = {Kind.STEP, Kind.SERVING}


def units_of(analysis: RooflineAnalysis, asked: Subject | None = None) -> dict[str, UnitTimes]:
    """The times of the subject that was asked for, alone; without one those of the default
    subject, of the capture that it is a step of, and of an execution of a compiled program."""
    subject = asked or choose(analysis)
    own, is_step = _times(analysis, subject), subject.kind in _OF_STEPS
    if asked is not None:
        return {STEP if is_step else CAPTURE: own}
    units = {STEP: own} if is_step else {}
    whole = _times(analysis, choose(analysis, options(analysis)[-1].of)) if is_step else own
    executions = _executions(analysis, whole)
    if executions:
        units[EXECUTION] = _divided(whole, executions)
    return {**units, CAPTURE: whole}


def _times(analysis: RooflineAnalysis, subject: Subject) -> UnitTimes:
    count, waits = len(analysis.profile.ops), subject.parts.waits
    work_us = subject.ops.work_us[:count]
    is_work = np.array([part is OpPart.WORK for part in subject.ops.part[:count]], np.bool_)
    is_judged = is_work & ~Costs.of(analysis).assumed[:count]
    parts = {
        "communication": float(waits["links"]),
        "transfers": waits["transfers"] + waits["input"],
        "idle": subject.parts.idle,
    }
    rest_us = subject.time_us - float(work_us.sum()) - sum(parts.values())
    is_rounding = abs(rest_us) < _ROUNDING * subject.time_us
    return UnitTimes(
        calls=subject.ops.calls[:count],
        time_us=work_us,
        needed_us=np.where(is_judged, subject.ops.needed_us[:count], np.nan),
        parts={**parts, "unknown": 0.0 if is_rounding else rest_us},
        total_us=subject.time_us,
        samples_us=_samples_us(analysis, subject),
        subject=_facts(analysis, subject),
    )


_ROUNDING = 1e-9


def _facts(analysis: RooflineAnalysis, subject: Subject) -> RunSubject:
    verdict, idle_us = verdict_of(analysis, subject), subject.parts.idle
    return alike(
        RunSubject,
        subject,
        kind=subject.kind.value,
        verdict=verdict.kind.value,
        ceiling=verdict.ceiling,
        ratio=verdict.ratio,
        is_counted=verdict.known.busy >= MOSTLY,
        host_wait_ratio=subject.parts.host_wait / idle_us if idle_us > 0 else 1.0,
    )


def _samples_us(analysis: RooflineAnalysis, subject: Subject) -> tuple[float, ...]:
    """The times of the single steps that a mean step is of; none of other subjects."""
    profile = analysis.profile
    if subject.kind is Kind.SERVING and profile.serving is not None:
        option = next(one for one in options(analysis) if one.of == subject.of)
        return tuple((profile.serving.span_ps[option.steps] / PS_PER_US).tolist())
    if subject.of != Kind.STEP.value:
        return ()
    if profile.timeline is not None:
        return tuple(us for us in step_us(profile.timeline).tolist() if us > 0)
    cores = max(analysis.device.core_count, 1)
    return tuple((profile.steps.time_ps / PS_PER_US / cores).tolist())


def _executions(analysis: RooflineAnalysis, whole: UnitTimes) -> int:
    """How often a core ran the program: the most frequent call count of a compiled one's ops."""
    table = analysis.profile.ops
    if not analysis.profile.program_names:
        return 0
    counted = Counter(
        round(calls)
        for calls, category, program in zip(
            whole.calls.tolist(), table.category, table.program_id.tolist(), strict=True
        )
        if calls >= 1 and not is_container(category) and program in analysis.profile.program_names
    )
    return max(counted, key=lambda calls: (counted[calls], calls)) if counted else 0


def _divided(whole: UnitTimes, count: int) -> UnitTimes:
    return UnitTimes(
        calls=whole.calls / count,
        time_us=whole.time_us / count,
        needed_us=whole.needed_us / count,
        parts={name: value / count for name, value in whole.parts.items()},
        total_us=whole.total_us / count,
        subject=None if whole.subject is None else _of_execution(whole.subject, count),
    )


def _of_execution(subject: RunSubject, count: int) -> RunSubject:
    return replace(
        subject,
        label=f"Execution, mean of {count:,}",
        unit_word="an execution",
        time_us=subject.time_us / count,
        floor_us=None if subject.floor_us is None else subject.floor_us / count,
    )

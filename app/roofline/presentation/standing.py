"""The third line of a page: the share of the roof, what binds, other waits, what is outside."""

from roofline.analysis.subjects.records import Kind, Subject
from roofline.presentation.goal import Form, Goal, all_waits
from roofline.presentation.goal_numbers import COMPLETE, Scale, marked, whole_percent
from roofline.presentation.quantities import significant
from roofline.presentation.sentences import Segment, Sentence, say

_LEAST_OUTSIDE = 0.01
_APART = 0.1
_WAITING = {Form.WAITS, Form.UNEXPLAINED}


def standing(
    subject: Subject, goal: Goal, bound: Sentence | None = None, busy: Sentence | None = None
) -> list[Sentence]:
    """The sentences of line 3, below the lines of `goal`.

    `bound` is the verdict's clause ("mostly HBM-bound"), `busy` what counters say of its unit.
    """
    form = goal.form
    if form in {Form.NOTHING, Form.HOST, Form.POINTS}:
        return []
    said = [
        _share(subject, bound),
        busy or [],
        [] if goal.says_waits else _waits(subject, form),
        _unknown(subject) if form in _WAITING else [],
        _outside(subject),
        _sample(subject),
    ]
    return [one for one in said if one]


def _share(subject: Subject, bound: Sentence | None) -> Sentence:
    """The only share of a roof: that of all known work, and of how much of it that is."""
    ratio, known = subject.roof_ratio, subject.known_ratio or 0.0
    if ratio is None:
        return []
    part = say("stands_known", share=whole_percent(known)) if known < COMPLETE else []
    clause = [Segment(kind="plain", text=", "), *bound] if bound else []
    share = marked(whole_percent(ratio), "roof_share", ratio)
    return say("stands", share=share, known=part, bound=clause)


def _waits(subject: Subject, form: Form) -> Sentence:
    """Waits that the lines above did not say."""
    waits = subject.parts.waits
    largest = max(waits, key=lambda one: waits[one]) if form in _WAITING else ""
    found = all_waits(subject, without=largest)
    return say("stands_waits", waits=found) if found else []


def _unknown(subject: Subject) -> Sentence:
    scale, unknown_us = Scale.of(subject.time_us), subject.parts.unknown
    if scale.number(unknown_us) == scale.number(0.0):
        return []
    return say("stands_unknown", time=scale.length(unknown_us))


def _outside(subject: Subject) -> Sentence:
    outside_us = subject.outside.total_us
    if outside_us is None or outside_us < _LEAST_OUTSIDE * subject.time_us:
        return []
    if subject.kind is Kind.RANGE:
        return []
    time = Scale.of(subject.time_us).length(outside_us)
    if subject.kind is Kind.CAPTURE:
        return say("stands_before", time=time)
    return say("stands_outside", time=time, what="step" if subject.count == 1 else "steps")


def _sample(subject: Subject) -> Sentence:
    """What the mean hides: a first step that is left out, and a median that differs."""
    sample = subject.sample
    if sample is None:
        return []
    said: Sentence = []
    if sample.first_ratio is not None:
        said += say("stands_left_out", ratio=significant(sample.first_ratio, 2))
    if abs(sample.median_us - subject.time_us) > _APART * subject.time_us:
        time = Scale.of(subject.time_us).length(sample.median_us)
        said += [Segment(kind="plain", text=" ")] if said else []
        said += say("stands_median", time=time)
    return said

"""The first lines of a reader: the goal, what to do first, and where the subject stands.

Facts come from the subject, the verdict and the first finding; nothing is decided here.

The third line of a page: the share of the roof, what binds, other waits, what is outside.

A verdict in words: what binds the work, how busy its unit was, or why none was.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from roofline.analysis.knowledge import NEARLY_ALL, has_no_place
from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.analysis.short_names import short_name
from roofline.analysis.subjects.records import Kind, Subject
from roofline.analysis.verdict import LATENCY, MOSTLY
from roofline.analysis.verdict_records import Place, Verdict, VerdictClass
from roofline.devices.measured import may_be_this_machine
from roofline.model.device import DeviceKind
from roofline.model.profile import NextStep, Profile, Severity
from roofline.presentation.goal import (
    First,
    Form,
    Goal,
    all_waits,
    cut,
    form_of,
    goal,
    headline,
    length,
)
from roofline.presentation.goal_numbers import COMPLETE, Scale, marked, whole_percent
from roofline.presentation.quantities import significant
from roofline.presentation.sentences import Number, Segment, Sentence, plain, ratio, say
from roofline.presentation.serving import serving_sentences
from roofline.presentation.words import (
    bound_by,
    ceiling_token,
    ceiling_words,
    half_bound_by,
)

_ALIKE = 0.05  # busy and useful shares closer than this are one number

# Why no unit is busier, within a sentence; a stall is named by what it waits for.
REASONS = {
    "few_blocks": "too few blocks",
    "launch": "calls are over before the device is full",
    "tail": "the last wave of blocks runs alone",
    "imbalance": "some multiprocessors work longer than others",
    "low_occupancy": "too few warps are resident",
    "barrier": "warps wait at barriers",
    "dependency": "warps wait for data or for earlier instructions",
    "not_measured": "the reason was not measured",
}


def bound_clause(verdict: Verdict) -> Sentence:
    """What binds the known work: "mostly HBM-bound", "partly HBM-, partly compute-bound"; empty
    where that is latency, or not known."""
    place = verdict.of_work
    if place is None or place.kind is VerdictClass.LATENCY:
        return []
    return _shared(verdict.held)


def busy_sentences(verdict: Verdict) -> Sentence:
    """How busy the unit was that binds, or why none was, as counters say."""
    place = verdict.of_work
    if verdict.kind is VerdictClass.UNKNOWN and verdict.ceiling and verdict.ratio:
        return say(
            "verdict_counted", unit=ceiling_words(verdict.ceiling), busy=ratio(verdict.ratio)
        )
    if place is None or place.ratio is None or verdict.known.busy < MOSTLY:
        return []
    if place.kind is VerdictClass.LATENCY:
        return _latency(place)
    held = [one for one in verdict.held.items() if one[0] != LATENCY][:2]
    is_alone = not held or held[0][1] >= NEARLY_ALL
    when = "busy time" if _does_wait(verdict) else "time"
    return _busy(place, when) if is_alone else _binds(held, when)


def _does_wait(verdict: Verdict) -> bool:
    return (verdict.idle_ratio or 0.0) + sum(verdict.waits.values()) > 1 - NEARLY_ALL


def _binds(held: Sequence[tuple[str, float]], when: str) -> Sentence:
    """Which units bind how much of the time: a mean over all operations is of none of them."""
    unit = ceiling_words(held[0][0])
    rest = [
        part
        for name, share in held[1:]
        for part in say("verdict_binds_too", unit=plain(ceiling_words(name)), share=ratio(share))
    ]
    return say(
        "verdict_binds",
        unit=plain(unit),
        bind="bind" if unit.endswith("slots") else "binds",
        share=ratio(held[0][1]),
        when=when,
        rest=rest,
    )


def _shared(held: Mapping[str, float]) -> Sentence:
    known, names = sum(held.values()), list(held)
    if not known > 0:
        return []
    first = held[names[0]] / known
    if len(names) == 1 or first > MOSTLY:
        how = "mostly" if first < NEARLY_ALL else "all" if first >= COMPLETE else "nearly all"
        return [plain(f"{how} "), _word(names[0])]
    return [plain("partly "), _word(names[0], is_half=True), plain(", partly "), _word(names[1])]


def _word(name: str, *, is_half: bool = False) -> Segment:
    """A bound in its colour; a half is followed by another bound."""
    text = half_bound_by(name) if is_half else bound_by(name)
    return Segment(kind="bound", text=text, token=ceiling_token(name))


def _busy(place: Place, when: str) -> Sentence:
    if not place.ceiling:
        return []
    busy, useful = place.ratio or 0.0, place.useful_ratio
    is_apart = useful is not None and 0 < useful < busy - _ALIKE
    unit = ceiling_words(place.ceiling)
    return say(
        "verdict_busy",
        unit=plain(unit),
        are="are" if unit.endswith("slots") else "is",
        busy=ratio(busy),
        when=when,
        useful=say("verdict_useful", useful=ratio(useful or 0.0)) if is_apart else "",
    )


def _latency(place: Place) -> Sentence:
    why = place.why_words or REASONS[place.why.partition(":")[0] or "not_measured"]
    busy = ratio(place.ratio or 0.0)
    if not place.ceiling:
        return say("verdict_slack", why=why, busy=busy)
    return say("verdict_latency", why=why, unit=ceiling_words(place.ceiling), busy=busy)


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
    """What the mean hides: steps that are left out, and a median that differs."""
    sample = subject.sample
    if sample is None:
        return []
    said = _joined(
        [
            say("stands_left_out", which=which, ratio=significant(of_median, 2))
            for which, of_median in sample.left_out.items()
        ]
    )
    if abs(sample.median_us - subject.time_us) > _APART * subject.time_us:
        time = Scale.of(subject.time_us).length(sample.median_us)
        said += [Segment(kind="plain", text=" ")] if said else []
        said += say("stands_median", time=time)
    return said


# Warnings that do not explain why there is no op.
_BESIDE_THE_POINT = {"no-steps", "steps-do-not-intersect", "hosts-differ", "no-peaks"}
_NOT_RUN = "launches-not-run"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """The one answer of a profile: its subject, the verdict on it, and the first finding.

    `finding` is the id of that finding, "" without one.
    """

    subject: Subject
    verdict: Verdict
    first: First | None = None
    finding: str = ""


class Lines(NamedTuple):
    """The three lines: sentences as segments, each with its full stop."""

    headline: Sentence
    do_first: Sentence
    standing: Sentence

    @property
    def lead(self) -> Sentence:
        """The lines below the headline as one text."""
        return _joined([self.do_first, self.standing])


def lines_of(analysis: RooflineAnalysis, answer: Answer) -> Lines:
    """The first lines for a reader. They read well for every kind of profile, empty ones too."""
    form = form_of(answer.subject)
    if form is Form.NOTHING:
        return Lines(headline=say("goal_nothing"), do_first=_why_nothing(analysis), standing=[])
    said = headline_of(analysis, answer.subject, answer.verdict)
    if answer.verdict.why == "coverage":
        return _uncovered(analysis, said)
    found = goal(answer.subject, answer.first, hint_of(analysis.profile, form))
    below = untimed(analysis) if form is Form.POINTS else _stands(analysis, answer, found)
    return Lines(headline=said, do_first=found.do_first, standing=below)


def headline_of(analysis: RooflineAnalysis, subject: Subject, verdict: Verdict) -> Sentence:
    """The first line, the same wherever this profile is spoken of."""
    form, time = form_of(subject), length(subject)
    if form is not Form.NOTHING and verdict.why == "coverage":
        return say("goal_uncovered", length=time, share=ratio(verdict.coverage or 0.0))
    if form is Form.NO_PEAKS and may_be_this_machine(analysis.device.kind):
        return say("goal_no_peaks_cpu", length=time)
    names, has_places = analysis.profile.ops.name, not has_no_place(analysis.profile)
    return headline(subject, form, names, has_places=has_places)


def _stands(analysis: RooflineAnalysis, answer: Answer, found: Goal) -> Sentence:
    """The share of the roof, what binds, what else is worth a word."""
    clause, busy = bound_clause(answer.verdict), busy_sentences(answer.verdict)
    served = serving_sentences(analysis, answer.subject)
    when = [
        say("stands_when", tool=step.tool)
        for step in analysis.profile.next_steps
        if step.kind == "when"
    ]
    return _joined([*standing(answer.subject, found, clause, busy), served, *when])


def _uncovered(analysis: RooflineAnalysis, said: Sentence) -> Lines:
    """A file without most of its program: how much of it is there, and how to record the rest."""
    note = next((one for one in analysis.diagnostics if one.code == _NOT_RUN), None)
    return Lines(
        headline=said,
        do_first=say("not_run_why") if note else [],
        standing=[plain(note.remedy)] if note else [],
    )


def _why_nothing(analysis: RooflineAnalysis) -> Sentence:
    """Why there is no operation: the first note that says it."""
    reasons = [
        f"{found.message} {found.remedy}".strip()
        for found in analysis.diagnostics
        if found.severity is not Severity.INFO and found.code not in _BESIDE_THE_POINT
    ]
    return [plain(next(iter(reasons), "The capture holds no ops of a device."))]


def _joined(sentences: Sequence[Sentence]) -> Sentence:
    """Sentences with a space between them."""
    found = [one for one in sentences if one]
    space = Segment(kind="plain", text=" ")
    return [part for at, one in enumerate(found) for part in ([space] * (at > 0) + one)]


def untimed(analysis: RooflineAnalysis) -> Sentence:
    """How the chart of such a profile reads; without one, which unit was busiest."""
    if has_no_place(analysis.profile):
        return _busiest(analysis)
    counts = Counter(analysis.ops.timing[: len(analysis.profile.ops)])
    points, predictions = counts[Timing.RATE], counts[Timing.PREDICTED]
    if not points:
        return say("of_predictions")
    if not predictions:
        return say("of_points")
    every = Number(points + predictions, "count")
    return say("of_both", points=Number(points, "count"), every=every)


def _busiest(analysis: RooflineAnalysis) -> Sentence:
    near = analysis.nearest
    share = np.where(near.is_busy_known, np.nan_to_num(near.largest), 0.0)
    op = int(share.argmax())
    if not near.ceiling_of(op):
        return []
    name, unit = cut(short_name(analysis.ops.name[op]).text), ceiling_words(near.ceiling_of(op))
    return say("of_busy", unit=unit, name=name, busy=ratio(float(share[op])))


_OTHER_HOST = "Host of "
_WITH_CUDA = ("an accelerator", "NVIDIA", "AMD")


def hint_of(profile: Profile, form: Form) -> Sentence | None:
    """The sentence on recording what a profile lacks; `None` where none is known."""
    if form is Form.HOST:
        return say(_host_hint(profile))
    if form is Form.POINTS:
        text = _TIMES_BY_FORMAT.get(profile.format_id)
        return say(text) if text and has_no_place(profile) else None
    if form is Form.UNEXPLAINED:
        return say(_IDLE_BY_FORMAT.get(profile.format_id, "first_threads"))
    is_known = form is not Form.NO_PEAKS or _counting(profile) is not None
    return work_hint(profile) if is_known else None


def _counting(profile: Profile) -> NextStep | None:
    return next((one for one in profile.next_steps if one.kind == "what"), None)


def work_hint(profile: Profile) -> Sentence:
    """The sentence on recording the work of operations."""
    lacking = _lacking(profile)
    counting = _counting(profile)
    if counting is None or lacking:
        return say(lacking or _BY_COUNTERS.get(profile.format_id, "first_cost"))
    kernels = cut(short_name(counting.of).text) if counting.of else "its kernels"
    return say("first_count", kernels=kernels, tool=counting.tool)


def _host_hint(profile: Profile) -> str:
    """Of recording the device, for a capture of its host alone."""
    name = profile.device.name.removeprefix(_OTHER_HOST)
    if profile.format_id == "pytorch" and name.startswith(_WITH_CUDA):
        return "first_host_torch"
    return "first_host"


def _lacking(profile: Profile) -> str:
    """The sentence for a file that lacks more than counters; "" for others."""
    noted = {one.code for one in profile.diagnostics}
    if "times-alone" in noted:
        return ""
    if profile.format_id == "pytorch":
        return next((hint for code, hint in _OF_TRACES.items() if code in noted), "")
    if profile.format_id == "xspace":
        return _BY_DEVICE.get(profile.device.kind, "")
    return _BY_FORMAT.get(profile.format_id, "")


# By what the trace lacks; replays of graphs have no shapes whatever was recorded.
_OF_TRACES = {
    "launches-not-run": "first_replay",
    "no-shapes": "first_shapes",
    "kernels-in-graphs": "first_graphs",
}
_BY_DEVICE = {
    DeviceKind.GPU: "first_program_plane",
    DeviceKind.TPU: "first_cost_estimates",
}
_IDLE_BY_FORMAT = {"rocprofiler_sdk": "first_calls_amd", "xprof_export": "first_capture"}
_TIMES_BY_FORMAT = {"nsight_compute": "first_times", "rocprofiler_sdk": "first_times_amd"}
_BY_FORMAT = {
    "nsight_compute": "first_counters",
    "rocprof_compute": "first_counters_amd",
}
# Of times alone, to which a file of counters cannot be added.
_BY_COUNTERS = {
    "nsight_systems": "first_counters",
    "rocprof_compute": "first_counters_amd",
    "rocprofiler_sdk": "first_counters_amd",
}

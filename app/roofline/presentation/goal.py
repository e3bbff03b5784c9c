"""The headline of a page as a goal: how long its subject takes, and what would do.

`docs/subject.md` has the table of forms. Words and numbers alone: the subject has the facts.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from roofline.analysis.short_names import short_name
from roofline.analysis.subjects.records import Kind, OpPart, Subject
from roofline.analysis.verdict import DOUBTFUL, MOSTLY
from roofline.presentation.goal_numbers import Scale, marked
from roofline.presentation.sentences import Number, Segment, Sentence, next_to, ratio, say

_DONE = 0.9
_LITTLE = 0.05  # of the time: with no more unjudged work, what is done is done; nearly nothing
_MIGHT = 0.1  # of the time: with so much unknown work, a goal is at least that
WORTH_A_WORD = 0.1
UNEXPLAINED = "unknown_wait"
_IDLE_KINDS = ("host_wait", UNEXPLAINED)
_MOVES = {"links", "transfers"}
_CAUSE_UNKNOWN = "idle, cause unknown"
_FAR = 0.2
_NEAR = 0.5
_LEAST_OP = 0.01
_MUCH = 0.25  # of the time: an op that is named
_MOST_LETTERS = 40
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


class Form(StrEnum):
    """The forms of a headline; the first that holds is said."""

    NOTHING = "nothing"
    HOST = "host"
    POINTS = "points"
    NO_PEAKS = "no_peaks"
    DOUBT = "doubt"
    DOUBT_PARTLY = "doubt_partly"
    WAITS = "waits"
    UNEXPLAINED = "unexplained"
    UNKNOWN = "unknown"
    UNCOUNTED = "uncounted"
    DONE = "done"
    GOAL = "goal"


_WITH_WAITS = {Form.NO_PEAKS, Form.UNKNOWN, Form.UNCOUNTED}


class First(NamedTuple):
    """The first finding: its title, what it saves in us (`None`: not known).

    `is_most`: at most so much, which is then written like the time it was measured as.
    """

    title: str
    saving_us: float | None
    is_most: bool = False


class Goal(NamedTuple):
    """The first two lines of a page, and the form of the first.

    `says_waits` is true where they say all waits that are worth a word.
    """

    form: Form
    headline: Sentence
    do_first: Sentence
    says_waits: bool


def goal(subject: Subject, first: First | None, hint: Sentence | None = None) -> Goal:
    """The headline and what to do first; `hint` says how to record what is missing."""
    form = form_of(subject)
    leads = first is not None and _leads(subject, form, first)
    is_said = form in _WITH_WAITS and not leads
    return Goal(
        form=form,
        headline=headline(subject, form),
        do_first=_do_first(subject, form, first, hint),
        says_waits=is_said,
    )


def form_of(subject: Subject) -> Form:
    """The form of the headline."""
    parts, time_us = subject.parts, subject.time_us
    doubtful_us = float(subject.ops.width_us[subject.ops.doubtful].sum())
    tests = (
        (Form.NOTHING, len(subject.ops.part) <= 1),
        (Form.HOST, subject.kind is Kind.HOST),
        (Form.POINTS, time_us <= 0),
        (Form.NO_PEAKS, not subject.has_ceilings),
        (Form.DOUBT, doubtful_us > MOSTLY * time_us),
        (Form.DOUBT_PARTLY, doubtful_us > DOUBTFUL * parts.work),
        (Form.UNEXPLAINED, parts.unknown_wait >= MOSTLY * time_us),
        (Form.WAITS, max(parts.waits.values()) >= MOSTLY * time_us),
        (Form.UNKNOWN, parts.unknown >= MOSTLY * parts.work),
        (Form.UNCOUNTED, subject.assumed_us > 0 and subject.roof_ratio is None),
        (Form.DONE, _is_done(subject)),
    )
    return next((form for form, holds in tests if holds), Form.GOAL)


def _is_done(subject: Subject) -> bool:
    floor_us = subject.floor_us or 0.0
    scale, time_us = Scale.of(subject.time_us), subject.time_us
    unjudged = subject.parts.unknown + subject.parts.impossible + subject.assumed_us
    is_near = floor_us >= _DONE * time_us and unjudged <= _LITTLE * time_us
    return is_near or scale.number(floor_us) == scale.number(time_us)


def headline(
    subject: Subject, form: Form, names: Sequence[str] = (), *, has_places: bool = True
) -> Sentence:
    """The first line, the h1 of a page. Of work without a cost it names the longest op by `names`,
    which has one for each op of the subject but IDLE. `has_places`: a chart shows some op."""
    if form is Form.NOTHING:
        return say("goal_nothing")
    if form is Form.POINTS:
        count = len(subject.ops.part) - 1
        text = "goal_point" if count == 1 else "goal_points"
        shown = say(f"{text}_shown") if has_places else "."
        return say(text, what=_spelled(subject, count), shown=shown)
    parts, scale = subject.parts, Scale.of(subject.time_us)
    floor_us = subject.floor_us or 0.0
    fillings: dict[str, str | Number | Segment | Sentence] = {
        "length": length(subject),
        "floor": marked(scale.least(floor_us), "floor", floor_us),
        "would": "might" if _is_soft(subject) else "would",
        "may": "may be" if _is_soft(subject) else "is",
        "count": Number(float(len(subject.ops.doubtful)), "count"),
        "unknown": scale.number(parts.unknown),
        "longest": _longest(subject, names),
    }
    if form is Form.UNKNOWN and scale.number(parts.unknown) == scale.number(subject.time_us):
        return say("goal_unknown_all", **fillings)
    if form in {Form.WAITS, Form.UNEXPLAINED}:
        kind = max(parts.waits, key=lambda one: parts.waits[one])
        fillings |= {"wait": waiting(subject, kind, scale), "what": waited_for(subject, kind)}
        if kind in _MOVES and not subject.link_need_us:
            return say("goal_waits_without_peak", **fillings)
    return say("goal" if form is Form.GOAL else f"goal_{form}", **fillings)


def length(subject: Subject) -> Sentence:
    """The time of a subject and its unit: "34.9 ms a step"."""
    text = Scale.of(subject.time_us).length(subject.time_us)
    unit = [Segment(kind="plain", text=f" {subject.unit_word}")] if subject.unit_word else []
    return [marked(text, "length", subject.time_us), *unit]


def _spelled(subject: Subject, count: int) -> str:
    noun = "kernel" if "kernel" in subject.label else "operation"
    number = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return f"{number} {noun}{'' if count == 1 else 's'}"


def _is_soft(subject: Subject) -> bool:
    """True where the floor is partly a guess: unknown work, work that is only busy, idle time that
    may have to stay."""
    guessed_us = subject.parts.unknown + subject.assumed_us + subject.parts.unknown_wait
    return guessed_us > _MIGHT * subject.time_us


def _longest(subject: Subject, names: Sequence[str]) -> Sentence | str:
    """The op that takes most of the time, of several without any known cost."""
    width_us = subject.ops.width_us[: len(names)]
    longest_us = float(width_us.max(initial=0.0))
    is_known = subject.parts.known > _LITTLE * subject.parts.work
    if len(names) < 2 or not longest_us > _MUCH * subject.time_us or is_known:
        return ""
    name = cut(short_name(names[int(width_us.argmax())]).text)
    return say("goal_longest", share=ratio(longest_us / subject.time_us), name=name)


def cut(name: str) -> str:
    """A name as it stands in a sentence."""
    return name if len(name) <= _MOST_LETTERS else f"{name[:_MOST_LETTERS]}…"


# ------------------------------------------------------------------------------------------- waits


def waiting(subject: Subject, kind: str, scale: Scale) -> Segment:
    """The time of a wait without its unit."""
    time_us = subject.parts.waits[kind]
    if is_all_idle(subject, kind):
        return marked(scale.number(time_us), "idle", subject.idle_ratio or 0.0)
    return Segment(kind="plain", text=scale.number(time_us))


def waited_for(subject: Subject, kind: str) -> str:
    """What a kind of wait waits for; communication whose link is not known waits for ranks."""
    if kind == "links" and set(subject.parts.links) == {"unknown"}:
        return "other ranks"
    words = {"host_wait": "the host", "transfers": "host transfers", "input": "input"}
    return words.get(kind, "links")


def wait_words(subject: Subject, kind: str) -> str:
    """A wait in a list: "waiting for the host"."""
    return _CAUSE_UNKNOWN if kind == UNEXPLAINED else f"waiting for {waited_for(subject, kind)}"


def is_all_idle(subject: Subject, kind: str) -> bool:
    """True where this kind of wait is all of the idle time, so that its number is that share."""
    return kind in _IDLE_KINDS and subject.parts.waits[kind] == subject.parts.idle


def all_waits(subject: Subject, without: str = "") -> Sentence:
    """Waits of at least a tenth of the time, longest first: "338 ms wait for the host, 168 for
    other ranks", and behind them idle time of unknown cause; empty without any."""
    scale, waits = Scale.of(subject.time_us), subject.parts.waits
    found = [
        kind
        for kind in sorted(waits, key=lambda one: -waits[one])
        if kind != without and waits[kind] >= WORTH_A_WORD * subject.time_us and waits[kind] > 0
    ]

    def with_unit(kind: str) -> Segment:
        return Segment({**waiting(subject, kind, scale), "text": scale.length(waits[kind])})

    said: Sentence = []
    for kind in [one for one in found if one != UNEXPLAINED]:
        number, what = waiting(subject, kind, scale), waited_for(subject, kind)
        if said:
            said += [Segment(kind="plain", text=", "), number]
            said.append(Segment(kind="plain", text=f" for {what}"))
        else:
            said += say("wait_of", time=with_unit(kind), what=what)
    if UNEXPLAINED in found:
        said += [Segment(kind="plain", text=". ")] if said else []
        said += say("wait_unexplained", time=with_unit(UNEXPLAINED))
    return said


# -------------------------------------------------------------------------------------------- first


def _do_first(subject: Subject, form: Form, first: First | None, hint: Sentence | None) -> Sentence:
    """The second line: the first finding, or what would tell or help."""
    if form is Form.NOTHING:
        return []
    if form is Form.POINTS:
        return hint or []
    if first is not None and _leads(subject, form, first):
        return [*(say("first_far") if _is_far(subject) else []), *_finding(subject, first)]
    waits = all_waits(subject)
    said = say("first_waits", waits=waits) if waits else []
    match form:
        case Form.HOST:
            return hint or say("first_host")
        case Form.DOUBT:
            return say("first_doubt")
        case Form.NO_PEAKS:
            return said or hint or []
        case Form.UNEXPLAINED:
            return hint or []
        case Form.UNKNOWN | Form.UNCOUNTED:
            return [*(hint or say("first_cost")), *next_to(said)]
        case Form.DONE:
            return say("first_done")
    return []


def _leads(subject: Subject, form: Form, first: First) -> bool:
    """True where a finding comes first: where most is unknown, one that saves more than that;
    without a device to compare with, none."""
    if form in {Form.HOST, Form.NO_PEAKS, Form.DOUBT}:
        return False
    least_us = {
        Form.UNKNOWN: subject.parts.unknown,
        Form.UNEXPLAINED: subject.parts.unknown_wait,
    }.get(form, 0.0)
    return (first.saving_us or 0.0) >= least_us


def _finding(subject: Subject, first: First) -> Sentence:
    title = first.title
    if title[1:2].islower():
        title = title[:1].lower() + title[1:]
    if first.saving_us is None:
        return say("first_without_saving", title=title)
    scale = Scale.of(subject.time_us)
    saving = scale.saving(first.saving_us)
    text = f"up to {saving}" if first.is_most else saving
    return say("first", title=title, saving=marked(text, "saving", first.saving_us))


def _is_far(subject: Subject) -> bool:
    """True where no operation of a hundredth of the time comes near its roof, nor keeps a unit
    busy."""
    ratio, ops = subject.roof_ratio, subject.ops
    if ratio is None or ratio >= _FAR:
        return False
    known = [part is OpPart.WORK for part in ops.part]
    large = (ops.width_us >= _LEAST_OP * subject.time_us) & known
    used_us = ops.needed_us + np.nan_to_num(ops.wasted_us)
    return not (used_us[large] >= _NEAR * ops.width_us[large]).any()

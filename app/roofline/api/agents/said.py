"""Where each number of a profile's sentence is from, as `why("verdict")` tells it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from roofline.analysis.subjects.records import Subject
from roofline.api.agents.reading import Reading
from roofline.presentation.goal import UNEXPLAINED, Form, form_of, waited_for
from roofline.presentation.goal_numbers import Scale, whole_percent
from roofline.presentation.quantities import count, duration, share, significant
from roofline.presentation.serving import group_of
from roofline.presentation.words import ceiling_words

_TIMES = "times of the file"
_REASON = "counters and launches of the kernel"
_COUNTERS = "counters: busy shares of units"


class Said(NamedTuple):
    """A number as the sentence writes it, what it is, and where it is from."""

    text: str
    what: str
    source: str


def numbers_said(reading: Reading) -> list[Said]:
    """Every number of the sentence, in its order."""
    sentence = _spaced(reading.profile.sentence)
    found = []
    for words, said in _facts(reading):
        number = rf"(?<![\d.,])({re.escape(_spaced(said.text))})(?![.,]?\d)"
        at = re.search(words.replace("{}", number), sentence, re.IGNORECASE)
        if at is not None:
            found.append((at.start(1), said))
    return [said for _, said in sorted(found)]


def _spaced(text: str) -> str:
    """The sentence has spaces that do not break a line."""
    return " ".join(text.split())


def _facts(reading: Reading) -> Iterator[tuple[str, Said]]:
    """What a sentence may say, and the words around it in `sentences.json`."""
    answer = reading.profile.answered.answer
    subject, verdict = answer.subject, answer.verdict
    if form_of(subject) is Form.POINTS:
        counted, _, _ = reading.profile.sentence.partition(" ")
        yield "^{}", Said(counted, subject.label, "rows of the file")
        busiest = float(np.nan_to_num(reading.profile.analysis.nearest.largest).max(initial=0.0))
        yield "unit is .* in .*, {} of", Said(share(busiest), "busy part of its time", _COUNTERS)
        return
    scale, work = Scale.of(subject.time_us), _work(reading)
    yield "^{}", Said(scale.length(subject.time_us), f"time of {subject.label}", _TIMES)
    floor = Said(
        scale.least(subject.floor_us or 0.0), "least time: work at its roofs, waits that stay", work
    )
    yield "{} (?:would do|might do|is the|may be)", floor
    ratio = Said(
        whole_percent(subject.roof_ratio or 0.0), "least time of known work ÷ its time", work
    )
    yield "At {} of the roof", ratio
    longest = float(subject.ops.width_us.max(initial=0.0)) / (subject.time_us or 1.0)
    yield "{} of it in", Said(share(longest), "time of the longest operation ÷ time", _TIMES)
    known = whole_percent(subject.known_ratio or 0.0)
    yield r"\({} known", Said(known, "part of the work whose roof is known", work)
    if (first := answer.first) is not None and first.saving_us is not None:
        finding = next(one for one in reading.profile.findings if one["id"] == answer.finding)
        rule = f"rule {finding['source'][0]}, {finding['confidence']} confidence"
        yield "{}", Said(scale.saving(first.saving_us), f"saving: {first.title}", rule)
    yield from _times(subject, scale)
    for name, held in verdict.held.items():
        unit = ceiling_words(name)
        binds = Said(share(held), f"part of the busy time that {unit} binds", _COUNTERS)
        yield f"{re.escape(unit)} (?:binds? )?{{}}", binds
    if verdict.why == "work" and verdict.ceiling:
        counted = f"busy part of the time of {ceiling_words(verdict.ceiling)}"
        yield "works most: {}", Said(share(verdict.ratio), counted, _COUNTERS)
    if (place := verdict.of_work) is not None:
        unit = ceiling_words(place.ceiling) if place.ceiling else "the busiest unit"
        busy = Said(share(place.ratio), f"busy part of the time of {unit}", _COUNTERS)
        yield "(?:busy|works|for more than) {}", busy
        for number in re.findall(r"\d[\d.,]*(?: %)?", _spaced(place.why_words)):
            yield f"{{}}.*{re.escape(unit)}", Said(number, f"reason: {place.why_words}", _REASON)
        yield "{} with useful work", Said(share(place.useful_ratio), f"useful part of {unit}", work)
    covered = Said(
        share(verdict.coverage), "part of the launches, or of a stated total", "the file"
    )
    yield "{} of the program", covered
    if (group := group_of(reading.profile.analysis, subject)) is not None:
        rate = Said(count(group.tokens_per_s), "rate of tokens", f"{_TIMES}, sequences of a step")
        yield "{} tokens/s", rate
        each = Said(duration(group.time_per_token_us), "time of a token of a sequence", _TIMES)
        yield "{} per output token", each


def _times(subject: Subject, scale: Scale) -> Iterator[tuple[str, Said]]:
    """Waits, time of unknown cost, what is outside, and what the mean hides."""
    for kind, time_us in subject.parts.waits.items():
        if kind == UNEXPLAINED:
            words, what = "nothing ran for {}", "idle time of unknown cause"
        else:
            what = f"wait for {waited_for(subject, kind)}"
            words = r"{}(?: \S+| of them waiting)?" + what.removeprefix("wait")
        yield words, Said(scale.number(time_us), what, _TIMES)
    unknown = Said(scale.number(subject.parts.unknown), "time of work of unknown cost", _TIMES)
    yield "cost of {}", unknown
    impossible = "operations with impossible numbers"
    yield f"{{}} {impossible[:9]}", Said(count(len(subject.ops.doubtful)), impossible, "the file")
    outside = Said(scale.length(subject.outside.total_us or 0.0), "time outside of it", _TIMES)
    yield "{} (?:lie|of an idle start)", outside
    if subject.sample is not None:
        yield "median step takes {}", Said(scale.length(subject.sample.median_us), "median", _TIMES)
        for which, ratio in subject.sample.left_out.items():
            what = f"time of the {which} step ÷ median of the others"
            yield (
                f"{which} step is left out: it took {{}}",
                Said(significant(ratio, 2), what, _TIMES),
            )


def _work(reading: Reading) -> str:
    """What work at its roofs rests on."""
    profile = reading.document["profile"]
    origins = sorted({row["bound_peak_origin"] for row in reading.rows} - {None, ""})
    return (
        f"FLOPs {profile['flop_provenance']}, bytes {profile['bytes_provenance']},"
        f" peaks {' and '.join(origins) or 'not known'}"
    )

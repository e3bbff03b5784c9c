"""What the two sides of a comparison are of: the same facts as on every page of a subject."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roofline.analysis.subjects.costs import INPUT, UNKNOWN_LINK
from roofline.analysis.verdict_records import VerdictClass
from roofline.compare.changes import Comparison
from roofline.compare.run import RunSubject
from roofline.model.plain_data import taken
from roofline.presentation.goal_numbers import whole_percent
from roofline.presentation.quantities import duration
from roofline.presentation.words import bound_by, ceiling_words

Record = dict[str, Any]

_UNKNOWN = "–"
_COMPLETE = 0.995
_CLASSES = {
    VerdictClass.NOTHING: "no operation",
    VerdictClass.HOST_ONLY: "the host alone",
    VerdictClass.POINTS: "no times",
    VerdictClass.PREDICTED: "no times",
    VerdictClass.UNKNOWN: "not known",
    VerdictClass.DOUBT: "in doubt",
    VerdictClass.IDLE: "mostly idle",
    VerdictClass.LATENCY: "latency-bound",
}
"""A class without a ceiling, in a cell."""
_WAITS = {INPUT: "input", UNKNOWN_LINK: "other ranks"}


def subject_records(found: Comparison) -> Record:
    """The subjects of both sides, with the keys of `subject` of an analysis; null: not stored."""
    return {side: _record(one) for side, one in zip("ab", found.subjects, strict=True)}


def _record(one: RunSubject | None) -> Record | None:
    if one is None:
        return None
    return {
        **taken(one, "of", "kind", "label", "unit_word", "time_us", "floor_us", "roof_ratio"),
        **taken(one, "known_ratio", "idle_ratio"),
        "class": one.verdict,
        "ceiling": one.ceiling or None,
        "ratio": one.ratio,
        "not_found": one.not_found or None,
    }


def subject_rows(found: Comparison) -> list[tuple[str, str, str]]:
    """The name of each fact, and what it is on both sides; nothing where none was stored."""
    a, b = found.subjects
    if a is None and b is None:
        return []
    return [(one.name, _said(one, a), _said(one, b)) for one in _FACTS]


def marked_rows(found: Comparison) -> list[Record]:
    """The same for a page: `quantity` is what the number is, `a_value` and `b_value` its raw value,
    in us or as a ratio."""
    a, b = found.subjects
    return [
        {
            "name": fact.name,
            "quantity": fact.quantity,
            "a": said_a,
            "b": said_b,
            "a_value": _value(fact, a),
            "b_value": _value(fact, b),
        }
        for fact, (_, said_a, said_b) in zip(_FACTS, subject_rows(found), strict=False)
    ]


def _said(fact: "_Fact", one: RunSubject | None) -> str:
    return _UNKNOWN if one is None else fact.said(one)


def _value(fact: "_Fact", one: RunSubject | None) -> float | None:
    if one is None or not fact.field:
        return None
    found: float | None = getattr(one, fact.field)
    return found


def _label(one: RunSubject) -> str:
    return f"{one.label} (there is no {one.not_found})" if one.not_found else one.label


def _of_the_roof(one: RunSubject) -> str:
    if one.roof_ratio is None:
        return _UNKNOWN
    known = one.known_ratio or 0.0
    part = f" ({whole_percent(known)} known)" if known < _COMPLETE else ""
    return f"{whole_percent(one.roof_ratio)}{part}"


def _idle(one: RunSubject) -> str:
    return _UNKNOWN if one.idle_ratio is None else whole_percent(one.idle_ratio)


def bound_words(one: RunSubject) -> str:
    """What binds it, in a cell: "HBM-bound", "latency-bound", "waits for NVLink"."""
    kind = VerdictClass(one.verdict)
    if kind in _CLASSES or not one.ceiling:
        return _CLASSES.get(kind, _CLASSES[VerdictClass.UNKNOWN])
    if kind is VerdictClass.WAITS:
        return f"waits for {_WAITS.get(one.ceiling) or ceiling_words(one.ceiling)}"
    part = "partly " if kind is VerdictClass.MIXED else ""
    return f"{part}{bound_by(one.ceiling)}"


@dataclass(frozen=True, slots=True)
class _Fact:
    """A line about both sides: its words, and for machines the quantity and where it is kept."""

    name: str
    said: Callable[[RunSubject], str]
    quantity: str = ""
    field: str = ""


_FACTS = (
    _Fact("Of", _label),
    _Fact("Time", lambda one: duration(one.time_us), "length", "time_us"),
    _Fact("Would do", lambda one: duration(one.floor_us), "floor", "floor_us"),
    _Fact("Of the roof", _of_the_roof, "roof_share", "roof_ratio"),
    _Fact("Idle", _idle, "idle", "idle_ratio"),
    _Fact("Bound", bound_words),
)

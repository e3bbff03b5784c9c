"""The subject and the verdict as JSON has them; keys carry units, `null` is not known."""

from dataclasses import asdict
from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.budget import budget_of, part_label
from roofline.analysis.subjects.records import Subject
from roofline.analysis.verdict_records import Place
from roofline.model.plain_data import taken
from roofline.presentation.rounding import rounded
from roofline.presentation.verdict import Answer

Record = dict[str, Any]


def subject_record(answer: Answer) -> Record:
    """What all numbers are of: its length, floor and parts, in us per unit and core."""
    subject, verdict = answer.subject, answer.verdict
    return {
        "of": subject.of,
        "kind": subject.kind.value,
        **taken(subject, "label", "unit_word", "count", "cores", "host", "time_us", "floor_us"),
        **taken(subject, "gain_us", "roof_ratio", "known_ratio", "idle_ratio"),
        "outside_us": subject.outside.total_us,
        "class": verdict.kind.value,
        "ceiling": verdict.ceiling or None,
        "first": _first(answer),
        "parts": asdict(subject.parts),
        "outside": {
            "before_us": subject.outside.before_us,
            "after_us": subject.outside.after_us,
        },
        "not_found": subject.not_found or None,
    }


def _first(answer: Answer) -> Record | None:
    """What to do first, and what it saves."""
    first = answer.first
    if first is None:
        return None
    return {"finding": answer.finding, "title": first.title, "saving_us": first.saving_us}


def verdict_record(answer: Answer) -> Record:
    """What binds the subject: shares of its busy time, and what else the verdict says."""
    verdict = answer.verdict
    saving = None if answer.first is None else answer.first.saving_us
    return {
        **_place(verdict),
        "idle_ratio": verdict.idle_ratio,
        "waits": dict(verdict.waits),
        "then": None if verdict.then is None else _place(verdict.then),
        "known": asdict(verdict.known),
        "is_least": verdict.is_least,
        "largest_saving": None if saving is None else _first(answer),
        "coverage": verdict.coverage,
    }


def _place(place: Place) -> Record:
    return {
        "class": place.kind.value,
        "ceiling": place.ceiling or None,
        "ratio": place.ratio,
        "useful_ratio": place.useful_ratio,
        "also": list(place.also),
        "why": place.why or None,
    }


def budget_data(analysis: RooflineAnalysis, subject: Subject) -> Record | None:
    """The parts by resource, in us, with the words of each; `None` where there are none."""
    budget = budget_of(analysis, subject)
    if budget is None:
        return None
    parts = [
        {"id": name, "label": part_label(name), "time_us": rounded(us)}
        for name, us in budget.parts.items()
    ]
    return {
        "total_us": rounded(budget.total_us),
        "floor_us": rounded(budget.floor_us),
        "parts": parts,
    }

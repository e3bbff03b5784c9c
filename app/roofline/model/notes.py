"""Notes for the reader of a profile, by code: each format has their sentences in `notes.json`.

An importer says which notes apply, how often, and what stands in their slots; severity, sentence
and remedy stand in the file, side by side with the format's other notes. A slot is `{names}`, and
`{count}` is how often the noted thing was met; remedies have slots, too.

Numbers that a profiler states itself are a second opinion: a reader that drops rows or overlooks a
counter differs from the first file that states its totals.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from roofline.model.plain_data import read_beside
from roofline.model.profile import Diagnostic, Severity, Stated


class Note(NamedTuple):
    """The words of one note: the fact, and the reader's next action."""

    severity: Severity
    message: str
    remedy: str = ""


NO_PEAKS = "The file states no peaks: they come from the device's name."
"""A limit of a profile, which holds no longer where another file of the program has peaks."""

Notes = Mapping[str, Note]
"""The notes of one format, by code."""


def notes_beside(module: str) -> Notes:
    """The notes in the folder of a module, which gives its `__file__`."""
    notes = read_beside(module, "notes.json")
    return {code: Note(Severity(note.pop("severity")), **note) for code, note in notes.items()}


def noted(notes: Notes, code: str, count: int = 1, **slots: object) -> Diagnostic:
    """The note `code`, met `count` times. Raises `KeyError` for an unknown code or slot."""
    note = notes[code]
    return Diagnostic(
        severity=note.severity,
        code=code,
        message=note.message.format(count=count, **slots),
        remedy=note.remedy.format(count=count, **slots),
        count=count,
    )


def counted(notes: Notes, counts: Mapping[str, int], **slots: object) -> Iterator[Diagnostic]:
    """The notes that were met at all, in the order of `counts`."""
    for code, count in counts.items():
        if count:
            yield noted(notes, code, count, **slots)


_NOTES = notes_beside(__file__)
# Steps of a window that take so many times those before it are told.
_SLOWER = 1.1
COLD = ("cold-steps", "cold-compiled")
RECORDING = "roofline_recording"
"""What `roofline record` and `capture` noticed while they recorded, as JSON: the key that it has in
a trace, and how its line in an XSpace begins."""


def recorded(facts: object) -> Iterator[Diagnostic]:
    """Finds the faults of a recording in what it says of itself."""
    if not isinstance(facts, Mapping):
        return
    longest, slowdown = facts.get("longest"), facts.get("slowdown")
    if facts.get("verdict") == "cold" and isinstance(longest, float) and longest < math.inf:
        yield noted(_NOTES, "cold-steps", times=f"{longest:.3g}")
    elif facts.get("verdict") == "cold":
        yield noted(_NOTES, "cold-compiled")
    if isinstance(slowdown, float) and _SLOWER < slowdown < math.inf:
        yield noted(_NOTES, "slowed-steps", times=f"{slowdown:.2g}")


def compared(
    what: str, ours: float, theirs: float, where: str, *, ratio: float = 0.0, points: float = 0.0
) -> Stated:
    """A stated number and ours, which agree within `ratio` of the stated one, or `points`."""
    agrees = abs(ours - theirs) <= max(ratio * abs(theirs), points)
    return Stated(what=what, ours=ours, theirs=theirs, where=where, agrees=agrees)


def differences(stated: Iterable[Stated]) -> Iterator[Diagnostic]:
    """A note for each number that we compute otherwise."""
    for one in stated:
        if not one.agrees:
            theirs, ours = (f"{value:,.4g}" for value in (one.theirs, one.ours))
            yield noted(
                _NOTES,
                "second-opinion",
                where=one.where,
                what=one.what,
                theirs=theirs,
                ours=ours,
            )

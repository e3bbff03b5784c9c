"""Notes for the reader of a profile, by code: each format has a table of their sentences.

An importer says which notes apply, how often, and what stands in their slots; severity, sentence
and remedy stand in the format's table, side by side with its other notes. A slot is `{names}`, and
`{count}` is how often the noted thing was met; remedies have slots, too.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from roofline.model.profile import Diagnostic, Severity


class Note(NamedTuple):
    """The words of one note: the fact, and the reader's next action."""

    severity: Severity
    message: str
    remedy: str = ""


Notes = Mapping[str, Note]
"""The notes of one format, by code."""


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

"""People's words about profiles: titles, notes and tags, cleaned and checked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import orjson

from roofline.errors import BadEditError, NoteNotFoundError
from roofline.library.reader import ProfileReader
from roofline.presentation import titles
from roofline.storage.notes import PointNote
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import timestamp
from roofline.storage.results import PAGE

TITLE_LENGTH = titles.LENGTH
NOTE_LENGTH = 10_000
TAG_LENGTH = 40
MAX_TAGS = 20


def title(text: str) -> str:
    """`text` as a title: one line, cut to its length; empty when nothing is left."""
    return _line(text, TITLE_LENGTH)


def given_title(text: str) -> str:
    """A title that may be left out; `BadEditError` if it is too long."""
    return new_title(text) if title(text) else ""


def new_title(text: str) -> str:
    """A title somebody typed; `BadEditError` if it is empty or too long."""
    cleaned = _line(text, TITLE_LENGTH + 1)
    if cleaned and len(cleaned) <= TITLE_LENGTH:
        return cleaned
    raise BadEditError(
        "The title is too long." if cleaned else "The title is empty.",
        remedy=f"Write 1 to {TITLE_LENGTH} characters.",
    )


def note(text: str) -> str:
    """Plain text of several lines; `BadEditError` if it is too long."""
    kept = lines(text)
    if len(kept) > NOTE_LENGTH:
        raise BadEditError(
            f"The note has {len(kept):,} characters.", remedy=f"Shorten it to {NOTE_LENGTH:,}."
        )
    return kept


def lines(text: str) -> str:
    """Text of several lines without what cannot be printed, and without space around it."""
    clean = text.replace("\r\n", "\n")
    return "".join(ch for ch in clean if ch.isprintable() or ch in "\n\t").strip()


def tags(words: Sequence[str]) -> tuple[str, ...]:
    """Each tag once, in order; `BadEditError` if there are too many or one is too long."""
    cleaned = tuple(dict.fromkeys(filter(None, (_line(word, TAG_LENGTH + 1) for word in words))))
    too_long = next((tag for tag in cleaned if len(tag) > TAG_LENGTH), None)
    if too_long is None and len(cleaned) <= MAX_TAGS:
        return cleaned
    raise BadEditError(
        f"There are more than {MAX_TAGS} tags."
        if too_long is None
        else f"The tag {too_long[:20]}… is too long.",
        remedy=f"Give up to {MAX_TAGS} tags of up to {TAG_LENGTH} characters.",
    )


def _line(text: str, length: int) -> str:
    return " ".join("".join(ch if ch.isprintable() else " " for ch in text).split())[:length]


Kind = Literal["operation", "program"]
KINDS: tuple[Kind, Kind] = ("operation", "program")

LONGEST_TEXT = 500


def keep_note(
    store: ProfileStore, reader: ProfileReader, profile_id: str, note: PointNote
) -> PointNote:
    """Keeps a note in the place of the point's former one, and gives it as it is kept.

    `note.at` is set here. Raises `BadEditError` for a text that is too long, for a point that the
    profile does not have, and where it has too many notes; and as `reader.packed`.
    """
    text = lines(note.text)
    if len(text) > LONGEST_TEXT:
        raise BadEditError(
            f"The note has {len(text):,} characters.", remedy=f"Shorten it to {LONGEST_TEXT}."
        )
    _check_point(reader, profile_id, note)
    kept = replace(note, text=text, at=timestamp())
    store.notes.put(profile_id, kept)
    store.answers_changed(profile_id)
    return kept


def remove_note(store: ProfileStore, profile_id: str, note_id: str) -> None:
    """Removes a note; `NoteNotFoundError` where there is none."""
    if not store.notes.remove(profile_id, note_id):
        raise NoteNotFoundError(
            "The profile has no note with this id.", remedy="It may have been removed before."
        )
    store.answers_changed(profile_id)


def _check_point(reader: ProfileReader, profile_id: str, note: PointNote) -> None:
    file, _ = reader.packed(profile_id, PAGE)
    page = orjson.loads(file.plain())
    if note.kind == "program":
        is_there = note.name in page["views"]["in"]["program"]["columns"]["label"]
    else:
        is_there = (note.program, note.name) in _ops(page["ops"]["columns"], note.program)
    if not is_there:
        what = "operation" if note.kind == "operation" else "point of the program"
        raise BadEditError(
            f"The profile has no {what} called “{note.name[:100]}”.",
            remedy="Write the whole name as the profile's page and exports have it.",
        )


def _ops(columns: dict[str, Any], program: str) -> set[tuple[str, str]]:
    """Operations as program and name; the program is its name, else its id, and may be left out."""
    names = columns["name"]
    if program == "":
        return {("", name) for name in names}
    none = [None] * len(names)
    programs = columns.get("program") or none
    ids = columns.get("program_id") or none
    return {
        (str(name_of or number or ""), name)
        for name_of, number, name in zip(programs, ids, names, strict=True)
    }

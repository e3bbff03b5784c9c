"""Notes on single points of a profile: checked, cleaned, and kept with it."""

from typing import Any, Literal

import orjson

from roofline.errors import BadEditError, NoteNotFoundError
from roofline.library.labels import lines
from roofline.library.reader import ProfileReader
from roofline.storage.notes import PointNote
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import timestamp
from roofline.storage.results import PAGE

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
    kept = PointNote(
        kind=note.kind,
        name=note.name,
        program=note.program,
        text=text,
        author=note.author,
        at=timestamp(),
    )
    store.notes.put(profile_id, kept)
    store.notes_changed(profile_id)
    return kept


def remove_note(store: ProfileStore, profile_id: str, note_id: str) -> None:
    """Removes a note; `NoteNotFoundError` where there is none."""
    if not store.notes.remove(profile_id, note_id):
        raise NoteNotFoundError(
            "The profile has no note with this id.", remedy="It may have been removed before."
        )
    store.notes_changed(profile_id)


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

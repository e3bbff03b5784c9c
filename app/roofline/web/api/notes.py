"""The HTTP API, version 1: notes on single operations and program points of a profile."""

from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.library.labels import Kind, keep_note, remove_note
from roofline.library.reader import ProfileReader
from roofline.model.plain_data import alike
from roofline.storage.notes import PointNote
from roofline.web.api.audit import log_action
from roofline.web.api.responses import BAD_NOTE, NOT_READY, NOT_THERE, NOT_YOURS, sent_as
from roofline.web.api.results import computed
from roofline.web.http.access import shown_owner
from roofline.web.http.guard import actor_of
from roofline.web.http.rights import check_may_change
from roofline.web.offline.views import NoteBody
from roofline.web.parts import Parts, Reader

NAME_LENGTH = 20_000  # of names that compilers make
TEXT_LENGTH = 2_000  # before it is cleaned
_SHOWN_LENGTH = 100

router = APIRouter(prefix="/api/v1/profiles/{profile_id}", tags=["notes"])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNoteBody:
    """A note on the operation, or the program point, of this whole name.

    `program` tells operations of one name apart; empty means the longest of them.
    """

    name: Annotated[str, Body(min_length=1, max_length=NAME_LENGTH)]
    kind: Kind = "operation"
    program: Annotated[str, Body(max_length=NAME_LENGTH)] = ""
    text: Annotated[str, Body(max_length=TEXT_LENGTH)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteList:
    """The notes of a profile, the oldest first."""

    notes: tuple[NoteBody, ...]


@router.get("/notes", responses=NOT_THERE)
def list_notes(profile_id: str, reader: Reader) -> NoteList:
    """Notes on operations and program points of a profile."""
    return NoteList(notes=notes_of(reader, profile_id))


@router.get(
    "/notes.csv", response_class=Response, responses={200: sent_as("text/csv"), **NOT_THERE}
)
def notes_csv(profile_id: str, reader: Reader) -> Response:
    """The same as CSV, a row each."""
    from roofline.exports.notes import notes_to_csv

    content = notes_to_csv([asdict(one) for one in notes_of(reader, profile_id)])
    headers = {"content-disposition": 'attachment; filename="notes.csv"'}
    return Response(content, headers=headers, media_type="text/csv; charset=utf-8")


@router.post("/notes", responses=BAD_NOTE | NOT_YOURS | NOT_READY)
async def add_note(
    request: Request, profile_id: str, new: NewNoteBody, parts: Parts, reader: Reader
) -> NoteBody:
    """Keep a note with a profile, in the place of the point's former one.

    For the profile's uploader and administrators.
    """
    await run_in_threadpool(_check, request, profile_id, parts)
    note = alike(PointNote, new, author=actor_of(request).owner, at="")
    store = parts.instance.store
    kept = await computed(reader, profile_id, lambda: keep_note(store, reader, profile_id, note))
    details = f"{kept.id}: {kept.name[:_SHOWN_LENGTH]}"
    await run_in_threadpool(log_action, request, "keep note", profile_id, details=details)
    return _body(kept)


@router.delete("/notes/{note_id}", status_code=204, responses=NOT_YOURS)
def delete_note(request: Request, profile_id: str, note_id: str, parts: Parts) -> None:
    """Remove a note; for the profile's uploader and administrators."""
    _check(request, profile_id, parts)
    remove_note(parts.instance.store, profile_id, note_id)
    log_action(request, "remove note", profile_id, details=note_id)


def notes_of(reader: ProfileReader, profile_id: str) -> tuple[NoteBody, ...]:
    """The notes of a profile as the API and the page have them."""
    return tuple(map(_body, reader.notes(profile_id)))


def _check(request: Request, profile_id: str, parts: Parts) -> None:
    check_may_change(actor_of(request), profile_id, parts.library.ownership(profile_id))


def _body(note: PointNote) -> NoteBody:
    return alike(NoteBody, note, by=shown_owner(note.author))

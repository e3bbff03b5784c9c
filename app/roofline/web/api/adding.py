"""The HTTP API, version 1: profiles come in: uploads and bundled samples."""

import asyncio
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Annotated, TypedDict

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.errors import BadEditError
from roofline.library.reader import Failed, ProfileReader, State
from roofline.storage.records import (
    EVERYBODY,
    LINK,
    OWNER,
    ProfileId,
    Visibility,
    profile_id_of,
)
from roofline.storage.visibility import ALL_SEEING
from roofline.web.api.audit import log_action
from roofline.web.api.responses import BAD_FILE, NOT_THERE, NOT_YOURS, Wait, settle
from roofline.web.api.uploads import Fields, receive, upload_form, upload_limits
from roofline.web.bodies import (
    ProfileBody,
    ProfileList,
    SampleList,
    body_of,
    sample_body,
    upload_error_body,
)
from roofline.web.http.errors import error_json, status_of
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.http.rights import (
    DeleteToken,
    IdempotencyKey,
    check_may_change,
    new_delete_token,
)
from roofline.web.offline.views import ErrorBody
from roofline.web.parts import Library, Parts, Reader, ServerParts

_UPLOAD_FORM = upload_form(
    "One file per host, or an archive of them.",
    {
        "title": {"type": "string", "description": "Name to show for it."},
        "folder": {"type": "string", "description": "Path of the folder that the files were in."},
        "note": {"type": "string", "description": "Plain text beside it."},
        "tag": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Words to find it by, one field each.",
        },
        "visibility": {
            "type": "string",
            "enum": [EVERYBODY, LINK, OWNER],
            "description": "Without it, the server's setting.",
        },
    },
)

router = APIRouter(prefix="/api/v1")


@router.post(
    "/profiles",
    status_code=201,
    response_model=ProfileBody,
    response_model_exclude_none=True,
    responses={**BAD_FILE, **NOT_THERE},
    openapi_extra=_UPLOAD_FORM,
    tags=["profiles"],
)
async def add_profile(
    request: Request,
    response: Response,
    parts: Parts,
    reader: Reader,
    wait: Wait = 60.0,
    idempotency_key: IdempotencyKey = None,
    joined: Annotated[
        str | None,
        Query(alias="with", description="The id of a profile whose files belong to the new one."),
    ] = None,
) -> ProfileBody | Response:
    """Upload a profile: one file per host, or archives of them, in fields named `file`.

    With `with` the stored files of another profile are of the same program and need not be sent
    again: counters beside the timeline that they complete, say. That profile stays.

    A part, or a request with one file, may have the header `X-Content-SHA256`: files whose bytes
    have another digest are refused, and nothing is stored.

    Answers when the import has ended or `wait` seconds have passed, whichever is first. Where the
    files are several profiles, the answer says which, and how to have them imported as such.
    """
    check_upload_rate(request, parts)
    uploader = actor_of(request).owner or None
    other = None if joined is None else await run_in_threadpool(_seen, reader, joined)
    token, token_hash = new_delete_token(idempotency_key)
    own_id = idempotency_key and profile_id_of(uploader or "", idempotency_key)
    with ExitStack() as cleanup:
        area = await run_in_threadpool(parts.library.stage)
        cleanup.callback(area.discard)
        limits = upload_limits(parts.settings, parts.upload_writers)
        fields = await receive(request, area, limits, parts.instance.check_room)
        add = partial(parts.library.add, area, delete_token_hash=token_hash, **_described(fields))
        add = partial(add, uploader=uploader, profile_id=own_id or None, joined=other)
        profile_id = await run_in_threadpool(add)
        cleanup.pop_all()
    await run_in_threadpool(log_action, request, "upload", profile_id)
    state = await _settled(parts.reader_for(ALL_SEEING), profile_id, wait)
    if isinstance(state, Failed):
        return error_json(status_of(state.error), upload_error_body(request, state, token))
    return _added(request, response, state, delete_token=token)


@router.post(
    "/profiles/{profile_id}/split",
    status_code=201,
    response_model_exclude_none=True,
    responses={
        400: {"model": ErrorBody, "description": "There is nothing to split."},
        **NOT_YOURS,
        429: {"model": ErrorBody, "description": "Too many uploads; see `Retry-After`."},
    },
    tags=["profiles"],
)
async def split_upload(
    request: Request,
    profile_id: str,
    parts: Parts,
    group: Annotated[
        list[int] | None, Query(description="Numbers of groups from 0; all if there is none.")
    ] = None,
    wait: Wait = 60.0,
    x_delete_token: DeleteToken = "",
) -> ProfileList:
    """Make a profile of each group of files of an upload that failed with `mixed-upload`.

    The files were kept and are not sent again. Files of other groups, and those that cannot be
    read, are left out; the failed profile is gone then. For its uploader, administrators, and
    anyone holding the delete token returned by the upload.
    """
    owned = await run_in_threadpool(parts.library.ownership, profile_id)
    check_may_change(actor_of(request), profile_id, owned, x_delete_token)
    check_upload_rate(request, parts)
    tokens: list[str] = []

    def new_token_hash() -> str:
        token, token_hash = new_delete_token()
        tokens.append(token)
        return token_hash

    split = partial(parts.library.split, profile_id, group, new_token_hash)
    ids = await run_in_threadpool(split)
    await run_in_threadpool(log_action, request, "split", profile_id)
    states = await asyncio.gather(
        *(_settled(parts.reader_for(ALL_SEEING), one, wait) for one in ids)
    )
    bodies = (body_of(request, state) for state in states)
    given = tuple(
        replace(body, delete_token=token) for body, token in zip(bodies, tokens, strict=True)
    )
    return ProfileList(profiles=given, total=len(given))


@router.post(
    "/profiles/{profile_id}/retry",
    response_model_exclude_none=True,
    responses={
        **NOT_YOURS,
        429: {"model": ErrorBody, "description": "Too many uploads; see `Retry-After`."},
    },
    tags=["profiles"],
)
async def retry_import(
    request: Request,
    profile_id: str,
    parts: Parts,
    wait: Wait = 60.0,
    x_delete_token: DeleteToken = "",
) -> ProfileBody:
    """Import the files of a failed upload again; they are kept for a week and not sent again.

    Does nothing to a profile that is ready, that is being imported, or whose files are gone.
    Answers how the profile stands when the import has ended or `wait` seconds have passed. For its
    uploader, administrators, and anyone holding the delete token returned by the upload.
    """
    owned = await run_in_threadpool(parts.library.ownership, profile_id)
    check_may_change(actor_of(request), profile_id, owned, x_delete_token)
    check_upload_rate(request, parts)
    await run_in_threadpool(parts.library.retry, profile_id)
    await run_in_threadpool(log_action, request, "retry", profile_id)
    return body_of(
        request, await _settled(parts.reader_for(ALL_SEEING), ProfileId(profile_id), wait)
    )


@router.get("/samples", tags=["samples"])
def list_samples(library: Library) -> SampleList:
    """The bundled profiles."""
    return SampleList(samples=tuple(sample_body(sample) for sample in library.samples()))


@router.post(
    "/samples/{name}",
    status_code=201,
    response_model_exclude_none=True,
    responses=NOT_THERE,
    tags=["samples"],
)
async def open_sample(
    request: Request,
    response: Response,
    name: str,
    library: Library,
    reader: Reader,
    wait: Wait = 60.0,
) -> ProfileBody:
    """Open a bundled profile: imported at the first time, the same profile afterwards."""
    profile_id = await run_in_threadpool(library.open_sample, name)
    return _added(request, response, await _settled(reader, profile_id, wait))


def check_upload_rate(request: Request, parts: ServerParts) -> None:
    """Counts an upload of this person or address; `TooManyRequestsError` for one too many."""
    parts.upload_rate.check(actor_of(request).owner or peer_of_request(request).address)


def _seen(reader: ProfileReader, profile_id: str) -> ProfileId:
    """The id of a profile that this viewer sees; `ProfileNotFoundError` for others."""
    reader.state(profile_id)
    return ProfileId(profile_id)


async def _settled(reader: ProfileReader, profile_id: ProfileId, wait: float) -> State:
    """How a profile stands once its import has ended, or `wait` seconds have passed."""
    await settle(reader, profile_id, wait)
    return await run_in_threadpool(reader.state, profile_id)


def _added(
    request: Request, response: Response, state: State, *, delete_token: str | None = None
) -> ProfileBody:
    if isinstance(state, Failed):
        raise copy(state.error)
    body = replace(body_of(request, state), delete_token=delete_token)
    response.headers["location"] = body.url
    return body


class _Description(TypedDict):
    title: str
    folder: str
    note: str
    tags: tuple[str, ...]
    visibility: Visibility | None


def _described(fields: Fields) -> _Description:
    tags = [tag for text in fields.get("tag", []) for tag in text.split(",")]
    return {
        "title": fields.get("title", [""])[-1],
        "folder": fields.get("folder", [""])[-1],
        "note": fields.get("note", [""])[-1],
        "tags": tuple(tags),
        "visibility": _visibility(fields.get("visibility", [""])[-1]),
    }


def _visibility(text: str) -> Visibility | None:
    """The visibility that the form gives; `None` for what is usual here."""
    if not text:
        return None
    found = next((one for one in (EVERYBODY, LINK, OWNER) if one == text), None)
    if found is None:
        raise BadEditError(
            f"The visibility of a profile cannot be {text[:40]!r}.",
            remedy="Choose `everybody`, `link` or `owner`.",
        )
    return found

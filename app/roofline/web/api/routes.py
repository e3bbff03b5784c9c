"""The HTTP API, version 1: upload, follow, edit, read, delete. Results go out as stored."""

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, TypedDict, TypeVar
from urllib.parse import quote

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from roofline.errors import NotReadyError
from roofline.library.profiles import Failed, ProfileLibrary
from roofline.storage import results
from roofline.storage.records import ProfileId
from roofline.web.answers import keep
from roofline.web.api.bodies import (
    REV_LENGTH,
    EditBody,
    ErrorBody,
    ProfileBody,
    ProfileList,
    SampleList,
    body_of,
    sample_body,
    stored_body,
)
from roofline.web.api.uploads import Fields, UploadLimits, receive
from roofline.web.http.assets import accepts_gzip, matches
from roofline.web.http.guard import ID_CHARACTERS_LOGGED, actor_of, peer_of_request
from roofline.web.http.rate_limit import UploadRate
from roofline.web.http.rights import DeleteToken, check_may_change, new_delete_token
from roofline.web.http.zips import zip_stream

T = TypeVar("T")

RECENT_LIMIT = 1000
MAX_WAIT_S = 300.0
COMPUTE_WAIT_S = 60.0
PRIVATE_IMMUTABLE = "private, max-age=31536000, immutable"
_DOWNLOAD_POLICY = "sandbox; default-src 'none'"
_CSV = "text/csv; charset=utf-8"
_audit = structlog.get_logger("roofline.audit")

router = APIRouter(prefix="/api/v1", tags=["profiles"])


def library_of(request: Request) -> ProfileLibrary:
    """The library this server serves."""
    library: ProfileLibrary = request.app.state.library
    return library


def upload_limits_of(request: Request) -> UploadLimits:
    """What one upload may bring."""
    limits: UploadLimits = request.app.state.upload_limits
    return limits


Library = Annotated[ProfileLibrary, Depends(library_of)]
Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_S, description="Seconds to wait for the import to end.")
]
Infeed = Annotated[
    Literal["in", "out"], Query(description="With (`in`) or without (`out`) infeed and outfeed.")
]


def _sent_as(*media_types: str) -> dict[str, Any]:
    """What OpenAPI says of an answer that is a file."""
    file = {"schema": {"type": "string", "format": "binary"}}
    return {"content": dict.fromkeys(media_types, file)}


_ERRORS: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorBody, "description": "There is no such profile."},
    409: {"model": ErrorBody, "description": "The profile is still being imported."},
}
_NOT_YOURS: dict[int | str, dict[str, Any]] = {
    403: {"model": ErrorBody, "description": "The profile is somebody else's."},
    404: {"model": ErrorBody, "description": "There is no such profile."},
}
_BAD_FILE: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "The upload is empty, malformed or a bad archive."},
    413: {"model": ErrorBody, "description": "The upload is too large."},
    415: {"model": ErrorBody, "description": "The format is not read."},
    422: {"model": ErrorBody, "description": "The profile is damaged, incomplete or too large."},
    429: {"model": ErrorBody, "description": "Too many uploads; see `Retry-After`."},
    507: {"model": ErrorBody, "description": "The server's disk is full."},
}
_UPLOAD_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "One file per host, or an archive of them.",
                        },
                        "title": {"type": "string", "description": "Name to show for it."},
                        "note": {"type": "string", "description": "Plain text beside it."},
                        "tag": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Words to find it by, one field each.",
                        },
                    },
                }
            }
        },
    }
}


@router.post(
    "/profiles",
    status_code=201,
    response_model_exclude_none=True,
    responses=_BAD_FILE,
    openapi_extra=_UPLOAD_FORM,
)
async def add_profile(
    request: Request, response: Response, library: Library, wait: Wait = 60.0
) -> ProfileBody:
    """Upload a profile: one file per host, or archives of them, in fields named `file`.

    Answers when the import has ended or `wait` seconds have passed, whichever is first.
    """
    rate: UploadRate = request.app.state.upload_rate
    rate.check(actor_of(request).owner or peer_of_request(request).address)
    token, token_hash = new_delete_token()
    with ExitStack() as cleanup:
        area = await run_in_threadpool(library.stage)
        cleanup.callback(area.discard)
        limits = upload_limits_of(request)
        fields = await receive(request, area, limits, library.check_room)
        add = partial(library.add, area, delete_token_hash=token_hash, **_described(fields))
        profile_id = await run_in_threadpool(add, uploader=actor_of(request).owner or None)
        cleanup.pop_all()
    _note(request, "upload", profile_id)
    return await _added(request, response, library, profile_id, wait, delete_token=token)


@router.get("/profiles", response_model_exclude_none=True)
def list_profiles(
    request: Request,
    library: Library,
    q: Annotated[str, Query(max_length=200, description="Words of title, tag, device, who.")] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    device: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=999_999)] = 0,
    limit: Annotated[int, Query(ge=1, le=RECENT_LIMIT)] = 50,
) -> ProfileList:
    """Profiles that match, pinned ones first, then newest first."""
    found = library.search(q, tag=tag, device=device, offset=offset, limit=limit)
    listed = tuple(stored_body(request, manifest) for manifest in found.profiles)
    return ProfileList(profiles=listed, total=found.total)


@router.get("/profiles/{profile_id}", response_model_exclude_none=True, responses=_ERRORS)
async def profile_state(
    request: Request, profile_id: str, library: Library, wait: Wait = 0.0
) -> ProfileBody:
    """Whether a profile is being imported (and how far), ready, or failed (and why)."""
    await settle(library, profile_id, wait)
    return body_of(request, await run_in_threadpool(library.state, profile_id))


@router.patch("/profiles/{profile_id}", response_model_exclude_none=True, responses=_NOT_YOURS)
def edit_profile(
    request: Request, profile_id: str, edit: EditBody, library: Library
) -> ProfileBody:
    """Change title, note, tags or pin of a profile; for its uploader and administrators."""
    check_may_change(actor_of(request), library.ownership(profile_id))
    manifest = library.edit(
        profile_id, title=edit.title, note=edit.note, tags=edit.tags, pinned=edit.pinned
    )
    _note(request, "edit", profile_id)
    return stored_body(request, manifest)


@router.delete("/profiles/{profile_id}", status_code=204, responses=_NOT_YOURS)
def delete_profile(
    request: Request, profile_id: str, library: Library, x_delete_token: DeleteToken = ""
) -> None:
    """Delete a profile with its files, or cancel its import.

    For its uploader, administrators, and who has the token that the upload answered with.
    """
    check_may_change(actor_of(request), library.ownership(profile_id), x_delete_token)
    library.remove(profile_id)
    _note(request, "delete", profile_id)


@router.get("/profiles/{profile_id}/page", responses=_ERRORS)
async def page_data(
    request: Request, profile_id: str, library: Library, rev: str | None = None
) -> Response:
    """What the profile's page shows, as one JSON document.

    With `rev` from the profile's state the answer never changes and may be kept.
    """
    return await _result(request, library, profile_id, results.PAGE, rev=rev)


@router.get("/profiles/{profile_id}/roofline", responses=_ERRORS)
async def roofline(
    request: Request, profile_id: str, library: Library, infeed: Infeed = "in"
) -> Response:
    """Device, roofs, program points, ops and diagnostics at full precision; units in the keys."""
    return await _result(request, library, profile_id, results.ROOFLINE[infeed])


@router.get(
    "/profiles/{profile_id}/roofline.csv",
    response_class=Response,
    responses={200: _sent_as("text/csv"), **_ERRORS},
)
async def roofline_csv(
    request: Request, profile_id: str, library: Library, infeed: Infeed = "in"
) -> Response:
    """Every op as one row of CSV."""
    manifest = await run_in_threadpool(library.manifest, profile_id)
    headers = {"content-disposition": _attachment(f"{manifest.title}-roofline.csv")}
    return await _result(
        request, library, profile_id, results.CSV[infeed], headers=headers, media_type=_CSV
    )


@router.get("/profiles/{profile_id}/ops/{index}", responses=_ERRORS)
async def op_details(profile_id: str, index: int, library: Library) -> Response:
    """Long name and source of one op; `index` counts the ops of the page data."""
    content = await _computed(library, profile_id, lambda: library.op_details(profile_id, index))
    return Response(content, media_type="application/json")


@router.get(
    "/profiles/{profile_id}/source",
    response_class=Response,
    responses={200: _sent_as("application/octet-stream", "application/zip"), **_ERRORS},
)
def source(request: Request, profile_id: str, library: Library) -> Response:
    """The uploaded file as it was; several files as a zip."""
    files = library.sources(profile_id)
    _note(request, "download", profile_id)
    headers = {"content-security-policy": _DOWNLOAD_POLICY}
    if len(files) == 1:
        (file,) = files
        headers["content-disposition"] = _attachment(file.name)
        headers["content-length"] = str(file.size_bytes)
        kind = "application/octet-stream"
        return StreamingResponse(file.chunks(), media_type=kind, headers=headers)
    headers["content-disposition"] = _attachment(f"{library.manifest(profile_id).title}.zip")
    stream = zip_stream([(file.name, file.size_bytes, file.chunks) for file in files])
    return StreamingResponse(stream, media_type="application/zip", headers=headers)


@router.get("/samples", tags=["samples"])
def list_samples(library: Library) -> SampleList:
    """The bundled profiles."""
    return SampleList(samples=tuple(sample_body(sample) for sample in library.samples()))


@router.post(
    "/samples/{name}",
    status_code=201,
    response_model_exclude_none=True,
    responses={404: _ERRORS[404]},
    tags=["samples"],
)
async def open_sample(
    request: Request, response: Response, name: str, library: Library, wait: Wait = 60.0
) -> ProfileBody:
    """Open a bundled profile: imported at the first time, the same profile afterwards."""
    profile_id = await run_in_threadpool(library.open_sample, name)
    return await _added(request, response, library, profile_id, wait)


async def _added(
    request: Request,
    response: Response,
    library: ProfileLibrary,
    profile_id: ProfileId,
    wait: float,
    *,
    delete_token: str | None = None,
) -> ProfileBody:
    await settle(library, profile_id, wait)
    state = await run_in_threadpool(library.state, profile_id)
    if isinstance(state, Failed):
        raise copy(state.error)
    body = replace(body_of(request, state), delete_token=delete_token)
    response.headers["location"] = body.url
    return body


def _described(fields: Fields) -> "_Description":
    tags = [tag for text in fields.get("tag", []) for tag in text.split(",")]
    return {
        "title": fields.get("title", [""])[-1],
        "note": fields.get("note", [""])[-1],
        "tags": tuple(tags),
    }


class _Description(TypedDict):
    title: str
    note: str
    tags: tuple[str, ...]


def _note(request: Request, action: str, profile_id: str) -> None:
    """Writes down who did what to which profile, apart from the log of requests."""
    _audit.info(
        action,
        by=actor_of(request).name,
        address=peer_of_request(request).address,
        profile=profile_id[:ID_CHARACTERS_LOGGED],
    )


async def settle(library: ProfileLibrary, profile_id: str, seconds: float) -> None:
    """Waits until no import of the profile is under way, at most `seconds`."""
    future = await run_in_threadpool(library.pending, profile_id) if seconds > 0 else None
    if future is not None:
        # `wait` leaves the import alone when the time is up or the client hangs up.
        await asyncio.wait({asyncio.wrap_future(future)}, timeout=seconds)


async def _computed(library: ProfileLibrary, profile_id: str, read: Callable[[], T]) -> T:
    """`read()`; waits for results of a stored profile that must be computed again."""
    try:
        return await run_in_threadpool(read)
    except NotReadyError:
        if not await run_in_threadpool(library.is_stored, profile_id):
            raise
    await settle(library, profile_id, COMPUTE_WAIT_S)
    return await run_in_threadpool(read)


async def _result(
    request: Request,
    library: ProfileLibrary,
    profile_id: str,
    name: str,
    *,
    rev: str | None = None,
    headers: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Response:
    """A stored result: as it lies on the disk if the client takes gzip, 304 if it holds it."""
    file = await _computed(library, profile_id, lambda: library.result(profile_id, name))
    packed = accepts_gzip(request)
    is_current = rev is not None and rev == file.etag[:REV_LENGTH]
    answer = {
        **(headers or {}),
        "etag": f'"{file.etag}{"-gz" if packed else ""}"',
        "vary": "accept-encoding",
        "cache-control": PRIVATE_IMMUTABLE if is_current else "private, no-cache",
    }
    if matches(request, answer["etag"]):
        return Response(status_code=304, headers=answer)
    if packed:
        answer["content-encoding"] = "gzip"
    content = await run_in_threadpool(file.packed if packed else file.plain)
    keep(request, profile_id, "query", "encoding", "measurements")
    return Response(content, headers=answer, media_type=media_type)


def _attachment(name: str) -> str:
    """A `Content-Disposition` that saves the file as `name`, whatever characters it has."""
    ascii_name = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"

"""The HTTP API, version 1: profiles come in: uploads and bundled samples."""

from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TypedDict

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.library.reader import ProfileReader
from roofline.library.states import Failed
from roofline.storage.records import ProfileId
from roofline.web.api.audit import log_action
from roofline.web.api.responses import BAD_FILE, NOT_THERE
from roofline.web.api.settling import Wait, settle
from roofline.web.api.uploads import Fields, receive, upload_limits
from roofline.web.bodies import ProfileBody, SampleList, body_of, sample_body
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.http.rights import new_delete_token
from roofline.web.parts import Library, Parts, Reader, ServerParts

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

router = APIRouter(prefix="/api/v1")


@router.post(
    "/profiles",
    status_code=201,
    response_model_exclude_none=True,
    responses=BAD_FILE,
    openapi_extra=_UPLOAD_FORM,
    tags=["profiles"],
)
async def add_profile(
    request: Request, response: Response, parts: Parts, wait: Wait = 60.0
) -> ProfileBody:
    """Upload a profile: one file per host, or archives of them, in fields named `file`.

    Answers when the import has ended or `wait` seconds have passed, whichever is first.
    """
    check_upload_rate(request, parts)
    token, token_hash = new_delete_token()
    with ExitStack() as cleanup:
        area = await run_in_threadpool(parts.library.stage)
        cleanup.callback(area.discard)
        limits = upload_limits(parts.settings)
        fields = await receive(request, area, limits, parts.instance.folder.check_room)
        add = partial(parts.library.add, area, delete_token_hash=token_hash, **_described(fields))
        profile_id = await run_in_threadpool(add, uploader=actor_of(request).owner or None)
        cleanup.pop_all()
    log_action(request, "upload", profile_id)
    return await _added(request, response, parts.reader, profile_id, wait, delete_token=token)


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
    return await _added(request, response, reader, profile_id, wait)


def check_upload_rate(request: Request, parts: ServerParts) -> None:
    """Counts an upload of this person or address; `TooManyRequestsError` for one too many."""
    parts.upload_rate.check(actor_of(request).owner or peer_of_request(request).address)


async def _added(
    request: Request,
    response: Response,
    reader: ProfileReader,
    profile_id: ProfileId,
    wait: float,
    *,
    delete_token: str | None = None,
) -> ProfileBody:
    await settle(reader, profile_id, wait)
    state = await run_in_threadpool(reader.state, profile_id)
    if isinstance(state, Failed):
        raise copy(state.error)
    body = replace(body_of(request, state), delete_token=delete_token)
    response.headers["location"] = body.url
    return body


class _Description(TypedDict):
    title: str
    note: str
    tags: tuple[str, ...]


def _described(fields: Fields) -> _Description:
    tags = [tag for text in fields.get("tag", []) for tag in text.split(",")]
    return {
        "title": fields.get("title", [""])[-1],
        "note": fields.get("note", [""])[-1],
        "tags": tuple(tags),
    }

"""How an import goes on, as server-sent events: one per change, each like the state's body.

The stream ends with the import. It may break at any time and be opened again: each begins with the
present state, so nothing is missed. FastAPI frames the events, and keeps quiet streams open.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from roofline.errors import ProfileNotFoundError, RooflineError
from roofline.library.reader import ProfileReader
from roofline.web.api.responses import NOT_THERE
from roofline.web.bodies import ProfileBody, body_of, first_of
from roofline.web.http.guard import peer_of_request
from roofline.web.offline.views import ErrorBody
from roofline.web.parts import Parts, Reader

INTERVAL_S = 0.2
SHORTEST_S = 0.02

router = APIRouter(prefix="/api/v1", tags=["profiles"])


@dataclass(frozen=True, slots=True)
class Followed:
    """A stream that was admitted: the state it begins with."""

    first: ProfileBody


async def _admitted(
    request: Request, response: Response, profile_id: str, parts: Parts, reader: Reader
) -> AsyncIterator[Followed]:
    """Refuses what must not be followed, before the response begins; counts the stream after."""
    response.headers["cache-control"] = "no-store"  # beside FastAPI's own "no-cache"
    first = body_of(request, await run_in_threadpool(reader.state, profile_id))
    with parts.streams.admitted(peer_of_request(request).address):
        yield Followed(first)


@router.get(
    "/profiles/{profile_id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {"description": "Events `importing`, `ready` and `failed`; data as of the state."},
        **NOT_THERE,
        429: {"model": ErrorBody, "description": "Too many streams."},
    },
)
async def follow_profile(
    request: Request,
    reader: Reader,
    parts: Parts,
    followed: Annotated[Followed, Depends(_admitted)],
) -> AsyncIterator[ServerSentEvent]:
    """Follow an import: an event for each change, until the profile is ready or has failed."""
    body, said = followed.first, None
    while True:
        if (event := _event(body)) != said:
            said = event
            yield event
        if body.state == "ready":
            await run_in_threadpool(_prepare, reader, body.id)
        if body.state != "importing" or parts.streams.is_closing:
            return
        try:
            await _pause(reader, body.id)
            body = body_of(request, await run_in_threadpool(reader.state, body.id))
        except ProfileNotFoundError:  # deleted; a client that asks again is told so
            return


async def _pause(reader: ProfileReader, profile_id: str) -> None:
    """Until the page can be shown or the import ends, at most `INTERVAL_S`."""
    future = await run_in_threadpool(reader.page_pending, profile_id)
    if future is None:
        await asyncio.sleep(SHORTEST_S)
    else:
        await asyncio.wait({asyncio.wrap_future(future)}, timeout=INTERVAL_S)


def _prepare(reader: ProfileReader, profile_id: str) -> None:
    """Makes the first view: the page that followed the import is about to ask for it."""
    with suppress(RooflineError):
        first_of(reader.state(profile_id))


def _event(body: ProfileBody) -> ServerSentEvent:
    known = {name: value for name, value in asdict(body).items() if value is not None}
    return ServerSentEvent(event=body.state, raw_data=orjson.dumps(known).decode())

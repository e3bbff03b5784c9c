"""How an import goes on, and the new runs of a title or tag, as server-sent events.

A stream may break at any time and be opened again: each begins with the present state, or the
newest run, so nothing is missed. FastAPI frames the events, and keeps quiet streams open. That of
an import has an event per change, each like the state's body, and ends with the import. That of a
series does not end by itself, so the OpenAPI description leaves it out; docs/comparing.md has it.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from roofline.errors import ProfileNotFoundError
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.presentation.titles import series_name
from roofline.storage.records import Manifest
from roofline.web.api.responses import NOT_THERE
from roofline.web.api.series import By, Name
from roofline.web.bodies import ProfileBody, body_of
from roofline.web.http.guard import peer_of_request
from roofline.web.http.rate_limit import Streams
from roofline.web.offline.views import ErrorBody
from roofline.web.parts import Lists, Parts, Reader

INTERVAL_S = 0.2
SHORTEST_S = 0.02
SERIES_INTERVAL_S = 1.0
_MOST_FOUND = 50

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


def _event(body: ProfileBody) -> ServerSentEvent:
    known = {name: value for name, value in asdict(body).items() if value is not None}
    return ServerSentEvent(event=body.state, raw_data=orjson.dumps(known).decode())


async def _counted(request: Request, parts: Parts) -> AsyncIterator[Streams]:
    """Counts the stream, or refuses one too many before the response begins."""
    with parts.streams.admitted(peer_of_request(request).address):
        yield parts.streams


@router.get("/series/events", response_class=EventSourceResponse, include_in_schema=False)
async def follow_series(
    name: Name, lists: Lists, streams: Annotated[Streams, Depends(_counted)], by: By = "title"
) -> AsyncIterator[ServerSentEvent]:
    """An event `newest` at once and for each run that arrives: its id, address, title and time."""
    said: str | None = None
    while not streams.is_closing:
        newest = await run_in_threadpool(newest_run, lists, name, by)
        known = "" if newest is None else newest.id
        if known != said:
            said = known
            yield ServerSentEvent(event="newest", raw_data=orjson.dumps(_arrival(newest)).decode())
        await asyncio.sleep(SERIES_INTERVAL_S)


def newest_run(lists: ProfileLists, name: str, by: str) -> Manifest | None:
    """The newest ready run of this title, of any day, or with this tag, that the viewer sees."""
    if by == "tag":
        found = lists.search(tag=name, limit=1, sort="-added").profiles
    else:
        name = series_name(name)
        found = lists.search(name, limit=_MOST_FOUND, sort="-added").profiles
    return next((one for one in found if by == "tag" or series_name(one.title) == name), None)


def _arrival(run: Manifest | None) -> dict[str, str]:
    if run is None:
        return {"id": ""}
    return {"id": run.id, "url": f"/p/{run.id}", "title": run.title, "created_at": run.created_at}

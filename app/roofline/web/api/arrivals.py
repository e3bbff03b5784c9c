"""New runs of a title or tag, as server-sent events: an open page shows each as it arrives.

The stream begins with the newest run, so that it may break at any time and be opened again. It is
not in the OpenAPI description, because it does not end by itself; docs/comparing.md has it.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from roofline.library.reader import ProfileLists
from roofline.presentation.titles import series_name
from roofline.storage.records import Manifest
from roofline.web.api.series import By, Name
from roofline.web.http.guard import peer_of_request
from roofline.web.http.streams import Streams
from roofline.web.parts import Lists, Parts

INTERVAL_S = 1.0
_MOST_FOUND = 50

router = APIRouter(prefix="/api/v1", include_in_schema=False)


async def _admitted(request: Request, parts: Parts) -> AsyncIterator[Streams]:
    """Counts the stream, or refuses one too many before the response begins."""
    with parts.streams.admitted(peer_of_request(request).address):
        yield parts.streams


@router.get("/series/events", response_class=EventSourceResponse)
async def follow_series(
    name: Name, lists: Lists, streams: Annotated[Streams, Depends(_admitted)], by: By = "title"
) -> AsyncIterator[ServerSentEvent]:
    """An event `newest` at once and for each run that arrives: its id, address, title and time."""
    said: str | None = None
    while not streams.is_closing:
        newest = await run_in_threadpool(newest_run, lists, name, by)
        known = "" if newest is None else newest.id
        if known != said:
            said = known
            yield ServerSentEvent(event="newest", raw_data=orjson.dumps(_body(newest)).decode())
        await asyncio.sleep(INTERVAL_S)


def newest_run(lists: ProfileLists, name: str, by: str) -> Manifest | None:
    """The newest ready run of this title, of any day, or with this tag, that the viewer sees."""
    if by == "tag":
        found = lists.search(tag=name, limit=1, sort="-added").profiles
    else:
        name = series_name(name)
        found = lists.search(name, limit=_MOST_FOUND, sort="-added").profiles
    return next((one for one in found if by == "tag" or series_name(one.title) == name), None)


def _body(run: Manifest | None) -> dict[str, str]:
    if run is None:
        return {"id": ""}
    return {"id": run.id, "url": f"/p/{run.id}", "title": run.title, "created_at": run.created_at}

"""What several routes share: OpenAPI's words on responses, times, and waiting for a result."""

import asyncio
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from roofline.library.reader import ProfileReader
from roofline.web.bodies import UploadErrorBody
from roofline.web.offline.views import ErrorBody

Responses = dict[int | str, dict[str, Any]]

NOT_THERE: Responses = {
    404: {"model": ErrorBody, "description": "There is no such profile."},
}
NOT_READY: Responses = {
    **NOT_THERE,
    409: {"model": ErrorBody, "description": "The profile is still being imported."},
}
NO_SUCH_VIEW: Responses = {
    **NOT_READY,
    400: {"model": ErrorBody, "description": "A device, a peak or a range means nothing."},
    503: {"model": ErrorBody, "description": "The server is busy; see `Retry-After`."},
}
NOT_YOURS: Responses = {
    403: {"model": ErrorBody, "description": "The profile is somebody else's."},
    **NOT_THERE,
}
BAD_NOTE: Responses = {
    400: {"model": ErrorBody, "description": "The profile has no such point, or too many notes."},
}
NO_ROOM: Responses = {
    507: {"model": ErrorBody, "description": "The uploader has no room for it, or the disk."},
}
BAD_FILE: Responses = {
    400: {
        "model": UploadErrorBody,
        "description": "The upload is empty, malformed, a bad archive, or several profiles.",
    },
    413: {"model": ErrorBody, "description": "The upload is too large."},
    415: {"model": ErrorBody, "description": "The format is not read."},
    422: {"model": ErrorBody, "description": "The profile is damaged, incomplete or too large."},
    429: {"model": ErrorBody, "description": "Too many uploads; see `Retry-After`."},
    507: {"model": ErrorBody, "description": "The server's disk is full."},
}


def sent_as(*media_types: str) -> dict[str, Any]:
    """A response that is a file."""
    file = {"schema": {"type": "string", "format": "binary"}}
    return {"content": dict.fromkeys(media_types, file)}


DAY_S = 24 * 3600.0


def moment(seconds: float) -> str:
    """ISO 8601 in UTC, to the second: 2026-01-31T12:00:00Z."""
    found = datetime.fromtimestamp(seconds, UTC)
    return found.isoformat(timespec="seconds").replace("+00:00", "Z")


MAX_WAIT_S = 300.0

MOST_LISTED = 1000
Offset = Annotated[int, Query(ge=0, le=999_999)]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_S, description="Seconds to wait for the import to end.")
]


async def settle(reader: ProfileReader, profile_id: str, seconds: float) -> None:
    """Waits until no import of the profile is under way, at most `seconds`."""

    def begun() -> "Future[None] | None":
        reader.state(profile_id)  # has results of an earlier release computed again
        return reader.pending(profile_id)

    future = await run_in_threadpool(begun) if seconds > 0 else None
    if future is not None:
        # `wait` leaves the import alone when the time is up or the client hangs up.
        await asyncio.wait({asyncio.wrap_future(future)}, timeout=seconds)

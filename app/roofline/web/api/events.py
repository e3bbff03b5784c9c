"""How an import goes on, as server-sent events: one message per change, each like the state's body.

The stream ends with the import. It may break at any time and be opened again: each begins with the
present state, so nothing is missed.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from roofline.errors import ProfileNotFoundError, TooManyRequestsError
from roofline.library.profiles import ProfileLibrary
from roofline.web.api.bodies import ErrorBody, ProfileBody, body_of
from roofline.web.api.routes import Library, settle
from roofline.web.http.guard import peer_of_request

INTERVAL_S = 0.2
SHORTEST_S = 0.02
QUIET_S = 15.0  # proxies close connections on which nothing is said
STREAMS = 500
STREAMS_PER_ADDRESS = 10

router = APIRouter(prefix="/api/v1", tags=["profiles"])


@dataclass(slots=True)
class Streams:
    """The streams that are open now. `is_closing` ends them all, so that the server can stop."""

    is_closing: bool = False
    _open: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def counting(self, address: str) -> Iterator[None]:
        """While a stream to `address`, which was admitted, is open."""
        try:
            yield
        finally:
            with self._lock:
                self._open[address] -= 1
                self._open += Counter()  # forgets who has none

    def admit(self, address: str) -> None:
        """Counts a stream; raises `TooManyRequestsError` where it would be one too many."""
        with self._lock:
            if self._open[address] >= STREAMS_PER_ADDRESS or self._open.total() >= STREAMS:
                raise TooManyRequestsError(
                    "Too many pages follow imports at the same time.",
                    remedy="Close some of them, or ask for the profile's state instead.",
                    retry_after_s=5,
                )
            self._open[address] += 1


@router.get(
    "/profiles/{profile_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events named `importing`, `ready` and `failed`; data as of the state.",
            "content": {"text/event-stream": {}},
        },
        404: {"model": ErrorBody, "description": "There is no such profile."},
        429: {"model": ErrorBody, "description": "Too many streams."},
    },
)
async def follow(request: Request, profile_id: str, library: Library) -> StreamingResponse:
    """Follow an import: an event for each change, until the profile is ready or has failed."""
    first = body_of(request, await run_in_threadpool(library.state, profile_id))
    streams: Streams = request.app.state.streams
    address = peer_of_request(request).address
    streams.admit(address)
    return _Stream(_messages(request, library, first, streams), streams, address)


class _Stream(StreamingResponse):
    """Counts itself as open for as long as it is sent."""

    def __init__(self, messages: AsyncIterator[bytes], streams: Streams, address: str) -> None:
        # nginx holds answers back unless told not to.
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(messages, media_type="text/event-stream", headers=headers)
        self._streams = streams
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._streams.counting(self._address):
            await super().__call__(scope, receive, send)


async def _messages(
    request: Request, library: ProfileLibrary, body: ProfileBody, streams: Streams
) -> AsyncIterator[bytes]:
    said, said_at = b"", 0.0
    while True:
        message = _message(body)
        if message != said:
            said, said_at = message, time.monotonic()
            yield message
        elif time.monotonic() - said_at > QUIET_S:
            said_at = time.monotonic()
            yield b": still there\n\n"
        if body.state != "importing" or streams.is_closing:
            return
        await _pause(library, body.id)
        try:
            body = body_of(request, await run_in_threadpool(library.state, body.id))
        except ProfileNotFoundError:  # deleted; who asks again gets to know
            return


async def _pause(library: ProfileLibrary, profile_id: str) -> None:
    """Until the import ends, at most `INTERVAL_S`; a little where it has ended just now."""
    before = time.monotonic()
    await settle(library, profile_id, INTERVAL_S)
    if time.monotonic() - before < SHORTEST_S:
        await asyncio.sleep(SHORTEST_S)


def _message(body: ProfileBody) -> bytes:
    known = {name: value for name, value in asdict(body).items() if value is not None}
    return b"event: %s\ndata: %s\n\n" % (body.state.encode(), orjson.dumps(known))

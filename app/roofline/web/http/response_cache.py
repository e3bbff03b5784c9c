"""Responses that are asked for again and again, kept in memory: no routing, no thread, no database.

A route that shows a ready profile lets its response be kept with `keep`. Three things make a kept
response as good as a new one:

* The guard stands outside of `FromCache`. A request that may not enter gets no further than there,
  and a response is sent again only where all that it depends on is equal: see `key_of`.
* All that it shows is in the rows and results of one profile, and this process alone writes them:
  the data folder has one server. Each change calls `forget` after its commit, and before its own
  response is sent. Where several servers share a database nothing is kept: a profile that was
  deleted on one must be gone from all at once.
* A response that was being made when any profile changed is not kept: it may be of before.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cachetools import LRUCache
from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roofline.devices.this_machine import written_at_ns
from roofline.web.http.assets import matches
from roofline.web.http.at_once import Headers, UsualHeaders, written_lines
from roofline.web.http.encodings import accepts_gzip, best_encoding

# The pages and results of one profile: many people ask for them.
_PATHS = re.compile(
    r"/p/(?P<page>[^/]+)|/api/v1/profiles/(?P<result>[^/]+)/(page|roofline|roofline\.csv)"
)
# The frame of a page has numbers of the part of the time in its address; all else is the browser's.
_NAMES_A_PART = re.compile(rb"from_us=|to_us=|host=|dvfs=|of=|dev=|device=|peak")
# One response may take this share of the memory for all.
LARGEST_SHARE = 1 / 8
# The bytes of a response beside its body: headers, and Python's own objects.
OVERHEAD_BYTES = 4096
# The keys that routing leaves in the scope for the guard's log and metrics.
_ROUTED = ("route", "path_params")
# Headers of a response that a client who holds it already does not need.
_OF_THE_BODY = frozenset({b"content-length", b"content-type", b"content-encoding"})


class Key(NamedTuple):
    """The facts that a response depends on; `traits` beside its path and the profile itself."""

    profile_id: str
    path: str
    traits: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResponse:
    """A whole response with status 200. `routed` is what routing found, for the log and metrics."""

    headers: Headers
    body: bytes
    routed: Mapping[str, Any]
    written: dict[tuple[int, UsualHeaders], bytes] = field(default_factory=dict)
    """Headers as they are sent: those of 200 and 304, over HTTP and HTTPS."""

    @property
    def size_bytes(self) -> int:
        """The memory that it takes, about."""
        return len(self.body) + OVERHEAD_BYTES

    def status_for(self, request: Request) -> int:
        """304 if the client holds this already, else 200."""
        etag = next((value for name, value in self.headers if name == b"etag"), None)
        return 304 if etag is not None and matches(request, etag.decode("latin-1")) else 200

    def lines(self, status: int, usual: UsualHeaders) -> bytes:
        """The headers of the answer with this status, as they are sent."""
        found = self.written.get((status, usual))
        if found is None:
            found = self.written[status, usual] = written_lines(usual.added_to(self._own(status)))
        return found

    async def send(self, request: Request, send: Send) -> None:
        """Answers `request`."""
        status = self.status_for(request)
        headers = list(self._own(status))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body if status == 200 else b""})

    def _own(self, status: int) -> Headers:
        if status == 200:
            return self.headers
        return tuple(pair for pair in self.headers if pair[0] not in _OF_THE_BODY)


class ResponseCache:
    """Kept responses, at most `max_bytes` of them: the least recently used go. For any thread."""

    def __init__(self, max_bytes: int) -> None:
        self._kept: LRUCache[Key, KeptResponse] = LRUCache(max_bytes, lambda one: one.size_bytes)
        self._lock = threading.Lock()
        self.changes = 0

    def find(self, key: Key) -> KeptResponse | None:
        """The response, if it is kept."""
        with self._lock:
            return self._kept.get(key)

    def answer_to(self, request: Request) -> KeptResponse | None:
        """The response to `request`, if it is kept."""
        key = key_of(request)
        return None if key is None else self.find(key)

    def put(self, key: Key, response: KeptResponse, *, changes: int) -> None:
        """Keeps `response`, unless a profile changed since `changes` was read, or it is large."""
        if response.size_bytes > self._kept.maxsize * LARGEST_SHARE:
            return
        with self._lock:
            if changes == self.changes:
                self._kept[key] = response

    def forget(self, profile_id: str) -> None:
        """Drops what shows a profile that has changed or gone."""
        with self._lock:
            self.changes += 1
            for key in [key for key in self._kept if key.profile_id == profile_id]:
                del self._kept[key]


class FromCache:
    """ASGI layer inside the guard: answers from `cache`, or lets `app` answer and keeps that.

    Requests for what is just being made wait for that: a link that a whole team opens at the same
    moment is made once.
    """

    def __init__(self, app: ASGIApp, cache: ResponseCache) -> None:
        self._app = app
        self._cache = cache
        self._being_made: dict[Key, asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers what may be kept, if it can; passes all else on."""
        request = Request(scope) if scope["type"] == "http" else None
        key = None if request is None else key_of(request)
        if request is None or key is None:
            await self._app(scope, receive, send)
            return
        kept = self._cache.find(key) or await self._made_for_another(key)
        if kept is None:
            await self._make(key, request, receive, send)
        else:
            scope.update(kept.routed)
            await kept.send(request, send)

    async def _made_for_another(self, key: Key) -> KeptResponse | None:
        being_made = self._being_made.get(key)
        if being_made is None:
            return None
        await being_made.wait()
        return self._cache.find(key)

    async def _make(self, key: Key, request: Request, receive: Receive, send: Send) -> None:
        being_made = self._being_made[key] = asyncio.Event()
        changes = self._cache.changes

        def made(response: KeptResponse | None) -> None:
            if response is not None and getattr(request.state, "may_be_kept", False):
                self._cache.put(key, response, changes=changes)
            being_made.set()
            # If the response is not kept, others that wait for it make their own.
            if self._being_made.get(key) is being_made:
                del self._being_made[key]

        try:
            await self._app(request.scope, receive, _Recorder(send, request.scope, made))
        finally:
            if not being_made.is_set():
                made(None)


class _Recorder:
    """`send` that calls `made` with a response of one piece, or with `None`.

    That is before anything is sent: others do not wait for the client that asked first, which may
    be slow.
    """

    def __init__(
        self, send: Send, scope: Scope, made: Callable[[KeptResponse | None], None]
    ) -> None:
        self._send = send
        self._scope = scope
        self._made = made
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            self._made(self._whole(start, message))
            await self._send(start)
        await self._send(message)

    def _whole(self, start: Message, body: Message) -> KeptResponse | None:
        if start["status"] != 200 or body.get("more_body", False):
            return None
        routed = {name: self._scope[name] for name in _ROUTED if name in self._scope}
        return KeptResponse(
            headers=tuple(start["headers"]), body=body.get("body", b""), routed=routed
        )


def keep(request: Request) -> None:
    """Lets the response to `request` be kept until the profile changes.

    Beside the path, and what the profile is, it must depend on nothing but the traits in `key_of`.
    """
    request.state.may_be_kept = True


def may_be_kept(scope: Scope) -> bool:
    """True for the requests that `key_of` knows a key for."""
    return scope["method"] == "GET" and _PATHS.fullmatch(scope["path"]) is not None


def key_of(request: Request) -> Key | None:
    """The key of the response to `request`; `None` for one that is never kept.

    A profile's page is drawn for one person; its results are the same for all who may see them,
    and kept only where that is everybody.
    Both depend on what was measured on this machine: results of before are computed again.
    """
    scope = request.scope
    found = _PATHS.fullmatch(scope["path"]) if scope["method"] == "GET" else None
    if found is None:
        return None
    traits: tuple[Hashable, ...]
    if found["page"] is not None:
        query = scope["query_string"] if _NAMES_A_PART.search(scope["query_string"]) else b""
        traits = (request.state.actor, best_encoding(request), written_at_ns(), query)
    else:
        encodings = accepts_gzip(request), best_encoding(request)
        traits = (scope["query_string"], encodings, written_at_ns())
    return Key(found["page"] or found["result"], scope["path"], traits)

"""Answers that are asked for again and again, kept in memory: no routing, no thread, no database.

A route that shows a ready profile says so with `keep`, and says what else than its path the answer
depends on, as HTTP's `Vary` does. Three things make a kept answer as good as a new one:

* The guard stands outside of `FromMemory`. Who may not enter gets no further than there, and what
  was drawn for one person is sent to another only if all that the answer depends on is equal.
* All that it shows is in the rows and results of one profile, and this process alone writes them:
  the data folder has one server. Each change calls `forget` after its commit and before its own
  answer. Where several servers share a database nothing is kept, for a profile that was deleted
  on one must be gone from all at once.
* An answer that was being drawn when any profile changed is not kept: it may be of before.
"""

import asyncio
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roofline.devices.this_machine import written_at_ns
from roofline.web.http.assets import accepts_gzip, matches

Trait = Literal["actor", "query", "encoding", "measurements"]
Variant = tuple[Hashable, ...]
"""The values of the traits that an answer depends on."""

# The pages and results of one profile: what can be asked for by many, and so is worth a look.
_PATHS = re.compile(r"/p/[^/]+|/api/v1/profiles/[^/]+/(page|roofline|roofline\.csv)")
# One answer may take this share of the memory for all.
LARGEST_SHARE = 1 / 8
# What an answer takes beside its body: headers, and Python's own objects.
OVERHEAD_BYTES = 4096
# What routing leaves in the scope for the guard's log and metrics.
_ROUTED = ("route", "path_params")
# Headers of an answer that a client who holds it already does not need.
_OF_THE_BODY = frozenset({b"content-length", b"content-type", b"content-encoding"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a route lets its answer be kept."""

    profile_id: str
    varies: tuple[Trait, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A whole answer with status 200. `routed` is what routing found, for the log and metrics."""

    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    routed: Mapping[str, Any]

    @property
    def size_bytes(self) -> int:
        """The memory that it takes, about."""
        return len(self.body) + OVERHEAD_BYTES

    async def send(self, request: Request, send: Send) -> None:
        """Answers `request`: 304 if it holds this already."""
        etag = next((value for name, value in self.headers if name == b"etag"), None)
        status, headers, body = 200, self.headers, self.body
        if etag is not None and matches(request, etag.decode("latin-1")):
            headers = tuple(pair for pair in headers if pair[0] not in _OF_THE_BODY)
            status, body = 304, b""
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": body})


@dataclass(slots=True)
class _Shelf:
    """The answers of one path."""

    terms: Terms
    answers: dict[Variant, Kept] = field(default_factory=dict)
    size_bytes: int = 0


class Answers:
    """Kept answers, at most `max_bytes` of them. Safe to use from any thread."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()
        self._held_bytes = 0
        self.changes = 0

    def find(self, request: Request) -> Kept | None:
        """The answer to a GET request whose sender may have it, if it is kept."""
        path: str = request.scope["path"]
        with self._lock:
            shelf = self._shelves.get(path)
            if shelf is None:
                return None
            self._shelves.move_to_end(path)
            return shelf.answers.get(_variant(shelf.terms, request))

    def put(self, request: Request, terms: Terms, answer: Kept, *, changes: int) -> None:
        """Keeps `answer`, unless a profile changed since `changes` was read, or it is too large."""
        if answer.size_bytes > self._max_bytes * LARGEST_SHARE:
            return
        path: str = request.scope["path"]
        with self._lock:
            if changes != self.changes:
                return
            shelf = self._shelves.setdefault(path, _Shelf(terms))
            before = shelf.answers.get(variant := _variant(terms, request))
            shelf.answers[variant] = answer
            grown_bytes = answer.size_bytes - (before.size_bytes if before is not None else 0)
            shelf.size_bytes += grown_bytes
            self._held_bytes += grown_bytes
            self._shelves.move_to_end(path)
            while self._held_bytes > self._max_bytes:  # the path that was longest not asked for
                self._drop(next(iter(self._shelves)))

    def forget(self, profile_id: str) -> None:
        """Drops what shows a profile that has changed or gone."""
        with self._lock:
            self.changes += 1
            shelves = self._shelves.items()
            for path in [path for path, one in shelves if one.terms.profile_id == profile_id]:
                self._drop(path)

    def _drop(self, path: str) -> None:
        self._held_bytes -= self._shelves.pop(path).size_bytes


class FromMemory:
    """ASGI layer inside the guard: answers from `answers`, or lets `app` answer and keeps that.

    Who asks for what is just being drawn waits for that: a link that a whole team opens at the
    same moment is drawn once.
    """

    def __init__(self, app: ASGIApp, answers: Answers) -> None:
        self._app = app
        self._answers = answers
        self._drawing: dict[Variant, asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers what may be kept, if it can; passes all else on."""
        if not _may_be_kept(scope):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        kept = self._answers.find(request) or await self._drawn_for_another(request)
        if kept is None:
            await self._draw_alone(request, receive, send)
        else:
            scope.update(kept.routed)
            await kept.send(request, send)

    async def _drawn_for_another(self, request: Request) -> Kept | None:
        drawing = self._drawing.get(_likeness(request))
        if drawing is None:
            return None
        await drawing.wait()
        return self._answers.find(request)

    async def _draw_alone(self, request: Request, receive: Receive, send: Send) -> None:
        likeness, drawing = _likeness(request), asyncio.Event()
        self._drawing[likeness] = drawing
        changes = self._answers.changes

        def drawn(answer: Kept | None) -> None:
            terms: Terms | None = getattr(request.state, "terms", None)
            if answer is not None and terms is not None:
                self._answers.put(request, terms, answer, changes=changes)
            drawing.set()
            if self._drawing.get(likeness) is drawing:  # what cannot be kept is drawn by all
                del self._drawing[likeness]

        try:
            await self._app(request.scope, receive, _Recorder(send, request.scope, drawn))
        finally:
            if not drawing.is_set():
                drawn(None)


class _Recorder:
    """`send` that calls `drawn` with an answer of one piece, or with `None`.

    That is before anything is sent: nobody waits for the client that asked first, which may be
    slow.
    """

    def __init__(self, send: Send, scope: Scope, drawn: Callable[[Kept | None], None]) -> None:
        self._send = send
        self._scope = scope
        self._drawn = drawn
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            self._drawn(self._whole(start, message))
            await self._send(start)
        await self._send(message)

    def _whole(self, start: Message, body: Message) -> Kept | None:
        if start["status"] != 200 or body.get("more_body", False):
            return None
        routed = {name: self._scope[name] for name in _ROUTED if name in self._scope}
        return Kept(headers=tuple(start["headers"]), body=body.get("body", b""), routed=routed)


def keep(request: Request, profile_id: str, *varies: Trait) -> None:
    """Lets the answer to `request` be kept until the profile changes.

    Beside the path, and what the profile is, it must depend on nothing but what `varies` names.
    """
    request.state.terms = Terms(profile_id=profile_id, varies=varies)


def _variant(terms: Terms, request: Request) -> Variant:
    return tuple(_READ[trait](request) for trait in terms.varies)


def _actor(request: Request) -> Hashable:
    actor: Hashable = request.state.actor
    return actor


def _query(request: Request) -> Hashable:
    query: bytes = request.scope["query_string"]
    return query


def _measured_at(_request: Request) -> Hashable:
    return written_at_ns()


_READ = {
    "actor": _actor,
    "query": _query,
    "encoding": accepts_gzip,
    "measurements": _measured_at,
}


def _may_be_kept(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return _PATHS.fullmatch(scope["path"]) is not None


def _likeness(request: Request) -> Variant:
    """Requests of equal likeness get equal answers, whatever these depend on."""
    return (request.scope["path"], *(read(request) for read in _READ.values()))

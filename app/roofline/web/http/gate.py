"""Connections and heads under limits: a gate between the network and uvicorn.

uvicorn with httptools limits neither the time nor the size of a head, reads requests ahead without
an end, and reports trailers as headers. A `Gate` holds uvicorn's protocol of one connection: it is
a protocol for asyncio, and a transport for uvicorn, which gets one request at a time. Bytes behind
a head wait until its request has begun, and bytes behind a request until its answer is sent.
`Connections` is the ASGI layer that tells a gate of both.
"""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roofline.web.http.forwarded import counted_as

HEAD_S = 10.0
HEAD_BYTES = 64 << 10
# Most clients close idle connections before (httpx 5 s, aiohttp 15 s): no request meets their end.
IDLE_S = 20
# In each such time a client takes so much of an answer, or all there is of it.
STALLED_S = 60.0
TAKEN_BYTES = 64 << 10
# Of an answer in memory: the next piece follows when the client has taken one, so that a client who
# takes nothing costs this much, and not the answer.
PIECE_BYTES = 64 << 10
# For reading an answer that came before the end of the body. Closing at once would make the system
# send a reset, and a client that sends all of its body first would lose the answer.
LINGER_S = 30.0
# Between two pieces of a body that the route takes. uvicorn stops reading at 64 KiB, behind one
# reading of 256 KiB; in chunks of one byte, 64 KiB take 384 KiB.
UNREAD_BYTES = 1 << 20
# asyncio accepts this many in a row before it looks at any of them.
ACCEPTED_AT_ONCE = 64
MOST_CONNECTIONS = 1024
PER_ADDRESS = 64
_HEAD_END = b"\r\n\r\n"
_TOO_LARGE = b"HTTP/1.1 431 Headers Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_SWEEP_S = 0.25
_VERSIONS = frozenset({"1.0", "1.1"})

Address = tuple[str, int]


class Takes(Enum):
    """The use of the bytes that come next."""

    HEAD = auto()
    BODY = auto()
    NEXT = auto()  # they belong to the next request, and wait
    WASTE = auto()  # they are thrown away: the connection ends


def gated(
    app: ASGIApp,
    *,
    is_proxy: Callable[[str], bool] = lambda _host: False,
    most: int = MOST_CONNECTIONS,
    head_s: float = HEAD_S,
    **options: Any,
) -> uvicorn.Config:
    """uvicorn's configuration for `app`, with a gate in front of each connection.

    An address for which `is_proxy` holds may have more than `PER_ADDRESS` connections. Where an
    address has so many, or `most` are open, a new one takes the place of the one, of that address
    or of the one with the most, whose client has kept the server waiting the longest.
    """
    connections = Connections(app, is_proxy=is_proxy, most=most, head_s=head_s)
    config = uvicorn.Config(
        connections,
        http="httptools",
        ws="none",
        loop="asyncio",
        # It counts those that were ended in this turn of the loop, too: as many as come in one.
        limit_concurrency=most + ACCEPTED_AT_ONCE,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=IDLE_S,
        **options,
    )
    config.load()
    protocol = config.http_protocol_class

    def gate(**of_uvicorn: Any) -> Gate:
        return Gate(connections, protocol(**of_uvicorn))

    config.http_protocol_class = cast(type[asyncio.Protocol], gate)
    return config


class Connections:
    """The open connections of a server, and the ASGI layer that follows their requests."""

    def __init__(
        self, app: ASGIApp, *, is_proxy: Callable[[str], bool], most: int, head_s: float
    ) -> None:
        self.head_s = head_s
        self._app = app
        self._is_proxy = is_proxy
        self._most = most
        self._open: dict[Address, Gate] = {}
        self._of_host: defaultdict[str, set[Gate]] = defaultdict(set)
        self._is_sweeping = False

    def admit(self, gate: "Gate") -> bool:
        """False where there is no place for `gate`; may end a connection that waits for its client.

        One address takes places of its own connections first, and a full server those of the
        address that has the most: neither can take those of all others.
        """
        host = gate.address[0]
        own = self._of_host[counted_as(host)]
        if len(own) >= PER_ADDRESS and not self._is_proxy(host) and not _end_quietest(own):
            return False
        if len(self._open) >= self._most:
            # Without any, uvicorn answers that it has too many.
            most = max(self._of_host.values(), key=len)
            _ = _end_quietest(most) or _end_quietest(self._open.values())
        self._open[gate.address] = gate
        own.add(gate)
        if not self._is_sweeping:
            self._sweep()
        return True

    def leave(self, gate: "Gate") -> None:
        """`gate` is closed."""
        if self._open.pop(gate.address, None) is None:
            return
        host = counted_as(gate.address[0])
        own = self._of_host[host]
        own.discard(gate)
        if not own:
            del self._of_host[host]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on if its head is right, and tells its gate when it begins and ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A copy, before more is read: uvicorn appends trailers to the list of the headers.
        scope = {**scope, "headers": list(scope["headers"])}
        headers = Headers(scope=scope)
        gate = self._open.get(scope["client"])
        refusal = _refusal(scope["http_version"], headers)
        if gate is None or gate.is_closing():
            refusal = HTTPStatus.BAD_REQUEST  # it is not sent: the parser has refused what follows
        if gate is None or refusal is not None:
            status = refusal or HTTPStatus.BAD_REQUEST
            answer = PlainTextResponse(status.phrase, status, {"connection": "close"})
            await answer(scope, receive, send)
            return
        number = gate.begin(_body_bytes(headers))

        async def take() -> Message:
            message = await receive()
            gate.unread_bytes = 0
            return message

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                gate.is_answering = True
                # More of the body may come, or bytes of another protocol.
                if gate.takes is Takes.BODY or "upgrade" in headers:
                    closing = [*message.get("headers", ()), (b"connection", b"close")]
                    message = {**message, "headers": closing}
            for piece in _pieces(message):
                await send(piece)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                gate.end(number)

        try:
            await self._app(scope, take, tell)
        finally:
            gate.end(number)

    def _sweep(self) -> None:
        now = time.monotonic()
        for gate in tuple(self._open.values()):
            gate.check(now)
        self._is_sweeping = bool(self._open)
        if self._is_sweeping:
            asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)


class Gate(asyncio.Protocol, asyncio.Transport):
    """One connection: a protocol for asyncio, and the transport of `inner`, which is uvicorn's."""

    address: Address

    def __init__(self, connections: Connections, inner: asyncio.Protocol) -> None:
        super().__init__()
        self.takes = Takes.HEAD
        self.is_answering = False
        self.unread_bytes = 0
        self._connections = connections
        self._inner = inner
        self._is_paused = False
        self._held = b""
        # Of the head that comes in: its size, and its last four bytes.
        self._head_bytes, self._tail = 0, b""
        self._body_left: float = 0
        # The number of the request, and whether it is under way.
        self._number, self._is_under_way = 0, False
        now = time.monotonic()
        self._deadline = now + connections.head_s
        # When the last request ended, and when the last bytes came.
        self._free_at = self._read_at = now
        # The bytes of answers, those that the client had taken when it last took enough, and when.
        self._written, self._sent, self._sent_at = 0, 0, now

    @property
    def quiet_since(self) -> float:
        """When the server began to wait for the client; infinite while the client waits."""
        if self.takes is Takes.WASTE or not self._is_under_way:
            return self._free_at
        if self._transport.get_write_buffer_size():
            return self._sent_at
        waits_for_body = self.takes is Takes.BODY and not self._is_paused
        return self._read_at if waits_for_body else math.inf

    def begin(self, body_bytes: float) -> int:
        """A request is under way; its number. `body_bytes` is infinite for a body in chunks.

        The end of such a body is not known here, so the answer to it ends the connection.
        """
        self._number += 1
        self._is_under_way, self.is_answering = True, False
        self._deadline = math.inf
        self._body_left, self.unread_bytes = body_bytes, 0
        self.takes = Takes.BODY if body_bytes else Takes.NEXT
        self._pass_on()
        return self._number

    def end(self, number: int) -> None:
        """The answer to this request is out, if it was not known yet."""
        if number != self._number or not self._is_under_way:
            return
        self._is_under_way, self._free_at = False, time.monotonic()
        if self.takes is Takes.NEXT:  # else the connection ends
            self.takes = Takes.HEAD
            self._head_bytes, self._tail = 0, b""
            # Not now: the answer is on its way out.
            asyncio.get_running_loop().call_soon(self._pass_on)

    def check(self, now: float) -> None:
        """Ends a connection whose time is over, or whose client takes too little."""
        sent = self._written - self._transport.get_write_buffer_size()
        if sent == self._written or sent - self._sent >= TAKEN_BYTES:
            self._sent, self._sent_at = sent, now
        if now > self._deadline or now - self._sent_at > STALLED_S:
            self.abort()

    # A protocol: asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A connection has come; one too many ends at once."""
        self._transport = cast(asyncio.Transport, transport)
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)
        self.address = str(host), int(port)
        self._is_admitted = self._connections.admit(self)
        if self._is_admitted:
            self._inner.connection_made(self)
        else:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Passes on what belongs to the request under way, and holds the rest."""
        self._read_at = time.monotonic()
        if self.takes is not Takes.WASTE:
            self._held += data
            self._pass_on()

    def eof_received(self) -> bool | None:
        """The client sends no more."""
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        """The client takes less than is written."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """The client has taken what was written."""
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self.takes = Takes.WASTE
        if self._is_admitted:
            self._connections.leave(self)
            self._inner.connection_lost(exc)

    # A transport: uvicorn calls.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Of the connection."""
        return self._transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        """True if no more is written."""
        return self.takes is Takes.WASTE or self._transport.is_closing()

    def write(self, data: Any) -> None:
        """Sends `data` when the client takes it."""
        if self.takes is not Takes.WASTE:
            self._written += len(data)
            self._transport.write(data)

    def pause_reading(self) -> None:
        """uvicorn has enough of a body for now."""
        self._set_reading(is_paused=True)

    def resume_reading(self) -> None:
        """uvicorn takes more of a body."""
        self._set_reading(is_paused=False)

    def close(self) -> None:
        """Ends the connection: at once, or when the client has read the answer."""
        is_idle = self.takes is Takes.HEAD and not self._head_bytes
        is_answered = self.takes is Takes.NEXT and self._is_under_way
        if self.takes is Takes.WASTE or ((is_idle or is_answered) and not self._held):
            self._transport.close()
        else:
            self._linger()

    def abort(self) -> None:
        """Ends the connection now, and frees its place."""
        if self._is_admitted:
            self._connections.leave(self)
        self._transport.abort()

    def _pass_on(self) -> None:
        data, self._held = self._held, b""
        match self.takes:
            case Takes.HEAD if data:
                self._pass_head(data)
            case Takes.BODY if data:
                self._pass_body(data)
            case Takes.NEXT:
                self._held = data
        self._set_reading()

    def _pass_head(self, data: bytes) -> None:
        """The end of a head may come in two pieces, and empty lines before its beginning."""
        if self._deadline == math.inf:
            self._deadline = time.monotonic() + self._connections.head_s
        text = self._tail + data
        end = text.find(_HEAD_END, len(text) - len(text.lstrip(_HEAD_END)))
        length = len(data) if end < 0 else end + len(_HEAD_END) - len(self._tail)
        self._head_bytes += length
        if self._head_bytes > HEAD_BYTES:
            self._refuse()
            return
        if end < 0:
            self._tail = text[-len(_HEAD_END) :]
            self._inner.data_received(data)
            return
        self._tail, self._held, self.takes = b"", data[length:], Takes.NEXT
        self._inner.data_received(data[:length])
        # Behind the first step of the task that uvicorn has now made for the request.
        asyncio.get_running_loop().call_soon(self._expect_begin, self._number)

    def _expect_begin(self, number: int) -> None:
        """Takes a head for the beginning of a longer one if no request has begun, as in HTTP/2."""
        if number == self._number and self.takes is Takes.NEXT and not self._is_under_way:
            self.takes = Takes.HEAD
            self._pass_on()

    def _pass_body(self, data: bytes) -> None:
        length = int(min(len(data), self._body_left))
        self._body_left -= length
        self.unread_bytes += length
        if self.unread_bytes > UNREAD_BYTES:  # a line of a chunk that does not end, or trailers
            self._refuse()
            return
        self._held = data[length:]
        if not self._body_left:
            self.takes = Takes.NEXT
        self._inner.data_received(data[:length])

    def _set_reading(self, *, is_paused: bool | None = None) -> None:
        self._is_paused = self._is_paused if is_paused is None else is_paused
        is_full = self._is_paused or len(self._held) > HEAD_BYTES
        if is_full and self.takes is not Takes.WASTE:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _refuse(self) -> None:
        if not self.is_answering:
            self.write(_TOO_LARGE)
        self._linger()

    def _linger(self) -> None:
        """Says no more, and throws away what comes until the client ends the connection."""
        self.takes, self._held = Takes.WASTE, b""
        self._deadline = time.monotonic() + LINGER_S
        self._free_at = time.monotonic()
        with suppress(OSError):  # the client has gone
            self._transport.write_eof()
        self._set_reading()


def _end_quietest(gates: Iterable[Gate]) -> bool:
    """Ends the connection whose client has kept the server waiting the longest, if there is one."""
    quietest = min(gates, key=lambda gate: gate.quiet_since)
    if quietest.quiet_since == math.inf:
        return False
    quietest.abort()
    return True


def _pieces(message: Message) -> Iterator[Message]:
    """The message; a large body in several, which uvicorn sends as the client takes them."""
    body = message.get("body", b"")
    last = max(0, len(body) - 1) // PIECE_BYTES * PIECE_BYTES
    for start in range(0, last, PIECE_BYTES):
        piece = memoryview(body)[start : start + PIECE_BYTES]
        yield {"type": message["type"], "body": piece, "more_body": True}
    yield {**message, "body": body[last:]} if last else message


def _body_bytes(headers: Headers) -> float:
    """The length of a body whose framing the parser has accepted; infinite for chunks."""
    return math.inf if "transfer-encoding" in headers else int(headers.get("content-length", 0))


def _refusal(version: str, headers: Headers) -> HTTPStatus | None:
    """The status for a head that httptools lets pass, and that is not HTTP/1.1 as we read it."""
    if any(coding.lower() != "chunked" for coding in headers.getlist("transfer-encoding")):
        return HTTPStatus.NOT_IMPLEMENTED
    if version not in _VERSIONS:
        return HTTPStatus.HTTP_VERSION_NOT_SUPPORTED
    hosts = len(headers.getlist("host"))
    if hosts > 1 or (hosts == 0 and version != "1.0"):
        return HTTPStatus.BAD_REQUEST
    return None

"""One connection: HTTP/1.1 by httptools, under limits, with answers from memory before all else.

httptools finds the parts of a request in a fraction of the time of h11, and refuses less. What it
leaves to its user is here: how long a head may be, how many hosts it names, and trailers, which
would otherwise pass for headers. Bodies that are compressed on their way (`Transfer-Encoding:
gzip`) and other protocols (`Upgrade`) are not offered.

A connection that ends while its client still sends is not closed at once: the system would answer
what comes with a reset, and the client would lose the answer that it has not read yet.
"""

import asyncio
import os
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from roofline.web.http.body_flow import BodyFlow

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

    from roofline.web.http.connections import ServerConfig

# Of the request line and its headers together; also of what stands between two pieces of a body.
HEAD_BYTES = 64 << 10
# Of one reading, until a body comes. asyncio takes 256 KiB, which is new memory for each reading.
READ_BYTES = 32 << 10
_WHOLE_ADDRESS = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)")
_VERSIONS = frozenset({"1.0", "1.1"})


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1, under `ServerConfig.heads` and `.bodies`, and with its `.at_once`."""

    config: "ServerConfig"
    _body: int | None = None
    # The request in the bytes that are being parsed: it begins when all of them are.
    _new: "tuple[RequestResponseCycle, ASGI3Application] | None" = None
    _is_parsing = False
    _is_in_head = False
    # Nothing more is heard: the connection ends with the answers that are due.
    _is_over = False
    # The answer is out, and what the client still sends is thrown away until it has read that.
    _is_lingering = False
    _is_idle = False
    # The request that the application works on; those behind it wait in `pipeline`.
    _running: RequestResponseCycle | None = None
    # How many bytes came since a head ended, or a piece of a body; and in the last reading.
    _unheard = 0
    _piece_bytes = 0
    _refusal = HTTPStatus.BAD_REQUEST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self.flow = BodyFlow(transport, self._may_read_on)
        self._file: int = transport.get_extra_info("socket").fileno()
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES
        heads = self.config.heads
        if len(self.connections) > heads.most and not heads.make_room():
            transport.abort()
            return
        heads.expect(self)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._is_over:
            self._unset_keepalive_if_required()
            return
        if self._is_idle:
            self._is_idle = False
            self.config.heads.expect(self)
        self._piece_bytes = len(data)
        self._unheard += len(data)
        self._is_parsing = True
        super().data_received(data)
        self._is_parsing = False
        if self._unheard > HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if self._new is not None:
            self._begin(*self._new)
        if self._is_answering():
            self.config.heads.came(self)
            if self.cycle.scope["method"] == "POST" and self._body is None:
                self._body = self.config.bodies.begin(self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.config.heads.came(self)
        self._end_body()
        for cycle in (self._running, *(waiting for waiting, _ in self.pipeline)):
            _tell_gone(cycle)
        self.pipeline.clear()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """The answer is out: the next request may come."""
        self._end_body()
        super().on_response_complete()
        if not self._is_answering() and not self._is_lingering and not self.transport.is_closing():
            self._is_idle = True
            self.config.heads.rest(self)

    def shutdown(self) -> None:
        """The server ends: see uvicorn."""
        if self._is_lingering:
            self.transport.close()
        else:
            super().shutdown()

    def on_message_begin(self) -> None:
        """A head begins."""
        self._is_in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has come; or a trailer, which is dropped: the request is under way."""
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A head has come, whole."""
        self._is_in_head = False
        self._check_head()
        self._unheard = 0
        super().on_headers_complete()
        self.cycle.transport = cast(asyncio.Transport, _Answering(self.transport, self._end))
        # What comes behind an offer to upgrade may be of another protocol. A client that waits for
        # "100 Continue" may leave its body out after a refusal, and send its next request.
        if self.parser.should_upgrade() or self.expect_100_continue:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """A piece of a body has come."""
        self._unheard = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request has come, whole."""
        self._unheard = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What came is not HTTP, or `_check_head` has refused it."""
        self._refuse(self._refusal)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
        if self._is_parsing:
            self._new = cycle, app
        else:
            self._running = cycle
            super()._start_asgi_task(cycle, app)

    def _unsupported_upgrade_warning(self) -> None:
        """Anyone could fill the log with it."""

    def _check_head(self) -> None:
        """Refuses what h11 did, and httptools does not."""
        long = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        # A head behind a body may have come with it, in one long reading.
        if max(self._unheard, self._piece_bytes) > HEAD_BYTES < self._head_bytes():
            self._deny(long)
        version, hosts = self.parser.get_http_version(), 0
        for name, value in self.headers:
            if name == b"host":
                hosts += 1
                if self.url[:1] != b"/" and _host_in(self.url) not in (None, value.lower()):
                    self._deny(HTTPStatus.BAD_REQUEST)
            elif name == b"transfer-encoding" and value.lower() != b"chunked":
                self._deny(HTTPStatus.NOT_IMPLEMENTED)
        if version not in _VERSIONS:
            self._deny(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
        if hosts > 1 or (hosts == 0 and version != "1.0"):
            self._deny(HTTPStatus.BAD_REQUEST)

    def _head_bytes(self) -> int:
        """As it was written: each header with a colon, a space and the end of its line."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _deny(self, status: HTTPStatus) -> None:
        """Ends parsing from within a callback: `send_400_response` follows."""
        self._refusal = status
        raise ValueError(status.phrase)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answers `status` instead of the request that comes in, and ends the connection."""
        self._is_over = True
        if self._is_answering() and not self.cycle.more_body:
            # It is the next request that is wrong: those before it are answered.
            self.cycle.keep_alive = False
            self.flow.pause_reading()
            return
        if self._is_answering() and (self.cycle.response_started or self.pipeline):
            self.transport.close()
            return
        self._new = None
        text = status.phrase.encode()
        lines = b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
        lines += b"content-length: %d\r\n" % len(text)
        self._write(self._head(status, lines), text)
        _tell_gone(self.cycle)
        self._linger()

    def _end(self) -> None:
        """Closes the connection behind an answer, or when the client has read that."""
        if self._is_lingering or self.transport.is_closing():
            return
        if self.cycle.more_body or self.pipeline or self.parser.should_upgrade():
            self._linger()
        else:
            self.transport.close()

    def _linger(self) -> None:
        """Says no more, and reads what comes until the client ends the connection: `HEAD_S`."""
        self._is_over = self._is_lingering = True
        self.pipeline.clear()
        self.transport.write_eof()
        self.flow.resume_reading()
        self.config.heads.expect(self)

    def _begin(self, cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
        self._new = None
        if not self._answer_at_once(cycle):
            self._start_asgi_task(cycle, app)

    def _answer_at_once(self, cycle: RequestResponseCycle) -> bool:
        """True if the answer was in memory and is sent, without a task of the loop."""
        if cycle.more_body or not cycle.keep_alive or self.pipeline or self.flow.write_paused:
            return False
        answer = self.config.at_once(cast(Scope, cycle.scope))
        if answer is None:
            return False
        cycle.response_started = cycle.response_complete = True
        self._write(self._head(answer.status, answer.lines), answer.body)
        self.on_response_complete()
        return True

    def _head(self, status: int, lines: bytes) -> bytes:
        usual = [b"%b: %b\r\n" % pair for pair in self.server_state.default_headers]
        return b"".join((STATUS_LINE[status], *usual, lines, b"\r\n"))

    def _write(self, head: bytes, body: bytes) -> None:
        """Both in one call of the system and not joined, if nothing waits before them."""
        sent = 0
        if not self.transport.get_write_buffer_size() and not self.transport.is_closing():
            try:
                sent = os.writev(self._file, (head, body))
            except OSError:  # full, or closed: the transport will find out which
                sent = 0
        if sent < len(head):
            self.transport.write(head[sent:] + body)
        elif sent < len(head) + len(body):
            self.transport.write(memoryview(body)[sent - len(head) :])

    def _may_read_on(self) -> bool:
        """True while a body has room; false after its end: the next request waits."""
        comes_in = self._body is not None and self.cycle.more_body
        return comes_in and len(self.cycle.body) < self.config.bodies.ahead_bytes()

    def _end_body(self) -> None:
        if self._body is not None:
            self.config.bodies.end(self._body)
            self._body = None

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


class _Answering:
    """The transport of an answer, which leaves the end of the connection to `end`."""

    __slots__ = ("close", "is_closing", "write")

    def __init__(self, transport: asyncio.Transport, end: Callable[[], None]) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = end


def _host_in(url: bytes) -> bytes | None:
    """The host, with its port, of an address as proxies are sent it; `None` for one without."""
    found = _WHOLE_ADDRESS.match(url)
    return found[1].lower() if found else None


def _tell_gone(cycle: RequestResponseCycle | None) -> None:
    """Tells the application that the client of this request has gone."""
    if cycle is not None and not cycle.response_complete:
        cycle.disconnected = True
        cycle.message_event.set()

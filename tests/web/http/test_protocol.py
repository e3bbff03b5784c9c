"""Requests as bytes: which heads are refused, and in which order answers come."""

import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from starlette.types import Receive, Scope, Send

from roofline.web.http.gate import HEAD_BYTES, gated
from tests.web.http.in_a_thread import served

LARGE = bytes(range(256)) * 1200
GOOD = b"GET / HTTP/1.1\r\nHost: local\r\n\r\n"
LARGE_HEAD = GOOD.replace(b"/ ", b"/large ", 1)
_asked: list[str] = []
_gone = threading.Event()


NO_BODY = [(b"content-length", b"0")]


async def _tell(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the headers and the length of the body, once that is here."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    _asked.append(scope["path"])
    if scope["path"] == "/large" and scope["method"] == "GET":
        length = [(b"content-length", str(len(LARGE)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await send({"type": "http.response.body", "body": LARGE})
        return
    if scope["path"] == "/refused":
        await send({"type": "http.response.start", "status": 403, "headers": NO_BODY})
        await send({"type": "http.response.body"})
        return
    if scope["path"] == "/waits":
        await receive()  # the request; then its end
        if (await receive())["type"] == "http.disconnect":
            _gone.set()
        return
    size, has_more = 0, True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, has_more = size + len(message["body"]), message["more_body"]
    names = [name.decode() for name, _ in scope["headers"]]
    body = json.dumps({"path": scope["path"], "names": names, "size": size}).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


Address = tuple[str, int]


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    with served(gated(_tell, log_config=None)) as found:
        yield found


def _said(address: Address, request: bytes) -> bytes:
    """All that the server says to `request` until it ends the connection."""
    said = bytearray()
    with socket.create_connection(address, timeout=20) as connection:
        try:
            connection.sendall(request)
            while piece := connection.recv(1 << 20):
                said += piece
        except (BrokenPipeError, ConnectionResetError):
            pass
    return bytes(said)


def _statuses(said: bytes) -> list[int]:
    return [int(part[:3]) for part in said.split(b"HTTP/1.1 ")[1:]]


def _head(*lines: bytes, first: bytes = b"GET / HTTP/1.1") -> bytes:
    return b"\r\n".join((first, *lines, b"", b""))


HOST = b"Host: local"
WRONG = {
    "one long header": (_head(HOST, b"x: " + b"a" * (HEAD_BYTES + 1)), 431),
    "a header of 5 MB without an end": (b"GET / HTTP/1.1\r\nx: " + b"a" * 5_000_000, 431),
    "many headers": (_head(HOST, *[b"x%d: a" % number for number in range(6_800)]), 431),
    "a long address": (_head(HOST, first=b"GET /" + b"a" * HEAD_BYTES + b" HTTP/1.1"), 431),
    "no host": (_head(b"Accept: */*"), 400),
    "two hosts": (_head(HOST, b"Host: other"), 400),
    "version 2": (_head(HOST, first=b"GET / HTTP/2.0"), 505),
    "version 0.9": (b"GET /\r\n\r\n", 505),
    "preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "CONNECT": (_head(HOST, first=b"CONNECT local:80 HTTP/1.1"), 400),
    "length and chunks": (_head(HOST, b"Content-Length: 1", b"Transfer-Encoding: chunked"), 400),
    "two lengths": (_head(HOST, b"Content-Length: 1", b"Content-Length: 2"), 400),
    "length with a sign": (_head(HOST, b"Content-Length: +1"), 400),
    "length and letters": (_head(HOST, b"Content-Length: 1a"), 400),
    "packed body": (_head(HOST, b"Transfer-Encoding: gzip, chunked"), 501),
    "hidden chunks": (_head(HOST, b"Transfer-Encoding: xchunked"), 400),
    "space before a colon": (_head(HOST, b"Content-Length : 1"), 400),
    "header over two lines": (_head(HOST, b"x: a", b" b"), 400),
    "line without a return": (b"GET / HTTP/1.1\nHost: local\n\n", 400),
    "NUL": (_head(HOST, b"x: a\0b"), 400),
    "return in a header": (_head(HOST, b"x: a\rb: c"), 400),
    "letter of no address": (_head(HOST, first=b"GET /\xc3\xa4 HTTP/1.1"), 400),
    "bad chunk": (_head(HOST, b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.1") + b"x", 400),
    "not HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9, 400),
}


@pytest.mark.parametrize(("request_bytes", "status"), WRONG.values(), ids=WRONG)
def test_wrong_heads_are_refused_and_end_the_connection(
    address: Address, request_bytes: bytes, status: int
) -> None:
    said = _said(address, request_bytes)
    assert _statuses(said) == [status]
    assert b"connection: close" in said
    assert b'"names"' not in said


def test_long_head_below_the_limit_is_read(address: Address) -> None:
    said = _said(address, _head(HOST, b"Connection: close", b"x: " + b"a" * (HEAD_BYTES - 1000)))
    assert _statuses(said) == [200]


def test_whole_address_is_answered_as_its_path(address: Address) -> None:
    said = _said(address, _head(HOST, b"Connection: close", first=b"GET http://LOCAL/a?b HTTP/1.1"))
    assert b'"path": "/a"' in said


def test_request_before_a_wrong_one_is_answered(address: Address) -> None:
    for good in (GOOD, LARGE_HEAD):
        said = _said(address, good + b"rubbish\r\n\r\n" + GOOD)
        assert _statuses(said)[0] == 200
        assert _statuses(said)[1:] in ([], [400])


def test_body_that_breaks_off_into_rubbish_ends_the_connection(address: Address) -> None:
    chunked = _head(HOST, b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.1")
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(chunked + b"1\r\na\r\n")
        time.sleep(0.05)
        connection.sendall(b"rubbish\r\n" + GOOD)
        said = connection.makefile("rb").read()
    assert _statuses(said) == [400]


POST = b"POST /refused HTTP/1.1"


def test_answer_that_ends_the_connection_is_read_before_the_body_is_sent(address: Address) -> None:
    """A client that sends all of its body first read a reset in place of the refusal."""
    length = 20_000_000
    lines = (HOST, b"Connection: close", b"Content-Length: %d" % length)
    said = _said(address, _head(*lines, first=POST) + bytes(length))
    assert _statuses(said) == [403]


def test_body_that_a_refusal_held_back_is_not_awaited(address: Address) -> None:
    """Else the next request would pass for the body."""
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(_head(HOST, b"Content-Length: 5", b"Expect: 100-continue", first=POST))
        time.sleep(0.05)
        connection.sendall(GOOD)
        said = connection.makefile("rb").read()
    assert _statuses(said) == [403]
    assert b"connection: close" in said


def test_head_behind_a_body_has_the_same_limit(address: Address) -> None:
    """Bodies are read in longer pieces, which may hold the next head."""
    long = _head(HOST, *[b"x%d: a" % number for number in range(40_000)])
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(_head(HOST, b"Content-Length: 100000", first=b"POST / HTTP/1.1"))
        time.sleep(0.05)
        connection.sendall(bytes(100_000) + long + GOOD)
        said = connection.makefile("rb").read()
    assert _statuses(said) in ([200], [200, 431])


def test_request_hears_that_its_client_went_though_another_waits_behind_it(
    address: Address,
) -> None:
    _gone.clear()
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(GOOD.replace(b"/ ", b"/waits ", 1) + GOOD)
        time.sleep(0.05)
    assert _gone.wait(20)


@pytest.mark.parametrize("pause_s", [0, 0.05])
@pytest.mark.parametrize("before", [b"", GOOD], ids=["first", "second"])
def test_trailers_are_no_headers(address: Address, before: bytes, pause_s: float) -> None:
    """Neither of their own request nor of the next, in as few pieces as it may be."""
    chunked = _head(HOST, b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.1") + b"1\r\na\r\n"
    trailer = b"0\r\nx-forwarded-user: root\r\n\r\n"
    with socket.create_connection(address, timeout=20) as connection:
        for piece in (
            (before + chunked, trailer + GOOD) if pause_s else (before + chunked + trailer,)
        ):
            connection.sendall(piece)
            time.sleep(pause_s)
        said = connection.makefile("rb").read()
    assert _statuses(said) == [200] * (2 if before else 1)
    assert b"x-forwarded-user" not in said


@pytest.mark.parametrize("endless", [b"0\r\nx: ", b"1;x="], ids=["trailer", "extension"])
def test_endless_lines_within_a_body_end_the_connection(address: Address, endless: bytes) -> None:
    chunked = _head(HOST, b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.1")
    said = _said(address, chunked + endless + b"a" * 5_000_000)
    assert _statuses(said) == [431]


def test_offer_of_another_protocol_is_answered_in_this_one(address: Address) -> None:
    offer = _head(HOST, b"Connection: Upgrade", b"Upgrade: h2c")
    for request in (offer, offer.replace(b"/ ", b"/large ", 1)):
        said = _said(address, request + GOOD)
        assert _statuses(said[:1000]) == [200]
        assert b"connection: close" in said


def test_answers_come_in_the_order_of_requests(address: Address) -> None:
    many = [GOOD.replace(b"/ ", b"/%d " % number, 1) for number in range(20)]
    last = _head(HOST, b"Connection: close", first=b"GET /last HTTP/1.1")
    paths = re.findall(rb'"path": "([^"]+)"', _said(address, b"".join(many) + last))
    assert paths == [*(b"/%d" % number for number in range(20)), b"/last"]


def test_large_answers_come_whole_on_one_connection(address: Address) -> None:
    connection = http.client.HTTPConnection(*address, timeout=20)
    for _ in range(3):
        connection.request("GET", "/large")
        assert connection.getresponse().read() == LARGE
    connection.close()


def test_client_that_asks_and_does_not_read_fills_no_memory(address: Address) -> None:
    _asked.clear()
    with socket.create_connection(address, timeout=20) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(0.2)
        sent = 0
        try:
            while sent < 2_000:
                connection.sendall(LARGE_HEAD * 50)
                sent += 50
        except TimeoutError:
            pass
        # What Linux keeps for the client, and one more.
        assert _asked.count("/large") < 60

"""Requests as bytes: which heads are refused, and how answers from memory reach the wire."""

import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from roofline.settings import Settings
from roofline.web.app import create_app
from roofline.web.http.at_once import KnownAnswer, UsualHeaders, written_lines
from roofline.web.http.connections import ServerConfig
from roofline.web.http.protocol import HEAD_BYTES
from tests.web.http.in_a_thread import served

KEPT = bytes(range(256)) * 1200
GOOD = b"GET / HTTP/1.1\r\nHost: local\r\n\r\n"
KEPT_HEAD = GOOD.replace(b"/ ", b"/kept ", 1)
_asked: list[str] = []
_gone = threading.Event()


def _at_once(scope: Scope) -> KnownAnswer | None:
    _asked.append(scope["path"])
    if scope["path"] != "/kept" or scope["method"] != "GET":
        return None
    return KnownAnswer(status=200, lines=b"content-length: %d\r\n" % len(KEPT), body=KEPT)


NO_BODY = [(b"content-length", b"0")]


async def _tell(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the headers and the length of the body, once that is here."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
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
    with served(ServerConfig(_tell, at_once=_at_once, log_config=None)) as found:
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
    "another host in the address": (_head(HOST, first=b"GET http://other/ HTTP/1.1"), 400),
    "version 2": (_head(HOST, first=b"GET / HTTP/2.0"), 505),
    "version 0.9": (b"GET /\r\n\r\n", 505),
    "preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "CONNECT": (_head(HOST, first=b"CONNECT local:80 HTTP/1.1"), 400),
    "length and chunks": (_head(HOST, b"Content-Length: 1", b"Transfer-Encoding: chunked"), 400),
    "two lengths": (_head(HOST, b"Content-Length: 1", b"Content-Length: 2"), 400),
    "length with a sign": (_head(HOST, b"Content-Length: +1"), 400),
    "length and letters": (_head(HOST, b"Content-Length: 1a"), 400),
    "packed body": (_head(HOST, b"Transfer-Encoding: gzip, chunked"), 501),
    "hidden chunks": (_head(HOST, b"Transfer-Encoding: xchunked"), 501),
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
    for good in (GOOD, KEPT_HEAD):
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


def test_trailers_are_no_headers(address: Address) -> None:
    chunked = _head(HOST, b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.1")
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(chunked + b"1\r\na\r\n")
        time.sleep(0.05)
        connection.sendall(
            b"0\r\nx-forwarded-user: root\r\n\r\n" + _head(HOST, b"Connection: close")
        )
        said = connection.makefile("rb").read()
    assert _statuses(said) == [200, 200]
    assert b"x-forwarded-user" not in said


@pytest.mark.parametrize("endless", [b"0\r\nx: ", b"1;x="], ids=["trailer", "extension"])
def test_endless_lines_within_a_body_end_the_connection(address: Address, endless: bytes) -> None:
    chunked = _head(HOST, b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.1")
    said = _said(address, chunked + endless + b"a" * 5_000_000)
    assert _statuses(said) == [431]


def test_offer_of_another_protocol_is_answered_in_this_one(address: Address) -> None:
    offer = _head(HOST, b"Connection: Upgrade", b"Upgrade: h2c")
    for request in (offer, offer.replace(b"/ ", b"/kept ", 1)):
        said = _said(address, request + GOOD)
        assert _statuses(said[:1000]) == [200]
        assert b"connection: close" in said


def test_answers_come_in_the_order_of_requests(address: Address) -> None:
    """A kept answer waits where one before it takes work."""
    slow = [GOOD.replace(b"/ ", b"/%d " % number, 1) for number in range(3)]
    last = _head(HOST, b"Connection: close", first=b"GET /last HTTP/1.1")
    said = _said(address, b"".join(one + KEPT_HEAD for one in slow) + last)
    paths = re.findall(rb'"path": "([^"]+)"', said)
    assert paths == [b"/0", b"/kept", b"/1", b"/kept", b"/2", b"/kept", b"/last"]


def test_kept_answers_come_whole_on_one_connection(address: Address) -> None:
    connection = http.client.HTTPConnection(*address, timeout=20)
    for _ in range(3):
        connection.request("GET", "/kept")
        assert connection.getresponse().read() == KEPT
    connection.close()


@pytest.mark.parametrize(
    "head",
    [
        KEPT_HEAD.replace(b"1.1", b"1.0"),
        KEPT_HEAD.replace(b"GET", b"HEAD"),
        _head(HOST, b"Connection: close", first=b"GET /kept HTTP/1.1"),
    ],
)
def test_requests_of_another_kind_are_the_applications(address: Address, head: bytes) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(head)
        assert b"content-length: %d" % len(KEPT) not in connection.recv(1000)


def test_client_that_asks_and_does_not_read_fills_no_memory(address: Address) -> None:
    _asked.clear()
    with socket.create_connection(address, timeout=20) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(0.2)
        sent = 0
        try:
            while sent < 2_000:
                connection.sendall(KEPT_HEAD * 50)
                sent += 50
        except TimeoutError:
            pass
        # What Linux keeps for the client, and one more.
        assert _asked.count("/kept") < 60


def test_header_with_a_line_end_is_not_written() -> None:
    usual = UsualHeaders(((b"a", b"usual"), (b"b", b"usual")))
    assert written_lines(usual.added_to([(b"a", b"own")])) == b"a: own\r\nb: usual\r\n"
    with pytest.raises(ValueError, match="control"):
        written_lines(((b"a", b"x\r\nb: forged"),))


OF_ONE_ANSWER = {"x-request-id", "date"}


def test_answer_from_memory_is_the_drawn_one_on_the_wire(tmp_path: Path, capture: bytes) -> None:
    app = create_app(Settings.from_env(data_dir=tmp_path / "data"))
    config = ServerConfig(app, at_once=app.at_once, log_config=None, server_header=False)
    with (
        served(config) as (host, port),
        httpx.Client(base_url=f"http://{host}:{port}", timeout=120) as client,
    ):
        api = "/api/v1/profiles"
        body = client.post(f"{api}?wait=60", files={"file": ("x.xplane.pb", capture)}).json()
        for path in (f"/p/{body['id']}", f"{api}/{body['id']}/roofline.csv"):
            drawn, kept, others = client.get(path), client.get(path), client.get(path)
            assert kept.content == drawn.content
            for answer in (kept, others):
                assert _lasting(answer) == _lasting(drawn)
            assert kept.headers["x-request-id"] != others.headers["x-request-id"]
        held = {"if-none-match": kept.headers["etag"]}
        told = client.get(path, headers=held)
        assert (told.status_code, told.content) == (304, b"")
        assert client.get(path, headers={"host": "evil.example"}).status_code == 403
        assert client.get("/healthz").status_code == 200


def _lasting(answer: httpx.Response) -> dict[str, str]:
    return {name: text for name, text in answer.headers.items() if name not in OF_ONE_ANSWER}

"""Bodies on their way in: whole in any pieces, before and behind other requests."""

import asyncio
import hashlib
import random
import socket
from collections.abc import Iterator

import pytest
from starlette.types import Receive, Scope, Send

from roofline.web.http.gate import HEAD_BYTES, UNREAD_BYTES, gated
from tests.web.http.in_a_thread import served

SIZES = (0, 1, HEAD_BYTES, HEAD_BYTES + 1, UNREAD_BYTES - 1, 5 * UNREAD_BYTES + 7)
REFUSED = b"HTTP/1.1 401"


async def _digest(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers the SHA-256 of the body, or 401 before it."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    digest, has_more, status = hashlib.sha256(), True, 200
    if scope["path"] == "/refused":
        has_more, status = False, 401
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        digest.update(message["body"])
        has_more = message["more_body"]
        await asyncio.sleep(0.001)  # slower than the sender: the next pieces are read ahead
    text = digest.hexdigest().encode()
    headers = [(b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with served(gated(_digest, log_config=None)) as found:
        yield found


def _post(content: bytes, path: str = "/", chunk_bytes: int = 0) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: local\r\n"
    if not chunk_bytes:
        return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
    starts = range(0, len(content), chunk_bytes)
    pieces = [content[start : start + chunk_bytes] for start in starts] + [b""]
    chunks = (f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces)
    return f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + b"".join(chunks)


def _answer(connection: socket.socket) -> bytes:
    """The body of the next answer; its first line where it is a refusal."""
    with connection.makefile("rb", buffering=0) as stream:
        lines = list(iter(stream.readline, b"\r\n"))
        text = stream.read(64) or b""
        return lines[0] if lines[0].startswith(REFUSED) else text


def _send_in_pieces(connection: socket.socket, content: bytes, chance: random.Random) -> None:
    request = memoryview(content)
    while request:
        sent = connection.send(request[: chance.choice((1, 100, 70_000, 3_000_000))])
        request = request[sent:]


def test_bodies_of_any_size_and_cut_arrive_whole_on_one_connection(
    address: tuple[str, int],
) -> None:
    chance = random.Random(1)
    with socket.create_connection(address) as connection:
        for size in SIZES:
            content = chance.randbytes(size)
            _send_in_pieces(connection, _post(content), chance)
            assert _answer(connection) == hashlib.sha256(content).hexdigest().encode()


def test_chunks_of_any_size_and_cut_arrive_whole_and_their_answer_ends_the_connection(
    address: tuple[str, int],
) -> None:
    chance = random.Random(1)
    for size in SIZES:
        content = chance.randbytes(size)
        with socket.create_connection(address, timeout=20) as connection:
            _send_in_pieces(connection, _post(content, chunk_bytes=50_000), chance)
            answer = connection.makefile("rb").read()
        assert answer.endswith(hashlib.sha256(content).hexdigest().encode())
        assert b"connection: close" in answer


def test_next_request_behind_a_body_waits_and_is_answered_in_order(
    address: tuple[str, int],
) -> None:
    contents = [bytes([number]) * (200_000 + number) for number in range(4)]
    with socket.create_connection(address) as connection:
        connection.sendall(b"".join(map(_post, contents)))
        for content in contents:
            assert _answer(connection) == hashlib.sha256(content).hexdigest().encode()


def test_refusal_comes_before_the_body_and_ends_the_connection_behind_it(
    address: tuple[str, int],
) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        whole = _post(bytes(3_000_000), "/refused")
        connection.sendall(whole[:200_000])
        assert _answer(connection).startswith(REFUSED)
        connection.sendall(whole[200_000:] + _post(b"x"))
        assert connection.recv(1000) == b""


def test_sender_that_goes_in_the_middle_leaves_the_server_as_it_was(
    address: tuple[str, int],
) -> None:
    for size in (100, 300_000):
        with socket.create_connection(address) as connection:
            connection.sendall(_post(bytes(1_000_000))[:size])
    with socket.create_connection(address) as connection:
        connection.sendall(_post(b"x"))
        assert _answer(connection) == hashlib.sha256(b"x").hexdigest().encode()

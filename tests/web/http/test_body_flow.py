"""Bodies on their way in: whole in any pieces, read ahead so far and no further, and first."""

import asyncio
import contextlib
import hashlib
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.server import ServerState

from roofline.web.http.body_flow import AHEAD_BYTES, ALL_AHEAD_BYTES, READ_BYTES, Bodies
from roofline.web.http.connections import ServerConfig
from roofline.web.http.protocol import LimitedProtocol
from roofline.web.http.short_turns import ShortTurns
from tests.web.http.in_a_thread import served

SIZES = (0, 1, HIGH_WATER_LIMIT, HIGH_WATER_LIMIT + 1, READ_BYTES - 1, AHEAD_BYTES + READ_BYTES + 7)
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
    with served(ServerConfig(_digest, log_config=None)) as found:
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


@pytest.mark.parametrize("chunk_bytes", [0, 50_000], ids=["length", "chunked"])
def test_bodies_of_any_size_and_cut_arrive_whole_on_one_connection(
    address: tuple[str, int], chunk_bytes: int
) -> None:
    chance = random.Random(1)
    with socket.create_connection(address) as connection:
        for size in SIZES:
            content = chance.randbytes(size)
            request = memoryview(_post(content, chunk_bytes=chunk_bytes))
            while request:
                sent = connection.send(request[: chance.choice((1, 100, 70_000, 3_000_000))])
                request = request[sent:]
            assert _answer(connection) == hashlib.sha256(content).hexdigest().encode()


def test_next_request_behind_a_body_waits_and_is_answered_in_order(
    address: tuple[str, int],
) -> None:
    contents = [bytes([number]) * (200_000 + number) for number in range(4)]
    with socket.create_connection(address) as connection:
        connection.sendall(b"".join(map(_post, contents)))
        for content in contents:
            assert _answer(connection) == hashlib.sha256(content).hexdigest().encode()


def test_refusal_comes_before_the_body_and_the_connection_goes_on(
    address: tuple[str, int],
) -> None:
    with socket.create_connection(address) as connection:
        whole = _post(bytes(3_000_000), "/refused")
        connection.sendall(whole[:200_000])
        assert _answer(connection).startswith(REFUSED)
        connection.sendall(whole[200_000:] + _post(b"x"))
        assert _answer(connection) == hashlib.sha256(b"x").hexdigest().encode()


def test_sender_that_goes_in_the_middle_leaves_the_server_as_it_was(
    address: tuple[str, int],
) -> None:
    for size in (100, 300_000):
        with socket.create_connection(address) as connection:
            connection.sendall(_post(bytes(1_000_000))[:size])
    with socket.create_connection(address) as connection:
        connection.sendall(_post(b"x"))
        assert _answer(connection) == hashlib.sha256(b"x").hexdigest().encode()


class _Transport(asyncio.Transport):
    """Hears when reading is to pause."""

    max_size = 256 << 10

    def __init__(self, file: socket.socket) -> None:
        super().__init__({"socket": file})
        self.is_paused = False

    def pause_reading(self) -> None:
        self.is_paused = True

    def is_closing(self) -> bool:
        return False


async def _never(_scope: Scope, _receive: Receive, _send: Send) -> None:
    await asyncio.Event().wait()


def _read_ahead(method: str, bodies: Bodies | None = None) -> tuple[int, int]:
    """How much of a body is read while the app waits, and the size of a piece."""
    config = ServerConfig(_never, log_config=None)
    config.bodies = bodies or config.bodies

    async def receive(file: socket.socket) -> tuple[int, int]:
        transport, protocol = _Transport(file), LimitedProtocol(config, ServerState(), {})
        protocol.connection_made(transport)
        head = f"{method} / HTTP/1.1\r\nHost: local\r\nContent-Length: {1 << 30}\r\n\r\n"
        protocol.data_received(head.encode())
        while not transport.is_paused:
            protocol.data_received(bytes(1 << 16))
        return len(protocol.cycle.body), transport.max_size

    # In a thread: browser tests of the same process leave a loop running.
    with socket.socket() as file, ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(receive(file))).result()


def test_bodies_are_read_ahead_in_larger_pieces() -> None:
    """uvicorn stops at 64 KiB, until the route asks for more: some turns of the loop each time."""
    ahead, piece = _read_ahead("POST")
    assert AHEAD_BYTES <= ahead < AHEAD_BYTES + (1 << 17)
    assert piece == READ_BYTES
    assert _read_ahead("GET")[0] <= HIGH_WATER_LIMIT + (1 << 17)


def test_what_is_read_ahead_of_many_bodies_is_limited() -> None:
    bodies = Bodies()
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(socket.socket()) for _ in range(ALL_AHEAD_BYTES >> 16)]
        for file in files[1:]:
            bodies.begin(_Transport(file))
        assert _read_ahead("POST", bodies)[0] <= HIGH_WATER_LIMIT + (1 << 17)
        for file in files[1:]:
            bodies.end(file.fileno())
        assert bodies.ahead_bytes() == AHEAD_BYTES


def test_connection_is_hurried_until_its_answer_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []
    for name in ("hurry", "calm"):
        monkeypatch.setattr(ShortTurns, name, lambda _, fd, said=name: seen.append((said, fd)))
    with served(ServerConfig(_digest, log_config=None)) as address:
        for request in (_post(b"x"), _post(b"x", "/refused"), _post(b"xy")[:-1]):
            with socket.create_connection(address) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: local\r\n\r\n")
                _answer(connection)
                assert [said for said, _ in seen] == []
                connection.sendall(request)
                if request.endswith(b"x") and b"Length: 1" in request:
                    _answer(connection)
            deadline = time.monotonic() + 20
            while len(seen) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert [said for said, _ in seen] == ["hurry", "calm"]
            assert seen[0][1] == seen[1][1]
            seen.clear()


_WITHOUT_EPOLL = """
import select, sys
del select.epoll
sys.platform = "darwin"
from roofline.web.http.connections import ServerConfig
loop = ServerConfig(None).get_loop_factory()()
print(type(loop).__name__)
loop.close()
"""


def test_other_systems_have_their_own_loop() -> None:
    """Few connections in a turn is Linux's; a laptop with another system serves without it."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_EPOLL], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip().endswith("EventLoop"), done.stderr

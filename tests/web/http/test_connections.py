"""Connections without a request: their time, their number, and what they may not do to others."""

import asyncio
import contextlib
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from roofline.web.http.gate import (
    ACCEPTED_AT_ONCE,
    HEAD_S,
    IDLE_S,
    PER_ADDRESS,
    Connections,
    Gate,
    gated,
)
from roofline.web.server import most_connections, raise_file_limit
from tests.web.conftest import MULTIPART, Launch
from tests.web.http.in_a_thread import served

HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: local"


async def _greet(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@contextlib.contextmanager
def _serving(
    *, most: int = 100, head_s: float = HEAD_S, is_proxy: Callable[[str], bool] = lambda _host: True
) -> Iterator[tuple[str, int]]:
    """The address of a server in a thread of this process."""
    config = gated(_greet, most=most, head_s=head_s, is_proxy=is_proxy, log_config=None)
    with served(config) as address:
        yield address


def _is_closed(connection: socket.socket, within_s: float) -> bool:
    connection.settimeout(within_s)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


@pytest.mark.parametrize("said", [b"", HALF_A_HEAD])
def test_head_has_a_time_limit(said: bytes) -> None:
    with _serving(head_s=0.3) as address, socket.create_connection(address) as connection:
        connection.sendall(said)
        assert _is_closed(connection, 20)


def test_head_after_an_answer_has_the_same_limit() -> None:
    with _serving(head_s=0.5) as address, socket.create_connection(address) as connection:
        connection.sendall(HALF_A_HEAD + b"\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 204")
        connection.sendall(HALF_A_HEAD)
        assert _is_closed(connection, 20)


def test_idle_connection_outlives_the_limit_of_a_head_and_what_clients_keep() -> None:
    """Both ends would give a connection up at the same moment, and a request would meet that."""
    with _serving(head_s=0.2) as address, socket.create_connection(address) as connection:
        for _ in range(2):
            connection.sendall(HALF_A_HEAD + b"\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 204")
            assert not _is_closed(connection, 0.5)
    assert gated(_greet).timeout_keep_alive == IDLE_S > 15


def test_connection_that_was_answered_stays_longer_than_one_that_never_asked() -> None:
    with _serving(most=2) as address, contextlib.ExitStack() as stack:
        silent, idle = (
            stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(2)
        )
        for _ in range(2):
            idle.sendall(HALF_A_HEAD + b"\r\n\r\n")
            assert idle.recv(1000).startswith(b"HTTP/1.1 204")
            stack.enter_context(socket.create_connection(address))
            assert _is_closed(silent, 20)


def test_connection_that_waits_longest_makes_room_for_a_new_one() -> None:
    with _serving(most=3) as address, contextlib.ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(address)) for _ in range(3)]
        new = stack.enter_context(socket.create_connection(address))
        new.sendall(HALF_A_HEAD + b"\r\n\r\n")
        assert new.recv(1000).startswith(b"HTTP/1.1 204")
        assert _is_closed(silent[0], 20)
        assert not _is_closed(silent[2], 0.1)


def test_client_that_takes_nothing_of_its_answer_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roofline.web.http.gate.STALLED_S", 0.5)
    gone = threading.Event()

    async def pour(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _greet(scope, receive, send)
            return
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(50 << 20), "more_body": True})
        if (await receive())["type"] == "http.disconnect":
            gone.set()

    with (
        served(gated(pour, log_config=None)) as address,
        socket.create_connection(address) as connection,
    ):
        connection.sendall(HALF_A_HEAD + b"\r\n\r\n")
        assert gone.wait(20)


def test_fewer_connections_than_files() -> None:
    for files in (256, 1024, 65_536):
        assert 8 <= most_connections(files) <= (files - ACCEPTED_AT_ONCE) // 2


def test_soft_file_limit_is_raised() -> None:
    program = (
        "import resource; from roofline.web.server import raise_file_limit;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 800));"
        "print(raise_file_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout.split() == ["800", "800", "800"], found.stderr
    assert raise_file_limit() >= 256


def test_address_has_so_many_connections_unless_it_is_a_proxy() -> None:
    """One address must not take the places of all others: it takes its own oldest one."""
    for is_proxy in (False, True):
        with _serving(is_proxy=lambda _host: is_proxy) as address, contextlib.ExitStack() as stack:  # noqa: B023
            connections = [
                stack.enter_context(socket.create_connection(address, timeout=20))
                for _ in range(PER_ADDRESS + 1)
            ]
            assert _is_closed(connections[0], 0.5) != is_proxy
            connections[-1].sendall(HALF_A_HEAD + b"\r\n\r\n")
            assert connections[-1].recv(1000).startswith(b"HTTP/1.1 204")


class _From(asyncio.Transport):
    """A connection from an address that this machine does not have."""

    def __init__(self, address: str, port: int) -> None:
        super().__init__({"peername": (address, port, 0, 0)})
        self.is_ended = False

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.is_ended = True


async def _connected(*addresses: str, most: int = 1000) -> list[bool]:
    """Which of these connections were ended, after all have come."""
    connections = Connections(_greet, is_proxy=lambda _host: False, most=most, head_s=HEAD_S)
    found = [_From(address, 40_000 + number) for number, address in enumerate(addresses)]
    for one in found:
        Gate(connections, asyncio.Protocol()).connection_made(one)
    return [one.is_ended for one in found]


def _ended(*addresses: str, **limits: int) -> list[bool]:
    # In a thread: browser tests of the same process leave a loop running.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(_connected(*addresses, **limits))).result()


@pytest.mark.parametrize(("network", "ended"), [("2001:db8::{:x}", 1), ("2001:db8:0:{:x}::", 0)])
def test_ipv6_network_of_one_client_has_the_places_of_one_address(network: str, ended: int) -> None:
    addresses = [network.format(number) for number in range(PER_ADDRESS + 1)]
    assert sum(_ended(*addresses)) == ended


def test_full_server_takes_a_place_of_the_address_that_has_the_most() -> None:
    """Thirty addresses together ended the connections of all others, who had one each."""
    ended = _ended("10.0.0.1", *["10.0.0.2"] * 3, "10.0.0.3", most=4)
    assert ended == [False, True, False, False, False]


async def _pour(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers 16 MB, or nothing at the path `/small`."""
    if scope["type"] == "lifespan" or scope["path"] == "/small":
        await _greet(scope, receive, send)
        return
    headers = [(b"content-length", b"%d" % len(LARGE))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": LARGE})


LARGE = bytes(16 << 20)
ASK = b"GET / HTTP/1.1\r\nHost: local\r\n\r\n"


def _ask_and_read_nothing(stack: contextlib.ExitStack, address: tuple[str, int]) -> socket.socket:
    """From 127.0.0.2, many requests on one connection."""
    asking = stack.enter_context(socket.socket())
    asking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    asking.bind(("127.0.0.2", 0))
    asking.settimeout(20)
    asking.connect(address)
    asking.sendall(ASK * 100)
    return asking


def test_unread_answers_cost_no_place_of_others_and_no_memory() -> None:
    """448 such connections took all places, and each a copy of its answer."""
    config = gated(_pour, most=100, log_config=None)
    with served(config) as address, contextlib.ExitStack() as stack:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        asking = [_ask_and_read_nothing(stack, address) for _ in range(3 * PER_ADDRESS)]
        for _ in range(5):
            assert httpx.get("http://{}:{}/small".format(*address), timeout=20).status_code == 204
        assert all(_was_ended(one) for one in asking[:PER_ADDRESS])
        grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown_kib < 3 * PER_ADDRESS * 1024, "16 MB each would be 1 GB and more"


def _was_ended(connection: socket.socket) -> bool:
    """True where the server has ended it, however much of the answer came before."""
    connection.settimeout(20)
    with contextlib.suppress(ConnectionResetError):
        taken = 0
        while taken < len(LARGE):
            taken += len(piece := connection.recv(1 << 20))
            if not piece:
                break
        return taken < len(LARGE)
    return True


def test_client_that_takes_an_answer_byte_by_byte_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roofline.web.http.gate.STALLED_S", 1.0)
    with served(gated(_pour, log_config=None)) as address, contextlib.ExitStack() as stack:
        asking = _ask_and_read_nothing(stack, address)
        for _ in range(40):
            assert asking.recv(1)
            time.sleep(0.05)
        assert _was_ended(asking)


def test_large_answer_in_pieces_is_the_same() -> None:
    with served(gated(_pour, log_config=None)) as address:
        answer = httpx.get("http://{}:{}/".format(*address), timeout=20)
        assert answer.content == LARGE


def test_half_open_connections_do_not_make_a_server_deaf(tmp_path: Path) -> None:
    """Without a log-in, 900 of them stopped all answers and wrote 115 MB of tracebacks."""
    files = 400

    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    log = (tmp_path / "log").open("wb+")
    server = subprocess.Popen(
        [sys.executable, "-m", "roofline", "serve", "--port", "0", "--data-dir", tmp_path / "data"],
        stdout=subprocess.PIPE,
        stderr=log,
        preexec_fn=few_files,
    )
    with contextlib.ExitStack() as stack:
        stack.callback(log.close)
        stack.callback(server.wait)
        stack.callback(server.kill)
        assert server.stdout is not None
        stack.callback(server.stdout.close)
        port = int(server.stdout.readline().rpartition(b"127.0.0.1:")[2].split()[0])
        for _ in range(900):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            half.sendall(HALF_A_HEAD)
        for _ in range(3):
            answer = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=20)
            assert answer.status_code == 200
        log.seek(0)
        written = log.read()
        assert b"Traceback" not in written
        assert len(written) < 5000


@pytest.mark.parametrize("path", ["/login", "/api/v1/profiles/x/split", "/api/v1/profiles"])
def test_body_that_stands_still_is_given_up(launch: Launch, path: str) -> None:
    client = launch(upload_idle_seconds=0.2, auth="token", token="0123456789abcdef-user")
    begun = {"type": "http.request", "body": b"token=", "more_body": True}
    form = "application/x-www-form-urlencoded" if path == "/login" else MULTIPART
    statuses = client.call("POST", path, [begun], content_type=form)
    assert statuses and 400 <= statuses[0] < 500

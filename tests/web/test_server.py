"""A real server process: addresses, signals, and what a sudden end leaves behind."""

import asyncio
import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from roofline.settings import Settings
from roofline.web.server import GRACE_S, listen

START_S = 30


class Server:
    """`roofline serve` on any free port."""

    def __init__(self, data_dir: Path, **environment: object) -> None:
        self.data_dir = data_dir
        settings = {f"ROOFLINE_{name.upper()}": str(v) for name, v in environment.items()}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "roofline", "serve", "--port", "0", "--data-dir", str(data_dir)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **settings},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line + (self.process.stderr.read() if self.process.stderr else "")
        self.port = int(found[1])
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60)
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            try:
                self.http.get("/healthz")
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError("the server does not answer")

    def children(self) -> set[int]:
        """Every process that descends from the server."""
        found: set[int] = set()
        waiting = [self.process.pid]
        while waiting:
            tasks = Path(f"/proc/{waiting.pop()}/task")
            for path in tasks.glob("*/children"):
                born = {int(pid) for pid in path.read_text().split()} - found
                found |= born
                waiting.extend(born)
        return found

    def peak_memory_bytes(self) -> int:
        """The most memory the server's own process has held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(timeout=30)
        self.http.close()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return status


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    started: list[Server] = []
    yield started
    for server in started:
        if server.process.returncode is None:
            server.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that is neither stopped nor asked about its profiles."""
    server = Server(tmp_path_factory.mktemp("shared") / "data")
    yield server
    server.stop()


def alive(pid: int) -> bool:
    """True if the process exists and is not a zombie."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "roofline", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def test_real_server_takes_an_upload_and_stops_when_told(
    servers: list[Server], tmp_path: Path, capture: bytes
) -> None:
    server = Server(tmp_path / "data")
    servers.append(server)
    answer = server.http.post("/api/v1/profiles", files={"file": ("h.xplane.pb", capture)})
    assert answer.status_code == 201, answer.text
    assert answer.json()["url"].startswith(f"http://127.0.0.1:{server.port}/p/")
    children = server.children()
    assert children
    assert server.stop() in (0, -signal.SIGTERM)
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in children if alive(pid)]


def test_stopping_ends_streams_and_answers_what_waits_and_the_next_start_goes_on(
    servers: list[Server], tmp_path: Path
) -> None:
    """One who waited for an import at a restart read "Internal Server Error", ten seconds later."""
    limits = {"max_expansion_ratio": 2000, "max_unpacked_bytes": 2 << 30}
    server = Server(tmp_path / "data", **limits)
    servers.append(server)
    bomb = gzip.compress(bytes(1 << 20)) * 1500
    slow = server.http.post("/api/v1/profiles?wait=0", files={"file": ("b.gz", bomb)}).json()["id"]
    run = server.http.post("/api/v1/runs", json={"hosts": 2}).json()["id"]
    waited = [f"/api/v1/profiles/{slow}?wait=60", f"/api/v1/runs/{run}?wait=60"]
    with (
        server.http.stream("GET", f"/api/v1/profiles/{slow}/events") as events,
        ThreadPoolExecutor() as pool,
    ):
        answers = [pool.submit(server.http.get, one) for one in waited]
        lines = events.iter_lines()
        assert next(lines) == "event: importing"
        time.sleep(0.5)  # until both wait
        server.process.send_signal(signal.SIGTERM)
        assert [line for line in lines if line.startswith("event: ")][-1:] != ["event: ready"]
        states = [answer.result(GRACE_S / 2).json()["state"] for answer in answers]
        assert states == ["importing", "reading"]
    assert server.stop() in (0, -signal.SIGTERM)
    again = Server(tmp_path / "data", **limits)
    servers.append(again)
    assert again.http.get(f"/api/v1/profiles/{slow}").json()["state"] == "importing"


def test_server_on_another_address_wants_a_mode(tmp_path: Path) -> None:
    refused = run("serve", "--host", "0.0.0.0", "--port", "0", "--data-dir", str(tmp_path / "d"))
    assert refused.returncode == 2
    assert "ROOFLINE_AUTH=token" in refused.stderr
    assert not (tmp_path / "d").exists()


def test_port_in_use_is_one_clear_sentence(shared_server: Server, tmp_path: Path) -> None:
    port = shared_server.port
    second = run("serve", "--port", str(port), "--data-dir", str(tmp_path / "other"))
    assert second.returncode == 2
    assert f"already listens on 127.0.0.1:{port}" in second.stderr
    assert "Traceback" not in second.stderr
    assert not (tmp_path / "other").exists()


def test_data_folder_in_use_is_one_clear_sentence(shared_server: Server) -> None:
    second = run("serve", "--port", "0", "--data-dir", str(shared_server.data_dir))
    assert second.returncode == 2
    assert "Another server uses the data folder" in second.stderr
    assert "Traceback" not in second.stderr


def test_data_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = run("serve", "--port", "0", "--data-dir", str(tmp_path / "file" / "data"))
    assert refused.returncode == 2
    assert "cannot be used" in refused.stderr


def test_bad_setting_is_named(tmp_path: Path) -> None:
    refused = run("serve", ROOFLINE_MAX_FILES="many", ROOFLINE_DATA_DIR=str(tmp_path))
    assert refused.returncode == 2
    assert "ROOFLINE_MAX_FILES" in refused.stderr


def test_killed_server_leaves_no_child_and_goes_on_with_its_imports(
    servers: list[Server], tmp_path: Path, capture: bytes
) -> None:
    limits = {"max_expansion_ratio": 2000, "max_unpacked_bytes": 2 << 30}
    server = Server(tmp_path / "data", **limits)
    servers.append(server)
    kept = server.http.post("/api/v1/profiles", files={"file": ("h.pb", capture)}).json()["id"]
    # Long to unpack: the import is still busy when the server dies.
    bomb = gzip.compress(bytes(1 << 20)) * 1500
    slow = server.http.post("/api/v1/profiles?wait=0", files={"file": ("b.gz", bomb)}).json()["id"]
    assert server.http.get(f"/api/v1/profiles/{slow}").json()["state"] == "importing"
    children = server.children()
    server.stop(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in children if alive(pid)]
    again = Server(tmp_path / "data", **limits)
    servers.append(again)
    assert again.http.get(f"/api/v1/profiles/{kept}/page").status_code == 200
    assert again.http.get(f"/api/v1/profiles/{slow}").json()["state"] == "importing"
    assert again.http.delete(f"/api/v1/profiles/{slow}").status_code == 204


def test_large_upload_stays_out_of_the_server_memory(shared_server: Server) -> None:
    server = shared_server
    idle = server.peak_memory_bytes()
    size = 200 << 20

    def body() -> Iterator[bytes]:
        yield b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        for _ in range(size >> 20):
            yield bytes(1 << 20)
        yield b"\r\n--XX--\r\n"

    headers = {"content-type": "multipart/form-data; boundary=XX"}
    answer = server.http.post("/api/v1/profiles", content=body(), headers=headers)
    assert answer.status_code == 415, answer.text
    assert server.peak_memory_bytes() - idle < 40 << 20


def test_secrets_of_variables_are_out_of_reach_of_what_reads_files_and_of_a_log_in_json(
    servers: list[Server], tmp_path: Path, capture: bytes
) -> None:
    """Children run as the server's user, who may read the variables that it was started with."""
    secrets = {
        "ROOFLINE_TOKEN": "secret-of-people-1",
        "ROOFLINE_ADMIN_TOKEN": "secret-of-admins-2",
        "ROOFLINE_METRICS_TOKEN": "secret-of-numbers-3",
        "AWS_SECRET_ACCESS_KEY": "secret-of-the-store-4",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in secrets.items():
            patch.setenv(name, value)
        server = Server(tmp_path / "data", auth="token", log_format="json")
    servers.append(server)
    headers = {"authorization": "Bearer secret-of-people-1"}
    files = {"file": ("h.xplane.pb", capture)}
    answer = server.http.post("/api/v1/profiles", files=files, headers=headers)
    assert answer.status_code == 201, answer.text
    children = server.children()
    assert children
    for pid in {server.process.pid, *children}:
        shown = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"PATH=" in shown
        for value in secrets.values():
            assert value.encode() not in shown
    assert_log_has_one_line_of_a_log_in(server)


def test_name_of_a_log_in_cannot_begin_a_line_of_the_log(
    servers: list[Server], tmp_path: Path
) -> None:
    server = Server(tmp_path / "data", auth="token", token="0123456789abcdef-user")
    servers.append(server)
    assert_log_has_one_line_of_a_log_in(server)


def assert_log_has_one_line_of_a_log_in(server: Server) -> None:
    """Whose name holds ends of lines, and what else terminals obey; the server is stopped."""
    name = "Ada\n2026-01-01 [info] log-in\x1b[2J\x9b\u202e"
    server.http.post("/login", data={"token": "wrong", "name": name})
    server.http.close()
    server.process.send_signal(signal.SIGTERM)
    _, log = server.process.communicate(timeout=30)
    assert all(line.isprintable() for line in log.splitlines())
    assert sum("Ada" in line for line in log.splitlines()) == 1
    assert not [line for line in log.splitlines() if line.startswith("2026-01-01")]


def test_worker_hides_the_address_of_its_database(tmp_path: Path) -> None:
    program = (
        "import os; from roofline.settings import forget_secrets; forget_secrets();"
        "shown = open('/proc/self/environ').read();"
        "print('of-the-database' in shown, os.environ.get('ROOFLINE_DATABASE_URL'),"
        " os.environ['PGPASSWORD'], 'for-libpq' in shown)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "ROOFLINE_DATABASE_URL": "of-the-database", "PGPASSWORD": "for-libpq"},
        capture_output=True,
        text=True,
    )
    assert found.stdout.split() == ["False", "None", "for-libpq", "False"], found.stderr


def test_connections_send_at_once() -> None:
    """With Nagle's algorithm, the body of an answer waits 40 ms until its head is acknowledged."""

    class Watched(asyncio.Protocol):
        def __init__(self, found: asyncio.Future[int]) -> None:
            self.found = found

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted = transport.get_extra_info("socket")
            self.found.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async def accept() -> int:
        loop = asyncio.get_running_loop()
        found: asyncio.Future[int] = loop.create_future()
        listener = listen(Settings.from_env(port=0))
        async with await loop.create_server(lambda: Watched(found), sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            option = await found
            writer.close()
        return option

    # In a thread: browser tests of the same process leave a loop running.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(accept())).result() != 0

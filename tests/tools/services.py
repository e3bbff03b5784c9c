"""Real servers for tests, each a process of its own on this machine: PostgreSQL, and an S3 API."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg

DEADLINE_S = 30.0
# Sessions of a PostgreSQL that was killed notice it and free its memory.
ORPHANS_END_S = 2.0


def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def postgres_folder() -> Path | None:
    """The folder of PostgreSQL's programs, the newest version first; `None` without one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    on_path = shutil.which("initdb")
    candidates = [*(path.parent for path in found), *([Path(on_path).parent] if on_path else [])]
    return next((path for path in candidates if (path / "postgres").is_file()), None)


class Postgres:
    """A PostgreSQL server with its data in `folder`; `url` is the address of its only database.

    It refuses to run as root, so root starts it as the user that Debian's package made.
    """

    def __init__(self, folder: Path) -> None:
        programs = postgres_folder()
        assert programs is not None
        self._folder = folder
        self._as_user = _other_user(folder)
        port, data = free_port(), folder / "pg"
        self.url = f"postgresql://roofline@127.0.0.1:{port}/postgres"
        subprocess.run(
            [
                *self._as_user,
                programs / "initdb",
                "-D",
                data,
                "-U",
                "roofline",
                "-A",
                "trust",
                "-N",
            ],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        place = ["-D", str(data), "-p", str(port), "-k", str(folder)]
        quick = ["-c", "fsync=off", "-c", "full_page_writes=off"]
        self._command = [*self._as_user, str(programs / "postgres"), *place, *quick]
        self.start()

    def start(self) -> None:
        """Starts it and waits until it answers."""
        with (self._folder / "pg.log").open("ab") as log:
            self._server = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self._folder)
        _wait_until(lambda: _answers(self.url), self._server)

    def crash(self) -> None:
        """Ends it without a word to its files: the next start recovers from its log."""
        self._server.send_signal(signal.SIGQUIT)
        try:
            self._server.wait(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:  # seen once in twenty times on a busy machine
            self._server.kill()
            self._server.wait()
            time.sleep(ORPHANS_END_S)

    def stop(self) -> None:
        """Ends it with every session, as a restart of the machine does."""
        self._server.send_signal(signal.SIGINT)
        self._server.wait(timeout=DEADLINE_S)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A running server, in a folder that its user may enter, which pytest's are not."""
    with tempfile.TemporaryDirectory(prefix="roofline-postgres-") as folder:
        server = Postgres(Path(folder))
        try:
            yield server
        finally:
            server.stop()


def _other_user(folder: Path) -> list[str]:
    if os.getuid() != 0:
        return []
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=1).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def object_store() -> Iterator[str]:
    """An S3 API (moto's) with one bucket; the place as ROOFLINE_BLOBS takes it."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    endpoint = f"http://127.0.0.1:{port}"
    try:
        _wait_until(lambda: _made(f"{endpoint}/profiles"), server)
        yield f"s3://profiles/team?endpoint={endpoint}&region=us-east-1"
    finally:
        server.kill()
        server.wait()


def _made(bucket: str) -> bool:
    try:
        return httpx.put(bucket, timeout=5).is_success
    except httpx.TransportError:
        return False


def _wait_until(ready: Callable[[], bool], server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not ready():
        assert server.poll() is None, "the server ended"
        assert time.monotonic() < deadline, "the server does not answer"
        time.sleep(0.05)

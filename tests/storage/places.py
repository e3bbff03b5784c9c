"""Where the store's tests run: one folder, or PostgreSQL, an S3 API and two worker processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from roofline.library.build import Backend, backend_of
from roofline.library.instance import Instance, Listeners
from roofline.library.reader import Failed, Importing, Ready
from roofline.library.results_version import results_version
from roofline.settings import Settings
from roofline.storage.records import ProfileId
from roofline.storage.tables import sweep_log
from tests.conftest import PYTHON_PATH, ROOT

LEASE_S = 2.0
LIMITS: dict[str, object] = {
    "import_cpu_seconds": 60,
    "import_wall_seconds": 60.0,
    "max_unpacked_bytes": 1 << 30,
    "max_unpacked_files": 100,
}


@dataclass(kw_only=True)
class Place:
    """One way to keep profiles; libraries opened here are closed with the test."""

    root: Path
    options: dict[str, str] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)
    workers: "Workers | None" = None

    @property
    def is_shared(self) -> bool:
        return "database_url" in self.options

    def server(self, name: str = "server", **options: Any) -> Backend:
        """All of an open server but HTTP, on the data folder `name`."""
        known = {**LIMITS, "import_workers": 2, "trash_days": 0, **self.options, **options}
        settings = Settings.from_env(data_dir=self.root / name, **known)
        instance = Instance(settings, results_version(), Listeners())
        instance.open()
        self.stack.callback(instance.close)
        return backend_of(instance, ROOT / "sample_profiles")

    def settings(self, name: str = "server") -> Settings:
        """What commands beside the server are given."""
        return Settings.from_env(data_dir=self.root / name, **self.options)


class Workers:
    """Worker processes on one database."""

    def __init__(self, root: Path, options: dict[str, str]) -> None:
        self._root = root
        self._environment = {
            **os.environ,
            "PYTHONPATH": PYTHON_PATH,
            "ROOFLINE_DATABASE_URL": options["database_url"],
            "ROOFLINE_BLOBS": options["blobs"],
            "ROOFLINE_RUNNER": options["runner"],
        }
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """One more worker, on a data folder of its own."""
        folder = self._root / f"worker-{len(self._processes)}"
        with (self._root / "workers.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tests.storage.worker", folder],
                env=self._environment,
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)

    @property
    def pids(self) -> list[int]:
        """The workers that live."""
        return [process.pid for process in self._processes if process.poll() is None]

    def kill(self, pid: int) -> None:
        """Ends one worker as a power cut would."""
        process = next(process for process in self._processes if process.pid == pid)
        process.kill()
        process.wait()

    def stop(self) -> list[int]:
        """Asks every worker to end; their exit statuses."""
        alive = [process for process in self._processes if process.poll() is None]
        for process in alive:
            process.send_signal(signal.SIGTERM)
        return [process.wait(timeout=30) for process in alive]


def add(server: Backend, *contents: bytes, **options: Any) -> ProfileId:
    """Uploads files named host_0.pb and so on."""
    area = server.library.stage()
    try:
        for number, content in enumerate(contents):
            area.receive_all(f"host_{number}.pb", [content[:2], content[2:]])
        return server.library.add(area, **options)
    finally:
        area.discard()


def settled(server: Backend, profile_id: str, *, within_s: float = 60) -> Ready | Failed:
    """The profile once what is under way for it has ended."""
    deadline = time.monotonic() + within_s
    while (future := server.reader.pending(profile_id)) is not None or isinstance(
        state := server.reader.state(profile_id), Importing
    ):
        newest = server.instance.store.jobs.newest(profile_id)
        assert time.monotonic() < deadline, newest
        if future is not None:
            wait([future], timeout=60)
    return state


def stored(server: Backend, *contents: bytes, **options: object) -> ProfileId:
    """Uploads files and waits until the profile is ready."""
    profile_id = add(server, *contents, **options)
    state = settled(server, profile_id)
    assert isinstance(state, Ready), state
    return profile_id


def logged_sweeps(connection: Connection) -> list[dict[str, Any]]:
    """What was removed or repaired without a person asking, the oldest first."""
    rows = connection.execute(select(sweep_log).order_by(sweep_log.c.number))
    return [dict(row._mapping) for row in rows]


def raw_bytes(server: Backend, profile_id: str) -> list[bytes]:
    """The raw files as they are downloaded."""
    return [b"".join(file.chunks()) for file in server.reader.sources(profile_id)]


def eventually(claim: Callable[[], bool]) -> None:
    """Waits for what another process does right after it ended a job."""
    deadline = time.monotonic() + 30
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.02)

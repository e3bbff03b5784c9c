"""A Dask cluster of real processes on this machine: any of them can be killed and started again."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import PYTHON_PATH

_START_S = 90.0


class Processes:
    """A scheduler and workers that find it by its scheduler file."""

    def __init__(
        self,
        folder: Path,
        options: Sequence[str] = (),
        *,
        preload: str = "",
        reads: Path | None = None,
        allowed_failures: int | None = None,
    ) -> None:
        self._preload = ["--preload", preload] if preload else []
        self._allowed_failures = allowed_failures
        self._more = {"READS": str(reads)} if reads else {}
        if allowed_failures is not None:
            self._more["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = str(allowed_failures)
        self.scheduler_file = folder / "scheduler.json"
        self._folder, self._options = folder, options
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self, host: str = "127.0.0.1") -> None:
        """A scheduler with a new address; workers that still run belong to the old one."""
        self.scheduler_file.unlink(missing_ok=True)
        arguments = ["--host", host, "--port", "0"]
        arguments += ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        self.scheduler = self._start("dask_scheduler", *arguments)
        deadline = time.monotonic() + _START_S
        while not self.scheduler_file.exists():
            assert self.scheduler.poll() is None, "the scheduler ended"
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def start_worker(self) -> None:
        """A worker with one thread. Without `allowed_failures`, nothing starts it again."""
        arguments = ["--no-nanny"] if self._allowed_failures is None else ["--nanny"]
        arguments += ["--no-dashboard", "--nthreads", "1", "--memory-limit", "0"]
        arguments += self._preload
        folder = self._folder / "workers"
        self.workers.append(
            self._start("dask_worker", *arguments, "--local-directory", str(folder))
        )

    def kill_scheduler(self) -> None:
        """As the system does when memory is short; its workers end, too."""
        assert self.scheduler is not None
        _kill(self.scheduler)
        while self.workers:
            _kill(self.workers.pop())

    def kill_worker(self) -> None:
        """The worker that has run longest."""
        _kill(self.workers.pop(0))

    def close(self) -> None:
        """End everything."""
        if self.scheduler is not None:
            self.kill_scheduler()

    def _start(self, program: str, *arguments: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [
                *(sys.executable, "-m", f"distributed.cli.{program}"),
                *("--scheduler-file", str(self.scheduler_file)),
                *self._options,
                *arguments,
            ],
            env={
                **os.environ,
                **self._more,
                "PYTHONPATH": PYTHON_PATH,
                "AWS_SECRET_ACCESS_KEY": "hunter2",
            },
            stderr=(self._folder / f"{program}.log").open("ab"),
        )


def _kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


@contextmanager
def processes(
    folder: Path,
    *,
    workers: int,
    options: Sequence[str] = (),
    preload: str = "",
    reads: Path | None = None,
    allowed_failures: int | None = None,
) -> Iterator[Processes]:
    """A cluster that ends with the block; its workers load `preload` and find the path `reads`.

    With `allowed_failures` workers that end are started again, and a batch may end so many.
    """
    found = Processes(
        folder, options, preload=preload, reads=reads, allowed_failures=allowed_failures
    )
    try:
        found.start_scheduler()
        for _ in range(workers):
            found.start_worker()
        yield found
    finally:
        found.close()

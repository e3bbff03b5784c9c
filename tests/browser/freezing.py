"""Servers and imports that stand still for as long as a test looks at them."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any, Protocol


class Running(Protocol):
    """A server in a process of its own."""

    @property
    def process(self) -> Popen[Any]:
        """The process that answers requests."""


@contextmanager
def frozen_imports(server: Running) -> Iterator[None]:
    """While inside, imports are accepted and wait: the process that forks their children sleeps."""
    forkers = [pid for pid in _children(server.process.pid) if "forkserver" in _command(pid)]
    assert forkers, "the server has no fork server"
    with _stopped(forkers):
        yield


@contextmanager
def frozen(server: Running) -> Iterator[None]:
    """While inside, the server answers nothing; what is sent waits in its socket."""
    with _stopped([server.process.pid]):
        yield


@contextmanager
def _stopped(pids: Sequence[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")

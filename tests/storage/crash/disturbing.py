"""What is killed or filled beside the server: fork servers, children, disks, workers, databases."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.storage.places import Workers
from tests.tools.services import Postgres

DISK_BYTES = 16 << 20
MOST_KILLS = 3
BETWEEN_S = 0.1


def nothing(_server: int, _chance: random.Random) -> None:
    """Only the server itself is killed."""


def kill_fork_servers(server: int, chance: random.Random) -> None:
    """Each is replaced by the server, and killed again."""
    for _ in range(chance.randint(1, MOST_KILLS)):
        _kill(_fork_servers(server), chance)
        time.sleep(chance.uniform(0, BETWEEN_S))


def kill_children(server: int, chance: random.Random) -> None:
    """Imports that run, one at a time."""
    for _ in range(chance.randint(1, MOST_KILLS)):
        _kill([child for one in _fork_servers(server) for child in _children(one)], chance)
        time.sleep(chance.uniform(0, BETWEEN_S))


class FullDisk:
    """A small disk at `root` that another program fills."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._ballast = root / "of another program"

    def fill(self, _server: int, chance: random.Random) -> None:
        """Takes all that is free, for a while, and gives some of it back."""
        with self._ballast.open("wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while file.write(bytes(4096)):
                    pass
            time.sleep(chance.uniform(0, BETWEEN_S * 2))
            file.truncate(chance.choice([0, file.tell() // 2, file.tell()]))
        time.sleep(chance.uniform(0, BETWEEN_S))

    def empty(self) -> None:
        """Gives all of it back."""
        self._ballast.unlink(missing_ok=True)


@contextlib.contextmanager
def small_disk(root: Path) -> Iterator[FullDisk | None]:
    """A disk of its own; `None` where this user may not mount one."""
    root.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(root)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        yield None
        return
    try:
        yield FullDisk(root)
    finally:
        subprocess.run(["umount", "--lazy", str(root)], check=True)


class Team:
    """Workers and the database of a server."""

    def __init__(self, database: Postgres, workers: Workers) -> None:
        self._database = database
        self._workers = workers

    def kill_worker(self, _server: int, chance: random.Random) -> None:
        """A worker dies, and another one comes."""
        self._workers.kill(chance.choice(self._workers.pids))
        self._workers.start()
        time.sleep(chance.uniform(0, BETWEEN_S))

    def crash_database(self, _server: int, chance: random.Random) -> None:
        """The database ends without a word, and recovers."""
        self._database.crash()
        time.sleep(chance.uniform(0, BETWEEN_S))
        self._database.start()
        time.sleep(chance.uniform(0, BETWEEN_S * 5))


def _kill(pids: list[int], chance: random.Random) -> None:
    if pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(pids), signal.SIGKILL)


def _fork_servers(server: int) -> list[int]:
    return [pid for pid in _children(server) if b"forkserver" in _command(pid)]


def _children(parent: int) -> list[int]:
    """The processes that `parent` started, zombies too."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # pid (name) state parent …: a name may hold spaces.
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(path.parent.name))
    return found


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""

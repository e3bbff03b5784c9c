"""kill -9 at a random moment, again and again: nothing that was promised is lost.

A process uploads, imports and deletes on three threads and says on a pipe what it was promised:
`+ID DIGEST` once an upload returned, `-ID` before a deletion begins. It is killed; the next one
opens the folder as it lies there, checks the promises, and goes on. `make crash CYCLES=500` runs
many cycles, the tests a few.
"""

import hashlib
import os
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from roofline.cli.admin import run_doctor
from roofline.library.build import Backend
from roofline.library.states import Failed
from roofline.settings import Settings
from roofline.storage.statements import profile_ids
from tests.storage.places import Place, add, raw_bytes, settled

THREADS = 3
# A job that was cut off more often than `MAX_ATTEMPTS` is given up, as it should be.
CHECK_EVERY = 2
# From the first upload on; starting takes longer than all of a crash's other moments together.
LONGEST_S = 0.4


class Promises:
    """What the killed processes said: the digest of each profile that must be there."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.count = 0

    def hear(self, line: str) -> None:
        """One line of a process; the last may be cut."""
        if line.startswith("+") and line.endswith("\n"):
            profile_id, digest = line[1:].split()
            self.kept[profile_id] = digest
            self.count += 1
        elif line.startswith("-"):
            self.kept.pop(line[1:].strip(), None)


def work(folder: Path, seed: int) -> None:
    """Uploads and deletes until killed."""
    with _opened(folder) as server:
        started = [
            threading.Thread(target=_come_and_go, args=(server, seed * THREADS + number))
            for number in range(THREADS)
        ]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()


def _come_and_go(server: Backend, seed: int) -> None:
    chance = random.Random(seed)
    own: list[str] = []
    while True:
        # Few contents, so that uploads and deletions meet on the same bytes.
        content = b"stub %d " % chance.randrange(8) + bytes(chance.choice([10, 5000]))
        profile_id = add(server, content)
        own.append(profile_id)
        _say(f"+{profile_id} {hashlib.sha256(content).hexdigest()}\n")
        if chance.random() < 0.5:
            settled(server, profile_id)
        if chance.random() < 0.5:
            gone = own.pop(chance.randrange(len(own)))
            _say(f"-{gone}\n")
            server.library.remove(gone)


def _say(line: str) -> None:
    os.write(1, line.encode())  # one write: lines of several threads stay whole


@contextmanager
def _opened(folder: Path) -> Iterator[Backend]:
    with ExitStack() as stack:
        yield Place(root=folder.parent, stack=stack).server(folder.name)


def crash(folder: Path, seed: int, promises: Promises) -> None:
    """One process from its start to its end by SIGKILL."""
    reader, writer = os.pipe()
    pid = _fork(lambda: work(folder, seed), stdout=writer)
    os.close(writer)
    with os.fdopen(reader) as said:
        promises.hear(said.readline())  # it works: from now on any moment is right
        time.sleep(random.Random(seed).uniform(0, LONGEST_S))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        for line in said:
            promises.hear(line)


def examine(folder: Path, promises: Promises) -> None:
    """In a process of its own: opens the folder as it lies there, checks it, and empties it."""
    _, status = os.waitpid(_fork(lambda: _examine(folder, promises)), 0)
    assert status == 0, f"what was promised does not hold; the folder is {folder}"
    promises.kept.clear()


def _fork(run: Callable[[], None], *, stdout: int | None = None) -> int:
    """Runs a function in a copy of this process, which has loaded all and started nothing."""
    pid = os.fork()
    if pid == 0:
        try:
            if stdout is not None:
                os.dup2(stdout, 1)
            run()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - whatever it is, the copy must end here
            traceback.print_exc()
            os._exit(1)
    return pid


def _examine(folder: Path, promises: Promises) -> None:
    with _opened(folder) as server:
        for profile_id, digest in promises.kept.items():
            state = settled(server, profile_id)
            assert not isinstance(state, Failed), state
            (content,) = raw_bytes(server, profile_id)
            assert hashlib.sha256(content).hexdigest() == digest
        # Not said, or being deleted, when the process was killed: whole, or not there.
        for profile_id in _all_ids(server) - set(promises.kept):
            assert not isinstance(settled(server, profile_id), Failed)
            raw_bytes(server, profile_id)
    assert run_doctor(Settings.from_env(data_dir=folder), quick=False, check_only=False) == 0
    with _opened(folder) as server:
        for profile_id in _all_ids(server):
            server.library.remove(profile_id)
    left = [path for name in ("blobs", "derived") for path in (folder / name).rglob("*.*")]
    assert left == []


def _all_ids(server: Backend) -> frozenset[str]:
    with server.instance.store.database.read() as connection:
        return profile_ids(connection)


def run_cycles(folder: Path, cycles: int, first_seed: int) -> int:
    """Crashes `cycles` times; how many uploads were promised in all."""
    promises, count = Promises(), 0
    for cycle in range(1, cycles + 1):
        crash(folder, first_seed + cycle, promises)
        if cycle % CHECK_EVERY == 0 or cycle == cycles:
            count += promises.count
            examine(folder, promises)
            promises = Promises()
    return count

"""Kills at random moments, again and again: nothing that was promised is lost, its bytes included.

A process uploads, imports and deletes on three threads and says on a pipe what it was promised:
`+ID DIGEST` once an upload returned, `-ID` before a deletion begins. Something is killed while it
works: the process itself, its fork server, a child, a worker, the database; or its disk fills. Then
the process is killed in any case; the next one opens the folder as it lies there, and goes on. Now
and then the promises are checked: every profile that was promised becomes ready, with at most one
click on *Try again*, and gives back its bytes, its page, and what is downloaded from it. `make
crash CYCLES=500` runs many cycles, the tests a few.
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
from dataclasses import dataclass, field
from pathlib import Path

from roofline.errors import (
    ImportStoppedError,
    NotReadyError,
    StorageFullError,
    StoreUnavailableError,
)
from roofline.library import reader
from roofline.library.build import Backend
from roofline.library.reader import Failed
from roofline.settings import Settings
from roofline.storage.results import CSV, PAGE, ResultFile
from roofline.storage.statements import profile_ids
from roofline.storage.sweeping import sweep_orphans
from roofline.web.upkeep import run_doctor
from tests.storage.places import Place, add, raw_bytes, settled

THREADS = 3
CHECK_EVERY = 2
# From the first upload on; starting takes longer than all of a crash's other moments together.
LONGEST_S = 0.4
# Workers find their way back to a database that crashed.
PATIENCE_S = 180.0
# Looks at a result that is being computed, or that was killed in all its attempts.
TRIES = 4
# A disk that filled is looked at again after this time.
PAUSE_S = 0.01


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


@dataclass(kw_only=True)
class Ground:
    """One instance that is crashed: its data folder, how it is set up, and what it promised."""

    folder: Path
    options: dict[str, str] = field(default_factory=dict)
    promises: Promises = field(default_factory=Promises)
    crashes: int = 0

    @contextmanager
    def opened(self) -> Iterator[Backend]:
        with ExitStack() as stack:
            place = Place(root=self.folder.parent, stack=stack, options=self.options)
            yield place.server(self.folder.name)

    @property
    def settings(self) -> Settings:
        return Settings.from_env(data_dir=self.folder, **self.options)


Disturb = Callable[[int, random.Random], None]
"""What happens while the process of this id works, before it is killed itself."""


def work(ground: Ground, seed: int) -> None:
    """Uploads and deletes until killed."""
    with ground.opened() as server:
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
        try:
            _upload(server, chance, own)
        except (StorageFullError, StoreUnavailableError):
            time.sleep(PAUSE_S)  # refused: nothing was promised


def _upload(server: Backend, chance: random.Random, own: list[str]) -> None:
    # Few contents, so that uploads and deletions meet on the same bytes.
    word = chance.choice([b"stub", b"nap 0.05", b"late 0.05"])
    content = word + b" %d " % chance.randrange(8) + bytes(chance.choice([10, 5000]))
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


def crash(ground: Ground, seed: int, disturb: Disturb) -> None:
    """One process from its start to its end by SIGKILL."""
    chance = random.Random(seed)
    reader, writer = os.pipe()
    pid = _fork(lambda: work(ground, seed), stdout=writer)
    os.close(writer)
    with os.fdopen(reader) as said:
        ground.promises.hear(said.readline())  # it works: from now on any moment is right
        try:
            time.sleep(chance.uniform(0, LONGEST_S))
            disturb(pid, chance)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for line in said:
            ground.promises.hear(line)
    ground.crashes += 1


def examine(ground: Ground) -> int:
    """In a process of its own: opens the folder as it lies there, checks it, and empties it.

    How many uploads had been promised since the last time.
    """
    _, status = os.waitpid(_fork(lambda: _examine(ground)), 0)
    assert status == 0, f"what was promised does not hold; the folder is {ground.folder}"
    count, ground.promises = ground.promises.count, Promises()
    return count


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


def _examine(ground: Ground) -> None:
    kept = ground.promises.kept
    with ground.opened() as server:
        for profile_id, digest in kept.items():
            content = _bytes_when_ready(server, profile_id)
            assert hashlib.sha256(content).hexdigest() == digest
        # Not said, or being deleted, when the process was killed: whole, or not there.
        for profile_id in _all_ids(server) - set(kept):
            _bytes_when_ready(server, profile_id)
    assert run_doctor(ground.settings, quick=False, check_only=False) == 0
    with ground.opened() as server:
        for profile_id in _all_ids(server):
            server.library.remove(profile_id)
        store = server.instance.store
        if store.is_shared:  # what an upload left that was cut off stays for a day
            sweep_orphans(store, grace_s=-5)
        assert list(store.raw.list()) == []
    left = [path for name in ("blobs", "derived") for path in (ground.folder / name).rglob("*.*")]
    assert left == []


def _bytes_when_ready(server: Backend, profile_id: str) -> bytes:
    """The one file of a profile once it is ready; an import that was given up is tried again."""
    state = settled(server, profile_id, within_s=PATIENCE_S)
    if isinstance(state, Failed):
        assert state.can_retry, state
        server.library.retry(profile_id)
        state = settled(server, profile_id, within_s=PATIENCE_S)
    assert not isinstance(state, Failed), state
    _check_results(server, profile_id)
    (content,) = raw_bytes(server, profile_id)
    return content


def _check_results(server: Backend, profile_id: str) -> None:
    """Page and exports are there, or are once they were computed again."""
    for name in (PAGE, *CSV.values()):
        assert _result(server, profile_id, name).plain().startswith(b"{")


def _result(server: Backend, profile_id: str, name: str) -> ResultFile:
    for _ in range(TRIES):
        try:
            return server.reader.result(profile_id, name)
        except NotReadyError:
            settled(server, profile_id, within_s=PATIENCE_S)
        except ImportStoppedError:  # each of its attempts was killed: a later look begins anew
            time.sleep(reader.RETRY_AFTER_S)
    return server.reader.result(profile_id, name)


def _all_ids(server: Backend) -> frozenset[str]:
    with server.instance.store.database.read() as connection:
        return profile_ids(connection)

"""One turn of reading a run: list its hosts, read those that wait, say what is known.

It is said after 16 hosts, 32, 64 and so on, and when none waits; the first 16 are spread over the
list, so that the first chart stands for the run.
"""

import json
import logging
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roofline.children.messages import Body
from roofline.errors import (
    CorruptProfileError,
    NotAllowedError,
    RooflineError,
    StoreUnavailableError,
    UploadRejectedError,
)
from roofline.imports.run_process import RunProcess
from roofline.model.outer_limits import MAX_FAILURES_OF_A_RUN
from roofline.storage.disk_room import DiskRoom
from roofline.storage.profiles import ProfileStore
from roofline.storage.run_records import (
    NOT_A_HOST,
    READ,
    UNREADABLE,
    FoundHost,
    HostState,
    Run,
    RunHost,
)
from roofline.storage.runs import RunStore, stored_file

FIRST_HOSTS = 16
BATCH = 64
QUIET_S = 600.0
"""After so long without a new host a run that may get more is complete."""
SETTLED_S = 60.0
"""A listing whose newest file is so old is not being written any more."""
LIST_EVERY_S = 10.0
BEAT_EVERY_S = 5.0
FOLDER = "runs"
ID_CHARACTERS_LOGGED = 6
_log = logging.getLogger("roofline.runs")


def needs_turn(run: Run, now: float) -> bool:
    """True if there is something to read, to say, to list or to end."""
    done = run.read + run.unreadable
    if done < run.total or run.said_of != done:
        return True
    if run.address is not None:
        return run.listed_at is None or now - run.listed_at >= LIST_EVERY_S
    return _has_all(run) or now - run.changed_at >= QUIET_S


def _has_all(run: Run) -> bool:
    return run.expected_hosts is not None and run.total >= run.expected_hosts


@contextmanager
def held_lease(runs: RunStore, run_id: str, owner: str, lost: Callable[[], None]) -> Iterator[None]:
    """Renews the lease of a run meanwhile; `lost` is called when it is no longer `owner`'s."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_EVERY_S):
            try:
                is_ours = runs.beat(run_id, owner)
            except RooflineError as error:
                _log.warning("the lease of a run is not renewed: %s", error.message)
                continue
            if not is_ours:
                lost()
                return

    thread = threading.Thread(target=beat, name="run lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class RunTurn:
    """A turn of `owner` for one run, with a `process` that reads."""

    def __init__(
        self, store: ProfileStore, run_id: str, owner: str, process: RunProcess, room: DiskRoom
    ) -> None:
        self._store, self._runs = store, store.runs
        self._id, self._owner = run_id, owner
        self._process, self._room = process, room
        # The next start removes files that a crash leaves there.
        self._incoming = store.root / "incoming"

    def go(self) -> bool:
        """Does all that there is to do now; false for a failure, which is noted in the run."""
        try:
            self._go()
            return True
        except CorruptProfileError:  # a partial is missing: it is a cache, and made again
            self._runs.read_again(self._id)
        except (UploadRejectedError, NotAllowedError) as error:
            self._runs.fail_once(self._id, f"{error.message} {error.remedy}", most=1)
        except RooflineError as error:
            shown = self._id[:ID_CHARACTERS_LOGGED]
            _log.warning("reading run %s…: %s", shown, error.message)
            self._runs.fail_once(
                self._id, f"{error.message} {error.remedy}", most=MAX_FAILURES_OF_A_RUN
            )
        return False

    def _go(self) -> None:
        run = self._present()
        if run.address is not None:
            self._list(run)
        while hosts := self._runs.waiting(self._id, self._batch()):
            mark = next_mark(self._done())
            self._read(hosts)
            if self._done() >= mark:
                self._say()
        if self._present().said_of != self._done():
            self._say()
        self._end()

    def _present(self) -> Run:
        found = self._runs.get(self._id)
        if found is None:
            raise StoreUnavailableError("The run was deleted.", remedy="Import it again.")
        return found

    def _done(self) -> int:
        run = self._present()
        return run.read + run.unreadable

    def _batch(self) -> int:
        """How many hosts are read before something may be said."""
        done = self._done()
        return min(BATCH, next_mark(done) - done)

    # ---------------------------------------------------------------------------------------- list

    def _list(self, run: Run) -> float:
        """Adds hosts that are new; the time of the newest file."""
        assert run.address is not None
        answer = self._process.listing(run.address, run.join_s)
        files: list[dict[str, Any]] = answer["files"]
        found = [
            FoundHost(
                identity=one["identity"],
                turn=turn,
                name=one["name"],
                address=one["address"],
                version=one["version"],
                size_bytes=one["size_bytes"],
            )
            for one, turn in zip(files, spread_turns(len(files)), strict=True)
        ]
        self._runs.add_found(self._id, found, answer["note"])
        return max((float(one["modified_at"]) for one in files), default=0.0)

    # ---------------------------------------------------------------------------------------- read

    def _read(self, hosts: Sequence[RunHost]) -> None:
        with tempfile.TemporaryDirectory(dir=self._incoming) as scratch:
            files = [self._file(host, Path(scratch)) for host in hosts]
            by_address = {
                str(file["address"]): host for file, host in zip(files, hosts, strict=True)
            }
            for receipt in self._process.read(files):
                self._note(by_address[receipt["address"]], receipt)

    def _file(self, host: RunHost, scratch: Path) -> dict[str, object]:
        """A file for an engine; one that was pushed is put onto this disk first."""
        address = host.address
        if host.is_kept:
            self._room.check()
            folder = scratch / host.identity
            folder.mkdir()
            path = folder / _file_name(host.name)
            self._store.raw.fetch(stored_file(host), path, tick=lambda _bytes: None)
            address = str(path)
        return {
            "address": address,
            "name": host.name,
            "size_bytes": host.size_bytes,
            "is_named": host.is_kept,
            "version": "" if host.is_kept else host.version,
            "digest": host.sha256 or "",
        }

    def _note(self, host: RunHost, receipt: Body) -> None:
        state: HostState = READ if receipt["partials"] else NOT_A_HOST
        if not receipt["partials"] and receipt["unreadable"]:
            state = UNREADABLE
        self._runs.note_read(
            self._id,
            host.identity,
            state,
            digest=receipt["digest"],
            receipt=json.dumps(receipt),
        )

    # ----------------------------------------------------------------------------------------- say

    def _say(self) -> None:
        done, receipts = self._done(), self._runs.receipts(self._id)
        key = f"{FOLDER}/{self._id}/{secrets.token_hex(8)}.json"
        with tempfile.TemporaryDirectory(prefix="roofline-") as folder:
            target = Path(folder) / "document"
            self._process.write_document(receipts, target)
            self._store.blobs.put(key, target)
        before = self._present().document
        self._runs.say(self._id, self._owner, key, done)
        for info in list(self._store.blobs.list(f"{FOLDER}/{self._id}")):
            if info.key not in (key, before):  # a reader may be in the middle of the last one
                self._store.blobs.delete(info.key)

    # ----------------------------------------------------------------------------------------- end

    def _end(self) -> None:
        run, now = self._present(), time.time()
        if run.address is not None and run.expected_hosts is None:
            newest = self._list(run)  # what came while the others were read
            is_over = now - newest >= SETTLED_S
        else:
            is_over = _has_all(run) or now - run.changed_at >= QUIET_S
        if is_over:
            self._runs.complete(self._id, run.said_of)


def _file_name(name: str) -> str:
    """A stranger's name of a file, if a file may be called so: hosts may be named after it."""
    is_plain = name not in ("", ".", "..") and "/" not in name and "\0" not in name
    return name if is_plain and len(name.encode("utf-8", "replace")) <= 255 else "file"


def next_mark(done: int) -> int:
    """The next of 16, 32, 64 … after `done` hosts."""
    mark = FIRST_HOSTS
    while mark <= done:
        mark *= 2
    return mark


def spread_turns(count: int) -> list[int]:
    """The order of reading, for each place of a list: 16 that are spread over it come first."""
    first = [k * count // FIRST_HOSTS for k in range(FIRST_HOSTS)] if count > FIRST_HOSTS else []
    chosen = set(first)
    order = [*first, *(k for k in range(count) if k not in chosen)]
    turns = [0] * count
    for turn, place in enumerate(order):
        turns[place] = turn
    return turns

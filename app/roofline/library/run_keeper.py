"""RunKeeper: reads the hosts of runs on a thread of a server, and says what is known so far.

A run is read in turns, so that none waits for the hosts of another. All that a turn finds is in
rows and kept partials at once: a turn that was cut off goes on where it was.

One turn of reading a run: list its hosts, read those that wait, say what is known.

It is said after 16 hosts, 32, 64 and so on, and when none waits; the first 16 are spread over the
list, so that the first chart stands for the run.
"""

import json
import logging
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from roofline.children.messages import Body
from roofline.errors import (
    CorruptProfileError,
    NotAllowedError,
    RooflineError,
    StoreUnavailableError,
    UploadRejectedError,
)
from roofline.fleet.engine import EngineChoice
from roofline.imports.run_process import RunProcess
from roofline.library.upkeep import OnThread
from roofline.model.outer_limits import MAX_FAILURES_OF_A_RUN, ImportLimits, pause_s
from roofline.storage.disk_room import DiskRoom
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import timestamp
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
from roofline.storage.sweeping import PARTIAL_GRACE_S, sweep_partials

LOOK_EVERY_S = 1.0
SWEEP_EVERY_S = 600.0
PRUNE_EVERY_S = 24 * 3600.0
IDLE_S = 30.0
_log = logging.getLogger("roofline.runs")


class _Pause(NamedTuple):
    """After so many failures in a row a run waits until then (Unix seconds)."""

    until: float
    failures: int


_NO_PAUSE = _Pause(0.0, 0)


def next_turns(runs: Sequence[Run], turn_at: Mapping[str, float]) -> list[Run]:
    """The run of each person whose last turn is the longest ago: many of one hold up no other's."""
    found: dict[str | None, Run] = {}
    for run in sorted(runs, key=lambda run: turn_at.get(run.id, 0.0)):
        found.setdefault(run.uploader, run)
    return list(found.values())


class RunKeeper(OnThread):
    """Reads the runs of `store` with `engine`; `reads` are the places that may be read.

    `workers` hosts are read at the same time, where this machine reads them.
    """

    def __init__(
        self,
        store: ProfileStore,
        limits: ImportLimits,
        *,
        place: str,
        workers: int,
        room: DiskRoom,
        reads: Sequence[str],
        engine: EngineChoice,
    ) -> None:
        super().__init__()
        self._reads, self._engine = reads, engine
        self._store = store
        self._runs = store.runs
        self._limits, self._place, self._workers, self._room = limits, place, workers, room
        self._owner = secrets.token_hex(8)
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._reading: tuple[str, RunProcess] | None = None
        self._pauses: dict[str, _Pause] = {}
        self._turn_at: dict[str, float] = {}
        # It loads what reads files once for many turns; only the thread uses it.
        self._process: RunProcess | None = None
        self._pruned_at: float | None = None

    def start(self) -> None:
        """Begins to read on a thread of its own. Where this process is alone, at once."""
        if not self._store.is_shared:
            self._runs.take_back()
        self._begin_thread("runs", self._work)

    def stop(self) -> None:
        """Ends the thread; runs are read on with the next start."""
        self._closing.set()
        self._wake.set()
        self.stop_reading(None)
        super().stop()

    def look(self) -> None:
        """Has runs looked at now: there may be something to do."""
        self._wake.set()

    def stop_reading(self, run_id: str | None) -> None:
        """Kills the process that reads a run here, or any run."""
        with self._lock:
            if self._reading is not None and run_id in (None, self._reading[0]):
                self._reading[1].kill()

    def new_process(self) -> RunProcess:
        """A process that answers questions about runs; the caller closes it."""
        return RunProcess(
            self._place, self._limits, self._workers, reads=self._reads, engine=self._engine
        )

    def remove(self, run_id: str) -> None:
        """Deletes a run for good, with the bytes that nothing else needs."""
        digests = self._runs.remove(run_id)
        for info in list(self._store.blobs.list(f"{FOLDER}/{run_id}")):
            self._store.blobs.delete(info.key)
        self._store.drop_unreferenced(digests or ())

    def _sweep(self) -> bool:
        """Removes runs that were in the trash for their time; true if there was one."""
        due = self._runs.trashed(timestamp(-self._store.trash_kept))
        for run_id in due:
            self.remove(run_id)
        return bool(due)

    def _prune(self) -> bool:
        """Removes partials that no run needs, once a day; true if there were some."""
        now = time.monotonic()
        if self._pruned_at is not None and now - self._pruned_at < PRUNE_EVERY_S:
            return False
        self._pruned_at = now
        count = sweep_partials(self._store)
        if count:
            names = self._drop_names()
            _log.info(
                "runs: %d kept partials without a run were removed, and names of %d programs",
                count,
                names,
            )
        return bool(count)

    def _drop_names(self) -> int:
        """Removes names that no kept partial needs. A process that reads runs has them in memory
        and would not write them again: it ends first."""
        self._end_process()
        with closing(self.new_process()) as process:
            return process.drop_unneeded_names(PARTIAL_GRACE_S)

    # ------------------------------------------------------------------------------------- turns

    def _work(self) -> None:
        swept_at = worked_at = time.monotonic()
        while not self._closing.is_set():
            self._wake.clear()
            if time.monotonic() - swept_at > SWEEP_EVERY_S:
                swept_at = time.monotonic()
                self._guarded(self._sweep)
                self._guarded(self._prune)
            if self._guarded(self._turns):
                worked_at = time.monotonic()
                continue
            if time.monotonic() - worked_at > IDLE_S:
                self._end_process()
            self._wake.wait(LOOK_EVERY_S)
        self._end_process()

    def _turns(self) -> bool:
        """A turn for one run of each person; false if none had one, as all are others' now."""
        now = time.time()
        open_runs = self._runs.open_runs()
        found = [
            run
            for run in open_runs
            if needs_turn(run, now) and self._pauses.get(run.id, _NO_PAUSE).until <= now
        ]
        self._turn_at = {run.id: self._turn_at.get(run.id, 0.0) for run in open_runs}
        has_worked = False
        for run in next_turns(found, self._turn_at):
            self._turn_at[run.id] = time.monotonic()
            if self._closing.is_set() or not self._runs.claim(run.id, self._owner):
                continue
            has_worked = True
            try:
                self._turn(run.id)
            finally:
                self._runs.release(run.id, self._owner)
        return has_worked

    def _turn(self, run_id: str) -> None:
        process = self._process = self._process or self.new_process()
        with self._lock:
            self._reading = (run_id, process)
        is_clean = False
        try:
            with held_lease(self._runs, run_id, self._owner, process.kill):
                turn = RunTurn(self._store, run_id, self._owner, process, self._room)
                is_clean = turn.go()
            self._pause(run_id, is_clean=is_clean)
        finally:
            with self._lock:
                self._reading = None
            if not is_clean:  # it may have ended, or still answer an earlier request
                self._end_process()

    def _pause(self, run_id: str, *, is_clean: bool) -> None:
        """After a failure the next turn waits, longer each time."""
        last = self._pauses.pop(run_id, _NO_PAUSE)
        if not is_clean:
            until = time.time() + pause_s(last.failures + 1)
            self._pauses[run_id] = _Pause(until, last.failures + 1)

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _guarded(self, work: Callable[[], bool]) -> bool:
        try:
            return work()
        except RooflineError as error:
            _log.warning("runs: %s", error.message)
        except Exception:  # noqa: BLE001 - the thread must go on, as that of `upkeep`
            _log.exception("reading a run failed by a fault of the server")
        return False


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
    """Renews the lease of a run meanwhile, and calls `lost` when it is no longer `owner`'s."""
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

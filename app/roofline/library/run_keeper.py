"""RunKeeper: reads the hosts of runs on a thread of a server, and says what is known so far.

A run is read in turns, so that none waits for the hosts of another. All that a turn finds is in
rows and kept partials at once: a turn that was cut off goes on where it was.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from roofline.errors import RooflineError
from roofline.fleet.engine import EngineChoice
from roofline.imports.run_process import RunProcess
from roofline.library.run_turn import FOLDER, RunTurn, held_lease, needs_turn
from roofline.model.outer_limits import ImportLimits, pause_s
from roofline.storage.disk_room import DiskRoom
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import timestamp
from roofline.storage.run_records import Run
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


class RunKeeper:
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
        self._reads, self._engine = reads, engine
        self._store = store
        self._runs = store.runs
        self._limits, self._place, self._workers, self._room = limits, place, workers, room
        self._owner = secrets.token_hex(8)
        self._closing, self._wake = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._reading: tuple[str, RunProcess] | None = None
        self._pauses: dict[str, _Pause] = {}
        self._turn_at: dict[str, float] = {}
        # It loads what reads files once for many turns; only the thread uses it.
        self._process: RunProcess | None = None
        self._thread: threading.Thread | None = None
        self._pruned_at: float | None = None

    def start(self) -> None:
        """Begins to read on a thread of its own. Where this process is alone, at once."""
        self._closing.clear()
        if not self._store.is_shared:
            self._runs.take_back()
        self._thread = threading.Thread(target=self._work, name="runs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; runs are read on with the next start."""
        self._closing.set()
        self._wake.set()
        self.stop_reading(None)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

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

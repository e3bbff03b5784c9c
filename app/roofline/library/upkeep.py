"""What a server does by itself: lost jobs run again, expired profiles go, files are checked."""

import ctypes
import logging
import threading
import time
from collections.abc import Callable
from functools import partial

from roofline.errors import RooflineError, SettingsError
from roofline.model.units import MIB
from roofline.storage.profiles import ProfileStore
from roofline.storage.scrub import Scrub
from roofline.storage.sweeping import (
    GRACE_S,
    sweep_expired,
    sweep_orphans,
    sweep_over_quota,
    sweep_trash,
)

# Jobs whose worker died are looked for this often, expired profiles each `SWEEP_EVERY` times.
REDELIVER_EVERY_S = 10.0
SWEEP_EVERY = 60
# A start is busy enough: the first sweep waits for a minute.
FIRST_SWEEP = 6
# A queue that lost a job id gets it again after this time.
LOST_AFTER_S = 60.0
_log = logging.getLogger("roofline.upkeep")
# A start is busy enough; and tests of servers end before.
FIRST_AFTER_S = 60.0
# Between two looks for what is due, and between two files.
IDLE_S = 60.0
PAUSE_S = 0.05
# The rate that no viewer notices on a disk: 12 TB a week.
BYTES_PER_S = 20 * MIB


class OnThread:
    """Work on a thread of its own, which ends where `_closing` is set."""

    def __init__(self) -> None:
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def _begin_thread(self, name: str, work: Callable[[], None]) -> None:
        self._closing.clear()
        self._thread = threading.Thread(target=work, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, in the middle of its work if need be; does nothing without one."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


class Upkeep(OnThread):
    """Looks after `store` on a thread of its own; `deliver` has a job run.

    `quota_bytes` is what raw files may take, `None` for any amount. Files without a profile stay
    while `keeps_orphans` is set: a manifest that cannot be read may need them.
    """

    def __init__(
        self, store: ProfileStore, deliver: Callable[[str], None], quota_bytes: int | None
    ) -> None:
        super().__init__()
        self._store = store
        self._deliver = deliver
        self._quota_bytes = quota_bytes
        self.keeps_orphans = False
        self._started_at = 0.0
        self._must_deliver = True

    def start(self) -> None:
        """Delivers every job that is due on a thread of its own, then looks now and then."""
        self._started_at = time.time()
        self._must_deliver = True
        self._begin_thread("upkeep", self._run)

    def sweep(self) -> None:
        """Moves what has expired or is too much to the trash, and purges what was there."""
        self._store.ended_sessions.sweep()
        expired = sweep_expired(self._store)
        quota_bytes = self._quota_bytes
        over = 0 if quota_bytes is None else sweep_over_quota(self._store, quota_bytes)
        purged = sweep_trash(self._store)
        orphans = self.sweep_orphans(grace_s=GRACE_S) if self._store.is_shared else 0
        if expired or over or purged or orphans:
            _log.info(
                "sweep: %d expired, %d over quota, %d purged from the trash, %d orphans",
                *(expired, over, purged, orphans),
            )

    def sweep_orphans(self, *, grace_s: float) -> int:
        """Removes raw files and results without a profile that are older than `grace_s`."""
        if self.keeps_orphans:
            return 0
        try:
            return sweep_orphans(self._store, grace_s=grace_s)
        except SettingsError as error:
            _log.error("%s %s", error.message, error.remedy)
            return 0

    def deliver_soon(self) -> None:
        """Has every job that is due delivered in the next turn: the queue could not be reached."""
        self._must_deliver = True

    def redeliver(self) -> None:
        """Has every job run that is due, or only those that the queue seems to have lost."""
        lost_after_s = 0.0 if self._must_deliver else LOST_AFTER_S
        version = self._store.results.version
        due = self._store.jobs.due(version, older_than_s=lost_after_s)
        self._must_deliver = False
        for job_id in due:
            self._deliver(job_id)

    def _run(self) -> None:
        self._guarded(self._begin)
        turn = 0
        while not self._closing.wait(REDELIVER_EVERY_S):
            turn += 1
            self._guarded(partial(self._turn, turn))

    def _begin(self) -> None:
        """The part of a start that runs while the first answers are given already."""
        self.redeliver()
        if not self._store.is_shared:
            # Files older than this process belong to no upload that is under way.
            self.sweep_orphans(grace_s=time.time() - self._started_at)

    def _turn(self, turn: int) -> None:
        self.redeliver()
        self._store.ended_sessions.refresh()
        self._store.api_tokens.refresh()
        self._store.share_links.refresh()
        self._store.audit.flush()
        give_memory_back()
        if turn % SWEEP_EVERY == FIRST_SWEEP:
            self.sweep()

    @staticmethod
    def _guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except RooflineError as error:
            _log.warning("upkeep: %s", error.message)
        except Exception:  # noqa: BLE001 - the thread must go on
            # After a crash of the database any error may come. Without this thread nothing is
            # delivered again until the next start.
            _log.exception("upkeep failed by a fault of the server")


def give_memory_back() -> None:
    """Gives the holes in the memory of glibc back to the system: a millisecond's work.

    Another C library has no `malloc_trim`.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class _StoppedError(Exception):
    """The server ends in the middle of a file."""


class Scrubbing(OnThread):
    """Runs `scrub` on a thread of its own."""

    def __init__(self, scrub: Scrub) -> None:
        super().__init__()
        self._scrub = scrub

    def start(self) -> None:
        """Begins after a while, where the last one ended."""
        self._begin_thread("scrub", self._run)

    def _run(self) -> None:
        pause_s = FIRST_AFTER_S
        while not self._closing.wait(pause_s):
            pause_s = IDLE_S
            try:
                if self._scrub.step(self._slow_down):
                    pause_s = PAUSE_S
            except _StoppedError:
                return
            except RooflineError as error:
                _log.warning("what is stored cannot be checked now: %s", error.message)

    def _slow_down(self, size_bytes: int) -> None:
        if self._closing.wait(size_bytes / BYTES_PER_S):
            raise _StoppedError

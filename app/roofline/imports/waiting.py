"""Waiting for imports: futures of profiles, done when the page or all of it is there, or failed."""

import logging
import threading
from concurrent.futures import Future

from roofline.errors import RooflineError
from roofline.storage.jobs import JobStore

# Other processes' imports are looked up this often, and only while a request waits for one.
POLL_S = 0.2
_log = logging.getLogger("roofline.jobs")


class Waiting:
    """Futures of the profiles that requests wait for."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs
        self._futures: dict[str, Future[None]] = {}
        self._pages: dict[str, Future[None]] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def open(self, *, poll: bool) -> None:
        """Begins; `poll` where other processes run jobs, which do not call `done` here."""
        self._closed = False
        if poll and self._thread is None:
            self._thread = threading.Thread(target=self._poll, name="waiting", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Ends every waiting, and those that would begin later."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for profile_id in [*self._futures, *self._pages]:
            self.done(profile_id)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def future(self, profile_id: str, *, of_page: bool = False) -> "Future[None] | None":
        """Done when the job of a profile has ended, or when its page can be shown; `None` when no
        job is under way."""
        futures = self._pages if of_page else self._futures
        with self._changed:
            future = futures.setdefault(profile_id, Future())
            self._changed.notify_all()
        # Looked up after the future is known: whatever ends from now on finds it.
        if not self._closed and self._jobs.under_way([profile_id]):
            return future
        self.done(profile_id)
        return None

    def done(self, profile_id: str) -> None:
        """Nothing is under way for the profile any more."""
        self._end(self._futures, profile_id)
        self.shown(profile_id)

    def shown(self, profile_id: str) -> None:
        """The page of the profile can be shown, or nothing is under way."""
        self._end(self._pages, profile_id)

    def _end(self, futures: dict[str, "Future[None]"], profile_id: str) -> None:
        with self._changed:
            future = futures.pop(profile_id, None)
        if future is not None and not future.done():
            future.set_result(None)

    def _poll(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._futures or self._pages or self._closed)
                if self._closed:
                    return
                waited_for = list({*self._futures, *self._pages})
            try:
                ended = set(waited_for) - self._jobs.under_way(waited_for)
            except RooflineError as error:
                _log.warning("imports cannot be followed now: %s", error.message)
                ended = set()
            for profile_id in ended:
                self.done(profile_id)
            with self._changed:
                self._changed.wait_for(lambda: self._closed, timeout=POLL_S)

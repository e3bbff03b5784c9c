"""Scrubbing: a server reads everything it keeps once in a while, slowly, beside its other work."""

import logging
import threading

from roofline.errors import RooflineError
from roofline.model.units import MIB
from roofline.storage.scrub import Scrub

# A start is busy enough; and tests of servers end before.
FIRST_AFTER_S = 60.0
# Between two looks for what is due, and between two files.
IDLE_S = 60.0
PAUSE_S = 0.05
# The rate that no viewer notices on a disk: 12 TB a week.
BYTES_PER_S = 20 * MIB
_log = logging.getLogger("roofline.upkeep")


class _StoppedError(Exception):
    """The server ends in the middle of a file."""


class Scrubbing:
    """Runs `scrub` on a thread of its own."""

    def __init__(self, scrub: Scrub) -> None:
        self._scrub = scrub
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins after a while, where the last one ended."""
        self._closing.clear()
        self._thread = threading.Thread(target=self._run, name="scrub", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, in the middle of a file if need be; does nothing when there is none."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

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

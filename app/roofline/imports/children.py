"""Imports in child processes: started, watched and stopped by the process that runs jobs.

Children are forked from a program that holds the importers with their kernels compiled
(`children.forkserver`). Whatever ends a child, its import ends as a result or as a `RooflineError`.
"""

import signal
import threading
import time
from collections.abc import Callable
from copy import copy
from dataclasses import asdict
from pathlib import Path

from roofline.children.messages import DONE, PROGRESS, READY, Body, Message
from roofline.children.program import Program, ProgramLost, Request
from roofline.children.sandbox import ended
from roofline.devices.measured import machine_files
from roofline.errors import ImportStoppedError, RooflineError, error_from
from roofline.imports.messages import PHASES, ImportRequest, Progress, progress_at
from roofline.model.outer_limits import END_S, ImportLimits

# The module that the fork server loads, and what a child of it runs.
LOADED_ONCE, WORK = "roofline.imports.child", "roofline.imports.child:run"
# One for all servers of this process; it ends with the process.
_PROGRAM = Program("roofline.children.forkserver", LOADED_ONCE)
BEAT_S = 0.5
# Ends that a child does not choose, nor the file: it was killed from outside.
_ENDED_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})


class ChildLost(Exception):  # noqa: N818 - an event, with the error that it may become
    """A child that did not start, or that was killed: worth another attempt.

    `error` is what the import ends with if no attempt is left.
    """

    def __init__(self, error: ImportStoppedError) -> None:
        super().__init__(error.message)
        self.error = error


OnPage = Callable[[Body], None]
"""Called when the results that the page needs are there, with the same findings as at the end."""

Beat = Callable[[Progress], None]
"""Called at least every `BEAT_S` while a child runs; whatever it raises ends the child."""


class ImportTask:
    """An import under way in this process."""

    def __init__(self) -> None:
        self.progress = progress_at("queued", 0.0)
        self._stopped: RooflineError | None = None
        self._is_interrupted = False
        self._request: Request | None = None
        self._lock = threading.Lock()

    @property
    def is_interrupted(self) -> bool:
        """True if it was stopped because its process ends: the job is to run again."""
        return self._is_interrupted

    def interrupt(self) -> None:
        """Stops it because this process ends."""
        self._is_interrupted = True
        self.stop(
            ImportStoppedError("The import was interrupted.", remedy="It continues by itself.")
        )

    def stop(self, why: RooflineError) -> None:
        """Kills the child, or keeps it from starting: the import ends with `why`."""
        with self._lock:
            self._stopped = self._stopped or why
            if self._request is not None:
                self._request.kill()

    def check(self) -> None:
        """Raises why the import was stopped, if it was."""
        if self._stopped is not None:
            raise copy(self._stopped)

    def advance(self, phase: str, fraction: float) -> None:
        """Notes how far the import is. Unknown phases are ignored: they come from the child."""
        if phase in PHASES:
            self.progress = progress_at(phase, max(0.0, min(1.0, fraction)))

    def start(self, body: Body) -> Request:
        """Starts a child unless the import was stopped before.

        Raises `ProgramLost`, and `ChildLost` where the system starts no program.
        """
        with self._lock:
            self.check()
            try:
                self._request = _PROGRAM.ask(body)
            except OSError as error:
                raise ChildLost(
                    ImportStoppedError(
                        "The server could not start an import.",
                        remedy="Try again; if it happens again, restart the server and see"
                        " its log.",
                    )
                ) from error
            return self._request


def warm_up() -> None:
    """Starts the fork server; it loads the importers while this process goes on."""
    _PROGRAM.start()


def run_import(request: ImportRequest, task: ImportTask, beat: Beat, on_page: OnPage) -> Body:
    """Runs one import in a child and waits for it; raises the `RooflineError` it ends with.

    Raises `ChildLost` where the machine ended it, and not what is in the files, and `ProgramLost`
    where it ended the fork server.
    """
    body = {
        "work": WORK,
        "size_bytes": sum(size_bytes for _, _, size_bytes in request.files),
        # Raw files may be links to where they are kept.
        "reads": [str(path.resolve()) for path in (*map(Path, request.paths), *machine_files())],
        "writes": request.folder,
    }
    asked = task.start({**body, **asdict(request)})
    try:
        last = _last(asked, task, beat, on_page)
    except ProgramLost:
        task.check()
        raise
    if last.kind == DONE:
        return last.body
    task.check()
    if "error" in last.body:
        raise error_from(last.body["error"])
    status, is_slow = last.body["exit"], last.body["is_slow"]
    error = died(status, request.limits, is_slow=is_slow)
    raise ChildLost(error) if status in _ENDED_FROM_OUTSIDE and not is_slow else error


def _last(asked: Request, task: ImportTask, beat: Beat, on_page: OnPage) -> Message:
    """The child's last message, after what is done with those before it. Raises as `Request.next`,
    and what `beat` or `on_page` raises, once the child has ended."""
    try:
        while (message := asked.next(BEAT_S)) is None or not message.is_last:
            if message is not None and message.kind == READY:
                on_page(message.body)
            elif message is not None and message.kind == PROGRESS:
                task.advance(message.body["phase"], message.body["fraction"])
            beat(task.progress)
    except BaseException:
        _end(asked)
        raise
    return message


def _end(asked: Request) -> None:
    """Kills a child that still works, and waits until it has ended: its folder is removed then."""
    asked.kill()
    deadline = time.monotonic() + END_S
    while (message := asked.next(max(0.0, deadline - time.monotonic()))) is not None:
        if message.is_last:
            return


def cancelled_error() -> ImportStoppedError:
    """The error of a cancelled import."""
    return ImportStoppedError(
        "The import was cancelled.", remedy="Upload the file again when you want it."
    )


def died(status: int | None, limits: ImportLimits, *, is_slow: bool = False) -> ImportStoppedError:
    """The error of an import whose child, or fork server, ended with a status."""
    guess = ", most likely for lack of memory"
    return ended("The import", status, limits, is_slow=is_slow, guess=guess)

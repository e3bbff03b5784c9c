"""Imports in child processes: started, limited, watched and stopped by the process that runs jobs.

A fork server holds the importers with their kernels compiled (`imports.fork_server`); a
child forks from it in about 10 ms. The child speaks JSON lines over a pipe: progress, that the page
can be shown, then either a summary or an error. Whatever ends a child, its import ends as a result
or as a `RooflineError`.
"""

import json
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from typing import Any

from roofline import process_environment
from roofline.children.sandbox import ImportLimits
from roofline.errors import ImportStoppedError, RooflineError, error_from
from roofline.imports.messages import ImportRequest

# Each phase with its weight in the progress of the whole, as measured on 5 million events.
PHASES = {
    "queued": 0.0,
    "unpack": 0.1,
    "recognise": 0.02,
    "read": 0.7,
    "analyse": 0.12,
    "store": 0.06,
}
# The modules that the fork server loads once, for all children.
LOADED_ONCE: tuple[str, ...] = ("roofline.imports.fork_server", "roofline.cli.main")
MESSAGE_BYTES = 1 << 20
LINGER_S = 1.0
# Ends that a child does not choose, nor the file: it was killed from outside, or its fork server
# died and nothing is known of it (255).
_ENDED_FROM_OUTSIDE = frozenset(
    {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, 255}
)
BEAT_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import is: the phase, its fraction and that of the whole, 0 to 1."""

    phase: str
    fraction: float
    overall: float


class ChildLost(Exception):  # noqa: N818 - an event, with the error that it may become
    """A child that did not start, or that was killed: worth another attempt.

    `error` is what the import ends with if no attempt is left.
    """

    def __init__(self, error: ImportStoppedError) -> None:
        super().__init__(error.message)
        self.error = error


Outcome = dict[str, Any]
"""The child's findings: plain JSON, to be checked and stored."""

OnPage = Callable[[Outcome], None]
"""Called when the results that the page needs are there, with the same findings."""

Beat = Callable[[Progress], None]
"""Called at least every `BEAT_S` while a child runs; whatever it raises ends the child."""


def progress_at(phase: str, fraction: float) -> Progress:
    """The progress when `fraction` of `phase` is done."""
    names = list(PHASES)
    before = sum(PHASES[name] for name in names[: names.index(phase)])
    overall = min(1.0, before + PHASES[phase] * fraction)
    return Progress(phase=phase, fraction=fraction, overall=overall)


class ImportTask:
    """An import under way in this process."""

    def __init__(self) -> None:
        self.started_at = time.monotonic()
        self.progress = progress_at("queued", 0.0)
        self._stopped: RooflineError | None = None
        self._is_interrupted = False
        self._process: ForkServerProcess | None = None
        self._lock = threading.Lock()

    @property
    def stopped(self) -> RooflineError | None:
        """Why `stop` was called, if it was."""
        return self._stopped

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
            if self._process is not None:
                self._process.kill()

    def check(self) -> None:
        """Raises why the import was stopped, if it was."""
        if self._stopped is not None:
            raise copy(self._stopped)

    def advance(self, phase: str, fraction: float) -> None:
        """Notes how far the import is. Unknown phases are ignored: they come from the child."""
        if phase in PHASES:
            self.progress = progress_at(phase, max(0.0, min(1.0, fraction)))

    def start(self, process: ForkServerProcess) -> None:
        """Starts `process` unless the import was stopped before."""
        with self._lock:
            self.check()
            process.start()
            self._process = process

    def end(self) -> None:
        """Waits for the child, which has said its last word; kills it if it lingers."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        process.join(timeout=LINGER_S)
        if process.exitcode is None:
            process.kill()
            process.join()
        process.close()


class Children:
    """Starts the children of this process."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(LOADED_ONCE))

    def warm_up(self) -> None:
        """Starts the fork server; it loads the importers while this process goes on."""
        from multiprocessing.forkserver import ensure_running  # starting it is a side effect

        with process_environment.without_secrets_of_libraries():
            ensure_running()

    def run(self, request: ImportRequest, task: ImportTask, beat: Beat, on_page: OnPage) -> Outcome:
        """Runs one import and waits for it; raises the `RooflineError` it ends with.

        Raises `ChildLost` where the machine ended it, and not what is in the files.
        """
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=run_in_child, args=(request, theirs), daemon=True)
        try:
            with ours:
                _start(task, process, theirs)
                return _watch(request.limits, task, process, ours, beat, on_page)
        finally:
            task.end()


def run_in_child(request: ImportRequest, pipe: Connection) -> None:
    """The child's main function."""
    # Imported here: the server's process never loads the importers, numba or NumPy.
    from roofline.imports.child import run

    run(request, pipe)


def _start(task: ImportTask, process: ForkServerProcess, theirs: Connection) -> None:
    try:
        with theirs:  # the child has its own copy; ours must close so that its end shows as EOF
            task.start(process)
    except (OSError, EOFError) as error:
        raise ChildLost(
            ImportStoppedError(
                "The server could not start an import.",
                remedy="Try again; if it happens again, restart the server and see its log.",
            )
        ) from error


def _watch(
    limits: ImportLimits,
    task: ImportTask,
    process: ForkServerProcess,
    pipe: Connection,
    beat: Beat,
    on_page: OnPage,
) -> Outcome:
    deadline = time.monotonic() + limits.wall_seconds
    while (left := deadline - time.monotonic()) > 0:
        if wait([pipe], timeout=min(BEAT_S, left)):
            try:
                message = json.loads(pipe.recv_bytes(MESSAGE_BYTES))
            except (EOFError, OSError, ValueError):
                break
            if "done" in message:
                return dict(message["done"])
            if "error" in message:
                raise error_from(message["error"])
            if "page" in message:
                on_page(dict(message["page"]))
            else:
                task.advance(message["phase"], message["fraction"])
        beat(task.progress)
    else:
        raise _too_slow(limits.wall_seconds)
    process.join(timeout=5)
    if task.stopped is not None:
        raise copy(task.stopped)
    died = _died(process.exitcode, limits)
    raise ChildLost(died) if process.exitcode in _ENDED_FROM_OUTSIDE else died


def cancelled_error() -> ImportStoppedError:
    """The error of a cancelled import."""
    return ImportStoppedError(
        "The import was cancelled.", remedy="Upload the file again when you want it."
    )


def _too_slow(wall_seconds: float) -> ImportStoppedError:
    return ImportStoppedError(
        f"The import took longer than {wall_seconds:,.0f} s and was stopped.",
        remedy="Capture fewer steps or upload fewer hosts, or raise ROOFLINE_IMPORT_WALL_SECONDS.",
    )


def _died(exit_code: int | None, limits: ImportLimits) -> ImportStoppedError:
    if exit_code == -signal.SIGXCPU:
        return ImportStoppedError(
            f"The import used more than {limits.cpu_seconds:,} s of processor time.",
            remedy="Capture fewer steps, or raise ROOFLINE_IMPORT_CPU_SECONDS.",
        )
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        return ImportStoppedError(
            f"The import was ended by the operating system ({name}), most likely for lack of"
            " memory.",
            remedy="Try again, or capture fewer steps; the file itself was not judged.",
        )
    return ImportStoppedError(
        f"The import ended unexpectedly (exit status {exit_code}).",
        remedy="The server's log says why. Please report it together with the file.",
    )

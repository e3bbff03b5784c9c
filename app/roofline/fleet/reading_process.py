"""The program that reads files: `python -m roofline.fleet.reading_process`, started by `readers`.

It has no network and no secrets, loads the importers once, and forks a child for each request on
its standard input; each child limits itself before it touches a byte. Answers go to standard
output, a JSON line each. It ends, with its children, when its standard input does: with the process
that started it.
"""

import os

# One thread: NumPy's BLAS would start one per processor, and threads do not survive a fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from roofline.children import sandbox

if __name__ == "__main__":
    sandbox.give_up_network()  # while there is one thread

import ctypes
import json
import selectors
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from roofline.children.sandbox import ImportLimits, limit_memory, limit_process, out_of_memory
from roofline.importers import registry
from roofline.importers.intake.archives import UnpackLimits
from roofline.pods.folders import Found
from roofline.pods.partial import Partial
from roofline.pods.reading import read_file
from roofline.pods.report import Unreadable

_PIECE = 1 << 16
_PR_SET_PDEATHSIG = 1
_DUE_S = 0.5


@dataclass(slots=True)
class _Child:
    number: int
    pid: int
    limits: ImportLimits
    deadline: float
    said: bytes = b""
    is_slow: bool = False


class ReadingProcess:
    """Takes requests, forks children and gives their answers."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, _Child] = {}
        self._asked = b""

    def run(self) -> None:
        """Work until standard input ends."""
        self._selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select(_DUE_S if self._children else None):
                piece = os.read(key.fd, _PIECE)
                if key.fd != 0:
                    self._hear(key.fd, piece)
                elif piece:
                    self._take(piece)
                else:
                    self._kill_all()
                    return
            self._end_slow()

    def _take(self, piece: bytes) -> None:
        *lines, self._asked = (self._asked + piece).split(b"\n")
        for line in lines:
            self._start(json.loads(line))

    def _start(self, request: dict[str, Any]) -> None:
        ours, theirs = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            _end_with(parent)
            _be_child(request, theirs)
        os.close(theirs)
        limits = ImportLimits(**request["limits"])
        deadline = time.monotonic() + limits.wall_seconds
        self._children[ours] = _Child(request["number"], pid, limits, deadline)
        self._selector.register(ours, selectors.EVENT_READ)

    def _hear(self, pipe: int, piece: bytes) -> None:
        child = self._children[pipe]
        if piece:
            child.said += piece
            return
        self._selector.unregister(pipe)
        os.close(pipe)
        del self._children[pipe]
        _, status, used = os.wait4(child.pid, 0)
        answer: dict[str, Any] = {"number": child.number}
        answer |= {"cpu_seconds": used.ru_utime + used.ru_stime}
        code = os.waitstatus_to_exitcode(status)
        if code == 0 and child.said:
            answer |= json.loads(child.said)
        else:
            answer |= {"ended": _ended(child, code)}
        _say(1, answer)

    def _end_slow(self) -> None:
        now = time.monotonic()
        for child in self._children.values():
            if now > child.deadline and not child.is_slow:
                child.is_slow = True
                os.kill(child.pid, signal.SIGKILL)

    def _kill_all(self) -> None:
        for child in self._children.values():
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)


def _ended(child: _Child, code: int) -> str:
    """Why there is no answer, as a sentence about the file."""
    if child.is_slow:
        return f"Reading it took longer than {child.limits.wall_seconds:,.0f} s and was stopped."
    if code == -signal.SIGXCPU:
        return f"Reading it used more than {child.limits.cpu_seconds:,} s of processor time."
    if code < 0:
        name = signal.Signals(-code).name
        return f"Reading it was ended by the operating system ({name})."
    return f"Reading it ended unexpectedly (exit status {code})."


def _end_with(parent: int) -> None:
    """The child ends when this program does, even if that is killed."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _be_child(request: dict[str, Any], pipe: int) -> NoReturn:
    os.dup2(2, 1)  # answers are the program's own
    status = 1
    try:
        limits = ImportLimits(**request["limits"])
        try:
            answer = _answer(request, limits)
        except MemoryError:
            answer = {"ended": out_of_memory(limits).message}
        except OSError as error:
            answer = {"ended": f"It cannot be read: {(error.strerror or str(error)).lower()}."}
        _say(pipe, answer)
        status = 0
    finally:
        os._exit(status)


def _answer(request: dict[str, Any], limits: ImportLimits) -> dict[str, Any]:
    path, into = Path(request["path"]), Path(request["into"])
    size_bytes = path.stat().st_size
    limit_process(limits, size_bytes)
    entries = read_file(
        Found(
            path,
            is_named=request["is_named"],
            called=request["name"],
            is_folder=request["is_folder"],
        ),
        digest=request["digest"],
        scratch=into,
        limits=UnpackLimits(
            max_bytes=limits.max_unpacked_bytes,
            max_files=limits.max_unpacked_files,
            max_ratio=limits.max_expansion_ratio,
        ),
        # Mapped files count as address space, so the limit grows with what was unpacked.
        unpacked=lambda more_bytes: limit_memory(limits, size_bytes + more_bytes),
    )
    return {"entries": [_written(one, into / str(k)) for k, one in enumerate(entries)]}


def _written(entry: Partial | Unreadable, into: Path) -> dict[str, Any]:
    if isinstance(entry, Unreadable):
        return {"unreadable": asdict(entry)}
    into.with_suffix(".names").write_bytes(entry.names.content)
    into.with_suffix(".partial").write_bytes(entry.content())
    return {"partial": into.name}


def _say(pipe: int, answer: dict[str, Any]) -> None:
    line = memoryview(json.dumps(answer).encode() + b"\n")
    while line:
        line = line[os.write(pipe, line) :]


def main() -> None:
    """Run until the process that started this one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    registry.warm_up()
    ReadingProcess().run()


if __name__ == "__main__":
    main()

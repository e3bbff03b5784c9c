"""The program that forks a child for each request: `python -m roofline.children.forkserver MODULE`.

It has no network and no secrets, loads the module once with `prepare`, and forks in about 10 ms. A
request names its work as `MODULE:FUNCTION` and has the `limits` of its child, which limits itself
before it touches a byte of the `size_bytes` that it reads: to the files `reads`, and to the folder
`writes`, which is its folder of temporary files. The messages of a child are read and
written anew: a child speaks for its own request only. The last one has the `cpu_seconds` of the
child, and comes once it has ended: either its own, or `failed` with `exit`, the status that it
ended with (`None` where it sent something else than messages), and `is_slow`.

The program ends, with its children, when its standard input does: with the process that started it.
"""

import os

# One thread: NumPy's BLAS would start one per processor, and threads do not survive a fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from roofline.children.sandbox import give_up_network

if __name__ == "__main__":
    give_up_network()  # while there is one thread

import ctypes
import gc
import selectors
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from typing import NoReturn

from roofline.children.confinement import confine
from roofline.children.messages import FAILED, KILL, Body, Message, Say, Work, answer, write
from roofline.children.sandbox import limit_process, out_of_memory, system_fault
from roofline.model.outer_limits import ImportLimits

LONGEST_LINE = 8 << 20
MOST_THREADS = 1024  # an import has one for each processor
_PIECE = 1 << 16
_PR_SET_PDEATHSIG = 1
_DUE_S = 0.5


@dataclass(slots=True)
class _Child:
    """A child and what it has sent: the begin of a line, and its last message."""

    number: int
    pid: int
    deadline: float
    line: bytes = b""
    last: Message | None = None
    is_slow: bool = False
    is_broken: bool = False

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


class ForkServer:
    """Takes requests, forks children and passes on their messages."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, _Child] = {}
        self._line = b""

    def run(self) -> None:
        """Work until standard input ends."""
        self._selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select(_DUE_S if self._children else None):
                piece = os.read(key.fd, _PIECE)
                if key.fd != 0:
                    self._read(key.fd, piece)
                elif piece:
                    self._take(piece)
                else:
                    self._kill_all()
                    return
            self._end_slow()

    def _take(self, piece: bytes) -> None:
        *lines, self._line = (self._line + piece).split(b"\n")
        for message in map(Message.read, lines):
            if message.kind == KILL:
                self._kill(message.id)
            else:
                self._start(message)

    def _kill(self, number: int) -> None:
        for child in self._children.values():
            if child.number == number:
                child.kill()

    def _start(self, request: Message) -> None:
        ours, theirs = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            # A child that has the selector could name descriptors on which this program waits.
            self._selector.close()
            for pipe in (ours, *self._children):
                os.close(pipe)
            _end_with(parent)
            _be_child(request, theirs)
        os.close(theirs)
        deadline = time.monotonic() + request.body["limits"]["wall_seconds"]
        self._children[ours] = _Child(request.id, pid, deadline)
        self._selector.register(ours, selectors.EVENT_READ)

    def _read(self, pipe: int, piece: bytes) -> None:
        child = self._children[pipe]
        if piece and not child.is_broken:
            *lines, child.line = (child.line + piece).split(b"\n")
            try:
                self._pass_on(child, lines)
            except ValueError:
                child.is_broken = True
                child.kill()
        if not piece:
            self._selector.unregister(pipe)
            os.close(pipe)
            del self._children[pipe]
            child.kill()  # of one that ends by itself the status is known before its pipe is closed
            _, status, used = os.wait4(child.pid, 0)
            cpu_seconds = used.ru_utime + used.ru_stime
            last = _last(child, os.waitstatus_to_exitcode(status))
            write(1, Message(last.id, last.kind, {**last.body, "cpu_seconds": cpu_seconds}))

    def _pass_on(self, child: _Child, lines: list[bytes]) -> None:
        """Raises `ValueError` for what is not a message."""
        if len(child.line) > LONGEST_LINE:
            raise ValueError("The line does not end.")
        for sent in map(Message.read, lines):
            message = Message(child.number, sent.kind, sent.body)
            if message.is_last:
                child.last = message
            else:
                write(1, message)

    def _end_slow(self) -> None:
        now = time.monotonic()
        for child in self._children.values():
            if now > child.deadline and not child.is_slow:
                child.is_slow = True
                child.kill()
            elif _threads(child.pid) > MOST_THREADS:  # the system has no limit of a process's own
                child.kill()

    def _kill_all(self) -> None:
        for child in self._children.values():
            child.kill()
            os.waitpid(child.pid, 0)


def _threads(pid: int) -> int:
    """How many a process has; 0 where the system does not say."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 0


def _last(child: _Child, status: int) -> Message:
    if status == 0 and child.last is not None:
        return child.last
    ended: Body = {"exit": None if child.is_broken else status, "is_slow": child.is_slow}
    return Message(child.number, FAILED, ended)


def _end_with(parent: int) -> None:
    """The child ends when this program does, even if that is killed."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _be_child(request: Message, pipe: int) -> NoReturn:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # requests are not for this child
    os.dup2(2, 1)  # nor does it write answers by itself
    status = 1
    try:
        module, _, name = request.body.pop("work").partition(":")
        answer(request, _limited(getattr(import_module(module), name)), pipe)
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:  # noqa: BLE001 - the child must end here; the log says why
        traceback.print_exc()
    finally:
        os._exit(status)


def _limited(work: Work) -> Work:
    """`work` under the limits of its request; their errors are in the user's words."""

    def run(body: Body, say: Say) -> Body:
        limits = ImportLimits(**body["limits"])
        limit_process(limits, body.pop("size_bytes"))
        reads, tempfile.tempdir = body.pop("reads"), body.pop("writes")
        confine(reads, tempfile.tempdir)
        try:
            return work(body, say)
        except MemoryError:
            raise out_of_memory(limits) from None
        except OSError as error:
            raise system_fault(error, limits) from error

    return run


def main() -> None:
    """Run until the process that started this one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    import_module(sys.argv[1]).prepare()
    gc.freeze()  # a search for garbage in a child would copy every page that is shared with it
    ForkServer().run()


if __name__ == "__main__":
    main()

"""Reads files in children of a program without network and secrets (`reading_process`).

A file that ends its child, or takes too long, is an `Unreadable` with the reason; the program and
the other files go on.
"""

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from roofline.children.sandbox import ImportLimits, needed_environment
from roofline.errors import ImportStoppedError
from roofline.fleet.engine import HostFile
from roofline.pods.partial import Names, Partial
from roofline.pods.report import Unreadable

PROGRAM = "roofline.fleet.reading_process"
_ATTEMPTS = 3
_LOST = f"Reading it was ended {_ATTEMPTS} times by the operating system."


class _ProgramLost(Exception):  # noqa: N818 - an event, worth another attempt
    """The program was killed, and not by this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The result of a child for one file. `is_sure` is false where the machine ended it, which need
    not happen again."""

    entries: tuple[Partial | Unreadable, ...]
    cpu_seconds: float
    is_sure: bool

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The hosts in it that cannot be read."""
        return tuple(one for one in self.entries if isinstance(one, Unreadable))


class Readers:
    """Starts the program with the first file. Threads may ask at the same time; `at_once` files
    are read."""

    def __init__(self, limits: ImportLimits, *, at_once: int = 1) -> None:
        self._limits = limits
        self._free = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._program: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._number = 0
        self._is_closed = False

    def read(self, file: HostFile, path: Path, digest: str) -> Reading:
        """The reading of the file at `path`, with this SHA-256.

        If the program is killed, it is started again. Raises `ImportStoppedError` once this is
        closed.
        """
        for _ in range(_ATTEMPTS):
            try:
                with self._free:
                    return self._read(file, path, digest)
            except _ProgramLost:
                continue
        missing = Unreadable(name=file.name, digest=digest, reason=_LOST)
        return Reading(entries=(missing,), cpu_seconds=0.0, is_sure=False)

    def _read(self, file: HostFile, path: Path, digest: str) -> Reading:
        with TemporaryDirectory(prefix="roofline-", ignore_cleanup_errors=True) as into:
            answer = self._ask(
                {
                    "path": str(path.absolute()),
                    "digest": digest,
                    "name": file.name,
                    "is_named": file.is_named,
                    "is_folder": file.is_folder,
                    "into": into,
                    "limits": asdict(self._limits),
                }
            )
            return _reading(file, digest, answer, Path(into))

    @property
    def pid(self) -> int | None:
        """The process of the program that was started last."""
        return self._program.pid if self._program is not None else None

    def close(self) -> None:
        """End the program and what it reads; readers that wait get `ImportStoppedError`."""
        with self._lock:
            self._is_closed = True
            program, listener = self._program, self._listener
        if program is not None and listener is not None:
            program.kill()  # its children die with it
            listener.join()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._is_closed:
                raise _stopped()
            pipe = self._running().stdin
            assert pipe is not None
            self._number += 1
            self._waiting[self._number] = answer
            try:
                pipe.write(json.dumps({"number": self._number, **request}).encode() + b"\n")
                pipe.flush()
            except (OSError, ValueError) as error:  # it was killed; its pipe may be closed
                raise _ProgramLost from error
        try:
            return answer.result()
        except _ProgramLost:
            if self._is_closed:
                raise _stopped() from None
            raise

    def _running(self) -> "subprocess.Popen[bytes]":
        """The program, started anew if it was killed."""
        if self._program is None or self._program.poll() is not None:
            self._program = subprocess.Popen(
                [sys.executable, "-P", "-m", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=needed_environment(),
            )
            waiting: dict[int, Future[dict[str, Any]]] = {}
            self._waiting = waiting
            self._listener = threading.Thread(
                target=_listen, args=(self._program, waiting), daemon=True
            )
            self._listener.start()
        return self._program


def _listen(
    program: "subprocess.Popen[bytes]", waiting: dict[int, "Future[dict[str, Any]]"]
) -> None:
    assert program.stdin is not None
    assert program.stdout is not None
    with program.stdout as pipe:
        for line in pipe:
            answer = json.loads(line)
            waiting.pop(answer["number"]).set_result(answer)
    program.wait()
    with suppress(OSError):  # a request that was not sent any more
        program.stdin.close()
    for left in list(waiting.values()):
        left.set_exception(_ProgramLost())


def _stopped() -> ImportStoppedError:
    return ImportStoppedError(
        "Reading the files was stopped.", remedy="Start again: hosts that were read are kept."
    )


def _reading(file: HostFile, digest: str, answer: Mapping[str, Any], into: Path) -> Reading:
    cpu_seconds = float(answer["cpu_seconds"])
    if "ended" in answer:
        missing = Unreadable(name=file.name, digest=digest, reason=answer["ended"])
        return Reading(entries=(missing,), cpu_seconds=cpu_seconds, is_sure=False)
    entries = tuple(_entry(one, into) for one in answer["entries"])
    return Reading(entries=entries, cpu_seconds=cpu_seconds, is_sure=True)


def _entry(fields: Mapping[str, Any], into: Path) -> Partial | Unreadable:
    if "unreadable" in fields:
        return Unreadable(**fields["unreadable"])
    place = into / Path(fields["partial"]).name
    content = place.with_suffix(".names").read_bytes()
    names = Names.read(content)

    def known(digest: str) -> Names:
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError("The names are not those of the partial.")
        return names

    return Partial.read(place.with_suffix(".partial").read_bytes(), known)

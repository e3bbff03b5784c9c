"""Reads files in children without network and secrets (`reading_child`).

A file that ends its child, or takes too long, is an `Unreadable` with the reason; the other files
go on.
"""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from roofline.children.messages import DONE, Message
from roofline.children.program import Program, ProgramLost, ProgramStopped, again
from roofline.children.sandbox import ended
from roofline.devices.measured import machine_files
from roofline.errors import ImportStoppedError, error_from
from roofline.model.outer_limits import MAX_STARTS, ImportLimits
from roofline.pods.folders import HostFile
from roofline.pods.partial import Names, Partial
from roofline.pods.report import Unreadable

_LOADED_ONCE, _WORK = "roofline.fleet.reading_child", "roofline.fleet.reading_child:read"


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
    """Starts a fork server with the first file. Threads may ask at the same time; `at_once` files
    are read."""

    def __init__(self, limits: ImportLimits, *, at_once: int = 1) -> None:
        self._limits = limits
        self._free = threading.Semaphore(at_once)
        self._program = Program("roofline.children.forkserver", _LOADED_ONCE)

    def read(self, file: HostFile, path: Path, digest: str) -> Reading:
        """The reading of the file at `path`, with this SHA-256.

        If the fork server is killed, it is started again. Raises `ImportStoppedError` once this is
        closed.
        """
        try:
            return again(lambda: self._read(file, path, digest))
        except ProgramLost:
            reason = f"Reading it was ended {MAX_STARTS} times by the operating system."
            return _failed(file, digest, reason, cpu_seconds=0.0)
        except ProgramStopped:
            raise ImportStoppedError(
                "Reading the files was stopped.",
                remedy="Start again: hosts that were read are kept.",
            ) from None

    def close(self) -> None:
        """End the fork server and what it reads; readers that wait get `ImportStoppedError`."""
        self._program.close()

    def _read(self, file: HostFile, path: Path, digest: str) -> Reading:
        folder = TemporaryDirectory(prefix="roofline-", ignore_cleanup_errors=True)
        with self._free, folder as into:
            body = {
                "work": _WORK,
                "limits": asdict(self._limits),
                "size_bytes": path.stat().st_size if path.exists() else 0,
                "reads": [str(path.resolve()), *map(str, machine_files())],
                "writes": into,
                "path": str(path.absolute()),
                "digest": digest,
                "file": asdict(file),
                "into": into,
            }
            return self._reading(file, digest, self._program.ask(body).last(), Path(into))

    def _reading(self, file: HostFile, digest: str, last: Message, into: Path) -> Reading:
        body, cpu_seconds = last.body, float(last.body["cpu_seconds"])
        if last.kind == DONE:
            entries = tuple(_entry(one, into) for one in body["entries"])
            return Reading(entries=entries, cpu_seconds=cpu_seconds, is_sure=True)
        error = (
            error_from(body["error"])
            if "error" in body
            else ended("Reading it", body["exit"], self._limits, is_slow=body["is_slow"])
        )
        return _failed(file, digest, error.message, cpu_seconds=cpu_seconds)


def _failed(file: HostFile, digest: str, reason: str, *, cpu_seconds: float) -> Reading:
    missing = Unreadable(name=file.name, digest=digest, reason=reason)
    return Reading(entries=(missing,), cpu_seconds=cpu_seconds, is_sure=False)


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

"""The engine `local`: threads of this process, each with a child that reads.

`map_file` turns one file into kept partials; workers of a cluster do the same with it.
"""

import queue
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from roofline.errors import RooflineError
from roofline.fleet.engine import Receipt, unread
from roofline.fleet.kept import KeptFile, KeptPartials
from roofline.fleet.readers import Readers
from roofline.model.outer_limits import ImportLimits
from roofline.pods.fetching import fetch_folder, fetch_steady
from roofline.pods.folders import HostFile, digest_of
from roofline.storage import buckets
from roofline.storage.buckets import Listed

# Objects that are fetched while others are read: their bytes lie on the disk.
_AHEAD = 8
# A host may still write its file: it is read again then.
_TRIES = 3


class LocalEngine:
    """Reads `workers` files at the same time, with `readers` of its own if none are given."""

    def __init__(
        self,
        kept: KeptPartials,
        limits: ImportLimits,
        *,
        workers: int = 1,
        readers: Readers | None = None,
    ) -> None:
        self._kept = kept
        self._readers = readers or Readers(limits, at_once=workers)
        self._workers = workers

    def submit(self, files: Sequence[HostFile]) -> "LocalSubmission":
        """See `Engine`."""
        return LocalSubmission(files, self._kept, self._readers, self._workers)

    def close(self) -> None:
        """See `Engine`."""
        self._readers.close()


class LocalSubmission:
    """Files under way in threads of this process."""

    def __init__(
        self, files: Sequence[HostFile], kept: KeptPartials, readers: Readers, workers: int
    ) -> None:
        self._kept, self._readers = kept, readers
        self._due: queue.SimpleQueue[HostFile] = queue.SimpleQueue()
        for file in files:
            self._due.put(file)
        self._total, self._done = len(files), 0
        self._ready: queue.SimpleQueue[Receipt | BaseException] = queue.SimpleQueue()
        ahead = _AHEAD if any(map(is_remote, files)) else 0
        for _ in range(min(workers + ahead, len(files))):
            threading.Thread(target=self._work, daemon=True).start()

    def receipts(self) -> Generator[Receipt, None, None]:
        """See `Submission`."""
        while self._done < self._total:
            found = self._ready.get()
            if isinstance(found, BaseException):
                raise found
            self._done += 1
            yield found

    def _work(self) -> None:
        while True:
            try:
                file = self._due.get_nowait()
            except queue.Empty:
                return
            try:
                self._ready.put(map_file(file, self._kept, self._readers))
            except (RooflineError, OSError, ValueError) as error:
                self._ready.put(error)
                return


def map_file(file: HostFile, kept: KeptPartials, readers: Readers) -> Receipt:
    """Read a file unless its partials are kept.

    Raises `ImportStoppedError` when `readers` are closed, and what the store of `kept` raises.
    """
    digest = file.digest or _digest_before(file, kept)
    if digest and (found := kept.find(file, digest)):
        return _receipt(file, digest, found, cpu_seconds=0.0, was_kept=True)
    with TemporaryDirectory(prefix="roofline-") as scratch:
        for _ in range(_TRIES):
            try:
                here = _on_this_machine(file, Path(scratch), kept)
            except RooflineError as error:
                return unread(file, f"{error.message} {error.remedy}")
            except OSError as error:
                return unread(file, f"It cannot be read: {(error.strerror or str(error)).lower()}.")
            if receipt := _read(file, here, kept, readers):
                return receipt
    return unread(file, "The file changes while it is read.")


def _digest_before(file: HostFile, kept: KeptPartials) -> str | None:
    """The SHA-256 of an object whose version was fetched before."""
    is_versioned = (is_remote(file) or file.is_folder) and file.version
    return kept.digest_of(_listed(file).identity) if is_versioned else None


def _listed(file: HostFile) -> Listed:
    return Listed(file.address, file.version, file.size_bytes, 0.0)


class _Here(NamedTuple):
    """A file on this machine: its place, its SHA-256, and its size and time before that."""

    path: Path
    digest: str
    stamp: tuple[int, int]


def _read(file: HostFile, here: _Here, kept: KeptPartials, readers: Readers) -> Receipt | None:
    """The receipt; `None` where other bytes were read than those of the digest."""
    digest = here.digest
    if found := kept.find(file, digest):
        return _receipt(file, digest, found, cpu_seconds=0.0, was_kept=True)
    reading = readers.read(file, here.path, digest)
    if _stamp(here.path) != here.stamp:
        return None
    is_sure, unsure = reading.is_sure, KeptFile(partials=(), unreadable=reading.unreadable)
    found = kept.keep(file, digest, reading.entries) if is_sure else unsure
    return _receipt(file, digest, found, cpu_seconds=reading.cpu_seconds, was_kept=False)


def is_remote(file: HostFile) -> bool:
    """True for an object that must be fetched first."""
    return buckets.is_address(file.address)


def _on_this_machine(file: HostFile, scratch: Path, kept: KeptPartials) -> _Here:
    """The file, fetched into `scratch` where it is an object; a folder is packed there."""
    path = scratch / "fetched"
    if file.is_folder:
        found = fetch_folder(file.address, path)
        digest = digest_of(path)
    elif is_remote(file):
        found, digest = fetch_steady(_listed(file), path)
    else:
        path = Path(file.address)
        stamp = _stamp(path)
        return _Here(path, digest_of(path), stamp)
    if found.version:
        kept.note_digest(found.identity, digest)
    return _Here(path, digest, _stamp(path))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_size, found.st_mtime_ns)


def _receipt(
    file: HostFile, digest: str, found: KeptFile, *, cpu_seconds: float, was_kept: bool
) -> Receipt:
    return Receipt(
        address=file.address,
        digest=digest,
        partials=found.partials,
        unreadable=found.unreadable,
        cpu_seconds=cpu_seconds,
        was_kept=was_kept,
    )

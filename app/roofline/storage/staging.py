"""Where uploads and imports work until they are committed: `incoming/<process>/<token>/`.

Nothing here is a profile yet. Each process holds a lock in its own folder, which the system frees
however the process ends, so the next one can tell what a crash left from what is in use.
"""

import fcntl
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from roofline.storage.durable import explained_writes, make_directory

# Level 3 takes twice as long for 6 % less (4.2 to 7.1 times smaller at level 1, on XSpaces).
ZSTD_LEVEL = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedFile:
    """One received file: what the user called it, and where it lies, compressed.

    `size_bytes` and `sha256` are of the file itself, `stored_bytes` is its size at `path`.
    """

    name: str
    path: Path
    size_bytes: int
    stored_bytes: int
    sha256: str


class StagingArea:
    """The folder of one upload.

    Its import leaves what its page needs in `results`, and what else it computed in `exports`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.results = root / "results"
        self.exports = root / "exports"
        self.files: list[StagedFile] = []
        with explained_writes():
            root.mkdir(mode=0o700, parents=True)

    def receive(self, name: str) -> "IncomingFile":
        """A new file to be written here. `name` is kept as data and never used as a path."""
        return IncomingFile(self, name, self.root / f"file-{len(self.files):04d}")

    def receive_all(self, name: str, chunks: Iterable[bytes]) -> StagedFile:
        """Writes one whole file from `chunks`."""
        incoming = self.receive(name)
        try:
            for chunk in chunks:
                incoming.write(chunk)
            return incoming.finish()
        except BaseException:
            incoming.abandon()
            raise

    @property
    def size_bytes(self) -> int:
        """Bytes of all files in the folder, as far as they take room of their own."""
        found = [path.lstat() for path in self.root.rglob("*")]
        return sum(one.st_size for one in found if stat.S_ISREG(one.st_mode))

    def discard(self) -> None:
        """Removes the folder and all in it. A second call does nothing."""
        shutil.rmtree(self.root, ignore_errors=True)


class IncomingFile:
    """A file on its way in, hashed and compressed as it is written."""

    def __init__(self, area: StagingArea, name: str, path: Path) -> None:
        self.name = name
        self.size_bytes = 0
        self._area = area
        self._path = path
        self._digest = hashlib.sha256()
        # With a checksum, so that damage on the disk shows when the file is read.
        self._packer = zstandard.ZstdCompressor(ZSTD_LEVEL, write_checksum=True).compressobj()
        with explained_writes():
            # Unbuffered: chunks come in large pieces, and nothing must be lost in a buffer.
            self._file: BinaryIO = path.open("xb", buffering=0)

    def write(self, chunk: bytes | memoryview) -> None:
        """Appends `chunk`; `StorageFullError` when the disk is full."""
        self._write(self._packer.compress(chunk))
        self._digest.update(chunk)
        self.size_bytes += len(chunk)

    def finish(self) -> StagedFile:
        """Flushes to the disk and adds the file to its staging area."""
        self._write(self._packer.flush())
        with explained_writes():
            os.fsync(self._file.fileno())
        stored_bytes = self._file.tell()
        self._file.close()
        staged = StagedFile(
            name=self.name,
            path=self._path,
            size_bytes=self.size_bytes,
            stored_bytes=stored_bytes,
            sha256=self._digest.hexdigest(),
        )
        self._area.files.append(staged)
        return staged

    def _write(self, packed: bytes) -> None:
        with explained_writes():
            rest = memoryview(packed)
            while rest:
                rest = rest[self._file.write(rest) :]

    def abandon(self) -> None:
        """Closes and deletes an unfinished file."""
        self._file.close()
        self._path.unlink(missing_ok=True)


class Staging:
    """The staging areas of one process, in a folder of its own below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._own: Path | None = None
        self._lock = -1

    def open(self) -> None:
        """Sweeps what ended processes left, and takes a folder for this one."""
        with explained_writes():
            make_directory(self._root)
            with (self._root / "lock").open("wb") as turn:
                fcntl.flock(turn, fcntl.LOCK_EX)  # a folder just made is not locked yet
                self._sweep()
                own = self._root / secrets.token_hex(8)
                own.mkdir(mode=0o700)
                self._lock = os.open(own, os.O_RDONLY | os.O_DIRECTORY)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._own = own

    def new(self) -> StagingArea:
        """An empty staging area."""
        if self._own is None:
            raise RuntimeError("the staging folder is not open")
        return StagingArea(self._own / secrets.token_hex(12))

    def close(self) -> None:
        """Removes this process's folder with all areas in it."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            os.close(self._lock)
            self._own = None

    def _sweep(self) -> None:
        for path in self._root.iterdir():
            if path.is_dir() and not _in_use(path):
                shutil.rmtree(path, ignore_errors=True)


def _in_use(folder: Path) -> bool:
    """True if the process that made `folder` still lives."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False

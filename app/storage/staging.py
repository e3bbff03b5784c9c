"""Where uploads and imports work until they are committed: `incoming/<token>/`.

Nothing here is a profile yet. A crash leaves at most such a folder, and the next start sweeps it.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.storage.durable import explained_writes

COPY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedFile:
    """One received file: what the user called it, where it lies, and what it is."""

    name: str
    path: Path
    size_bytes: int
    sha256: str


class StagingArea:
    """The folder of one upload. `results` is where its import leaves what it computed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.results = root / "results"
        self.files: list[StagedFile] = []
        with explained_writes():
            root.mkdir(mode=0o700, parents=True)

    def receive(self, name: str) -> "IncomingFile":
        """A new file to be written here. `name` is kept as data and never used as a path."""
        return IncomingFile(self, name, self.root / f"file-{len(self.files):04d}")

    def receive_all(self, name: str, chunks: Iterable[bytes]) -> StagedFile:
        """Writes one whole file from `chunks`."""
        incoming = self.receive(name)
        for chunk in chunks:
            incoming.write(chunk)
        return incoming.finish()

    def discard(self) -> None:
        """Removes the folder and all in it. A second call does nothing."""
        shutil.rmtree(self.root, ignore_errors=True)


class IncomingFile:
    """A file on its way in, hashed as it is written."""

    def __init__(self, area: StagingArea, name: str, path: Path) -> None:
        self.name = name
        self.size_bytes = 0
        self._area = area
        self._path = path
        self._digest = hashlib.sha256()
        with explained_writes():
            # Unbuffered: chunks come in large pieces, and nothing must be lost in a buffer.
            self._file: BinaryIO = path.open("xb", buffering=0)

    def write(self, chunk: bytes | memoryview) -> None:
        """Appends `chunk`; `StorageFullError` when the disk is full."""
        with explained_writes():
            rest = memoryview(chunk)
            while rest:
                rest = rest[self._file.write(rest) :]
        self._digest.update(chunk)
        self.size_bytes += len(chunk)

    def finish(self) -> StagedFile:
        """Flushes to the disk and adds the file to its staging area."""
        with explained_writes():
            os.fsync(self._file.fileno())
        self._file.close()
        staged = StagedFile(
            name=self.name,
            path=self._path,
            size_bytes=self.size_bytes,
            sha256=self._digest.hexdigest(),
        )
        self._area.files.append(staged)
        return staged

    def abandon(self) -> None:
        """Closes and deletes an unfinished file."""
        self._file.close()
        self._path.unlink(missing_ok=True)


class Staging:
    """All staging areas of a data folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def new(self) -> StagingArea:
        """An empty staging area."""
        return StagingArea(self._root / secrets.token_hex(12))

    def sweep(self) -> int:
        """Removes what an earlier run left behind; how many areas that were."""
        left = list(self._root.iterdir()) if self._root.is_dir() else []
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        return len(left)

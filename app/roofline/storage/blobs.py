"""Where immutable bytes lie, by the setting: a folder, or an object store.

Keys are like `blobs/ab/abcd….zst`: made of a digest or of an id with a version, so the bytes behind
one never change. Writing twice is harmless, and nothing depends on listings being up to date.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from roofline.storage.durable import explained_writes, link_into, sync_directory

CHUNK_BYTES = 1 << 20
_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobInfo:
    """One blob in a listing; `modified_at` is in Unix seconds."""

    key: str
    size_bytes: int
    modified_at: float


class BlobStore(Protocol):
    """Immutable bytes by key. Raises `StorageFullError` or `StoreUnavailableError`."""

    @property
    def folder(self) -> Path | None:
        """The folder that holds the blobs, `None` when they are on another machine."""

    def put(self, key: str, staged: Path) -> None:
        """Keeps the bytes of `staged`, which stays where it is; they last once this returns.

        Replaces what is there, which may be damaged.
        """

    def open(self, key: str) -> Iterator[bytes]:
        """The bytes in pieces; `FileNotFoundError` when there is no such blob."""

    def head(self, key: str) -> int | None:
        """The size in bytes, `None` when there is no such blob."""

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """Every blob below the folder `prefix`, in no order."""

    def delete(self, key: str) -> None:
        """Removes the blob; nothing happens when there is none."""

    def drop_unfinished(self, prefix: str, before: float) -> int:
        """Removes what writes that were cut off before `before` (Unix seconds) left; how many.

        Folders that have been empty since then go, too.
        """


class FolderBlobs:
    """Blobs as files below `root`; files staged on the same disk are linked, not copied."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def folder(self) -> Path | None:
        """See `BlobStore`."""
        return self._root

    def put(self, key: str, staged: Path) -> None:
        """See `BlobStore`. Replaces an existing file, which may be damaged."""
        with explained_writes():
            try:
                link_into(staged, self._path(key))
            except FileNotFoundError:  # `drop_unfinished` just took the empty folder away
                link_into(staged, self._path(key))

    def open(self, key: str) -> Iterator[bytes]:
        """See `BlobStore`."""
        with self._path(key).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def head(self, key: str) -> int | None:
        """See `BlobStore`."""
        try:
            return self._path(key).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """See `BlobStore`."""
        for folder, _, names in os.walk(self._root / prefix):
            for name in names:
                path = Path(folder, name)
                # A name that starts with a dot is a write that a crash cut off, or under way.
                if name.startswith(".") or (found := _stat(path)) is None:
                    continue
                key = path.relative_to(self._root).as_posix()
                yield BlobInfo(key=key, size_bytes=found.st_size, modified_at=found.st_mtime)

    def delete(self, key: str) -> None:
        """See `BlobStore`. An emptied folder stays: a `put` may be about to write there."""
        target = self._path(key)
        try:
            target.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return
        sync_directory(target.parent)

    def drop_unfinished(self, prefix: str, before: float) -> int:
        """See `BlobStore`."""
        found = [
            path
            for path in (self._root / prefix).glob("*/.*")
            if (known := _stat(path)) is not None and known.st_mtime <= before
        ]
        for path in found:
            path.unlink(missing_ok=True)
        for folder in (self._root / prefix).glob("*/"):
            if (known := _stat(folder)) is not None and known.st_mtime <= before:
                _remove_if_empty(folder)
        return len(found)

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"not the key of a blob: {key!r}")
        return self._root / key


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None  # deleted while we looked


def _remove_if_empty(directory: Path) -> None:
    try:
        directory.rmdir()
    except OSError:
        return  # it holds blobs

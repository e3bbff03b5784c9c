"""Writes that survive a crash: whole or not at all, and on the disk once they return."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roofline.errors import StorageFullError

COPY_BYTES = 1 << 20
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


@contextmanager
def explained_writes() -> Iterator[None]:
    """Turns a full or read-only disk into `StorageFullError`; other faults pass unchanged."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise StorageFullError(
            f"The server cannot store more: {os.strerror(error.errno or 0).lower()}.",
            remedy="Delete profiles that are no longer needed, or free space on the server's disk.",
        ) from error


def sync_directory(directory: Path) -> None:
    """Makes names created, renamed or removed in `directory` last."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(directory: Path) -> None:
    """Creates `directory` if it is missing, its name on the disk."""
    if not directory.is_dir():
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_directory(directory.parent)


def link_into(source: Path, target: Path) -> None:
    """Makes `target` another name of `source`, or a copy where the disk cannot do that.

    The bytes of `source` are already on the disk. A reader, or a crash, sees all of them, or the
    old file.
    """
    make_directory(target.parent)
    temporary = _temporary(target)
    try:
        try:
            os.link(source, temporary)
        except OSError:  # another disk, or one without links
            _copy(source, temporary)
        temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)
    sync_directory(target.parent)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as reader, target.open("xb") as writer:
        shutil.copyfileobj(reader, writer, COPY_BYTES)
        writer.flush()
        os.fsync(writer.fileno())


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}")


def write_whole(target: Path, data: bytes) -> None:
    """Writes `data` to `target` so that a reader, or a crash, sees all of it or the old file."""
    make_directory(target.parent)
    temporary = _temporary(target)
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)
    sync_directory(target.parent)

"""DiskRoom: how much of a disk imports may fill. They never take of its reserve.

Imports of one process share it: one that is known to need much starts only where others leave room,
so that two imports that fit one after the other do not fill the disk together. Some room is given
up when nothing else is left, so that profiles can be deleted (`DeletionRoom`).
"""

import contextlib
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roofline.errors import StorageFullError
from roofline.model.units import GIB


class DiskRoom:
    """The disk of `folder`, of which `reserve_bytes` are kept free; `None` for a usual share."""

    def __init__(self, folder: Path, reserve_bytes: int | None = None) -> None:
        self._folder = folder
        self._reserve_bytes = reserve_bytes
        self._taken_bytes = 0
        self._lock = threading.Lock()

    @property
    def kept_free_bytes(self) -> int:
        """The bytes that are kept free of the disk."""
        return disk_reserve_bytes(self._reserve_bytes, shutil.disk_usage(self._folder).total)

    @property
    def left_bytes(self) -> int:
        """Free bytes beyond what is kept free; negative when others took of that."""
        disk = shutil.disk_usage(self._folder)
        return disk.free - disk_reserve_bytes(self._reserve_bytes, disk.total)

    def check(self) -> None:
        """Raises `StorageFullError` where nothing is left."""
        if self.left_bytes < 0:
            raise no_room()

    @contextmanager
    def taken(self, size_bytes: int) -> Iterator[None]:
        """Sets `size_bytes` aside for the block; `StorageFullError` where they are not left.

        What others of this process set aside counts as gone, even where they did not use it yet.
        """
        with self._lock:
            if self.left_bytes - self._taken_bytes < size_bytes:
                raise no_room()
            self._taken_bytes += size_bytes
        try:
            yield
        finally:
            with self._lock:
                self._taken_bytes -= size_bytes


def disk_reserve_bytes(chosen: int | None, disk_bytes: int) -> int:
    """The bytes that are kept free of a disk: as chosen, else 5 % of it, at most 2 GiB.

    A database on a full disk cannot even delete.
    """
    return min(disk_bytes // 20, 2 * GIB) if chosen is None else chosen


def no_room() -> StorageFullError:
    """The error of an import on a full disk, before it goes back into the queue."""
    return StorageFullError(
        "The server's disk has too little room for this import.",
        remedy="It starts by itself when there is room: delete profiles that are no longer needed,"
        " or free space on the server's disk.",
    )


# The bytes that the rows of a deletion may add to the database's log, several times over.
ROOM_BYTES = 256 << 10


class HeldRoom:
    """The file `path`, which only takes room."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_released = False

    def hold(self) -> None:
        """Takes the room, if it is not taken and the disk has it."""
        if self._path.exists():
            return
        try:
            # Random bytes, for disks that compress; not synced, for they may be lost.
            self._path.write_bytes(os.urandom(ROOM_BYTES))
        except OSError:  # full or read-only: a part would only be in the way
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def release(self) -> bool:
        """Gives the room back; false if there was none."""
        try:
            self._path.unlink()
        except OSError:
            return False
        self._is_released = True
        return True

    def retake(self) -> None:
        """Takes the room again that was given back."""
        if self._is_released:
            self._is_released = False
            self.hold()

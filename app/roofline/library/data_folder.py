"""The folder of one server: which process may use it, and whether its disk has room."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from roofline.errors import SettingsError, StorageFullError
from roofline.model.units import bytes_text
from roofline.storage.disk_room import disk_reserve_bytes
from roofline.storage.durable import explained_writes, make_directory
from roofline.storage.profiles import LEFT_BYTES

# More than a file system stores in the folder's own block.
PROBE_BYTES = 16 << 10


class DataFolder:
    """The folder `root`. Of its disk, `reserve_bytes` are kept free; `None` for a usual share."""

    def __init__(self, root: Path, reserve_bytes: int | None = None) -> None:
        self.root = root
        self._reserve_bytes = reserve_bytes
        self._lock: BinaryIO | None = None

    @property
    def is_claimed(self) -> bool:
        """True while this object holds the folder."""
        return self._lock is not None

    def claim(self) -> None:
        """Takes the folder for this process, until `release` or its end.

        Raises `SettingsError` if another process has it, or it cannot be written.
        """
        self._lock = _locked(self.root)

    def release(self) -> None:
        """Gives the folder back. A second call does nothing."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Holds the folder for the block."""
        self.claim()
        try:
            yield
        finally:
            self.release()

    def is_in_use(self) -> bool:
        """True if another process holds the folder, or it cannot be used."""
        try:
            _locked(self.root).close()
        except SettingsError:
            return True
        return False

    def check(self) -> None:
        """Raises `StorageFullError` when nothing can be stored in it now."""
        if not os.access(self.root, os.W_OK):
            raise StorageFullError(
                "The data folder is read-only.", remedy="Make it writable for the server's user."
            )
        self.check_room(LEFT_BYTES)
        # Free bytes are not all: files may have run out, or the share of the server's user.
        with explained_writes(), tempfile.TemporaryFile(dir=self.root, buffering=0) as probe:
            probe.write(bytes(PROBE_BYTES))

    def check_room(self, size_bytes: int) -> None:
        """Raises `StorageFullError` when the disk cannot take that much and keep its reserve.

        Files are unpacked for their import: until then they need as much as they say.
        """
        disk = shutil.disk_usage(self.root)
        reserve_bytes = disk_reserve_bytes(self._reserve_bytes, disk.total)
        if disk.free - reserve_bytes < size_bytes:
            raise StorageFullError(
                f"The server's disk has {bytes_text(disk.free)} left, of which"
                f" {bytes_text(reserve_bytes)} are kept free: too little to store"
                f" {bytes_text(size_bytes)}.",
                remedy="Delete profiles that are no longer needed, or free space on the server's"
                " disk. Stored profiles can still be read.",
            )


def _locked(root: Path) -> BinaryIO:
    """The lock of a data folder, held until it is closed."""
    try:
        make_directory(root)
        lock = (root / "lock").open("wb")
    except OSError as error:
        raise SettingsError(
            f"The data folder {root} cannot be used: {os.strerror(error.errno or 0).lower()}.",
            remedy="Choose another with --data-dir or ROOFLINE_DATA_DIR.",
        ) from error
    try:
        # Freed by the system when this process ends, however it ends.
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise SettingsError(
            f"Another server uses the data folder {root}.",
            remedy="Stop it, or choose another folder with --data-dir or ROOFLINE_DATA_DIR.",
        ) from error
    return lock

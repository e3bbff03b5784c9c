"""Room on the disk that is given up when nothing else is left, so that profiles can be deleted."""

import contextlib
import os
from pathlib import Path

# The bytes that the rows of a deletion may add to the database's log, several times over.
ROOM_BYTES = 256 << 10
FILE_NAME = "room-for-deletion"


class DeletionRoom:
    """A file below `root` that only takes room."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE_NAME
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

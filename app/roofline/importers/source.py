"""The input of importers: files with their first bytes and mapped data, and a function that hears
their progress."""

import mmap
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

HEAD_BYTES = 65_536
CAPTURE_ENDINGS = (
    ".xplane.pb",
    ".xplane.pb.gz",
    ".ncu-rep",
    ".sqlite",
    ".sqlite.gz",
    "_results.db",
    "_results.db.gz",
    ".json",
    ".json.gz",
    ".csv",
    ".zip",
    ".tar",
    ".tar.gz",
    ".tgz",
)
"""Endings of what profilers write: what looks for captures in a folder leaves out other files."""

Progress = Callable[[str, float], None]
"""Told the phase ("recognise", "read", "analyse") and the fraction of it that is done, 0 to 1."""


def silent(_phase: str, _fraction: float) -> None:
    """Progress that is not shown."""


class SourceFile:
    """A file on disk, mapped when read. `name` is what the user called it, `path` where it lies.

    `upload` is the place, from 0, of the uploaded file that it is, or that holds it.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.name = name if name is not None else path.name
        self.upload = 0

    @cached_property
    def size_bytes(self) -> int:
        """Size of the file."""
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, enough to recognise any format."""
        with self.path.open("rb") as file:
            return file.read(HEAD_BYTES)

    @cached_property
    def data(self) -> mmap.mmap | bytes:
        """The whole content, memory-mapped: pages are read when touched. Empty files give b""."""
        if self.size_bytes == 0:
            return b""
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

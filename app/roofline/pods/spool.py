"""Partials in one file on disk: memory does not grow with the hosts of a run."""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from roofline.pods.partial import Names, Partial


class Spool:
    """Takes partials, then gives them back as views of the file.

    Names are kept once for all hosts that share them.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._names: dict[str, Names] = {}
        self._lengths: list[int] = []
        self._map: mmap.mmap | None = None

    def add(self, partial: Partial) -> None:
        """Write one partial at the end."""
        self._names.setdefault(partial.names.digest, partial.names)
        self._lengths.append(self._file.write(partial.content()))

    def partials(self) -> list[Partial]:
        """All partials in the order in which they came. Nothing can be added afterwards."""
        if not self._lengths:
            return []
        self._file.flush()
        self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return list(self._views(memoryview(self._map)))

    def _views(self, content: memoryview) -> Iterator[Partial]:
        begin = 0
        for length in self._lengths:
            yield Partial.read(content[begin : begin + length], self._names.__getitem__)
            begin += length

    def release(self) -> None:
        """Give back the memory of the views; what is read again comes from the file."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


@contextmanager
def spool() -> Iterator[Spool]:
    """A spool in a temporary file, which is gone afterwards."""
    with TemporaryFile(prefix="roofline-") as file:
        yield Spool(file)

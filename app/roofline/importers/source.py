"""The input of importers: files with their first bytes and mapped data, and a function that hears
their progress.

Binary files that a tool took for text were decoded, and written back as UTF-8 or UTF-16. A byte
that is not text becomes U+FFFD on the way (in UTF-8 the bytes EF BF BD), and what it was is lost.
Where the tool decoded as Latin-1, every byte above 7F becomes two. Either way no importer can make
sense of the file. Text has no control characters and a binary file is not valid text, so the two
together give it away.
"""

import codecs
import mmap
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from roofline.errors import CorruptProfileError

HEAD_BYTES = 65_536
_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})
_CONTROL_LETTERS = frozenset(map(chr, _CONTROLS))
_REPLACEMENT = "\ufffd"
_LATIN_CONTROLS = frozenset(map(chr, range(0x80, 0xA0)))  # no text has these either
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_FEWEST = 3
# Names in a small file may hold U+FFFD; a large one has such a byte in every other message.
_SMALL, _SHARE_OF_SMALL, _SHARE = 4096, 50, 4096
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


def release(content: NDArray[np.uint8], low: int, high: int) -> None:
    """Give back the memory of a mapped file's `content[low:high]`, which may be read again."""
    mapped = getattr(content.base, "obj", None)
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") and low < high:
        first = low - low % mmap.PAGESIZE
        mapped.madvise(mmap.MADV_DONTNEED, first, high - first)


def is_reencoded(head: bytes) -> bool:
    """True for the head of a binary file that was read as text and written back. Never raises."""
    if head.translate(None, _CONTROLS) == head:
        return False
    text = _strictly_decoded(head)
    if not text or _CONTROL_LETTERS.isdisjoint(text):
        return False
    least = max(_FEWEST, len(text) // (_SHARE_OF_SMALL if len(text) < _SMALL else _SHARE))
    if text.count(_REPLACEMENT) >= least:
        return True
    high = [letter for letter in text if letter >= "\x80"]
    is_latin = max(high, default="\uffff") <= "\xff"
    return is_latin and sum(letter in _LATIN_CONTROLS for letter in high) >= least


def _strictly_decoded(head: bytes) -> str:
    """The text of `head`, which may end within a letter; "" where it is not text."""
    encoding = next((encoding for mark, encoding in _BOMS if head.startswith(mark)), "utf-8")
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return ""


def reencoded_error(name: str) -> CorruptProfileError:
    """The error for such a file: what happened, and how to send it."""
    return CorruptProfileError(
        f"{name} was damaged on its way: a tool read this binary file as text and wrote it back. "
        "Its bytes are no longer those that the profiler wrote.",
        remedy="Send the original again as binary: with scp, rsync or a browser, or with ftp in "
        "binary mode; not through a clipboard, a text editor or a text redirection of the shell.",
    )

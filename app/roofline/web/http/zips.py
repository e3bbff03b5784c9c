"""Several files as one zip, sent while it is made: nothing is compressed, nothing is kept."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

CHUNK_BYTES = 1 << 20
_MODE = 0o100644  # a plain file
# The same files make the same bytes. A zip knows no time before 1980.
_MODIFIED_AT = datetime(1980, 1, 1)

Member = tuple[str, int, Callable[[], Iterator[bytes]]]
"""A file to pack: its name, its size in bytes, and what gives its content."""


def zip_stream(files: Sequence[Member]) -> Iterator[bytes]:
    """The bytes of a zip of `files`. Equal names get a number in front."""
    # Loads a library of ciphers, 0.1 s: only for downloads of several files.
    from stream_zip import ZIP_AUTO, stream_zip

    names = _distinct([name for name, _, _ in files])
    members = (
        (name, _MODIFIED_AT, _MODE, ZIP_AUTO(size_bytes, level=0), chunks())
        for name, (_, size_bytes, chunks) in zip(names, files, strict=True)
    )
    yield from stream_zip(members, chunk_size=CHUNK_BYTES)


def _distinct(names: Sequence[str]) -> list[str]:
    if len(set(names)) == len(names):
        return list(names)
    return [f"{number}-{name}" for number, name in enumerate(names)]

"""Several files as one zip, sent while it is made: nothing is compressed, nothing is kept."""

import zipfile
from collections.abc import Callable, Iterator, Sequence

Member = tuple[str, int, Callable[[], Iterator[bytes]]]
"""A file to pack: its name, its size in bytes, and what gives its content."""

_LARGE_BYTES = 2**31


class _Sink:
    """The end of a pipe: what `zipfile` wrote since the last look. Cannot seek, and says so."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        """What was written, once."""
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def zip_stream(files: Sequence[Member]) -> Iterator[bytes]:
    """The bytes of a zip of `files`. Equal names get a number in front."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        for name, file in zip(_distinct([name for name, _, _ in files]), files, strict=True):
            yield from _add(archive, sink, name, file)
    yield sink.take()


def _add(archive: zipfile.ZipFile, sink: _Sink, name: str, file: Member) -> Iterator[bytes]:
    _, size_bytes, chunks = file
    with archive.open(name, "w", force_zip64=size_bytes >= _LARGE_BYTES) as member:
        for chunk in chunks():
            member.write(chunk)
            yield sink.take()


def _distinct(names: Sequence[str]) -> list[str]:
    if len(set(names)) == len(names):
        return list(names)
    return [f"{number}-{name}" for number, name in enumerate(names)]

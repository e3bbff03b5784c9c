"""Several files as one zip, sent while it is made: nothing is compressed, nothing is kept."""

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

COPY_BYTES = 1 << 20
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


def zip_stream(files: Sequence[tuple[str, Path]]) -> Iterator[bytes]:
    """The bytes of a zip of `files` (name, path). Equal names get a number in front."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        for name, path in zip(_distinct([name for name, _ in files]), files, strict=True):
            yield from _add(archive, sink, name, path[1])
    yield sink.take()


def _add(archive: zipfile.ZipFile, sink: _Sink, name: str, path: Path) -> Iterator[bytes]:
    is_large = path.stat().st_size >= _LARGE_BYTES
    with path.open("rb") as source, archive.open(name, "w", force_zip64=is_large) as member:
        while chunk := source.read(COPY_BYTES):
            member.write(chunk)
            yield sink.take()


def _distinct(names: Sequence[str]) -> list[str]:
    if len(set(names)) == len(names):
        return list(names)
    return [f"{number}-{name}" for number, name in enumerate(names)]

"""Raw files by their SHA-256, compressed with zstd: `blobs/ab/abcd….zst`. Equal files are one blob.

Releases before the database kept files as they came, without `.zst`; those are still read.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, cast

import zstandard

from roofline.errors import DamagedCopyError
from roofline.model.plain_data import alike
from roofline.storage import statements
from roofline.storage.blobs import CHUNK_BYTES, BlobInfo, BlobStore
from roofline.storage.database import Database
from roofline.storage.durable import explained_writes
from roofline.storage.records import RawFile, StoredFile
from roofline.storage.staging import StagedFile

FOLDER = "blobs"
_DIGEST = re.compile(r"[0-9a-f]{64}")
# The window that our compressor never exceeds; a crafted frame could ask for gigabytes.
_MAX_WINDOW_BYTES = 128 << 20


class RawStore:
    """Raw files in `blobs`. Callers make sure that no other process removes what they put."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def put(self, file: StagedFile) -> None:
        """Keeps a staged file."""
        self._blobs.put(key_of(file.sha256), file.path)

    def has(self, digest: str) -> bool:
        """True if there is a copy, which may be damaged."""
        return self._find(digest) is not None

    def raw_file(self, file: StoredFile) -> RawFile:
        """`file` to be sent; `DamagedCopyError` when there is no copy."""
        if not self.has(file.sha256):
            raise damaged(file)
        return alike(RawFile, file, chunks=lambda: self.chunks(file))

    def chunks(self, file: StoredFile) -> Iterator[bytes]:
        """The bytes of `file`; `DamagedCopyError` as soon as damage shows."""
        key = self._find(file.sha256)
        if key is None:
            raise damaged(file)
        seen = 0
        try:
            for chunk in _unpacked(self._blobs.open(key), packed=key.endswith(".zst")):
                seen += len(chunk)
                yield chunk
        except (zstandard.ZstdError, FileNotFoundError) as error:
            raise damaged(file) from error
        if seen != file.size_bytes:
            raise damaged(file)

    def fetch(self, file: StoredFile, target: Path, *, tick: Callable[[int], None]) -> None:
        """Writes `file` to `target`, which must not exist; `tick` hears the bytes of each piece."""
        if (plain := self._plain_path(file)) is not None:
            if not self.is_intact(file):  # other copies carry checksums
                raise damaged(file)
            target.symlink_to(plain)
            return
        with explained_writes(), target.open("xb") as writer:
            for chunk in self.chunks(file):
                writer.write(chunk)
                tick(len(chunk))

    def is_intact(self, file: StoredFile, tick: Callable[[int], None] = lambda _: None) -> bool:
        """Reads all of it; false if there is no copy or it is not what was uploaded.

        `tick` hears the bytes of each piece.
        """
        digest = hashlib.sha256()
        try:
            for chunk in self.chunks(file):
                digest.update(chunk)
                tick(len(chunk))
        except DamagedCopyError:
            return False
        return digest.hexdigest() == file.sha256

    def remove(self, digest: str) -> None:
        """Deletes the file's bytes."""
        for key in _keys(digest):
            self._blobs.delete(key)

    def list(self) -> Iterator[tuple[str, BlobInfo]]:
        """Every digest that has bytes here, and where, in no order."""
        for info in self._blobs.list(FOLDER):
            digest = info.key.rpartition("/")[2].removesuffix(".zst")
            if _DIGEST.fullmatch(digest):
                yield digest, info

    def _find(self, digest: str) -> str | None:
        return found_key(self._blobs, digest)

    def _plain_path(self, file: StoredFile) -> Path | None:
        """Where an uncompressed copy of the right size lies as a file, if it does."""
        if self._blobs.folder is None:
            return None
        path = self._blobs.folder / key_of(file.sha256).removesuffix(".zst")
        return path if path.is_file() and os.stat(path).st_size == file.size_bytes else None


def key_of(digest: str) -> str:
    """The key of a raw file's blob."""
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"not a SHA-256 digest: {digest!r}")
    return f"{FOLDER}/{digest[:2]}/{digest}.zst"


def found_key(blobs: BlobStore, digest: str) -> str | None:
    """The key under which `blobs` has a raw file, `None` when it has none."""
    return next((key for key in _keys(digest) if blobs.head(key) is not None), None)


def damaged(file: StoredFile) -> DamagedCopyError:
    """The error for a file whose bytes are gone or wrong."""
    return DamagedCopyError(
        f"The stored copy of {file.name} is missing or damaged.",
        remedy="Upload the file again: the new copy takes the place of the damaged one.",
    )


def _keys(digest: str) -> Sequence[str]:
    key = key_of(digest)
    return key, key.removesuffix(".zst")


def _unpacked(chunks: Iterator[bytes], *, packed: bool) -> Iterator[bytes]:
    if not packed:
        yield from chunks
        return
    # Not `decompressobj`: it answers a chunk of zeros with all of the gigabyte it stands for.
    # Not `read_to_iter`: 0.25 corrupts memory when a source gives more than it was asked for.
    unpacker = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES)
    source = cast("IO[bytes]", _Reader(chunks))
    with unpacker.stream_reader(source, read_size=CHUNK_BYTES) as reader:
        while data := reader.read(CHUNK_BYTES):
            yield data


class _Reader:
    """Chunks as the file that zstandard wants to read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; empty at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)


_MARK = "blobs/instance"


class BlobOwner:
    """The mark beside raw files that names their database. `scratch` is a folder to write in."""

    def __init__(self, database: Database, blobs: BlobStore, raw: RawStore, scratch: Path) -> None:
        self._database = database
        self._blobs = blobs
        self._raw = raw
        self._scratch = scratch

    def is_this_database(self) -> bool:
        """True if these raw files belong to this database; false if another database owns them,
        so that none may be deleted.

        Files without a mark are ours if we know one of them, or if there are none. An upload stores
        its file before its row: ask once before the first upload, so that there is a mark.
        """
        with self._database.read() as connection:
            mine = statements.instance_id(connection).encode()
        if self._blobs.head(_MARK) is not None:
            return b"".join(self._blobs.open(_MARK)) == mine
        found = [digest for digest, _ in self._raw.list()]
        with self._database.read() as connection:
            known = statements.referenced(connection)
        if found and not known.intersection(found):
            return False
        self._write(mine)
        return True

    def _write(self, mine: bytes) -> None:
        with NamedTemporaryFile(dir=self._scratch, prefix=".") as file:
            file.write(mine)
            file.flush()
            os.fsync(file.fileno())
            self._blobs.put(_MARK, Path(file.name))

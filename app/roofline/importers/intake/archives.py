"""The wrappings of profiles: gzip, Zstandard, zip and tar, told by content, within limits.

An archive may hold profiles and gzip- or Zstandard-compressed ones, but no further archive. Member
names are shown to the user and never used as paths; links, devices and folders are skipped. Limits
are on real bytes while they are written, so that a bomb stops early whatever its headers claim.

Formats: RFC 1952 (gzip), RFC 8878 (Zstandard), PKWARE APPNOTE 6.3 (zip, zip64), POSIX.1-2001 (tar).
"""

import errno
import gzip
import lzma
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Protocol, cast

from roofline.errors import StorageFullError, UploadRejectedError, UploadTooLargeError
from roofline.importers.source import SourceFile, is_reencoded, reencoded_error
from roofline.model.units import GIB, KIB, MIB

COPY_BYTES = 1 << 20
_ZSTANDARD_HEADER_BYTES = 18
# The format asks decoders for 8 MiB; its command line stops at 128.
_ZSTANDARD_WINDOW_BYTES = 128 << 20
NAME_LENGTH = 255
_MOST_EMPTY_READS = 100
# Honest repetitive profiles compress 300:1 in small pieces: below this, the ratio says nothing.
RATIO_FLOOR_BYTES = 256 * MIB
# Past this, the part that was read has a ratio of its own: a bomb of 10 GiB packs to 10 MiB, and
# all of these together allow 3 GiB. The beginning of an honest file may repeat for a while.
EARLY_FLOOR_BYTES = 512 * MIB

_GZIP = b"\x1f\x8b"
_ZSTANDARD = b"(\xb5/\xfd"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR_OFFSET = 257
_TAR = b"ustar"
_UNREAD = {
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
}
# Errors that the readers of the standard library raise on damaged input.
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    struct.error,
    UnicodeError,
    ValueError,
    gzip.BadGzipFile,
)

Report = Callable[[float], None]


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackLimits:
    """The limits of unpacking, all files of one upload together.

    `keep_free_bytes` of the disk stay free, whatever the archives hold; 0: it may become full.
    """

    max_bytes: int = 32 * GIB
    max_files: int = 5_000
    max_ratio: int = 300
    keep_free_bytes: int = 0


class Unpacked(NamedTuple):
    """One file to import. `archive` is the name of the archive it came from, if from any."""

    source: SourceFile
    archive: str | None = None


def unpack(
    sources: Sequence[SourceFile],
    *,
    into: Path,
    limits: UnpackLimits,
    progress: Report = lambda _fraction: None,
) -> tuple[Unpacked, ...]:
    """The files in `sources`, archives replaced by what is in them, written below `into`.

    `into` is created when the first archive is met. Raises `UploadRejectedError` for damaged,
    encrypted or nested archives, `UploadTooLargeError` past a limit and `StorageFullError` where
    the disk has too little room; files written by then stay below `into`, for the caller to remove.
    """
    work = _Work(into=into, limits=limits, sources=sources, progress=progress)
    files: list[Unpacked] = []
    for number, source in enumerate(sources):
        for file in work.open(source):
            file.source.upload = number
            files.append(file)
    return tuple(files)


def display_name(name: str) -> str:
    """The last part of a member's or file's name, without control characters, at most 255 long."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return "".join(ch for ch in last if ch.isprintable())[:NAME_LENGTH] or "unnamed"


def _kind(head: bytes) -> str | None:
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_ZSTANDARD):
        return "Zstandard"
    if head.startswith(_ZIP):
        return "zip"
    if head[_TAR_OFFSET : _TAR_OFFSET + len(_TAR)] == _TAR:
        return "tar"
    return next((label for magic, label in _UNREAD.items() if head.startswith(magic)), None)


class _Work:
    """One call of `unpack`: where files go, and how much more may be unpacked."""

    def __init__(
        self, *, into: Path, limits: UnpackLimits, sources: Sequence[SourceFile], progress: Report
    ) -> None:
        self._into = into
        self._limits = limits
        self._packed_bytes = sum(source.size_bytes for source in sources)
        self._progress = progress
        self._unpacked_bytes = 0
        self._files = 0

    def open(self, source: SourceFile) -> list[Unpacked]:
        if is_reencoded(source.head):
            raise reencoded_error(source.name)
        match _kind(source.head):
            case None:
                return [Unpacked(source=source)]
            case "zip":
                return self._checked(source, self._zip_members)
            case "tar":
                return self._checked(source, self._tar_members)
            case "gzip" | "Zstandard":
                return self._checked(source, self._packed_content)
            case other:
                raise UploadRejectedError(
                    f"{source.name} is packed with {other}, which Roofline does not read.",
                    remedy="Upload the file itself, or pack it as .gz, .zip or .tar.gz.",
                )

    def _checked(
        self, source: SourceFile, members: Callable[[SourceFile], Iterator[Unpacked]]
    ) -> list[Unpacked]:
        try:
            files = list(members(source))
        except NotImplementedError as error:  # zipfile: an unknown compression method or version
            raise _unsupported(source.name) from error
        except _DAMAGED as error:
            raise _damaged(source.name, error) from error
        except OSError as error:
            if error.errno != errno.EINVAL:  # a place before the file's beginning
                raise
            raise _damaged(source.name, error) from error
        if not files:
            raise UploadRejectedError(
                f"{source.name} holds no files.",
                remedy="Pack the profile files themselves and upload again.",
            )
        return files

    def _packed_content(self, source: SourceFile) -> Iterator[Unpacked]:
        with _open_packed(source) as stream:
            head = stream.read(_TAR_OFFSET + len(_TAR))
        if _kind(head) != "tar":
            yield self._unpack_one(source, archive=None)
            return
        # Read through the packing: a .tar.gz needs no second copy on the disk.
        with _open_packed(source) as stream:
            yield from self._tar_stream(self._metered(stream, stream.position), source.name)

    def _unpack_one(self, source: SourceFile, *, archive: str | None) -> Unpacked:
        with _open_packed(source) as stream:
            metered = self._metered(stream, stream.position)
            content = self._write(metered, _without_packing(source.name))
        self._refuse_nested(content, archive or source.name)
        return Unpacked(source=content, archive=archive)

    def _zip_members(self, source: SourceFile) -> Iterator[Unpacked]:
        _check_directory(source, self._limits.max_files)
        with zipfile.ZipFile(source.path) as archive:
            members = [m for m in archive.infolist() if not (_is_folder(m) or _is_link(m))]
            self._check_claims(source.name, members)
            for member in members:
                if _is_clutter(member.filename):
                    continue
                with archive.open(member) as stream:
                    yield self._member(self._metered(stream), member.filename, source.name)

    def _check_claims(self, name: str, members: Sequence[zipfile.ZipInfo]) -> None:
        if any(member.flag_bits & 1 for member in members):
            raise UploadRejectedError(
                f"{name} is protected by a password.", remedy="Pack it without a password."
            )
        methods = {member.compress_type for member in members}
        if not methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise _unsupported(name)
        # Overlapping members can claim 50 GB in 100 KB: the sum is checked before any is read.
        if sum(member.file_size for member in members) > self._limits.max_bytes:
            raise self._too_large()
        for member in members:
            self._check_early(member.file_size, member.compress_size)

    def _tar_members(self, source: SourceFile) -> Iterator[Unpacked]:
        with source.path.open("rb") as stream:
            yield from self._tar_stream(self._metered(stream), source.name)

    def _tar_stream(self, stream: "_Metered", name: str) -> Iterator[Unpacked]:
        # "r|" reads forward only. Its own gzip layer ("r|gz") accepts files that are cut short.
        source = cast("IO[bytes]", stream)  # only read() is used
        with tarfile.open(fileobj=source, mode="r|", bufsize=COPY_BYTES) as archive:
            for number, member in enumerate(archive, start=1):
                if number > self._limits.max_files:
                    raise self._too_many()
                # Keep tarfile from collecting the headers of every member it has passed.
                archive.members = []  # type: ignore[attr-defined]
                if not member.isreg() or _is_clutter(member.name):
                    continue
                content = archive.extractfile(member)
                if content is not None:
                    # The holes of a sparse file are in no stream, but on the disk.
                    counted = self._metered(content) if member.issparse() else content
                    yield self._member(counted, member.name, name)
        stream.read_to_end()
        if not stream.ends_in_zeros:
            raise EOFError("it ends early")

    def _member(self, stream: _Readable, name: str, archive: str) -> Unpacked:
        source = self._write(stream, display_name(name))
        if _kind(source.head) in {"gzip", "Zstandard"}:
            content = self._unpack_one(source, archive=archive)
            source.path.unlink()
            return content
        self._refuse_nested(source, archive)
        return Unpacked(source=source, archive=archive)

    def _refuse_nested(self, source: SourceFile, archive: str) -> None:
        kind = _kind(source.head)
        if kind is not None:
            raise UploadRejectedError(
                f"{archive} holds another archive ({source.name}, {kind}).",
                remedy="Unpack the outer archive and upload what is in it.",
            )

    def _write(self, stream: _Readable, name: str) -> SourceFile:
        self._files += 1
        if self._files > self._limits.max_files:
            raise self._too_many()
        self._into.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._into / f"{self._files:05d}"
        with path.open("xb") as file:
            while chunk := stream.read(COPY_BYTES):
                self._check_room(len(chunk))
                file.write(chunk)
        return SourceFile(path, name)

    def _check_room(self, size_bytes: int) -> None:
        keep_free = self._limits.keep_free_bytes
        # Asked for each piece: other imports and uploads fill the same disk.
        if keep_free and shutil.disk_usage(self._into).free - size_bytes < keep_free:
            raise StorageFullError(
                f"The disk has no room to unpack the archive and keep {keep_free / GIB:,.3g} GiB"
                " free.",
                remedy="Free space on the disk, or upload fewer hosts at once.",
            )

    def _metered(self, stream: _Readable, position: Callable[[], int] | None = None) -> "_Metered":
        """`stream`, under the limits; `position` tells how much of what is packed was read."""
        return _Metered(stream, partial(self._account, position))

    def _account(self, position: Callable[[], int] | None, count: int, seen_bytes: int) -> None:
        self._unpacked_bytes += count
        if position is not None:
            self._check_early(seen_bytes, position())
        if self._unpacked_bytes > self._limits.max_bytes:
            raise self._too_large()
        if (
            self._unpacked_bytes > RATIO_FLOOR_BYTES
            and self._unpacked_bytes > self._packed_bytes * self._limits.max_ratio
        ):
            raise self._too_dense()
        # The packed position is not known for every kind: a profile packs about 10:1.
        self._progress(min(0.99, self._unpacked_bytes / (10 * self._packed_bytes)))

    def _check_early(self, unpacked_bytes: int, packed_bytes: int) -> None:
        """Refuses a file whose first part is a bomb, whatever comes after it."""
        is_large = unpacked_bytes > max(EARLY_FLOOR_BYTES, RATIO_FLOOR_BYTES)
        if is_large and unpacked_bytes > packed_bytes * self._limits.max_ratio:
            raise self._too_dense()

    def _too_dense(self) -> UploadTooLargeError:
        return UploadTooLargeError(
            f"The archive expands more than {self._limits.max_ratio}-fold, which no profile does.",
            remedy="Upload the profile files themselves, not packed.",
        )

    def _too_large(self) -> UploadTooLargeError:
        return UploadTooLargeError(
            f"The archive unpacks to more than {self._limits.max_bytes / GIB:,.3g} GiB.",
            remedy="Upload fewer hosts at once, or raise ROOFLINE_MAX_UNPACKED_BYTES.",
        )

    def _too_many(self) -> UploadRejectedError:
        return UploadRejectedError(
            f"The archive holds more than {self._limits.max_files:,} files.",
            remedy="Pack only the profile files, or raise ROOFLINE_MAX_UNPACKED_FILES.",
        )


class _Metered:
    """A stream whose every byte is accounted for, so that a bomb stops while it is read."""

    def __init__(self, stream: _Readable, account: Callable[[int, int], None]) -> None:
        self._stream = stream
        self._account = account
        self._seen_bytes = 0
        self._tail = b""
        self._empty_reads = 0

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._stream.read(size)
        self._check_end(chunk)
        self._seen_bytes += len(chunk)
        self._account(len(chunk), self._seen_bytes)
        self._tail = (self._tail + chunk[-tarfile.BLOCKSIZE :])[-tarfile.BLOCKSIZE :]
        return chunk

    def _check_end(self, chunk: bytes) -> None:
        # tarfile skips what a header claims in pieces, past the end too: 2**62 bytes take for ever.
        self._empty_reads = 0 if chunk else self._empty_reads + 1
        if self._empty_reads > _MOST_EMPTY_READS:
            raise EOFError("it ends early")

    def read_to_end(self) -> None:
        """Reads what is left, so that checksums at the end are checked."""
        while self.read(COPY_BYTES):
            pass

    @property
    def ends_in_zeros(self) -> bool:
        """True if the last tar block was empty, as at the end of every whole tar file."""
        return self._tail == bytes(tarfile.BLOCKSIZE)


def _damaged(name: str, error: Exception) -> UploadRejectedError:
    return UploadRejectedError(
        f"{name} is a damaged archive: {str(error)[:200] or 'it ends early'}.",
        remedy="Pack it again, or check that it was copied completely.",
    )


def _unsupported(name: str) -> UploadRejectedError:
    return UploadRejectedError(
        f"{name} uses a zip compression that Roofline does not read.",
        remedy="Pack it again with the usual (deflate) compression, or as .tar.gz.",
    )


def _without_packing(name: str) -> str:
    """The name of what is packed; "report.ncu-repz" is Nsight Compute's own packed "….ncu-rep"."""
    lower = name.lower()
    if lower.endswith(".ncu-repz"):
        return name[:-1]
    ending = next((ending for ending in (".gz", ".zst") if lower.endswith(ending)), "")
    return name[: len(name) - len(ending)]


class _Packed(_Readable, Protocol):
    def position(self) -> int:
        """How many packed bytes were read."""


def _open_packed(source: SourceFile) -> AbstractContextManager[_Packed]:
    is_gzip = _kind(source.head) == "gzip"
    return _open_gzip(source.path) if is_gzip else _open_zstandard(source.path)


@contextmanager
def _open_gzip(path: Path) -> Iterator["_Gzip"]:
    with path.open("rb") as file, gzip.GzipFile(fileobj=file) as stream:
        yield _Gzip(stream, file.tell)


class _Gzip:
    """Unpacked content, and how far the file was read for it."""

    def __init__(self, stream: _Readable, position: Callable[[], int]) -> None:
        self.read = stream.read
        self.position = position


@contextmanager
def _open_zstandard(path: Path) -> Iterator["_Zstandard"]:
    # Loaded with the first such file: most uploads have none.
    import zstandard

    unpacker = zstandard.ZstdDecompressor(max_window_size=_ZSTANDARD_WINDOW_BYTES)
    with path.open("rb") as file:
        try:
            declared_bytes = zstandard.frame_content_size(file.read(_ZSTANDARD_HEADER_BYTES))
            file.seek(0)
            stream = unpacker.stream_reader(file, read_across_frames=True)
            yield _Zstandard(stream, declared_bytes, file.tell)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error


class _Zstandard:
    """Unpacked content. The library ends quietly where a frame is cut: sizes tell."""

    def __init__(self, stream: _Readable, declared_bytes: int, position: Callable[[], int]) -> None:
        self.position = position
        self._stream = stream
        self._missing_bytes = declared_bytes

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._stream.read(size)
        self._missing_bytes -= len(chunk)
        if size and not chunk and self._missing_bytes > 0:
            raise EOFError("it ends early")
        return chunk


def _is_clutter(name: str) -> bool:
    """Files that operating systems add: resource forks and folder settings."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return "__MACOSX" in parts or (bool(parts) and parts[-1] in {".DS_Store", "Thumbs.db"})


def _is_folder(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith("/")  # `is_dir` of Python 3.11 wants a name


def _is_link(member: zipfile.ZipInfo) -> bool:
    return (member.external_attr >> 16) & 0o170000 == 0o120000


def _check_directory(source: SourceFile, max_files: int) -> None:
    """Refuses a zip with too large a directory before `zipfile` reads all of it into memory."""
    end_record_bytes, tail_bytes = 22, 66_000
    with source.path.open("rb") as file:
        file.seek(max(0, source.size_bytes - tail_bytes))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < end_record_bytes:
        return  # zipfile says what is wrong with it
    entries, directory_bytes = struct.unpack_from("<HL", tail, at + 10)
    # 1 KiB per entry is more than any honest name needs; zip64 records are read through their size.
    is_zip64 = entries == 0xFFFF or directory_bytes == 0xFFFFFFFF
    if is_zip64 and (at64 := tail.rfind(b"PK\x06\x06", 0, at)) >= 0 and at - at64 >= 56:
        entries, directory_bytes = struct.unpack_from("<QQ", tail, at64 + 32)
    if entries > max_files or directory_bytes > max_files * KIB:
        raise UploadRejectedError(
            f"{source.name} holds more than {max_files:,} files.",
            remedy="Pack only the profile files, or raise ROOFLINE_MAX_UNPACKED_FILES.",
        )

"""The results of an import beside the raw bytes: files of one profile, derived and versioned.

They are a cache: any of them may be deleted at any time and is computed again from the raw bytes.
`derived/<profile id>/<version>/` holds each file once, compressed if it is text, and `index.json`
with sizes and digests, written last: a folder without an index is unfinished. Every read is checked
against the index, and the index against its own digest: damaged results are computed again. So the
disk is not waited for: what a failing machine loses of them is damage like any other. Where
several machines serve, each has such a folder, filled from one tar file per profile in the object
store.

Results that depend on what was measured on this machine say so in their index, with the digest of
those measurements. Where one machine computes and serves, they count until it is measured again.
Where several do, measurements differ, and those of the machine that computed a result stay in it.
"""

import gzip
import hashlib
import logging
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from roofline.storage.durable import explained_writes

PAGE = "page.json"
ROOFLINE = {"in": "roofline-in.json", "out": "roofline-out.json"}
CSV = {"in": "roofline-in.csv", "out": "roofline-out.csv"}
COMPARED = "compared.json"
ADVICE = "advice.json"
PIECES = {True: "pieces-own.json", False: "pieces.json"}
"""Of the page, for people who may change the profile, and for others."""
XPROF = "xprof.json"
RANGES = "ranges"
HOSTS = "hosts"
EXPORTS = (*ROOFLINE.values(), *CSV.values(), RANGES, HOSTS, COMPARED, XPROF)
OPS = "ops"

_INDEX = "index.json"
_JOINED = "joined.json"
_MEASUREMENTS = "measurements"
_KNOWN = frozenset((PAGE, ADVICE, OPS, *EXPORTS, *PIECES.values(), _MEASUREMENTS))
_MOST_BYTES, _MOST_PLAIN_BYTES = 1 << 28, 1 << 26
"""Of a file that is read at once, and of its content: a child that a file has taken over may write
more, to fill the server's memory."""
# gzip -6: level 9 takes three times as long for 1 % less (measured on 3.7 MB of page data).
_GZIP_LEVEL = 6


Draw = Callable[[bytes, bytes], Mapping[bool, bytes]]
_log = logging.getLogger("roofline.store")


class DamagedResultError(Exception):
    """A result that is not as it was written: it must be computed again, and never be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """One result, compressed but for pieces. `etag` is the digest of its content before that.

    `stored_bytes` and `sha256` are of the file at `path`.
    """

    path: Path
    etag: str
    size_bytes: int
    stored_bytes: int
    sha256: str

    def packed(self) -> bytes:
        """The content as stored, gzip; `DamagedResultError` if it is not as it was written."""
        content = _content(self.path)
        whole = len(content) == self.stored_bytes
        if not whole or hashlib.sha256(content).hexdigest() != self.sha256:
            raise DamagedResultError(self.path.name)
        return content

    def plain(self) -> bytes:
        """The content itself; raises as `packed`."""
        content = self.packed()
        if self.sha256.startswith(self.etag):
            return content
        packed = zlib.decompressobj(wbits=31)
        # 200,000 operations are 72 MB of CSV; the others are parsed.
        most = _MOST_BYTES if self.path.name in EXPORTS else _MOST_PLAIN_BYTES
        with _damage_of(self.path, zlib.error):
            content = packed.decompress(content, most)
        if not packed.eof:
            raise DamagedResultError(self.path.name)
        return content


class ResultWriter:
    """Writes the results of one import into `directory`, which must not exist yet.

    A thread compresses and writes them in their order, while the caller computes the next. `finish`
    waits for it, and raises what it met: `StorageFullError`, `OSError`.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index: dict[str, object] = {}
        directory.mkdir(mode=0o700)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="results")
        self._written: list[Future[None]] = []

    def add(self, name: str, content: bytes, *, level: int = _GZIP_LEVEL) -> None:
        """Stores `content` as `name`, compressed by gzip at `level`."""
        self._written.append(self._thread.submit(self._add, [name], content, level))

    def add_pair(self, names: Mapping[str, str], contents: tuple[bytes, bytes]) -> None:
        """Stores `contents` as `names` with ("in") and without ("out") infeed and outfeed.

        One content for both is compressed once.
        """
        if contents[0] is contents[1]:
            both = [names["in"], names["out"]]
            self._written.append(self._thread.submit(self._add, both, contents[0], _GZIP_LEVEL))
            return
        for infeed, content in zip(("in", "out"), contents, strict=True):
            self.add(names[infeed], content)

    def _add(self, names: Sequence[str], content: bytes, level: int) -> None:
        # mtime=0: equal content gives equal bytes.
        packed = gzip.compress(content, level, mtime=0)
        for name in names:
            _write(self._directory / name, [packed])
            self._index[name] = _entry(content, packed)

    def add_ops(self, details: Iterable[bytes]) -> None:
        """Stores the details of each op, one JSON object each, to be read one at a time."""
        self._written.append(self._thread.submit(self._add_ops, list(details)))

    def _add_ops(self, lines: list[bytes]) -> None:
        _write(self._directory / OPS, lines)
        ends = [0]
        for line in lines:
            ends.append(ends[-1] + len(line))
        # A checksum for each: one op is read without the others.
        self._index[OPS] = {"ends": ends, "crc32": [zlib.crc32(line) for line in lines]}

    def finish(self, *, measurements: str | None = None) -> None:
        """Writes the index: from now on the folder is complete.

        `measurements` is the digest of this machine's, `None` where the results do not depend on
        any.
        """
        self._thread.shutdown()
        for one in self._written:
            one.result()
        if measurements is not None:
            self._index[_MEASUREMENTS] = measurements
        _write(self._directory / _INDEX, [_sealed(self._index)])


class ResultStore:
    """The derived files of all profiles at one `version` of the analysis.

    `measurements` gives the digest of what was measured on this machine; `None` where that does not
    decide whether results count. `draw` makes the pieces of the page from its data and advice, for
    people who may change the profile and for others.
    """

    def __init__(
        self,
        root: Path,
        version: str,
        measurements: Callable[[], str] | None = None,
        draw: Draw = lambda _page, _advice: {},
    ) -> None:
        self._root = root
        self._measurements = measurements
        self._make = draw
        self.version = version

    def adopt(self, profile_id: str, staged: Path) -> None:
        """Moves finished results in, replacing those of any version."""
        with explained_writes():
            self.remove(profile_id)
            target = self._directory(profile_id)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The child that wrote them may still run, and cannot open what lies there.
            fresh = staged.rename(target.with_name(f"{target.name}.new"))
            self._draw(fresh)
            fresh.rename(target)

    def complete(self, profile_id: str, exports: Path) -> None:
        """Moves more finished results in, beside those that were adopted.

        Results that have been removed since stay so: they are computed again.
        """
        with explained_writes(), suppress(FileNotFoundError):
            self.join(self._directory(profile_id), exports)

    @staticmethod
    def join(results: Path, exports: Path) -> None:
        """Moves the finished results in `exports` beside those in `results`, the index last."""
        found, more = _read_index(results), _read_index(exports)
        if not found or not more:
            return
        more = {name: more[name] for name in EXPORTS if name in more}
        for name in more:
            (exports / name).replace(results / name)
        _write(exports / _JOINED, [_sealed({**found, **more})])
        (exports / _JOINED).replace(results / _INDEX)

    def _draw(self, results: Path) -> None:
        """Writes the pieces of the page, in place of any that a child wrote, which has read a file
        of a stranger: pages show them as they are."""
        index = {**_read_index(results)}
        for name in PIECES.values():
            index.pop(name, None)
            (results / name).unlink(missing_ok=True)
        try:
            found = (_result_file(results / name, index[name]) for name in (PAGE, ADVICE))
            made = self._make(*(one.plain() for one in found))
        except Exception:  # noqa: BLE001 - each request for the page draws it then
            _log.exception("the pieces of a page could not be drawn")
            made = {}
        for may_change, content in made.items():  # each request reads them: not compressed
            _write(results / PIECES[may_change], [content])
            index[PIECES[may_change]] = _entry(content, content)
        _write(results / _JOINED, [_sealed(index)])
        (results / _JOINED).replace(results / _INDEX)

    def has(self, profile_id: str) -> bool:
        """True if the results are there at this version, and count."""
        return bool(self._index(profile_id))

    def is_outdated(self, profile_id: str) -> bool:
        """True if the results are there at this version, but of other measurements."""
        return not self._counts(self._read_index(profile_id))

    def file(self, profile_id: str, name: str) -> ResultFile | None:
        """The result `name`, or `None` when it must be computed (again)."""
        return next(self.files(profile_id, name))

    def files(self, profile_id: str, *names: str) -> Iterator[ResultFile | None]:
        """The results `names`, by one look at the index."""
        index, directory = self._index(profile_id), self._directory(profile_id)
        for name in names:
            entry, path = index.get(name, {}), directory / name
            yield _result_file(path, entry) if entry and path.is_file() else None

    def is_intact(self, profile_id: str) -> bool:
        """Reads the results at this version; false if there are any and they are damaged."""
        directory = self._directory(profile_id)
        return not directory.exists() or _is_intact(directory)

    def op(self, profile_id: str, index: int) -> bytes | None:
        """Details of one op as JSON; `IndexError` past the last, `None` when to be computed.

        Raises `DamagedResultError` if they are not as they were written.
        """
        entry = self._index(profile_id).get(OPS)
        path = self._directory(profile_id) / OPS
        if not isinstance(entry, dict) or not path.is_file():
            return None
        ends, sums = entry["ends"], entry["crc32"]
        if not 0 <= index < len(sums):
            raise IndexError(index)
        with path.open("rb") as file:
            file.seek(ends[index])
            line = _line(file, ends[index + 1] - ends[index])
        if zlib.crc32(line) != sums[index]:
            raise DamagedResultError(OPS)
        return line

    def size_bytes(self, profile_id: str) -> int:
        """Bytes of the results at this version, as they lie on the disk."""
        return sum(path.stat().st_size for path in self._directory(profile_id).glob("*"))

    def pack(self, staged: Path, target: Path) -> None:
        """Writes finished results as one tar file."""
        with tarfile.open(target, "w") as archive:
            for path in sorted(staged.iterdir()):
                archive.add(path, path.name, filter=_without_owner)

    def adopt_packed(self, profile_id: str, packed: Path, scratch: Path) -> None:
        """Moves in what `pack` wrote; `scratch` is a folder on this disk that does not exist.

        Raises `DamagedResultError` if it is not what `pack` wrote.
        """
        try:
            with explained_writes(), tarfile.open(packed) as archive:
                archive.extractall(scratch, filter="data")
        except (tarfile.TarError, EOFError, ValueError) as error:
            raise DamagedResultError(packed.name) from error
        if not _is_intact(scratch):
            raise DamagedResultError(packed.name)
        self.adopt(profile_id, scratch)

    def remove(self, profile_id: str) -> None:
        """Deletes the results of every version."""
        shutil.rmtree(self._root / profile_id, ignore_errors=True)

    def profile_ids(self) -> Iterator[str]:
        """The profiles that have a folder here."""
        if self._root.is_dir():
            yield from (path.name for path in self._root.iterdir())

    def _directory(self, profile_id: str) -> Path:
        return self._root / profile_id / self.version

    def _index(self, profile_id: str) -> Mapping[str, Any]:
        """The index of results that count; empty when they must be computed (again)."""
        index = self._read_index(profile_id)
        return index if self._counts(index) else {}

    def _counts(self, index: Mapping[str, object]) -> bool:
        if self._measurements is None or _MEASUREMENTS not in index:
            return True
        return index[_MEASUREMENTS] == self._measurements()

    def _read_index(self, profile_id: str) -> Mapping[str, Any]:
        return _read_index(self._directory(profile_id))


def _read_index(directory: Path) -> Mapping[str, Any]:
    """The index of a folder of results; empty when it is missing or damaged."""
    try:
        sealed = orjson.loads(_content(directory / _INDEX))
        entries = sealed["entries"]
        is_whole = isinstance(entries, dict) and sealed["sha256"] == _seal(entries)
    except (DamagedResultError, orjson.JSONDecodeError, KeyError, TypeError):
        return {}
    # A name may be a path where a child was taken over: none but ours is looked at.
    return {name: entries[name] for name in entries if name in _KNOWN} if is_whole else {}


def _sealed(entries: Mapping[str, object]) -> bytes:
    return orjson.dumps({"sha256": _seal(entries), "entries": entries})


def _seal(entries: Mapping[str, object]) -> str:
    """The digest of an index; entries that were read give the same bytes as those written."""
    return hashlib.sha256(orjson.dumps(entries)).hexdigest()


def _entry(content: bytes, packed: bytes) -> dict[str, object]:
    """What the index has of a result."""
    return {
        "etag": hashlib.sha256(content).hexdigest()[:32],
        "size_bytes": len(content),
        "stored_bytes": len(packed),
        "sha256": hashlib.sha256(packed).hexdigest(),
    }


def _result_file(path: Path, entry: Mapping[str, Any]) -> ResultFile:
    return ResultFile(
        path=path,
        etag=str(entry["etag"]),
        size_bytes=int(entry["size_bytes"]),
        stored_bytes=int(entry["stored_bytes"]),
        sha256=str(entry["sha256"]),
    )


def _is_intact(directory: Path) -> bool:
    """Reads every file of a folder of results; false if one is not as it was written."""
    index = _read_index(directory)
    try:
        for name, entry in index.items():
            if name == OPS:
                _check_ops(directory / OPS, entry)
            elif isinstance(entry, dict):
                _result_file(directory / name, entry).packed()
    except (DamagedResultError, OSError, LookupError, TypeError, ValueError):
        return False
    return bool(index)


def _check_ops(path: Path, entry: Any) -> None:
    ends = entry["ends"]
    with path.open("rb") as file:
        sums = [zlib.crc32(_line(file, end - start)) for start, end in pairwise(ends)]
    if path.stat().st_size != ends[-1] or sums != entry["crc32"]:
        raise DamagedResultError(OPS)


def _line(file: BinaryIO, size_bytes: int) -> bytes:
    if not 0 <= size_bytes <= _MOST_PLAIN_BYTES:
        raise DamagedResultError(OPS)
    return file.read(size_bytes)


def _content(path: Path) -> bytes:
    # Gone, or a part of the disk that cannot be read.
    with _damage_of(path, OSError), path.open("rb") as file:
        size_bytes = os.fstat(file.fileno()).st_size
        if size_bytes <= _MOST_BYTES:
            return file.read(size_bytes)
    raise DamagedResultError(path.name)


@contextmanager
def _damage_of(path: Path, kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        raise DamagedResultError(path.name) from error


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    # Equal results give equal bytes, on any machine and at any time.
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("xb") as file:
        file.writelines(pieces)

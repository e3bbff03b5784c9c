"""What an import leaves beside the raw bytes: files of one profile, derived and versioned.

They are a cache: any of them may be deleted at any time and is computed again from the raw bytes.
`derived/<profile id>/<version>/` holds each file once, compressed if it is text, and `index.json`
with sizes and digests, written last: a folder without an index is unfinished. Where several
machines serve, each has such a folder, filled from one tar file per profile in the object store.

Results that depend on what was measured on this machine say so in their index, with the digest of
those measurements. Where one machine computes and serves, they count until it is measured again.
Where several do, measurements differ, and those of the machine that computed a result stay in it.
"""

import gzip
import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from roofline.storage.durable import explained_writes, move_into, write_whole

PAGE = "page.json"
ROOFLINE = {"in": "roofline-in.json", "out": "roofline-out.json"}
CSV = {"in": "roofline-in.csv", "out": "roofline-out.csv"}
OPS = "ops"

_INDEX = "index.json"
_MEASUREMENTS = "measurements"
# gzip -6: level 9 takes three times as long for 1 % less (measured on 3.7 MB of page data).
_GZIP_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """One compressed result. `etag` is the digest of its content before compression."""

    path: Path
    etag: str
    size_bytes: int

    def packed(self) -> bytes:
        """The content as stored, gzip."""
        return self.path.read_bytes()

    def plain(self) -> bytes:
        """The content itself."""
        return gzip.decompress(self.packed())


class ResultWriter:
    """Writes the results of one import into `directory`, which must not exist yet."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index: dict[str, object] = {}
        directory.mkdir(mode=0o700)

    def add(self, name: str, content: bytes) -> None:
        """Stores `content` as `name`, compressed."""
        # mtime=0: equal content gives equal bytes.
        packed = gzip.compress(content, _GZIP_LEVEL, mtime=0)
        _write_synced(self._directory / name, [packed])
        etag = hashlib.sha256(content).hexdigest()[:32]
        self._index[name] = {"etag": etag, "size_bytes": len(content)}

    def add_ops(self, details: Iterable[bytes]) -> None:
        """Stores the details of each op, one JSON object each, to be read one at a time."""
        lines = list(details)
        _write_synced(self._directory / OPS, lines)
        ends = [0]
        for line in lines:
            ends.append(ends[-1] + len(line))
        self._index[OPS] = ends

    def finish(self, *, measurements: str | None = None) -> None:
        """Writes the index: from now on the folder is complete.

        `measurements` is the digest of this machine's, `None` where the results do not depend on
        any.
        """
        if measurements is not None:
            self._index[_MEASUREMENTS] = measurements
        write_whole(self._directory / _INDEX, orjson.dumps(self._index))


class ResultStore:
    """The derived files of all profiles at one `version` of the analysis.

    `measurements` gives the digest of what was measured on this machine; `None` where that does not
    decide whether results count.
    """

    def __init__(
        self, root: Path, version: str, measurements: Callable[[], str] | None = None
    ) -> None:
        self._root = root
        self._measurements = measurements
        self.version = version

    def adopt(self, profile_id: str, staged: Path) -> None:
        """Moves finished results in, replacing those of any version."""
        with explained_writes():
            self.remove(profile_id)
            move_into(staged, self._directory(profile_id))

    def has(self, profile_id: str) -> bool:
        """True if the results are there at this version, and count."""
        return bool(self._index(profile_id))

    def is_outdated(self, profile_id: str) -> bool:
        """True if the results are there at this version, but of other measurements."""
        return not self._counts(self._read_index(profile_id))

    def file(self, profile_id: str, name: str) -> ResultFile | None:
        """The result `name`, or `None` when it must be computed (again)."""
        entry = self._index(profile_id).get(name)
        path = self._directory(profile_id) / name
        if not isinstance(entry, dict) or not path.is_file():
            return None
        return ResultFile(path=path, etag=str(entry["etag"]), size_bytes=int(entry["size_bytes"]))

    def files(self, profile_id: str) -> Iterator[ResultFile]:
        """The compressed results at this version, as far as they are there."""
        for name in self._index(profile_id):
            if (found := self.file(profile_id, name)) is not None:
                yield found

    def op(self, profile_id: str, index: int) -> bytes | None:
        """Details of one op as JSON; `IndexError` past the last, `None` when to be computed."""
        ends = self._index(profile_id).get(OPS)
        path = self._directory(profile_id) / OPS
        if not isinstance(ends, list) or not path.is_file():
            return None
        if not 0 <= index < len(ends) - 1:
            raise IndexError(index)
        with path.open("rb") as file:
            file.seek(ends[index])
            return file.read(ends[index + 1] - ends[index])

    def size_bytes(self, profile_id: str) -> int:
        """Bytes of the results at this version, as they lie on the disk."""
        return sum(path.stat().st_size for path in self._directory(profile_id).glob("*"))

    def pack(self, staged: Path, target: Path) -> None:
        """Writes finished results as one tar file."""
        with tarfile.open(target, "w") as archive:
            for path in sorted(staged.iterdir()):
                archive.add(path, path.name, filter=_without_owner)

    def adopt_packed(self, profile_id: str, packed: Path, scratch: Path) -> None:
        """Moves in what `pack` wrote; `scratch` is a folder on this disk that does not exist."""
        with explained_writes(), tarfile.open(packed) as archive:
            archive.extractall(scratch, filter="data")
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

    def _index(self, profile_id: str) -> Mapping[str, object]:
        """The index of results that count; empty when they must be computed (again)."""
        index = self._read_index(profile_id)
        return index if self._counts(index) else {}

    def _counts(self, index: Mapping[str, object]) -> bool:
        if self._measurements is None or _MEASUREMENTS not in index:
            return True
        return index[_MEASUREMENTS] == self._measurements()

    def _read_index(self, profile_id: str) -> Mapping[str, object]:
        try:
            index = orjson.loads((self._directory(profile_id) / _INDEX).read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return {}  # missing or damaged: computed again
        return index if isinstance(index, dict) else {}


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    # Equal results give equal bytes, on any machine and at any time.
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def _write_synced(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("xb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())  # its name lasts with that of the index, which is written last

"""Partials that were computed, by the content of the file they are of: found, not computed again.

`addresses/IDENTITY` holds the SHA-256 of an object that was read, so that it is not fetched again;
the identity is that of its address, version and size.
`partials/SHA256-OF-FILE/FORMAT-VERSION-OPTIONS` holds a partial, or the list of what an archive
gave; `names/SHA256` the names of operations, which hosts share. The version is a digest of all code
that reads files; options are the file's name, which a host without a name in its file is called by.
All of it is a cache: damaged or missing entries are computed again. The command line keeps its own
below a size: it removes partials of other code first, then the oldest (`prune`), and names of
operations with the last partial that needs them.
"""

import hashlib
import json
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from roofline.model.units import GIB
from roofline.pods.folders import HostFile
from roofline.pods.partial import FORMAT, Names, Partial, names_needed
from roofline.pods.report import Unreadable
from roofline.source_closure import PACKAGE_FOLDER, source_closure
from roofline.storage.blob_places import open_blobs
from roofline.storage.blobs import BlobInfo, BlobStore

_READS = "roofline.pods.reading"
_LIST = b'{"entries":'
_DIGEST = re.compile(rb"[0-9a-f]{64}")
MAX_BYTES = 8 * GIB
_KEEP_SHARE = 0.8
"""So much of the size is left, so that not each command removes some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """The yield of a file: keys of partials, and hosts in it that cannot be read."""

    partials: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]


class KeptPartials:
    """The partials in `blobs`. Raises what the store raises where it cannot be used."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._names: dict[str, Names] = {}

    def find(self, file: HostFile, digest: str) -> KeptFile | None:
        """The yield of the file with this digest; `None` where it must be read."""
        key = file_key(file, digest)
        content = self._content(key)
        if content is None:
            return None
        found = KeptFile(partials=(key,), unreadable=())
        if content.startswith(_LIST):
            try:
                found = _listed(json.loads(content)["entries"])
            except (ValueError, TypeError):
                return None
        is_whole = all(self._is_whole(one) for one in found.partials)
        return found if is_whole else None

    def keep(
        self, file: HostFile, digest: str, entries: Sequence[Partial | Unreadable]
    ) -> KeptFile:
        """Write what the file gave, where it is not there yet."""
        key = file_key(file, digest)
        partials = [one for one in entries if isinstance(one, Partial)]
        if len(entries) == 1 and partials:
            self._add(key, partials[0])
            return KeptFile(partials=(key,), unreadable=())
        keys = [f"{key}.{number}" for number in range(len(partials))]
        for name, partial in zip(keys, partials, strict=True):
            self._add(name, partial)
        missing = [one for one in entries if isinstance(one, Unreadable)]
        listed = [*keys, *map(asdict, missing)]
        self._put(key, _LIST + json.dumps(listed).encode() + b"}")
        return KeptFile(partials=tuple(keys), unreadable=tuple(missing))

    def digest_of(self, identity: str) -> str | None:
        """The SHA-256 of an object with this address, version and size, if it was read before."""
        content = self._content(f"addresses/{identity}")
        return content.decode() if content is not None and _DIGEST.fullmatch(content) else None

    def note_digest(self, identity: str, digest: str) -> None:
        """Keeps what `digest_of` finds."""
        if self._blobs.head(f"addresses/{identity}") is None:
            self._put(f"addresses/{identity}", digest.encode())

    def partial(self, key: str) -> Partial:
        """The partial under `key`. Raises `ValueError` where it is missing or damaged."""
        content = self._content(key)
        if content is None:
            raise ValueError(f"{key} is not kept.")
        return Partial.read(content, self.names)

    def names(self, digest: str) -> Names:
        """The names with this digest. Raises `ValueError` where they are missing or damaged."""
        if digest not in self._names:
            content = self._content(f"names/{digest}")
            if content is None or hashlib.sha256(content).hexdigest() != digest:
                raise ValueError(f"names/{digest} is not kept.")
            self._names[digest] = Names.read(content)
        return self._names[digest]

    def _is_whole(self, key: str) -> bool:
        try:
            self.partial(key)
        except ValueError:
            return False
        return True

    def _add(self, key: str, partial: Partial) -> None:
        digest = partial.names.digest
        if digest not in self._names:
            if self._blobs.head(f"names/{digest}") is None:
                self._put(f"names/{digest}", partial.names.content)
            self._names[digest] = partial.names
        self._put(key, partial.content())

    def _put(self, key: str, content: bytes) -> None:
        with tempfile.NamedTemporaryFile(prefix="roofline-") as staged:
            staged.write(content)
            staged.flush()
            self._blobs.put(key, Path(staged.name))

    def _content(self, key: str) -> bytes | None:
        try:
            return b"".join(self._blobs.open(key))
        except (FileNotFoundError, NotADirectoryError):
            return None


def open_kept(place: str) -> KeptPartials:
    """The partials at `place`: `file:///folder`, `s3://…`, `gs://…` or `az://…`.

    Raises `SettingsError` if it cannot be one.
    """
    return KeptPartials(open_blobs(place, Path()))


def file_key(file: HostFile, digest: str) -> str:
    """Where the partials of the file with this digest are kept."""
    options = hashlib.sha256(f"{file.name}\n{file.is_named}".encode("utf-8", "replace"))
    return f"partials/{digest}/{FORMAT}-{reading_version()}-{options.hexdigest()[:16]}"


def made_by_this_code(key: str) -> bool:
    """False for a partial, or the list of an archive, that other code made."""
    name = key.rpartition("/")[2]
    return not key.startswith("partials/") or name.startswith(f"{FORMAT}-{reading_version()}-")


@cache
def reading_version() -> str:
    """A digest of all code that makes partials of files."""
    digest = hashlib.sha256()
    for path, content in sorted(source_closure(_READS).items()):
        digest.update(f"{path.relative_to(PACKAGE_FOLDER).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _listed(entries: Iterable[object]) -> KeptFile:
    """Raises `ValueError` or `TypeError` for other entries than ours."""
    keys, missing = [], []
    for one in entries:
        if isinstance(one, str):
            keys.append(one)
        elif isinstance(one, dict):
            missing.append(Unreadable(**one))
        else:
            raise ValueError("The list is damaged.")
    return KeptFile(partials=tuple(keys), unreadable=tuple(missing))


def prune(place: str, max_bytes: int = MAX_BYTES) -> int:
    """Removes partials until those at `place` take less than `max_bytes`; how many.

    Raises the errors of the store.
    """
    blobs = open_blobs(place, Path())
    found = [one for folder in ("partials", "addresses") for one in blobs.list(folder)]
    names = list(blobs.list("names"))
    held_bytes = sum(one.size_bytes for one in (*found, *names))
    if held_bytes <= max_bytes:
        return 0
    gone = _chosen(found, held_bytes - int(max_bytes * _KEEP_SHARE))
    for one in gone:
        blobs.delete(one.key)
    gone_keys = {one.key for one in gone}
    _drop_names(blobs, names, [one for one in found if one.key not in gone_keys])
    return len(gone)


def drop_unneeded_names(place: str, *, grace_s: float) -> int:
    """Removes names at `place` that no partial there needs, once they are so old; how many.

    A host that is read meanwhile may need names that are removed here: its partial counts as
    damaged then, and is made again.
    """
    blobs, before = open_blobs(place, Path()), time.time() - grace_s
    old = [one for one in blobs.list("names") if one.modified_at <= before]
    return _drop_names(blobs, old, list(blobs.list("partials"))) if old else 0


def _chosen(found: Sequence[BlobInfo], too_many_bytes: int) -> list[BlobInfo]:
    """The partials that go so that so many bytes are free: of other code first, then the oldest."""
    chosen = []
    for one in sorted(found, key=lambda one: (made_by_this_code(one.key), one.modified_at)):
        if too_many_bytes <= 0:
            break
        chosen.append(one)
        too_many_bytes -= one.size_bytes
    return chosen


def _drop_names(blobs: BlobStore, names: Sequence[BlobInfo], left: Sequence[BlobInfo]) -> int:
    """Removes names that none of the partials `left` needs; how many."""
    needed = {_names_of(blobs, one.key) for one in left}
    unneeded = [one.key for one in names if one.key.rpartition("/")[2] not in needed]
    for key in unneeded:
        blobs.delete(key)
    return len(unneeded)


def _names_of(blobs: BlobStore, key: str) -> str | None:
    try:
        return names_needed(b"".join(blobs.open(key)))
    except FileNotFoundError:  # it went meanwhile
        return None

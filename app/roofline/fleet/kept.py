"""Partials that were computed, by the content of the file they are of: found, not computed again.

`addresses/IDENTITY` holds the SHA-256 of an object that was read, so that it is not fetched again;
the identity is that of its address, version and size.
`partials/SHA256-OF-FILE/FORMAT-VERSION-OPTIONS` holds a partial, or the list of what an archive
gave; `names/SHA256` the names of operations, which hosts share. The version is a digest of all code
that reads files; options are the file's name, which a host without a name in its file is called by.
All of it is a cache: damaged or missing entries are computed again.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from roofline.fleet.receipts import HostFile
from roofline.pods.partial import FORMAT, Names, Partial
from roofline.pods.report import Unreadable
from roofline.source_closure import PACKAGE_FOLDER, source_closure
from roofline.storage.blobs import BlobStore

_READS = "roofline.pods.reading"
_LIST = b'{"entries":'
_DIGEST = re.compile(rb"[0-9a-f]{64}")


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

"""Objects in buckets that users name by address: listed, and read once each. Nothing is written.

An address is `s3://BUCKET/KEY`, `gs://…` or `az://…`. A key with `*`, `?` or `[` is a pattern, in
which a part `**` stands for any folders; a key without is one object, or the folder of that name.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.errors import StoreUnavailableError, UploadRejectedError
from roofline.storage.blobs import CHUNK_BYTES
from roofline.storage.object_connection import connect

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_ADDRESS = re.compile(r"(?P<scheme>s3|gs|az)://(?P<bucket>[^/?*\[]+)/?(?P<key>.*)", re.DOTALL)
_BUCKET = re.compile(r"[a-z0-9]+://[A-Za-z0-9][A-Za-z0-9._-]{1,221}")
_ANY_FOLDERS = "**"
MOST_ANY_FOLDERS = 3
MOST_LISTED = 100_000
LONGEST_KEY_BYTES = 1024
# A question mark is part of a pattern, too: options begin with their name.
_OPTIONS = re.compile(r"\?(?=(?:endpoint|region)=)")
_PATTERN = re.compile(r"[*?\[]")
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Address:
    """One address in parts; `options` are those behind its question mark."""

    bucket: str
    key: str
    options: str

    @property
    def place(self) -> str:
        """The address of the whole bucket."""
        return self.bucket + (f"?{self.options}" if self.options else "")

    def of(self, key: str) -> str:
        """The address of one object in the bucket."""
        return f"{self.bucket}/{key}" + (f"?{self.options}" if self.options else "")


@dataclass(frozen=True, slots=True)
class Listed:
    """One object of a listing, or one file of a mounted folder, by its path.

    `version` changes with its bytes; `modified_at` is in Unix seconds.
    """

    address: str
    version: str
    size_bytes: int
    modified_at: float

    @property
    def name(self) -> str:
        """The last part of its key or path."""
        is_object = is_address(self.address)
        return (parse(self.address).key if is_object else self.address).rpartition("/")[2]

    @property
    def identity(self) -> str:
        """SHA-256 of address, version and size: equal ones are the same bytes."""
        text = f"{self.address}\0{self.version}\0{self.size_bytes}"
        return hashlib.sha256(text.encode()).hexdigest()


class ChangedError(Exception):
    """The object is not the one that was listed; it is gone, or has other bytes now."""


def is_address(text: str) -> bool:
    """True for the address of a bucket or of something in it."""
    return _ADDRESS.fullmatch(text) is not None


def parse(text: str) -> Address:
    """`text` in parts; raises `UploadRejectedError` if it is not an address."""
    path, *options = _OPTIONS.split(text, maxsplit=1)
    found = _ADDRESS.fullmatch(path)
    if found is None:
        raise UploadRejectedError(
            f"{text[:200]} is not the address of a bucket.",
            remedy="Write it as s3://BUCKET/FOLDER/, gs://… or az://…",
        )
    bucket = f"{found['scheme']}://{found['bucket']}"
    return Address(bucket, found["key"].lstrip("/"), options[0] if options else "")


def check(text: str) -> None:
    """Raises `UploadRejectedError` for an address that nothing can have, or that takes too long."""
    address = parse(text)
    parts = address.key.removesuffix("/").split("/")
    why = ""
    if not (_BUCKET.fullmatch(address.bucket) and address.key.isprintable()):
        why = "has characters that no address has"
    elif len(address.key.encode("utf-8", "replace")) > LONGEST_KEY_BYTES:
        why = f"is longer than {LONGEST_KEY_BYTES:,} bytes"
    elif {".", ".."} & set(parts) or (address.key and "" in parts):
        why = "has an empty part, or one of dots"
    elif parts.count(_ANY_FOLDERS) > MOST_ANY_FOLDERS:
        why = f"has more than {MOST_ANY_FOLDERS} times {_ANY_FOLDERS}"
    if why:
        raise UploadRejectedError(
            f"The address {ascii(shown(text))[1:-1]} {why}.",
            remedy="Write it as s3://BUCKET/FOLDER/, gs://… or az://…",
        )


def list_objects(text: str) -> list[Listed]:
    """The objects at an address in order of their keys: one, those below a folder, of a pattern.

    Empty objects whose key ends with `/` are folders, and left out. Raises
    `StoreUnavailableError` where the bucket does not answer or may not be read, and
    `UploadRejectedError` where there are more than `MOST_LISTED`.
    """
    address = parse(text)
    store = _store(address)
    with explained(text):
        if _PATTERN.search(address.key):
            return _matching(store, address)
        if address.key and not address.key.endswith("/") and (one := _one(store, address)):
            return [one]
        folder = address.key.rstrip("/") + "/" if address.key else ""
        return _below(store, address, folder, lambda _key: True)


def fetch(listed: Listed, target: Path) -> str:
    """Writes the object to `target`; its SHA-256. Only the version that was listed is read.

    Raises `ChangedError` where it has another version now, `StoreUnavailableError` as
    `list_objects` does.
    """
    address = parse(listed.address)
    store = _store(address)
    for left in reversed(range(_TRIES)):
        try:
            return _fetch(store, address.key, listed, target)
        except StoreUnavailableError:
            if not left:
                raise
    raise AssertionError


def look_again(listed: Listed) -> Listed | None:
    """The object as it is now; `None` where it is gone."""
    address = parse(listed.address)
    store = _store(address)
    with explained(listed.address):
        return _one(store, address)


@lru_cache(maxsize=16)
def _connected(place: str) -> "ObjectStore":
    return connect(place, named_by=shown(place))


def _store(address: Address) -> "ObjectStore":
    return _connected(address.place)


def _fetch(store: "ObjectStore", key: str, listed: Listed, target: Path) -> str:
    import obstore

    digest, size = hashlib.sha256(), 0
    try:
        with explained(listed.address), target.open("wb") as writer:
            got = obstore.get(store, key, options={"if_match": listed.version or None})
            if _version(got.meta) != listed.version:
                raise ChangedError
            for chunk in got.stream(min_chunk_size=CHUNK_BYTES):
                digest.update(chunk)
                size += writer.write(chunk)
    except FileNotFoundError as error:
        raise ChangedError from error
    if size != listed.size_bytes:
        raise ChangedError
    return digest.hexdigest()


def _one(store: "ObjectStore", address: Address) -> Listed | None:
    import obstore

    try:
        meta = obstore.head(store, address.key)
    except FileNotFoundError:
        return None
    return _listed(address, meta)


def _matching(store: "ObjectStore", address: Address) -> list[Listed]:
    """Objects whose key has the pattern; only the folder before the first wildcard is listed."""
    plain = address.key[: _first_wildcard(address.key)]
    folder = plain[: plain.rfind("/") + 1]
    parts = address.key.split("/")
    return _below(store, address, folder, lambda key: matches(parts, key.split("/")))


def _below(
    store: "ObjectStore", address: Address, folder: str, wanted: Callable[[str], bool]
) -> list[Listed]:
    import obstore

    objects = (
        _listed(address, meta)
        for batch in obstore.list(store, prefix=folder or None)
        for meta in batch
        if wanted(meta["path"]) and not (meta["size"] == 0 and meta["path"].endswith("/"))
    )
    found = list(islice(objects, MOST_LISTED + 1))
    if len(found) > MOST_LISTED:
        raise UploadRejectedError(
            f"There are more than {MOST_LISTED:,} files at {shown(address.of(address.key))}.",
            remedy="Name a folder with fewer files, or a pattern such as *.xplane.pb.",
        )
    return sorted(found, key=lambda one: one.address)


def _listed(address: Address, meta: Any) -> Listed:
    return Listed(
        address=address.of(meta["path"]),
        version=_version(meta),
        size_bytes=meta["size"],
        modified_at=meta["last_modified"].timestamp(),
    )


def _version(meta: Any) -> str:
    return str(meta.get("e_tag") or "")


def _first_wildcard(key: str) -> int:
    found = _PATTERN.search(key)
    return found.start() if found else len(key)


def matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """True for the parts of a key that a pattern stands for, in time that grows as their product.

    Where the rest does not fit, the last `**` takes one folder more; an earlier one need not.
    """
    at = done = 0
    again: tuple[int, int] | None = None
    while done < len(parts):
        if pattern[at : at + 1] == [_ANY_FOLDERS]:
            at += 1
            again = (at, done)
        elif at < len(pattern) and fnmatchcase(parts[done], pattern[at]):
            at, done = at + 1, done + 1
        elif again is not None:
            at, done = again[0], again[1] + 1
            again = (at, done)
        else:
            return False
    return all(part == _ANY_FOLDERS for part in pattern[at:])


def shown(text: str) -> str:
    """An address for people to read: which store answers for it is not theirs to know."""
    return _OPTIONS.split(text, maxsplit=1)[0][:200]


@contextmanager
def explained(address: str) -> Iterator[None]:
    """Turns what a bucket answers into our errors; an object that is not there stays as it is."""
    from obstore import exceptions

    try:
        yield
    except exceptions.NotFoundError as error:
        raise FileNotFoundError from error
    except exceptions.PreconditionError as error:
        raise ChangedError from error
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
        raise StoreUnavailableError(
            f"{shown(address)} may not be read with these credentials.",
            remedy="Check the credentials in the environment; docs/runs.md says which.",
        ) from error
    except exceptions.BaseError as error:
        raise StoreUnavailableError(
            f"{shown(address)} cannot be read now.",
            remedy="Try again; if it lasts, check the address and the credentials.",
        ) from error

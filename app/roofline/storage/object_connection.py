"""Connections to S3, Google Cloud Storage and Azure, through obstore.

`s3://bucket/prefix?endpoint=http://…` names a place; without `endpoint`, AWS_ENDPOINT_URL does,
and without both it is Amazon's. Credentials come from the environment, as obstore reads it
(AWS_ACCESS_KEY_ID and the like). The tests run against moto's S3; Google and Azure
share the code but could not be tried.
"""

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from roofline.errors import SettingsError

if TYPE_CHECKING:
    from obstore.store import ObjectStore
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roofline.errors import StoreUnavailableError
from roofline.storage.blobs import CHUNK_BYTES, BlobInfo

_OPTIONS = {"endpoint", "region"}
# A request is tried again for this long; obstore's own three minutes are longer than people wait.
RETRY_S = 15.0


def connect(place: str, *, named_by: str) -> "ObjectStore":
    """The store of `place`; keys are below its prefix. Nothing is asked of it yet.

    `named_by` is what the user wrote the place into. Raises `SettingsError` if it cannot be one.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{named_by} names an object store, which needs the Python package obstore.",
            remedy="Install it with `pip install roofline[team]`.",
        ) from error
    address = urlsplit(place)
    options: dict[str, Any] = dict(parse_qsl(address.query))
    if unknown := set(options) - _OPTIONS:
        raise _refused(named_by, f"it does not take {', '.join(sorted(unknown))}")
    if address.scheme == "s3" and (elsewhere := _endpoint_of_environment()):
        options.setdefault("endpoint", elsewhere)
    local = str(options.get("endpoint", "")).startswith("http://")
    try:
        return from_url(
            address._replace(query="").geturl(),
            client_options={"allow_http": local},
            retry_config={"retry_timeout": timedelta(seconds=RETRY_S)},
            **options,
        )
    except (BaseError, ValueError) as error:
        raise _refused(named_by, str(error).splitlines()[0]) from error


def _endpoint_of_environment() -> str | None:
    """The address of another S3 than Amazon's, as Amazon's own tools read it."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def _refused(named_by: str, why: str) -> SettingsError:
    return SettingsError(
        f"{named_by} cannot be used: {why}.",
        remedy="Write it as s3://bucket/prefix?endpoint=https://…&region=…, without secrets.",
    )


try:
    import obstore
    from obstore.exceptions import BaseError
except ModuleNotFoundError as error:
    raise SettingsError(
        "ROOFLINE_BLOBS names an object store, which needs the Python package obstore.",
        remedy="Install the packages for teams as docs/operations.md says.",
    ) from error


class ObjectBlobs:
    """Blobs in the bucket of `place`, all keys below its prefix."""

    def __init__(self, place: str) -> None:
        self._store = connect(place, named_by="ROOFLINE_BLOBS")

    @property
    def folder(self) -> Path | None:
        """See `BlobStore`."""
        return None

    def put(self, key: str, staged: Path) -> None:
        """See `BlobStore`. Replaces an existing object, which may be damaged: sizes do not tell."""
        with _explained():
            obstore.put(self._store, key, staged)  # in parts, when large

    def open(self, key: str) -> Iterator[bytes]:
        """See `BlobStore`."""
        with _explained():
            for chunk in obstore.get(self._store, key).stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)

    def head(self, key: str) -> int | None:
        """See `BlobStore`."""
        try:
            with _explained():
                return int(obstore.head(self._store, key)["size"])
        except FileNotFoundError:
            return None

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """See `BlobStore`."""
        with _explained():
            for batch in obstore.list(self._store, prefix):
                for found in batch:
                    yield BlobInfo(
                        key=found["path"],
                        size_bytes=found["size"],
                        modified_at=found["last_modified"].timestamp(),
                    )

    def delete(self, key: str) -> None:
        """See `BlobStore`."""
        try:
            with _explained():
                obstore.delete(self._store, key)
        except FileNotFoundError:
            return

    def drop_unfinished(self, prefix: str, before: float) -> int:
        """See `BlobStore`. An object store shows whole objects only."""
        return 0


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (BaseError, OSError) as error:
        raise StoreUnavailableError(
            "The object store of this server cannot be used now.",
            remedy="Try again; if it lasts, check ROOFLINE_BLOBS and its credentials.",
        ) from error

"""Blobs in S3, Google Cloud Storage or Azure, through obstore: see `object_connection`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roofline.errors import SettingsError, StoreUnavailableError
from roofline.storage.blobs import CHUNK_BYTES, BlobInfo
from roofline.storage.object_connection import connect

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

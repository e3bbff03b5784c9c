"""Which store holds blobs, by the address that settings give."""

from pathlib import Path

from roofline.errors import SettingsError
from roofline.storage.blobs import BlobStore, FolderBlobs


def open_blobs(place: str | None, data_dir: Path) -> BlobStore:
    """The blob store at `place`: `None` for the data folder, `file://…`, `s3://…`, `gs://…`, `az://…`.

    Raises `SettingsError` if it cannot be one.
    """
    if place is None:
        return FolderBlobs(data_dir)
    scheme, _, rest = place.partition("://")
    if scheme == "file" and rest.startswith("/"):
        return FolderBlobs(Path(rest))
    if scheme in {"s3", "gs", "az"} and rest:
        # Loads obstore, which only servers of teams have.
        from roofline.storage.objects import ObjectBlobs

        return ObjectBlobs(place)
    raise SettingsError(
        f"ROOFLINE_BLOBS cannot be {place.partition('?')[0]!r}.",
        remedy="Write it as s3://bucket/prefix, gs://…, az://… or file:///folder, or unset it.",
    )

"""Files of a run on this machine and in buckets: found, and fetched as they were listed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roofline.errors import UploadRejectedError
from roofline.pods.files import Found, captures_among, files_of
from roofline.storage import buckets
from roofline.storage.buckets import ChangedError, Listed

_TRIES = 3


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object of a run; `is_named` is true where the user named it, not only its folder."""

    listed: Listed
    is_named: bool


Source = Found | FoundObject


def sources_of(places: Sequence[str]) -> list[Source]:
    """The files at `places`: paths, patterns of paths, and addresses of buckets.

    Raises `UploadRejectedError` where there is none.
    """
    found: list[Source] = []
    for place in places:
        found += _objects_at(place) if buckets.is_address(place) else files_of([Path(place)])
    return found


def _objects_at(address: str) -> list[Source]:
    listed = buckets.list_objects(address)
    if not listed:
        raise UploadRejectedError(
            f"There are no objects at {address[:200]}.",
            remedy="Name the folder that the profiler wrote, with a / at its end.",
        )
    is_named = len(listed) == 1 and buckets.parse(address) == buckets.parse(listed[0].address)
    return [FoundObject(one, is_named) for one in captures_among(listed)]


def fetch_steady(listed: Listed, target: Path) -> tuple[Listed, str]:
    """Fetches the object as it is now: which version that was, and its SHA-256.

    Raises `UploadRejectedError` where it is gone, or changes each time.
    """
    for _ in range(_TRIES):
        try:
            return listed, buckets.fetch(listed, target)
        except ChangedError:
            now = buckets.look_again(listed)
            if now is None:
                raise UploadRejectedError(
                    "The object is gone.", remedy="List the run again."
                ) from None
            listed = now
    raise UploadRejectedError(
        "The object changes while it is read.", remedy="Wait until its host has written it."
    )

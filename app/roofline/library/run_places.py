"""The files that a server may read for people: only what is below the configured prefixes.

A server must not lend its credentials: without a prefix it reads no bucket and no folder. Which
store answers for a bucket (`?endpoint=…`) is the prefix's to say, and not the user's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roofline.errors import NotAllowedError, SettingsError, UploadRejectedError
from roofline.storage import buckets


@dataclass(frozen=True, slots=True)
class RunPlaces:
    """The prefixes of ROOFLINE_BUCKETS: addresses of buckets or folders, and paths."""

    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, prefixes: Sequence[str]) -> "RunPlaces":
        """Raises `SettingsError` for a prefix that is neither an address nor a whole path."""
        for one in prefixes:
            if not buckets.is_address(one) and not one.startswith("/"):
                raise SettingsError(
                    f"ROOFLINE_BUCKETS has {one[:80]!r}, which is not an address or a whole path.",
                    remedy="Write s3://bucket/prefix, gs://…, az://… or /mnt/folder.",
                )
        return cls(tuple(prefixes))

    def allowed(self, place: str) -> str:
        """`place` as it is read. Raises `NotAllowedError` where no prefix has it."""
        text = place.strip()
        for prefix in self.prefixes:
            if (found := _below(prefix, text)) is not None:
                return found
        raise NotAllowedError(
            f"This server does not read {_shown(text)}.",
            remedy=f"It reads what is below {', '.join(map(_shown, self.prefixes))}."
            if self.prefixes
            else "Ask its operator to name the place in ROOFLINE_BUCKETS, or send the files with"
            " `roofline push`.",
        )


def _shown(place: str) -> str:
    return place.partition("?endpoint=")[0].partition("?region=")[0][:200]


def _below(prefix: str, place: str) -> str | None:
    """`place` with the options of `prefix`, if it is below it."""
    if buckets.is_address(prefix):
        return _object_below(prefix, place)
    return _path_below(Path(prefix), place.removeprefix("file://"))


def _object_below(prefix: str, place: str) -> str | None:
    if not buckets.is_address(place):
        return None
    given, known = buckets.parse(place), buckets.parse(prefix)
    if given.options:
        raise UploadRejectedError(
            "The address has options behind its question mark.",
            remedy="Leave them out: the server knows which store it reads.",
        )
    folder = known.key.rstrip("/") + "/" if known.key else ""
    if given.bucket != known.bucket or not f"{given.key.rstrip('/')}/".startswith(folder):
        return None
    options = f"?{known.options}" if known.options else ""
    return f"{given.bucket}/{given.key}{options}"


def _path_below(prefix: Path, place: str) -> str | None:
    """Links are followed before the paths are compared; patterns are not taken on a server."""
    if not place.startswith("/"):
        return None
    path = Path(place).resolve()
    return str(path) if path.is_relative_to(prefix.resolve()) else None

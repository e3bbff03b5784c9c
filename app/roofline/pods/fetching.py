"""Files of a run that lie in buckets: fetched a few ahead, each once, while others are read."""

import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from roofline.errors import RooflineError, UploadRejectedError
from roofline.pods.partial import Partial
from roofline.pods.reading import Found, captures_among, files_of, read_file
from roofline.pods.report import Unreadable
from roofline.storage import buckets
from roofline.storage.buckets import ChangedError, Listed

AHEAD = 8
"""Files fetched before they are read: their bytes lie on the disk."""
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


def read_sources(sources: Sequence[Source]) -> Iterator[Partial | Unreadable]:
    """What each source gives to the run, in order."""
    with (
        tempfile.TemporaryDirectory(prefix="roofline-") as scratch,
        ThreadPoolExecutor(AHEAD) as threads,
    ):
        waiting: deque[Future[_Fetched]] = deque()
        rest = iter(enumerate(sources))
        while True:
            for number, source in rest:
                folder = Path(scratch) / str(number)
                waiting.append(threads.submit(_fetched, source, folder))
                if len(waiting) >= AHEAD:
                    break
            if not waiting:
                return
            fetched = waiting.popleft().result()
            yield from fetched.read()


@dataclass(frozen=True, slots=True)
class _Fetched:
    """A file that is here now, or why it is not; `is_ours` if it goes after it was read."""

    file: Found | Unreadable
    is_ours: bool

    def read(self) -> list[Partial | Unreadable]:
        if isinstance(self.file, Unreadable):
            return [self.file]
        try:
            return read_file(self.file)
        finally:
            if self.is_ours:
                self.file.path.unlink(missing_ok=True)


def _fetched(source: Source, folder: Path) -> _Fetched:
    if isinstance(source, Found):
        return _Fetched(source, is_ours=False)
    folder.mkdir()
    target = folder / source.listed.name
    try:
        fetch_steady(source.listed, target)
    except RooflineError as error:
        reason = f"{error.message} {error.remedy}"
        gone = Unreadable(name=source.listed.name, digest="", reason=reason)
        return _Fetched(gone, is_ours=False)
    return _Fetched(Found(target, source.is_named), is_ours=True)


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

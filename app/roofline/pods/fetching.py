"""Files of a run on this machine and in buckets: found, and fetched as they were listed."""

import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from roofline.errors import UploadRejectedError
from roofline.pods.folders import (
    HostFile,
    as_one,
    captures_among,
    check_one_session,
    files_of,
    hosts_among,
    members_of,
    path_of,
)
from roofline.storage import buckets
from roofline.storage.buckets import ChangedError, Listed

_TRIES = 3


def sources_of(places: Sequence[str]) -> list[HostFile]:
    """The files at `places`: paths, patterns of paths, and addresses of buckets.

    Raises `UploadRejectedError` where there is none, and where one place has several sessions.
    """
    sources: list[HostFile] = []
    for place in places:
        hosts = _objects_at(place) if buckets.is_address(place) else files_of([Path(place)])
        check_one_session([path_of(one.address) for one in hosts])
        sources += hosts
    return sources


def _objects_at(address: str) -> list[HostFile]:
    buckets.check(address)
    listed = buckets.list_objects(address)
    if not listed:
        raise UploadRejectedError(
            f"There are no objects at {buckets.shown(address)}.",
            remedy="Name the folder that the profiler wrote, with a / at its end.",
        )
    is_named = len(listed) == 1 and buckets.parse(address) == buckets.parse(listed[0].address)
    found = hosts_among(captures_among(listed))
    return [HostFile.of(one, is_named=is_named) for one in found]


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
    raise _changing()


def fetch_folder(address: str, target: Path) -> Listed:
    """Packs a folder whose files are one host; which version that was.

    The same files give the same bytes. Raises as `fetch_steady`.
    """
    for _ in range(_TRIES):
        members = members_of(address)
        if not members:
            raise UploadRejectedError("The folder is gone.", remedy="List the run again.")
        try:
            _pack(members, path_of(address), target)
        except (ChangedError, FileNotFoundError):
            continue
        packed = as_one(path_of(address), members)
        if members_of(address) == members:
            return packed
    raise _changing()


def _pack(members: Sequence[Listed], folder: str, target: Path) -> None:
    """Writes the files as an archive. Raises `ChangedError` where one changed."""
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as packed:
        for one in members:
            # Neither times nor owners: they are not part of the content.
            member = tarfile.TarInfo(path_of(one.address).removeprefix(folder))
            member.size = one.size_bytes
            with _here(one, target.with_suffix(".part")) as path, path.open("rb") as content:
                try:
                    packed.addfile(member, content)
                except OSError as error:  # it is shorter now
                    raise ChangedError from error


@contextmanager
def _here(listed: Listed, scratch: Path) -> Iterator[Path]:
    """The file on this machine, fetched where it is an object."""
    if not buckets.is_address(listed.address):
        yield Path(listed.address)
        return
    buckets.fetch(listed, scratch)
    try:
        yield scratch
    finally:
        scratch.unlink()


def _changing() -> UploadRejectedError:
    return UploadRejectedError(
        "The object changes while it is read.", remedy="Wait until its host has written it."
    )

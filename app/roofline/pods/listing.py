"""The files of a run at one place: a folder, a pattern, or an address in a bucket.

JAX and TensorFlow write `LOG_DIR/plugins/profile/SESSION/HOST.xplane.pb`. Hosts of one capture may
land in several sessions, each named after the clock of its host: `join` puts them together.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import inf
from pathlib import Path

from roofline.errors import UploadRejectedError
from roofline.pods.folders import (
    ROCPROFV3,
    XSPACE_SUFFIX,
    above_ranks,
    captures_among,
    check_one_session,
    files_of,
    hosts_among,
    is_folder,
    listed_folder,
    on_disk,
    path_of,
    session_of,
    some_of,
)
from roofline.storage import buckets
from roofline.storage.buckets import Listed

_STARTED = re.compile(r"\d{4}(?:_\d\d){5}")
_HOST_FILES = (".xplane.pb", ".pt.trace.json", ".pt.trace.json.gz", ".ncu-rep", ".partial")
"""Names that profilers give to files of hosts; others are imported by address."""


@dataclass(frozen=True, slots=True)
class RunListing:
    """The files of a run, and how they were found where that needs words."""

    files: tuple[Listed, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Files of one session; `begun_at` is the time in its name, or that of its first file.

    `is_begin_told` is true for a time in its name: files are written when captures have ended.
    """

    name: str
    begun_at: float
    is_begin_told: bool
    files: tuple[Listed, ...]

    @property
    def ended_by(self) -> float:
        """When its last file was written: its captures had ended then.

        Infinite where that is before its begin: the clock of its name has another time zone.
        """
        written = max(one.modified_at for one in self.files)
        return written if written >= self.begun_at else inf

    @property
    def hosts(self) -> frozenset[str]:
        """The names of its files, which are those of hosts."""
        return frozenset(one.name for one in self.files)


def list_run(place: str, *, join_s: float | None = None) -> RunListing:
    """The captures of hosts at `place`. Nothing of them is read.

    Raises `UploadRejectedError` where there is none, and where there are several sessions unless
    `join_s` puts them together: they begin at most so many seconds apart, share no host, and none
    begins after the others were written.
    """
    found = buckets.list_objects(place) if buckets.is_address(place) else _on_disk(place)
    if not found:
        raise UploadRejectedError(
            f"There are no files at {buckets.shown(place)}.",
            remedy="Name the folder that the profiler wrote, with a / at its end.",
        )
    captures = hosts_among(captures_among(found))
    if join_s is None:
        check_one_session([path_of(one.address) for one in captures])
        return RunListing(tuple(captures), "")
    sessions = sessions_of(captures)
    return _joined(sessions, join_s) if len(sessions) > 1 else RunListing(tuple(captures), "")


def _on_disk(place: str) -> list[Listed]:
    return [
        listed_folder(one.path) if one.is_folder else on_disk(one.path)
        for one in files_of([Path(place)])
        if one.path.exists()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunThere:
    """A folder with captures of hosts; `newest_at` is when its last file was written.

    `mark` changes with its listing.
    """

    place: str
    name: str
    hosts: int
    size_bytes: int
    newest_at: float
    mark: str


def runs_below(prefix: str) -> list[RunThere]:
    """The folders below a prefix that hold captures of hosts, the newest first."""
    if buckets.is_address(prefix):
        parts = buckets.parse(prefix)
        found = buckets.list_objects(parts.of(f"{parts.key.rstrip('/')}/" if parts.key else ""))
    else:
        found = [on_disk(path) for path in Path(prefix).rglob("*") if path.is_file()]
    folders: dict[str, list[Listed]] = {}
    for one in hosts_among(found, refuse=False):
        if (place := _run_of(one)) is not None:
            folders.setdefault(place, []).append(one)
    runs = [_there(place, captures_among(files)) for place, files in folders.items()]
    return sorted(runs, key=lambda one: (-one.newest_at, one.place))


def _run_of(host: Listed) -> str | None:
    """The folder of the run of a file, or folder, that may be a host; `None` for other files.

    Options of an address are the prefix's to say, and left out.
    """
    address = host.address.partition("?endpoint=")[0].partition("?region=")[0]
    own = address.rpartition("/")[0] + "/"
    if host.name.endswith(XSPACE_SUFFIX):
        return own
    above = above_ranks(path_of(address))
    if above is None:
        return own if is_folder(address) or host.name.endswith(_HOST_FILES) else None
    if not (is_folder(address) or host.name.endswith((*_HOST_FILES, ROCPROFV3))):
        return None
    return buckets.parse(address).of(above) if buckets.is_address(address) else above


def _there(place: str, files: Sequence[Listed]) -> RunThere:
    identities = "".join(sorted(one.identity for one in files))
    return RunThere(
        place=place,
        name=place.rstrip("/").rpartition("/")[2],
        hosts=len(files),
        size_bytes=sum(one.size_bytes for one in files),
        newest_at=max(one.modified_at for one in files),
        mark=hashlib.sha256(identities.encode()).hexdigest(),
    )


def sessions_of(files: Sequence[Listed]) -> list[Session]:
    """The sessions of a profiler among `files`, in order of begin; none for other files."""
    found: dict[str, list[Listed]] = {}
    for one in files:
        if (name := session_of(path_of(one.address))) is not None:
            found.setdefault(name, []).append(one)
    sessions = [_session(name, tuple(own)) for name, own in found.items()]
    return sorted(sessions, key=lambda one: (one.begun_at, one.name))


def _session(name: str, files: tuple[Listed, ...]) -> Session:
    told = _told_begin(name)
    return Session(
        name=name,
        begun_at=min(one.modified_at for one in files) if told is None else told,
        is_begin_told=told is not None,
        files=files,
    )


def _told_begin(name: str) -> float | None:
    """The time in a session's name, in seconds since 1970; `None` for other names."""
    if not _STARTED.fullmatch(name):
        return None
    try:
        return datetime.strptime(name, "%Y_%m_%d_%H_%M_%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _joined(sessions: Sequence[Session], join_s: float) -> RunListing:
    """All sessions as one run. Raises `UploadRejectedError` where they are not one capture."""
    apart_s = sessions[-1].begun_at - sessions[0].begun_at
    if apart_s > join_s:
        raise UploadRejectedError(
            f"The {len(sessions)} sessions begin {apart_s:,.0f} s apart, more than {join_s:,.0f} s:"
            f" {_names(sessions)}.",
            remedy="Name the sessions of one capture with a pattern, such as SESSION*/.",
        )
    _check_overlap(sessions)
    seen: dict[str, str] = {}
    for session in sessions:
        for host in sorted(session.hosts):
            if host in seen:
                raise UploadRejectedError(
                    f"{host} is in two sessions: {seen[host]} and {session.name}. They are two"
                    " captures.",
                    remedy="Name one of them.",
                )
            seen[host] = session.name
    files = tuple(one for session in sessions for one in session.files)
    note = f"{len(sessions)} sessions are one run; they begin {apart_s:,.0f} s apart:"
    return RunListing(files, f"{note} {_names(sessions)}.")


def _check_overlap(sessions: Sequence[Session]) -> None:
    """Raises `UploadRejectedError` where one began after all earlier ones had been written."""
    ended_by = -inf
    for earlier, later in pairwise(sessions):
        ended_by = max(ended_by, earlier.ended_by)
        if later.is_begin_told and later.begun_at > ended_by:
            raise UploadRejectedError(
                f"{later.name} begins {later.begun_at - ended_by:,.0f} s after {earlier.name} was"
                " written. They are two captures: hosts of one run are captured at the same time.",
                remedy="Name one of them.",
            )


def _names(sessions: Sequence[Session]) -> str:
    return some_of([one.name for one in sessions])

"""The records of profiles and jobs, as plain data. Times are ISO 8601 in UTC."""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NewType

from roofline.errors import RooflineError

ProfileId = NewType("ProfileId", str)

IMPORTING, READY, FAILED, TRASHED = "importing", "ready", "failed", "trashed"
QUEUED, RUNNING, DONE, CANCELLED = "queued", "running", "done", "cancelled"

JobKind = Literal["import", "analyse"]
Visibility = Literal["everybody", "link", "owner"]
"""Of a profile; `storage.visibility` has the rule."""
EVERYBODY: Visibility = "everybody"
LINK: Visibility = "link"
OWNER: Visibility = "owner"


def new_profile_id() -> ProfileId:
    """An id that cannot be guessed (128 bits): anyone with the link may see the profile."""
    return ProfileId(secrets.token_urlsafe(16))


def profile_id_of(uploader: str, key: str) -> ProfileId:
    """The id of what `uploader` sends with `key`, which only they know."""
    digest = hashlib.sha256(f"{uploader}\0{key}".encode()).digest()
    return ProfileId(urlsafe_b64encode(digest[:16]).rstrip(b"=").decode())


def timestamp(ahead: timedelta = timedelta(0)) -> str:
    """The present time plus `ahead`, to the second: 2026-01-31T12:00:00Z. Sorts as text."""
    moment = datetime.now(UTC) + ahead
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One raw file of a profile; `name` is what the user called it."""

    name: str
    size_bytes: int
    sha256: str
    stored_bytes: int | None = None  # on the disk, compressed
    host: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFile:
    """A raw file to be sent: `chunks()` gives its `size_bytes` bytes, unpacked, from the start."""

    name: str
    size_bytes: int
    sha256: str
    chunks: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The line of a profile in lists; `bound_*` and `efficiency_ratio` are `None` when unknown.

    `subject` is what its numbers are of, as in the page data but without `parts`: `None` for one
    stored by an earlier release. `headline` is the first sentence of its page, `lines` are this
    sentence and what to do first, as segments. `picture` is its "Time to gain" as an `svg` element:
    empty without times, `None` for one stored by an earlier release. `efficiency_ratio` is the
    subject's share of the roof, `bound_by` its verdict's ceiling.
    """

    device: str
    device_kind: str
    core_count: int
    core_word: str
    host_count: int
    op_count: int
    bound_by: str | None
    bound_kind: str | None
    bound_token: str | None
    efficiency_ratio: float | None
    subject: Mapping[str, Any] | None = None
    headline: str = ""
    lines: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    picture: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The findings of an import; `hosts` are host names by file name, as far as they are known.

    `title` is for a profile without a given one; `op_shares` are shares of the time by operation.
    """

    format: str
    summary: Summary
    hosts: Mapping[str, str]
    title: str = ""
    op_shares: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Found":
        """The message of an import's child; `KeyError` or `TypeError` where it is not that."""
        return cls(
            format=str(data["format"]),
            summary=Summary(**data["summary"]),
            hosts=dict(data.get("hosts", {})),
            title=str(data.get("title", "")),
            op_shares=dict(data.get("op_shares", {})),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One ready profile as stored; `sample` names a bundled file, `note` is plain text.

    `digests` as of `NewProfile`. `release` computed its results, which replaced those of the
    version `before`: both `None` in lists, and where they are not known.
    """

    id: ProfileId
    title: str
    created_at: str
    format: str
    files: tuple[StoredFile, ...]
    summary: Summary
    sample: str | None = None
    note: str = ""
    tags: tuple[str, ...] = ()
    uploader: str | None = None
    pinned: bool = False
    expires_at: str | None = None
    digests: tuple[str, ...] | None = None
    visibility: Visibility = EVERYBODY
    release: str | None = None
    before: str | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProfile:
    """A profile to be imported. `delete_token_hash` is that of a secret given to the uploader.

    The import replaces a title that `title_is_of_files` and that tells nothing of the program.
    `digests` are those of the unpacked files that are imported, `None` for all.
    """

    id: ProfileId
    title: str
    created_at: str
    files: tuple[StoredFile, ...]
    sample: str | None = None
    note: str = ""
    tags: tuple[str, ...] = ()
    uploader: str | None = None
    expires_at: str | None = None
    delete_token_hash: str | None = None
    digests: tuple[str, ...] | None = None
    visibility: Visibility = EVERYBODY
    title_is_of_files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A profile that is not ready: being imported (`error` is `None`) or failed.

    `holds_files` is false once its raw bytes are gone. `digests` as of `NewProfile`.
    """

    id: ProfileId
    title: str
    created_at: str
    files: tuple[StoredFile, ...]
    uploader: str | None
    error: RooflineError | None
    holds_files: bool = True
    digests: tuple[str, ...] | None = None
    visibility: Visibility = EVERYBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The uploader of a profile, the hash of the token that allows to delete it, its visibility."""

    uploader: str | None
    delete_token_hash: str | None
    visibility: Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Trashed:
    """A profile in the trash; `reason` is deleted, expired or over quota."""

    id: ProfileId
    title: str
    created_at: str
    uploader: str | None
    trashed_at: str
    reason: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedResults:
    """Results of a profile as one blob; the digest is `None` for those of earlier releases."""

    key: str
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One page of a search; `total` counts all that match."""

    profiles: tuple[Manifest, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """Sizes of the store. `raw_bytes` counts each profile's files, `stored_bytes` shared once.

    `damaged_files` are those that the regular check found, and that nothing repaired since.
    """

    profile_count: int
    raw_bytes: int
    stored_bytes: int
    queued_jobs: int
    damaged_files: int
    scrubs: "tuple[ScrubState, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubState:
    """How far the regular check of a part of the store is: of `raw` files, or of `results`.

    `finished_at` is the end of the last complete check in Unix seconds, `None` before. `checked`
    counts files or profiles of the newest check, `repaired` those of all checks.
    """

    part: str
    finished_at: float | None
    checked: int
    repaired: int


# In the column of the phase, while a job is queued.
_WAITS: dict[str, "WaitsFor"] = {"disk": "disk", "store": "store", "machine": "machine"}
WaitsFor = Literal["disk", "store", "machine"]
"""A queued job may wait for room on the disk, for a database or object store that is away, or until
it is tried again after the machine ended it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One import, or one analysis again by newer code. `lease_until` is in Unix seconds.

    `needs_bytes` is the free room on the disk without which it met a full one; `None` at first.
    """

    id: str
    profile_id: ProfileId
    kind: JobKind
    version: str
    state: str
    attempts: int
    phase: str
    fraction: float
    created_at: float
    finished_at: float | None
    lease_until: float | None
    needs_bytes: int | None
    error: RooflineError | None

    @property
    def waits_for(self) -> WaitsFor | None:
        """The thing without which it cannot begin; `None` for its turn alone, or when it runs."""
        return _WAITS.get(self.phase) if self.state == QUEUED else None

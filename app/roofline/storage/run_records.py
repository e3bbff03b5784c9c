"""The records of runs of many hosts, as plain data. Times are Unix seconds."""

from dataclasses import dataclass
from typing import Literal

from roofline.storage.records import Visibility

RunState = Literal["reading", "complete", "cancelled", "failed"]
"""Of a run: hosts are read or may still come, all are read, a person ended it, no list of hosts."""
READING: RunState = "reading"
COMPLETE: RunState = "complete"
CANCELLED: RunState = "cancelled"
NO_LIST: RunState = "failed"

HostState = Literal["waiting", "read", "unreadable", "not a host"]
WAITING: HostState = "waiting"
READ: HostState = "read"
UNREADABLE: HostState = "unreadable"
NOT_A_HOST: HostState = "not a host"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to be read: its hosts lie at `address`, or are pushed if that is `None`.

    `join_s` is how far apart sessions of one capture may begin. A run is complete with
    `expected_hosts`, where that is known.
    """

    id: str
    title: str
    created_at: str
    address: str | None
    join_s: float | None
    expected_hosts: int | None
    uploader: str | None
    visibility: Visibility
    delete_token_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as stored. `read` and `unreadable` count hosts of `total` files.

    `document` is the key of what is said of `said_of` hosts; `version` rises with each. `note` says
    how the hosts were found, `reason` why there is no list of them.
    """

    id: str
    title: str
    created_at: str
    address: str | None
    join_s: float | None
    expected_hosts: int | None
    uploader: str | None
    visibility: Visibility
    state: RunState
    note: str
    reason: str
    changed_at: float
    listed_at: float | None
    document: str | None
    said_of: int
    version: int
    read: int
    unreadable: int
    total: int

    @property
    def wanted(self) -> int:
        """How many hosts there will be, as far as that is known; 0: not yet."""
        return max(self.total, self.expected_hosts or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashedRun:
    """A run in the trash; times are as `storage.records.timestamp` gives them.

    `size_bytes` counts hosts that were pushed: others are not kept here.
    """

    id: str
    title: str
    created_at: str
    uploader: str | None
    trashed_at: str
    hosts: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHost:
    """One file of a run; `address` is `None` for one that was pushed, whose bytes are kept here.

    `receipt` is JSON of what reading it gave.
    """

    identity: str
    name: str
    address: str | None
    version: str
    size_bytes: int
    sha256: str | None
    is_kept: bool
    state: HostState
    receipt: str | None
    profile_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundHost:
    """One object of a listing, to be read as part of a run, in the order of `turn`."""

    identity: str
    turn: int
    name: str
    address: str
    version: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsListed:
    """One page of a list of runs; `total` counts all."""

    runs: tuple[Run, ...]
    total: int

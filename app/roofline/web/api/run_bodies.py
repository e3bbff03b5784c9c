"""The bodies of requests and answers about runs of many hosts."""

from dataclasses import asdict, dataclass
from typing import Any

import orjson
from fastapi import Request

from roofline.model.plain_data import alike
from roofline.storage.records import Visibility
from roofline.storage.run_records import Run, RunHost, RunState
from roofline.web.bodies import REFUSES_OTHERS
from roofline.web.http.access import shown_owner
from roofline.web.http.forwarded import origin_of

NOTHING_YET = orjson.dumps(
    {
        "verdict": None,
        "no_verdict": None,
        "outliers": [],
        "gains": [],
        "stragglers_cost_ratio": None,
        "late_host": None,
        "representative": None,
        "step_us": None,
        "hosts": [],
        "ops": [],
        "steps": [],
        "collectives": [],
        "digest": None,
    }
)
"""The document of a run before any of its hosts was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRunBody:
    """A run to be read: its hosts lie at `uri`, or are pushed without one.

    `join` is how many seconds apart sessions of one capture may begin. The run is complete with
    `hosts`, where that is known. Other keys are refused.
    """

    __pydantic_config__ = REFUSES_OTHERS

    uri: str | None = None
    join: float | None = None
    hosts: int | None = None
    title: str = ""
    visibility: Visibility | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBody:
    """A run in one of the states `reading`, `complete`, `cancelled` and `failed`.

    `read` and `unreadable` count files of `total`; `version` rises with each document. `note` says
    how the hosts were found, `reason` why they could not be listed. `delete_token` is given once.
    """

    id: str
    url: str
    state: RunState
    title: str
    created_at: str
    read: int
    unreadable: int
    total: int
    version: int
    uri: str | None = None
    expected_hosts: int | None = None
    note: str | None = None
    reason: str | None = None
    uploader: str | None = None
    visibility: Visibility | None = None
    delete_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """Runs, the newest first; `total` counts all that may be seen."""

    runs: tuple[RunBody, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A folder with captures of hosts, below the places that this server reads.

    `age_s` is how long ago its newest file was written. `is_complete` is true once its listing was
    the same in two rounds.
    """

    uri: str
    name: str
    hosts: int
    size_bytes: int
    age_s: float
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRuns:
    """Runs that may be imported, the newest first."""

    runs: tuple[FoundRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHostBody:
    """A file of a run: waiting, read, unreadable (`reason`), or not a host.

    `file` is its id in addresses, `profile_id` the profile that was made of it.
    """

    file: str
    name: str
    state: str
    size_bytes: int
    reason: str | None = None
    profile_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHostList:
    """Files of a run in the order of reading."""

    hosts: tuple[RunHostBody, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedBody:
    """A push: how many files were new. Files that the run has already are not added again."""

    added: int
    run: RunBody


def run_body(request: Request, run: Run) -> RunBody:
    """A run as the API shows it; what its address says of the store is the server's own."""
    return alike(
        RunBody,
        run,
        url=f"{origin_of(request)}/r/{run.id}",
        uri=None if run.address is None else run.address.partition("?")[0],
        expected_hosts=run.expected_hosts or None,
        note=run.note or None,
        reason=run.reason or None,
        uploader=shown_owner(run.uploader or "") or None,
        delete_token=None,
    )


def known_fields(request: Request, run: Run) -> dict[str, Any]:
    """The fields of `run_body` that are known, for JSON that is written here."""
    body = asdict(run_body(request, run))
    return {name: value for name, value in body.items() if value is not None}


def host_body(host: RunHost) -> RunHostBody:
    """A file of a run as the API shows it, with the first reason of an unreadable one."""
    reason = None
    if host.state == "unreadable" and host.receipt is not None:
        unreadable = orjson.loads(host.receipt)["unreadable"]
        reason = " ".join(str(one["reason"]) for one in unreadable[:1]) or None
    return alike(RunHostBody, host, file=host.identity, reason=reason)

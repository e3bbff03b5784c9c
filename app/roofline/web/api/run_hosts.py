"""The HTTP API, version 1: hosts of a run, by the names that it calls them, as profiles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from fastapi import APIRouter, Request

from roofline.errors import BadEditError, ProfileNotFoundError
from roofline.exports.run_page import host_called
from roofline.storage.run_records import Run
from roofline.storage.visibility import ALL_SEEING
from roofline.web.api.audit import log_action
from roofline.web.api.runs import NO_RUN, Seen
from roofline.web.bodies import ProfileBody, body_of
from roofline.web.http.errors import ErrorBody
from roofline.web.http.guard import actor_of
from roofline.web.parts import Parts, ServerParts

MOST_OPENED = 16

router = APIRouter(prefix="/api/v1", tags=["runs"])


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsToOpen:
    """Names of hosts, as `hosts` of the run has them; at most 16."""

    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedHosts:
    """A profile for each host, in the order of the request.

    `compare_url` is the page that holds two against each other.
    """

    profiles: tuple[ProfileBody, ...]
    compare_url: str | None = None


@router.post(
    "/runs/{run_id}/profiles",
    response_model_exclude_none=True,
    responses={
        409: {"model": ErrorBody, "description": "Only the partial of a host was sent."},
        **NO_RUN,
    },
)
def open_hosts(request: Request, run: Seen, parts: Parts, wanted: HostsToOpen) -> OpenedHosts:
    """Open hosts of a run as profiles, which are imported the first time: one, or to compare."""
    if not 0 < len(wanted.hosts) <= MOST_OPENED:
        raise BadEditError("No host is named, or too many.", remedy=f"Name 1 to {MOST_OPENED}.")
    document = parts.runs.document(run)
    known: Mapping[str, Any] = {"hosts": []} if document is None else orjson.loads(document)
    opened = [_opened(request, run, parts, known, name) for name in wanted.hosts]
    first, *others = [one.id for one in opened]
    compare = f"/c/{first}..{others[0]}" if len(others) == 1 else None
    return OpenedHosts(profiles=tuple(opened), compare_url=compare)


def _opened(
    request: Request, run: Run, parts: ServerParts, document: Mapping[str, Any], name: str
) -> ProfileBody:
    host = host_called(document, name)
    digest = None if host is None else host.get("file_sha256")
    if digest is None:
        raise ProfileNotFoundError(
            "There is no such host in this run.", remedy="Choose one of its list."
        )
    identity = parts.runs.file_of(run, digest)
    profile_id = parts.runs.host_profile(run, identity, actor_of(request).viewer)
    log_action(request, "open host", profile_id)
    return body_of(request, parts.reader_for(ALL_SEEING).state(profile_id))

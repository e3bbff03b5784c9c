"""The HTTP API, version 1: runs of many hosts: import, push, follow, read, close, delete."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from roofline.errors import BadEditError, ProfileNotFoundError
from roofline.exports.run_page import Arriving, host_called, so_far
from roofline.library.runs import RunWish
from roofline.model.plain_data import alike
from roofline.storage.run_records import READING, Run
from roofline.storage.visibility import ALL_SEEING
from roofline.web.api.adding import check_upload_rate
from roofline.web.api.audit import log_action
from roofline.web.api.responses import BAD_FILE, NO_ROOM, Limit, Offset, Responses, Wait
from roofline.web.api.run_bodies import (
    NOTHING_YET,
    FoundRun,
    FoundRuns,
    NewRunBody,
    PushedBody,
    RunBody,
    RunHostList,
    RunList,
    host_body,
    known_fields,
    run_body,
)
from roofline.web.api.uploads import receive, upload_form, upload_limits
from roofline.web.bodies import ProfileBody, body_of
from roofline.web.http.guard import actor_of, peer_of_request
from roofline.web.http.rights import (
    DeleteToken,
    check_may_change_run,
    check_may_push,
    new_delete_token,
)
from roofline.web.offline.views import ErrorBody
from roofline.web.parts import Parts, ServerParts

INTERVAL_S = 0.5
MOST_HOSTS_LISTED = 5000

NO_RUN: Responses = {404: {"model": ErrorBody, "description": "There is no such run."}}
NOT_YOUR_RUN: Responses = {
    403: {"model": ErrorBody, "description": "The run is somebody else's."},
    **NO_RUN,
}

router = APIRouter(prefix="/api/v1", tags=["runs"])


def _run(request: Request, run_id: str, parts: Parts) -> Run:
    return parts.runs.get(run_id, actor_of(request).viewer)


Seen = Annotated[Run, Depends(_run)]
"""A run that the sender sees."""


@router.post(
    "/runs",
    status_code=201,
    response_model_exclude_none=True,
    responses={
        429: {"model": ErrorBody, "description": "Too many uploads; see `Retry-After`."},
        **NO_ROOM,
    },
)
def add_run(request: Request, response: Response, wish: NewRunBody, parts: Parts) -> RunBody:
    """Import a run of many hosts from a bucket or a mounted folder, or begin one to push hosts to.

    Only what is below the prefixes of `ROOFLINE_BUCKETS` is read.
    """
    check_upload_rate(request, parts)
    token, token_hash = new_delete_token()
    wanted = alike(RunWish, wish, address=wish.uri, join_s=wish.join)
    run_id = parts.runs.add(
        wanted, uploader=actor_of(request).owner or None, delete_token_hash=token_hash
    )
    log_action(request, "import run", run_id)
    body = replace(run_body(request, parts.runs.get(run_id, ALL_SEEING)), delete_token=token)
    response.headers["location"] = body.url
    return body


@router.get("/runs", response_model_exclude_none=True)
def list_runs(
    request: Request,
    parts: Parts,
    q: Annotated[str, Query(max_length=200, description="Words of title, address, uploader.")] = "",
    offset: Offset = 0,
    limit: Limit = 50,
) -> RunList:
    """Runs of many hosts, the newest first."""
    found = parts.runs.listed(actor_of(request).viewer, text=q, offset=offset, limit=limit)
    return RunList(runs=tuple(run_body(request, run) for run in found.runs), total=found.total)


@router.get("/found-runs")
def list_found(parts: Parts) -> FoundRuns:
    """Runs that the watch of `ROOFLINE_WATCH` found at its last round, the newest first.

    Each is imported with a POST of its `uri` to `/api/v1/runs`.
    """
    now = time.time()
    return FoundRuns(
        runs=tuple(
            alike(FoundRun, one, uri=one.place, age_s=max(0.0, now - one.newest_at))
            for one in parts.runs.watch.found
        )
    )


@router.get(
    "/runs/{run_id}",
    response_class=Response,
    responses={
        200: {
            "description": "What `roofline analyze --engine … --format json` says of the hosts read"
            " until now, without verdicts while hosts arrive, with `id`, `title`, `state`, `read`,"
            " `total` and the rest of the run.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
        304: {"description": "Nothing changed since `If-None-Match`."},
        **NO_RUN,
    },
)
async def read_run(request: Request, run: Seen, parts: Parts, wait: Wait = 0.0) -> Response:
    """A run: its hosts against each other, as far as they were read.

    Waits up to `wait` seconds while it is being read.
    """
    run = await _settled(parts, run, wait)
    etag = f'"{run.version}-{run.state}-{run.read}-{run.unreadable}-{run.wanted}"'
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={"etag": etag})
    document = await run_in_threadpool(parts.runs.document, run)
    if document is not None and run.state == READING:
        document = await run_in_threadpool(_so_far, document, run)
    known = orjson.dumps(known_fields(request, run))
    content = known[:-1] + b"," + (document or NOTHING_YET).strip()[1:]
    return Response(content, media_type="application/json", headers={"etag": etag})


def _so_far(document: bytes, run: Run) -> bytes:
    """The document without verdicts: hosts that still arrive may change them."""
    arriving = Arriving(read=run.read, total=run.wanted)
    return orjson.dumps(so_far(orjson.loads(document), arriving))


@router.get("/runs/{run_id}/hosts", response_model_exclude_none=True, responses=NO_RUN)
def list_hosts(
    request: Request,
    run: Seen,
    parts: Parts,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_HOSTS_LISTED)] = 1000,
) -> RunHostList:
    """The files of a run, and how each stands."""
    viewer = actor_of(request).viewer
    found = parts.runs.hosts(run, viewer, offset=offset, limit=limit)
    return RunHostList(hosts=tuple(map(host_body, found)), total=run.total)


@router.get(
    "/runs/{run_id}/ops/{op_id}/hosts",
    response_class=Response,
    responses={
        200: {
            "description": "Self time per core and occurrences of the operation on each host.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
        **NO_RUN,
    },
)
def read_op(
    run: Seen, parts: Parts, op_id: Annotated[str, Path(max_length=64, description="Its `id`.")]
) -> Response:
    """One operation of a run on each of its hosts."""
    content = parts.runs.op_hosts(run, op_id)
    if content == b'{"hosts":[]}':
        raise ProfileNotFoundError(
            "There is no such operation in this run.", remedy="Take its `id` from the run's `ops`."
        )
    return Response(content, media_type="application/json")


@router.post(
    "/runs/{run_id}/hosts",
    response_model_exclude_none=True,
    responses={**BAD_FILE, **NOT_YOUR_RUN},
    openapi_extra=upload_form("Captures of hosts, or their partials."),
)
async def push_hosts(
    request: Request, run_id: str, parts: Parts, x_delete_token: DeleteToken = ""
) -> PushedBody:
    """Add files of hosts to a run: captures, or the partials that `roofline push --partial` makes.

    What was answered survives a crash. A file that the run has already is not added again. For the
    owner of the run, administrators, and anyone holding its delete token; to a run without an owner
    anyone may add.
    """
    owned = await run_in_threadpool(parts.runs.ownership, run_id)
    check_may_push(actor_of(request), run_id, owned, x_delete_token)
    with ExitStack() as cleanup:
        area = await run_in_threadpool(parts.library.stage)
        cleanup.callback(area.discard)
        limits = upload_limits(parts.settings, parts.upload_writers)
        await receive(request, area, limits, parts.instance.check_room)
        added = await run_in_threadpool(parts.runs.push, run_id, area)
    await run_in_threadpool(log_action, request, "push to run", run_id)
    run = await run_in_threadpool(parts.runs.get, run_id, ALL_SEEING)
    return PushedBody(added=added, run=run_body(request, run))


@router.post("/runs/{run_id}/close", response_model_exclude_none=True, responses=NOT_YOUR_RUN)
def close_run(
    request: Request, run_id: str, parts: Parts, x_delete_token: DeleteToken = ""
) -> RunBody:
    """Say that no more hosts come: the run is complete once those that came are read."""
    check_may_push(actor_of(request), run_id, parts.runs.ownership(run_id), x_delete_token)
    parts.runs.close(run_id)
    log_action(request, "close run", run_id)
    return run_body(request, parts.runs.get(run_id, ALL_SEEING))


@router.post(
    "/runs/{run_id}/hosts/{file}/profile",
    response_model_exclude_none=True,
    responses={
        409: {"model": ErrorBody, "description": "Only the partial of this host was sent."},
        **NO_RUN,
    },
)
def open_host(
    request: Request,
    run: Seen,
    parts: Parts,
    file: Annotated[str, Path(max_length=64, description="Its `file` in the list of hosts.")],
) -> ProfileBody:
    """Open one host of a run as a profile of its own, which is imported the first time."""
    profile_id = parts.runs.host_profile(run, file, actor_of(request).viewer)
    log_action(request, "open host", profile_id)
    return body_of(request, parts.reader_for(ALL_SEEING).state(profile_id))


@router.delete("/runs/{run_id}", status_code=204, responses=NOT_YOUR_RUN)
def delete_run(
    request: Request, run_id: str, parts: Parts, x_delete_token: DeleteToken = ""
) -> None:
    """End a run that is being read, and move it to the trash.

    Nothing is deleted at the place that it was read from. For its owner, administrators, and anyone
    holding its delete token.
    """
    owned = parts.runs.ownership(run_id)
    check_may_change_run(actor_of(request), run_id, owned, x_delete_token)
    parts.runs.delete(run_id)
    log_action(request, "delete run", run_id)


@router.post("/runs/{run_id}/restore", response_model_exclude_none=True, responses=NOT_YOUR_RUN)
def restore_run(
    request: Request, run_id: str, parts: Parts, x_delete_token: DeleteToken = ""
) -> RunBody:
    """Take a run out of the trash. Hosts are added to it by importing or pushing them again."""
    owned = parts.runs.ownership(run_id, in_trash=True)
    check_may_change_run(actor_of(request), run_id, owned, x_delete_token)
    parts.runs.restore(run_id)
    log_action(request, "restore run", run_id)
    return run_body(request, parts.runs.get(run_id, ALL_SEEING))


# ----------------------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """A stream that was admitted: the state it begins with."""

    first: Run


async def _admitted(
    request: Request, response: Response, run: Seen, parts: Parts
) -> AsyncIterator[FollowedRun]:
    response.headers["cache-control"] = "no-store"
    with parts.streams.admitted(peer_of_request(request).address):
        yield FollowedRun(run)


@router.get(
    "/runs/{run_id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {"description": "Events named after the state; data are those of the list of runs."},
        **NO_RUN,
        429: {"model": ErrorBody, "description": "Too many streams."},
    },
)
async def follow_run(
    request: Request, parts: Parts, followed: Annotated[FollowedRun, Depends(_admitted)]
) -> AsyncIterator[ServerSentEvent]:
    """Follow a run: an event for each change, until it is not read any more."""
    run, said = followed.first, None
    while True:
        if run != said:
            said = run
            data = orjson.dumps(known_fields(request, run)).decode()
            yield ServerSentEvent(event=run.state, raw_data=data)
        if run.state != READING or parts.streams.is_closing:
            return
        await asyncio.sleep(INTERVAL_S)
        try:
            run = await run_in_threadpool(parts.runs.get, run.id, ALL_SEEING)
        except ProfileNotFoundError:
            return


async def _settled(parts: ServerParts, run: Run, wait: float) -> Run:
    """The run when it is not read any more, or after `wait` seconds, or when the server stops."""
    until = time.monotonic() + wait
    while run.state == READING and not parts.streams.is_closing and time.monotonic() < until:
        await asyncio.sleep(min(INTERVAL_S, until - time.monotonic()))
        run = await run_in_threadpool(parts.runs.get, run.id, ALL_SEEING)
    return run


MOST_OPENED = 16


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
            "There is no such host in this run.", remedy="Choose a host of its list."
        )
    identity = parts.runs.file_of(run, digest)
    profile_id = parts.runs.host_profile(run, identity, actor_of(request).viewer)
    log_action(request, "open host", profile_id)
    return body_of(request, parts.reader_for(ALL_SEEING).state(profile_id))

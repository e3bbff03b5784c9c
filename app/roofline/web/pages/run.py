"""The page of a run of many hosts, as it stands: while hosts arrive, and when all are there."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.exports.run_page import Arriving, host_called
from roofline.storage.run_records import READING, Run
from roofline.web.api.runs import Seen
from roofline.web.http.encodings import best_encoding, matches
from roofline.web.http.guard import actor_of
from roofline.web.offline.run_view import (
    RunOfHostsView,
    RunPageView,
    has_hosts,
    run_view,
    unreadable_hosts,
)
from roofline.web.parts import Parts, ServerParts

_READ = ["GET", "HEAD"]
# Another release draws another page of the same run.
_START = secrets.token_hex(8)

router = APIRouter(include_in_schema=False)


@router.api_route("/r/{run_id}", methods=_READ)
async def run_page(request: Request, run: Seen, parts: Parts) -> Response:
    """A run of many hosts: which of them holds the others up, and what it costs."""
    headers = {"etag": _etag(request, run, parts), "cache-control": "private, no-cache"}
    if matches(request, headers["etag"]):
        return Response(status_code=304, headers={**headers, "vary": "accept-encoding"})
    return await run_in_threadpool(_page, request, run, parts, headers)


def _page(request: Request, run: Run, parts: ServerParts, headers: Mapping[str, str]) -> Response:
    owned = parts.runs.ownership(run.id)
    may_delete = actor_of(request).may_change(owned.uploader or "")
    stored = parts.runs.document(run)
    document = None if stored is None else orjson.loads(stored)
    view = _view(
        run,
        document,
        may_delete=may_delete,
        trash_days=parts.settings.trash_days,
        host=request.query_params.get("host", ""),
    )
    response = parts.templates.page("run.html", view, request)
    response.headers.update(headers)
    return response


def _etag(request: Request, run: Run, parts: ServerParts) -> str:
    """Changes with what the page shows of the run, with the person, and with each start."""
    seen = replace(run, changed_at=0.0, listed_at=None)
    told = (_START, parts.static.build, seen, actor_of(request), best_encoding(request))
    return f'"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}"'


def _view(
    run: Run,
    document: Mapping[str, Any] | None,
    *,
    may_delete: bool,
    trash_days: float,
    host: str,
) -> RunPageView:
    title = run.title or "Run of hosts"
    return RunPageView(
        may_delete=may_delete,
        trash_days=trash_days,
        is_host_open=bool(document and host_called(document, host)),
        run=run,
        title=title,
        data_url=f"/api/v1/runs/{quote(run.id)}",
        content=_content(run, document, title) if document and has_hosts(document) else None,
        unreadable=unreadable_hosts(document) if document else (),
    )


def _content(run: Run, document: Mapping[str, Any], title: str) -> RunOfHostsView:
    is_reading = run.state == READING
    arriving = Arriving(read=run.read, total=run.wanted) if is_reading else None
    return run_view(document, title, arriving)

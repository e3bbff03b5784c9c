"""The page of a run of many hosts, as it stands: while hosts arrive, and when all are there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.exports.run_page import Arriving
from roofline.storage.run_records import READING, Run
from roofline.web.api.runs import Seen
from roofline.web.pages.run_view import RunOfHostsView, run_view
from roofline.web.parts import Parts

_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPageView:
    """A run as stored, and what is said of its hosts; `None` before the first were read."""

    run: Run
    title: str
    data_url: str
    content: RunOfHostsView | None

    @property
    def is_reading(self) -> bool:
        """True while hosts are read, or may still come."""
        return self.run.state == READING


@router.api_route("/r/{run_id}", methods=_READ)
async def run_page(request: Request, run: Seen, parts: Parts) -> Response:
    """A run of many hosts: which of them holds the others up, and what it costs."""
    document = await run_in_threadpool(parts.runs.document, run)
    view = await run_in_threadpool(_view, run, document)
    return parts.templates.page("run.html", view, request)


def _view(run: Run, document: bytes | None) -> RunPageView:
    title = run.title or "Run of hosts"
    return RunPageView(
        run=run,
        title=title,
        data_url=f"/api/v1/runs/{quote(run.id)}",
        content=None if document is None else _content(run, orjson.loads(document), title),
    )


def _content(run: Run, document: Mapping[str, Any], title: str) -> RunOfHostsView:
    is_reading = run.state == READING
    arriving = Arriving(read=run.read, total=run.total) if is_reading else None
    return run_view(document, title, arriving)

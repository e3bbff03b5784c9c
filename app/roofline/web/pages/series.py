"""The page of a series: step time, roof time and share of the roofs over runs of a title or tag."""

from dataclasses import asdict
from itertools import pairwise
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.compare.series_records import STATE_WORDS
from roofline.presentation.quantities import duration, percent
from roofline.presentation.sentences import Number, plain_text, say
from roofline.web.api.series import By, Seen, Series, SeriesRun, series_of
from roofline.web.pages import views
from roofline.web.parts import Parts

_READ = ["GET", "HEAD"]
_PER = {"step": "a step", "execution": "an execution", "capture": "in the capture"}

_TONES = {
    "passed": "good",
    "better": "good",
    "broken": "bad",
    "accepted": "warn",
    "inconclusive": "warn",
}
"""The colour of a run's state at the gate."""

router = APIRouter(include_in_schema=False)


@router.api_route("/s/{name:path}", methods=_READ)
async def series(
    request: Request, name: str, parts: Parts, seen: Seen, by: By = "title"
) -> Response:
    """The runs whose title, or one of whose tags, is `name`; each point is a link."""
    found = await run_in_threadpool(series_of, seen, name, by)
    return parts.templates.page("series.html", _view(found), request)


def _view(found: Series) -> views.SeriesView:
    before = {new.id: f"/c/{old.id}..{new.id}" for old, new in pairwise(found.runs)}
    return views.SeriesView(
        name=found.name,
        by=found.by,
        headline=_headline(found),
        per=_PER[found.unit],
        rows=tuple(_row(one, before.get(one.id, "")) for one in reversed(found.runs)),
        runs=orjson.dumps([asdict(one) for one in found.runs]).decode(),
        check_url=f"/api/v1/series/check?{urlencode({'name': found.name, 'by': found.by})}",
        total=found.total,
        unread=found.unread,
    )


def _headline(found: Series) -> str:
    if not found.runs:
        return plain_text(say("series_none", name=found.name))
    newest = found.runs[-1]
    said = say(
        "series",
        count=Number(found.total, "count"),
        name=found.name,
        time=Number(newest.time_us, "time_us"),
        per=_PER[found.unit],
    )
    if newest.roof_ratio is not None:
        said = said + say("series_roof", share=Number(newest.roof_ratio, "ratio"))
    return plain_text(said)


def _row(one: SeriesRun, before_url: str) -> views.SeriesRow:
    words = STATE_WORDS[one.gate]
    return views.SeriesRow(
        title=one.title,
        created_at=one.created_at,
        device=one.device,
        gate=words + (f" until {one.accepted_until}" if one.accepted_until else ""),
        gate_tone=_TONES.get(one.gate, "muted"),
        url=one.url,
        before_url=before_url,
        time=duration(one.time_us),
        roof=duration(one.roof_us),
        floor=duration(one.floor_us),
        of_the_roof=percent(one.roof_ratio),
        known=percent(one.known_ratio),
    )

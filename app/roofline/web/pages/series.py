"""The page of a series: step time, roof time and share of the roofs over runs of a title or tag."""

from itertools import pairwise
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.compare.series_records import STATE_WORDS
from roofline.model.plain_data import alike, taken
from roofline.presentation.charts.series_figure import PlottedRun, series_figure
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import duration, percent
from roofline.presentation.sentences import Number, plain_text, say
from roofline.web.api.series import By, Seen, Series, SeriesChange, SeriesRun, series_of
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
_SIGNS = {
    "base": "+",
    "passed": "✓",
    "better": "✓",
    "broken": "✕",
    "accepted": "△",
    "inconclusive": "–",
}

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
    levels = [(one.start, one.first, one.end, one.before_us, one.after_us) for one in found.changes]
    return alike(
        views.SeriesView,
        found,
        headline=_headline(found),
        per=_PER[found.unit],
        rows=tuple(_row(one, before.get(one.id, "")) for one in reversed(found.runs)),
        runs=tuple(_mark(one) for one in found.runs),
        changes=tuple(
            views.SeriesChangeView(words=one.words, compare_url=_between(one))
            for one in found.changes
        ),
        figure=to_json(series_figure([_plotted(one) for one in found.runs], levels)).decode(),
        check_url=f"/api/v1/series/check?{urlencode({'name': found.name, 'by': found.by})}",
    )


def _between(one: SeriesChange) -> str:
    """The address of the comparison of the runs on both sides, those next to the change first."""
    a, *more_a = reversed(one.before_ids)
    b, *more_b = one.after_ids
    more = [*(("a", each) for each in more_a), *(("b", each) for each in more_b)]
    return f"/c/{a}..{b}?{urlencode(more)}"


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


def _plotted(one: SeriesRun) -> PlottedRun:
    shown = taken(one, "title", "created_at", "time_us", "roof_us", "roof_ratio")
    return PlottedRun(**shown, is_broken=one.gate == "broken")


def _mark(one: SeriesRun) -> views.SeriesMark:
    day = one.created_at[:16].replace("T", " ")
    base, roof = one.base_id, f"roof time {duration(one.roof_us)}"
    return views.SeriesMark(
        id=one.id,
        url=one.url,
        compare_url=f"/c/{base}..{one.id}" if base else "",
        sign=_SIGNS.get(one.gate, "·"),
        gate=_gate(one),
        gate_tone=_TONES.get(one.gate, "muted"),
        said=" ".join((f"{one.title}, {day}: time {duration(one.time_us)}, {roof}", *one.done)),
    )


def _gate(one: SeriesRun) -> str:
    return STATE_WORDS[one.gate] + (f" until {one.accepted_until}" if one.accepted_until else "")


def _row(one: SeriesRun, before_url: str) -> views.SeriesRow:
    return alike(
        views.SeriesRow,
        one,
        gate=_gate(one),
        gate_tone=_TONES.get(one.gate, "muted"),
        before_url=before_url,
        time=duration(one.time_us),
        roof=duration(one.roof_us),
        floor=duration(one.floor_us),
        of_the_roof=percent(one.roof_ratio),
        known=percent(one.known_ratio),
    )

"""The HTTP API, version 1: the charts of a profile as figures, drawn as its page's address says."""

from functools import partial
from typing import Annotated, Literal

import orjson
from cachetools import LRUCache
from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.devices.measured import written_at_ns
from roofline.errors import BadViewError
from roofline.library.ranges import Part
from roofline.library.reader import ProfileReader
from roofline.presentation.charts import drawn_again
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.shown_roofs import with_others
from roofline.presentation.figure_files import FileLook, Form, Style, figure_file
from roofline.presentation.json_text import to_json
from roofline.presentation.page_rows import Page
from roofline.storage.results import ADVICE, PAGE
from roofline.web.api.ranges import Range, results_for, times_for
from roofline.web.api.responses import NO_SUCH_VIEW, sent_as
from roofline.web.api.results import Infeed, attachment, computed
from roofline.web.http.encodings import sent_json
from roofline.web.parts import Reader, parts_of

_PAGES_KEPT = 4  # parsed page data: 2 MB each for a thousand operations
_MOST_OPS = 200
_MOST_TEXT = 2000

router = APIRouter(prefix="/api/v1", tags=["profiles"])

_pages: LRUCache[str, Page] = LRUCache(_PAGES_KEPT)

_Text = Annotated[str, Query(max_length=_MOST_TEXT)]


async def _choice(
    infeed: Infeed = "in",
    x: _Text = "auto",
    y: Literal["rate", "share"] = "rate",
    roofs: Literal["auto", "all", "none"] = "auto",
    prec: _Text | None = None,
    size: Literal["time", "equal"] = "time",
    fit: Literal["time", "all"] = "time",
    zoom: Annotated[
        str, Query(max_length=_MOST_TEXT, description="x0,x1,y0,y1 of the axes, log10.")
    ] = "",
    op: Annotated[
        int | None, Query(ge=0, description="The op whose own ceilings are drawn.")
    ] = None,
    ops: Annotated[
        str, Query(max_length=_MOST_TEXT, description="Ops to join, by their number on the page.")
    ] = "",
) -> ChartChoice:
    return ChartChoice(
        infeed=infeed,
        x=x,
        y=y,
        roofs=roofs,
        prec=prec,
        size=size,
        fit=fit,
        zoom=_zoom(zoom),
        op=op,
        ops=tuple(map(int, _numbers(ops)[:_MOST_OPS])),
    )


Choice = Annotated[ChartChoice, Depends(_choice)]
Others = Annotated[
    str, Query(max_length=_MOST_TEXT, description="Devices whose roofs are drawn, too, by id.")
]


def _zoom(text: str) -> tuple[float, float, float, float] | None:
    if not text:
        return None
    numbers = _numbers(text)
    if len(numbers) == 4 and numbers[0] < numbers[1] and numbers[2] < numbers[3]:
        return numbers[0], numbers[1], numbers[2], numbers[3]
    raise BadViewError(
        f"“{text[:100]}” is not a range of both axes.",
        remedy="Write x0,x1,y0,y1 in log10, each low end before its high one.",
    )


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",") if part]
    except ValueError:
        numbers = [float("nan")]
    if all(abs(number) < 1e9 for number in numbers):
        return numbers
    raise BadViewError(
        f"“{text[:100]}” is not a list of numbers.", remedy="Write numbers with commas between."
    )


@router.get("/profiles/{profile_id}/figures", responses=NO_SUCH_VIEW)
async def figures(
    request: Request,
    profile_id: str,
    reader: Reader,
    part: Range,
    choice: Choice,
    vs: Others = "",
) -> Response:
    """All charts as figures of Plotly; docs/page-data.md."""
    find = partial(_page, request, reader, profile_id, part)
    page = await computed(reader, profile_id, find)
    return await sent_json(request, await run_in_threadpool(_drawn, page, choice, vs.split(",")))


async def _look(
    style: Style = "paper",
    width: Annotated[float | None, Query(ge=1, le=2000, description="In millimetres.")] = None,
    top: Annotated[
        int | None, Query(ge=0, description="Draw so many of the longest ops; all of them.")
    ] = None,
    label: Annotated[int | None, Query(ge=0, le=200, description="Name so many ops.")] = None,
    gray: bool = False,
) -> FileLook:
    return FileLook(style=style, width_mm=width, most=top, named=label, is_gray=gray)


Look = Annotated[FileLook, Depends(_look)]
FIGURE = "/figure.{form}"
FIGURE_SENT = {200: sent_as("image/svg+xml", "application/pdf", "image/png"), **NO_SUCH_VIEW}
_MEDIA: dict[Form, str] = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


@router.get(f"/profiles/{{profile_id}}{FIGURE}", response_class=Response, responses=FIGURE_SENT)
def figure_of(
    request: Request,
    profile_id: str,
    form: Form,
    reader: Reader,
    part: Range,
    choice: Choice,
    look: Look,
) -> Response:
    """The roofline of the operations as a picture for a paper or a talk; docs/figures.md."""
    page = _page(request, reader, profile_id, part)
    title = reader.manifest(profile_id).title
    if part is None:
        advice = reader.result(profile_id, ADVICE).plain()
    else:
        advice = results_for(parts_of(request), reader, profile_id, part).advice()
    certain = orjson.loads(advice)["certain"]
    made = figure_file(page, form, look, choice, title=title, certain=certain)
    return Response(
        made.content,
        media_type=_MEDIA[form],
        headers={"content-disposition": attachment(f"{title}-roofline.{form}")},
    )


def _drawn(page: Page, choice: ChartChoice, others: list[str]) -> bytes:
    return to_json(drawn_again(page, with_others(page, choice, others)))


def _page(
    request: Request,
    reader: ProfileReader,
    profile_id: str,
    part: Part | None,
) -> Page:
    """The page data that a figure is drawn from, kept for the next one."""
    parts = parts_of(request)
    if part is None:
        result = reader.result(profile_id, PAGE)
        key = f"{profile_id} {result.etag}"
        return _kept(key) or _keep(key, result.plain())
    key = f"{profile_id} {times_for(reader, profile_id, part).etag} {written_at_ns()} {part!r}"
    return _kept(key) or _keep(key, results_for(parts, reader, profile_id, part).page())


def _kept(key: str) -> Page | None:
    return _pages.get(key)


def _keep(key: str, content: bytes) -> Page:
    page: Page = orjson.loads(content)
    _pages[key] = page
    return page

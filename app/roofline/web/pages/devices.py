"""The page `/devices`: parts by their figures, and a transformer's kernels on the roofs of some.

Its address holds every input; without a script it lacks the chart alone. Its cells are those of
`roofline devices`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams

from roofline.devices.choice import known_part
from roofline.devices.in_flight import HEADS, InFlight, cells_of, in_flight
from roofline.devices.parts import Part
from roofline.devices.table import (
    COLUMNS,
    DEFAULT_COLUMNS,
    DTYPES,
    Column,
    Query,
    Row,
    columns_of,
    csv_of,
    kinds,
    query_of,
    rows_of,
)
from roofline.errors import BadViewError
from roofline.estimate.kernels import KernelQuery, KernelRow, kernel_rows
from roofline.estimate.llm.config import presets
from roofline.exports.cost_charts import parts_figure
from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import (
    LOOKS,
    Look,
)
from roofline.web.offline.views import ErrorBody, error_body
from roofline.web.parts import Parts

_READ = ["GET", "HEAD"]
_MOST_PARTS = 5
_MOST_DIGITS, _MOST_NAME = 7, 100
_AT_FIRST = ("tpu-v7x", "tpu-v6e", "tpu-v5p", "h100-sxm")

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadView:
    """The head of a column: `url` sorts by it, `order` says how it is sorted now."""

    key: str
    head: str
    unit: str
    url: str
    order: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelView:
    """A kernel's row; each cell has a link to the calculator with it filled in."""

    title: str
    shape: str
    intensity: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlightView:
    """A memory of a part: the cells of `roofline devices ID`, and where its latency is from."""

    name: str
    cells: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRowView:
    """A row of the table; `roof_url` draws its roof below, or takes it away (`is_drawn`)."""

    row: Row
    roof_url: str
    is_drawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesView:
    """The input of `devices.html`."""

    query: Query
    kinds: tuple[str, ...]
    dtypes: tuple[str, ...]
    columns: tuple[tuple[Column, bool], ...]
    heads: tuple[HeadView, ...]
    rows: tuple[PartRowView, ...]
    parts: tuple[tuple[str, str, Look], ...]
    prices: str
    models: tuple[str, ...]
    kernel_query: KernelQuery
    kernel_heads: tuple[HeadView, ...]
    kernels: tuple[KernelView, ...]
    in_flight_heads: tuple[str, ...]
    in_flight: tuple[InFlightView, ...]
    latency_sources: tuple[str, ...]
    roofs: Figure | None
    csv_url: str
    error: ErrorBody | None


@router.api_route("/devices", methods=_READ)
async def devices(request: Request, parts: Parts) -> Response:
    """The table that the address asks for, and the kernels on the parts that it names."""
    view = await run_in_threadpool(_view, request.query_params, request.url.query)
    return parts.templates.page("devices.html", view, request, status=400 if view.error else 200)


@router.api_route("/devices.csv", methods=_READ)
async def devices_csv(request: Request) -> Response:
    """The table as CSV; the address is that of the page."""
    query = query_of(request.query_params, request.query_params.getlist("columns"))
    content = await run_in_threadpool(csv_of, query)
    headers = {"content-disposition": 'attachment; filename="devices.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _view(given: QueryParams, address: str) -> DevicesView:
    query, kernels_of = Query(), KernelQuery(part_ids=_AT_FIRST)
    rows: tuple[PartRowView, ...] = ()
    heads: tuple[HeadView, ...] = ()
    kernels: Sequence[KernelRow] = ()
    parts: list[Part] = []
    error: ErrorBody | None = None
    try:
        query = query_of(given, given.getlist("columns"))
        named = given.getlist("part")[:_MOST_PARTS]
        parts = list(dict.fromkeys(map(known_part, named or _AT_FIRST)))
        kernels_of = _kernels_of(given, [one.id for one in parts], query.dtype)
        heads = tuple(_heads(query, kernels_of))
        rows = tuple(_row(row, query, kernels_of) for row in rows_of(query))
        kernels = kernel_rows(kernels_of)
    except BadViewError as fault:
        error = error_body(fault)
    flights = [(part, one) for part in parts for one in in_flight(part)]
    return DevicesView(
        query=query,
        kinds=kinds(),
        dtypes=DTYPES,
        columns=tuple((one, one.key in query.columns) for one in COLUMNS.values()),
        heads=heads,
        rows=rows,
        parts=tuple((one.id, one.name, look) for one, look in zip(parts, LOOKS, strict=False)),
        prices=_prices(query),
        models=tuple(presets()),
        kernel_query=kernels_of,
        kernel_heads=tuple(_kernel_heads(query, kernels_of, parts)) if kernels else (),
        kernels=tuple(map(_kernel, kernels)),
        in_flight_heads=HEADS,
        in_flight=tuple(_in_flight(part, one) for part, one in flights),
        latency_sources=tuple(dict.fromkeys(one.figure.source.text for _, one in flights)),
        roofs=None if error or not kernels else parts_figure(parts, query.dtype, kernels),
        csv_url=f"/devices.csv?{address}",
        error=error,
    )


def _kernels_of(given: QueryParams, ids: Sequence[str], dtype: str) -> KernelQuery:
    """The kernels that the address asks for; a number that is not one is the default."""
    usual = KernelQuery(part_ids=tuple(ids), dtype=dtype)
    numbers = {
        name: int(text)
        for name in ("batch", "seq")
        if (text := given.get(name, "")[:_MOST_DIGITS]).isascii() and text.isdigit()
    }
    model, sort = (given.get(key, "")[:_MOST_NAME] for key in ("model", "ksort"))
    return replace(
        usual,
        model=model,
        sort=sort,
        batch=numbers.get("batch", usual.batch),
        seq=numbers.get("seq", usual.seq),
    )


def _in_flight(part: Part, one: InFlight) -> InFlightView:
    return InFlightView(name=part.name, cells=cells_of(one), source=one.figure.text)


def _row(row: Row, query: Query, kernels: KernelQuery) -> PartRowView:
    ids = kernels.part_ids
    is_drawn = row.part.id in ids
    others = [one for one in ids if one != row.part.id]
    drawn = others if is_drawn else [*ids, row.part.id][-_MOST_PARTS:]
    url = _address(query, replace(kernels, part_ids=tuple(drawn)))
    return PartRowView(row=row, roof_url=url, is_drawn=is_drawn)


def _heads(query: Query, kernels: KernelQuery) -> Iterable[HeadView]:
    part = Column(key="part", head="Part", unit="", cell=COLUMNS["memory"].cell)
    for one in (part, *columns_of(query)):
        again, order = _next_order(query.sort, one.key, "part")
        url = _address(replace(query, sort=again), kernels)
        yield HeadView(key=one.key, head=one.head, unit=one.unit, url=url, order=order)


def _kernel_heads(query: Query, kernels: KernelQuery, parts: Sequence[Part]) -> Iterable[HeadView]:
    names = {"kernel": "Kernel", "intensity": "FLOP/B", **{one.id: one.name for one in parts}}
    for key, name in names.items():
        again, order = _next_order(kernels.sort, key, "kernel")
        url = f"{_address(query, replace(kernels, sort=again))}#title-kernels"
        yield HeadView(key=key, head=name, unit="", url=url, order=order)


def _next_order(sort: str, key: str, of_names: str) -> tuple[str, str]:
    """What a click on a head sorts by, and how it is sorted now: numbers the largest first."""
    is_down, is_up = sort == f"-{key}", sort == key
    first = key if key == of_names else f"-{key}"
    again = f"-{key}" if is_up else key if is_down else first
    return again, "descending" if is_down else "ascending" if is_up else ""


def _prices(query: Query) -> str:
    return " ".join(f"{name}={price:g}" for name, price in query.prices.items())


def _address(query: Query, kernels: KernelQuery) -> str:
    ids, usual = kernels.part_ids, KernelQuery(part_ids=_AT_FIRST)
    given: dict[str, str | list[str]] = {
        "q": query.search,
        "kind": query.kind,
        "memory": f"{query.memory_gb:g}" if query.memory_gb else "",
        "dtype": query.dtype if query.dtype != Query().dtype else "",
        "columns": ",".join(query.columns) if query.columns != DEFAULT_COLUMNS else "",
        "all": "yes" if query.is_all else "",
        "sparse": "yes" if query.is_sparse else "",
        "prices": _prices(query),
        "sort": query.sort,
        "part": list(ids) if ids != _AT_FIRST else [],
        "model": kernels.model,
        **{
            key: str(getattr(kernels, key))
            for key in ("batch", "seq")
            if getattr(kernels, key) != getattr(usual, key)
        },
        "ksort": kernels.sort,
    }
    known = {key: value for key, value in given.items() if value}
    return "/devices?" + urlencode(known, doseq=True)


def _kernel(row: KernelRow) -> KernelView:
    return KernelView(
        title=row.title,
        shape=row.shape,
        intensity=f"{row.intensity:,.4g}",
        cells=tuple((cell.text, cell.url) for cell in row.cells),
    )

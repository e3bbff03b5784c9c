"""The page `/devices`: parts by their figures, and a transformer's kernels on the roofs of some.

Its address holds every input, and it needs no script. Its cells are those of `roofline devices`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.devices.choice import known_part
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
from roofline.estimate.kernels import KernelRow, kernel_rows
from roofline.web.http.errors import ErrorBody, error_body
from roofline.web.parts import Parts

_READ = ["GET", "HEAD"]
_MOST_PARTS = 5
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
class DevicesView:
    """The input of `devices.html`."""

    query: Query
    kinds: tuple[str, ...]
    dtypes: tuple[str, ...]
    columns: tuple[tuple[Column, bool], ...]
    heads: tuple[HeadView, ...]
    rows: tuple[Row, ...]
    parts: tuple[tuple[str, str], ...]
    kernels: tuple[KernelView, ...]
    csv_url: str
    error: ErrorBody | None


@router.api_route("/devices", methods=_READ)
async def devices(request: Request, parts: Parts) -> Response:
    """The table that the address asks for, and the kernels on the parts that it names."""
    query = query_of(request.query_params, request.query_params.getlist("columns"))
    named = request.query_params.getlist("part")[:_MOST_PARTS]
    view = await run_in_threadpool(_view, query, named or _AT_FIRST, request.url.query)
    return parts.templates.page("devices.html", view, request, status=400 if view.error else 200)


@router.api_route("/devices.csv", methods=_READ)
async def devices_csv(request: Request) -> Response:
    """The table as CSV; the address is that of the page."""
    query = query_of(request.query_params, request.query_params.getlist("columns"))
    content = await run_in_threadpool(csv_of, query)
    headers = {"content-disposition": 'attachment; filename="devices.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _view(query: Query, named: Sequence[str], address: str) -> DevicesView:
    rows: tuple[Row, ...] = ()
    heads: tuple[HeadView, ...] = ()
    kernels: tuple[KernelView, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    error: ErrorBody | None = None
    try:
        rows = rows_of(query)
        heads = tuple(_heads(query))
        names = tuple((part.id, part.name) for part in map(known_part, named))
        ids = [one for one, _ in names]
        kernels = tuple(_kernel(row, query.dtype) for row in kernel_rows(ids, query.dtype))
    except BadViewError as fault:
        error = error_body(fault)
    return DevicesView(
        query=query,
        kinds=kinds(),
        dtypes=DTYPES,
        columns=tuple((one, one.key in query.columns) for one in COLUMNS.values()),
        heads=heads,
        rows=rows,
        parts=names,
        kernels=kernels,
        csv_url=f"/devices.csv?{address}",
        error=error,
    )


def _heads(query: Query) -> Iterable[HeadView]:
    part = Column(key="part", head="Part", unit="", cell=COLUMNS["memory"].cell)
    for one in (part, *columns_of(query)):
        is_down = query.sort == f"-{one.key}"
        is_up = query.sort == one.key
        first = one.key if one.key == "part" else f"-{one.key}"
        again = f"-{one.key}" if is_up else one.key if is_down else first
        yield HeadView(
            key=one.key,
            head=one.head,
            unit=one.unit,
            url=_address(replace(query, sort=again)),
            order="descending" if is_down else "ascending" if is_up else "",
        )


def _address(query: Query) -> str:
    given = {
        "q": query.search,
        "kind": query.kind,
        "memory": f"{query.memory_gb:g}" if query.memory_gb else "",
        "dtype": query.dtype if query.dtype != Query().dtype else "",
        "columns": ",".join(query.columns) if query.columns != DEFAULT_COLUMNS else "",
        "all": "yes" if query.is_all else "",
        "sort": query.sort,
    }
    return "/devices?" + urlencode({key: value for key, value in given.items() if value})


def _kernel(row: KernelRow, dtype: str) -> KernelView:
    kernel = row.kernel
    return KernelView(
        title=kernel.title,
        shape=kernel.shape.replace("x", " × "),
        intensity=f"{row.intensity:,.4g}",
        cells=tuple((cell.text, kernel.address(cell.part_id, dtype)) for cell in row.cells),
    )

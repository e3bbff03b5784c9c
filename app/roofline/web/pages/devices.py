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
from roofline.devices.in_flight import HEADS, cells_of, in_flight
from roofline.devices.measured import MeasuredDevice, measured_devices
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
from roofline.web.api.devices import documents_of
from roofline.web.http.guard import actor_of
from roofline.web.offline.views import ErrorBody, error_body
from roofline.web.parts import Parts, ServerParts

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
class PartRowView:
    """A row of the table; `roof_url` draws its roof below, or takes it away (`is_drawn`)."""

    row: Row
    roof_url: str
    is_drawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineView:
    """A device that was measured. `remove_id` is empty for those who may not remove it, who are
    then at `then_url`; `url` draws its roof beside the data sheet's, or takes it away
    (`is_drawn`)."""

    device: MeasuredDevice
    remove_id: str
    then_url: str
    url: str
    is_drawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesView:
    """The input of `devices.html`. `in_flight` has a part, the cells of a memory of it as in
    `roofline devices ID`, and where its latency is from."""

    query: Query
    kinds: tuple[str, ...]
    dtypes: tuple[str, ...]
    columns: tuple[tuple[Column, bool], ...]
    heads: tuple[HeadView, ...]
    rows: tuple[PartRowView, ...]
    machines: tuple[MachineView, ...]
    parts: tuple[tuple[str, str, Look], ...]
    prices: str
    models: tuple[str, ...]
    kernel_query: KernelQuery
    kernel_heads: tuple[HeadView, ...]
    kernels: Sequence[KernelRow]
    in_flight_heads: tuple[str, ...]
    in_flight: tuple[tuple[str, Sequence[str], str], ...]
    latency_sources: tuple[str, ...]
    roofs: Figure | None
    csv_url: str
    error: ErrorBody | None


@router.api_route("/devices", methods=_READ)
async def devices(request: Request, parts: Parts) -> Response:
    """The table that the address asks for, and the kernels on the parts that it names."""
    view = await run_in_threadpool(_view, request, parts)
    return parts.templates.page("devices.html", view, request, status=400 if view.error else 200)


@router.api_route("/devices.csv", methods=_READ)
async def devices_csv(request: Request) -> Response:
    """The table as CSV; the address is that of the page."""
    query = query_of(request.query_params, request.query_params.getlist("columns"))
    content = await run_in_threadpool(csv_of, query)
    headers = {"content-disposition": 'attachment; filename="devices.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _view(request: Request, server: ServerParts) -> DevicesView:
    given = request.query_params
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
        machines=tuple(_machines(request, server, query, kernels_of)),
        parts=tuple((one.id, one.name, look) for one, look in zip(parts, LOOKS, strict=False)),
        prices=_prices(query),
        models=tuple(presets()),
        kernel_query=kernels_of,
        kernel_heads=tuple(_kernel_heads(query, kernels_of, parts)) if kernels else (),
        kernels=kernels,
        in_flight_heads=HEADS,
        in_flight=tuple((part.name, cells_of(one), one.figure.text) for part, one in flights),
        latency_sources=tuple(dict.fromkeys(one.figure.source.text for _, one in flights)),
        roofs=None if error or not kernels else parts_figure(parts, query.dtype, kernels),
        csv_url=f"/devices.csv?{request.url.query}",
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


def _row(row: Row, query: Query, kernels: KernelQuery) -> PartRowView:
    url, is_drawn = _drawn([row.part], query, kernels)
    return PartRowView(row=row, roof_url=url, is_drawn=is_drawn)


def _machines(
    request: Request, server: ServerParts, query: Query, kernels: KernelQuery
) -> Iterable[MachineView]:
    actor = actor_of(request)
    sent = {one.device: one for one in server.instance.store.machines.list()}
    for device in measured_devices(documents_of(server)):
        machine = sent.get(device.part.id)
        beside = [device.published] if device.published else []
        url, is_drawn = _drawn([*beside, device.part], query, kernels)
        may_remove = machine is not None and actor.may_change(machine.owner)
        yield MachineView(
            device=device,
            remove_id=machine.id if machine and may_remove else "",
            then_url=url if is_drawn else _address(query, kernels),
            url=url,
            is_drawn=is_drawn,
        )


def _drawn(parts: Sequence[Part], query: Query, kernels: KernelQuery) -> tuple[str, bool]:
    """The address that draws these roofs, or takes the last of them away; and whether it is."""
    ids, mine = kernels.part_ids, parts[-1].id
    is_drawn = mine in ids
    others = [one for one in ids if one != mine]
    added = [one.id for one in parts if one.id not in ids]
    drawn = others if is_drawn else [*ids, *added][-_MOST_PARTS:]
    return _address(query, replace(kernels, part_ids=tuple(drawn))), is_drawn


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

"""The table of parts that `roofline devices` and the page `/devices` show: one function per cell.

All figures are per chip and dense. A rate of 0 is a unit that the part does not have ("–"), an
unknown one has no public figure ("?").
"""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from roofline.devices.catalogue import parts
from roofline.devices.choice import known_part
from roofline.devices.measured import read_machine
from roofline.devices.parts import Figure, FigureStatus, Part, pruned_bytes
from roofline.errors import BadViewError
from roofline.model.compute import ComputeUnit, Precision
from roofline.model.device import DeviceKind
from roofline.model.units import GIGA, KILO, TERA

ABSENT, UNKNOWN = "–", "?"
DTYPES = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8")
DEFAULT_COLUMNS = ("bf16", "fp8", "memory", "bandwidth", "ridge", "links", "network")
_ELEMENT_BYTES = {"fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp4": 0.5}
_ON_CHIP = ("vmem_read", "l2", "shared", "lds")
_CONSUMER = ("GeForce", "T400")
_MOST_TEXT = 100
_MOST_LIST = 2000
_OF_RATES = (*DTYPES, "ridge", "rows", "rate_per_dollar")
_OF_PRICES = ("price", "rate_per_dollar", "bandwidth_per_dollar")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell: the value in the column's unit (`None`: unknown, 0: absent), its text, and a
    title with source, status and alternatives."""

    value: float | None
    text: str
    title: str = ""
    is_assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its key in addresses and options, its head, and the unit of its values."""

    key: str
    head: str
    unit: str
    cell: Callable[[Part, "Query"], Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part, and its cells in the order of the columns."""

    part: Part
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which parts, columns and order; `sort` is a column's key, with "-" the largest first.

    `dtype` is that of ridge and B*, and `is_sparse` takes rates of pruned weights. `is_all` takes
    parts for desktops and laptops, and CPUs, too. `prices` are the reader's dollars per hour by
    part; they add the columns of `_OF_PRICES`.
    """

    columns: tuple[str, ...] = DEFAULT_COLUMNS
    dtype: str = "bf16"
    sort: str = ""
    kind: str = ""
    search: str = ""
    memory_gb: float = 0.0
    is_all: bool = False
    is_sparse: bool = False
    prices: Mapping[str, float] = field(default_factory=dict)


def query_of(given: Mapping[str, str], columns: Sequence[str]) -> Query:
    """The query of an address; columns may stand apart or joined by commas."""
    keys = [key for text in columns for key in text[:_MOST_LIST].split(",") if key]
    memory = given.get("memory", "")
    return Query(
        columns=tuple(dict.fromkeys(keys)) or DEFAULT_COLUMNS,
        dtype=given.get("dtype", "bf16")[:_MOST_TEXT],
        sort=given.get("sort", "")[:_MOST_TEXT],
        kind=given.get("kind", "")[:_MOST_TEXT],
        search=given.get("q", "")[:_MOST_TEXT],
        memory_gb=float(memory) if memory.isascii() and memory.isdigit() else 0.0,
        is_all=given.get("all") == "yes",
        is_sparse=given.get("sparse") == "yes",
        prices=read_prices(given.get("prices", "")[:_MOST_LIST]),
    )


def read_prices(text: str) -> dict[str, float]:
    """Dollars per device hour by part, as in "h100-sxm=2.5 mi300x=2".

    `BadViewError` says what is not understood.
    """
    found = {}
    for one in text.replace(",", " ").split():
        name, _, amount = one.partition("=")
        try:
            price = float(amount)
        except ValueError:
            price = 0.0
        if not 0 < price < math.inf:
            raise BadViewError(
                f'"{one}" is not a price.', remedy="Write dollars per device hour: h100-sxm=2.5."
            )
        found[known_part(name).id] = price
    return found


def rows_of(query: Query) -> tuple[Row, ...]:
    """The rows that `query` asks for; `BadViewError` for a column, type or kind that is not."""
    chosen = columns_of(query)
    if query.dtype not in DTYPES:
        raise _bad(query.dtype, "an element type of the table", DTYPES)
    found = [
        Row(part=part, cells=tuple(one.cell(part, query) for one in chosen))
        for part in _parts(query)
    ]
    return tuple(_sorted(found, query))


def columns_of(query: Query) -> tuple[Column, ...]:
    """The columns of the query; `BadViewError` names those that there are."""
    keys = keys_of(query)
    unknown = [key for key in keys if key not in COLUMNS]
    if unknown:
        raise _bad(unknown[0], "a column", COLUMNS)
    chosen = (COLUMNS[key] for key in keys)
    if not query.is_sparse:
        return tuple(chosen)
    return tuple(
        replace(one, head=f"{one.head}, sparse") if one.key in _OF_RATES else one for one in chosen
    )


def keys_of(query: Query) -> tuple[str, ...]:
    """The keys of the columns, with those of prices where any is given."""
    added = _OF_PRICES if query.prices else ()
    return tuple(dict.fromkeys((*query.columns, *added)))


def kinds() -> tuple[str, ...]:
    """What parts are chosen by: kinds and vendors, in lower case."""
    return tuple(dict.fromkeys(name for part in parts() for name in _names(part)))


def _names(part: Part) -> tuple[str, str]:
    return part.kind.value, part.vendor.casefold()


def _parts(query: Query) -> Iterable[Part]:
    machine = read_machine()
    wanted, text = query.kind.casefold(), query.search.casefold()
    if wanted and wanted not in kinds():
        raise _bad(query.kind, "a kind or a vendor", kinds())
    for part in (*([machine] if machine else []), *parts()):
        names = (part.id, part.name, *part.aliases, *part.shared_aliases)
        is_found = not text or any(text in name.casefold() for name in names)
        is_wanted = wanted in ("", *_names(part)) and is_found
        is_large = (part.value("memory_bytes") or 0.0) >= query.memory_gb * GIGA
        if is_wanted and is_large and (query.is_all or text or not _is_consumer(part)):
            yield part


def _is_consumer(part: Part) -> bool:
    is_cpu = part.kind is DeviceKind.CPU and part is not read_machine()
    return is_cpu or any(word in part.name for word in _CONSUMER)


def _sorted(rows: list[Row], query: Query) -> list[Row]:
    key = query.sort.removeprefix("-")
    if not key:
        return rows
    if key == "part":
        return sorted(rows, key=lambda row: row.part.name, reverse=query.sort.startswith("-"))
    keys = keys_of(query)
    if key not in keys:
        raise _bad(key, "a column of this table", ("part", *keys))
    at = keys.index(key)
    known = [row for row in rows if row.cells[at].value]
    rest = [row for row in rows if not row.cells[at].value]
    is_down = query.sort.startswith("-")
    return [*sorted(known, key=lambda row: row.cells[at].value or 0.0, reverse=is_down), *rest]


def _bad(given: str, what: str, known: Iterable[str]) -> BadViewError:
    return BadViewError(f'"{given[:40]}" is not {what}.', remedy=f"Choose: {', '.join(known)}.")


# ----------------------------------------------------------------------------------------- cells


def rate_of(part: Part, dtype: str, *, is_sparse: bool = False) -> Figure | None:
    """The chosen rate of products at this type, dense or with pruned weights; in fp32 the vector
    unit stands in."""
    for unit in (f"matrix_{dtype}", f"vector_{dtype}"):
        is_used = unit.startswith("matrix") or dtype == "fp32" or not part.has_matrix_unit
        if unit in set(ComputeUnit) and is_used:
            figure = part.figure(unit)
            if figure is not None:
                return _sparse(part, dtype, figure) if is_sparse else figure
    return None


def _sparse(part: Part, dtype: str, dense: Figure) -> Figure | None:
    """The rate with pruned weights; an absent unit stays absent."""
    times = part.sparse(dtype)
    if times is None or not dense.value:
        return None if dense.value else dense
    note = f"{times.value:g} times the dense rate ({dense.text})"
    return times._replace(of=f"{dense.of}, sparse", value=dense.value * times.value, note=note)


def _rate(dtype: str) -> Callable[[Part, Query], Cell]:
    def cell(part: Part, query: Query) -> Cell:
        return _of(part, rate_of(part, dtype, is_sparse=query.is_sparse), TERA, "{:,.4g}")

    return cell


def _figure(of: str, scale: float, form: str) -> Callable[[Part, Query], Cell]:
    return lambda part, _: _of(part, part.figure(of), scale, form)


def _bandwidth(part: Part, _: Query) -> Cell:
    main = next((one for one in part.memory(1) if one.level.is_main), None)
    return _of(part, main.figure if main else None, GIGA, "{:,.0f}")


def _on_chip(part: Part, _: Query) -> Cell:
    figures = [part.figure(name) for name in _ON_CHIP]
    known = [one for one in figures if one is not None]
    return _of(part, max(known, key=lambda one: one.value, default=None), TERA, "{:,.4g}")


def _ridge(part: Part, query: Query) -> Cell:
    value = ridge_of(part, query.dtype, is_sparse=query.is_sparse)
    return Cell(value=value, text=UNKNOWN if value is None else _or_none(value, "{:,.4g}"))


def _rows(part: Part, query: Query) -> Cell:
    ridge = ridge_of(part, query.dtype, is_sparse=query.is_sparse)
    size = _ELEMENT_BYTES.get(query.dtype, 1.0)
    if query.is_sparse:
        size = pruned_bytes(size)
    value = None if ridge is None else ridge * size / 2
    return Cell(value=value, text=UNKNOWN if value is None else _or_none(value, "{:,.4g}"))


def ridge_of(part: Part, dtype: str, *, is_sparse: bool = False) -> float | None:
    """FLOP per byte at which products of this type and the main memory take the same time."""
    rate = rate_of(part, dtype, is_sparse=is_sparse)
    if dtype == "bf16" and not (rate and rate.value):
        # Estimates take fp16 for a part without bf16, and so does this table.
        rate = rate_of(part, "fp16", is_sparse=is_sparse)
    main = next((one for one in part.memory(1) if one.level.is_main), None)
    return None if rate is None or main is None else rate.value / (main.gbs * GIGA)


def _links(part: Part, _: Query) -> Cell:
    cell = _of(part, part.figure("links_oneway"), GIGA, "{:,.4g}")
    shape = part.topology
    if shape is None or not cell.value:
        return cell
    reach = "torus" if shape.kind == "torus" else f"{shape.domain:,} chips" if shape.domain else ""
    text = f"{cell.text}, {reach}" if reach else cell.text
    return Cell(value=cell.value, text=text, title=f"{cell.title}. {shape.note}")


def _network(part: Part, _: Query) -> Cell:
    cell = _of(part, part.figure("network_oneway"), GIGA, "{:,.4g}")
    is_assumed = "assumed" in cell.title
    text = f"{cell.text} assumed" if is_assumed else cell.text
    return Cell(value=cell.value, text=text, title=cell.title, is_assumed=is_assumed)


def _price(part: Part, query: Query) -> Cell:
    price = query.prices.get(part.id)
    return Cell(value=price, text=UNKNOWN if price is None else f"{price:,.4g}", title="as given")


def _per_dollar(of: Callable[[Part, Query], Cell]) -> Callable[[Part, Query], Cell]:
    def cell(part: Part, query: Query) -> Cell:
        price, whole = query.prices.get(part.id), of(part, query)
        value = None if price is None or whole.value is None else whole.value / price
        return Cell(value=value, text=UNKNOWN if value is None else _or_none(value, "{:,.4g}"))

    return cell


def _of(part: Part, figure: Figure | None, scale: float, form: str) -> Cell:
    if figure is None:
        return Cell(value=None, text=UNKNOWN, title="no public figure")
    others = [
        f"{one.value / scale:,.4g} ({one.status.value}: {one.source.title})"
        for one in part.figures
        if one.of == figure.of and one.status is not FigureStatus.CHOSEN
    ]
    value = figure.value / scale
    title = "; ".join([figure.text, *others])
    return Cell(value=value, text=_or_none(value, form), title=title)


def _or_none(value: float, form: str) -> str:
    if not value:
        return ABSENT
    return f"{value:,.0f}" if value >= KILO else form.format(value)


COLUMNS: Mapping[str, Column] = {
    one.key: one
    for one in (
        *(
            Column(
                key=dtype,
                head=dtype,
                unit="TOP/s" if Precision(dtype).value.startswith("int") else "TFLOP/s",
                cell=_rate(dtype),
            )
            for dtype in DTYPES
        ),
        Column(key="exp", head="exp", unit="T/s", cell=_figure("exp", TERA, "{:,.3g}")),
        Column(
            key="memory", head="Memory", unit="GB", cell=_figure("memory_bytes", GIGA, "{:,.0f}")
        ),
        Column(key="bandwidth", head="Bandwidth", unit="GB/s", cell=_bandwidth),
        Column(key="on_chip", head="On-chip", unit="TB/s", cell=_on_chip),
        Column(key="ridge", head="Ridge", unit="FLOP/B", cell=_ridge),
        Column(key="rows", head="B*", unit="rows", cell=_rows),
        Column(key="links", head="Links", unit="GB/s", cell=_links),
        Column(key="network", head="Network", unit="GB/s", cell=_network),
        Column(key="price", head="Price", unit="$/h", cell=_price),
        Column(
            key="rate_per_dollar",
            head="Rate per $/h",
            unit="TFLOP/s",
            cell=_per_dollar(lambda part, query: _rate(query.dtype)(part, query)),
        ),
        Column(
            key="bandwidth_per_dollar",
            head="Bandwidth per $/h",
            unit="GB/s",
            cell=_per_dollar(_bandwidth),
        ),
    )
}


def records_of(query: Query) -> Sequence[dict[str, object]]:
    """The table as records: ids and names, and values in the units of `docs/devices-data.md`."""
    chosen = columns_of(query)
    return [
        {
            "id": row.part.id,
            "name": row.part.name,
            "devices_per_chip": row.part.devices_per_chip,
            **{_named(one): cell.value for one, cell in zip(chosen, row.cells, strict=True)},
        }
        for row in rows_of(query)
    ]


def _named(column: Column) -> str:
    unit = column.unit.casefold().replace("/s", "_per_s").replace("/", "_per_").replace(" ", "_")
    return f"{column.key}_{unit}"


def csv_of(query: Query) -> bytes:
    """The records as CSV."""
    records = records_of(query)
    text = io.StringIO()
    names = ["id", "name", "devices_per_chip", *map(_named, columns_of(query))]
    writer = csv.DictWriter(text, names, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()

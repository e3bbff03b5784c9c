"""The first rows of the table of operations, as text and classes. As `static/js/page/cells.js`."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.analysis.short_names import middle_cut
from roofline.model.categories import IDLE_CATEGORY
from roofline.presentation.page_rows import EFFICIENCY, NOT_SHOWN, SHARE, TIME, Column, Rows
from roofline.presentation.quantities import DASH, ColumnScale, column_scale
from roofline.presentation.sentences import plain_text, say

ROWS = 50
BAR_STEP = 5
"""Percent: before the script draws them, bars have these lengths."""

_OVER = 1.0005  # above this, a ratio over 1 is more than rounding
_TEXTS = {"text", "category", "bound", "cause", "cost", "roof", "source", "program"}
_SHARES = {"share_ratio", SHARE}
_OF_ROOFS = {"roof_ratio", EFFICIENCY}
_OF_PEAKS = {"compute_efficiency_ratio", "memory_utilisation_ratio"}
_RATES = {"gflops", "gops", "gibs", "flop_per_byte"}
_TOLD = {"measured", "estimated"}
_AT_BEST = "at best"
_NAME_LETTERS = 36  # that have room in the first column of most windows
_SOURCE_LETTERS = 32
_MOST_CHIPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell: its `css` classes, and a `title` where the text alone does not say all."""

    text: str
    css: str = ""
    title: str = ""
    chips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The head of a column: its label, and its unit below."""

    id: str
    label: str
    sub: str
    help: str
    css: str
    is_sorted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The table's first page; the first cell of a row is its header."""

    headers: tuple[Header, ...]
    rows: tuple[tuple[Cell, ...], ...]
    all: int


Painter = Callable[[int], Cell]


def op_table(rows: Rows) -> Table:
    """The ops with the largest share of the time, in the columns that a page opens with."""
    columns = _shown(rows.page["columns"])
    times = rows.column(TIME)
    order = sorted(range(len(rows)), key=lambda row: _descending(times[row]))[:ROWS]
    scales = [_scale(column, rows) for column in columns]
    pairs = list(zip(columns, scales, strict=True))
    painters = [_painter(column, scale, rows) for column, scale in pairs]
    return Table(
        headers=tuple(_header(column, scale, rows) for column, scale in pairs),
        rows=tuple(tuple(paint(row) for paint in painters) for row in order),
        all=len(rows),
    )


def _descending(value: float | None) -> float:
    return math.inf if value is None else -value


def _shown(columns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    name = [column for column in columns if column["id"] == "name"]
    return name + [column for column in columns if column["default"] and column["id"] != "name"]


def _scale(column: Mapping[str, Any], rows: Rows) -> ColumnScale:
    values = [] if column["unit"] in _TEXTS else _of_work(column, rows)
    largest = max((value for value in values if isinstance(value, int | float)), default=0)
    return column_scale(column["unit"], max(0, largest))


def _header(column: Mapping[str, Any], scale: ColumnScale, rows: Rows) -> Header:
    provenance = rows.page["profile"]["provenance"]
    kind = {"gflops": provenance["flop"], "gibs": provenance["bytes"]}.get(column["unit"], "")
    names = rows.page["ops"]["names"]
    beginning = {"name": names["prefix"], "source": names["source_prefix"]}.get(column["id"])
    sub = f"all begin with {beginning}" if beginning else column["sub"]
    unit = " ".join(filter(None, (scale.unit, sub)))
    return Header(
        id=column["id"],
        label=column["label"],
        sub=", ".join(filter(None, (unit, kind if kind in _TOLD else ""))),
        help=column["help"],
        css="left" if column["unit"] in _TEXTS else "",
        is_sorted=column["id"] == TIME,
    )


def _painter(column: Mapping[str, Any], scale: ColumnScale, rows: Rows) -> Painter:
    name, unit = column["id"], column["unit"]
    if name == "name":
        return _names(rows)
    if unit in ("cost", "cause"):
        return _labels(rows, name, rows.page["words"][f"{unit}s"])
    if unit == "category":
        return _categories(rows)
    if unit == "bound":
        return _bounds(rows)
    if unit == "roof":
        return _roofs(rows, name)
    if unit == "source":
        return _sources(rows, name)
    if unit in _TEXTS:
        return _words(rows, name)
    if name in _SHARES or name in _OF_ROOFS:
        return _bars(rows, name, scale)
    return _numbers(rows, column, scale)


def _of_work(column: Mapping[str, Any], rows: Rows) -> Column:
    """Values of a column, without bandwidths of starts: their bytes move long after their time."""
    values = rows.column(column["id"])
    if column["unit"] != "gibs":
        return values
    pairs = zip(values, rows.column("is_start"), strict=True)
    return [None if is_start else value for value, is_start in pairs]


def _names(rows: Rows) -> Painter:
    names, shorts, chips = rows.column("name"), rows.names("short"), rows.names("chips")

    def paint(row: int) -> Cell:
        short = names[row] if shorts[row] is None else shorts[row]
        text, beside = middle_cut(short, _NAME_LETTERS), (chips[row] or ())[:_MOST_CHIPS]
        return Cell(text=text, css="left", title=names[row], chips=tuple(beside))

    return paint


def _sources(rows: Rows, name: str) -> Painter:
    values, prefix = rows.column(name), rows.page["ops"]["names"]["source_prefix"]

    def paint(row: int) -> Cell:
        text = str(values[row] or DASH)
        short = middle_cut(text.removeprefix(prefix), _SOURCE_LETTERS)
        return Cell(text=short, css="left clip", title=text)

    return paint


def _labels(rows: Rows, name: str, labels: Mapping[str, str]) -> Painter:
    values = rows.column(name)
    return lambda row: Cell(text=labels.get(str(values[row]), DASH), css="left")


def _categories(rows: Rows) -> Painter:
    def paint(row: int) -> Cell:
        found = rows.categories[row]
        css = f"left clip category mark-{found['symbol']} {token_class(found['token'])}"
        name = shown_category(found["name"])
        return Cell(text=name, css=css, title=name)

    return paint


def _bounds(rows: Rows) -> Painter:
    costs, labels = rows.column("cost"), rows.page["words"]["costs"]

    def paint(row: int) -> Cell:
        bound, cost = rows.bounds[row], costs[row]
        text = bound["label"]
        if bound["kind"] == "none" and cost is not None and cost != "known":
            text = labels.get(cost, DASH)
        return Cell(
            text=text, css=f"left bound bound-{bound['kind']} {token_class(bound['token'])}"
        )

    return paint


def _roofs(rows: Rows, name: str) -> Painter:
    values, compute = rows.column(name), rows.page["roofs"]["compute"]

    def paint(row: int) -> Cell:
        index = values[row]
        is_known = index is not None and 0 <= index < len(compute)
        return Cell(text=compute[index]["label"] if is_known else DASH, css="left")

    return paint


def _words(rows: Rows, name: str) -> Painter:
    values = rows.column(name)
    if name == "program":  # a program without a name is known by its id
        values = [one or two for one, two in zip(values, rows.column("program_id"), strict=True)]

    def paint(row: int) -> Cell:
        text = str(values[row] or DASH)
        return Cell(text=text, css="left clip", title=text)

    return paint


def _bars(rows: Rows, name: str, scale: ColumnScale) -> Painter:
    values, is_share = rows.column(name), name in _SHARES
    timings, empty = rows.column("timing"), rows.column(NOT_SHOWN)
    whole = (max(rows.numbers(name), default=0.0) or 1.0) if is_share else 1.0

    def paint(row: int) -> Cell:
        value = values[row]
        is_over = not is_share and value is not None and value > _OVER
        text = scale.text(value)
        if not is_share and timings[row] == "predicted":
            text = _AT_BEST
        look = (rows.categories if is_share else rows.bounds)[row]["token"]
        css = "" if value is None else bar_class(value / whole, look)
        title = _why_above(rows, row) if is_over else ""
        if not is_share and value is None:
            title = empty[row] or ""
        return Cell(text=text, css=f"{css} over" if is_over else css, title=title)

    return paint


def _numbers(rows: Rows, column: Mapping[str, Any], scale: ColumnScale) -> Painter:
    name, values, causes = column["id"], _of_work(column, rows), rows.column("above_roof")
    is_rate, empty = name in _OF_PEAKS or column["unit"] in _RATES, rows.column(NOT_SHOWN)

    def paint(row: int) -> Cell:
        value = values[row]
        if is_rate and value is None:
            return Cell(text=scale.text(value), title=empty[row] or "")
        is_over = name in _OF_PEAKS and value is not None and value > _OVER
        if is_over and causes[row] is not None:
            return Cell(text=scale.text(value), css="over", title=_why_above(rows, row))
        return Cell(text=scale.text(value), css="zero" if value == 0 else "")

    return paint


def _why_above(rows: Rows, row: int) -> str:
    cause = rows.column("above_roof")[row]
    return "" if cause is None else plain_text(say(f"above_{cause}"))


def token_class(token: str) -> str:
    """The class that gives a cell the colour of `token`: style attributes are not allowed here."""
    return f"of{token}"


def bar_class(ratio: float, token: str) -> str:
    """The classes of a bar of that length, 1 and more a whole one, until the script draws it."""
    steps = min(round(100 * ratio / BAR_STEP), 100 // BAR_STEP)
    return f"bar v{BAR_STEP * steps} {token_class(token)}"


def shown_category(name: str) -> str:
    """XProf has idle time in capitals: files and links keep them, the page says "idle"."""
    return name.lower() if name == IDLE_CATEGORY else name

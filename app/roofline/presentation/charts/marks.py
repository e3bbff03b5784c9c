"""Marks of operations: their places on the chart or on its edge, their size and their traces."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from roofline.figures.figure import Json, inert
from roofline.figures.scale import Place, Range
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.page_rows import Rows

LARGEST = 36.0  # pixels of a diameter
_SMALLEST = 5.0
_PER_ROOT = 100.0  # pixels of the diameter of an op that takes all of the time
_EQUAL = 8.0
_EDGE_SIZE = 8.0
_EDGE_INSET = 0.018  # of the axis
# Factors that give every shape the same area at the same share.
_AREAS = {"circle": 1.0, "square": 0.886, "diamond": 0.96, "triangle-up": 1.3, "star": 1.0}
_EDGE_SYMBOLS = {
    "left": "triangle-left-open",
    "right": "triangle-right-open",
    "above": "triangle-up-open",
    "below": "triangle-down-open",
}
EDGES = tuple(_EDGE_SYMBOLS)


def mark_size(share: float, symbol: str = "circle", largest: float = LARGEST) -> float:
    """Diameter in pixels; the area of a mark is its share of the time."""
    diameter = min(largest, max(_SMALLEST, math.sqrt(share) * _PER_ROOT))
    return diameter * _AREAS.get(symbol, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A drawn op: its row in the view, its place in log10, its diameter, the edge it stands at."""

    row: int
    at: Place
    size: float
    edge: str | None
    is_pinned: bool


def marks_of(
    rows: Rows, places: Sequence[Place | None], axes: tuple[Range, Range], choice: ChartChoice
) -> list[Mark]:
    """Longest first, so that short ops are drawn on top.

    Ops beyond the axes stand at their edge, unless a zoom has put them there.
    """
    timing = rows.column("timing")
    marks = []
    for row, place in enumerate(places):
        if place is None:
            continue
        symbol = rows.categories[row]["symbol"]
        edge = _edge(place, axes)
        is_pinned = edge is not None and choice.zoom is None
        # An op without a time has no share that an area could show.
        is_equal = choice.size == "equal" or timing[row] not in (None, "measured")
        size = _EQUAL * _AREAS.get(symbol, 1.0) if is_equal else mark_size(rows.shares[row], symbol)
        marks.append(
            Mark(
                row=row,
                at=_inside(place, axes) if is_pinned else place,
                size=_EDGE_SIZE if is_pinned else size,
                edge=edge,
                is_pinned=is_pinned,
            )
        )
    return sorted(marks, key=lambda mark: -rows.shares[mark.row])


def _edge(place: Place, axes: tuple[Range, Range]) -> str | None:
    (x, y), (across, up) = place, axes
    if y < up[0]:
        return "below"
    if y > up[1]:
        return "above"
    if x < across[0]:
        return "left"
    return "right" if x > across[1] else None


def _inside(place: Place, axes: tuple[Range, Range]) -> Place:
    def inside(value: float, bounds: Range) -> float:
        low, high = bounds
        margin = _EDGE_INSET * (high - low)
        return min(high - margin, max(low + margin, value))

    return inside(place[0], axes[0]), inside(place[1], axes[1])


def beyond(rows: Rows, marks: Sequence[Mark]) -> dict[str, list[int]]:
    """The ops that lie outside of the axes, by edge."""
    return {
        edge: [rows.ops[mark.row] for mark in marks if mark.edge == edge]
        for edge in EDGES
        if any(mark.edge == edge for mark in marks)
    }


def mark_traces(
    rows: Rows, marks: Sequence[Mark], axes: tuple[Sequence[float | None], Sequence[float | None]]
) -> list[Json]:
    """One trace per category, then one per edge: those stand for ops that are elsewhere.

    `axes` are the values of both axes by row, as the page data have them.
    """
    categories: dict[int, list[Mark]] = {}
    category = rows.column("category")
    for mark in marks:
        if not mark.is_pinned:
            categories.setdefault(category[mark.row], []).append(mark)
    return [
        *(_of_category(rows, number, own, axes) for number, own in categories.items()),
        *(
            _at_edge(rows, edge, [mark for mark in marks if mark.is_pinned and mark.edge == edge])
            for edge in EDGES
            if any(mark.is_pinned and mark.edge == edge for mark in marks)
        ),
    ]


def _of_category(
    rows: Rows,
    number: int,
    marks: Sequence[Mark],
    axes: tuple[Sequence[float | None], Sequence[float | None]],
) -> Json:
    category = rows.page["categories"][number]
    xs, ys = axes
    return {
        **marks_trace(category["name"], [rows.ops[mark.row] for mark in marks], f"marks-{number}"),
        "x": [xs[mark.row] for mark in marks],
        "y": [ys[mark.row] for mark in marks],
        "marker": {
            "symbol": category["symbol"],
            "size": [round(mark.size, 1) for mark in marks],
            "color": category["token"],
            "opacity": 0.76,
            "line": {"color": "--halo", "width": 1},
        },
    }


def _at_edge(rows: Rows, edge: str, marks: Sequence[Mark]) -> Json:
    ops = [rows.ops[mark.row] for mark in marks]
    return {
        **marks_trace(f"ops beyond the edge, {edge}", ops, f"marks-{edge}"),
        "x": [10.0 ** mark.at[0] for mark in marks],
        "y": [10.0 ** mark.at[1] for mark in marks],
        "marker": {
            "symbol": _EDGE_SYMBOLS[edge],
            "size": _EDGE_SIZE,
            "color": [rows.categories[mark.row]["token"] for mark in marks],
            "opacity": 1,
            "line": {"width": 1.4},
        },
    }


def marks_trace(name: str, ops: Sequence[int], uid: str) -> Json:
    """Marks whose `customdata` are ops of the page; their card is the page's own."""
    return {
        "type": "scatter",
        "uid": uid,
        "name": inert(name),
        "meta": {"role": "marks"},
        "mode": "markers",
        "hoverinfo": "none",
        "customdata": list(ops),
    }

"""Marks of operations: their places on the chart or on its edge, their size and their traces."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
# On paper: what binds, with symbols in colour and in gray, where a filled mark is a memory's.
_BOUNDS = {
    "slanted": ("memory", "circle", "circle"),
    "flat": ("compute", "square", "square-open"),
    "link": ("link", "triangle-up", "triangle-up"),
    "none": ("unknown", "diamond-open", "diamond-open"),
}
_LEAST_ON_PAPER = 4.0
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


Kind = tuple[str, Mapping[str, Any]]
"""What marks of one trace have in common: an id, and its `name`, `symbol` and `token`."""


def kinds_of(rows: Rows, choice: ChartChoice) -> list[Kind]:
    """The kind of each row: its category, on paper what binds it."""
    if choice.paper is None:
        return [*zip(map(str, rows.column("category")), rows.categories, strict=True)]
    links = {level["id"] for level in rows.page["levels"] if level["is_link"]}
    found: list[Kind] = []
    for bound in rows.bounds:
        kind = "link" if bound.get("level") in links else bound["kind"]
        name, symbol, in_gray = _BOUNDS[kind]
        look = {"name": bound["label"], "symbol": symbol, "token": bound["token"]}
        if choice.paper.is_gray:  # memories differ by colour alone
            look |= {"name": name, "symbol": in_gray}
        found.append((look["name"], look))
    return found


def marks_of(
    rows: Rows, places: Sequence[Place | None], axes: tuple[Range, Range], choice: ChartChoice
) -> list[Mark]:
    """Longest first, so that short ops are drawn on top.

    Ops beyond the axes stand at their edge, unless a zoom has put them there.
    """
    timing, kinds = rows.column("timing"), kinds_of(rows, choice)
    marks = []
    for row, place in enumerate(places):
        if place is None:
            continue
        symbol = kinds[row][1]["symbol"]
        edge = _edge(place, axes)
        is_pinned = edge is not None and choice.zoom is None
        # An op without a time has no share that an area could show.
        is_equal = choice.size == "equal" or timing[row] not in (None, "measured")
        size = _EQUAL * _AREAS.get(symbol, 1.0) if is_equal else mark_size(rows.shares[row], symbol)
        if choice.paper is not None:
            size = max(_LEAST_ON_PAPER, size * choice.paper.shrunk)
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
    rows: Rows,
    marks: Sequence[Mark],
    axes: tuple[Sequence[float | None], Sequence[float | None]],
    kinds: Sequence[Kind],
) -> list[Json]:
    """One trace per kind, then one per edge: those stand for ops that are elsewhere.

    `axes` are the values of both axes by row, as the page data have them, `kinds` those by row.
    """
    by_kind: dict[str, list[Mark]] = {}
    for mark in marks:
        if not mark.is_pinned:
            by_kind.setdefault(kinds[mark.row][0], []).append(mark)
    return [
        *(_of_kind(rows, kinds[own[0].row], own, axes) for own in by_kind.values()),
        *(
            _at_edge(rows, edge, pinned, kinds)
            for edge in EDGES
            if (pinned := [mark for mark in marks if mark.is_pinned and mark.edge == edge])
        ),
    ]


def _of_kind(
    rows: Rows,
    kind: Kind,
    marks: Sequence[Mark],
    axes: tuple[Sequence[float | None], Sequence[float | None]],
) -> Json:
    key, look = kind
    xs, ys = axes
    return {
        **marks_trace(look["name"], [rows.ops[mark.row] for mark in marks], f"marks-{key}"),
        "x": [xs[mark.row] for mark in marks],
        "y": [ys[mark.row] for mark in marks],
        "marker": {
            "symbol": look["symbol"],
            "size": [round(mark.size, 1) for mark in marks],
            "color": look["token"],
            "opacity": 0.76,
            "line": {"color": "--halo", "width": 1},
        },
    }


def _at_edge(rows: Rows, edge: str, marks: Sequence[Mark], kinds: Sequence[Kind]) -> Json:
    ops = [rows.ops[mark.row] for mark in marks]
    return {
        **marks_trace(f"ops beyond the edge, {edge}", ops, f"marks-{edge}"),
        "x": [10.0 ** mark.at[0] for mark in marks],
        "y": [10.0 ** mark.at[1] for mark in marks],
        "marker": {
            "symbol": _EDGE_SYMBOLS[edge],
            "size": _EDGE_SIZE,
            "color": [kinds[mark.row][1]["token"] for mark in marks],
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

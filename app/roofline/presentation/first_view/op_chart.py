"""The roofline of operations as the page opens. As `static/js/chart/op-geometry.js`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from roofline.figures.roofs import Roofs, ridge
from roofline.figures.scale import Margin, Range, heaviest, spread, with_headroom, without_strays
from roofline.figures.scene import Layer, Mark, Place, Shape
from roofline.figures.svg import SvgWriter
from roofline.presentation.first_view.layouts import Axes
from roofline.presentation.first_view.roof_shapes import RoofChart, grids, ground, labels
from roofline.presentation.first_view.shown_roofs import all_roofs, log_places, shown_roofs
from roofline.presentation.page_rows import RATE, Rows

MARGIN = Margin(left=84, right=14, top=10, bottom=44)
HEIGHT = 500  # pixels in a usual window: static/css/zone.css
# More marks than this would keep the first view from being seen at once; the script draws all.
MOST_MARKS = 1_500
LABEL_ROOM = 0.08  # of the plot's height, above the highest compute roof
TOOLS_ROOM = 0.15  # above the highest point, where no roof keeps points below the chart's buttons
_EDGE_INSET = 0.018  # of the axis
_EDGE_SIZE = 8.0
_LARGEST = 36.0
_EMPTY: tuple[Range, Range] = ((-1.0, 3.0), (0.0, 5.0))
# Factors that give every shape the same area at the same share.
_AREAS = {"circle": 1.0, "square": 0.886, "diamond": 0.96, "triangle-up": 1.3, "star": 1.0}
_EDGE_SYMBOLS = {
    "left": "triangle-left",
    "right": "triangle-right",
    "above": "triangle-up",
    "below": "triangle-down",
}


def mark_size(share: float, symbol: str, largest: float = _LARGEST) -> float:
    """Diameter in pixels; the area of a mark is its share of the time."""
    return min(largest, max(5.5, math.sqrt(share) * 138)) * _AREAS.get(symbol, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpChart:
    """The drawing, as the content of an `svg` of the plot's size, and how many ops it has."""

    svg: str
    drawn: int
    unheld: int
    edges: dict[str, int]
    """Marks at each edge of the chart, which stand for ops beyond it."""


def op_chart(rows: Rows) -> OpChart:
    """Draws the ops of `rows` against the roofs in use."""
    places = log_places(rows.column(rows.axis), rows.column(RATE))
    shown = shown_roofs(rows)
    main = shown.memory[0] if shown.memory else None
    flat = shown.compute[0] if shown.compute else None
    x, y = ranges_of(rows, places, shown)
    chart = RoofChart(
        axes=Axes(x=x, y=y, margin=MARGIN, height=HEIGHT),
        shown=shown,
        main=main,
        flat=flat,
        corner=ridge(main, flat),
        is_small=False,
    )
    points = _points(rows, places, chart.axes)
    chart = replace(chart, points=tuple(point.at for point in points), star=star_of(rows))
    axis = rows.page["x_axes"][0]["label"]
    unit = f"FLOP per byte of {axis}"
    title = f"Operational intensity, {unit}"
    marks = Layer(shapes=tuple(_marks(rows, points)), css="op-points", is_clipped=True)
    layers = [*grids(chart), ground(chart), *labels(chart, title, unit), marks]
    return OpChart(
        svg=SvgWriter(chart.scale).layers(layers),
        drawn=sum(place is not None for place in places),
        unheld=sum(u for u, place in zip(rows.is_unheld, places, strict=True) if place is not None),
        edges=_edges(points),
    )


def ranges_of(rows: Rows, places: Sequence[Place | None], shown: Roofs) -> tuple[Range, Range]:
    """Those of the ops that make 99 % of the time, and of the main ridge, with room for labels."""
    known = [(place, share) for place, share in zip(places, rows.shares, strict=True) if place]
    heavy = [known[i] for i in heaviest([share for _, share in known])]
    fitting = without_strays([place[1] for place, _ in heavy], [share for _, share in heavy])
    kept = [heavy[i][0] for i in fitting]
    xs, ys = [x for x, _ in kept], [y for _, y in kept]
    every = all_roofs(rows.page)
    corner = ridge(*(roofs[0] if roofs else None for roofs in (every.memory, every.compute)))
    if corner is not None:
        xs += [corner[0] - 0.4, corner[0] + 0.9]
        ys += [corner[1] - 2, corner[1]]
    x, y = (spread(xs, (0.2, 0.22), 2), spread(ys, (0.3, 0.34), 2)) if xs else _EMPTY
    top = shown.top
    if top is not None:
        return x, with_headroom(y, top.log, LABEL_ROOM)
    heights = [place[1] for place, _ in known if place[1] <= y[1]]
    return x, with_headroom(y, max(heights), TOOLS_ROOM) if heights else y


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    row: int
    at: Place
    edge: str | None


def _points(rows: Rows, places: Sequence[Place | None], axes: Axes) -> list[_Point]:
    """Longest first, so that short ops are drawn on top; those beyond the axes at their edge."""
    drawn = [row for row, place in enumerate(places) if place is not None]
    points = []
    for row in sorted(drawn, key=lambda row: -rows.shares[row]):
        place = places[row]
        if place is not None:
            at = _inside(place[0], axes.x), _inside(place[1], axes.y)
            edge = _edge(place, axes)
            points.append(_Point(row=row, at=at if edge else place, edge=edge))
    return points


def _edge(place: Place, axes: Axes) -> str | None:
    x, y = place
    if y < axes.y[0]:
        return "below"
    if y > axes.y[1]:
        return "above"
    if x < axes.x[0]:
        return "left"
    return "right" if x > axes.x[1] else None


def _inside(value: float, bounds: Range) -> float:
    low, high = bounds
    margin = _EDGE_INSET * (high - low)
    return min(high - margin, max(low + margin, value))


def _marks(rows: Rows, points: Sequence[_Point]) -> list[Shape]:
    """Marks in the order in which they cover each other; marks of the edge and the star above."""
    timing = rows.column("timing")
    kept = points[:MOST_MARKS]
    ordered = [p for p in kept if not p.edge] + [p for p in kept if p.edge]
    shapes: list[Shape] = [_mark(point, rows, timing[point.row]) for point in ordered]
    star = star_of(rows)
    if star is not None:
        shapes.append(Mark(at=star, radius=8, symbol="star", token="--star", css="star"))
    return shapes


def _mark(point: _Point, rows: Rows, timing: str | None) -> Mark:
    category = rows.categories[point.row]
    symbol, token = category["symbol"], category["token"]
    if point.edge:
        symbol = _EDGE_SYMBOLS[point.edge]
        return Mark(
            at=point.at, radius=_EDGE_SIZE / 2, symbol=symbol, token=token, css="point pinned"
        )
    size = 8.0 * _AREAS.get(symbol, 1.0)  # an op without a time has no share that an area shows
    if timing is None or timing == "measured":
        size = mark_size(rows.shares[point.row], symbol)
    return Mark(at=point.at, radius=size / 2, symbol=symbol, token=token, css="point")


def star_of(rows: Rows) -> Place | None:
    """log10 of intensity and FLOP rate of the program; `None` where they are not known."""
    if not rows.program:
        return None
    total = rows.program[0]
    return log_places([total.get(rows.axis)], [placed_rate(total)])[0]


def placed_rate(point: dict[str, float | None]) -> float | None:
    """GFLOP/s of the ops of a program's point that have a place on the roofline."""
    placed = f"placed_{RATE}"
    return point[placed] if placed in point else point.get(RATE)


def _edges(points: Sequence[_Point]) -> dict[str, int]:
    counts = dict.fromkeys(("left", "right", "above", "below"), 0)
    for point in points:
        if point.edge:
            counts[point.edge] += 1
    return counts

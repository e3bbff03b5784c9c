"""The small roofline of the program as the page opens. As `static/js/chart/program-geometry.js`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log10
from typing import Any

from roofline.figures.roofs import Roof, Roofs, ridge
from roofline.figures.scale import Margin, Range, Scale, spread, with_headroom
from roofline.figures.scene import Anchor, Layer, Line, Mark, Place, Shape, Text
from roofline.figures.svg import SvgWriter
from roofline.presentation.first_view.layouts import Axes, shared
from roofline.presentation.first_view.op_chart import placed_rate
from roofline.presentation.first_view.roof_shapes import (
    LETTER,
    RoofChart,
    grids,
    ground,
    in_row,
    labels,
)
from roofline.presentation.first_view.shown_roofs import log_places, shown_roofs
from roofline.presentation.page_rows import Page, Rows
from roofline.presentation.quantities import percent

MARGIN = Margin(left=78, right=10, top=8, bottom=38)
HEIGHT = 248  # pixels in a usual window
LABEL_ROOM = 0.12  # of the plot's height, above the compute roof
_MOST_MARKS = 300
_MOST_NAMED = 3
# Pixels on the right of the program, its margin included, for its share of the roof.
_ONE_LINE = 84
_TWO_LINES = 54
_EMPTY: tuple[Range, Range] = ((-1.0, 3.0), (0.0, 5.0))
_ORDER = {"step": 0, "phase": 1, "average": 2, "total_hw": 3, "total": 4}
SYMBOLS = {
    "total": "star",
    "total_hw": "star-open",
    "average": "diamond",
    "phase": "square",
    "step": "circle",
}
_SIZES = {"total": 14, "total_hw": 14, "average": 11, "phase": 11, "step": 10}
STEP_COLOURS = 9
"""Steps of the scale of colours from the first step of a program to its last."""

Point = dict[str, Any]


def program_chart(rows: Rows) -> str | None:
    """The content of an `svg` of the plot's size; `None` where no point has a place."""
    points = rows.program
    places = log_places([point.get(rows.axis) for point in points], list(map(placed_rate, points)))
    known = [(point, at) for point, at in zip(points, places, strict=True) if at is not None]
    if not known:
        return None
    shown = shown_roofs(rows)
    main, flat = _main(rows.page, points, shown), shown.compute[0] if shown.compute else None
    corner = ridge(main, flat)
    x, y = _ranges(known, corner)
    if shown.top is not None:
        y = with_headroom(y, shown.top.log, LABEL_ROOM)
    chart = RoofChart(
        axes=Axes(x=x, y=y, margin=MARGIN, height=HEIGHT),
        shown=shown,
        main=main,
        flat=flat,
        corner=corner,
        is_small=True,
    )
    total = points[0] if _is_held(rows.page, shown, points[0]) else None
    gaps = [gap for point, at in known if point is total for gap in _gap(point, at)]
    ordered = _thinned(sorted(known, key=lambda one: _ORDER[one[0]["scope"]]))
    taken = tuple(gap.places for gap in gaps)
    chart = replace(chart, points=tuple(at for _, at in ordered), taken=taken)
    return SvgWriter(chart.scale).layers(_layers(chart, ordered, gaps))


def _layers(
    chart: RoofChart, ordered: list[tuple[Point, Place]], gaps: list["_Gap"]
) -> list[Layer]:
    outliers = [one for one in ordered if one[0].get("is_outlier")]
    over = [gap.line for gap in gaps]
    named = outliers if len(outliers) <= _MOST_NAMED else []
    shares = [layer for gap in gaps for layer in gap.labels(chart)]
    marks = [_mark(point, at) for point, at in ordered]
    title = "FLOP per byte"
    return [
        *grids(chart),
        ground(chart),
        Layer(shapes=(*over, *marks), css="program-points", is_clipped=True),
        *labels(chart, title, title),
        *shares,
        Layer(shapes=tuple(_step_name(point, at) for point, at in named)),
    ]


def _main(page: Page, points: Sequence[Point], shown: Roofs) -> Roof | None:
    """The memory roof that binds the program, else the outermost."""
    levels = {page["bounds"][point["bound_by"]].get("level") for point in points}
    binding = [roof for roof in shown.memory if roof.id in levels]
    return next(iter([*binding, *shown.memory]), None)


def _ranges(known: list[tuple[Point, Place]], corner: Place | None) -> tuple[Range, Range]:
    """Around the points and the ridge, so that the distance to the roof can be seen."""
    places = [at for _, at in known] + ([corner] if corner else [])
    roofs = [
        log10(point["attainable_gflops"])
        for point, _ in known
        if point["scope"] != "step" and (point.get("attainable_gflops") or 0) > 0
    ]
    xs, ys = [x for x, _ in places], [y for _, y in places] + roofs
    return spread(xs, (0.42, 0.42), 0.8), spread(ys, (0.3, 0.18), 0.8)


def _is_held(page: Page, shown: Roofs, point: Point) -> bool:
    """Whether the roof that the point's share is of is drawn: else no line leads to it."""
    bound = page["bounds"][point["bound_by"]]
    if bound["kind"] == "none":
        return False
    if bound["kind"] == "slanted":
        return any(roof.id == bound.get("level") for roof in shown.memory)
    compute = page["roofs"]["compute"]
    unit = point.get("compute_unit") or 0
    return unit < len(compute) and any(roof.id == compute[unit]["id"] for roof in shown.compute)


def _thinned(places: list[tuple[Point, Place]]) -> list[tuple[Point, Place]]:
    """Ordinary steps beyond the first hundreds are left to the script; all else stays."""
    ordinary = [one for one in places if one[0]["scope"] == "step" and not one[0].get("is_outlier")]
    dropped = {id(one) for one in ordinary[: max(0, len(ordinary) - _MOST_MARKS)]}
    return [one for one in places if id(one) not in dropped][-2 * _MOST_MARKS :]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gap:
    """From the program at the height `low` up to its roof at `high`; logarithms to base 10."""

    x: float
    low: float
    high: float
    share: str

    @property
    def line(self) -> Line:
        """The dashed line between both."""
        return Line(points=((self.x, self.low), (self.x, self.high)), token="--ink-2", dash="3,3")

    def labels(self, chart: RoofChart) -> list[Layer]:
        """The share beside the line, for each width of the plot."""
        return shared(
            Layer(shapes=self._texts(layout.scale), css=layout.css)
            for layout in chart.axes.widths()
        )

    def places(self, scale: Scale) -> list[Place]:
        """Where the letters are, so that names of roofs keep clear of them."""
        side, lines = self._words(scale)
        first = scale.to_y((self.low + self.high) / 2) - 7 * (len(lines) - 1)
        start = scale.to_x(self.x) + 5 * side
        return [
            at
            for row, text in enumerate(lines)
            for at in in_row(scale, 6 * len(text), (start, first + 14 * row), side)
        ]

    def _words(self, scale: Scale) -> tuple[int, list[str]]:
        """On its right (1), on two lines where one is too long; else on its left (-1)."""
        room = scale.width - scale.to_x(self.x)
        words = [self.share, "of roof"]
        return (1 if room >= _TWO_LINES else -1), words if room < _ONE_LINE else [" ".join(words)]

    def _texts(self, scale: Scale) -> tuple[Shape, ...]:
        side, lines = self._words(scale)
        middle = (self.x, (self.low + self.high) / 2)
        anchor: Anchor = "start" if side > 0 else "end"
        first = 3.6 - 7 * (len(lines) - 1)
        return tuple(
            _gap_text(text, middle, (6.6 * side, first + 14 * row), anchor)
            for row, text in enumerate(lines)
        )


def _gap(point: Point, at: Place) -> Iterator[_Gap]:
    """The program's own, where its share and its roof are known."""
    share, roof = point.get("roofline_efficiency_ratio"), point.get("attainable_gflops") or 0
    if share is not None and roof > 0:
        yield _Gap(x=at[0], low=at[1], high=log10(roof), share=percent(share, 0))


def _gap_text(text: str, at: Place, shift: tuple[float, float], anchor: Anchor) -> Text:
    return Text(
        text=text,
        at=at,
        shift=shift,
        anchor=anchor,
        size=11,
        token="--ink-2",
        plate="--label-bg",
        width=len(text) * 11 * LETTER,
    )


def _step_name(point: Point, at: Place) -> Text:
    digits = "".join(sign for sign in point["label"] if sign in "0123456789")[:12]
    return Text(text=f"step {digits or '?'}", at=at, shift=(0, 18), size=11, token="--ink-2")


def step_token(order: float | None) -> str:
    """The colour of a step by its place among the steps, 0 to 1: a token of the style sheet."""
    return f"--step-{round((1.0 if order is None else order) * (STEP_COLOURS - 1))}-of-8"


def _mark(point: Point, at: Place) -> Mark:
    scope = point["scope"]
    token = step_token(point.get("order")) if scope == "step" else "--star"
    css = "place outlier" if point.get("is_outlier") else "place"
    css += " open" if SYMBOLS[scope].endswith("-open") else ""
    return Mark(at=at, radius=_SIZES[scope] / 2, symbol=SYMBOLS[scope], token=token, css=css)

"""A profile at the size of a stamp, for lists: its roofs, its longest ops and the program."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofline.figures.roofs import roof_lines
from roofline.figures.scale import Margin, Scale
from roofline.figures.scene import Layer, Line, Mark, Shape
from roofline.figures.svg import SvgWriter
from roofline.presentation.first_view import summary
from roofline.presentation.first_view.op_chart import ranges_of, star_of
from roofline.presentation.first_view.shown_roofs import log_places, shown_roofs
from roofline.presentation.page_rows import RATE, Rows

WIDTH, HEIGHT = 92, 48  # pixels
MOST_MARKS = 26
_MARGIN = Margin(left=2, right=2, top=3, bottom=2)
_RADIUS = 1.5
_GROWTH = 9.0  # pixels of radius that an op of the whole time would gain
_STAR = 4.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A list's preview of a profile: the first sentence of its verdict, and an `svg` element.

    Colours of the drawing are custom properties of the page that it is put into.
    """

    headline: str
    svg: str


def preview(page: Mapping[str, Any]) -> Preview:
    """The preview of `page`, the page data as plain objects."""
    rows = Rows(page)
    headline = "".join(piece.text for piece in summary.pieces(rows.verdict["headline"]))
    return Preview(headline=headline, svg=_drawing(rows))


def _drawing(rows: Rows) -> str:
    places = log_places(rows.column(rows.axis), rows.column(RATE))
    shown = shown_roofs(rows)
    x, y = ranges_of(rows, places, shown)
    scale = Scale(x=x, y=y, width=WIDTH, height=HEIGHT, margin=_MARGIN)
    lines: list[Shape] = [
        Line(points=line.points, token=line.roof.token, width=1.3, dash=line.roof.dash)
        for line in roof_lines(shown, scale.x)
    ]
    placed = [row for row, place in enumerate(places) if place is not None]
    longest = sorted(placed, key=lambda row: -rows.shares[row])[:MOST_MARKS]
    marks: list[Shape] = [
        Mark(
            at=at,
            radius=_RADIUS + _GROWTH * min(1.0, rows.shares[row]) ** 0.5 / 2,
            symbol="circle",
            token=rows.categories[row]["token"],
        )
        for row in longest
        if (at := places[row]) is not None
    ]
    star = star_of(rows)
    if star is not None:
        marks.append(Mark(at=star, radius=_STAR, symbol="star", token="--star"))
    layers = [Layer(shapes=tuple(lines + marks), is_clipped=True)]
    return SvgWriter(scale).document(layers, title="Roofline")

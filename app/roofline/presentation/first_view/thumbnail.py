"""A profile at the size of a stamp, for lists: its roofs, its longest ops and the program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import log10
from typing import Any

from roofline.figures.figure import Figure, Json
from roofline.figures.scale import Margin, Place, Scale
from roofline.presentation.first_view import summary
from roofline.presentation.page_rows import Rows

WIDTH, HEIGHT = 92, 48  # pixels
MOST_MARKS = 26
_MARGIN = Margin(left=2, right=2, top=3, bottom=2)
_SMALLER = 0.25  # marks, beside those of the page
_LEAST_RADIUS = 1.5
_DASHES = {"dash": "4 3", "dot": "1 2", "dashdot": "4 2 1 2", "longdash": "6 3"}
# A star of five points around 0, 0, with a radius of 4.5 pixels.
_STAR = "M0-6.3 1.4-1.9 6-1.9 2.3.7 3.7 5.1 0 2.4-3.7 5.1-2.3.7-6-1.9-1.4-1.9Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A list's preview of a profile: the first sentence of its verdict, and an `svg` element.

    Colours of the drawing are custom properties of the page that it is put into.
    """

    headline: str
    svg: str


def preview(page: Mapping[str, Any]) -> Preview:
    """The preview of `page`, the page data as plain objects."""
    headline = "".join(piece.text for piece in summary.pieces(Rows(page).verdict["headline"]))
    return Preview(headline=headline, svg=_drawing(page["figures"]["op"]))


def _drawing(figure: Figure) -> str:
    """The figure of the page without its words, as long as shapes that a stamp has room for."""
    axes = figure["layouts"]["narrow"]
    x, y = axes["xaxis"]["range"], axes["yaxis"]["range"]
    scale = Scale(x=(x[0], x[1]), y=(y[0], y[1]), width=WIDTH, height=HEIGHT, margin=_MARGIN)
    roofs = [trace for trace in figure["data"] if trace["meta"]["role"] == "roof"]
    marks = [trace for trace in figure["data"] if trace["meta"]["role"] == "marks"]
    stars = [trace for trace in figure["data"] if trace["meta"]["role"] == "program"]
    shapes = [
        *(_line(trace, scale) for trace in roofs),
        *_discs(marks, scale),
        *(_star(at, scale) for trace in stars for at in _places(trace)),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>Roofline</title>'
        f"{''.join(shapes)}</svg>"
    )


def _places(trace: Json) -> list[Place]:
    pairs = zip(trace["x"], trace["y"], strict=True)
    return [(log10(x), log10(y)) for x, y in pairs if x is not None and y is not None]


def _line(trace: Json, scale: Scale) -> str:
    """A roof, cut off by the edges of the drawing."""
    look = trace["line"]
    dash = _DASHES.get(look.get("dash", ""), "")
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    pieces = (
        f"M{scale.to_x(x0):.1f} {scale.to_y(y0):.1f}L{scale.to_x(x1):.1f} {scale.to_y(y1):.1f}"
        for (x0, y0), (x1, y1) in pairwise(_places(trace))
    )
    stroke = escape(look["color"])
    return f'<path d="{"".join(pieces)}" stroke="var({stroke})" stroke-width="1.3"{dashes}/>'


def _discs(traces: Sequence[Json], scale: Scale) -> Iterator[str]:
    """The longest ops, which have the largest marks; those at an edge are left out."""
    discs = [
        (size, at, trace["marker"]["color"])
        for trace in traces
        if isinstance(trace["marker"]["size"], list)
        for at, size in zip(_places(trace), trace["marker"]["size"], strict=True)
    ]
    for size, (x, y), token in sorted(discs, reverse=True)[:MOST_MARKS]:
        radius = max(_LEAST_RADIUS, size / 2 * _SMALLER)
        yield (
            f'<circle cx="{scale.to_x(x):.1f}" cy="{scale.to_y(y):.1f}" r="{radius:.1f}" '
            f'fill="var({escape(token)})"/>'
        )


def _star(at: Place, scale: Scale) -> str:
    place = f"{scale.to_x(at[0]):.1f} {scale.to_y(at[1]):.1f}"
    return f'<path d="{_STAR}" transform="translate({place})" fill="var(--star)"/>'

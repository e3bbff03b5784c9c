"""Charts of computed costs: roofs or curves, points, and the names beside them.

The calculator, models and other devices share them. Places are values of the axes, above 0; rates
under a roof are GFLOP/s.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10
from typing import Literal

from roofline.figures.figure import (
    Figure,
    Json,
    Width,
    inert,
    line,
    numbered,
    six_digits,
)
from roofline.figures.labels import POSITIONS, Spot
from roofline.figures.roofs import Roof, Roofs
from roofline.figures.scale import Margin, Range, spread, with_headroom
from roofline.presentation.charts.roof_traces import (
    Name,
    Namer,
    RoofChart,
    labels_trace,
    names_trace,
    plain_tick,
    rate_tick,
    roof_axes,
    roof_layout,
    roof_traces,
)
from roofline.presentation.quantities import amount, count, significant

Point = tuple[float, float]
Kind = Literal["predicted", "measured", "crossing", "full", "whole"]
Write = Callable[[float], str]

_MARGIN = Margin(left=84, right=16, top=10, bottom=44)
# These cards are narrow, also where the window is wide.
_PLOTS: dict[Width, tuple[float, float]] = {"wide": (560.0, 300.0), "narrow": (250.0, 340.0)}
_LABEL_ROOM = 0.14  # of the plot's height, above the highest roof
_NAME_SIZE = 12.0
_GROUPED = 10_000  # from here on sizes are "100 k", so that neighbours do not touch on phones
# A name stands beside its mark, else further away; only in a wide plot may it then cross a roof, or
# a few marks. On a phone it may lack its number, "prefill, 1,380", and be left out.
_NUMBER = re.compile(", | at head ")
_NEAR, _FAR, _CROSSING = (0.0, 1.0), (14.0, 1.0), (0.0, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The look of a line: a token of the style sheet, a dash of Plotly and SVG, pixels."""

    token: str
    dash: str = "solid"
    width: float = 2.0


LOOKS = (
    Look(token="--vs-1"),
    Look(token="--vs-2", dash="7px,3px"),
    Look(token="--c1", dash="2px,3px"),
    Look(token="--vs-3", dash="8px,3px,2px,3px"),
    Look(token="--c2", dash="1px,3px"),
    Look(token="--c3", dash="12px,4px"),
    Look(token="--c4", dash="4px,2px"),
    Look(token="--c7", dash="10px,3px,2px,3px,2px,3px"),
)
"""Lines of several devices, in their order."""
TIE = Look(token="--ink", dash="3px,3px", width=1.2)
PLAIN = Look(token="--ink")
LOWERED = Look(token="--ink-3", dash="2px,3px", width=1.0)
_HERE = Look(token="--accent", width=1.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line."""

    points: Sequence[Point]
    look: Look


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point; `said` is shown when it is pointed at, `name` stands beside it.

    `size` is the diameter in pixels; `token` replaces the colour of its kind.
    """

    at: Point
    kind: Kind
    said: str
    name: str = ""
    size: float = 10.0
    token: str = ""


# Symbol, colour, and colour of the edge.
_KINDS: dict[Kind, tuple[str, str, str]] = {
    "crossing": ("circle", "--surface", "--ink"),
    "predicted": ("circle-open", "--c1", "--c1"),
    "measured": ("circle", "--c1", "--halo"),
    "full": ("circle", "--warn", "--halo"),
    "whole": ("star", "--star", "--halo"),
}


def range_of(values: Iterable[float], decades: float = 2.0) -> Range:
    """A logarithmic axis around the positive `values`, at least so many decades long."""
    known = [log10(value) for value in values if value > 0]
    return spread(known or [0.0], (0.1, 0.1), decades)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostChart:
    """What a chart shows; `alt` says it in words. `x` and `y` are log10 ranges.

    `peaks` are the memory and the compute roof that distances are read against. `here` is the x
    value that was chosen, a line from the bottom to the top. Names do not cross curves that
    `are_roofs`.
    """

    id: str
    alt: str
    x: Range
    y: Range
    x_title: str
    x_text: Write = plain_tick
    y_text: Write = rate_tick
    peaks: tuple[Roof, Roof] | None = None
    curves: Sequence[Curve] = ()
    marks: Sequence[Mark] = ()
    here: float | None = None
    are_roofs: bool = False

    def figure(self) -> Figure:
        """The chart for Plotly."""
        chart = self._roofs()
        marks = self._marks_inside(chart)
        return {
            "id": self.id,
            "data": six_digits(
                numbered(
                    [
                        *(roof_traces(chart) if self.peaks else ()),
                        *map(_curve_trace, self._all_curves(chart)),
                        *(_marks_trace(kind, marks) for kind in _KINDS),
                        *(text for width in _PLOTS for text in self._texts(chart, marks, width)),
                    ]
                )
            ),
            "layouts": {width: self._layout(chart, width) for width in _PLOTS},
            "marks": None,
            "beyond": {},
            "legend": [],
            "alt": self.alt,
        }

    def _roofs(self) -> RoofChart:
        if self.peaks is None:
            shown = Roofs()
            return RoofChart(x=self.x, y=self.y, shown=shown, main=None, flat=None, is_bare=True)
        memory, compute = self.peaks
        y = with_headroom(self.y, compute.log, _LABEL_ROOM)
        shown = Roofs(memory=(memory,), compute=(compute,))
        return RoofChart(x=self.x, y=y, shown=shown, main=memory, flat=compute)

    def _all_curves(self, chart: RoofChart) -> list[Curve]:
        if self.here is None:
            return [*self.curves]
        ends = [(self.here, 10.0**at) for at in chart.y]
        return [Curve(points=ends, look=_HERE), *self.curves]

    def _marks_inside(self, chart: RoofChart) -> list[Mark]:
        ranges = (chart.x, chart.y)
        return [
            mark
            for mark in self.marks
            if all(
                low <= log10(value) <= high
                for value, (low, high) in zip(mark.at, ranges, strict=True)
            )
        ]

    def _texts(self, chart: RoofChart, marks: Sequence[Mark], width: Width) -> Iterable[Json]:
        """Names that have room: of the chosen value, of roofs, of points."""
        places = [((log10(mark.at[0]), log10(mark.at[1])), mark.size / 2) for mark in marks]
        namer = Namer(chart, width, places, _PLOTS)
        scale = namer.scale
        for curve in self.curves if self.peaks or self.are_roofs else ():
            drawn = [(scale.to_x(log10(x)), scale.to_y(log10(y))) for x, y in curve.points]
            namer.board.lines = [*namer.board.lines, *((*a, *b) for a, b in pairwise(drawn))]
        names: list[Name] = []
        if self.here is not None:
            x = scale.to_x(log10(self.here))
            side, at = ("left", x - 5) if x > scale.width / 2 else ("right", x + 5)
            spot = Spot(x=at, y=10, position=f"middle {side}")
            names += namer.name([spot], count(self.here), "--accent", _NAME_SIZE)
        names += namer.roofs()
        yield names_trace(names, width)
        labels: list[tuple[Name, float]] = []
        named = sorted(zip(marks, places, strict=True), key=lambda one: one[0].kind != "crossing")
        for mark, ((log_x, log_y), radius) in named:
            x, y = scale.to_x(log_x), scale.to_y(log_y)
            for name, away, worst in _tries(mark.name, width):
                far = radius + away
                spots = [Spot(x=x, y=y, position=place, radius=far) for place in POSITIONS]
                found = list(namer.name(spots, inert(name), "--ink", _NAME_SIZE, worst))
                labels += [(name, 2 * far) for name in found]
                if found:
                    break
        yield labels_trace(labels, width)

    def _layout(self, chart: RoofChart, width: Width) -> Json:
        title = inert(self.x_title)
        axes = roof_axes(chart, _PLOTS[width], title, self.x_text, self.y_text)
        return roof_layout(chart, axes, _MARGIN, self.id)


def _tries(name: str, width: Width) -> Iterable[tuple[str, float, float]]:
    """What to write beside a mark, how far away, and how much it may cover."""
    short = _NUMBER.split(name, maxsplit=1)[0]
    if name and width == "wide":
        yield from ((name, *one) for one in (_NEAR, _FAR, _CROSSING))
    elif name:
        yield from ((text, *one) for one in (_NEAR, _FAR) for text in dict.fromkeys((name, short)))


def _curve_trace(curve: Curve) -> Json:
    look, places = curve.look, [(log10(x), log10(y)) for x, y in curve.points]
    own = {"width": look.width, "dash": look.dash}
    return line("curve", places, role="curve", token=look.token, **own)


def _marks_trace(kind: Kind, marks: Sequence[Mark]) -> Json:
    """All marks of a kind, with what is shown when one is pointed at."""
    symbol, token, edge = _KINDS[kind]
    own = [mark for mark in marks if mark.kind == kind]
    places = [mark.at for mark in own]
    return {
        **line(kind, [(log10(x), log10(y)) for x, y in places], role=kind, token=token),
        "mode": "markers",
        "hoverinfo": "text",
        "hovertext": [inert(one.said) for one in own],
        "cliponaxis": False,
        "marker": {
            "symbol": symbol,
            "size": [one.size for one in own],
            "opacity": 1,
            "color": [one.token or token for one in own],
            "line": {"color": edge, "width": 2 if kind == "predicted" else 1.5},
        },
    }


def roof_chart(
    chart_id: str,
    alt: str,
    peaks: tuple[Roof, Roof],
    *,
    x_title: str,
    around: Sequence[Point],
    curves: Sequence[Curve] = (),
    marks: Sequence[Mark] = (),
) -> CostChart:
    """A roofline that holds the ridge and the places `around`."""
    memory, compute = peaks
    corner = compute.peak / memory.peak
    return CostChart(
        id=chart_id,
        alt=alt,
        x=range_of([*(x for x, _ in around), corner / 3, corner * 3]),
        y=range_of([*(y for _, y in around), compute.peak]),
        x_title=x_title,
        peaks=peaks,
        curves=curves,
        marks=marks,
    )


def roof_pair(memory: str, gbs: float, gflops: float) -> tuple[Roof, Roof]:
    """The roof of a memory, with its name, and that of the compute unit, whose rate names it."""
    return (
        Roof(id="memory", label=memory, peak=gbs, token="--roof-hbm", dash="solid"),
        Roof(id="compute", label="", peak=gflops, token="--roof-compute", dash="solid"),
    )


def size_tick(value: float) -> str:
    """A size on an axis: "512", "8,000", "100 k"."""
    return significant(value, 1) if value < _GROUPED else amount(value, digits=1)

"""A figure as ink: paths and texts where Plotly would draw them, in pixels from the top left.

It knows the subset of Plotly's words that our rooflines use. `unknown_words` says which words of a
figure are not among them; a test asks that of the figures of every sample.
"""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import Any, NamedTuple

from roofline.figures.figure import Json
from roofline.figures.labels import text_width
from roofline.figures.scale import Margin, Scale

Step = tuple[str, tuple[float, ...]]
"""A command of a path and its coordinates: M, L, C or Z."""

LINE = 1.3  # of its size: from one line of a text to the next
SPACES = "\u00a0\u202f"
"""That no line is broken at; Python does not call them printable."""

_ANCHORS = {"left": "end", "center": "middle", "right": "start"}
_SIDES = {"top": -1, "middle": 0, "bottom": 1}
_DASHES = {"dot": (1,), "dash": (3,), "longdash": (5,), "dashdot": (3, 1, 1, 1)}
_LEGEND_UP, _LEGEND_GAP = 11.0, 9.0  # pixels above the plot, and between its words and marks
_ROUND = 0.5523  # of the radius: Bézier curves of a quarter each make a circle
_TRIANGLE = ((-1.1547, 0.5), (1.1547, 0.5), (0.0, -1.0))
_STAR = (
    (0.225, -0.309), (0.951, -0.309), (0.363, 0.118), (0.588, 0.809), (0.0, 0.382),
    (-0.588, 0.809), (-0.363, 0.118), (-0.951, -0.309), (-0.225, -0.309), (0.0, -1.0),
)  # fmt: skip
# Corners of the symbols, in radii.
_CORNERS: Mapping[str, Sequence[tuple[float, float]]] = {
    "square": ((1, 1), (-1, 1), (-1, -1), (1, -1)),
    "diamond": ((1.3, 0), (0, 1.3), (-1.3, 0), (0, -1.3)),
    "triangle-up": _TRIANGLE,
    "triangle-down": tuple((x, -y) for x, y in _TRIANGLE),
    "triangle-left": tuple((y, x) for x, y in _TRIANGLE),
    "triangle-right": tuple((-y, x) for x, y in _TRIANGLE),
    "star": tuple((1.4 * x, 1.4 * y) for x, y in _STAR),
}
_ANY: Mapping[str, Any] = {}
_FONT = {"size": _ANY, "color": _ANY}
_LOOK = {"color": _ANY, "width": _ANY, "dash": _ANY}
_AXIS = {
    "type": {"log", "linear"}, "tickmode": {"array"}, "ticks": {""}, "zeroline": {False},
    "showline": {False}, "ticklabeloverflow": {"allow"}, "tickfont": _FONT,
    "title": {"text": _ANY, "standoff": _ANY, "font": _FONT},
    **dict.fromkeys(
        ("range", "tickvals", "ticktext", "gridcolor", "gridwidth", "fixedrange", "showgrid"), _ANY
    ),
}  # fmt: skip
_SYMBOLS = {f"{name}{end}" for name in ("circle", *_CORNERS) for end in ("", "-open")}
_PLACES = {f"{down} {side}" for down in _SIDES for side in _ANCHORS}
KNOWN: Mapping[str, Any] = {
    "data": {
        "type": {"scatter"}, "mode": {"lines", "markers", "text", "markers+text"}, "line": _LOOK,
        "marker": {
            "symbol": _SYMBOLS, "size": _ANY, "opacity": _ANY, "color": _ANY, "line": _LOOK,
        },
        "textposition": _PLACES, "textfont": _FONT,
        **dict.fromkeys(
            ("showlegend", "uid", "name", "meta", "x", "y", "text", "cliponaxis", "customdata",
             "hoverinfo", "hovertext"), _ANY,
        ),
    },
    "layout": {
        "xaxis": _AXIS, "yaxis": _AXIS, "font": _FONT,
        "legend": {
            "orientation": {"h"}, "x": {0}, "y": {1}, "yanchor": {"bottom"},
            "font": _FONT, "title": {"text": _ANY, "side": {"left"}, "font": _FONT},
        },
        "shapes": {
            "type": {"rect", "line"}, "layer": {"below"}, "line": _LOOK, "xref": {"x"},
            "yref": {"y", "paper"}, **dict.fromkeys(("x0", "x1", "y0", "y1", "fillcolor"), _ANY),
        },
        **dict.fromkeys(
            ("margin", "showlegend", "hovermode", "dragmode", "paper_bgcolor", "plot_bgcolor",
             "uirevision"), _ANY,
        ),
    },
}  # fmt: skip


class Path(NamedTuple):
    """A line or an area; `stroke` and `fill` are colours, and empty for none."""

    role: str
    steps: tuple[Step, ...]
    stroke: str = ""
    width: float = 0.0
    dash: tuple[float, ...] = ()
    fill: str = ""
    opacity: float = 1.0
    is_clipped: bool = True


class Text(NamedTuple):
    """A line of a text; `y` is that of its foot, `anchor` what of it lies at `x`."""

    role: str
    x: float
    y: float
    text: str
    anchor: str
    size: float
    colour: str


class Ink(NamedTuple):
    """What is drawn, in order; `plot` clips paths: its left, top, width and height."""

    width: float
    height: float
    plot: tuple[float, float, float, float]
    drawn: tuple[Path | Text, ...]


def unknown_words(part: Any, known: Any = KNOWN, path: str = "") -> Iterator[str]:
    """Words of a figure that cannot be drawn: the path of each."""
    if known is _ANY:
        return
    if isinstance(part, dict):
        for key, value in part.items():
            if not isinstance(known, Mapping) or key not in known:
                yield f"{path}{key}"
            else:
                yield from unknown_words(value, known[key], f"{path}{key}.")
    elif isinstance(part, list):
        for one in part:
            yield from unknown_words(one, known, path)
    elif isinstance(known, Mapping) or part not in known:
        yield f"{path}{part}"


def ink_of(figure: Json, width: float, height: float) -> Ink:
    """The ink of traces and a layout whose colours are values (`of_width`, then `painted`).

    Raises `ValueError` for words that are not among the `KNOWN`.
    """
    unknown = sorted(set(unknown_words(figure)))
    if unknown:
        raise ValueError(f"The figure has {', '.join(unknown)}, which is not drawn.")
    plot = _Plot(figure["layout"], width, height)
    margin, scale = plot.scale.margin, plot.scale
    return Ink(
        width,
        height,
        (margin.left, margin.top, scale.plot_width, scale.plot_height),
        (
            *(plot.shape(one) for one in figure["layout"]["shapes"]),
            *plot.grid(),
            *(ink for trace in figure["data"] for ink in plot.trace(trace)),
            *plot.ticks(),
            *plot.legend(figure["data"], figure["layout"]),
        ),
    )


class _Plot:
    """The axes of a layout, and what lies on them."""

    def __init__(self, layout: Json, width: float, height: float) -> None:
        self._axes = layout["xaxis"], layout["yaxis"]
        left, right, top, bottom = (layout["margin"][side] for side in "lrtb")
        margin = Margin(left=left, right=right, top=top, bottom=bottom)
        x, y = (tuple(axis["range"]) for axis in self._axes)
        self.scale = Scale(x=x, y=y, width=width, height=height, margin=margin)

    def _x(self, value: float) -> float:
        return self.scale.to_x(_on(self._axes[0], value))

    def _y(self, value: float) -> float:
        return self.scale.to_y(_on(self._axes[1], value))

    def shape(self, shape: Json) -> Path:
        left, right = self._x(shape["x0"]), self._x(shape["x1"])
        if shape.get("yref") == "paper":
            scale = self.scale
            ends = (scale.margin.top + (1 - shape[end]) * scale.plot_height for end in ("y0", "y1"))
        else:
            ends = (self._y(shape[end]) for end in ("y0", "y1"))
        bottom, top = ends
        if shape["type"] == "line":
            return _line("shape", [(left, bottom), (right, top)], shape["line"])
        corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
        return Path("shape", _closed(corners), fill=shape["fillcolor"])

    def grid(self) -> Iterator[Path]:
        scale, (xaxis, yaxis) = self.scale, self._axes
        left, top = scale.margin.left, scale.margin.top
        right, bottom = left + scale.plot_width, top + scale.plot_height
        for axis, value in _ticks(xaxis):
            x = self._x(value)
            yield _line("grid", [(x, top), (x, bottom)], _grid(axis))
        for axis, value in _ticks(yaxis):
            y = self._y(value)
            yield _line("grid", [(left, y), (right, y)], _grid(axis))

    def ticks(self) -> Iterator[Text]:
        """Labels of both axes, and the title below the lower one."""
        scale, (xaxis, yaxis) = self.scale, self._axes
        foot = scale.margin.top + scale.plot_height
        for value, text in zip(xaxis["tickvals"], xaxis["ticktext"], strict=True):
            font, at = xaxis["tickfont"], self._x(value)
            yield from _text("tick", at, foot + font["size"] + 1, text, "middle", font)
        for value, text in zip(yaxis["tickvals"], yaxis["ticktext"], strict=True):
            font, at = yaxis["tickfont"], self._y(value)
            lines = text.count("<br>") * LINE / 2
            y = at + font["size"] * (0.35 - lines)
            yield from _text("tick", scale.margin.left - 1, y, text, "end", font)
        title = xaxis.get("title")
        if title:
            middle, font = scale.margin.left + scale.plot_width / 2, title["font"]
            below = foot + xaxis["tickfont"]["size"] + title["standoff"] + font["size"]
            yield from _text("axis-title", middle, below, title["text"], "middle", font)

    def legend(self, data: Sequence[Json], layout: Json) -> Iterator[Path | Text]:
        """Entries from the left edge on, as far as there is room; Plotly's begin at the plot."""
        if not layout["showlegend"]:
            return
        look, y = layout["legend"], self.scale.margin.top - _LEGEND_UP
        font, title = look["font"], look["title"]["text"]
        foot, x = y + 0.35 * font["size"], _LEGEND_GAP
        yield from _text("legend", x, foot, title, "start", look["title"]["font"])
        x += text_width(title, font["size"]) + 1.5 * _LEGEND_GAP
        for trace in data:
            end = x + _LEGEND_GAP + text_width(trace["name"], font["size"])
            if trace.get("showlegend", True) and end <= self.scale.width:
                (mark,) = each(trace["marker"], 1)
                yield _mark("legend", (x, y), mark, is_clipped=False)
                yield from _text("legend", x + _LEGEND_GAP, foot, trace["name"], "start", font)
                x = end + 1.5 * _LEGEND_GAP

    def trace(self, trace: Json) -> Iterator[Path | Text]:
        role, mode = trace["meta"]["role"], trace["mode"].split("+")
        places = [
            None if x is None or y is None else (self._x(x), self._y(y))
            for x, y in zip(trace["x"], trace["y"], strict=True)
        ]
        if "lines" in mode:
            yield from (_line(role, run, trace["line"]) for run in _runs(places))
        if "markers" in mode:
            is_clipped = trace.get("cliponaxis", True)
            for at, look in zip(places, each(trace["marker"], len(places)), strict=True):
                if at is not None and look.get("opacity", 1):
                    yield _mark(role, at, look, is_clipped=is_clipped)
        if "text" in mode:
            yield from self._texts(role, trace, places)

    def _texts(self, role: str, trace: Json, places: Sequence[Any]) -> Iterator[Text]:
        """Texts beside their points, clear of a mark of the same trace."""
        keys = ("text", "textposition", "textfont", "marker")
        looks = each({key: trace.get(key, {}) for key in keys}, len(places))
        for at, look in zip(places, looks, strict=True):
            if at is None:
                continue
            down, side = look["textposition"].split(" ")
            size, diameter = look["textfont"]["size"], look["marker"].get("size", 0)
            away = diameter / 2 / 0.8 + 1 if diameter else 0
            lines = look["text"].count("<br>") * LINE + 1
            sign = _SIDES[down]
            x = at[0] + {"left": -away, "center": 0, "right": away}[side]
            y = at[1] + size * 0.75 + sign * away + (sign - 1) * lines * size / 2
            yield from _text(role, x, y, look["text"], _ANCHORS[side], look["textfont"])


def _on(axis: Json, value: float) -> float:
    return log10(value) if axis["type"] == "log" else value


def _ticks(axis: Json) -> Iterator[tuple[Json, float]]:
    """The ticks that have a line across the plot."""
    low, high = axis["range"]
    if axis.get("showgrid", True):
        yield from ((axis, one) for one in axis["tickvals"] if low <= _on(axis, one) <= high)


def _grid(axis: Json) -> Json:
    return {"color": axis["gridcolor"], "width": axis["gridwidth"]}


def each(part: Any, count: int) -> list[Any]:
    """A look of marks by mark: a list has one entry each, all else is of all of them."""
    if isinstance(part, dict):
        columns = {key: each(value, count) for key, value in part.items()}
        return [{key: column[i] for key, column in columns.items()} for i in range(count)]
    return part if isinstance(part, list) else [part] * count


def _runs(places: Iterable[tuple[float, float] | None]) -> Iterator[list[tuple[float, float]]]:
    """The pieces of a line: `None` breaks it."""
    run: list[tuple[float, float]] = []
    for at in (*places, None):
        if at is not None:
            run.append(at)
            continue
        if len(run) > 1:
            yield run
        run = []


def _line(role: str, places: Sequence[tuple[float, float]], look: Json) -> Path:
    steps = tuple(("L" if number else "M", at) for number, at in enumerate(places))
    width = look.get("width", 2)
    return Path(role, steps, look["color"], width, _dash(look.get("dash", "solid"), width))


def _dash(name: str, width: float) -> tuple[float, ...]:
    """Lengths of a dash in pixels; those with a name grow with the line, from 3 pixels on."""
    if name == "solid":
        return ()
    if name in _DASHES:
        lengths = _DASHES[name]
        return tuple(one * max(width, 3) for one in (lengths if len(lengths) > 1 else lengths * 2))
    return tuple(float(part.removesuffix("px")) for part in name.split(","))


def _closed(corners: Sequence[tuple[float, float]]) -> tuple[Step, ...]:
    return (*(("L" if number else "M", at) for number, at in enumerate(corners)), ("Z", ()))


def _mark(role: str, at: tuple[float, float], look: Json, *, is_clipped: bool) -> Path:
    """A symbol of this diameter around its place."""
    name = look.get("symbol", "circle")
    symbol, is_open = name.removesuffix("-open"), name.endswith("-open")
    edge, radius = look.get("line", {}), look["size"] / 2
    steps = _disc(at, radius) if symbol == "circle" else _corners(at, radius, symbol)
    return Path(
        role,
        steps,
        stroke=look["color"] if is_open else edge.get("color", ""),
        width=edge.get("width", 0) or (1 if is_open else 0),
        fill="" if is_open else look["color"],
        opacity=look.get("opacity", 1),
        is_clipped=is_clipped,
    )


def _corners(at: tuple[float, float], radius: float, symbol: str) -> tuple[Step, ...]:
    x, y = at
    return _closed([(x + radius * dx, y + radius * dy) for dx, dy in _CORNERS[symbol]])


def _disc(at: tuple[float, float], radius: float) -> tuple[Step, ...]:
    x, y = at
    steps: list[Step] = [("M", (x + radius, y))]
    turns = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 0))
    for (x0, y0), (x1, y1) in pairwise(turns):
        bends = ((x0 + _ROUND * x1, y0 + _ROUND * y1), (x1 + _ROUND * x0, y1 + _ROUND * y0))
        ends = (*bends, (x1, y1))
        steps.append(("C", tuple(c for dx, dy in ends for c in (x + radius * dx, y + radius * dy))))
    return (*steps, ("Z", ()))


def _text(role: str, x: float, y: float, text: str, anchor: str, font: Json) -> Iterator[Text]:
    for number, line in enumerate(text.split("<br>")):
        down = y + number * LINE * font["size"]
        yield Text(role, x, down, plain_text(line), anchor, font["size"], font["color"])


def plain_text(text: str) -> str:
    """A line of a figure as it is read: no entities, and no letters without a width."""
    return "".join(one for one in html.unescape(text) if one.isprintable() or one in SPACES)

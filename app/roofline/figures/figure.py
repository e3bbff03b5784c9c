"""Figures as plain data in the words of Plotly, which the page, notebooks and pictures draw.

Colours are tokens of the page, such as `--c4`; `painted` turns them into values. Nothing else of a
figure is changed after it was built. Sizes are pixels. Names come from strangers: `inert` takes the
meaning out of what Plotly would read as markup.
"""

import html
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, TypeVar

from roofline.figures.scale import Margin, Range, Scale

Width = Literal["wide", "narrow"]
Json = dict[str, Any]
T = TypeVar("T")

# A plot without its margins, in pixels, for which ticks and labels are placed: about the least that
# the page's own plot has, so that texts that keep apart here do so there. It may have `LEAST` of
# this width, on a phone for one: texts keep their size, and do not leave it there.
PLOTS: dict[Width, tuple[float, float]] = {"wide": (560.0, 300.0), "narrow": (340.0, 290.0)}
LEAST: dict[Width, float] = {"wide": 0.88, "narrow": 0.77}
TICK_SIZE = 11.5
_DIGITS = 6
_CLEAR = "rgba(0,0,0,0)"


class LegendEntry(TypedDict):
    """A line or a colour of a chart in words; `token` and `dash` are empty for a mere remark."""

    text: str
    token: str
    dash: str


class Figure(TypedDict):
    """A chart; a trace whose `meta` has a `width` is only drawn in the layout of that name.

    `marks` says of which table the `customdata` of marks are rows; `beyond` lists, by edge, the
    rows that lie outside of the axes. `legend` has what the names in the chart do not say, `note`
    what the chart leaves out. `alt` describes the chart to those who do not see it.
    """

    id: str
    data: list[Json]
    layouts: dict[Width, Json]
    marks: Literal["op", "program", "block", "run", "host"] | None
    beyond: dict[str, list[int]]
    legend: list[LegendEntry]
    note: NotRequired[str]
    alt: str


def inert(text: str) -> str:
    """Text that Plotly shows as it is: it would read `<b>` and `<a href>` as markup."""
    return html.escape(text, quote=False)


def scale_of(x: Range, y: Range, width: Width, plots: Mapping[Width, tuple[float, float]]) -> Scale:
    """The scale of a nominal plot, whose pixels are counted from its own top left corner."""
    across, down = plots[width]
    margin = Margin(left=0, right=0, top=0, bottom=0)
    return Scale(x=x, y=y, width=across, height=down, margin=margin)


def log_axis(
    bounds: Range, ticks: Sequence[float], write: Callable[[float], str], title: str = ""
) -> Json:
    """A logarithmic axis; `bounds` are log10, `ticks` are values."""
    axis: Json = {
        "type": "log",
        "range": list(bounds),
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": [write(value) for value in ticks],
        "tickfont": {"size": TICK_SIZE, "color": "--axis"},
        "gridcolor": "--grid",
        "gridwidth": 1,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "ticklabeloverflow": "allow",  # else each label is measured again, and ours have room
    }
    if title:
        axis["title"] = {
            "text": title,
            "standoff": 6,
            "font": {"size": TICK_SIZE, "color": "--axis"},
        }
    return axis


def linear_axis(
    bounds: Range, ticks: Sequence[float], write: Callable[[float], str] = str, title: str = ""
) -> Json:
    """A linear axis of a fixed range; `bounds` and `ticks` are values."""
    return {**log_axis(bounds, ticks, write, title), "type": "linear", "fixedrange": True}


def layout(margin: Margin, xaxis: Json, yaxis: Json, shapes: Sequence[Json], revision: str) -> Json:
    """A layout without width and height, which the place that draws it knows.

    Zooming and dragging outlive another figure with the same `revision`.
    """
    return {
        "margin": {
            "l": margin.left,
            "r": margin.right,
            "t": margin.top,
            "b": margin.bottom,
        },
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "zoom",
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"size": TICK_SIZE, "color": "--axis"},
        "xaxis": xaxis,
        "yaxis": yaxis,
        "shapes": list(shapes),
        "uirevision": revision,
    }


def trace(name: str, x: Sequence[Any], y: Sequence[Any], *, role: str, **look: Any) -> Json:
    """A line through places in the values of the axes, unless its `look` has another mode."""
    return {
        "type": "scatter",
        "name": name,
        "meta": {"role": role},
        "x": list(x),
        "y": list(y),
        "mode": "lines",
        "hoverinfo": "skip",
        **look,
    }


def line(
    name: str, points: Sequence[tuple[float, float]], *, role: str, token: str, **look: Any
) -> Json:
    """A line through `points`, which are log10; `look` is its width and dash, or is a trace's."""
    own = {key: look.pop(key) for key in ("width", "dash") if key in look}
    x, y = ([10.0 ** point[axis] for point in points] for axis in (0, 1))
    return trace(name, x, y, role=role, line={"color": token, **own}, **look)


def numbered(data: Sequence[Json]) -> list[Json]:
    """The traces, each with a `uid`: Plotly else gives one the id, and the marks, of another."""
    met: Counter[str] = Counter()
    named = []
    for trace in data:
        role = trace["meta"]["role"]
        met[role] += 1
        named.append({"uid": f"{role}-{met[role]}", **trace})
    return named


def painted(value: T, colour_of: Callable[[str], str]) -> T:
    """A copy of a figure, or of a part of one, with `colour_of` each token in place of it.

    Tokens stand under keys that end in "color" only: names of operations may look like one.
    """

    def copied(part: Any, *, is_colour: bool) -> Any:
        if isinstance(part, dict):
            return {key: copied(one, is_colour=key.endswith("color")) for key, one in part.items()}
        if isinstance(part, list):
            return [copied(one, is_colour=is_colour) for one in part]
        return colour_of(part) if is_colour and isinstance(part, str) and part[:2] == "--" else part

    result: T = copied(value, is_colour=False)
    return result


def of_width(figure: Figure, width: Width) -> Json:
    """Traces and layout of one width, as Plotly takes them."""
    return {
        "data": [trace for trace in figure["data"] if trace["meta"].get("width", width) == width],
        "layout": figure["layouts"][width],
    }


def six_digits(part: Any) -> Any:
    """A figure whose numbers have six significant digits, as those of columns (`json_text`)."""
    if isinstance(part, dict):
        return {key: six_digits(value) for key, value in part.items()}
    if isinstance(part, list):
        # Most of a figure is lists of numbers.
        return [
            float(f"{value:.{_DIGITS}g}") if type(value) is float else six_digits(value)
            for value in part
        ]
    return float(f"{part:.{_DIGITS}g}") if isinstance(part, float) else part

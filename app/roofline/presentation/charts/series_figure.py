"""Runs of a series as a figure: time, roof time and share of the roof, one panel above another."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from roofline.figures.figure import PLOTS, Figure, Json, inert, layout, linear_axis, numbered, trace
from roofline.figures.scale import Margin, Range, around
from roofline.presentation.quantities import duration, percent

# The marks of the gate stand below the chart, at the same distance from its edges.
_MARGIN = Margin(left=74, right=18, top=24, bottom=6)
_GAP = 0.09  # of the height, between two panels: the title of the lower one stands there


class PlottedRun(NamedTuple):
    """What the chart shows of a run; times are in us. `is_broken`: it broke a rule of the gate."""

    title: str
    created_at: str
    time_us: float
    roof_us: float | None
    roof_ratio: float | None
    is_broken: bool


class _Panel(NamedTuple):
    title: str
    token: str
    shape: str
    read: Callable[[PlottedRun], float | None]
    write: Callable[[float | None], str]


# Roof time holds until the next run changes it: a line of steps.
_PANELS = (
    _Panel("Time", "--ink", "linear", lambda run: run.time_us, duration),
    _Panel("Roof time, exact", "--roof-hbm", "hv", lambda run: run.roof_us, duration),
    _Panel("Of the roof", "--roof-compute", "linear", lambda run: run.roof_ratio, percent),
)


Level = tuple[int, int, int, float, float]
"""A lasting change of time: places of the first run before it, of its first run and of the run
behind its last one, and the times before and after, in us."""


def series_figure(runs: Sequence[PlottedRun], levels: Sequence[Level] = ()) -> Figure:
    """The runs in their order; the `customdata` of a mark is the place of its run among them."""
    across: Range = (-0.5, len(runs) - 0.5)
    axes: Json = {}
    for number, panel in enumerate(_PANELS):
        axes[_axis_id(number).replace("y", "yaxis")] = _axis_of(panel, number, runs)
    xaxis = {**linear_axis(across, ()), "anchor": "y3", "showgrid": False}
    whole = layout(_MARGIN, xaxis, axes["yaxis"], [*_bands(runs), *_steps(levels)], "series")
    whole = {**whole, **axes, "dragmode": False}
    data = [
        one
        for number, panel in enumerate(_PANELS)
        for one in (_title(panel, number, runs, axes), _trace(panel, number, runs))
    ]
    return {
        "id": "series",
        "data": numbered(data),
        "layouts": dict.fromkeys(PLOTS, whole),
        "marks": "run",
        "beyond": {},
        "legend": [],
        "alt": "Time, roof time and share of the roof over the runs; the table has the same values",
    }


def _known(panel: _Panel, runs: Sequence[PlottedRun]) -> list[tuple[int, float]]:
    values = ((at, panel.read(run)) for at, run in enumerate(runs))
    return [(at, value) for at, value in values if value is not None]


def _trace(panel: _Panel, number: int, runs: Sequence[PlottedRun]) -> Json:
    known = _known(panel, runs)
    places = [at for at, _ in known]
    return trace(
        panel.title,
        places,
        [value for _, value in known],
        role="marks",
        yaxis=_axis_id(number),
        mode="lines+markers",
        cliponaxis=False,
        customdata=places,
        hovertext=[
            f"{inert(runs[at].title)}<br>{runs[at].created_at[:16].replace('T', ' ')}<br>"
            f"{panel.title}: {panel.write(value)}"
            for at, value in known
        ],
        hoverinfo="text",
        line={"color": panel.token, "width": 1.6, "shape": panel.shape},
        marker={"size": 9, "color": "--surface", "line": {"color": panel.token, "width": 1.5}},
    )


def _axis_id(number: int) -> str:
    return f"y{number + 1 if number else ''}"


def _axis_of(panel: _Panel, number: int, runs: Sequence[PlottedRun]) -> Json:
    """A cut axis of its own for each panel, with its least and its largest value."""
    values = [value for _, value in _known(panel, runs)]
    ends = sorted({min(values), max(values)}) if values else []
    height = (1 - 2 * _GAP) / len(_PANELS)
    top = 1 - number * (height + _GAP)
    return {
        **linear_axis(around(values), ends, panel.write),
        "domain": [max(0.0, top - height), top],
    }


def _title(panel: _Panel, number: int, runs: Sequence[PlottedRun], axes: Json) -> Json:
    """The name of a panel above its axis; one without values says so."""
    axis = _axis_id(number)
    return trace(
        "title",
        [-0.5],
        [axes[axis.replace("y", "yaxis")]["range"][1]],
        role="names",
        yaxis=axis,
        mode="text",
        cliponaxis=False,
        text=[panel.title + ("" if _known(panel, runs) else ": not known")],
        textposition=["top right"],
        textfont={"size": 12, "color": "--ink"},
    )


def _steps(levels: Sequence[Level]) -> Iterator[Json]:
    """In the panel of time: the level before and after each change, and where it began."""
    for start, first, end, before, after in levels:
        lines = [(start, first, before, before), (first, first, before, after)]
        for left, right, low, high in [*lines, (first, end, after, after)]:
            yield {
                "type": "line",
                "x0": left - 0.5,
                "x1": right - 0.5,
                "yref": "y",
                "y0": low,
                "y1": high,
                "line": {"color": "--bad" if after > before else "--good", "width": 2},
                "layer": "below",
            }


def _bands(runs: Sequence[PlottedRun]) -> Iterator[Json]:
    """Behind runs that broke a rule; neighbours share a band."""
    for is_broken, stretch in groupby(enumerate(runs), key=lambda one: one[1].is_broken):
        places = [at for at, _ in stretch]
        if is_broken:
            yield {
                "type": "rect",
                "x0": places[0] - 0.5,
                "x1": places[-1] + 0.5,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "fillcolor": "--bad-soft",
                "line": {"width": 0},
                "layer": "below",
            }

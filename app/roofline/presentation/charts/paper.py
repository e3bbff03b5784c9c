"""What a roofline has on paper alone: the key above the plot, and names at the end of lines."""

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import Any

from roofline.figures.figure import Json, inert, line
from roofline.figures.labels import POSITIONS, Segment, Spot
from roofline.figures.scale import Place
from roofline.presentation.charts.marks import Kind, Mark
from roofline.presentation.charts.roof_traces import Name, Namer

NAME_SIZE = 11.0
_AWAY = (12.0, 24.0, 38.0, 54.0, 72.0)  # pixels of a name from its mark
_KEY_SIZE = 8.0
_TOUCH = 1.0  # pixels between a line and the name at its end


def with_key(data: Sequence[Json], kinds: Sequence[Kind], star: Place | None) -> list[Json]:
    """The traces, and a legend of its own: what the marks are bound by, and the program."""
    return [*(one | {"showlegend": False} for one in data), *_entries(kinds, star)]


def _entries(kinds: Sequence[Kind], star: Place | None) -> Iterator[Json]:
    program = {"symbol": "star", "token": "--star"}
    looks: dict[str, Mapping[str, Any]] = dict(kinds) | ({"program": program} if star else {})
    for name, look in looks.items():
        yield {
            "type": "scatter",
            "name": inert(name),
            "meta": {"role": "key"},
            "mode": "markers",
            "x": [None],
            "y": [None],
            "marker": {
                "symbol": look["symbol"],
                "size": _KEY_SIZE,
                "color": look["token"],
                "line": {"color": "--halo", "width": 1},
            },
        }


def with_legend(layout: Json) -> Json:
    """The layout with the legend as a line above the plot, which stays where it is."""
    font = {"size": NAME_SIZE, "color": "--ink-2"}
    look = {
        "orientation": "h",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "font": font,
        "title": {"text": "bound by", "side": "left", "font": font},
    }
    margin = layout["margin"] | {"autoexpand": False}
    return layout | {"showlegend": True, "legend": look, "margin": margin}


def led(namer: Namer, mark: Mark, text: str, worst: float) -> tuple[Name, Segment, float] | None:
    """A name away from its mark, the line between them in pixels, and its distance."""
    x, y = namer.scale.to_x(mark.at[0]), namer.scale.to_y(mark.at[1])
    for away in _AWAY:
        far = mark.size / 2 + away
        spots = {place: Spot(x=x, y=y, position=place, radius=far) for place in POSITIONS}
        lines = {place: _between(spot, mark.size / 2) for place, spot in spots.items()}
        free = [spots[place] for place, line in lines.items() if namer.board.is_free(line)]
        for name in namer.name(free, inert(text), "--ink-2", NAME_SIZE, worst):
            namer.board.lines = [*namer.board.lines, lines[name.position]]
            return name, lines[name.position], far
    return None


def _between(spot: Spot, near: float) -> Segment:
    """From the edge of a mark to where its name begins."""
    down, side = spot.position.split(" ")
    across = {"left": -1, "center": 0, "right": 1}[side]
    up = {"bottom": 1, "middle": 0, "top": -1}[down]
    start, end = near / hypot(across, up), spot.radius / 0.8 - _TOUCH
    return (
        spot.x + across * start,
        spot.y + up * start,
        spot.x + across * end,
        spot.y + up * end,
    )


def leaders_trace(lines: Sequence[Segment], namer: Namer) -> Json:
    """The lines between marks and names that are away from them."""
    scale = namer.scale
    drawn = line("leaders", [], role="leaders", token="--ink-3", width=0.7)
    return drawn | {
        "x": [
            at
            for x0, _, x1, _ in lines
            for at in (*(10.0 ** (scale.x[0] + x / scale.per_x) for x in (x0, x1)), None)
        ],
        "y": [
            at
            for _, y0, _, y1 in lines
            for at in (*(10.0 ** (scale.y[1] - y / scale.per_y) for y in (y0, y1)), None)
        ],
        "meta": {"role": "leaders", "width": namer.width},
    }

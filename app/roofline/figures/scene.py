"""The parts of a figure. Places are values of its axes, sizes are pixels of the screen.

A `token` is the name of a colour of the page, such as `--ink`; `css` is a class for style sheets.
"""

from dataclasses import dataclass, field
from typing import Literal

Anchor = Literal["start", "middle", "end"]
Place = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through `points`; `dash` is one of `DASHES` of `figures.svg`, or lengths in pixels."""

    points: tuple[Place, ...]
    token: str
    width: float = 1.0
    dash: str = "solid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """The full height of the plot from `x0` to `x1`."""

    x0: float
    x1: float
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A mark in the `symbol` of `figures.marks`, filled with its colour through `currentColor`."""

    at: Place
    radius: float
    symbol: str
    token: str
    css: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A line of text beside a place; `shift` is in pixels, right and down.

    `angle` is in degrees, clockwise, around the place. `plate` is the token of a ground that covers
    the lines behind the text, and needs `width`, in pixels.
    """

    text: str
    at: Place
    shift: tuple[float, float] = (0.0, 0.0)
    anchor: Anchor = "middle"
    size: float = 12.0
    token: str = "--ink"
    angle: float = 0.0
    plate: str = ""
    width: float = 0.0


Shape = Line | Area | Mark | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Shapes that are drawn together; `is_clipped` ones end at the plot's edge.

    A style sheet can hide a layer by its `css`: labels for another width.
    """

    shapes: tuple[Shape, ...]
    css: str = ""
    is_clipped: bool = field(default=False)

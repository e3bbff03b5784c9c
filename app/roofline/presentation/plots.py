"""Plots that the server draws: places as shares of the plot, so that one drawing fits every width.

Lines, marks and texts keep their size. Templates write them out as SVG (`templates/_plot.html`);
the colour of each is a class of the style sheet.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Point = tuple[float, float]

_HEAD = 1.25  # room beyond the outermost value of a logarithmic axis, as a factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A logarithmic axis from `low` to `high`, both above 0."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Where `value` lies, in percent of the axis."""
        return 100 * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self, most: int = 7) -> tuple[float, ...]:
        """Powers of ten, with 2 and 5 between them where there are few; at most `most`."""
        for steps in ((1, 2, 5), (1,)):
            found = self._at(steps)
            if len(found) <= most:
                return found
        return found[:: -(-len(found) // most)]

    def _at(self, steps: Sequence[int]) -> tuple[float, ...]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        all_of_them = (step * 10.0**power for power in range(first, last + 1) for step in steps)
        return tuple(value for value in all_of_them if self.low <= value <= self.high)


def axis_of(values: Iterable[float], *, least_span: float = 100.0) -> Axis:
    """An axis that holds all positive `values`, and spans at least the factor `least_span`."""
    known = [value for value in values if value > 0 and math.isfinite(value)]
    low, high = min(known, default=1.0) / _HEAD, max(known, default=1.0) * _HEAD
    wider = max(1.0, math.sqrt(least_span * low / high))
    return Axis(low=low / wider, high=high * wider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A line of the grid with its number."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line through `points`, "x,y" pairs in percent from the top left; `css` is its look."""

    points: str
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A ring, disc or cross at a place in percent; `title` says what it is."""

    x: float
    y: float
    css: str
    title: str = ""
    radius: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text beside a place in percent, shifted by pixels."""

    x: float
    y: float
    text: str
    dx: float = 0.0
    dy: float = 0.0
    anchor: str = "start"
    css: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing with two axes. `split` is where memory ends to bind, in percent from the left."""

    title: str
    x_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...]
    split: float | None = None


class Drawing:
    """Collects what a plot has, in the values of its axes."""

    def __init__(self, x: Axis, y: Axis) -> None:
        self.x, self.y = x, y
        self._curves: list[Curve] = []
        self._marks: list[Mark] = []
        self._labels: list[Label] = []

    def curve(self, points: Iterable[Point], css: str) -> None:
        """A line; its ends may lie outside of the plot, which cuts them off."""
        places = (self._place(point) for point in points)
        text = " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
        self._curves.append(Curve(points=text, css=css))

    def mark(self, point: Point, css: str, title: str = "", radius: float = 5.0) -> None:
        """A mark; nothing where it lies outside."""
        x, y = self._place(point)
        if self._is_inside(x, y):
            self._marks.append(Mark(x=x, y=y, css=css, title=title, radius=radius))

    def label(
        self,
        point: Point,
        text: str,
        *,
        dx: float = 0.0,
        dy: float = 0.0,
        anchor: str = "",
        css: str = "",
    ) -> None:
        """A text; without an anchor it goes to the side with more room."""
        x, y = self._place(point)
        side = anchor or ("end" if x > _FAR_RIGHT else "start")
        if not self._is_inside(x, y):
            return
        shift = -dx if side == "end" and not anchor else dx
        self._labels.append(Label(x=x, y=y, text=text, dx=shift, dy=dy, anchor=side, css=css))

    def plot(
        self,
        *,
        title: str,
        x_title: str,
        x_text: Callable[[float], str],
        y_text: Callable[[float], str],
        split: float | None = None,
    ) -> Plot:
        """The plot of the collected shapes, with the grid."""
        return Plot(
            title=title,
            x_title=x_title,
            x_ticks=tuple(
                Tick(at=self.x.share(one), text=x_text(one)) for one in self.x.ticks(_MOST_X)
            ),
            y_ticks=tuple(
                Tick(at=100 - self.y.share(one), text=y_text(one)) for one in self.y.ticks()
            ),
            curves=tuple(self._curves),
            marks=tuple(self._marks),
            labels=tuple(self._labels),
            split=None if split is None else min(max(self.x.share(split), 0.0), 100.0),
        )

    def _place(self, point: Point) -> Point:
        return self.x.share(point[0]), 100 - self.y.share(point[1])

    def _is_inside(self, x: float, y: float) -> bool:
        return -1 <= x <= 101 and -1 <= y <= 101


_FAR_RIGHT = 55.0
_MOST_X = 6


def powers(low: float, high: float, count: int) -> tuple[float, ...]:
    """`count` values from `low` to `high`, each the same factor above the one before."""
    step = (high / low) ** (1 / (count - 1))
    return tuple(low * step**number for number in range(count))

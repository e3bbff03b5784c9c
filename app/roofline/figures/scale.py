"""Axes of a figure: ranges, ticks, and where values lie.

Values are those of the axis: log10 on a logarithmic one.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Range = tuple[float, float]
"""Low and high end of an axis."""
Place = tuple[float, float]
"""Both coordinates of a point, log10 on logarithmic axes."""


class Margin(NamedTuple):
    """Pixels around the plot."""

    left: float
    right: float
    top: float
    bottom: float


class Scale(NamedTuple):
    """Where values lie in a figure of `width` x `height` pixels, margins included.

    `left` and `top` of a place are shares of the plot, from its top left corner: the same for every
    size of the figure.
    """

    x: Range
    y: Range
    width: float
    height: float
    margin: Margin

    @property
    def plot_width(self) -> float:
        """Pixels between the margins."""
        return max(1.0, self.width - self.margin.left - self.margin.right)

    @property
    def plot_height(self) -> float:
        """Pixels between the margins."""
        return max(1.0, self.height - self.margin.top - self.margin.bottom)

    @property
    def per_x(self) -> float:
        """Pixels per unit of the x axis."""
        return self.plot_width / (self.x[1] - self.x[0])

    @property
    def per_y(self) -> float:
        """Pixels per unit of the y axis."""
        return self.plot_height / (self.y[1] - self.y[0])

    def left(self, x: float) -> float:
        """Share of the plot's width left of `x`."""
        return (x - self.x[0]) / (self.x[1] - self.x[0])

    def top(self, y: float) -> float:
        """Share of the plot's height above `y`."""
        return (self.y[1] - y) / (self.y[1] - self.y[0])

    def to_x(self, x: float) -> float:
        """Pixels from the figure's left edge."""
        return self.margin.left + self.left(x) * self.plot_width

    def to_y(self, y: float) -> float:
        """Pixels from the figure's top edge."""
        return self.margin.top + self.top(y) * self.plot_height


def spread(values: Iterable[float], room: tuple[float, float], least: float) -> Range:
    """A range around `values` with `room` before and after them, `least` long or longer."""
    found = list(values)
    low, high = min(found) - room[0], max(found) + room[1]
    missing = max(0.0, least - (high - low))
    return low - missing / 2, high + missing / 2


def around(values: Iterable[float], room: float = 0.18, least: float = 0.02) -> Range:
    """A cut axis around `values`, with this share of the range as room at both ends.

    It covers at least the share `least` of the largest value: noise must not fill a panel.
    """
    known = list(values)
    low, high = min(known, default=0.0), max(known, default=1.0)
    length = max(high - low, least * high) or 1.0
    middle, half = (low + high) / 2, length * (0.5 + room)
    return max(0.0, middle - half), middle + half


def with_headroom(bounds: Range, line: float, part: float) -> Range:
    """`bounds`, with this `part` of the length free above `line`: its label stands there."""
    low, high = bounds
    return low, max(high, (line - part * low) / (1 - part))


def log_ticks(bounds: Range, pixels: float, apart: float) -> list[float]:
    """Values of ticks on a log10 axis of so many `pixels`, their labels so far `apart` or farther.

    They stand at decades, thinned out on a long range; on a short one at 1, 2 and 5, or at 1 and 3.
    """
    low, high = bounds
    every = max(1, math.ceil(apart * (high - low) / max(1.0, pixels)))
    first = math.ceil(low - 1e-9)
    places: list[float] = [e for e in range(first, math.floor(high + 1e-9) + 1) if e % every == 0]
    per_decade = pixels / (high - low)
    parts = (1, 2, 5) if per_decade * 0.3 > apart else (1, 3)
    if len(places) < 3 and per_decade * 0.47 > apart:
        whole = range(math.floor(low), math.floor(high) + 1)
        steps = [e + math.log10(m) for e in whole for m in parts]
        places = [step for step in steps if low <= step <= high]
    return [10.0**place for place in places]


def linear_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values between both ends, about `most` of them, at steps of 1, 2 or 5."""
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((one * power for one in (1, 2, 5) if one * power >= raw), 10 * power)
    return [at * step for at in range(math.ceil(low / step), math.floor(high / step) + 1)]


_STRAY_SHARE = 0.01  # of the weight that strays make together at most
_STRAY_GAP = 1.0  # decades below the next place


def without_strays(heights: Sequence[float], weights: Sequence[float]) -> list[int]:
    """Indices but for a few heights (log10) far below all others.

    Without them the others have a decade or more of the axis for themselves.
    """
    ordered = sorted(range(len(heights)), key=lambda i: heights[i])
    total, below, first = sum(weights), 0.0, 0
    for place, index in enumerate(ordered):
        gap = heights[index] - heights[ordered[place - 1]] if place else 0.0
        if below <= _STRAY_SHARE * total and gap >= _STRAY_GAP:
            first = place
        below += weights[index]
    return ordered[first:]


def heaviest(weights: Sequence[float], share: float = 0.99) -> list[int]:
    """Indices of the largest weights that make this `share` of the sum together."""
    total, found, kept = sum(weights), 0.0, []
    for index in sorted(range(len(weights)), key=lambda i: -weights[i]):
        if found > total * share:
            break
        found += weights[index]
        kept.append(index)
    return kept

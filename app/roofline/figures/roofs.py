"""Roofs on log10 axes: their lines, their ridges, and places for their labels.

The rules of `static/js/chart/roofs.js`, so that a drawing of the server and one of the browser are
the same.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from roofline.figures.scale import Place, Range, Scale

LABEL_AWAY = 11.0  # pixels between a slanted line and the middle of its label
_PAST = 3.0  # decades that lines go on past the chart, so that panning never uncovers an end
_HALF_TEXT = 9  # pixels
_OUT = 1000.0
_CROWDED = 3.0  # as bad as so many covered points
_FLAT_LABEL_HEIGHT = 17.0
_LABEL_GAP = 10.0
_LABEL_PLACES = (0.4, 0.74, 0.12, 0.57, 0.9)
_LABEL_HEIGHT = 24.0  # pixels between two lines for a label to fit
_SAME_LINE = 5.0  # closer lines read as one
_TEXT_HEIGHT = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """A known peak: GB/s of a slanted roof, GFLOP/s of a flat one; `sustained` is a share of it."""

    id: str
    label: str
    peak: float
    token: str
    dash: str
    unit: str | None = None
    sustained: float | None = None

    @property
    def log(self) -> float:
        """log10 of the peak."""
        return math.log10(self.peak)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofs:
    """Slanted and flat roofs that are drawn; the first of each is the main one."""

    memory: tuple[Roof, ...] = ()
    compute: tuple[Roof, ...] = ()

    @property
    def top(self) -> Roof | None:
        """The highest flat roof: where slanted lines end."""
        return max(self.compute, key=lambda roof: roof.peak, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofLine:
    """A roof as a line of two points; `corner` is a slanted one's ridge with the main flat roof."""

    roof: Roof
    is_slanted: bool
    corner: Place | None
    end: float
    points: tuple[Place, Place]

    def sustained(self) -> tuple[Place, Place] | None:
        """The ceiling that programs reach; a flat one begins at the slanted one that it meets."""
        if self.roof.sustained is None:
            return None
        down = math.log10(self.roof.sustained)
        (x0, y0), (x1, y1) = self.points
        return (x0 if self.is_slanted else x0 + down, y0 + down), (x1, y1 + down)


def attainable(x: float, memory: Roof | None, compute: Roof | None) -> float:
    """log10 of the FLOP rate that a roof allows at log10 intensity `x`; infinite without roofs."""
    slanted = x + memory.log if memory else math.inf
    return min(slanted, compute.log if compute else math.inf)


def ridge(memory: Roof | None, compute: Roof | None) -> Place | None:
    """Where a slanted roof meets a flat one."""
    if memory is None or compute is None:
        return None
    return compute.log - memory.log, compute.log


def roof_lines(shown: Roofs, x: Range) -> list[RoofLine]:
    """Lines to the edges of the chart and past them: slanted ones first."""
    left, right = x[0] - _PAST, x[1] + _PAST
    main = shown.compute[0] if shown.compute else None
    fastest = max((roof.peak for roof in shown.memory), default=0.0)
    slanted = [_slanted_line(roof, left, right, (main, shown.top)) for roof in shown.memory]
    return slanted + [_flat_line(roof, left, right, fastest) for roof in shown.compute]


def _slanted_line(
    roof: Roof, left: float, right: float, flat: tuple[Roof | None, Roof | None]
) -> RoofLine:
    main, top = flat
    crossing = ridge(roof, top)
    end = right if crossing is None else crossing[0]
    start = min(left, end - 1)
    points = (start, start + roof.log), (end, end + roof.log)
    return RoofLine(roof=roof, is_slanted=True, corner=ridge(roof, main), end=end, points=points)


def _flat_line(roof: Roof, left: float, right: float, fastest: float) -> RoofLine:
    start = roof.log - math.log10(fastest) if fastest > 0 else left
    points = (start, roof.log), (max(right, start + 1), roof.log)
    return RoofLine(roof=roof, is_slanted=False, corner=None, end=right, points=points)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatLabel:
    """A label over a flat line: height, width, where it may begin and where it ends, in pixels."""

    roof: Roof
    y: float
    width: float
    left: float
    right: float = 0.0


def flat_places(labels: Sequence[FlatLabel], right: float) -> list[FlatLabel]:
    """Labels with a right end in pixels; one without room beside closer ones is left out."""
    placed: list[FlatLabel] = []
    for label in labels:
        near = [other for other in placed if abs(other.y - label.y) < _FLAT_LABEL_HEIGHT]
        ends = sorted([right, *(_before(other) for other in near)], reverse=True)
        for end in ends:
            is_free = all(_is_beside(label, end, other) for other in near)
            if end - label.width >= label.left and is_free:
                placed.append(replace(label, right=end))
                break
    return placed


def _before(other: FlatLabel) -> float:
    return other.right - other.width - _LABEL_GAP


def _is_beside(label: FlatLabel, end: float, other: FlatLabel) -> bool:
    return end <= _before(other) or end - label.width >= other.right + _LABEL_GAP


@dataclass(frozen=True, slots=True, kw_only=True)
class SlantedLabel:
    """A label on a slanted line: its middle, `half` of its length in decades of x."""

    roof: Roof
    at: Place
    below: bool
    half: float

    @property
    def away(self) -> float:
        """Pixels from the line to the middle of the text, upwards."""
        return -LABEL_AWAY if self.below else LABEL_AWAY


def slant(scale: Scale) -> float:
    """Degrees by which slanted roofs rise, as SVG counts: clockwise."""
    return -math.degrees(math.atan2(scale.per_y, scale.per_x))


def slanted_labels(
    lines: Sequence[RoofLine],
    scale: Scale,
    width_of: Callable[[Roof], float],
    points: Sequence[Place] = (),
) -> list[SlantedLabel]:
    """Places on the visible part, staggered where lines run close; `width_of` gives pixels.

    A label lies on the side of its line and at the place where it covers the fewest of `points`,
    below a line that has another one right above it, and is left out where it would hide another
    one or lie on the ticks.
    """
    per_length = math.hypot(scale.per_x, scale.per_y)
    placed: list[SlantedLabel] = []
    turned = _turned(scale, points)
    slanted = sorted((one for one in lines if one.is_slanted), key=lambda one: -one.roof.peak)
    for line in slanted:

        def up_to(other: Roof, here: float = line.roof.log) -> float:
            return (other.log - here) * scale.per_x * scale.per_y / per_length

        distances = [up_to(other.roof) for other in placed]
        half = width_of(line.roof) / 2 / per_length
        sides = _sides([up_to(other.roof) for other in slanted])
        near = [
            other.at[0]
            for other, distance in zip(placed, distances, strict=True)
            if distance < 1.6 * _LABEL_HEIGHT
        ]
        found = _slanted_places(line, scale, half, sides)
        if not found:
            continue
        costs = [_label_cost(one, near, scale, turned) for one in found]
        label = found[costs.index(min(costs))]
        if min(costs) < _OUT and not any(map(_overlaps(label), placed, distances)):
            placed.append(label)
    return placed


def _slanted_places(
    line: RoofLine, scale: Scale, half: float, sides: Sequence[bool]
) -> list[SlantedLabel]:
    start = max(scale.x[0], scale.y[0] - line.roof.log)
    end = min(line.end, scale.x[1], scale.y[1] - line.roof.log)
    if end - start < 2 * half:
        return []
    wanted = [start + (end - start) * part for part in _LABEL_PLACES]
    places = [min(end - half, max(start + half, x)) for x in wanted]
    return [
        SlantedLabel(roof=line.roof, at=(x, x + line.roof.log), below=below, half=half)
        for below in sides
        for x in places
    ]


def _sides(others: Sequence[float]) -> tuple[bool, ...]:
    """Sides of a line that have room, the usual one first; `others`: pixels up to all lines."""
    if any(_SAME_LINE < gap < _LABEL_HEIGHT for gap in others):
        return (True,)
    return (False,) if any(-_LABEL_HEIGHT < gap < -_SAME_LINE for gap in others) else (False, True)


def _turned(scale: Scale, points: Sequence[Place]) -> list[tuple[float, float]]:
    """Pixels of `points` across and along the slanted lines, in order across."""
    turn = math.atan2(scale.per_y, scale.per_x)
    cos, sin = math.cos(turn), math.sin(turn)
    places = [(scale.to_x(x), scale.to_y(y)) for x, y in points]
    return sorted((x * sin + y * cos, x * cos - y * sin) for x, y in places)


def _label_cost(
    label: SlantedLabel, near: Sequence[float], scale: Scale, turned: Sequence[tuple[float, float]]
) -> float:
    """How bad a place is: points covered, nearness to other labels, reaching out of the plot.

    `turned` is that of `_turned`: only the points beside the line are looked at.
    """
    turn = math.atan2(scale.per_y, scale.per_x)
    cos, sin = math.cos(turn), math.sin(turn)
    long = label.half * math.hypot(scale.per_x, scale.per_y)
    cx = scale.to_x(label.at[0]) - label.away * sin
    cy = scale.to_y(label.at[1]) - label.away * cos
    across, along = cx * sin + cy * cos, cx * cos - cy * sin
    first = bisect_right(turned, (across - _HALF_TEXT, math.inf))
    last = bisect_left(turned, (across + _HALF_TEXT, -math.inf))
    covered = sum(abs(here - along) < long for _, here in turned[first:last])
    room = min((abs(x - label.at[0]) for x in near), default=math.inf)
    is_out = cx - long * cos - _HALF_TEXT * sin < scale.margin.left
    crowded = _CROWDED + 1 / (1 + room) if room < 2.2 * label.half else 0
    return covered + (_OUT if is_out else 0) + crowded


def _overlaps(label: SlantedLabel) -> Callable[[SlantedLabel, float], bool]:
    def overlaps(other: SlantedLabel, distance: float) -> bool:
        is_close = abs(distance + other.away - label.away) < _TEXT_HEIGHT
        return is_close and abs(other.at[0] - label.at[0]) < other.half + label.half

    return overlaps

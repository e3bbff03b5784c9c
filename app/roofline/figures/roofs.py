"""Roofs on log10 axes: their lines, their ridges, and places for their labels.

The rules of `static/js/chart/roofs.js`, so that a drawing of the server and one of the browser are
the same.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from roofline.figures.scale import Scale
from roofline.figures.scene import Place

LABEL_AWAY = 11.0  # pixels between a slanted line and the middle of its label
_PAST = 3.0  # decades that lines go on past the chart, so that panning never uncovers an end
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
        """What programs reach at best; a flat one begins at the slanted one that it meets."""
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


def roof_lines(shown: Roofs, scale: Scale) -> list[RoofLine]:
    """Lines to the edges of the chart and past them: slanted ones first."""
    left, right = scale.x[0] - _PAST, scale.x[1] + _PAST
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
    """A label over a flat line: its height and width, and where it ends, in pixels."""

    roof: Roof
    y: float
    width: float
    right: float = 0.0


def flat_places(labels: Sequence[FlatLabel], left: float, right: float) -> list[FlatLabel]:
    """Labels with a right end in pixels; one without room beside closer ones is left out."""
    placed: list[FlatLabel] = []
    for label in labels:
        near = [other for other in placed if abs(other.y - label.y) < _FLAT_LABEL_HEIGHT]
        ends = sorted([right, *(_before(other) for other in near)], reverse=True)
        for end in ends:
            if end - label.width >= left and all(_is_beside(label, end, other) for other in near):
                found = FlatLabel(roof=label.roof, y=label.y, width=label.width, right=end)
                placed.append(found)
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
    lines: Sequence[RoofLine], scale: Scale, width_of: Callable[[Roof], float]
) -> list[SlantedLabel]:
    """Places on the visible part, staggered where lines run close; `width_of` gives pixels.

    A label lies below a line that has another one right above it, and is left out where it would
    hide another one.
    """
    per_length = math.hypot(scale.per_x, scale.per_y)
    placed: list[SlantedLabel] = []
    slanted = [line for line in lines if line.is_slanted]
    for line in sorted(slanted, key=lambda line: -line.roof.peak):
        distances = [
            (other.roof.log - line.roof.log) * scale.per_x * scale.per_y / per_length
            for other in placed
        ]
        half = width_of(line.roof) / 2 / per_length
        label = _slanted_label(line, scale, placed, distances, half)
        if label is not None and not any(map(_overlaps(label), placed, distances)):
            placed.append(label)
    return placed


def _slanted_label(
    line: RoofLine,
    scale: Scale,
    placed: Sequence[SlantedLabel],
    distances: Sequence[float],
    half: float,
) -> SlantedLabel | None:
    start = max(scale.x[0], scale.y[0] - line.roof.log)
    end = min(line.end, scale.x[1], scale.y[1] - line.roof.log)
    if end - start < 2 * half:
        return None
    pairs = list(zip(placed, distances, strict=True))
    near = [other.at[0] for other, distance in pairs if distance < 1.6 * _LABEL_HEIGHT]
    below = any(_SAME_LINE < distance < _LABEL_HEIGHT for distance in distances)
    wanted = (start + (end - start) * part for part in _LABEL_PLACES)
    x = _roomiest([min(end - half, max(start + half, x)) for x in wanted], near, 2.2 * half)
    return SlantedLabel(roof=line.roof, at=(x, x + line.roof.log), below=below, half=half)


def _overlaps(label: SlantedLabel) -> Callable[[SlantedLabel, float], bool]:
    def overlaps(other: SlantedLabel, distance: float) -> bool:
        is_close = abs(distance + other.away - label.away) < _TEXT_HEIGHT
        return is_close and abs(other.at[0] - label.at[0]) < other.half + label.half

    return overlaps


def _roomiest(places: Sequence[float], others: Sequence[float], distance: float) -> float:
    """The first place that keeps its distance from all others, else the one farthest from them."""
    rooms = [min((abs(other - x) for other in others), default=math.inf) for x in places]
    for x, room in zip(places, rooms, strict=True):
        if room >= distance:
            return x
    return places[rooms.index(max(rooms))]

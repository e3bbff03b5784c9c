"""Places for texts in a plot: each is tried around its point, and left out where nothing is free.

Pixels of a nominal plot, from its top left corner.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Segment = tuple[float, float, float, float]
"""Both ends: x, y, x, y."""

LETTER = 0.56  # of the font's size: width of a letter
_GAP = 2.0  # between two texts
_LARGE = 6.0  # radius of a mark that no text may cover
_CELL = 48.0  # pixels
_CROSSED = 2.0  # as bad as so many covered small marks
POSITIONS = (
    "middle right",
    "middle left",
    "top right",
    "bottom right",
    "top left",
    "bottom left",
    "top center",
    "bottom center",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A point beside which a text may stand, at one of Plotly's `position`s."""

    x: float
    y: float
    position: str
    radius: float = 0.0


def text_width(text: str, size: float) -> float:
    """Pixels of a text, of its longest line."""
    return max(map(len, text.split("<br>"))) * size * LETTER + 2


def box_of(spot: Spot, text: str, size: float) -> Box:
    """Where Plotly writes the text: 1.25 radii of its mark, and a pixel, away from the centre."""
    down, side = spot.position.split(" ")
    width, height = text_width(text, size), size * (1 + 1.3 * text.count("<br>"))
    away = spot.radius / 0.8 + 1 if spot.radius else 0.0
    left = {"right": spot.x + away, "left": spot.x - away - width, "center": spot.x - width / 2}
    top = {
        "bottom": spot.y + away,
        "top": spot.y - away - height,
        "middle": spot.y - height / 2,
    }
    return left[side], top[down], left[side] + width, top[down] + height


@dataclass(slots=True, kw_only=True)
class Board:
    """A plot that fills with texts; `marks` are x, y and radius of each mark.

    It may be drawn with `least` of its width: no text leaves it then.

    Marks are looked up by the square of `_CELL` pixels that they lie in: a thousand of them, and
    the places of two dozen names, take a few milliseconds.
    """

    width: float
    height: float
    marks: Sequence[tuple[float, float, float]]
    lines: Sequence[Segment]
    least: float = 1.0
    taken: list[Box] = field(default_factory=list)
    _cells: dict[tuple[int, int], list[tuple[float, float, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _reach: float = 0.0

    def __post_init__(self) -> None:
        for x, y, radius in self.marks:
            self._cells[int(x // _CELL), int(y // _CELL)].append((x, y, radius))
            self._reach = max(self._reach, radius)

    def _near(self, box: Box) -> Iterator[tuple[float, float, float]]:
        """Marks in the cells that the box, or a mark beside it, can reach."""
        left, top, right, bottom = box
        columns = range(int((left - self._reach) // _CELL), int((right + self._reach) // _CELL) + 1)
        rows = range(int((top - self._reach) // _CELL), int((bottom + self._reach) // _CELL) + 1)
        for column in columns:
            for row in rows:
                yield from self._cells.get((column, row), ())

    def put(self, spots: Iterable[Spot], text: str, size: float, worst: float) -> Spot | None:
        """Writes the text at the best of `spots`; `None` where all cost more than `worst`."""
        best: tuple[float, Spot, Box] | None = None
        for spot in spots:
            box = box_of(spot, text, size)
            most = worst if best is None else best[0]
            cost = self._cost(box, spot, most)
            if cost <= most and (best is None or cost < most):
                best = cost, spot, box
            if cost == 0:
                break
        if best is None:
            return None
        self.taken.append(best[2])
        return best[1]

    def is_free(self, line: Segment) -> bool:
        """Whether no text lies on the line."""
        return not any(_crosses(line, box) for box in self.taken)

    def _cost(self, box: Box, spot: Spot, most: float) -> float:
        """What the box crosses and covers, counted until it is more than `most`."""
        left, top, right, bottom = box
        moved = spot.x * (1 - self.least)
        is_beside = left - moved < 0 or right - moved > self.width * self.least
        if (
            is_beside
            or top < 0
            or bottom > self.height
            or any(_overlaps(box, other) for other in self.taken)
        ):
            return float("inf")
        cost = _CROSSED * sum(_crosses(line, box) for line in self.lines)
        for x, y, radius in self._near(box):
            if cost > most:
                break
            across, down = max(left - x, 0.0, x - right), max(top - y, 0.0, y - bottom)
            if hypot(across, down) < radius and (x, y) != (spot.x, spot.y):
                # No text lies on a large mark that is not its own.
                cost += float("inf") if radius > _LARGE else 1.0
        return cost


def _overlaps(box: Box, other: Box) -> bool:
    return (
        box[0] < other[2] + _GAP
        and box[2] > other[0] - _GAP
        and box[1] < other[3]
        and box[3] > other[1]
    )


def _crosses(line: Segment, box: Box) -> bool:
    """Whether a part of the line lies in the box: the clipping of Liang and Barsky, 1984."""
    x0, y0, x1, y1 = line
    first, last = 0.0, 1.0
    for step, room in (
        (x0 - x1, x0 - box[0]),
        (x1 - x0, box[2] - x0),
        (y0 - y1, y0 - box[1]),
        (y1 - y0, box[3] - y0),
    ):
        if step == 0:
            if room < 0:
                return False
        elif step < 0:
            first = max(first, room / step)
        else:
            last = min(last, room / step)
    return first < last

"""Discs on one line, pushed up and down until none hides another. As `packDiscs` of `points.js`."""

from collections.abc import Sequence

_STEP = 2.6  # pixels
_OVERLAP = 0.9  # of the squared distance at which two discs touch


def pack(discs: Sequence[tuple[float, float]], half_height: float) -> tuple[list[float], int]:
    """Offsets from the middle, and how many discs found no free place.

    `discs` are pixels along the line and radii, in order of importance. Time grows with the square
    of their number: for some hundreds.
    """
    placed: list[tuple[float, float, float]] = []
    crowded = 0
    for number, (x, radius) in enumerate(discs):
        near = [disc for disc in placed if abs(disc[0] - x) < disc[2] + radius]
        offset = _free(near, x, radius, half_height)
        if offset is None:
            crowded += 1
            # No free place: spread evenly rather than pile up in the middle.
            offset = (((number * 37) % 100) / 50 - 1) * max(0.0, half_height - radius)
        placed.append((x, offset, radius))
    return [offset for _, offset, _ in placed], crowded


def _free(
    near: Sequence[tuple[float, float, float]], x: float, radius: float, half_height: float
) -> float | None:
    room = max(0.0, half_height - radius)
    for number in range(int(2 * room / _STEP) + 1):
        y = (1 if number % 2 else -1) * ((number + 1) // 2) * _STEP
        if abs(y) <= room and all(
            (ox - x) ** 2 + (oy - y) ** 2 >= _OVERLAP * (other + radius) ** 2
            for ox, oy, other in near
        ):
            return y
    return None

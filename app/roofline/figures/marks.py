"""Outlines of marks around 0, 0 as SVG paths, the shapes of `static/js/chart/op-points.js`."""

import math

_SLOPE = 2 / math.sqrt(3)


def _star() -> tuple[tuple[float, float], ...]:
    corners = []
    for number in range(10):
        reach = 1.4 if number % 2 == 0 else 1.4 * 0.382
        angle = math.pi * number / 5
        corners.append((reach * math.sin(angle), -reach * math.cos(angle)))
    return tuple(corners)


# Corners at radius 1, y downwards; every other symbol is a circle.
CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "square": ((1, 1), (-1, 1), (-1, -1), (1, -1)),
    "diamond": ((1.3, 0), (0, 1.3), (-1.3, 0), (0, -1.3)),
    "triangle-up": ((-_SLOPE, 0.5), (_SLOPE, 0.5), (0, -1)),
    "triangle-down": ((-_SLOPE, -0.5), (_SLOPE, -0.5), (0, 1)),
    "triangle-left": ((0.5, -_SLOPE), (0.5, _SLOPE), (-1, 0)),
    "triangle-right": ((-0.5, -_SLOPE), (-0.5, _SLOPE), (1, 0)),
    "star": _star(),
}


def plain(value: float) -> str:
    """A length with two decimals at most, as short as it can be written."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def outline(symbol: str, radius: float) -> str:
    """The path of a mark with corners; `KeyError` for a circle."""
    corners = CORNERS[symbol.removesuffix("-open")]
    return f"M{'L'.join(f'{plain(x * radius)},{plain(y * radius)}' for x, y in corners)}Z"


def has_corners(symbol: str) -> bool:
    """False for circles, and for every name that is not known."""
    return symbol.removesuffix("-open") in CORNERS

"""Colours that tell things apart do so for people with a colour-vision deficiency, too.

The matrices are those of Machado, Oliveira and Fernandes (2009) for full protanopia and
deuteranopia, on linear RGB; distances are in OKLab, where 0.02 is just seen side by side.
"""

import math
import re
from itertools import combinations
from pathlib import Path

import pytest

TOKENS = Path(__file__).resolve().parents[2] / "static" / "css" / "tokens.css"
Colour = tuple[float, float, float]
Matrix = tuple[Colour, Colour, Colour]

SIGHTS: dict[str, Matrix] = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
TO_LMS: Matrix = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
TO_LAB: Matrix = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
# Tokens that one chart shows together, and the least distance between any two of them.
TOGETHER = {
    "roofs of a TPU": (
        ("roof-compute", "roof-hbm", "roof-vmem-read", "roof-cmem-read", "roof-ici", "roof-host"),
        0.06,
    ),
    "roofs of a GPU": (
        ("roof-compute", "roof-hbm", "roof-l2", "roof-l1", "roof-shared", "roof-nvlink"),
        0.06,
    ),
    "categories": (tuple(f"c{number}" for number in range(1, 10)), 0.07),
    "all twelve of categories": (tuple(f"c{number}" for number in range(1, 13)), 0.068),
    "devices of what-if": (("vs-1", "vs-2", "vs-3"), 0.05),
}


def tokens(theme: int) -> dict[str, str]:
    """The colours of the light (0) or the dark (1) theme."""
    pattern = r"--([\w-]+):\s*light-dark\(\s*(#[0-9a-f]{6}),\s*(#[0-9a-f]{6})"
    found = re.findall(pattern, TOKENS.read_text("utf-8"))
    return {name: colours[theme] for name, *colours in found}


def times(matrix: Matrix, colour: Colour) -> Colour:
    red, green, blue = (sum(x * y for x, y in zip(row, colour, strict=True)) for row in matrix)
    return red, green, blue


def linear(text: str) -> Colour:
    """Linear RGB of "#rrggbb"."""

    def one(place: int) -> float:
        value = int(text[place : place + 2], 16) / 255
        return value / 12.92 if value <= 0.04045 else math.pow((value + 0.055) / 1.055, 2.4)

    return one(1), one(3), one(5)


def seen(text: str, sight: str) -> Colour:
    """OKLab of a colour as it is seen."""
    red, green, blue = (min(1.0, max(0.0, part)) for part in times(SIGHTS[sight], linear(text)))
    long, medium, short = (math.cbrt(part) for part in times(TO_LMS, (red, green, blue)))
    return times(TO_LAB, (long, medium, short))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("names", TOGETHER)
def test_colours_that_stand_together_are_apart(names: str, sight: str, theme: int) -> None:
    together, least = TOGETHER[names]
    colours = {name: seen(tokens(theme)[name], sight) for name in together}
    near = {
        pair: round(distance, 3)
        for pair in combinations(together, 2)
        if (distance := math.dist(colours[pair[0]], colours[pair[1]])) < least
    }
    assert not near

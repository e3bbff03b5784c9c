"""Ink as a PNG: drawn by Pillow at thrice the size, and made smaller, so that edges are smooth."""

import io
from collections.abc import Iterator, Sequence
from itertools import cycle, groupby, pairwise
from math import dist
from typing import TYPE_CHECKING

from roofline.errors import ExtraMissingError
from roofline.figures.ink import SPACES, Ink, Path, Step, Text

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Point = tuple[float, float]
_FINER = 3
_PIECES = 8  # straight ones in place of a curve
# Pillow's font has the letters of ASCII, and not many more.
_PLAIN = str.maketrans({**dict.fromkeys(SPACES, " "), **dict(zip("×µ–—−", "xu---", strict=True))})
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def png_of(ink: Ink, title: str, *, scale: float) -> bytes:
    """A PNG file on white, with `scale` pixels to one of the ink.

    Raises `ExtraMissingError` without Pillow.
    """
    try:
        from PIL import Image, ImageDraw
        from PIL.PngImagePlugin import PngInfo
    except ModuleNotFoundError as error:
        raise ExtraMissingError.of("pictures") from error
    size = round(ink.width * scale), round(ink.height * scale)
    fine = scale * _FINER
    image = Image.new("RGB", (size[0] * _FINER, size[1] * _FINER), "white")
    left, top, across, down = (round(one * fine) for one in ink.plot)
    box = (left, top, left + across, top + down)
    for is_clipped, own in groupby(ink.drawn, lambda one: isinstance(one, Path) and one.is_clipped):
        layer = image.copy() if is_clipped else image
        draw = ImageDraw.Draw(layer, "RGBA")
        for one in own:
            _text(draw, one, fine) if isinstance(one, Text) else _path(draw, one, fine)
        if is_clipped:
            image.paste(layer.crop(box), box)
    about = PngInfo()
    about.add_itxt("Title", title)
    file = io.BytesIO()
    image.resize(size, Image.Resampling.LANCZOS).save(file, "PNG", optimize=True, pnginfo=about)
    return file.getvalue()


def unwritten(ink: Ink) -> str:
    """The letters that are question marks in the PNG, each once."""
    texts = (one.text.translate(_PLAIN) for one in ink.drawn if isinstance(one, Text))
    return "".join(sorted({sign for text in texts for sign in text if not sign.isascii()}))


def _text(draw: "ImageDraw", one: Text, fine: float) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(size=one.size * fine)
    at = (one.x * fine, one.y * fine)
    draw.text(at, _plain(one.text), one.colour, font, anchor=_ANCHORS[one.anchor])


def _plain(text: str) -> str:
    return text.translate(_PLAIN).encode("ascii", "replace").decode()


def _path(draw: "ImageDraw", path: Path, fine: float) -> None:
    for points in _lines(path.steps):
        scaled = [(x * fine, y * fine) for x, y in points]
        if path.fill:
            draw.polygon(scaled, fill=_colour(path.fill, path.opacity))
        if path.stroke and path.width:
            colour, width = _colour(path.stroke, path.opacity), max(1, round(path.width * fine))
            for piece in _dashes(scaled, [one * fine for one in path.dash]):
                draw.line(piece, fill=colour, width=width, joint="curve")


def _colour(text: str, opacity: float) -> tuple[int, ...]:
    """Of "#rrggbb"."""
    return (*(int(text[at : at + 2], 16) for at in (1, 3, 5)), round(255 * opacity))


def _lines(steps: Sequence[Step]) -> Iterator[list[Point]]:
    """The pieces of a path as corners."""
    points: list[Point] = []
    for name, numbers in steps:
        ends = list(zip(numbers[::2], numbers[1::2], strict=True))
        if name == "M" and points:
            yield points
            points = []
        if name == "C":
            points += _curve(points[-1], *ends)
        elif name == "Z":
            points.append(points[0])
        else:
            points += ends
    if points:
        yield points


def _curve(a: Point, b: Point, c: Point, d: Point) -> Iterator[Point]:
    for piece in range(1, _PIECES + 1):
        t = piece / _PIECES
        shares = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        x, y = (sum(s * p[k] for s, p in zip(shares, (a, b, c, d), strict=True)) for k in (0, 1))
        yield x, y


def _dashes(points: Sequence[Point], lengths: list[float]) -> Iterator[list[Point]]:
    """The drawn pieces of a line."""
    if not lengths:
        yield list(points)
        return
    turns = cycle(zip(lengths * 2, [True, False] * len(lengths), strict=True))
    left, is_drawn = next(turns)
    piece = [points[0]]
    for start, end in pairwise(points):
        whole = done = dist(start, end)
        while done > left:
            done -= left
            share = 1 - done / whole
            at = (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
            if is_drawn:
                yield [*piece, at]
            piece = [at]
            left, is_drawn = next(turns)
        left -= done
        piece.append(end)
    if is_drawn:
        yield piece

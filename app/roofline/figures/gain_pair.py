"""The time of two programs in one picture: two strips of blocks on one scale, joined part by part.

Times are in us. A part that one side alone has stands at the right of its strip, outlined.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from roofline.figures.figure import TICK_SIZE, Figure, Json, Width, inert, numbered
from roofline.figures.gain import (
    Block,
    Part,
    Rectangle,
    Texture,
    bar_trace,
    bars,
    bars_layout,
    height_axis,
    merged,
    rectangles,
    time_axis,
)
from roofline.figures.scale import Margin

STRIP = 0.38
"""The height of a strip, as a share of both with what joins them."""

_LENGTHS: dict[Width, float] = {"wide": 1320.0, "narrow": 460.0}  # nominal pixels of the time
_LETTER = 7.0  # pixels
# Where the strips of A and B stand, as shares of the height, or of the width where they stand.
_BASES: dict[Width, tuple[float, float]] = {"wide": (1 - STRIP, 0.0), "narrow": (0.0, 1 - STRIP)}
_MARGINS: dict[Width, Margin] = {
    "wide": Margin(left=86, right=14, top=6, bottom=24),
    "narrow": Margin(left=46, right=14, top=24, bottom=8),
}
_CLEAR = "rgba(0,0,0,0)"


class Pair(NamedTuple):
    """A part of both programs: its blocks on both sides, none where a side does not have it.

    `change` is what it takes more or less in words; `lines` are those of its card.
    """

    name: str
    change: str
    a: tuple[Block, ...]
    b: tuple[Block, ...]
    lines: tuple[str, ...]

    @property
    def sides(self) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
        """The blocks of A and of B."""
        return self.a, self.b


class Axis(NamedTuple):
    """The axis of time: its unit and that unit in us; `longest_us` is where it ends."""

    unit: str
    unit_us: float
    longest_us: float


class _Piece(NamedTuple):
    """A pair on one side: from where to where, and whether the other side has none of it."""

    pair: int
    start_us: float
    end_us: float
    is_alone: bool


def gain_pair_figure(pairs: Sequence[Pair], names: tuple[str, str], axis: Axis, alt: str) -> Figure:
    """A above B, `names` beside them; parts in the order of `pairs`."""
    return {
        "id": "gain-pair",
        "data": numbered([one for width in _LENGTHS for one in _traces(pairs, axis, width)]),
        "layouts": {width: _layout(names, axis, width) for width in _LENGTHS},
        "marks": None,
        "beyond": {},
        "legend": [],
        "alt": alt,
    }


def pair_pictures(pairs: Sequence[Pair], axis: Axis) -> tuple[str, str]:
    """Both strips as small `svg` elements of the same scale."""

    def strip(side: int) -> str:
        blocks = [one for pair in _ordered(pairs, side) for one in pair.sides[side]]
        return picture(blocks, axis.longest_us)

    return strip(0), strip(1)


def _ordered(pairs: Sequence[Pair], side: int) -> list[Pair]:
    """The parts of one side: those that the other one has, too, come first."""
    own = [pair for pair in pairs if pair.sides[side]]
    return sorted(own, key=lambda pair: not pair.sides[1 - side])


def _pieces(pairs: Sequence[Pair], side: int) -> Iterator[_Piece]:
    at_us, places = 0.0, {id(pair): number for number, pair in enumerate(pairs)}
    for pair in _ordered(pairs, side):
        end_us = at_us + sum(block.time_us for block in pair.sides[side])
        yield _Piece(places[id(pair)], at_us, end_us, not pair.sides[1 - side])
        at_us = end_us


def _traces(pairs: Sequence[Pair], axis: Axis, width: Width) -> Iterator[Json]:
    pieces = [list(_pieces(pairs, side)) for side in (0, 1)]
    yield _joins(pieces, axis, width)
    for side, own in enumerate(pieces):
        blocks = [block for piece in own for block in pairs[piece.pair].sides[side]]
        drawn = [_placed(one, side, width) for one in rectangles(blocks)]
        drawn += [_outline(piece, side, width, "--ink") for piece in own if piece.is_alone]
        yield from bars(drawn, axis.unit_us, width)
        yield _marks(pairs, own, side, axis, width)
    yield _labels(pairs, pieces, axis, width)


def _placed(one: Rectangle, side: int, width: Width) -> Rectangle:
    return one._replace(bottom=_BASES[width][side] + STRIP * one.bottom, height=STRIP * one.height)


def _outline(piece: _Piece, side: int, width: Width, token: str = "") -> Rectangle:
    length_us = piece.end_us - piece.start_us
    whole = Rectangle(piece.pair, Texture.PLAIN, token, piece.start_us, length_us, 0.0, 1.0)
    return _placed(whole, side, width)


def _marks(
    pairs: Sequence[Pair], own: Sequence[_Piece], side: int, axis: Axis, width: Width
) -> Json:
    """What the pointer is on, with its card."""
    found = [_outline(piece, side, width) for piece in own]
    return bar_trace(found, axis.unit_us, width, 1, "marks") | {
        "marker": {"color": _CLEAR},
        "hoverinfo": "text",
        "hovertext": [
            "<br>".join(inert(line) for line in (pairs[one.pair].name, *pairs[one.pair].lines))
            for one in own
        ],
    }


def _joins(pieces: Sequence[Sequence[_Piece]], axis: Axis, width: Width) -> Json:
    """A pale quadrilateral from each part of A to that of B."""
    other = {piece.pair: piece for piece in pieces[1]}
    low, high = 100 * STRIP, 100 * (1 - STRIP)
    from_a, to_b = (high, low) if width == "wide" else (low, high)
    along: list[float | None] = []
    up: list[float | None] = []
    for a in pieces[0]:
        b = other.get(a.pair)
        if b is not None:
            times = (a.start_us, a.end_us, b.end_us, b.start_us, a.start_us)
            along += [*(us / axis.unit_us for us in times), None]
            up += [from_a, from_a, to_b, to_b, from_a, None]
    return {
        "type": "scatter",
        "name": "joins",
        "meta": {"role": "joins", "width": width},
        **({"x": along, "y": up} if width == "wide" else {"x": up, "y": along}),
        "mode": "lines",
        "fill": "toself",
        "fillcolor": "--hover",
        "line": {"color": "--line-2", "width": 0.8},
        "hoverinfo": "skip",
    }


def _labels(
    pairs: Sequence[Pair], pieces: Sequence[Sequence[_Piece]], axis: Axis, width: Width
) -> Json:
    """Name and change between the strips, the largest change first, as long as there is room."""
    other = {piece.pair: piece for piece in pieces[1]}
    pixels = _LENGTHS[width] / axis.longest_us
    taken: list[tuple[float, float]] = []
    found: list[tuple[float, str]] = []
    for a in sorted(pieces[0], key=lambda piece: piece.pair):
        b, pair = other.get(a.pair), pairs[a.pair]
        if b is None:
            continue
        middle_us = (a.start_us + a.end_us + b.start_us + b.end_us) / 4
        letters = len(pair.name) + len(pair.change) + 2
        half = (letters * _LETTER if width == "wide" else 18.0) / 2
        start, end = middle_us * pixels - half, middle_us * pixels + half
        fits = start >= -half / 2 and end <= _LENGTHS[width] + half / 2
        if fits and all(end <= left or start >= right for left, right in taken):
            taken.append((start, end))
            found.append((middle_us / axis.unit_us, f"{inert(pair.name)} {pair.change}"))
    places, middle = [at for at, _ in found], [50.0] * len(found)
    return {
        "type": "scatter",
        "name": "labels",
        "meta": {"role": "labels", "width": width},
        **({"x": places, "y": middle} if width == "wide" else {"x": middle, "y": places}),
        "mode": "text",
        "cliponaxis": False,
        "text": [text for _, text in found],
        "textfont": {"size": TICK_SIZE, "color": "--ink"},
        "hoverinfo": "skip",
    }


def _layout(names: tuple[str, str], axis: Axis, width: Width) -> Json:
    heights = height_axis([100 * (base + STRIP / 2) for base in _BASES[width]], width) | {
        "ticktext": [f"\u2068{inert(name).replace(' (', '<br>(')}\u2069" for name in names],
        "showgrid": False,
    }
    time = time_axis(axis.longest_us / axis.unit_us, f" {axis.unit}", width)
    return bars_layout(time, heights, _MARGINS[width], width, "gain-pair")


def blocks_of(
    token: str, time_us: float, needed_us: float, judged_us: float, wait: str = ""
) -> tuple[Block, ...]:
    """A part of one side: a wait, or its judged work and then its unknown; none without time."""
    if not time_us > 0:
        return ()
    if wait:
        return (Block(Part.WAIT, wait, token, time_us),)
    judged_us = min(judged_us, time_us)
    every = (
        Block(Part.WORK, Part.WORK, token, judged_us, needed_us, gain_us=judged_us - needed_us),
        Block(Part.UNKNOWN, Part.UNKNOWN, "--ink-3", time_us - judged_us),
    )
    return tuple(one for one in every if one.time_us > _ROUNDING * time_us)


_ROUNDING = 1e-9


WIDTH, HEIGHT = 132, 36
"""Pixels of the picture; it may be stretched."""

LEAST_SHARE = 0.01
"""Of the whole time: thinner blocks are merged, 1.3 px."""

_ATTRIBUTES = {
    Texture.NEED: 'fill="var({0})"',
    Texture.WASTE: 'fill="var({0})" fill-opacity=".5"',
    Texture.GAP: 'fill="var({0})" fill-opacity=".18"',
    Texture.STAY: 'fill="var({0})" fill-opacity=".18"',
    Texture.WAIT: 'fill="none" stroke="var({0})"',
    Texture.PLAIN: 'fill="none" stroke="var({0})"',
    Texture.UNKNOWN: 'fill="none" stroke="var({0})" stroke-width="1.2" stroke-dasharray="1.2 3"',
    Texture.IMPOSSIBLE: 'fill="none" stroke="var({0})" stroke-width=".8"',
}
_DOTS = 4.0  # pixels between rows of dots
_CROSSES = 4.0  # pixels between crossing lines


def picture(blocks: Sequence[Block], total_us: float = 0.0) -> str:
    """An `svg` element; its colours are custom properties of the page that it is put into.

    It is `total_us` long, by default as long as the blocks.
    """
    total_us = total_us or sum(one.time_us for one in blocks)
    if not total_us > 0:
        return ""
    paths: dict[tuple[Texture, str], list[str]] = {}
    for one in rectangles(merged(blocks, LEAST_SHARE * total_us)):
        paths.setdefault((one.texture, one.token), []).extend(_path(one, WIDTH / total_us))
    drawn = "".join(
        f'<path d="{"".join(path)}" {_ATTRIBUTES[texture].format(token)} '
        'vector-effect="non-scaling-stroke"/>'
        for (texture, token), path in paths.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img">'
        f"<title>Time to gain</title>{drawn}</svg>"
    )


def _path(one: Rectangle, scale: float) -> Iterator[str]:
    left, width = one.left_us * scale, one.width_us * scale
    top, height = HEIGHT * (1 - one.bottom - one.height), HEIGHT * one.height
    if one.texture is Texture.UNKNOWN:
        for row in range(int(height / _DOTS)):
            yield f"M{left:.1f} {top + _DOTS * (row + 0.5):.1f}h{width:.1f}"
    elif one.texture is Texture.IMPOSSIBLE:
        yield from _crosses(left, top, width, height)
    elif one.texture in (Texture.WAIT, Texture.PLAIN):
        inset = min(0.5, width / 2)
        width = max(width - 1, 0.0)
        yield f"M{left + inset:.1f} {top + 0.5:.1f}h{width:.1f}v{height - 1:.1f}h{-width:.1f}z"
    else:
        yield f"M{left:.1f} {top:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"


def _crosses(left: float, top: float, width: float, height: float) -> Iterator[str]:
    """Zigzag lines, up and down, which cross."""
    steps = max(int(height / _CROSSES), 1)
    step = height / steps
    for first, second in ((0.0, width), (width, 0.0)):
        x = (first, second)
        lines = "".join(f"L{left + x[k % 2]:.1f} {top + k * step:.1f}" for k in range(1, steps + 1))
        yield f"M{left + x[0]:.1f} {top:.1f}{lines}"

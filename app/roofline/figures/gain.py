"""Blocks of time as rectangles: the geometry of "Time to gain", whatever draws it.

A block's width is its time, its height the share of that time at which it would stand at its
nearest ceiling. All times are in us; heights are shares, 0 to 1.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from roofline.figures.figure import Json, Width, layout
from roofline.figures.scale import Margin

LEAST_SHARE = 0.0022
"""Of the whole time: thinner blocks are merged, 3 px of 1,392."""


class Part(StrEnum):
    """What a block is; the order is that of the classes along the axis, work and waits mixed."""

    WORK = "work"
    WAIT = "wait"
    PLAIN = "plain"
    UNKNOWN = "unknown"
    IMPOSSIBLE = "impossible"


class Texture(StrEnum):
    """How a rectangle is filled: these differ without colours, too."""

    NEED = "need"
    WASTE = "waste"
    GAP = "gap"
    STAY = "stay"
    WAIT = "wait"
    UNKNOWN = "unknown"
    IMPOSSIBLE = "impossible"
    PLAIN = "plain"


_RANKS = {Part.WORK: 0, Part.WAIT: 0, Part.PLAIN: 0, Part.UNKNOWN: 1, Part.IMPOSSIBLE: 2}


class Block(NamedTuple):
    """A piece of the time. `key` is the part of the subject that it is of: "work", "links" …

    Of work `needed_us`, `wasted_us` and `gain_us` are parts of `time_us`; of a wait `needed_us` is
    what stays. `ops` are rows of the analysis, the longest first; `name` comes from a file, and is
    empty for several ops. `token` is the colour of what binds or is waited for.
    """

    part: Part
    key: str
    token: str
    time_us: float
    needed_us: float = 0.0
    wasted_us: float = 0.0
    gain_us: float = 0.0
    ops: tuple[int, ...] = ()
    name: str = ""


class Rectangle(NamedTuple):
    """One filled piece of the block number `block`."""

    block: int
    texture: Texture
    token: str
    left_us: float
    width_us: float
    bottom: float
    height: float


def in_order(blocks: Iterable[Block], *, by_time: bool = False) -> list[Block]:
    """By gain, work and waits in one row; then what is unknown and impossible, by time.

    `by_time`: all in one row, by time.
    """

    def key(block: Block) -> tuple[int, float, float, str]:
        rank = 0 if by_time else _RANKS[block.part]
        return rank, 0.0 if rank or by_time else -block.gain_us, -block.time_us, block.name

    return sorted((one for one in blocks if one.time_us > 0), key=key)


def merged(blocks: Sequence[Block], least_us: float) -> list[Block]:
    """The blocks with thin ones as staircases: neighbours of one part, until they are `least_us`.

    Nothing is left out: sums of times, needs and gains stay what they are.
    """
    found: list[Block] = []
    thin: list[Block] = []
    thin_us = 0.0

    def put_thin() -> None:
        nonlocal thin, thin_us
        found.extend([_joined(thin)] if thin else [])
        thin, thin_us = [], 0.0

    for block in blocks:
        if thin and block.part not in (thin[0].part, Part.WAIT):
            put_thin()
        if block.part is Part.WAIT or block.time_us >= least_us:
            found.append(block)
            continue
        thin.append(block)
        thin_us += block.time_us
        if thin_us >= least_us:
            put_thin()
    put_thin()
    return found


def _joined(blocks: Sequence[Block]) -> Block:
    """Several blocks as one, in the colour that has the most of their time."""
    if len(blocks) == 1:
        return blocks[0]
    tokens: dict[str, float] = {}
    for one in blocks:
        tokens[one.token] = tokens.get(one.token, 0.0) + one.time_us
    longest = sorted(blocks, key=lambda one: -one.time_us)
    return Block(
        part=blocks[0].part,
        key=blocks[0].key,
        token=max(tokens, key=lambda token: tokens[token]),
        time_us=sum(one.time_us for one in blocks),
        needed_us=sum(one.needed_us for one in blocks),
        wasted_us=sum(one.wasted_us for one in blocks),
        gain_us=sum(one.gain_us for one in blocks),
        ops=tuple(op for one in longest for op in one.ops),
    )


def rectangles(blocks: Sequence[Block], start_us: float = 0.0) -> Iterator[Rectangle]:
    """The rectangles of the blocks, from left to right."""
    for number, block in enumerate(blocks):
        for texture, bottom, height in _layers(block):
            if height > 0:
                yield Rectangle(
                    number, texture, block.token, start_us, block.time_us, bottom, height
                )
        start_us += block.time_us


def _layers(block: Block) -> list[tuple[Texture, float, float]]:
    needed = min(block.needed_us / block.time_us, 1.0)
    match block.part:
        case Part.WORK:
            wasted = min(block.wasted_us / block.time_us, 1.0 - needed)
            return [
                (Texture.NEED, 0.0, needed),
                (Texture.WASTE, needed, wasted),
                (Texture.GAP, needed + wasted, 1.0 - needed - wasted),
            ]
        case Part.WAIT:
            return [(Texture.STAY, 0.0, needed), (Texture.WAIT, 0.0, 1.0)]
        case Part.UNKNOWN:
            return [(Texture.UNKNOWN, 0.0, 1.0)]
        case Part.IMPOSSIBLE:
            return [(Texture.IMPOSSIBLE, 0.0, 1.0)]
        case Part.PLAIN:
            return [(Texture.PLAIN, 0.0, 1.0)]


# ------------------------------------------------------------------------------------- as bars

_PALE = 0.18
_CLEAR = "rgba(0,0,0,0)"
_PATTERNS = {Texture.WASTE: "/", Texture.UNKNOWN: ".", Texture.IMPOSSIBLE: "x"}
_OUTLINED = {Texture.WAIT, Texture.PLAIN}


def bars(found: Sequence[Rectangle], unit_us: float, width: Width, *, strip: int = 1) -> list[Json]:
    """One trace per texture; the axis of time has units of `unit_us`, that of heights percent.

    `strip` is the number of the pair of axes.
    """
    by_texture: dict[Texture, list[Rectangle]] = {}
    for one in found:
        by_texture.setdefault(one.texture, []).append(one)
    return [
        {
            **bar_trace(own, unit_us, width, strip, role=texture.value),
            "hoverinfo": "skip",
            "marker": _look(texture, own),
        }
        for texture, own in sorted(by_texture.items(), key=lambda one: list(Texture).index(one[0]))
    ]


def bar_trace(
    found: Sequence[Rectangle], unit_us: float, width: Width, strip: int, role: str
) -> Json:
    """Bars at the places of rectangles, lying where the chart is narrow."""
    along, up = ("x", "y") if width == "wide" else ("y", "x")
    number = "" if strip == 1 else str(strip)
    return {
        "type": "bar",
        "name": role,
        "meta": {"role": role, "width": width},
        "orientation": "v" if width == "wide" else "h",
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "offset": 0,
        along: [one.left_us / unit_us for one in found],
        "width": [one.width_us / unit_us for one in found],
        "base": [100 * one.bottom for one in found],
        up: [100 * one.height for one in found],
    }


def bars_layout(along: Json, up: Json, margin: Margin, width: Width, revision: str) -> Json:
    """A layout of bars over time, which goes down where the chart is narrow."""
    xaxis, yaxis = (along, up) if width == "wide" else (up, along)
    whole = layout(margin, xaxis, yaxis, [], revision)
    return {**whole, "barmode": "overlay", "bargap": 0, "dragmode": False}


def time_axis(length: float, suffix: str, width: Width) -> Json:
    """The axis of time, as long as that; its last tick has the `suffix`."""
    return {
        **_FIXED,
        "range": [0, length] if width == "wide" else [length, 0],
        "ticksuffix": suffix,
        "showticksuffix": "last",
        "nticks": 9 if width == "wide" else 6,
        "gridcolor": "--grid",
    }


def height_axis(ticks: Sequence[float], width: Width) -> Json:
    """The axis of heights, in percent."""
    side = "left" if width == "wide" else "top"
    return {**_FIXED, "range": [0, 100], "tickvals": list(ticks), "side": side}


_FIXED: Json = {"fixedrange": True, "zeroline": False}


def _look(texture: Texture, found: Sequence[Rectangle]) -> Json:
    tokens, edge = [one.token for one in found], {"color": "--surface", "width": 0.6}
    if texture in _OUTLINED:
        return {"color": _CLEAR, "line": {"color": tokens, "width": 1.5}}
    if texture in _PATTERNS:
        pattern = {
            "shape": _PATTERNS[texture],
            "fgcolor": tokens,
            "bgcolor": "--surface",
            "size": 6,
            "solidity": 0.3,
        }
        return {"color": "--surface", "pattern": pattern, "line": edge}
    opacity = 1 if texture is Texture.NEED else _PALE
    return {"color": tokens, "opacity": opacity, "line": edge}

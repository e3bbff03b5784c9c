"""The strips below the chart of operations: transfers by link, and ops without known FLOPs.

As `link-places.js` and `no-flops-places.js`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.figures.packing import pack
from roofline.figures.scale import Margin, Range, Scale, log_ticks
from roofline.figures.scene import Layer, Line, Mark, Shape, Text
from roofline.figures.svg import SvgWriter
from roofline.model.units import gib_to_gb
from roofline.presentation.first_view.layouts import Axes, Layout, shared
from roofline.presentation.first_view.op_chart import mark_size
from roofline.presentation.first_view.shown_roofs import log_places
from roofline.presentation.page_rows import EFFICIENCY, RATE, Rows
from roofline.presentation.quantities import (
    NARROW,
    bandwidth,
    count,
    duration,
    peak_bandwidth,
    percent,
    significant,
)

# Packing takes time that grows with the square of this; the script draws all ops.
MOST_MARKS = 150
LANE = 46
_WIDTH = 560.0  # pixels of a usual plot: packing needs a width
_SIZE = 11.5

_LINK_MARGIN = Margin(left=96, right=14, top=4, bottom=24)
_LINK_MOST = 1.12  # share of the peak at the end of the axis
_LINK_ROOM = 1.15
_LINK_LARGEST = 26.0
_LINK_LEAST_RADIUS = 2.5

_MARGIN = Margin(left=84, right=14, top=6, bottom=26)
_HEIGHT = 124
_LARGEST = 30.0
_LEAST_RADIUS = 2.0
_EDGE_RADIUS = 3.5
_EDGE_INSET = 0.02
_MOST_CROWDED = 0.03
_SHRINK = 0.8
_LEAST_FACTOR = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A strip: its drawing, the words above it, and the roof that it is read against."""

    svg: str
    note: str  # empty: there is nothing to say
    lanes: int = 1
    is_empty: bool = False
    roof: str = ""
    roof_token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Disc:
    x: float
    radius: float
    symbol: str
    token: str
    css: str = "dot"


# Transfers by link.


def link_strip(rows: Rows) -> Strip | None:
    """A lane per link that has transfers to draw, or no peak; `None` without any transfer."""
    every = _lanes(rows)
    if not every:
        return None
    note = _link_note(rows, every)
    lanes = [lane for lane in every if lane.drawn or lane.peak is None]
    if not lanes:
        return Strip(svg="", note=note, is_empty=True)
    height = LANE * len(lanes)
    axes = Axes(
        x=(0.0, _LINK_ROOM),
        y=(0.0, float(height)),
        margin=_LINK_MARGIN,
        height=height + _LINK_MARGIN.top + _LINK_MARGIN.bottom,
    )
    scale = axes.of(_WIDTH)
    shapes: list[Shape] = list(_link_axis(height))
    for number, lane in enumerate(lanes):
        shapes += _lane(rows, lane, height - number * LANE, scale)
    svg = SvgWriter(scale).layers([Layer(shapes=tuple(shapes))])
    return Strip(svg=svg, note=note, lanes=len(lanes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lane:
    label: str
    token: str
    peak: float | None
    rows: tuple[int, ...]
    drawn: tuple[int, ...]


def _lanes(rows: Rows) -> list[_Lane]:
    page, links = rows.page, rows.column("link")
    starts, costs = rows.column("is_start"), rows.column("cost")
    moving = [i for i in range(len(rows)) if costs[i] == "transfer" and not starts[i]]
    peaks = {roof["id"]: roof["gbs"] for roof in page["roofs"]["memory"]}
    known = [level for level in page["levels"] if level["is_link"] and level["is_shown"]]
    places = [(level["id"], level["label"], level["token"]) for level in known]
    shares = rows.column(EFFICIENCY)
    lanes = []
    for link, label, token in [*places, (None, "A link", "--warn")]:
        found = tuple(i for i in moving if links[i] == link)
        peak = peaks.get(link)
        drawn = tuple(i for i in found if shares[i] is not None) if peak is not None else ()
        if found:
            lanes.append(_Lane(label=label, token=token, peak=peak, rows=found, drawn=drawn))
    return lanes


def _link_axis(height: float) -> Iterator[Shape]:
    for share in (0, 0.25, 0.5, 0.75, 1):
        yield Line(points=((share, 0), (share, height)), token="--grid")
        text = f"{significant(share * 100)}{NARROW}%"
        yield Text(text=text, at=(share, 0), shift=(0, 16), size=_SIZE, token="--axis")


def _lane(rows: Rows, lane: _Lane, top: float, scale: Scale) -> Iterator[Shape]:
    middle = top - LANE / 2
    about = "peak not known" if lane.peak is None else peak_bandwidth(lane.peak)
    yield Text(text=lane.label, at=(0, middle), shift=(-84, -2), anchor="start")
    yield Text(
        text=about, at=(0, middle), shift=(-84, 13), anchor="start", size=_SIZE, token="--axis"
    )
    if lane.peak is None:
        return
    yield Line(points=((1, top - 2), (1, top - LANE + 2)), token=lane.token, width=2)
    shares = rows.column(EFFICIENCY)
    order = sorted(lane.drawn, key=lambda i: -rows.shares[i])[:MOST_MARKS]
    discs = [_link_disc(rows, i, shares[i], lane.token) for i in order]
    places = [(scale.to_x(disc.x), disc.radius) for disc in discs]
    offsets, _ = pack(places, LANE / 2 - 1)
    for disc, offset in zip(discs, offsets, strict=True):
        yield _mark(disc, middle - offset)


def _link_disc(rows: Rows, row: int, share: float, token: str) -> _Disc:
    symbol = rows.categories[row]["symbol"]
    radius = max(_LINK_LEAST_RADIUS, mark_size(rows.shares[row], symbol, _LINK_LARGEST) / 2)
    is_off = share > _LINK_MOST
    return _Disc(
        x=min(share, _LINK_MOST),
        radius=radius,
        symbol="triangle-right" if is_off else symbol,
        token=token,
        css="dot open" if is_off else "dot",
    )


def _mark(disc: _Disc, y: float) -> Mark:
    return Mark(
        at=(disc.x, y), radius=disc.radius, symbol=disc.symbol, token=disc.token, css=disc.css
    )


def _link_note(rows: Rows, lanes: Sequence[_Lane]) -> str:
    every = [i for lane in lanes for i in lane.rows]
    drawn = [i for lane in lanes for i in lane.drawn]
    times, shares = rows.column("exposed_us"), rows.column(EFFICIENCY)
    device = rows.page["device"]
    word = "core" if device["core_word"] == "TensorCore" else device["core_word"]
    exposed = [times[i] for i in every if times[i] is not None]
    time = sum(exposed) / max(1, device["cores"])
    least = "≥ " if len(exposed) < len(every) else ""
    off = sum(shares[i] > _LINK_MOST for i in drawn)
    missing = len(every) - len(drawn)
    parts = [
        f"{count(len(every))} {'transfer' if len(every) == 1 else 'transfers'}",
        f"{least}{duration(time)} exposed per {word}" if exposed else "",
        f"{count(off)} off scale ▷" if off else "",
        f"{count(missing)} without a known share of the peak" if missing else "",
    ]
    return " · ".join(filter(None, parts))


# Operations without known FLOPs.


def no_flops_strip(rows: Rows) -> Strip:
    """Ops without a place on the chart, by achieved bandwidth of the outermost level."""
    level, peak = _level(rows)
    without, placeless = _off_chart(rows)
    rates = _bandwidths(rows, level)
    moving = sorted((i for i in without if rates[i] > 0), key=lambda i: -rows.shares[i])
    axes = Axes(
        x=_bandwidth_range([rates[i] for i in moving], peak),
        y=(0.0, 1.0),
        margin=_MARGIN,
        height=_HEIGHT,
    )
    scale = axes.of(_WIDTH)
    discs = [_disc(rows, i, rates[i], axes.x) for i in moving]
    layers = shared(_ticks(layout) for layout in axes.widths())
    token = "" if peak is None else str(level["token"])
    shapes: list[Shape] = []
    if peak is not None:
        x = math.log10(peak)
        shapes.append(Line(points=((x, 0), (x, 1)), token=token, width=2))
    shapes += _packed(discs[:MOST_MARKS], scale)
    layers.append(Layer(shapes=tuple(shapes)))
    return Strip(
        svg=SvgWriter(scale).layers(layers),
        note=_strip_note(rows, without, placeless, discs),
        is_empty=not discs,
        roof="" if peak is None else f"{level['label']} peak",
        roof_token=token,
    )


def _level(rows: Rows) -> tuple[Mapping[str, Any], float | None]:
    """The outermost level that the page shows, and its peak in GB/s."""
    shown = [level for level in rows.page["levels"] if level["is_shown"]]
    level = shown[0] if shown else {}
    memory = rows.page["roofs"]["memory"]
    return level, next((roof["gbs"] for roof in memory if roof["id"] == level.get("id")), None)


def _off_chart(rows: Rows) -> tuple[list[int], list[int]]:
    """Ops without FLOPs, and ops whose intensity is not known."""
    rates, costs = rows.numbers(RATE), rows.column("cost")
    places = log_places(rows.column(rows.axis), rows.column(RATE))
    off = [
        i
        for i, place in enumerate(places)
        if place is None and costs[i] not in ("idle", "transfer")
    ]
    return [i for i in off if not rates[i] > 0], [i for i in off if rates[i] > 0]


def _bandwidths(rows: Rows, level: Mapping[str, Any]) -> list[float]:
    """GB/s of the level; where only the sum of all levels is known, that."""
    total = rows.column("memory_bandwidth_gibs")
    own = rows.column(level["columns"]["bandwidth"]) if level else total
    pairs = zip(own, total, strict=True)
    return [gib_to_gb(one if one is not None else (two or 0.0)) for one, two in pairs]


def _bandwidth_range(values: Sequence[float], peak: float | None) -> Range:
    logs = [math.log10(value) for value in values]
    high = math.log10(peak * 2) if peak else max(1.0, *logs) + 0.1 if logs else 1.1
    low = min(high - 2, *logs) - 0.1 if logs else high - 2.1
    return max(low, high - 4), high


def _disc(rows: Rows, row: int, rate: float, bounds: Range) -> _Disc:
    low, high = bounds
    inset = _EDGE_INSET * (high - low)
    value, category = math.log10(rate), rows.categories[row]
    side = "right" if value > high - inset else "left" if value < low + inset else ""
    radius = mark_size(rows.shares[row], category["symbol"], _LARGEST) / 2
    return _Disc(
        x=min(high - inset, max(low + inset, value)),
        radius=_EDGE_RADIUS if side else radius,
        symbol=f"triangle-{side}" if side else category["symbol"],
        token=category["token"],
        css="dot open" if side else "dot",
    )


def _packed(discs: Sequence[_Disc], scale: Scale) -> list[Shape]:
    """Smaller discs where too many find no free place."""
    half = scale.plot_height / 2
    free = [disc for disc in discs if disc.css == "dot"]
    edge = [disc for disc in discs if disc.css != "dot"]
    factor = 1.0
    while True:
        sizes = [max(_LEAST_RADIUS, disc.radius * factor) for disc in free]
        places = [(scale.to_x(d.x), size) for d, size in zip(free, sizes, strict=True)]
        offsets, crowded = pack(places, half)
        if crowded <= len(free) * _MOST_CROWDED or factor < _LEAST_FACTOR:
            break
        factor *= _SHRINK
    at_edge, _ = pack([(scale.to_x(disc.x), disc.radius) for disc in edge], half)
    every = [*zip(free, sizes, offsets, strict=True)]
    every += [(disc, disc.radius, offset) for disc, offset in zip(edge, at_edge, strict=True)]
    return [
        Mark(
            at=(disc.x, 0.5 - offset / scale.plot_height),
            radius=size,
            symbol=disc.symbol,
            token=disc.token,
            css=disc.css,
        )
        for disc, size, offset in every
    ]


def _ticks(layout: Layout) -> Layer:
    shapes: list[Shape] = []
    for value in log_ticks(layout.scale.x, layout.scale.plot_width, 72):
        x = math.log10(value)
        shapes.append(Line(points=((x, 0), (x, 1)), token="--grid"))
        text = bandwidth(value, 1)
        shapes.append(Text(text=text, at=(x, 0), shift=(0, 16), size=_SIZE, token="--axis"))
    return Layer(shapes=tuple(shapes), css=layout.css)


def _strip_note(
    rows: Rows, without: Sequence[int], placeless: Sequence[int], discs: Sequence[_Disc]
) -> str:
    above = sum(disc.symbol == "triangle-right" and disc.css != "dot" for disc in discs)
    if not without and not placeless:
        return ""
    unknown, axis = len(without) - len(discs), rows.page["x_axes"][0]["label"]
    parts = [
        f"{count(len(without))} {'op' if len(without) == 1 else 'ops'}",
        f"{percent(sum(rows.shares[i] for i in without))} of time",
        f"{above} off scale ▷" if above else "",
        f"{count(unknown)} without known traffic" if unknown else "",
        f"besides, {count(len(placeless))} without bytes of {axis}: in the table only"
        if placeless
        else "",
    ]
    return " · ".join(filter(None, parts))

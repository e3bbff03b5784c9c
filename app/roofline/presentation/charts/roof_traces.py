"""Roofs of a chart: regions, lines and ridges, and the names that stand beside them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from roofline.figures.figure import (
    LEAST,
    PLOTS,
    Json,
    Width,
    inert,
    layout,
    line,
    log_axis,
    scale_of,
)
from roofline.figures.labels import Board, Segment, Spot
from roofline.figures.roofs import Roof, RoofLine, Roofs, ridge, roof_lines
from roofline.figures.scale import Margin, Place, Range, log_ticks
from roofline.presentation.quantities import flop_rate, peak_bandwidth, peak_rate, significant

_PAST = 3.0  # decades that lines go on past the chart, so that panning never uncovers an end
_ALONG = (0.45, 0.65, 0.3, 0.8, 0.15, 0.92)  # of the visible part of a slanted line
_ALONG_IN_PRINT = tuple(part / 20 for part in (9, 13, 6, 16, 3, 18, 11, 7, 4, 14, 2, 19))
_BEFORE = (0, 60, 120, 180, 260, 340)  # pixels from the right edge
_LEAST_REGION = 110  # pixels that the name of a region needs
_WORST = 6.0  # a name that covers more marks than these is left out


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofChart:
    """Roofs on axes, in log10; `main` and `flat` meet at the ridge. `is_small`: few words.

    `is_bare` leaves out regions. `is_print`: no name crosses a roof while a shorter one does not.
    """

    x: Range
    y: Range
    shown: Roofs
    main: Roof | None
    flat: Roof | None
    is_small: bool = False
    is_bare: bool = False
    is_print: bool = False

    @property
    def lines(self) -> list[RoofLine]:
        """All roofs, slanted ones first."""
        return roof_lines(self.shown, self.x)

    @property
    def corner(self) -> Place | None:
        """The ridge that splits memory-bound from compute-bound."""
        return None if self.is_bare or not self.lines else ridge(self.main, self.flat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A text with the place that was found for it."""

    at: Place
    text: str
    position: str
    token: str
    size: float


def roof_traces(chart: RoofChart) -> list[Json]:
    """Roofs, what programs reach of them, and ridge points."""
    lines = chart.lines
    corners = [(one.roof, one.corner) for one in lines if one.corner is not None]
    return [
        *(_roof(one, chart.shown) for one in lines),
        *(trace for one in lines for trace in _sustained(one)),
        {
            **line(
                "ridge points",
                [at for _, at in corners],
                role="ridges",
                token="--ink",
            ),
            "mode": "markers",
            "hoverinfo": "none",
            "customdata": [roof.id for roof, _ in corners],
            "marker": {
                "symbol": "circle",
                "size": 5 if chart.is_print else 8,
                "color": "--surface",
                "line": {"color": "--ink", "width": 1 if chart.is_print else 1.6},
            },
        },
    ]


def bent(chart: RoofChart, memory: Roof | None, compute: Roof | None) -> list[float]:
    """Where a roof of two parts has corners or ends, log10 of the intensity."""
    corner = ridge(memory, compute)
    bend = [corner[0]] if corner else []
    return sorted([chart.x[0] - _PAST, *bend, chart.x[1] + _PAST])


def _roof(one: RoofLine, shown: Roofs) -> Json:
    """A roof; further compute roofs are thinner than the main one."""
    is_further = not one.is_slanted and one.roof is not shown.compute[0]
    width = 1.2 if is_further else 2
    roof = one.roof
    text = peak_bandwidth(roof.peak) if one.is_slanted else peak_rate(roof.peak)
    drawn = line(
        f"{inert(roof.label)} {text}",
        one.points,
        role="roof",
        token=roof.token,
        width=width,
        dash=roof.dash,
    )
    return {**drawn, "uid": f"roof-{roof.id}"}


def _sustained(one: RoofLine) -> Iterator[Json]:
    """A thin line below a roof: what programs reach of it at best."""
    points = one.sustained()
    if points is not None:
        name = f"{inert(one.roof.label)}, reached at best"
        yield line(name, points, role="sustained", token=one.roof.token, width=0.8, dash="1px,2px")


def region_shapes(chart: RoofChart) -> list[Json]:
    """Both tinted regions, and the line between them from the foot up to the ridge."""
    if chart.corner is None:
        return []
    x, y = chart.corner
    left, right = min(chart.x[0], x) - _PAST, max(chart.x[1], x) + _PAST
    return [
        _region(left, x, "--region-mem"),
        _region(x, right, "--region-cmp"),
        {
            "type": "line",
            "x0": 10.0**x,
            "x1": 10.0**x,
            "y0": 10.0 ** (chart.y[0] - _PAST),
            "y1": 10.0**y,
            "line": {"color": "--line-2", "width": 1, "dash": "2px,3px"},
            "layer": "below",
        },
    ]


def _region(left: float, right: float, token: str) -> Json:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": 10.0**left,
        "x1": 10.0**right,
        "y0": 0,
        "y1": 1,
        "fillcolor": token,
        "line": {"width": 0},
        "layer": "below",
    }


def plain_tick(value: float) -> str:
    """A number on an axis."""
    return significant(value, 1)


def rate_tick(gflops: float) -> str:
    """A FLOP rate on an axis."""
    return flop_rate(gflops, 1)


def roof_axes(
    chart: RoofChart,
    plot: tuple[float, float],
    title: str,
    x_text: Callable[[float], str] = plain_tick,
    y_text: Callable[[float], str] = rate_tick,
) -> tuple[Json, Json]:
    """Both axes with the ticks that have room in a plot of these pixels."""
    across, down = plot
    return (
        log_axis(chart.x, log_ticks(chart.x, across, 52), x_text, title),
        log_axis(chart.y, log_ticks(chart.y, down, 26), y_text),
    )


def roof_layout(chart: RoofChart, axes: tuple[Json, Json], margin: Margin, revision: str) -> Json:
    """The layout of a roofline that cannot be dragged or zoomed."""
    xaxis, yaxis = (axis | {"fixedrange": True} for axis in axes)
    whole = layout(margin, xaxis, yaxis, region_shapes(chart), revision)
    return {**whole, "dragmode": False}


class Namer:
    """Finds places for the names of a chart in the nominal plot of one width."""

    def __init__(
        self,
        chart: RoofChart,
        width: Width,
        marks: Sequence[tuple[Place, float]],
        plots: Mapping[Width, tuple[float, float]] = PLOTS,
    ) -> None:
        self.chart = chart
        self.width: Width = width
        self.scale = scale_of(chart.x, chart.y, width, plots)
        self.size = 11.0 if chart.is_small else 12.0
        placed = [(*self._pixels(at), radius) for at, radius in marks]
        self.board = Board(
            width=self.scale.width,
            height=self.scale.height,
            marks=placed,
            lines=[self._segment(one) for one in chart.lines],
            least=LEAST[width] if plots is PLOTS else 1.0,
        )

    def _pixels(self, at: Place) -> Place:
        return self.scale.to_x(at[0]), self.scale.to_y(at[1])

    def _segment(self, one: RoofLine) -> Segment:
        (x0, y0), (x1, y1) = map(self._pixels, one.points)
        return x0, y0, x1, y1

    def _value(self, spot: Spot) -> Place:
        """The place of a spot on the axes."""
        scale = self.scale
        return scale.x[0] + spot.x / scale.per_x, scale.y[1] - spot.y / scale.per_y

    def name(
        self,
        spots: Sequence[Spot],
        text: str,
        token: str,
        size: float = 0.0,
        worst: float = _WORST,
    ) -> Iterator[Name]:
        """The text at the best of the `spots`; nothing where none is good enough."""
        size = size or self.size
        spot = self.board.put(spots, text, size, worst)
        if spot is not None:
            yield Name(
                at=self._value(spot), text=text, position=spot.position, token=token, size=size
            )

    def roofs(self) -> list[Name]:
        """Names of regions and roofs, the most important first."""
        chart = self.chart
        names = [] if chart.is_small or chart.corner is None else [*self._regions(chart.corner)]
        flat = [one for one in chart.lines if not one.is_slanted]
        slanted = [one for one in chart.lines if one.is_slanted]
        names += [
            name
            for number, one in enumerate(flat[:1] if chart.is_small else flat)
            for name in self._flat(one, is_main=number == 0)
        ]
        names += [
            name
            for one in sorted(slanted, key=lambda one: -one.roof.peak)
            for name in self._slanted(one)
        ]
        return names

    def _regions(self, corner: Place) -> Iterator[Name]:
        scale = self.scale
        if not scale.x[0] < corner[0] < scale.x[1]:
            return
        x, foot = scale.to_x(corner[0]), scale.height - 4
        if self.chart.is_print:  # its key says which ops are bound by what
            spots = [Spot(x=x + 5, y=foot, position="top right")]
            spots.append(Spot(x=x - 5, y=foot, position="top left"))
            text = f"ridge {significant(10 ** corner[0])} FLOP/B"
            yield from self.name(spots, text, "--ink-2", 11, 0.0)
            return
        if x > _LEAST_REGION:
            spot = Spot(x=x - 5, y=foot, position="top left")
            yield from self.name([spot], "← memory-bound", "--ink-2", 11)
        if scale.width - x > _LEAST_REGION:
            text = f"ridge {significant(10 ** corner[0])} FLOP/B<br>compute-bound →"
            yield from self.name([Spot(x=x + 5, y=foot, position="top right")], text, "--ink-2", 11)

    def _flat(self, one: RoofLine, *, is_main: bool) -> Iterator[Name]:
        """Above its line at the right edge, or further left; its rate alone where room is short."""
        scale, roof = self.scale, one.roof
        y = scale.to_y(roof.log) - (4 if self.chart.is_print else 1)
        spots = [Spot(x=scale.width - 3 - before, y=y, position="top left") for before in _BEFORE]
        start = scale.to_x(one.points[0][0])
        spots = [spot for spot in spots if spot.x > start] or spots[:1]
        size = self.size if is_main else self.size - 1
        rate = peak_rate(roof.peak)
        is_short = self.chart.is_small or not roof.label
        texts = [rate] if is_short else [f"{inert(roof.label)} {rate}", rate]
        yield from self._first(spots, self._tries(roof, rate, texts), roof.token, size)

    def _tries(self, roof: Roof, peak: str, texts: Sequence[str]) -> Iterator[tuple[str, float]]:
        """Texts for a roof, and how much each may cover; in print none first."""
        label = inert(roof.label)
        if self.chart.is_print and label:
            yield from ((text, 0.0) for text in (f"{label} {peak}", f"{label}<br>{peak}", label))
            texts = [label]
        yield from ((text, _WORST) for text in texts)

    def _first(
        self, spots: Sequence[Spot], tries: Iterator[tuple[str, float]], token: str, size: float
    ) -> Iterator[Name]:
        """The first text that has a place."""
        for text, worst in tries:
            names = list(self.name(spots, text, token, size, worst))
            if names:
                yield from names
                return

    def _slanted(self, one: RoofLine) -> Iterator[Name]:
        """Beside its visible part: below it on the right, or above it on the left."""
        scale, roof = self.scale, one.roof
        start = max(scale.x[0], scale.y[0] - roof.log)
        end = min(one.end, scale.x[1], scale.y[1] - roof.log)
        if end <= start:
            return
        parts = _ALONG_IN_PRINT if self.chart.is_print else _ALONG
        xs = [start + (end - start) * part for part in parts]
        spots = [
            Spot(x=scale.to_x(x) + side, y=scale.to_y(x + roof.log) + side / 2, position=position)
            for x in xs
            for position, side in (("bottom right", 4), ("top left", -4))
        ]
        peak = peak_bandwidth(roof.peak)
        tries = self._tries(roof, peak, [f"{inert(roof.label)} {peak}"])
        yield from self._first(spots, tries, roof.token, self.size)


def labels_trace(labels: Sequence[tuple[Name, float]], width: Width) -> Json:
    """Names beside marks of so many pixels: texts keep clear of a mark of their own trace only."""
    return {
        **names_trace([name for name, _ in labels], width, "labels"),
        "mode": "markers+text",
        "marker": {"size": [round(size, 1) for _, size in labels], "opacity": 0},
    }


def names_trace(names: Sequence[Name], width: Width, role: str = "names") -> Json:
    """All names of one width as one trace of texts: annotations take Plotly ten times as long."""
    return {
        **line(role, [name.at for name in names], role=role, token="--ink"),
        "uid": f"{role}-{width}",
        "mode": "text",
        "meta": {"role": role, "width": width},
        "text": [name.text for name in names],
        "textposition": [name.position for name in names],
        "textfont": {
            "size": [name.size for name in names],
            "color": [name.token for name in names],
        },
    }

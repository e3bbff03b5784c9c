"""Roofs as shapes: lines, ridges, labels, tinted regions. As `static/js/chart/roof-figure.js`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, log10

from roofline.figures.roofs import (
    FlatLabel,
    Roof,
    RoofLine,
    Roofs,
    attainable,
    flat_places,
    roof_lines,
    slant,
    slanted_labels,
)
from roofline.figures.scale import Scale, log_ticks
from roofline.figures.scene import Area, Layer, Line, Mark, Place, Shape, Text
from roofline.presentation.first_view.layouts import Axes, shared
from roofline.presentation.quantities import (
    flop_rate,
    peak_bandwidth,
    peak_rate,
    significant,
)

LETTER = 0.56  # of the font's size: width of a letter
_LEAST_REGION = 110  # pixels that the name of a region needs
_LEAST_APART = 18  # pixels between the name of a distance and that of a compute roof
_BEFORE_LINE = 60  # pixels that a label may begin before its line
_TICK_SIZE = 11.5
_STAR = 8  # pixels of the radius of the program's star
_FOOT = 34  # pixels of the height of the words at the foot of the ridge
_FOOT_WIDTH = 112
_DESCENT = 0.25  # of the font's size: from the baseline of a text to its lower edge


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofChart:
    """Roofs on axes; distances are read against `main` and `flat`. `is_small`: few words.

    Names of slanted roofs keep clear of `points`, and of the places that `taken` gives for a size;
    names of flat ones and of distances leave `star` in sight.
    """

    axes: Axes
    shown: Roofs
    main: Roof | None
    flat: Roof | None
    corner: Place | None
    is_small: bool
    points: tuple[Place, ...] = ()
    taken: tuple[Callable[[Scale], Sequence[Place]], ...] = ()
    star: Place | None = None

    @property
    def size(self) -> float:
        """Pixels of the font of labels."""
        return 11.0 if self.is_small else 12.0

    @property
    def scale(self) -> Scale:
        """A scale of a usual width: for what depends on no width."""
        return self.axes.of(600.0)


def ground(chart: RoofChart) -> Layer:
    """The shapes behind the points: regions, grid lines of the rates, roofs, ridges."""
    lines = roof_lines(chart.shown, chart.scale.x)
    shapes: list[Shape] = [*_regions(chart, lines), *_rate_grid(chart)]
    if lines and not chart.is_small:
        shapes += _distances(chart)
    shapes += [_roof_line(line, chart.shown) for line in lines]
    shapes += [found for line in lines for found in _sustained(line)]
    shapes += [
        Mark(at=line.corner, radius=4, symbol="circle", token="--surface", css="ridge")
        for line in lines
        if line.corner is not None
    ]
    return Layer(shapes=tuple(shapes), is_clipped=True)


def labels(chart: RoofChart, axis_title: str, short_title: str) -> list[Layer]:
    """Texts around and over the plot, one layer per class of sizes."""
    lines = roof_lines(chart.shown, chart.scale.x)
    by_width = []
    for layout in chart.axes.widths():
        title = short_title if layout.scale.plot_width < 400 else axis_title
        shapes = [
            *_intensity_ticks(layout.scale),
            _title(chart, layout.scale, title),
            *_flat_labels(chart, layout.scale),
            *(() if chart.is_small or not lines else _region_labels(chart, layout.scale)),
        ]
        by_width.append(Layer(shapes=tuple(shapes), css=layout.css))
    layers = [Layer(shapes=tuple(_rate_ticks(chart))), *shared(by_width)]
    for layout in chart.axes.ratios():
        found = tuple(_slant_labels(chart, lines, layout.scale))
        if found:
            layers.append(Layer(shapes=found, css=layout.css))
    return layers


def grids(chart: RoofChart) -> list[Layer]:
    """Grid lines of the intensities: their number follows from the width."""
    low, high = chart.axes.y

    def lines_of(scale: Scale) -> Iterator[Shape]:
        for x in log_ticks(scale.x, scale.plot_width, 52):
            yield Line(points=((log10(x), low), (log10(x), high)), token="--grid")

    return shared(
        Layer(shapes=tuple(lines_of(layout.scale)), css=layout.css)
        for layout in chart.axes.widths()
    )


def _regions(chart: RoofChart, lines: list[RoofLine]) -> Iterator[Shape]:
    if chart.corner is None or not lines:
        return
    x, y = chart.corner
    (low, high), bottom = chart.axes.x, chart.axes.y[0]
    yield Area(x0=min(low, x) - 3, x1=x, token="--region-mem")
    yield Area(x0=x, x1=max(high, x) + 3, token="--region-cmp")
    yield Line(points=((x, bottom - 3), (x, y)), token="--line-2", dash="2,3")


def _rate_grid(chart: RoofChart) -> Iterator[Shape]:
    low, high = chart.axes.x
    for value in _rates(chart):
        yield Line(points=((low, log10(value)), (high, log10(value))), token="--grid")


def _rates(chart: RoofChart) -> list[float]:
    return log_ticks(chart.axes.y, chart.scale.plot_height, 26)


def _distances(chart: RoofChart) -> Iterator[Shape]:
    """Dotted lines at a tenth and a hundredth of the roof, so that distance can be read."""
    low, high = chart.axes.x
    bend = [chart.flat.log - chart.main.log] if chart.main and chart.flat else []
    xs = sorted([low - 3, *bend, high + 3])
    for part in (0.1, 0.01):
        points = tuple((x, attainable(x, chart.main, chart.flat) + log10(part)) for x in xs)
        yield Line(points=points, token="--line-2", dash="1,4")


def _roof_line(line: RoofLine, shown: Roofs) -> Line:
    is_further = not line.is_slanted and line.roof is not shown.compute[0]
    width = 1.2 if is_further else 2.0
    return Line(points=line.points, token=line.roof.token, width=width, dash=line.roof.dash)


def _sustained(line: RoofLine) -> Iterator[Line]:
    points = line.sustained()
    if points is not None:
        yield Line(points=points, token=line.roof.token, width=0.8, dash="1,2")


def _rate_ticks(chart: RoofChart) -> Iterator[Text]:
    for value in _rates(chart):
        yield Text(
            text=flop_rate(value, 1),
            at=(chart.axes.x[0], log10(value)),
            shift=(-1, 4),
            anchor="end",
            size=_TICK_SIZE,
            token="--axis",
        )


def _intensity_ticks(scale: Scale) -> Iterator[Text]:
    for value in log_ticks(scale.x, scale.plot_width, 52):
        place = (log10(value), scale.y[0])
        text = significant(value, 1)
        yield Text(text=text, at=place, shift=(0, 12.5), size=_TICK_SIZE, token="--axis")


def _title(chart: RoofChart, scale: Scale, text: str) -> Text:
    middle = (scale.x[0] + scale.x[1]) / 2
    at = (middle, scale.y[0])
    return Text(
        text=text, at=at, shift=(0, 27 if chart.is_small else 29), size=_TICK_SIZE, token="--axis"
    )


def _flat_labels(chart: RoofChart, scale: Scale) -> Iterator[Text]:
    right = scale.margin.left + scale.plot_width
    compute = chart.shown.compute[:1] if chart.is_small else chart.shown.compute
    texts: dict[str, str] = {}
    wanted = []
    for roof in compute:
        left = _label_start(chart, roof, scale)
        texts[roof.id] = text = _flat_text(chart, roof, right - left, scale)
        if scale.y[0] < roof.log < scale.y[1]:
            width = _text_width(text, chart)
            wanted.append(FlatLabel(roof=roof, y=scale.to_y(roof.log), width=width, left=left))
    for label in flat_places(wanted, right):
        yield _flat_label(label, texts[label.roof.id], scale, chart)


def _label_start(chart: RoofChart, roof: Roof, scale: Scale) -> float:
    """Pixels from the left where the label of a flat roof may begin."""
    if chart.is_small:
        return 0.0
    if chart.corner is None:
        return scale.margin.left
    start = scale.to_x(chart.corner[0] - chart.corner[1] + roof.log) - _BEFORE_LINE
    return max(scale.margin.left, start)


def _text_width(text: str, chart: RoofChart) -> float:
    return len(text) * chart.size * LETTER + 4


def _flat_text(chart: RoofChart, roof: Roof, room: float, scale: Scale) -> str:
    """The name that is wider than its line, or would hide the star, is left out."""
    named = f"{roof.label} {peak_rate(roof.peak)}"
    width = _text_width(named, chart)
    is_hiding = _is_over(chart.star, scale, width, roof.log)
    is_named = not chart.is_small and not is_hiding and width <= room
    return named if is_named else peak_rate(roof.peak)


def _is_over(star: Place | None, scale: Scale, width: float, y: float) -> bool:
    """Whether the star lies on a text of this width at the right edge, on the height `y`."""
    if star is None:
        return False
    left = scale.to_x(scale.x[1]) - width
    is_right = scale.to_x(star[0]) > left - _STAR
    return is_right and abs(scale.to_y(y) - 8 - scale.to_y(star[1])) < 8 + _STAR


def _flat_label(label: FlatLabel, text: str, scale: Scale, chart: RoofChart) -> Text:
    is_main = label.roof is chart.shown.compute[0]
    size = chart.size if is_main else chart.size - 1
    right = scale.margin.left + scale.plot_width
    return Text(
        text=text,
        at=(scale.x[1], label.roof.log),
        shift=(label.right - right - 4, -(3.4 if is_main else 2.4) - _DESCENT * size),
        anchor="end",
        size=size,
        token=label.roof.token,
        plate="--label-bg",
        width=len(text) * size * LETTER,
    )


def _region_labels(chart: RoofChart, scale: Scale) -> Iterator[Text]:
    yield from _distance_labels(chart, scale)
    corner = chart.corner
    if corner is None or not scale.x[0] < corner[0] < scale.x[1]:
        return
    at = (corner[0], scale.y[0])
    if (corner[0] - scale.x[0]) * scale.per_x > _LEAST_REGION:
        yield Text(
            text="← memory-bound", at=at, shift=(-7, -7), anchor="end", size=11, token="--ink-2"
        )
    if (scale.x[1] - corner[0]) * scale.per_x > _LEAST_REGION:
        ridge = f"ridge {significant(10 ** corner[0])} FLOP/B"
        yield Text(
            text="compute-bound →", at=at, shift=(7, -7), anchor="start", size=11, token="--ink-2"
        )
        yield Text(text=ridge, at=at, shift=(7, -23), anchor="start", size=11)


def _distance_labels(chart: RoofChart, scale: Scale) -> Iterator[Text]:
    for part, name in ((0.1, "10 % of roof"), (0.01, "1 % of roof")):
        here = attainable(scale.x[1], chart.main, chart.flat) + log10(part)
        nearest = min((abs(here - roof.log) for roof in chart.shown.compute), default=inf)
        width = len(name) * 11 * LETTER + 4
        is_hidden = _is_over(chart.star, scale, width, here) or _is_at_foot(
            chart, scale, width, here
        )
        is_inside = scale.y[0] < here < scale.y[1]
        if is_inside and not is_hidden and nearest * scale.per_y >= _LEAST_APART:
            at = (scale.x[1], here)
            yield Text(text=name, at=at, shift=(-5.6, -5), anchor="end", size=11, token="--ink-3")


def _is_at_foot(chart: RoofChart, scale: Scale, width: float, y: float) -> bool:
    """Whether a text at the right edge lies on the words at the foot of the ridge."""
    if chart.corner is None or scale.to_y(y) <= scale.to_y(scale.y[0]) - _FOOT:
        return False
    left = scale.to_x(scale.x[1]) - width
    return scale.to_x(chart.corner[0]) + _FOOT_WIDTH > left


def _slant_labels(chart: RoofChart, lines: list[RoofLine], scale: Scale) -> Iterator[Text]:
    size, angle = chart.size, slant(scale)

    def width(roof: Roof) -> float:
        return len(_memory_text(roof)) * size * LETTER + 8

    points = [*chart.points, *(at for places in chart.taken for at in places(scale))]
    if chart.is_small:
        points += [at for text in _flat_labels(chart, scale) for at in _covered(text, scale)]
    for label in slanted_labels(lines, scale, width, points):
        middle = -label.away + _DESCENT * size + 1  # of the letters, along the turned text
        yield Text(
            text=_memory_text(label.roof),
            at=label.at,
            shift=(0, middle),
            size=size,
            token=label.roof.token,
            angle=angle,
        )


def _covered(flat: Text, scale: Scale) -> list[Place]:
    """Places that the label of a flat roof covers: those of its letters."""
    width = len(flat.text) * flat.size * LETTER + 4
    return in_row(scale, width, (scale.to_x(scale.x[1]), scale.to_y(flat.at[1]) - 8), -1)


def in_row(scale: Scale, width: float, start: tuple[float, float], side: int) -> list[Place]:
    """Places of a text of so many pixels, which starts there; `side` 1: to the right."""
    x, y = start
    height = scale.y[0] + (scale.to_y(scale.y[0]) - y) / scale.per_y
    left = [x + side * (3 + 6 * i) for i in range(ceil(width / 6))]
    return [(scale.x[0] + (at - scale.to_x(scale.x[0])) / scale.per_x, height) for at in left]


def _memory_text(roof: Roof) -> str:
    return f"{roof.label} {peak_bandwidth(roof.peak)}"

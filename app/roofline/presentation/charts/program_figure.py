"""The small roofline of the program as a figure: its total, its average step and its steps."""

from collections.abc import Mapping, Sequence
from math import ceil, log10
from typing import Any

from roofline.analysis.step_percentile import LEAST_STEPS_FOR_P95
from roofline.figures.figure import PLOTS, Figure, Json, Width, line, numbered
from roofline.figures.labels import Spot
from roofline.figures.roofs import Roof, Roofs, ridge
from roofline.figures.scale import Margin, Place, Range, spread, with_headroom
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.op_figure import placed_rate
from roofline.presentation.charts.roof_traces import (
    Name,
    Namer,
    RoofChart,
    names_trace,
    roof_axes,
    roof_layout,
    roof_traces,
)
from roofline.presentation.charts.shown_roofs import log_places, shown_roofs
from roofline.presentation.page_rows import Page, Rows
from roofline.presentation.quantities import (
    count,
    counted,
    duration,
    percent,
)

MARGIN = Margin(left=78, right=10, top=8, bottom=38)
# Beside its list the chart is never wide: both layouts are of one size, in pixels of the plot.
SMALL: dict[Width, tuple[float, float]] = {"wide": (168.0, 200.0), "narrow": (168.0, 200.0)}
MOST_MARKS = 300
"""Ordinary steps, and other points, of which one each is drawn where several share a spot."""
SYMBOLS = {
    "total": "star",
    "total_hw": "star-open",
    "average": "diamond",
    "phase": "square",
    "step": "circle",
}
STEP_COLOURS = 9
"""Steps of the scale of colours from the first step of a program to its last."""
_SIZES = {"total": 14, "total_hw": 14, "average": 11, "phase": 11, "step": 10}
_ORDER = {"step": 0, "phase": 1, "average": 2, "total_hw": 3, "total": 4}
_PART_COUNTERS = ("matrix unit", "HBM")
_LABEL_ROOM = 0.12  # of the plot's height, above the compute roof
_MOST_NAMED = 3  # a few outliers can be named; the list has all
_EMPTY: tuple[Range, Range] = ((-1.0, 3.0), (0.0, 5.0))

Point = dict[str, Any]
Placed = tuple[int, Point, Place]
"""Index among the points of the view, the point, its place in log10."""


def program_figure(page: Page, choice: ChartChoice | None = None) -> Figure:
    """The program's points of `page` against the roofs of its ops."""
    choice = choice or ChartChoice()
    rows = Rows(page, choice.infeed)
    points = rows.program
    places = log_places(
        [point.get(rows.main_axis["column"]) for point in points], list(map(placed_rate, points))
    )
    known = [
        (number, point, at)
        for number, (point, at) in enumerate(zip(points, places, strict=True))
        if at is not None
    ]
    shown = shown_roofs(rows, ChartChoice(roofs=choice.roofs, prec=choice.prec))
    main, flat = _main(page, points, shown), shown.compute[0] if shown.compute else None
    x, y = _ranges(known, ridge(main, flat))
    if shown.top is not None:
        y = with_headroom(y, shown.top.log, _LABEL_ROOM)
    chart = RoofChart(x=x, y=y, shown=shown, main=main, flat=flat, is_small=True)
    drawn = _thinned(sorted(known, key=lambda one: _ORDER[one[1]["scope"]]))
    gap = _gap(page, shown, known)
    return {
        "id": "program",
        "data": numbered(
            [
                *roof_traces(chart),
                *(() if gap is None else [_gap_line(gap)]),
                _marks(drawn),
                *_texts(chart, drawn, gap),
            ]
        ),
        "layouts": {width: _layout(chart, rows.main_axis["label"]) for width in PLOTS},
        "marks": "program",
        "beyond": {},
        "legend": [],
        "note": program_note(points, page["device"]["fields"]),
        "alt": _alt(known),
    }


def _main(page: Page, points: Sequence[Point], shown: Roofs) -> Roof | None:
    """The memory roof that binds the program, else the outermost."""
    levels = {page["bounds"][point["bound_by"]].get("level") for point in points}
    binding = [roof for roof in shown.memory if roof.id in levels]
    return next(iter([*binding, *shown.memory]), None)


def _ranges(known: Sequence[Placed], corner: Place | None) -> tuple[Range, Range]:
    """Around the points and the ridge, so that the distance to the roof can be seen."""
    places = [at for _, _, at in known] + ([corner] if corner else [])
    if not places:
        return _EMPTY
    roofs = [
        log10(point["attainable_gflops"])
        for _, point, _ in known
        if point["scope"] != "step" and (point.get("attainable_gflops") or 0) > 0
    ]
    xs, ys = [x for x, _ in places], [y for _, y in places] + roofs
    return spread(xs, (0.42, 0.42), 0.8), spread(ys, (0.3, 0.18), 0.8)


def _thinned(known: Sequence[Placed]) -> list[Placed]:
    """Ten thousand steps on one spot need one mark; of those that share one the last is drawn."""
    special = [one for one in known if one[1]["scope"] != "step" or one[1].get("is_outlier")]
    numbers = {number for number, _, _ in special}
    ordinary = [one for one in known if one[0] not in numbers]
    return [*_of_spots(ordinary), *_of_spots(special)]


def _of_spots(known: Sequence[Placed]) -> list[Placed]:
    decimals = 3  # of a decade: less than a pixel
    kept = list(known)
    while len(kept) > MOST_MARKS and decimals >= 0:
        spots = {(round(at[0], decimals), round(at[1], decimals)): (n, p, at) for n, p, at in known}
        kept, decimals = list(spots.values()), decimals - 1
    return kept[-MOST_MARKS:]


Gap = tuple[Place, float, float]
"""The program's place, log10 of the rate that its roof allows, its share of it."""


def _gap(page: Page, shown: Roofs, known: Sequence[Placed]) -> Gap | None:
    """From the program up to its roof, where that roof is drawn: else no line leads to it."""
    if not known or known[0][0] != 0 or not _is_held(page, shown, known[0][1]):
        return None
    _, point, at = known[0]
    share, roof = point.get("roofline_efficiency_ratio"), point.get("attainable_gflops") or 0
    return (at, log10(roof), share) if share is not None and roof > 0 else None


def _is_held(page: Page, shown: Roofs, point: Point) -> bool:
    """Whether the roof that the point's share is of is drawn."""
    bound = page["bounds"][point["bound_by"]]
    if bound["kind"] == "none":
        return False
    if bound["kind"] == "slanted":
        return any(roof.id == bound.get("level") for roof in shown.memory)
    compute = page["roofs"]["compute"]
    unit = point.get("compute_unit") or 0
    return unit < len(compute) and any(roof.id == compute[unit]["id"] for roof in shown.compute)


def _gap_line(gap: Gap) -> Json:
    at, roof, _ = gap
    points = [at, (at[0], roof)]
    return line("gap to the roof", points, role="gap", token="--ink-2", width=1, dash="3px,3px")


def _texts(chart: RoofChart, drawn: Sequence[Placed], gap: Gap | None) -> list[Json]:
    """Names of roofs, of the gap and of a few outliers; of both widths, which are alike."""
    traces = []
    outliers = [one for one in drawn if one[1].get("is_outlier")]
    for width in PLOTS:
        namer = Namer(
            chart, width, [(at, _SIZES[point["scope"]] / 2) for _, point, at in drawn], SMALL
        )
        scale = namer.scale
        names: list[Name] = []
        if gap is not None:
            at, roof, share = gap
            x, y = scale.to_x(at[0]), scale.to_y((at[1] + roof) / 2)
            texts = (f"{percent(share, 0)} of roof", f"{percent(share, 0)}<br>of roof")
            spots = [Spot(x=x + 5, y=y, position="middle right")]
            found = [name for text in texts for name in namer.name(spots, text, "--ink-2")][:1]
            spots = [Spot(x=x - 5, y=y, position="middle left")]
            names += found or namer.name(spots, texts[0], "--ink-2")
        names += namer.roofs()
        for _, point, at in outliers if len(outliers) <= _MOST_NAMED else ():
            spot = Spot(
                x=scale.to_x(at[0]), y=scale.to_y(at[1]) + 5, position="bottom center", radius=1
            )
            names += namer.name([spot], _step_name(point), "--ink-2")
        traces.append(names_trace(names, width))
    return traces


def _step_name(point: Point) -> str:
    """A step's label comes from the file: its digits alone."""
    digits = "".join(sign for sign in point["label"] if sign in "0123456789")[:12]
    return f"step {digits or '?'}"


def _marks(drawn: Sequence[Placed]) -> Json:
    points = [point for _, point, _ in drawn]
    is_outlier = [bool(point.get("is_outlier")) for point in points]
    return {
        **line("program", [at for _, _, at in drawn], role="marks", token="--star"),
        "uid": "marks-program",
        "mode": "markers",
        "hoverinfo": "none",
        "customdata": [number for number, _, _ in drawn],
        "marker": {
            "opacity": 1,
            "symbol": [SYMBOLS[point["scope"]] for point in points],
            "size": [_SIZES[point["scope"]] for point in points],
            "color": [
                step_token(point.get("order")) if point["scope"] == "step" else "--star"
                for point in points
            ],
            "line": {
                "color": ["--warn" if one else "--halo" for one in is_outlier],
                "width": [2 if one else 1 for one in is_outlier],
            },
        },
    }


def step_token(order: float | None) -> str:
    """The colour of a step by its place among the steps, 0 to 1: a token of the style sheet."""
    return f"--step-{round((1.0 if order is None else order) * (STEP_COLOURS - 1))}-of-8"


def _layout(chart: RoofChart, label: str) -> Json:
    axes = roof_axes(chart, SMALL["wide"], f"FLOP per byte of {label}")
    return roof_layout(chart, axes, MARGIN, "program")


def _alt(known: Sequence[Placed]) -> str:
    if not known:
        return "Roofline of the program: its place is not known."
    return f"Roofline of the program: {count(len(known))} of its points have a place."


def program_note(points: Sequence[Point], fields: Sequence[Mapping[str, Any]]) -> str:
    """What the points of the program count; `fields` are those of the device."""
    return _counts(points) + _hardware_note(points, fields)


def _counts(points: Sequence[Point]) -> str:
    steps = sum(point["scope"] == "step" for point in points)
    if not points or points[0].get("total_time_per_core_us") is None:
        return ""  # no time was measured: the chart's place says so
    if steps == 0:
        return "No steps in this profile."
    average = next((point for point in points if point["scope"] == "average"), None)
    if average is None:
        return f"{counted(steps, 'step')}.{_slow_steps(points)}"
    complete = "one complete step" if steps == 1 else f"{count(steps)} complete steps"
    is_of_all = average["label"] == "Average"
    said = f"Average of {complete}" if is_of_all else f"{average['label']} steps"
    return f"{said}.{_slow_steps(points)}"


def _hardware_note(points: Sequence[Point], fields: Sequence[Mapping[str, Any]]) -> str:
    """Counters of a part of the chip: what they have not counted is not zero."""
    counters = next((one["value"] for one in fields if one["id"] == "counters"), "")
    is_part = any(point["scope"] == "total_hw" for point in points) and counters in _PART_COUNTERS
    return f" Total (HW) has what the hardware counted: the {counters} alone." if is_part else ""


def _slow_steps(points: Sequence[Point]) -> str:
    """The 95th percentile of the steps' times, where there are enough steps for one."""
    times = sorted(one["total_time_per_core_us"] or 0.0 for one in points if one["scope"] == "step")
    if len(times) < LEAST_STEPS_FOR_P95:
        return ""
    place = ceil(0.95 * len(times)) - 1
    return f" 95 % of them take {duration(times[place])} or less."

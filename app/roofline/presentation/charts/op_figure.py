"""The roofline of operations as a figure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from roofline.analysis.short_names import middle_cut
from roofline.figures.figure import (
    PLOTS,
    Figure,
    Json,
    LegendEntry,
    Width,
    inert,
    layout,
    line,
    numbered,
)
from roofline.figures.labels import POSITIONS, Segment, Spot
from roofline.figures.roofs import Roof, Roofs, attainable, ridge
from roofline.figures.scale import (
    Margin,
    Place,
    Range,
    Scale,
    heaviest,
    spread,
    with_headroom,
    without_strays,
)
from roofline.presentation.charts.choices import ChartChoice, OtherRoofs, Paper
from roofline.presentation.charts.joined import (
    joined_legend,
    joined_marks,
    joined_traces,
    level_marks,
)
from roofline.presentation.charts.marks import Mark, beyond, kinds_of, mark_traces, marks_of
from roofline.presentation.charts.own_ceilings import (
    CLOCK_SIZE,
    OwnCeilings,
    own_ceilings,
    own_traces,
)
from roofline.presentation.charts.paper import leaders_trace, led, with_key, with_legend
from roofline.presentation.charts.roof_traces import (
    Name,
    Namer,
    RoofChart,
    bent,
    labels_trace,
    names_trace,
    rate_tick,
    region_shapes,
    roof_axes,
    roof_traces,
)
from roofline.presentation.charts.shown_roofs import (
    all_roofs,
    log_places,
    main_memory,
    shown_roofs,
)
from roofline.presentation.page_rows import EFFICIENCY, JOINED, RATE, Page, Rows
from roofline.presentation.quantities import (
    count,
    counted,
    flop_rate,
    intensity,
    percent,
    significant,
)

MARGINS: dict[Width, Margin] = {
    "wide": Margin(left=84, right=14, top=10, bottom=44),
    "narrow": Margin(left=76, right=10, top=10, bottom=44),
}
_MOST_NAMES: dict[Width, int] = {"wide": 12, "narrow": 5}
_LABEL_ROOM = 0.08  # of the plot's height, above the highest compute roof
_LABEL_ROOM_IN_PRINT = 0.12
_TOOLS_ROOM = 0.15  # above the highest point, where no roof keeps points below the chart's buttons
_SHARE_FIT = 0.985  # of the time
_MOST_ABOVE = 0.6  # decades above the roof that are worth their room
_LEAST_SHARE = 0.004  # of the time; shorter operations have no name beside them
_NAME_LETTERS = 22
_NAME_SIZE = 11.0
_STAR_SIZE = 17
_LEAST_STAR = 11
_WORST_NAME = 1.0  # of a name of an op: small marks that it may cover
_WORST_OWN = 99.0  # the name of the selected op is not left out
_NO_ARITHMETIC = {"no_flops", "transfer"}
_UNKNOWN = {"flops_unknown", "bytes_unknown", "unknown"}
_EMPTY: tuple[Range, Range] = ((-1.0, 3.0), (0.0, 5.0))
_EMPTY_SHARE: tuple[Range, Range] = ((-1.0, 3.0), (-1.0, 0.3))
_OWN_ROOF = "each operation’s own roof"
_OTHER_LOOKS = (
    ("--vs-1", "9px,4px"),
    ("--vs-2", "3px,3px"),
    ("--vs-3", "12px,3px,3px,3px"),
    ("--vs-4", "6px,2px,2px,2px,2px,2px"),
)


def op_figure(page: Page, choice: ChartChoice | None = None) -> Figure:
    """The ops of `page`, the page data as plain objects, against the roofs that hold them."""
    choice = choice or ChartChoice()
    rows = Rows(page, choice.infeed)
    own = own_ceilings(rows, choice)
    choice = _settled(rows, choice)
    xs = rows.column(rows.column_of_axis(choice.x))
    ys = rows.column(EFFICIENCY if choice.is_share else RATE)
    places = _longest(rows, log_places(xs, ys), choice)
    shown = Roofs() if choice.is_share else shown_roofs(rows, choice)
    levels = level_marks(rows, places) if choice.x == JOINED else []
    star = _star(rows, choice)
    points = (
        [(mark.at, rows.shares[mark.row]) for mark in levels]
        if choice.x == JOINED
        else [(at, share) for at, share in zip(places, rows.shares, strict=True) if at]
    )
    axes = _ranges(rows, choice, points, shown.top, star)
    chart = _chart(axes, own.shown if own else shown, choice, is_bare=own is not None)
    marks = [] if choice.x == JOINED else marks_of(rows, places, axes, choice)
    kinds = kinds_of(rows, choice)
    drawn = (
        joined_traces(rows, levels, choice) if levels else mark_traces(rows, marks, (xs, ys), kinds)
    )
    named = [*marks, *joined_marks(rows, levels, choice)]
    data = numbered(
        [
            *_other_traces(chart, choice.others),
            *roof_traces(chart),
            *(_own_roof(axes) if choice.is_share else ()),
            *drawn,
            *(own_traces(own, axes[0]) if own else ()),
            *_texts(rows, chart, named, own, star, choice),
            _star_trace(star, choice.paper),
        ]
    )
    if choice.has_key:
        data = with_key(data, [kinds[mark.row] for mark in marks], star)
    return {
        "id": "op",
        "data": data,
        "layouts": {width: _layout(rows, chart, choice, width) for width in PLOTS},
        "marks": "op",
        "beyond": beyond(rows, marks),
        "legend": [
            *_others_legend(page, choice.others),
            *(joined_legend(rows, levels, choice) if choice.x == JOINED else ()),
        ],
        "note": _note(rows, places),
        "alt": _alt(rows, len(points), star, choice),
    }


def _longest(
    rows: Rows, places: Sequence[Place | None], choice: ChartChoice
) -> Sequence[Place | None]:
    """The places of the ops that are drawn."""
    if choice.paper is None or choice.paper.most is None:
        return places
    placed = [row for row, at in enumerate(places) if at is not None]
    kept = set(sorted(placed, key=lambda row: -rows.shares[row])[: choice.paper.most])
    return [at if row in kept else None for row, at in enumerate(places)]


def _settled(rows: Rows, choice: ChartChoice) -> ChartChoice:
    """The choice with an axis of the page: for one that it lacks, such as "auto", the usual one.

    A share of a roof, and the ceilings of one op, are of the main memory alone.
    """
    axes = [one["id"] for one in rows.page["x_axes"]]
    if choice.x in axes:
        return choice
    is_main = choice.is_share or choice.op is not None
    return replace(choice, x=rows.main_axis["id"] if is_main else axes[0])


def _chart(
    axes: tuple[Range, Range], shown: Roofs, choice: ChartChoice, *, is_bare: bool
) -> RoofChart:
    return RoofChart(
        x=axes[0],
        y=axes[1],
        shown=shown,
        main=main_memory(shown.memory, choice.x),
        flat=shown.compute[0] if shown.compute else None,
        is_bare=is_bare,
        is_print=choice.paper is not None,
    )


Weighted = Sequence[tuple[Place, float]]
"""Places in log10 with their share of the time."""


def _ranges(
    rows: Rows, choice: ChartChoice, points: Weighted, top: Roof | None, star: Place | None
) -> tuple[Range, Range]:
    """Ranges of both axes: what is zoomed to, else those of nearly all of the time."""
    if choice.zoom is not None:
        x0, x1, y0, y1 = choice.zoom
        return (x0, x1), (y0, y1)
    if choice.is_share:
        return _share_ranges(points, star, is_all=choice.fit == "all")
    kept = [at for at, _ in (points if choice.fit == "all" else _fitting(points, 0.99))]
    xs, ys = [x for x, _ in kept], [y for _, y in kept]
    for corner in _corners(rows.page, choice):
        xs += [corner[0] - 0.4, corner[0] + 0.9]
        ys += [corner[1] - 2, corner[1]]
    x, y = (spread(xs, (0.2, 0.22), 2), spread(ys, (0.3, 0.34), 2)) if xs else _EMPTY
    tops = [roof.log for roof in (top, *(one.compute for one in choice.others)) if roof]
    if tops:
        room = _LABEL_ROOM if choice.paper is None else _LABEL_ROOM_IN_PRINT
        return x, with_headroom(y, max(tops), room)
    heights = [at[1] for at, _ in points if at[1] <= y[1]]
    return x, with_headroom(y, max(heights), _TOOLS_ROOM) if heights else y


def _fitting(points: Weighted, part: float) -> Weighted:
    """Points that make this part of the time, but for a few far below all others."""
    heavy = [points[i] for i in heaviest([weight for _, weight in points], part)]
    return [heavy[i] for i in without_strays([at[1] for at, _ in heavy], [w for _, w in heavy])]


def _share_ranges(points: Weighted, star: Place | None, *, is_all: bool) -> tuple[Range, Range]:
    """Those of nearly all of the time, the roof at 100 %, and the program."""
    kept = [at for at, _ in (points if is_all else _fitting(points, _SHARE_FIT))]
    if not kept:
        return _EMPTY_SHARE
    heights = [min(_MOST_ABOVE, y) for _, y in kept]
    xs = [x for x, _ in [*kept, *([star] if star else [])]]
    low, high = min(-0.5, *heights) - 0.1, max(0.0, *heights) + 0.2
    return spread(xs, (0.2, 0.22), 2), (low, high)


def _corners(page: Page, choice: ChartChoice) -> list[Place]:
    """Ridges that the automatic range holds: the main one, and those of other devices."""
    every = all_roofs(page)
    main = main_memory(every.memory, choice.x)
    memory = every.memory if choice.x == JOINED else [main]
    flat = every.compute[0] if every.compute else None
    pairs = [(one, flat) for one in memory] + [(one.memory, one.compute) for one in choice.others]
    return [corner for pair in pairs if (corner := ridge(*pair)) is not None]


def _star(rows: Rows, choice: ChartChoice) -> Place | None:
    """The program; `None` where its place is not known, and of kernels measured one by one."""
    if not rows.program or rows.page["subject"]["kind"] == "kernels":
        return None
    total = rows.program[0]
    height = total.get(EFFICIENCY) if choice.is_share else placed_rate(total)
    return log_places([total.get(rows.column_of_axis(choice.x))], [height])[0]


def placed_rate(point: dict[str, float | None]) -> float | None:
    """GFLOP/s of the ops of a program's point that have a place on the roofline."""
    placed = f"placed_{RATE}"
    return point[placed] if placed in point else point.get(RATE)


def _star_trace(star: Place | None, paper: Paper | None) -> Json:
    return {
        **line("program", [star] if star else [], role="program", token="--star"),
        "uid": "program",
        "mode": "markers",
        "hoverinfo": "none",
        "marker": {
            "symbol": "star",
            "size": _STAR_SIZE if paper is None else max(_LEAST_STAR, _STAR_SIZE * paper.shrunk),
            "color": "--star",
            "line": {"color": "--halo", "width": 1.5},
        },
    }


def _other_traces(chart: RoofChart, others: Sequence[OtherRoofs]) -> list[Json]:
    """Roofs of other devices: one broken line each, bent at its own ridge."""
    return [
        line(
            inert(one.name),
            [
                (x, attainable(x, one.memory, one.compute))
                for x in bent(chart, one.memory, one.compute)
            ],
            role="other",
            token=token,
            width=1.6,
            dash=dash,
        )
        for one, (token, dash) in zip(others, _OTHER_LOOKS, strict=False)
        if one.memory or one.compute
    ]


def _others_legend(page: Page, others: Sequence[OtherRoofs]) -> list[LegendEntry]:
    """Each other device with its ridge, and its unit where that is the main one here, too."""
    main = all_roofs(page).compute[:1]
    entries: list[LegendEntry] = []
    for one, (token, dash) in zip(others, _OTHER_LOOKS, strict=False):
        compute, corner = one.compute, ridge(one.memory, one.compute)
        is_same = compute and compute.unit and [compute.unit] == [roof.unit for roof in main]
        name = f"{one.name}, {compute.label}" if compute and is_same else one.name
        at = "" if corner is None else f", ridge {significant(10.0 ** corner[0])} FLOP/B"
        entries.append({"text": f"{name}{at}", "token": token, "dash": dash})
    return entries


def _own_roof(axes: tuple[Range, Range]) -> list[Json]:
    """The roofs of all ops as one line, at a share of 1."""
    (low, high), _ = axes
    drawn = line(_OWN_ROOF, [(low - 3, 0), (high + 3, 0)], role="roof", token="--ink", width=2)
    return [{**drawn, "uid": "roof-own"}]


def _texts(
    rows: Rows,
    chart: RoofChart,
    marks: Sequence[Mark],
    own: OwnCeilings | None,
    star: Place | None,
    choice: ChartChoice,
) -> list[Json]:
    """Names of roofs and of the longest ops, for both widths; of a selected op its own alone."""
    if own is not None:  # the others are faint, and may lie below a name
        marks = [mark for mark in marks if mark.row == own.row]
    discs = [(mark.at, mark.size / 2) for mark in marks]
    traces = []
    for width in PLOTS:
        stars = [(star, _STAR_SIZE / 2)] if star else []
        namer = Namer(chart, width, [*discs, *stars], choice.plots)
        names = namer.roofs()
        if choice.is_share:
            spot = Spot(x=namer.scale.width - 3, y=namer.scale.to_y(0), position="top left")
            names += namer.name([spot], _OWN_ROOF, "--ink")
        traces.append(names_trace(names, width))
        traces += _op_names(rows, namer, marks, star, own, choice)
    return traces


def _op_names(
    rows: Rows,
    namer: Namer,
    marks: Sequence[Mark],
    star: Place | None,
    own: OwnCeilings | None,
    choice: ChartChoice,
) -> Iterator[Json]:
    """Names beside the longest ops that have room for one, of clocks, and of the program.

    On paper a name without room beside its mark may stand away from it, at the end of a line.
    """
    paper = choice.paper
    most = paper.named if paper else _MOST_NAMES[namer.width]
    worst = _WORST_OWN if own else _WORST_NAME
    scale = namer.scale
    first = {mark.row: mark for mark in reversed(marks)}  # of joined levels there are several
    worth = [
        mark
        for mark in marks
        if first[mark.row] is mark
        and mark.edge is None
        and (rows.shares[mark.row] > _LEAST_SHARE or len(marks) == 1)
    ][: 2 * most]
    found: list[tuple[Name, float, int | None]] = []
    if star is not None and paper is None and _is_inside(star, scale):  # a key names it on paper
        spots = _around(namer, star, _STAR_SIZE / 2)
        found += [
            (name, _STAR_SIZE, None)
            for name in namer.name(spots, "program", "--ink", _NAME_SIZE, _WORST_NAME)
        ]
    leaders: list[Segment] = []
    texts = told_apart([_name(rows, mark.row) for mark in worth], _NAME_LETTERS)
    for mark, text in zip(worth, texts, strict=True):
        if len(found) >= most:
            break
        op = rows.ops[mark.row]
        spots = _around(namer, mark.at, mark.size / 2)
        beside = [*namer.name(spots, inert(text), "--ink-2", _NAME_SIZE, worst)]
        found += [(name, mark.size, op) for name in beside]
        away = led(namer, mark, text, worst) if paper and not beside else None
        if away is not None:
            name, leader, radius = away
            found.append((name, 2 * radius, op))
            leaders.append(leader)
    for clock in own.clocks if own else ():
        spots = _around(namer, own.place(clock), CLOCK_SIZE / 2) if own else []
        found += [
            (name, CLOCK_SIZE, None)
            for name in namer.name(spots, clock.text, clock.roof.token, _NAME_SIZE, _WORST_OWN)
        ]
    labels = labels_trace([(name, size) for name, size, _ in found], namer.width)
    yield {**labels, "customdata": [op for _, _, op in found]}
    if leaders:
        yield leaders_trace(leaders, namer)


def _is_inside(at: Place, scale: Scale) -> bool:
    return scale.x[0] < at[0] < scale.x[1] and scale.y[0] < at[1] < scale.y[1]


def _around(namer: Namer, at: Place, radius: float) -> list[Spot]:
    scale = namer.scale
    return [
        Spot(x=scale.to_x(at[0]), y=scale.to_y(at[1]), position=position, radius=radius)
        for position in POSITIONS
    ]


def _name(rows: Rows, row: int) -> tuple[str, Sequence[str]]:
    op = rows.ops[row]
    names = rows.page["ops"]["names"]
    return names["short"][op] or rows.page["ops"]["columns"]["name"][op] or "", names["chips"][op]


def _layout(rows: Rows, chart: RoofChart, choice: ChartChoice, width: Width) -> Json:
    unit = f"FLOP per byte of {_axis_label(rows, choice)}"
    plot = choice.plots[width]
    title = f"Operational intensity, {unit}" if plot[0] > PLOTS["narrow"][0] else unit
    y_text = _share_tick if choice.is_share else rate_tick
    axes = roof_axes(chart, plot, title, y_text=y_text)
    revision = f"{choice.x} {choice.y} {choice.zoom}"
    found = layout(
        choice.paper.margin if choice.paper else MARGINS[width],
        *axes,
        region_shapes(chart),
        revision,
    )
    return with_legend(found) if choice.has_key else found


def _axis_label(rows: Rows, choice: ChartChoice) -> str:
    axes = rows.page["x_axes"]
    label: str = next((one for one in axes if one["id"] == choice.x), axes[0])["label"]
    return inert(label)


def _share_tick(value: float) -> str:
    return percent(value, 1 if value < 0.01 else 0)


def _note(rows: Rows, places: Sequence[Place | None]) -> str:
    """How many ops have no place on a roofline, and which roofs are not known."""
    costs = [cost for cost, at in zip(rows.column("cost"), places, strict=True) if at is None]
    without = sum(cost in _NO_ARITHMETIC for cost in costs)
    unknown = sum(cost in _UNKNOWN for cost in costs)
    left = [f"{counted(without, 'operation')} without arithmetic"] if without else []
    if unknown:
        left.append(f"{count(unknown) if left else counted(unknown, 'operation')} of unknown cost")
    said = [f"{', '.join(left)}: above only"] if left else []
    if not rows.page["roofs"]["compute"] and not rows.page["roofs"]["memory"]:
        said.append("no peak known: no roofs")
    elif unheld := sum(rows.is_unheld):
        said.append(f"{count(unheld)} on a compute unit without a known peak")
    return "; ".join(said)


def _alt(rows: Rows, drawn: int, star: Place | None, choice: ChartChoice) -> str:
    """What the chart shows, in words."""
    said = f"Roofline of operations: {count(drawn)} of {count(len(rows))} have a place."
    if star is None or choice.is_share:
        return said
    rate, at = flop_rate(10.0 ** star[1]), intensity(10.0 ** star[0])
    return f"{said} The program does {rate} at {at}."


_SHORTEST = 8  # of a name beside its chips


def told_apart(names: Sequence[tuple[str, Sequence[str]]], width: int) -> list[str]:
    """Short names with their chips, in about `width` characters.

    Twins have the chips that not all of them have, else a number. A chip is never cut: half a shape
    would be another shape.
    """
    alike: dict[str, list[Sequence[str]]] = defaultdict(list)
    for short, chips in names:
        alike[short].append(chips)
    met: Counter[str] = Counter()
    result = []
    for short, chips in names:
        own = " ".join(chip for chip in chips if not all(chip in twin for twin in alike[short]))
        cut = middle_cut(short, max(width - len(own), _SHORTEST))
        text = f"{cut} {own}" if own else cut
        met[text] += 1
        result.append(f"{text} {met[text]}" if met[text] > 1 else text)
    return result

"""A run of hosts as figures: its steps, and the roofline of its median host."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log10, sqrt
from typing import Any

from roofline.figures.figure import (
    PLOTS,
    Figure,
    Json,
    Width,
    inert,
    layout,
    line,
    linear_axis,
    numbered,
    trace,
)
from roofline.figures.roofs import Roof, Roofs, ridge
from roofline.figures.scale import (
    Margin,
    Place,
    Range,
    around,
    linear_ticks,
    spread,
    with_headroom,
)
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.charts.roof_traces import (
    Namer,
    RoofChart,
    names_trace,
    roof_axes,
    roof_layout,
    roof_traces,
)
from roofline.presentation.quantities import count, duration

Row = Mapping[str, Any]

_LOOKS = (
    ("--bad", "circle"),
    ("--c4", "diamond"),
    ("--c5", "square"),
    ("--c3", "triangle-up"),
)
_OTHER = ("--ink-2", "circle")
MOST_CRITICAL = len(_LOOKS)
"""Hosts that have a colour and a shape of their own in the chart of steps."""
_STEPS = Margin(left=78, right=14, top=12, bottom=26)
_PLOTS: dict[Width, tuple[float, float]] = {"wide": PLOTS["wide"], "narrow": (240.0, 300.0)}
_ROOFLINE = Margin(left=84, right=14, top=10, bottom=42)
_LETTER = 9  # pixels of a step's name
_LONGEST_STEP = 12
_LEAST_DIAMETER, _LARGEST_DIAMETER = 4.8, 30.0
_COVERED = 6.0  # pixels: no larger mark keeps a name away
_P95_FROM = 0.25  # of the longest time: rings of short ops would cover each other
_EMPTY: tuple[Range, Range] = ((0.0, 2.0), (0.0, 4.0))


def critical_hosts(steps: Sequence[Row]) -> list[tuple[str, int]]:
    """The hosts that are the slowest of a step most often, and of how many steps."""
    counts = Counter(one["critical_host"] for one in steps)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], str(one[0])))
    return ordered[:MOST_CRITICAL]


def steps_figure(steps: Sequence[Row], hosts: Sequence[str]) -> Figure:
    """Length of each step, and work in it: least to p95, the median, up to its critical host.

    Work is the sum of operations, some of which overlap: it can be more than the step is long.

    The `customdata` of a mark is the index of that host among `hosts`.
    """
    columns = {
        name: [one[f"{name}_work_us"] for one in steps] for name in ("min", "median", "p95", "max")
    }
    places = [*range(len(steps))]
    band = trace(
        "hosts",
        [*places, *reversed(places)],
        [*columns["p95"], *reversed(columns["min"])],
        role="band",
        fill="toself",
        fillcolor="--accent-soft",
        line={"width": 0},
    )
    middle = trace(
        "median", places, columns["median"], role="median", line={"color": "--accent", "width": 2}
    )
    lasted = [one["max_us"] for one in steps]
    length = trace(
        "step", places, lasted, role="length", line={"color": "--ink", "width": 1.6}, mode="lines"
    )
    if len(steps) == 1:  # a line of one point is not seen
        length |= {"x": [-0.3, 0.3], "y": [*lasted, *lasted]}
    bounds = around([*columns["min"], *columns["max"], *lasted], 0.08)
    ticks = linear_ticks(*bounds) if steps else []
    digits = _digits(ticks)
    return {
        "id": "steps",
        "data": numbered([band, middle, length, *_critical(steps, hosts)] if steps else []),
        "layouts": {
            width: {
                **layout(
                    _STEPS,
                    {
                        **linear_axis(
                            (-0.5, len(steps) - 0.5),
                            _named(steps, across),
                            lambda at: inert(str(steps[round(at)]["step"])[-_LONGEST_STEP:]),
                        ),
                        "showgrid": False,
                    },
                    linear_axis(bounds, ticks, lambda us: duration(us, digits)),
                    [],
                    "steps",
                ),
                "dragmode": False,
            }
            for width, (across, _) in PLOTS.items()
        },
        "marks": "host",
        "beyond": {},
        "legend": [],
        "alt": _steps_alt(steps),
    }


def _critical(steps: Sequence[Row], hosts: Sequence[str]) -> list[Json]:
    """A line from p95 up to the slowest host of each step, in the look of that host."""
    looks = dict(zip((name for name, _ in critical_hosts(steps)), _LOOKS, strict=False))
    indices = {name: at for at, name in enumerate(hosts)}
    found = []
    for look in (*_LOOKS, _OTHER):
        token, symbol = look
        own = [k for k, one in enumerate(steps) if looks.get(one["critical_host"], _OTHER) == look]
        ends = [(k, steps[k][f"{name}_work_us"]) for k in own for name in ("p95", "max")]
        xs = [x for pair in zip(ends[::2], ends[1::2], strict=True) for x, _ in pair]
        ys = [y for pair in zip(ends[::2], ends[1::2], strict=True) for _, y in pair]
        found += [
            trace(
                "slowest",
                _gapped(xs),
                _gapped(ys),
                role="reach",
                line={"color": token, "width": 1.4},
            ),
            trace(
                "critical host",
                own,
                [steps[k]["max_work_us"] for k in own],
                role="marks",
                mode="markers",
                customdata=[indices.get(steps[k]["critical_host"]) for k in own],
                hovertext=[
                    inert(f"Step {steps[k]['step']}: {steps[k]['critical_host']}, ")
                    + f"{duration(steps[k]['max_work_us'])} of work"
                    for k in own
                ],
                hoverinfo="text",
                marker={"color": token, "symbol": symbol, "size": 8},
            ),
        ]
    return found


def _gapped(ends: Sequence[float]) -> list[float | None]:
    """Pairs of ends, with a gap after each."""
    return [one for a, b in zip(ends[::2], ends[1::2], strict=True) for one in (a, b, None)]


def _named(steps: Sequence[Row], across: float) -> list[float]:
    """Places of the steps whose names fit beside each other in so many pixels."""
    longest = max((len(str(one["step"])) for one in steps), default=1)
    most = max(1, int(across // (min(_LONGEST_STEP, longest) * _LETTER)))
    every = -(-len(steps) // most) or 1
    return [float(at) for at in range(0, len(steps), every)]


def _digits(ticks: Sequence[float]) -> int:
    """Digits with which neighbouring ticks differ, at least three."""
    if len(ticks) < 2:
        return 3
    return max(3, int(log10(ticks[-1])) - int(log10(ticks[1] - ticks[0])) + 1)


def _steps_alt(steps: Sequence[Row]) -> str:
    if not steps:
        return "No steps that all hosts share: the capture counts as one."
    named = ", ".join(f"{name} in {times}" for name, times in critical_hosts(steps))
    return (
        f"Length of {count(len(steps))} steps, and work over hosts. Critical hosts: {named}. "
        "The table has the same values."
    )


# ------------------------------------------------------------------------------------- roofline


def run_roofline_figure(ops: Sequence[Row], peaks: Row, styles: Mapping[str, Row]) -> Figure:
    """The ops on the median host, each with a line down to the slowest; a ring is at p95.

    The `customdata` of a mark is the place of its op in `ops`. `peaks` are those of `roofs_of`.
    """
    known = [
        (at, one)
        for at, one in enumerate(ops)
        if one["flop"] and one["bytes"] and one["median_us"] and one["max_us"] and one["p95_us"]
    ]
    known.sort(key=lambda one: -one[1]["median_us"])
    longest = known[0][1]["median_us"] if known else 0.0
    chart = _chart([one for _, one in known], peaks)
    sizes = [
        max(_LEAST_DIAMETER, _LARGEST_DIAMETER * sqrt(one["median_us"] / longest))
        for _, one in known
    ]
    medians = [_place(one, "median_us") for _, one in known]
    slowest = [_place(one, "max_us") for _, one in known]
    spreads = [end for ends in zip(medians, slowest, strict=True) for end in ends]
    p95 = [_place(one, "p95_us") for _, one in known if one["median_us"] > _P95_FROM * longest]
    looks = [styles[one["category"]] for _, one in known]
    marks = line(
        "operations",
        medians,
        role="marks",
        token="--ink",
        mode="markers",
        hoverinfo="none",
        customdata=[at for at, _ in known],
        marker={
            "size": sizes,
            "symbol": [look["symbol"] for look in looks],
            "color": [look["token"] for look in looks],
            "line": {"color": "--halo", "width": 1},
        },
    )
    rings = line(
        "p95",
        p95,
        role="p95",
        token="--ink",
        mode="markers",
        marker={"size": 5, "color": "--surface", "line": {"color": "--ink-2", "width": 1.4}},
    )
    reach = line("median to slowest", spreads, role="reach", token="--ink-2", width=1.6)
    reach |= {"x": _gapped(reach["x"]), "y": _gapped(reach["y"])}
    # A name may cover a part of a mark, but no roof is without its name.
    placed = [(at, min(size / 2, _COVERED)) for at, size in zip(medians, sizes, strict=True)]
    names = [names_trace(Namer(chart, width, placed, _PLOTS).roofs(), width) for width in PLOTS]
    return {
        "id": "run",
        "data": numbered([*roof_traces(chart), reach, marks, rings, *names]),
        "layouts": {
            width: roof_layout(
                chart,
                roof_axes(chart, _PLOTS[width], "FLOP per byte of all memories"),
                _ROOFLINE,
                "run",
            )
            for width in PLOTS
        },
        "marks": "op",
        "beyond": {},
        "legend": [],
        "alt": f"Roofline of the median host with {count(len(known))} operations; the table below "
        "has the same values",
    }


def _place(op: Row, time: str) -> Place:
    """log10 of FLOP/byte and GFLOP/s at one of the op's times, in us."""
    return log10(op["flop"] / op["bytes"]), log10(op["flop"] / op[time] * US_PER_S / GIGA)


def _chart(ops: Sequence[Row], peaks: Row) -> RoofChart:
    memory = _roof("memory", peaks["memory"], peaks["gbs"], "--roof-hbm")
    compute = _roof("compute", peaks["unit"], peaks["gflops"], "--roof-compute")
    corner = ridge(memory, compute)
    places = [_place(one, time) for one in ops for time in ("median_us", "max_us")]
    if corner is not None:
        places += [(corner[0] - 0.4, corner[1] - 2), (corner[0] + 0.9, corner[1])]
    x, y = _EMPTY
    if places:
        x = spread((at for at, _ in places), (0.25, 0.25), 2)
        y = spread((at for _, at in places), (0.3, 0.3), 2)
    if corner is not None:
        y = with_headroom(y, corner[1], 0.14)
    roofs = Roofs(
        memory=(memory,) if memory and corner else (),
        compute=(compute,) if compute and corner else (),
    )
    return RoofChart(x=x, y=y, shown=roofs, main=memory, flat=compute, is_bare=True)


def _roof(kind: str, label: str | None, peak: float | None, token: str) -> Roof | None:
    if peak is None:
        return None
    return Roof(id=kind, label=label or "", peak=peak, token=token, dash="solid")

"""The strip of links as a figure: a lane per link, its transfers by their share of its peak."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.figures.figure import (
    PLOTS,
    Figure,
    Json,
    inert,
    layout,
    linear_axis,
    numbered,
)
from roofline.figures.scale import Margin
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.marks import mark_size, marks_trace
from roofline.presentation.page_rows import EFFICIENCY, Page, Rows
from roofline.presentation.quantities import count, counted, duration, peak_bandwidth, percent

LANE = 46
"""Pixels of the height of a lane; the style sheet gives the box its height."""
_MOST, _END = 1.12, 1.15  # shares of the peak: the last place of a mark, and the end of the axis
_MARGIN = Margin(left=96, right=14, top=4, bottom=24)
_TICKS = (0, 0.25, 0.5, 0.75, 1)
_LARGEST, _EQUAL = 26.0, 8.0
_SPOT = 0.012  # of the axis: marks that are nearer than this lie above each other
_APART = 6.0  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A link with the rows of its transfers in the view; `drawn` are those with a known share."""

    level: Mapping[str, Any]
    peak: float
    rows: tuple[int, ...]
    drawn: tuple[int, ...]


def transfers_of(rows: Rows) -> list[int]:
    """Rows of the transfers, each at the op that waits for it."""
    costs, starts = rows.column("cost"), rows.column("is_start")
    return [i for i in range(len(rows)) if costs[i] == "transfer" and not starts[i]]


def lanes_of(rows: Rows) -> list[Lane]:
    """The links with a peak of which a transfer has a known share of it."""
    links, shares = rows.column("link"), rows.column(EFFICIENCY)
    peaks = {roof["id"]: roof["gbs"] for roof in rows.page["roofs"]["memory"]}
    lanes = []
    for level in rows.page["levels"]:
        own = tuple(i for i in transfers_of(rows) if links[i] == level["id"])
        drawn = tuple(i for i in own if shares[i] is not None)
        if level["is_link"] and level["id"] in peaks and drawn:
            lanes.append(Lane(level=level, peak=peaks[level["id"]], rows=own, drawn=drawn))
    return lanes


def link_figure(page: Page, choice: ChartChoice | None = None) -> Figure:
    """The transfers of `page`, whose ops are the `customdata` of the marks; empty without any."""
    choice = choice or ChartChoice()
    rows = Rows(page, choice.infeed)
    lanes = lanes_of(rows)
    far = [rows.ops[i] for lane in lanes for i in lane.drawn if _share(rows, i) > _MOST]
    note = _note(rows, lanes, len(far))
    return {
        "id": "links",
        "data": numbered([_marks(rows, lane, k, choice) for k, lane in enumerate(lanes)]),
        "layouts": dict.fromkeys(PLOTS, _layout(lanes)),
        "marks": "op",
        "beyond": {"right": far} if far else {},
        "legend": [],
        "note": note,
        "alt": f"Transfers by share of the peak of their link. {note}.",
    }


def _share(rows: Rows, row: int) -> float:
    share: float = rows.column(EFFICIENCY)[row]
    return share


def _note(rows: Rows, lanes: Sequence[Lane], far: int) -> str:
    """How many transfers there are, their exposed time, and what is not drawn."""
    every = transfers_of(rows)
    if not every:
        return ""
    times, device = rows.column("exposed_us"), rows.page["device"]
    word = "core" if device["core_word"] == "TensorCore" else device["core_word"]
    exposed = [times[i] for i in every if times[i] is not None]
    least = "≥ " if len(exposed) < len(every) else ""
    time = duration(sum(exposed) / max(1, device["cores"]))
    missing = len(every) - sum(len(lane.drawn) for lane in lanes)
    parts = [
        counted(len(every), "transfer"),
        f"{least}{time} exposed per {word}" if exposed else "",
        f"{count(far)} off scale ▷" if far else "",
        f"{count(missing)} without a known share of the peak" if missing else "",
    ]
    return " · ".join(filter(None, parts))


def _marks(rows: Rows, lane: Lane, number: int, choice: ChartChoice) -> Json:
    shares = rows.column(EFFICIENCY)
    drawn = sorted(lane.drawn, key=lambda i: -rows.shares[i])
    symbols = [str(rows.categories[i]["symbol"]) for i in drawn]
    token = lane.level["token"]
    return {
        **marks_trace(lane.level["label"], [rows.ops[i] for i in drawn], f"marks-link-{number}"),
        "x": [min(shares[i], _MOST) for i in drawn],
        "y": [-number - 0.5 + at for at in _offsets([shares[i] for i in drawn])],
        "marker": {
            "symbol": [
                "triangle-right-open" if shares[i] > _MOST else symbol
                for i, symbol in zip(drawn, symbols, strict=True)
            ],
            "size": [
                _EQUAL if choice.size == "equal" else mark_size(rows.shares[i], symbol, _LARGEST)
                for i, symbol in zip(drawn, symbols, strict=True)
            ],
            "color": token,
            "opacity": 0.85,
            "line": {"color": "--halo", "width": 1},
        },
    }


def _offsets(shares: Sequence[float]) -> Iterator[float]:
    """Marks of one place fan out above and below it; as parts of a lane, within 0.4 of it."""
    met: Counter[int] = Counter()
    for share in shares:
        spot = round(min(share, _MOST) / _SPOT)
        turn = met[spot]
        met[spot] += 1
        away = (turn + 1) // 2 * _APART / LANE
        yield (1 if turn % 2 else -1) * (away % 0.4)


def _layout(lanes: Sequence[Lane]) -> Json:
    names = {
        -number - 0.5: f"{inert(lane.level['label'])}<br>{peak_bandwidth(lane.peak)}"
        for number, lane in enumerate(lanes)
    }
    xaxis = linear_axis((0.0, _END), _TICKS, lambda share: percent(share, 0))
    yaxis = linear_axis((-float(len(lanes) or 1), 0.0), list(names), names.__getitem__)
    shapes = [shape for number, lane in enumerate(lanes) for shape in _shapes(lane, number)]
    whole = layout(_MARGIN, xaxis, {**yaxis, "showgrid": False}, shapes, "links")
    return {**whole, "dragmode": False}


def _shapes(lane: Lane, number: int) -> Iterator[Json]:
    """The peak of a lane, and the line below the lane above."""
    ends = {"y0": -number - 0.04, "y1": -number - 0.96}
    yield _line(ends | {"x0": 1, "x1": 1}, lane.level["token"], 2)
    if number:
        yield _line({"x0": 0, "x1": _END, "y0": -number, "y1": -number}, "--grid", 1)


def _line(ends: Json, token: str, width: int) -> Json:
    line = {"color": token, "width": width}
    return {"type": "line", "layer": "below", "line": line, **ends}

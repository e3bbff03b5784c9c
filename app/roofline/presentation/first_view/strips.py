"""The strips below the chart of operations in words: transfers by link, ops without known FLOPs.

The script draws them; as `link-places.js` and `no-flops-places.js`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.model.units import gib_to_gb
from roofline.presentation.charts.shown_roofs import log_places
from roofline.presentation.page_rows import EFFICIENCY, RATE, Rows
from roofline.presentation.quantities import count, duration, percent

_LINK_MOST = 1.12  # share of the peak at the end of the axis
_EDGE_INSET = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A strip: the words above it, and the roof that it is read against."""

    note: str  # empty: there is nothing to say
    lanes: int = 1
    is_empty: bool = False
    roof: str = ""
    roof_token: str = ""


def link_strip(rows: Rows) -> Strip | None:
    """A lane per link that has transfers to draw, or no peak; `None` without any transfer."""
    every = _lanes(rows)
    if not every:
        return None
    lanes = [lane for lane in every if lane.drawn or lane.peak is None]
    return Strip(note=_link_note(rows, every), lanes=len(lanes) or 1, is_empty=not lanes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lane:
    peak: float | None
    rows: tuple[int, ...]
    drawn: tuple[int, ...]


def _lanes(rows: Rows) -> list[_Lane]:
    page, links = rows.page, rows.column("link")
    starts, costs = rows.column("is_start"), rows.column("cost")
    moving = [i for i in range(len(rows)) if costs[i] == "transfer" and not starts[i]]
    peaks = {roof["id"]: roof["gbs"] for roof in page["roofs"]["memory"]}
    known = [level for level in page["levels"] if level["is_link"] and level["is_shown"]]
    shares = rows.column(EFFICIENCY)
    lanes = []
    for link in [*(level["id"] for level in known), None]:
        found = tuple(i for i in moving if links[i] == link)
        peak = peaks.get(link)
        drawn = tuple(i for i in found if shares[i] is not None) if peak is not None else ()
        if found:
            lanes.append(_Lane(peak=peak, rows=found, drawn=drawn))
    return lanes


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


def no_flops_strip(rows: Rows) -> Strip:
    """Ops without a place on the chart, by achieved bandwidth of the outermost level."""
    level, peak = _level(rows)
    without, placeless = _off_chart(rows)
    rates = _bandwidths(rows, level)
    moving = [rates[i] for i in without if rates[i] > 0]
    return Strip(
        note=_strip_note(rows, without, placeless, _places(moving, peak)),
        is_empty=not moving,
        roof="" if peak is None else f"{level['label']} peak",
        roof_token="" if peak is None else str(level["token"]),
    )


def _places(rates: Sequence[float], peak: float | None) -> list[float]:
    """Where rates lie on the axis: 1 is its end."""
    logs = [math.log10(rate) for rate in rates]
    high = math.log10(peak * 2) if peak else max(1.0, *logs, 1.0) + 0.1
    low = max(min([high - 2, *logs]) - 0.1, high - 4)
    return [(value - low) / (high - low) for value in logs]


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


def _strip_note(
    rows: Rows, without: Sequence[int], placeless: Sequence[int], places: Sequence[float]
) -> str:
    above = sum(place > 1 - _EDGE_INSET for place in places)
    if not without and not placeless:
        return ""
    unknown, axis = len(without) - len(places), rows.page["x_axes"][0]["label"]
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

"""The strip of transfers in words; the script draws it, as `link-places.js`."""

from collections.abc import Sequence
from dataclasses import dataclass

from roofline.presentation.page_rows import EFFICIENCY, Rows
from roofline.presentation.quantities import count, duration

_LINK_MOST = 1.12  # share of the peak at the end of the axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The words above the strip, and how many lanes it has."""

    note: str
    lanes: int
    is_empty: bool


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

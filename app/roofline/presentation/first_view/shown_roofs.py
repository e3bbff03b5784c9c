"""Which roofs the charts draw: those that hold some operation."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from roofline.figures.roofs import Roof, Roofs
from roofline.presentation.page_rows import EFFICIENCY, RATE, Page, Rows


def shown_roofs(rows: Rows) -> Roofs:
    """Roofs in use, as both charts draw them."""
    page = rows.page
    levels = _levels_in_use(rows)
    compute, is_unheld = _compute_in_use(rows)
    every = all_roofs(page)
    memory = tuple(roof for roof in every.memory if roof.id in levels)
    kept = (i in compute or (i == 0 and not is_unheld) for i in range(len(every.compute)))
    return Roofs(
        memory=memory or every.memory[:1],
        compute=tuple(roof for roof, is_kept in zip(every.compute, kept, strict=True) if is_kept),
    )


def all_roofs(page: Page) -> Roofs:
    """Every known peak."""
    roofs = page["roofs"]
    return Roofs(
        memory=tuple(_roof(roof, "gbs") for roof in roofs["memory"]),
        compute=tuple(_roof(roof, "gflops") for roof in roofs["compute"]),
    )


def _roof(roof: Mapping[str, Any], peak: str) -> Roof:
    sustained = roof["sustained"]
    return Roof(
        id=roof["id"],
        label=roof["label"],
        peak=roof[peak],
        token=roof["token"],
        dash=roof["dash"],
        sustained=None if sustained is None else sustained["ratio"],
    )


def _levels_in_use(rows: Rows) -> set[str]:
    """Levels that bind an op that is in the chart; one that a link binds needs a rate for that."""
    links = {level["id"] for level in rows.page["levels"] if level["is_link"] and level["is_shown"]}
    found = set()
    columns = (rows.bounds, rows.numbers(RATE), rows.column(EFFICIENCY))
    for bound, rate, share in zip(*columns, strict=True):
        level = bound.get("level")
        if level is not None and (level not in links or (rate > 0 and share is not None)):
            found.add(level)
    return found


def _compute_in_use(rows: Rows) -> tuple[set[int], bool]:
    """Compute roofs that ops are held against; whether all FLOPs ran on units without a peak."""
    found = {unit for unit in rows.column("compute_unit") if unit is not None}
    return found, any(rows.is_unheld) and not found


def log_places(
    intensities: Sequence[float | None], rates: Sequence[float | None]
) -> list[tuple[float, float] | None]:
    """log10 places; `None` without FLOPs or bytes, or where one of them is not known."""
    return [
        (math.log10(x), math.log10(y)) if x is not None and y is not None and x > 0 < y else None
        for x, y in zip(intensities, rates, strict=True)
    ]

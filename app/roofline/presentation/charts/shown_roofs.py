"""Which roofs the charts draw: those that hold some operation, all of them, or none."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from roofline.figures.roofs import Roof, Roofs
from roofline.figures.scale import Place
from roofline.presentation.charts.choices import JOINED, ChartChoice
from roofline.presentation.page_rows import EFFICIENCY, RATE, Page, Rows


def shown_roofs(rows: Rows, choice: ChartChoice) -> Roofs:
    """The roofs that a chart draws; `choice.x` is the axis that it is drawn over."""
    every = all_roofs(rows.page)
    if choice.roofs == "none":
        return Roofs()
    chosen = [roof for roof in every.compute if _key(every, roof) == choice.prec]
    if choice.roofs == "all":
        return Roofs(memory=every.memory, compute=tuple(chosen[:1]) or every.compute)
    levels = _levels_in_use(rows)
    memory = tuple(
        roof for roof in every.memory if roof.id in levels or choice.x in (roof.id, JOINED)
    )
    return Roofs(
        memory=memory or every.memory[:1],
        compute=tuple(chosen[:1]) or _compute_in_use(rows, every),
    )


def _key(every: Roofs, roof: Roof) -> str:
    """The name of a compute roof in the address: that of its unit, "compute" for the main one."""
    return roof.unit if roof is not every.compute[0] and roof.unit else "compute"


def all_roofs(page: Page) -> Roofs:
    """Every known peak."""
    roofs = page["roofs"]
    return Roofs(
        memory=tuple(roof_of(roof, "gbs") for roof in roofs["memory"]),
        compute=tuple(roof_of(roof, "gflops") for roof in roofs["compute"]),
    )


def roof_of(roof: Mapping[str, Any], peak: str) -> Roof:
    """A roof of the page data; `peak` is the key of its rate."""
    sustained = roof["sustained"]
    return Roof(
        id=roof["id"],
        unit=roof.get("unit"),
        label=roof["label"],
        peak=roof[peak],
        token=roof["token"],
        dash=roof["dash"],
        sustained=None if sustained is None else sustained["ratio"],
    )


def _levels_in_use(rows: Rows) -> set[str]:
    """Levels that bind an op that is in the chart; one that a link binds needs a rate for that."""
    links = {level["id"] for level in rows.page["levels"] if level["is_link"] and level["is_shown"]}
    columns = (rows.bounds, rows.numbers(RATE), rows.column(EFFICIENCY))
    return {
        bound["level"]
        for bound, rate, share in zip(*columns, strict=True)
        if "level" in bound and (bound["level"] not in links or (rate > 0 and share is not None))
    }


def _compute_in_use(rows: Rows, every: Roofs) -> tuple[Roof, ...]:
    """Roofs that ops are held against; the main one, too, unless all FLOPs ran on units without."""
    units = {unit for unit in rows.column("compute_unit") if unit is not None}
    is_unheld = any(rows.is_unheld) and not units
    return tuple(
        roof
        for number, roof in enumerate(every.compute)
        if number in units or (number == 0 and not is_unheld)
    )


def main_memory(memory: Sequence[Roof], axis: str) -> Roof | None:
    """The roof that distances are read against: the axis's own, else the outermost."""
    own = [roof for roof in memory if roof.id == axis]
    return next(iter([*own, *memory]), None)


def log_places(
    intensities: Sequence[float | None], rates: Sequence[float | None]
) -> list[Place | None]:
    """log10 places; `None` without FLOPs or bytes, or where one of them is not known."""
    return [
        (math.log10(x), math.log10(y)) if x is not None and y is not None and x > 0 < y else None
        for x, y in zip(intensities, rates, strict=True)
    ]

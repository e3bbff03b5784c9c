"""Which roofs the charts draw: those that hold some operation, all of them, or none.

Beside them stand those of other devices: the main memory, and the unit that counts.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from roofline.devices.choice import known_part
from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.figures.figure import inert
from roofline.figures.roofs import Roof, Roofs
from roofline.figures.scale import Place
from roofline.presentation.charts.choices import ChartChoice, OtherRoofs
from roofline.presentation.page_rows import JOINED, RATE, Page, Rows

MOST_DEVICES = 4
_LEAST_OF_TIME = 0.03  # of the time of ops with a rate: what binds less has no roof drawn
_LEAST = 1e-9


def shown_roofs(rows: Rows, choice: ChartChoice) -> Roofs:
    """The roofs that a chart draws; `choice.x` is the axis that it is drawn over."""
    every = all_roofs(rows.page)
    if choice.roofs == "none":
        return Roofs()
    chosen = [roof for roof in every.compute if _key(every, roof) == choice.prec]
    if choice.roofs == "all":
        return Roofs(memory=every.memory, compute=tuple(chosen[:1]) or every.compute)
    levels, units = _in_use(rows)
    if choice.x == JOINED:
        levels |= {one["id"] for one in rows.page["levels"] if not one["is_link"]}
    return Roofs(
        memory=tuple(one for one in every.memory if one.id in levels or one.id == choice.x)
        or every.memory[:1],
        compute=tuple(chosen[:1])
        or tuple(one for number, one in enumerate(every.compute) if number in units),
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


def _in_use(rows: Rows) -> tuple[set[str], set[int]]:
    """Ids of levels, and places of compute roofs, that are worth a line in the chart.

    They bind enough of the time of the ops with a rate, or the longest of these; a unit does where
    ops ran on it. The main memory is among them, and the main unit where no other is.
    """
    levels: dict[str, float] = defaultdict(float)
    units: dict[int, float] = defaultdict(float)
    columns = (rows.numbers(RATE), rows.bounds, rows.column("compute_unit"), rows.is_unheld)
    shares = [share or _LEAST for share in rows.shares]  # some profiles have rates and no times
    for share, rate, bound, unit, is_unheld in zip(shares, *columns, strict=True):
        if rate > 0:
            levels[bound.get("level", "")] += share
            units[-1 if is_unheld else unit or 0] += share
    main = {level["id"] for level in rows.page["levels"] if level["is_main"]}
    return main | _most_used(levels), _most_used(units) or {0}


def _most_used(shares: Mapping[Any, float]) -> set[Any]:
    least = _LEAST_OF_TIME * sum(shares.values())
    return {key for key, share in shares.items() if share >= least}


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


def with_others(page: Page, choice: ChartChoice, ids: Sequence[str]) -> ChartChoice:
    """The choice with the roofs of these parts; unknown ones are left out."""
    main = next((roof["unit"] for roof in page["roofs"]["compute"]), None)
    parts = [part for name in ids if (part := _part(name)) is not None]
    return replace(choice, others=tuple(_roofs(part, main) for part in parts[:MOST_DEVICES]))


def _part(name: str) -> Part | None:
    try:
        return known_part(name)
    except BadViewError:
        return None


def _roofs(part: Part, main_unit: str | None) -> OtherRoofs:
    """Compute is the unit that is the main one of the profile, else the part's own main one."""
    memory = next((one for one in part.memory() if one.level.is_main), None)
    units = part.compute()
    compute = next((one for one in units if one.unit.value == main_unit), next(iter(units), None))
    return OtherRoofs(
        name=inert(part.name),
        memory=None if memory is None else _roof(memory.level.value, memory.gbs),
        compute=None
        if compute is None
        else replace(_roof(compute.unit.value, compute.gflops), label=compute.label),
    )


def _roof(key: str, peak: float) -> Roof:
    return Roof(id=key, unit=key, label="", peak=peak, token="", dash="")

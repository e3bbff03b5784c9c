"""Roofs of other devices beside those of a profile: the main memory, and the unit that counts."""

from collections.abc import Sequence
from dataclasses import replace

from roofline.devices.choice import known_part
from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.figures.figure import inert
from roofline.figures.roofs import Roof
from roofline.presentation.charts.choices import ChartChoice, OtherRoofs
from roofline.presentation.page_rows import Page

MOST_DEVICES = 4


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

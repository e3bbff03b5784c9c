"""Figures that follow from an architecture: what one processor does per cycle, times both."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from roofline.devices.parts import CLOCK, PROCESSORS, Figure, FigureStatus, Source
from roofline.model.compute import ComputeUnit
from roofline.model.units import GIGA

_UNITS = {unit.value for unit in ComputeUnit}


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The rates of one processor (an SM) per cycle: FLOP by unit, bytes by memory level.

    A rate of 0 is a unit that the architecture lacks; `notes` say more of single rates.
    """

    rates: Mapping[str, int]
    source: Source
    notes: Mapping[str, str] = field(default_factory=dict)


def derived_figures(architecture: Architecture, stated: tuple[Figure, ...]) -> Iterator[Figure]:
    """Rates that `stated`, a part's own figures, do not have: processors × rate × clock."""
    chosen = {one.of: one for one in stated if one.status is FigureStatus.CHOSEN}
    processors, clock = chosen[PROCESSORS].value, chosen[CLOCK].value
    for of, rate in architecture.rates.items():
        if of not in chosen:
            yield Figure(
                of=of,
                value=processors * rate * clock,
                unit=_unit(of),
                status=FigureStatus.CHOSEN,
                source=architecture.source,
                note=_note(architecture, of, f"{processors:g} SMs × {rate}", clock),
            )


def _note(architecture: Architecture, of: str, product: str, clock: float) -> str:
    if not architecture.rates[of]:
        return "not supported"
    counted = {"FLOP/s": "FLOP", "op/s": "operations", "B/s": "bytes"}[_unit(of)]
    words = f"{product} {counted} per cycle × {clock / GIGA:g} GHz"
    return ", ".join(piece for piece in (words, architecture.notes.get(of)) if piece)


def _unit(of: str) -> str:
    if of not in _UNITS:
        return "B/s"
    return "op/s" if of.partition("_")[2].startswith("int") else "FLOP/s"

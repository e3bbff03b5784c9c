"""How the numbers of one column are written: one unit for all. As `format.js` has it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roofline.model.units import gib_to_gb
from roofline.presentation.quantities import DASH, count, percent, significant, size


@dataclass(frozen=True, slots=True)
class ColumnScale:
    """The unit in the header, and what writes a number."""

    unit: str
    write: Callable[[float], str]

    def text(self, value: Any) -> str:
        """A cell: a dash for what is missing, text as it is."""
        if value is None or value == "":
            return DASH
        return self.write(value) if isinstance(value, int | float) else str(value)


def _scaled(factor: float, unit: str) -> ColumnScale:
    return ColumnScale(unit, lambda value: significant(value / factor))


_FIXED = {
    "gibs": ColumnScale("GB/s", lambda value: significant(gib_to_gb(value))),
    "gbs": _scaled(1, "GB/s"),
    "flop_per_byte": _scaled(1, "FLOP/B"),
    "bytes": ColumnScale("", size),
    "ratio": ColumnScale("", percent),
    "count": ColumnScale("", count),
}


def column_scale(unit: str, largest: float) -> ColumnScale:
    """The scale of a column whose largest value is `largest`."""
    if unit == "time_us":
        steps = ((1e7, 1e6, "s"), (1e3, 1e3, "ms"), (0, 1, "µs"))
        factor, name = next((f, name) for least, f, name in steps if largest >= least)
        return _scaled(factor, name)
    if unit in ("gflops", "gops"):
        work = "FLOP/s" if unit == "gflops" else "OP/s"
        return _scaled(1e3, f"T{work}") if largest >= 1e4 else _scaled(1, f"G{work}")
    return _FIXED.get(unit, ColumnScale("", str))

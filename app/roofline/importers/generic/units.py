"""Units as people write them, as factors to base units: s, FLOP, byte, FLOP/s, byte/s, FLOP/byte,
per cent.

k M G T P E are decimal, Ki Mi Gi Ti Pi binary; GB is never taken for GiB.
"""

import math
import re
from enum import StrEnum

from roofline.importers.shared.tables_text import parse_number
from roofline.model.units import KIB, KILO


class Dimension(StrEnum):
    """The dimension of a number."""

    TIME = "time"
    FLOP = "flop"
    FLOP_RATE = "flop rate"
    BYTES = "bytes"
    BANDWIDTH = "bandwidth"
    INTENSITY = "intensity"
    COUNT = "count"
    SHARE = "share"


BASE_UNITS = {
    Dimension.TIME: "s",
    Dimension.FLOP: "FLOP",
    Dimension.FLOP_RATE: "FLOP/s",
    Dimension.BYTES: "B",
    Dimension.BANDWIDTH: "B/s",
    Dimension.INTENSITY: "FLOP/B",
    Dimension.COUNT: "",
    Dimension.SHARE: "%",
}

_DECIMAL = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_TIMES = {
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "millisecond": 1e-3,
    "milliseconds": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "usec": 1e-6,
    "microsecond": 1e-6,
    "microseconds": 1e-6,
    "ns": 1e-9,
    "nsec": 1e-9,
    "nanosecond": 1e-9,
    "nanoseconds": 1e-9,
    "ps": 1e-12,
    "min": 60.0,
}
_PREFIX = r"(?P<prefix>[kmgtpe]?)(?P<binary>i?)"
_PER_SECOND = r"(?:/s|/sec|/second|ps)"
_FLOP = re.compile(_PREFIX + r"(?:flops?|ops?)")
_FLOP_RATE = re.compile(_PREFIX + r"(?:flops?/(?:s|sec|second)|flops|ops/s|op/s)")
_BYTES = re.compile(_PREFIX + r"(?:b|bytes?)")
_BANDWIDTH = re.compile(_PREFIX + r"(?:b|bytes?)" + _PER_SECOND + r"|(?:[kmgt]i?bs)")
_INTENSITY = re.compile(r"flops?/(?:b|bytes?)")
_WITH_UNIT = re.compile(
    r"<?\s*+(?P<number>[-+]?[\d.,'  ]*\d[.,]?(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s].*)?",
    re.DOTALL,
)


def unit_factor(unit: str, dimension: Dimension) -> float | None:
    """How many base units one `unit` is; `None` if it is not a unit of `dimension`."""
    text = unit.strip().lower().replace(" ", "").replace("per", "/")
    if not text:
        return 1.0
    if dimension is Dimension.TIME:
        return _TIMES.get(text)
    if dimension is Dimension.SHARE:
        return 1.0 if text == "%" else None
    if dimension is Dimension.INTENSITY:
        return 1.0 if _INTENSITY.fullmatch(text) else None
    patterns = {
        Dimension.FLOP: _FLOP,
        Dimension.FLOP_RATE: _FLOP_RATE,
        Dimension.BYTES: _BYTES,
        Dimension.BANDWIDTH: _BANDWIDTH,
    }
    match = patterns[dimension].fullmatch(text) if dimension in patterns else None
    if not match:
        return None
    if match["prefix"] is None:  # "GBs" and "GiBs", as in column names
        return unit_factor(f"{text[:-1]}/s", dimension)
    power = _DECIMAL[match["prefix"]]
    if match["binary"]:
        return float(KIB) ** power if power else None
    return KILO**power


def parse_quantity(
    text: str, dimension: Dimension, *, decimal: str = ".", default: float = 1.0
) -> float | None:
    """A number in base units, with its own unit or `default` base units; `None` if missing.

    Raises `ValueError` for text that is not a number, or has a unit of something else.
    """
    try:
        number, factor = parse_number(text, decimal), default
    except ValueError:
        match = _WITH_UNIT.fullmatch(text.strip())
        own = unit_factor(match["unit"] or "", dimension) if match else None
        if match is None or own is None:
            raise
        number, factor = parse_number(match["number"], decimal), own if match["unit"] else default
    if number is None:
        return None
    value = number * factor
    if not math.isfinite(value):
        raise ValueError(text)
    return value

"""Numbers as people read them: the digits, the unit and the prefix that reads best.

`static/js/text/format.js` writes the same characters in the browser; the file
tests/golden/words/words.json holds both to it. Missing is "–" and never 0; three significant
digits, integer digits always kept.
"""

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

from roofline.model.units import KILO, gib_to_gb

DASH = "–"
SPACE = "\u00a0"  # between a number and its unit: never broken over two lines
NARROW = "\u202f"  # before a percent sign
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ROUNDS_UP = 0.9995  # 999.6 µs are shown as 1.00 ms
_LEAST_EXPONENT = -4  # smaller numbers are written with a power of ten
_MOST_EXPONENT = 14  # larger ones, too
_MOST_DECIMALS = 6
_MULTIPLE_FROM = 10  # a ratio from here on reads better as a multiple
_WHOLE = 99.9995  # percent; from here on it is rounding
_NEARLY_WHOLE = 99.95
_TB_FROM = 9_995.0  # GB/s; from here on three digits round to 10.0 TB/s
_MB_BELOW = 0.1  # GB/s

Write = Callable[[float, int], str]
"""Writes a number that is not missing, to so many digits."""

_FLOP_STEPS = ((1e6, "P"), (1e3, "T"), (1.0, "G"), (1e-3, "M"), (1e-6, "k"))
_AMOUNT_STEPS = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
TIME_STEPS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_BYTE_STEPS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def _missing(value: float | None) -> bool:
    return value is None or not math.isfinite(value)


def fixed(decimals: int, value: float) -> str:
    """So many decimals, halves rounded up as the browser does, thousands grouped."""
    if abs(value) >= 2**53:  # a whole number, of more digits than decimals here may have
        return f"{value:,.{decimals}f}"
    rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{rounded:,.{decimals}f}"


def _exponential(value: float, digits: int) -> tuple[Decimal, int]:
    """Mantissa of so many digits and exponent after rounding: 9.996 has the exponent of 10."""
    exact = Decimal(float(value))
    exponent = exact.adjusted()
    mantissa = exact.scaleb(-exponent).quantize(Decimal(1).scaleb(1 - digits), ROUND_HALF_UP)
    return (mantissa / 10, exponent + 1) if abs(mantissa) >= 10 else (mantissa, exponent)


def significant(value: float | None, digits: int = 3) -> str:
    """So many significant digits; integer digits are never dropped below 10^15."""
    if value is None or _missing(value):
        return DASH
    if value == 0:
        return "0"
    _, exponent = _exponential(value, digits)
    if not _LEAST_EXPONENT <= exponent <= _MOST_EXPONENT:
        mantissa, exponent = _exponential(value, 2)
        return f"{mantissa:.1f}{SPACE}×{SPACE}10{str(exponent).translate(_SUPERSCRIPTS)}"
    return fixed(min(_MOST_DECIMALS, max(0, digits - 1 - exponent)), value)


def count(value: float | None) -> str:
    """A whole number, grouped."""
    return DASH if value is None or _missing(value) else fixed(0, float(value))


def counted(number: int, one: str) -> str:
    """ "1 core", "1,024 cores"."""
    return f"{count(number)} {one}" if number == 1 else f"{count(number)} {one}s"


def stated(value: float, digits: int = 5) -> str:
    """A stated number, such as a peak: as many digits as it has, up to five: "918", "1,525.5"."""
    exact = Decimal(repr(float(value)))
    decimals = digits - 1 - exact.adjusted()
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _stepped(
    value: float,
    steps: tuple[tuple[float, str], ...],
    unit: str,
    digits: int,
    write: Write = significant,
) -> str:
    factor, prefix = next((one for one in steps if value >= one[0] * _ROUNDS_UP), steps[-1])
    return f"{write(value / factor, digits)}{SPACE}{prefix}{unit}"


def flop_rate(gflops: float | None, digits: int = 3, write: Write = significant) -> str:
    """GFLOP/s in, "139 TFLOP/s" out."""
    if gflops is None or _missing(gflops):
        return DASH
    return _stepped(gflops, _FLOP_STEPS, "FLOP/s", digits, write) if gflops else f"0{SPACE}FLOP/s"


def amount(value: float | None, unit: str = "", digits: int = 3) -> str:
    """A count with the prefix of its thousand: "51.6 GFLOP"; for bytes as vendors count them."""
    if value is None or _missing(value):
        return DASH
    if value < KILO * _ROUNDS_UP:
        return f"{significant(value, digits)}{SPACE}{unit}".rstrip()
    return _stepped(value, _AMOUNT_STEPS, unit, digits).rstrip()


def bandwidth(gbs: float | None, digits: int = 3, write: Write = significant) -> str:
    """GB/s (1e9) in, as data sheets have it; from 10 TB/s on as TB/s, below 0.1 GB/s as MB/s."""
    if gbs is None or _missing(gbs):
        return DASH
    if gbs >= _TB_FROM:
        return f"{write(gbs / KILO, digits)}{SPACE}TB/s"
    if gbs != 0 and gbs < _MB_BELOW:
        return f"{write(gbs * KILO, digits)}{SPACE}MB/s"
    return f"{write(gbs, digits)}{SPACE}GB/s"


def peak_rate(gflops: float) -> str:
    """The peak of a compute unit, in GFLOP/s, with all its digits."""
    return flop_rate(gflops, 5, stated)


def peak_bandwidth(gbs: float) -> str:
    """The peak of a memory or a link, in GB/s, with all its digits."""
    return bandwidth(gbs, 5, stated)


def _binary_bandwidth(gibs: float | None) -> str:
    """GiB/s in, as the keys of page data and exports have it; written in GB/s."""
    return bandwidth(None if gibs is None else gib_to_gb(gibs))


def duration(us: float | None, digits: int = 3) -> str:
    """Microseconds in, "21.2 ms" out."""
    if us is None or _missing(us):
        return DASH
    return _stepped(us, TIME_STEPS, "", digits) if us else f"0{SPACE}s"


def percent(ratio: float | None, digits: int = 1) -> str:
    """A ratio as percent, never 0 % or 100 % unless it is; from 1,000 % on as a multiple."""
    if ratio is None or _missing(ratio):
        return DASH
    if ratio >= _MULTIPLE_FROM:
        return f"{significant(ratio, 2)}×"
    value = ratio * 100
    if 0 < value < 0.5 * 10**-digits:
        return f"<{fixed(digits, 10**-digits)}{NARROW}%"
    if _NEARLY_WHOLE <= value < _WHOLE:
        return f">99.9{NARROW}%"
    if value == 0 or value >= _WHOLE:
        digits = 0
    elif value >= 99.5:
        digits = max(1, digits)
    return f"{fixed(digits, value)}{NARROW}%"


def share(ratio: float | None) -> str:
    """A ratio within a sentence: whole percent, a digit more where it is small."""
    return percent(ratio, 0 if ratio is not None and ratio >= 0.0995 else 1)


def intensity(value: float | None) -> str:
    """FLOP per byte."""
    return DASH if _missing(value) else f"{significant(value)}{SPACE}FLOP/B"


def size(value: float | None) -> str:
    """Bytes in, "1.41 MiB" out."""
    if value is None or _missing(value):
        return DASH
    step = next((one for one in _BYTE_STEPS if value >= one[0]), None)
    return f"{significant(value / step[0])}{SPACE}{step[1]}" if step else f"{count(value)}{SPACE}B"


# By the units of the page data; a ratio within a sentence is a share.
_WITH_UNIT: dict[str, Callable[[float | None], str]] = {
    "count": count,
    "bytes": size,
    "time_us": duration,
    "gflops": flop_rate,
    "gibs": _binary_bandwidth,
    "gbs": bandwidth,
    "flop_per_byte": intensity,
    "ratio": share,
    "number": significant,
}


def quantity(value: float | None, unit: str) -> str:
    """A value with its unit, as sentences have it."""
    return _WITH_UNIT[unit](value)


def cell(value: float | None, unit: str) -> str:
    """A value as tables have it: as in sentences, but ratios with a digit more."""
    return percent(value) if unit == "ratio" else quantity(value, unit)


class ColumnScale(NamedTuple):
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

"""Numbers as people write them, and the only unit conversions: ps and us, GB and GiB, FLOP, GFLOP.

GB/s is 1e9 bytes/s (data sheets, XSpace peaks); GiB/s is 2**30 bytes/s (XProf's tables,
and our keys that end in `_gibs`). People read GB/s everywhere but in XProf's own columns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, overload

# Only for types: the server's process looks devices up without NumPy.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

KILO, MEGA, GIGA, TERA = 1e3, 1e6, 1e9, 1e12
"""SI prefixes: of FLOP/s, B/s, Hz."""

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40
"""Bytes in a kibibyte, a mebibyte, a gibibyte, a tebibyte."""

_BYTE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")

GB_PER_GIB = GIB / GIGA
"""Gigabytes in one gibibyte: 1.073741824."""

# Whole, so that counts of picoseconds stay whole.
PS_PER_S = 10**12
PS_PER_MS = 10**9
PS_PER_US = 10**6
PS_PER_NS = 10**3
NS_PER_S = 10**9
NS_PER_MS = 10**6
NS_PER_US = 10**3
US_PER_S = 10**6
MS_PER_S = 10**3


def bytes_text(size_bytes: int) -> str:
    """A size as people write it: `210 bytes`, `4 GiB`, `1.5 TiB`; three digits of small numbers."""
    power = min(len(_BYTE_UNITS) - 1, max(0, (abs(size_bytes).bit_length() - 1) // 10))
    number = size_bytes / KIB**power
    return f"{f'{number:,.0f}' if abs(number) >= 100 else f'{number:.3g}'} {_BYTE_UNITS[power]}"


@overload
def gb_to_gib(gigabytes: float) -> float: ...
@overload
def gb_to_gib(gigabytes: FloatArray) -> FloatArray: ...
def gb_to_gib(gigabytes: float | FloatArray) -> float | FloatArray:
    """GB (or GB/s) as GiB (or GiB/s)."""
    return gigabytes / GB_PER_GIB


@overload
def gib_to_gb(gibibytes: float) -> float: ...
@overload
def gib_to_gb(gibibytes: FloatArray) -> FloatArray: ...
def gib_to_gb(gibibytes: float | FloatArray) -> float | FloatArray:
    """GiB (or GiB/s) as GB (or GB/s)."""
    return gibibytes * GB_PER_GIB


def ps_to_us(picoseconds: float) -> float:
    """Picoseconds as microseconds."""
    return picoseconds / PS_PER_US


_SPACES = re.compile(r"[\s\u00a0\u202f'’]")
_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+")
_OTHER = {",": ".", ".": ","}


def plain_number(text: str) -> str:
    """The same number without groups and with a decimal point; other text comes back as it is.

    Of a comma and a point the last one is the decimal mark, as in German "1.555,2". A comma alone
    groups thousands where three digits follow each ("1,024"), else it is the decimal mark ("2,5").
    """
    plain = _SPACES.sub("", text)
    if "," in plain and "." in plain:
        decimal = max(_OTHER, key=plain.rfind)
        return plain.replace(_OTHER[decimal], "").replace(decimal, ".")
    if _GROUPS.fullmatch(plain) and not plain.startswith("0"):
        return plain.replace(",", "")
    return plain.replace(",", ".")


def time_text(time_us: float | None) -> str:
    """A time with its unit."""
    if time_us is None:
        return "unknown"
    if time_us >= MEGA:
        return f"{time_us / MEGA:,.4g} s"
    return f"{time_us / KILO:,.4g} ms" if time_us >= KILO else f"{time_us:,.4g} µs"


def span(low: str, high: str) -> str:
    """Two ends, or one where they are alike."""
    return low if low == high else f"{low} to {high}"

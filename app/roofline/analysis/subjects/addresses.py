"""The addresses of subjects: `step`, `step:6`, `serving:decode.32`, `12.4ms..24.8ms`."""

import math
import re

from roofline.model.units import PS_PER_MS, PS_PER_US

_US = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_TIME = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(ns|us|µs|ms|s)\Z")
_DECIMALS = 9  # of milliseconds: to the picosecond


def read_range(text: str) -> tuple[float, float]:
    """Begin and end in ps since the begin of the capture; an end that is left out is that of it.

    Raises `ValueError` with what to write.
    """
    begin, dots, end = text.partition("..")
    if not dots or not (begin or end):
        raise ValueError(f"{text!r} is not a range; write 10ms..20ms")
    first = _ps(begin) if begin else 0.0
    last = _ps(end) if end else math.inf
    if first >= last:
        raise ValueError(f"{text!r} ends before it begins")
    return first, last


def range_address(begin_ps: int, end_ps: int) -> str:
    """The address of a range of time."""
    return f"{_ms(begin_ps)}ms..{_ms(end_ps)}ms"


def _ms(ps: int) -> str:
    text = f"{ps / PS_PER_MS:.{_DECIMALS}f}"
    return text.rstrip("0").rstrip(".")


def _ps(text: str) -> float:
    found = _TIME.match(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a time; write 10ms, 2.5s or 800us")
    return float(found[1]) * _US[found[2]] * PS_PER_US

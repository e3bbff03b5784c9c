"""The range of time of a command line: `10ms..20ms`, `2.5s..` or `..800us`."""

import argparse
import math
import re

from roofline.model.units import PS_PER_US

_US = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_TIME = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(ns|us|µs|ms|s)\Z")


def read_range(text: str) -> tuple[float, float]:
    """Begin and end in ps since the begin of the capture; an end that is left out is that of it.

    Raises `ArgumentTypeError` with what to write.
    """
    begin, dots, end = text.partition("..")
    if not dots or not (begin or end):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range; write 10ms..20ms")
    first = _ps(begin) if begin else 0.0
    last = _ps(end) if end else math.inf
    if first >= last:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it begins")
    return first, last


def _ps(text: str) -> float:
    found = _TIME.match(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; write 10ms, 2.5s or 800us")
    return float(found[1]) * _US[found[2]] * PS_PER_US

"""The six digits of the numbers of page data."""

import math

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.presentation.json_text import SIGNIFICANT_DIGITS

# Powers of ten up to this one are exact, so that a division by one is rounded only once.
_EXACT_POWER = 22


def numbers(column: Floats) -> list[float | None]:
    """Six significant digits; `None` for what is unknown or infinite."""
    values = np.asarray(column, np.float64)
    known = np.isfinite(values)
    size = np.abs(np.where(known & (values != 0), values, 1.0))
    power = SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(size)).astype(np.int64)
    usual = np.abs(power) <= _EXACT_POWER
    scale = 10.0 ** np.abs(np.where(usual, power, 0))
    safe = np.where(known & usual, values, 0.0)
    rounded = np.where(power < 0, np.round(safe / scale) * scale, np.round(safe * scale) / scale)
    rounded[known & ~usual] = [six_digits(value) for value in values[known & ~usual].tolist()]
    return [
        value if fine else None
        for value, fine in zip(rounded.tolist(), known.tolist(), strict=True)
    ]


def six_digits(value: float) -> float:
    """Six significant digits of one known number."""
    return float(f"{value:.{SIGNIFICANT_DIGITS - 1}e}")


def rounded(value: float | None) -> float | None:
    """One number, as `numbers` rounds it in a column; `None` where it is unknown or infinite.

    Without arrays, which take ten times as long for one number.
    """
    if value is None or not math.isfinite(value):
        return None
    if value == 0:
        return float(value)
    power = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(abs(value)))
    if abs(power) > _EXACT_POWER:
        return six_digits(value)
    scale = 10.0 ** abs(power)
    return round(value / scale) * scale if power < 0 else round(value * scale) / scale

"""Documents to JSON.

Names come from strangers and may hold what JSON cannot: lone surrogates.
"""

from typing import Any

import numpy as np
import orjson

from roofline.analysis.roofline import Floats

_FLOAT_BITS = 1_023
SIGNIFICANT_DIGITS = 6
"""Of the numbers of page data."""


def to_json(document: Any) -> bytes:
    """`document` as UTF-8; NaN and infinity become null, a lone surrogate a question mark.

    Whole numbers past 64 bits are written as floats, and those past floats as null.
    """
    try:
        return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError:
        return orjson.dumps(_encodable(document), option=orjson.OPT_SERIALIZE_NUMPY)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value) if value.bit_length() < _FLOAT_BITS else None
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


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
    """One number; `None` where it is unknown."""
    return None if value is None else numbers(np.array([value]))[0]

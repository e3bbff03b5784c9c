"""Documents to JSON.

Names come from strangers and may hold what JSON cannot: lone surrogates.
"""

from typing import Any

import orjson

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

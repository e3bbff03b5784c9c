"""A predicted step over a measured run, as CSV: one row per op of the model or of the run."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from roofline.exports.csv_files import csv_bytes

_SIDES = {"calls": "calls", "flops": "flops_per_call", "bytes": "bytes_per_call"}
_NUMBERS = ("predicted_us", "measured_us", "expected_us", "ratio")
_FACTORS = ("calls", "work", "traffic", "peaks", "closeness", "regrouped")
_HEAD = (
    *("model", "measured", "by", "class"),
    *(f"{head}_{side}" for head in _SIDES.values() for side in ("predicted", "measured")),
    *_NUMBERS,
    *(f"factor_{name}" for name in _FACTORS),
)


def overlay_csv(over: Mapping[str, Any]) -> bytes:
    """`over` of a prediction as RFC 4180, UTF-8; an unknown number is empty.

    Names of ops are joined by "; ". Calls and times, in us, are those of the step. Ops without a
    partner have one side. Names come from a profile: none is a formula for a spreadsheet.
    """
    rows = ([_known(row.get(name)) for name in _HEAD] for row in _rows(over))
    return csv_bytes(_HEAD, rows)


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rows(over: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for one in over["ops"]:
        factors = one["factors"] or {}
        sides = {
            f"{head}_{side}": one[name][place]
            for name, head in _SIDES.items()
            for place, side in enumerate(("predicted", "measured"))
        }
        yield {
            "model": "; ".join(one["model"]),
            "measured": "; ".join(one["measured"]),
            "by": one["by"],
            "class": one["class"],
            **sides,
            **{name: one[name] for name in _NUMBERS},
            **{f"factor_{name}": factors.get(name) for name in _FACTORS},
        }
    for one in over["not_measured"]:
        yield {"model": "; ".join(one["names"]), "predicted_us": one["time_us"]}
    for one in over["not_modelled"]:
        yield {"measured": "; ".join(one["names"]), "measured_us": one["time_us"]}

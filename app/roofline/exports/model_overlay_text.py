"""A predicted step over a measured run, as lines for a terminal and as CSV."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roofline.exports.csv_files import csv_bytes
from roofline.exports.model_overlay import Record
from roofline.model.units import time_text
from roofline.presentation.text_table import cut, plain

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


_NAMES_SHOWN = 2
_LEFT_SHOWN = 5
_NAME_WIDTH = 46
_LEAST_FACTOR = 0.005


def overlay_text(over: Record) -> str:
    """The share that the model explains, measured over predicted per op, and ops without partner.

    Names come from a profile: control characters are left out.
    """
    return "\n".join(_lines(over)) + "\n"


def _lines(over: Record) -> Iterator[str]:
    yield ""
    yield _explained(over)
    products = over["products"]
    if products["ratio"] is not None:
        yield (
            f"Products take {time_text(products['measured_us'])}, "
            f"{100 * products['time_share']:.1f} % of the busy time and {products['ratio']:.2f} "
            f"times the predicted {time_text(products['predicted_us'])}"
            f"{_factors(products['factors'])}. Other ops are assigned by their scope alone."
        )
    expected = over["expected"]
    if expected["ratio"] is not None:
        yield (
            f"Each product at the efficiency of the others: {time_text(expected['expected_us'])} "
            f"expected where {time_text(expected['measured_us'])} were measured."
        )
    yield ""
    yield f"{'model':<30}{'measured as':<{_NAME_WIDTH}}{'predicted':>11}{'measured':>11}  ratio"
    for one in over["ops"]:
        yield _op(one)
    yield from _left("Not in the run", over["not_measured"], over["predicted_us"])
    yield from _left("Not in the model", over["not_modelled"], over["measured_busy_us"])
    yield from over["notes"]


def _explained(over: Record) -> str:
    """Of the run's work and time, what the model has."""
    shares = {
        name: f"{100 * share:.1f} % of its {what}"
        for name, what in (("flops", "matrix FLOPs"), ("bytes", "bytes"), ("time", "busy time"))
        if (share := over["coverage"][name]) is not None
    }
    return f"The model explains {', '.join(shares.values())} per {over['unit']}."


def _factors(factors: Mapping[str, float] | None) -> str:
    """The factors that are not 1, in words."""
    told = [
        f"{name} {value:.2f}"
        for name, value in (factors or {}).items()
        if abs(value - 1) > _LEAST_FACTOR
    ]
    return f" ({', '.join(told)})" if told else ""


def _op(one: Record) -> str:
    ratio = "-" if one["ratio"] is None else f"{one['ratio']:.2f}{_factors(one['factors'])}"
    return (
        f"{_names(one['model'], 29):<30}{_names(one['measured'], _NAME_WIDTH - 2):<{_NAME_WIDTH}}"
        f"{time_text(one['predicted_us']):>11}{time_text(one['measured_us']):>11}  {ratio}"
    )


def _names(names: Sequence[str], width: int) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    shown = ", ".join(names[:_NAMES_SHOWN]) if len(names) > 1 else names[0]
    return cut(plain(shown), width - len(more)) + more


def _left(title: str, ops: Sequence[Record], total_us: float) -> Iterator[str]:
    """Ops without a partner, and their share of the time."""
    if not ops or not total_us:
        return
    time_us = sum(one["time_us"] for one in ops)
    shown = ", ".join(cut(plain(one["names"][0]), _NAME_WIDTH) for one in ops[:_LEFT_SHOWN])
    more = f" and {len(ops) - _LEFT_SHOWN} more" if len(ops) > _LEFT_SHOWN else ""
    yield f"{title}, {100 * time_us / total_us:.1f} % of the time: {shown}{more}."

"""A predicted step over a measured run, as lines for a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from roofline.estimate.llm.times import time_text
from roofline.exports.model_overlay import Record
from roofline.presentation.text_table import cut, plain

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

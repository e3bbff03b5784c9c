"""A predicted step over a stored run: what it explains, and the error of each op."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from roofline.estimate.llm.step import Step
from roofline.exports.cost_charts import OverRecord
from roofline.presentation.quantities import count, duration, percent, significant
from roofline.web.offline import calculator_views as views
from roofline.web.offline.calculator_views import FactView, LinkView, TensorView

_FACTORS = ("calls", "work", "traffic", "peaks", "closeness", "regrouped")
_MOST_LEFT = 8
_MOST_PAIRS = 14
_MOST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The run that a step is laid over, the path of its page, and what lays a step over it."""

    title: str
    url: str
    over: Callable[[Step], OverRecord]


def over_view(measured: Measured, record: OverRecord) -> views.OverView:
    """The parts of the page that tell of the run."""
    return views.OverView(
        run=LinkView(title=measured.title, url=measured.url),
        parts=tuple(_parts(record)),
        facts=tuple(_facts(record)),
        factors=_FACTORS,
        pairs=tuple(_pairs(record["ops"])),
        rows=tuple(map(_row, record["ops"])),
        not_measured=", ".join(name for one in record["not_measured"] for name in one["names"]),
        not_modelled=tuple(_left(record["not_modelled"])),
        notes=tuple(record["notes"]),
    )


def _parts(record: OverRecord) -> Iterable[TensorView]:
    """How the measured time divides: products, other ops of the model, the rest, idle."""
    busy, total = record["measured_busy_us"], record["measured_us"]
    products = (record["products"]["time_share"] or 0.0) * busy
    known = max((record["coverage"]["time"] or 0.0) * busy, products)
    named = {
        "products and attention": products,
        "other ops of the model": known - products,
        "not modelled": busy - known,
        "idle": max(total - busy, 0.0),
    }
    whole = sum(named.values()) or 1.0
    starts = [0.0, *accumulate(named.values())]
    for number, ((name, time), start) in enumerate(zip(named.items(), starts, strict=False)):
        yield TensorView(
            name=name,
            moved=duration(time),
            share_text=percent(time / whole),
            left=100 * start / whole,
            share=100 * time / whole,
            css=f"part-{number}",
        )


def _facts(record: OverRecord) -> Iterable[FactView]:
    coverage, model = record["coverage"], record["coverage_model"]
    rows = (
        ("Matrix FLOPs of the run", percent(coverage["flops"])),
        ("Bytes of the run", percent(coverage["bytes"])),
        ("Busy time of the run", percent(coverage["time"])),
        ("Matrix FLOPs of the model", percent(model["flops"])),
        ("Median error of products", _times(record["median_error"])),
        ("Products at this run’s efficiency", _times(record["expected"]["ratio"])),
    )
    for name, value in rows:
        yield FactView(name=name, value=value)


def _pairs(ops: Sequence[Mapping[str, Any]]) -> Iterable[views.PairView]:
    """The ops that took longest, as bars to one scale."""
    longest = max((max(one["measured_us"], one["predicted_us"]) for one in ops), default=1.0)
    for one in ops[:_MOST_PAIRS]:
        yield views.PairView(
            name=_short(one["model"]),
            taken=100 * one["measured_us"] / longest,
            least=100 * one["predicted_us"] / longest,
            time=duration(one["measured_us"]),
            ratio=_times(one["ratio"]),
        )


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{significant(ratio)}×"


def _calls(number: float) -> str:
    """Calls in a step; a mean over steps may be broken."""
    return count(number) if float(number).is_integer() else significant(number)


def _row(one: Mapping[str, Any]) -> views.ErrorRowView:
    factors, names = one["factors"] or {}, one["measured"]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    predicted = one["predicted_us"]
    return views.ErrorRowView(
        model=_short(one["model"]),
        measured=names[0][:_MOST_NAME] + more,
        measured_title=", ".join(names[:_MOST_LEFT]),
        calls=", ".join(map(_calls, one["calls"])),
        predicted=duration(predicted) if predicted else "fused",
        taken=duration(one["measured_us"]),
        ratio=_times(one["ratio"]),
        factors=tuple(_times(factors.get(name)) for name in _FACTORS),
    )


def _short(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {count(len(names) - 3)} more" if len(names) > 3 else shown


def _left(rows: Sequence[Mapping[str, Any]]) -> Iterable[FactView]:
    """The ops of the run that take longest and that the model does not have."""
    longest = sorted(rows, key=lambda one: -one["time_us"])[:_MOST_LEFT]
    for one in longest:
        yield FactView(name=one["names"][0], value=duration(one["time_us"]))

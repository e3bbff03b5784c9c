"""Curves of a step over batch and context, one line per part."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log

from roofline.devices.parts import Part
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.llm.thresholds import (
    CurvePoint,
    most_that_fits,
    over_batch,
    over_context,
    thresholds_of,
)
from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import (
    LOOKS,
    CostChart,
    Curve,
    Look,
    Mark,
    Point,
    range_of,
    size_tick,
)
from roofline.presentation.quantities import amount, count, duration

_BATCHES = tuple(2**power for power in range(11))
_CONTEXTS = tuple(2**power for power in range(7, 18))
_TIME, _RATE = "time", "rate"


def curves(step: Step, parts: Sequence[Part]) -> Iterable[tuple[str, Figure]]:
    """Time and tokens per second over the batch, time over the context; with their titles."""
    model, load = step.model, step.load
    batches = [over_batch(model, load, part, _BATCHES) for part in parts]
    contexts = [over_context(model, load, part, _CONTEXTS) for part in parts]
    per = {"decode": "Time per token", "prefill": "Time to the first token"}.get(
        load.phase, "Time per step"
    )
    decode = load.phase == "decode"
    drawn = (
        (f"{per} over batch", batches, "batch", _TIME, False),
        ("Tokens/s per device over batch", batches, "batch", _RATE, decode),
        (f"{per} over context", contexts, "context", _TIME, decode),
    )
    for title, points, of, what, has_limit in drawn:
        if any(points):
            yield title, _figure(step, parts, points, title, of=of, what=what, limit=has_limit)


def _figure(
    step: Step,
    parts: Sequence[Part],
    points: Sequence[Sequence[CurvePoint]],
    title: str,
    *,
    of: str,
    what: str,
    limit: bool,
) -> Figure:
    here = step.load.batch if of == "batch" else _tokens(step)
    drawn: list[Curve] = []
    marks: list[Mark] = []
    for part, line, look in zip(parts, points, LOOKS, strict=False):
        places = [(float(one.at), _value(one, what)) for one in line]
        most = most_that_fits(step.model, step.load, part, of=of)
        drawn += _line(places, most, look)
        if most is not None and (edge := _between(places, most)):
            said = f"{part.name}: the memory is full at {of} {count(most)}"
            marks.append(Mark(at=edge, kind="full", said=said, size=7))
        if limit:
            marks += _limits(step, part, places, of)
    known = [one for line in points for one in line]
    return CostChart(
        id=f"{what}-{of}",
        alt=f"{title} of each device; the table below has its values here.",
        x=range_of([*(one.at for one in known), here]),
        y=range_of((_value(one, what) for one in known), decades=1.3),
        x_title="batch" if of == "batch" else "tokens of a sequence",
        x_text=size_tick,
        y_text=(lambda value: duration(value, 1))
        if what == _TIME
        else lambda value: amount(value, digits=1),
        curves=drawn,
        marks=marks,
        here=here,
    ).figure()


def _tokens(step: Step) -> int:
    is_decode = step.load.phase in ("decode", "mixed")
    return step.load.context if is_decode else step.load.new_tokens


def _value(point: CurvePoint, what: str) -> float:
    return point.time_us if what == _TIME else point.tokens_per_s


def _line(places: Sequence[Point], most: float | None, look: Look) -> Iterable[Curve]:
    """A line, dotted beyond what the part's memory holds."""
    edge = None if most is None else _between(places, most)
    ends = [edge] if edge else []
    inside = [place for place in places if most is None or place[0] <= most]
    beyond = [place for place in places if most is not None and place[0] > most]
    yield Curve(points=[*inside, *ends], look=look)
    yield Curve(points=[*ends, *beyond], look=replace(look, dash="1px,4px", width=1.0))


def _limits(step: Step, part: Part, places: Sequence[Point], of: str) -> Iterable[Mark]:
    """Rings where classes of ops, and the whole step, become compute-bound; or at ctx*."""
    found = thresholds_of(step_of(step.model, step.load, part))
    if found is None:
        return
    sizes: dict[str, int | None] = {"ctx*": found.context}
    if of == "batch":
        sizes = {f"B* of {name}": one.batch for name, one in found.classes.items()}
        sizes["B* of the whole step"] = found.batch_at_context
    for name, size in sizes.items():
        place = size and _between(places, size)
        if place:
            said = f"{part.name}: {name} {count(size)}"
            yield Mark(at=place, kind="crossing", said=said)


def _between(places: Sequence[Point], at: float) -> Point | None:
    """The place at `at` on the line through `places`, straight on logarithmic axes."""
    for (x0, y0), (x1, y1) in pairwise(places):
        if x0 <= at <= x1:
            return at, y0 * (y1 / y0) ** (log(at / x0) / log(x1 / x0))
    return None

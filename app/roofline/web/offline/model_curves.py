"""Curves of a step over batch and context, one line per part."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log

from roofline.devices.parts import Part
from roofline.estimate.llm.request_document import MeasuredRequest
from roofline.estimate.llm.serving import Request
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.llm.thresholds import (
    CurvePoint,
    most_that_fits,
    over_batch,
    over_context,
    thresholds_of,
)
from roofline.figures.figure import Figure
from roofline.model.units import KILO, US_PER_S
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


def request_curves(
    found: Request, parts: Sequence[Part], measured: MeasuredRequest
) -> Iterable[tuple[str, Figure]]:
    """Time to the first token over the prompt, and what each token's time buys in tokens/s."""
    prefill = found.peaks
    lines = [over_context(prefill.model, prefill.load, part, _CONTEXTS) for part in parts]
    title = "Time to the first token over prompt"
    if any(lines):
        yield (
            title,
            _figure(prefill, parts, lines, title, of="context", what=_TIME, limit=False),
        )
    trades = [list(_trade(found, part)) for part in parts]
    if any(trades):
        yield "Tokens/s over time per token", _trade_figure(found, parts, trades, measured)


def _trade(found: Request, part: Part) -> Iterable[tuple[int, Point]]:
    """Batch, and µs per token with tokens per second, of batches whose slots are always full and
    that the memory holds; a step is that at half of the output."""
    middle = found.middle
    if middle is None:
        return
    more = found.output - 1
    single = replace(found.peaks.load, batch=1, microbatches=1, virtual=1)
    first_us = step_of(found.model, single, part).step_us["serial"]
    for batch in _BATCHES:
        load = replace(middle.load, batch=batch, microbatches=1, virtual=1)
        step = step_of(found.model, load, part)
        taken = step.step_us["serial"]
        if not first_us or not taken or step.fits is False:
            return
        each = taken * (found.decode.steps if found.decode else 0) / more
        each_us = each + (batch - 1) / more * first_us
        yield batch, (each_us, found.output / (first_us + more * each / batch) * US_PER_S)


def _trade_figure(
    found: Request,
    parts: Sequence[Part],
    trades: Sequence[Sequence[tuple[int, Point]]],
    measured: MeasuredRequest,
) -> Figure:
    marks = [
        Mark(at=place, kind="crossing", said=f"{part.name}: batch {count(batch)}", size=7)
        for part, line in zip(parts, trades, strict=True)
        for batch, place in line
    ]
    if measured.tpot_ms and measured.tokens_per_s:
        at = measured.tpot_ms * KILO, measured.tokens_per_s
        marks.append(Mark(at=at, kind="measured", said="measured", name="measured", size=12))
    known = [mark.at for mark in marks]
    return CostChart(
        id="trade",
        alt="Tokens per second over the time per token, for batches 1, 2, 4 … until the memory is "
        "full; slots are always full.",
        x=range_of((x for x, _ in known), decades=1.0),
        y=range_of((y for _, y in known), decades=1.3),
        x_title="time per token",
        x_text=lambda value: duration(value, 1),
        y_text=lambda value: amount(value, digits=1),
        curves=[
            Curve(points=[place for _, place in line], look=look)
            for line, look in zip(trades, LOOKS, strict=False)
        ],
        marks=marks,
    ).figure()


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
    yield Curve(points=[*ends, *beyond], look=replace(look, dash="2px,4px", width=1.5))


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

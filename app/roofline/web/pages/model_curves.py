"""Curves of a step over batch and context, one line per part."""

from collections.abc import Iterable, Sequence
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
from roofline.presentation.plots import Drawing, Plot, axis_of
from roofline.presentation.quantities import amount, count, duration
from roofline.web.pages.roof_lines import size_tick

_BATCHES = tuple(2**power for power in range(11))
_CONTEXTS = tuple(2**power for power in range(7, 18))
_TIME, _RATE = "time", "rate"


def curves(step: Step, parts: Sequence[Part]) -> Iterable[tuple[str, Plot]]:
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
            yield title, _plot(step, parts, points, title, of=of, what=what, limit=has_limit)


def _plot(
    step: Step,
    parts: Sequence[Part],
    points: Sequence[Sequence[CurvePoint]],
    title: str,
    *,
    of: str,
    what: str,
    limit: bool,
) -> Plot:
    known = [one for line in points for one in line]
    here = step.load.batch if of == "batch" else _tokens(step)
    drawing = Drawing(
        axis_of([*(one.at for one in known), here]),
        axis_of((_value(one, what) for one in known), least_span=20),
    )
    drawing.curve([(here, drawing.y.low), (here, drawing.y.high)], "here")
    drawing.label((here, drawing.y.high), count(here), dx=6, dy=12, css="here")
    for number, (part, line) in enumerate(zip(parts, points, strict=True)):
        _line(drawing, step, part, line, number, of=of, what=what)
        if limit:
            _limit(drawing, step, part, line, of=of, what=what)
    return drawing.plot(
        title=f"{title}; a disc is where the memory is full",
        x_title="batch" if of == "batch" else "tokens of a sequence",
        x_text=size_tick,
        y_text=(lambda value: duration(value, 1))
        if what == _TIME
        else lambda value: amount(value, digits=1),
    )


def _tokens(step: Step) -> int:
    is_decode = step.load.phase in ("decode", "mixed")
    return step.load.context if is_decode else step.load.new_tokens


def _value(point: CurvePoint, what: str) -> float:
    return point.time_us if what == _TIME else point.tokens_per_s


def _line(
    drawing: Drawing,
    step: Step,
    part: Part,
    line: Sequence[CurvePoint],
    number: int,
    *,
    of: str,
    what: str,
) -> None:
    """A line, dotted beyond what the part's memory holds, where a disc stands."""
    most = most_that_fits(step.model, step.load, part, of=of)
    places = [(float(one.at), _value(one, what)) for one in line]
    edge = None if most is None else _between(places, most)
    inside = [place for place in places if most is None or place[0] <= most]
    beyond = [place for place in places if most is not None and place[0] > most]
    drawing.curve([*inside, *([edge] if edge else [])], f"line-{number}")
    drawing.curve([*([edge] if edge else []), *beyond], f"line-{number} beyond")
    if edge and beyond:
        title = f"{part.name}: the memory is full at {of} {count(most)}"
        drawing.mark(edge, "full", title, 3.5)


def _limit(
    drawing: Drawing, step: Step, part: Part, line: Sequence[CurvePoint], *, of: str, what: str
) -> None:
    """Rings where classes of ops, and the whole step, become compute-bound; or at ctx*."""
    found = thresholds_of(_on(step, part))
    if found is None:
        return
    sizes: dict[str, int | None] = {"ctx*": found.context}
    if of == "batch":
        sizes = {f"B* of {name}": one.batch for name, one in found.classes.items()}
        sizes["B* of the whole step"] = found.batch_at_context
    places = [(float(one.at), _value(one, what)) for one in line]
    for name, size in sizes.items():
        place = size and _between(places, size)
        if place:
            drawing.mark(place, "crossing", f"{part.name}: {name} {count(size)}", 5)


def _on(step: Step, part: Part) -> Step:
    return step_of(step.model, step.load, part)


def _between(places: Sequence[tuple[float, float]], at: float) -> tuple[float, float] | None:
    """The place at `at` on the line through `places`, straight on logarithmic axes."""
    for (x0, y0), (x1, y1) in pairwise(places):
        if x0 <= at <= x1:
            share = _log_share(x0, x1, at)
            return at, y0 * (y1 / y0) ** share
    return None


def _log_share(low: float, high: float, value: float) -> float:
    return log(value / low) / log(high / low)

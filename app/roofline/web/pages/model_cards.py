"""The answer of the page of a model: a step as sentences, bars, plots and tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roofline.devices.parts import Part
from roofline.estimate.llm.document import threshold_words
from roofline.estimate.llm.memory import cache_bytes
from roofline.estimate.llm.step import Step, TimedOp, step_of
from roofline.estimate.llm.thresholds import EXPERTS, PRODUCTS, Thresholds, thresholds_of
from roofline.estimate.llm.workload import Workload
from roofline.estimate.on_device import COMPUTE, EXP, LINK, MEMORY, NETWORK, VECTOR
from roofline.figures.figure import Figure
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.charts.cost_figures import (
    LOOKS,
    TIE,
    Curve,
    Mark,
    Point,
    roof_chart,
    roof_pair,
)
from roofline.presentation.quantities import (
    amount,
    count,
    duration,
    percent,
    share,
    significant,
)
from roofline.presentation.sentences import Number, Segment, Sentence, say
from roofline.web.pages import model_views as views
from roofline.web.pages.calculator_views import BarView, FactView
from roofline.web.pages.model_curves import curves
from roofline.web.pages.model_form import ModelForm
from roofline.web.pages.model_over import Measured, OverRecord, over_view
from roofline.web.pages.pieces import pieces

_S_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A form, the parts it is for (the first is the main one), and dollars per device hour."""

    form: ModelForm
    parts: tuple[Part, ...]
    price: float | None


def answer(asked: Asked, measured: Measured | None) -> views.StepView:
    """The answer; `BadViewError` for what cannot be read. `measured` is the run below the step."""
    model, load = asked.form.shape, asked.form.load
    steps = [step_of(model, load, part) for part in asked.parts]
    first = steps[0]
    record = measured.over(first) if measured else None
    return views.StepView(
        headline=pieces(_over_headline(record) if record else _headline(first)),
        lead=pieces([*_over_lead(record), *_lead(asked, first)] if record else _lead(asked, first)),
        css=_css(first.bound),
        times=tuple(_times(first)),
        expected=_expected_words(first),
        memory=tuple(map(_memory, steps)),
        roofline=_roofline(first, record),
        ops=tuple(_ops(first)),
        curves=() if record else tuple(curves(first, asked.parts)),
        devices=tuple(_device(one, number, asked.price) for number, one in enumerate(steps)),
        has_price=asked.price is not None,
        has_limits=load.phase == "decode",
        sources=tuple(
            FactView(name=peak.label, value=peak.source)
            for peak in first.peaks.values()
            if peak.source
        ),
        notes=first.notes,
        over=over_view(measured, record) if measured and record else None,
    )


# -------------------------------------------------------------------------------- the sentence

_WORDS = {
    COMPUTE: "compute-bound",
    VECTOR: "bound by the vector unit",
    EXP: "bound by the exponential unit",
    LINK: "bound by links",
    NETWORK: "bound by the network",
}


def time_of(timed: TimedOp) -> float:
    """All calls of the op, in µs; 0 where its time is not known."""
    return timed.counted * (timed.time_us or 0.0)


def bound_words(step: Step, bound: str | None) -> str:
    """The bound, in words."""
    if bound == MEMORY:
        return f"{step.peaks[MEMORY].label}-bound"
    return _WORDS.get(bound or "", "not known")


def _css(bound: str | None) -> str:
    return f"by-{bound}" if bound else ""


def _headline(step: Step) -> Sentence:
    serial, rate, bound = step.step_us["serial"], step.tokens_per_s, step.bound
    if serial is None or rate is None or bound is None:
        return say("model_unknown", device=step.part.name)
    return say(
        f"model_{step.load.phase}",
        time=Number(serial, "time_us"),
        rate=Number(rate, "count"),
        device=step.part.name,
        bound=Segment(kind="bound", text=bound_words(step, bound), token=""),
    )


def _over_headline(record: OverRecord) -> Sentence:
    ratio, known = record["products"]["ratio"], record["coverage"]["time"]
    if ratio is None or known is None:
        return say("over_nothing")
    return say("over_products", ratio=Number(ratio, "number"), known=Number(known, "ratio"))


def _over_lead(record: OverRecord) -> Sentence:
    flop = record["coverage"]["flops"]
    if flop is None:
        return []
    return say(
        "over_lead",
        count=Number(record["steps_in_unit"], "count"),
        time=Number(record["measured_us"], "time_us"),
        least=Number(record["predicted_us"], "time_us"),
        flop=Number(flop, "ratio"),
    )


def _lead(asked: Asked, step: Step) -> Sentence:
    return [*_moves(asked, step), *_holds(step), *_limits(step), *_dollars(asked, step)]


def _moves(asked: Asked, step: Step) -> Sentence:
    moved = step.total(lambda op: op.bytes)
    weights = step.total(lambda op: op.weights)
    load = step.load
    return say(
        "model_moves",
        name=asked.form.title,
        load=_load_words(load),
        work=amount(step.total(lambda op: op.matrix), "FLOP"),
        moved=amount(moved, "B"),
        share=Number(weights / moved if moved else 0.0, "ratio"),
    )


def _load_words(load: Workload) -> str:
    is_decode = load.phase in ("decode", "mixed")
    tokens = load.context if is_decode else load.new_tokens
    words = f"batch {count(load.batch)} at {count(tokens)} tokens"
    if load.phase != "mixed":
        return words
    return f"{words} and {count(load.prompts)} × {count(load.prompt_tokens)} tokens of prompts"


def _holds(step: Step) -> Sentence:
    needed, size = amount(step.memory_bytes, "B"), amount(step.capacity_bytes, "B")
    if step.fits is None:
        return say("model_memory", memory=needed)
    return say("model_fits" if step.fits else "model_full", memory=needed, capacity=size)


def _limits(step: Step) -> Sentence:
    found = thresholds_of(step)
    if found is None or step.load.phase != "decode":
        return []
    return say("model_limits", words=" ".join(threshold_words(step, found)))


def _dollars(asked: Asked, step: Step) -> Sentence:
    bought = tokens_per_dollar(step, asked.price)
    return [] if bought is None else say("model_price", per_dollar=amount(bought))


def tokens_per_dollar(step: Step, price: float | None) -> float | None:
    """Tokens of one device in the time that a dollar pays for."""
    each = step.tokens_per_s_per_device
    return each * _S_PER_HOUR / price if each and price else None


# ---------------------------------------------------------------------------- times and memory


def _times(step: Step) -> Iterable[BarView]:
    expected = step.expected
    rows = [
        ("Overlap", step.step_us["overlap"], "sum"),
        ("Serial", step.step_us["serial"], "taken"),
        ("No overlap", step.step_us["no_overlap"], "sum"),
        ("Expected", expected.high_us if expected else None, "sum"),
    ]
    longest = max((time for _, time, _ in rows if time), default=1.0)
    for title, time, css in rows:
        bar = 100 * (time or 0.0) / longest
        yield BarView(title=title, time=duration(time), share=bar, css=css)


def _expected_words(step: Step) -> str:
    found = step.expected
    if found is None:
        return ""
    low, high = sorted(found.matrix)
    span = _span(share(low), share(high))
    times = _span(duration(found.low_us), duration(found.high_us))
    return (
        f"Expected: at {span} of the matrix peak and {share(found.memory)} of the memory’s, "
        f"{times}. These are default shares, not fitted to a run."
    )


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _memory(step: Step) -> views.MemoryView:
    needed, size = step.memory_bytes, step.capacity_bytes
    cache = 0.0 if step.load.phase == "train" else cache_bytes(step.model, step.load)
    whole = max(needed, size or 0.0)
    words = f"needs {amount(needed, 'B')}"
    if size is not None:
        words += f" of {amount(size, 'B')}" if step.fits else f", has {amount(size, 'B')}"
    return views.MemoryView(
        name=step.part.name,
        words=words,
        weights=100 * (needed - cache) / whole,
        cache=100 * cache / whole,
        fits=step.fits is not False,
    )


# ------------------------------------------------------------------------------------ roofline


def _roofline(step: Step, record: OverRecord | None) -> Figure | None:
    """Each op with products at its intensity and best rate; measured ones joined to theirs."""
    unit, memory = step.peaks[COMPUTE], step.peaks[MEMORY]
    ops = [one for one in step.ops if one.op.matrix and one.op.bytes and one.time_us]
    if not unit.value or not memory.value or not ops:
        return None
    seen = list(_measured_places(record)) if record else []
    marks = [*_star(step), *_rings(ops, with_names=not seen)]
    for name, _, measured in seen:
        said = f"{name}, measured"
        marks.append(Mark(at=measured, kind="measured", said=said, name=name, size=12))
    return roof_chart(
        "model",
        f"Operations of the model on the roofline of {step.part.name}; the table below has the "
        "same values.",
        roof_pair(memory.label, memory.value / GIGA, unit.value / GIGA),
        x_title=f"FLOP per byte of {memory.label}",
        around=[mark.at for mark in marks],
        curves=[Curve(points=ends, look=TIE) for _, *ends in seen],
        marks=marks,
    ).figure()


def _rings(ops: Sequence[TimedOp], *, with_names: bool) -> Iterable[Mark]:
    """A ring per op, the larger the longer it takes, the longest first."""
    longest = max(map(time_of, ops)) or 1.0
    for timed in sorted(ops, key=time_of, reverse=True):
        name, taken = timed.op.name, time_of(timed)
        yield Mark(
            at=_place(timed.op.matrix, timed.op.bytes, timed.time_us or 1.0),
            kind="predicted",
            said=f"{name}: {duration(taken)}, bound by {timed.bound}",
            name=name if with_names else "",
            size=max(7.0, 22 * (taken / longest) ** 0.5),
        )


def _star(step: Step) -> Iterable[Mark]:
    matrix, moved = step.total(lambda op: op.matrix), step.total(lambda op: op.bytes)
    serial = step.step_us["serial"]
    if serial and moved and matrix:
        said = f"the whole step: {duration(serial)}"
        at = _place(matrix, moved, serial)
        yield Mark(at=at, kind="whole", said=said, name="step", size=14)


def _place(flop: float, moved: float, time_us: float) -> Point:
    """FLOP per byte, and GFLOP/s."""
    return flop / moved, flop / time_us * US_PER_S / GIGA


def _measured_places(record: OverRecord) -> Iterable[tuple[str, Point, Point]]:
    """Name, predicted and measured place of each op with known work on both sides."""
    for one in record["ops"]:
        if one["by"] != "flops" or not all((*one["flops"], *one["bytes"], one["ratio"])):
            continue
        (best, taken), (moved, crossed) = one["flops"], one["bytes"]
        calls, seen = one["calls"]
        name = f"{one['model'][0]} {significant(one['ratio'], 2)}×"
        yield (
            name,
            _place(best, moved, one["predicted_us"] / calls),
            _place(taken, crossed, one["measured_us"] / seen),
        )


# ------------------------------------------------------------------------------ ops and devices


def _ops(step: Step) -> Iterable[views.ModelOpView]:
    """Ops by time, the longest first."""
    timed = sorted(step.ops, key=time_of, reverse=True)
    longest = time_of(timed[0]) or 1.0
    serial = step.step_us["serial"]
    for one in timed:
        op, taken = one.op, time_of(one)
        is_known = one.time_us is not None
        yield views.ModelOpView(
            name=op.name,
            calls=significant(one.counted),
            flops=amount(op.matrix or op.vector, "FLOP") if op.matrix or op.vector else "–",
            moved=amount(op.link or op.bytes, "B"),
            each=duration(one.time_us),
            time=duration(taken) if is_known else "–",
            of_step=percent(taken / serial) if serial else "–",
            share=100 * taken / longest,
            bound=step.peaks[MEMORY].label if one.bound == MEMORY else one.bound or "not known",
            css=_css(one.bound),
        )


def _device(step: Step, number: int, price: float | None) -> views.ModelDeviceView:
    found, bound = thresholds_of(step), step.bound
    return views.ModelDeviceView(
        name=step.part.name,
        line=LOOKS[number] if number < len(LOOKS) else None,
        time=duration(step.step_us["serial"]),
        rate=significant(step.tokens_per_s),
        each=significant(step.tokens_per_s_per_device),
        per_dollar=amount(tokens_per_dollar(step, price)),
        memory=_memory(step).words,
        batch=_batch(found, PRODUCTS),
        experts_batch=_batch(found, EXPERTS),
        context=_context(found),
        bound=bound_words(step, bound),
        css=_css(bound),
    )


def _context(found: Thresholds | None) -> str:
    if found is None:
        return "–"
    if found.context is None:
        return "any" if found.context_note == "all" else "never"
    return count(found.context)


def _batch(found: Thresholds | None, kind: str) -> str:
    one = found.classes.get(kind) if found else None
    if one is None:
        return "–"
    return "never" if one.batch is None else count(one.batch)

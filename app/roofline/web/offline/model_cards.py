"""The answer of the page of a model: a step as sentences, bars, plots and tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roofline.devices.parts import Part
from roofline.estimate.llm.document import threshold_words
from roofline.estimate.llm.memory import cache_bytes
from roofline.estimate.llm.request_document import bound_of, lever_words, ridge_of
from roofline.estimate.llm.serving import levers
from roofline.estimate.llm.step import Step, TimedOp, step_of
from roofline.estimate.llm.thresholds import EXPERTS, PRODUCTS, Thresholds, thresholds_of
from roofline.estimate.llm.workload import Workload
from roofline.estimate.on_device import MEMORY
from roofline.exports.cost_charts import OverRecord, step_figure, time_of
from roofline.model.units import span
from roofline.presentation.charts.cost_figures import LOOKS
from roofline.presentation.quantities import (
    amount,
    count,
    duration,
    percent,
    share,
    significant,
)
from roofline.presentation.sentences import Number, Segment, Sentence, say
from roofline.web.offline import calculator_views as views
from roofline.web.offline.calculator_cards import css_of
from roofline.web.offline.calculator_views import BarView, FactView
from roofline.web.offline.model_curves import curves
from roofline.web.offline.model_form import ModelForm
from roofline.web.offline.model_over import Measured, over_view
from roofline.web.offline.views import pieces

_S_PER_HOUR = 3600.0
_MOST_BARS = 12
_SERIAL = (
    "Serial is the bound to plan with: kernels run one after the other.",
    "Scheduled is the bound to plan with: collectives between replicas pass behind the work.",
)
_RINGS = (
    "Rings in the curves are B*, from which a class of ops is compute-bound, and ctx*, beyond "
    "which no batch makes a step compute-bound. "
)
FULL = "A disc is where the memory is full, and beyond it lines are dotted."


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
    serial = first.step_us["serial"] or 0.0
    ops = sorted(first.ops, key=time_of, reverse=True)
    has_limits, is_training = load.phase == "decode", load.phase == "train"
    return views.StepView(
        headline=pieces(_over_headline(record) if record else _headline(first)),
        lead=pieces([*_over_lead(record), *_lead(asked, first)] if record else _lead(asked, first)),
        words=() if record else tuple(_lever_words(first)),
        css=css_of(first.bound),
        times=tuple(time_bars(_times(first))),
        times_note=f"{_SERIAL[is_training]} {_expected_words(first)}",
        memory=tuple(map(_memory, steps)),
        roofline=step_figure(first, record),
        bars=tuple(op_bars([(one, time_of(one), one.op.name) for one in ops], _MOST_BARS)),
        steps=(("", tuple(op_view(one, serial, first) for one in ops)),),
        curves=() if record else tuple(curves(first, asked.parts)),
        curves_note=f"{_RINGS if has_limits else ''}{FULL}",
        heads=tuple(_heads(has_limits, is_training, asked.price)),
        devices=tuple(_device(one, number, asked.price) for number, one in enumerate(steps)),
        sources=sources_of(first),
        notes=first.notes,
        over=over_view(measured, record) if measured and record else None,
    )


# -------------------------------------------------------------------------------- the sentence


def bound_words(step: Step, bound: str | None) -> str:
    """The bound, in words."""
    return bound_of(step, bound) if bound else "not known"


def _headline(step: Step) -> Sentence:
    time, rate, bound = step.step_us["scheduled"], step.tokens_per_s, step.bound
    if time is None or rate is None or bound is None:
        return say("model_unknown", device=step.part.name)
    return say(
        f"model_{step.load.phase}",
        time=Number(time, "time_us"),
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


def _lever_words(step: Step) -> Iterable[str]:
    """What would make the step faster, each computed on the step itself."""
    said = "; ".join(map(lever_words, levers(step)))
    if said:
        yield f"Levers: {said}."


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
        at=intensity_words(step),
    )


def intensity_words(step: Step) -> str:
    """FLOP per byte of the step, beside the ridge; "" where a peak is not known."""
    matrix, moved = step.total(lambda op: op.matrix), step.total(lambda op: op.bytes)
    ridge = ridge_of(step)
    if not moved or not ridge:
        return ""
    return f", {significant(matrix / moved)} FLOP/B (the ridge is {significant(ridge)})"


def _load_words(load: Workload) -> str:
    is_decode = load.phase in ("decode", "mixed")
    tokens = load.context if is_decode else load.new_tokens
    words = f"batch {count(load.batch)} at {count(tokens)} tokens"
    if load.phase != "mixed":
        return words
    return f"{words} and {count(load.prompts)} × {count(load.prompt_tokens)} tokens of prompts"


def _holds(step: Step) -> Sentence:
    needed, size = amount(step.memory_bytes, "B"), amount(step.capacity_bytes, "B")
    if step.activation_bytes:
        needed = f"{needed} and {amount(step.activation_bytes, 'B')} of activations"
    if step.fits is None:
        return say("model_memory", memory=needed)
    return say("model_fits" if step.fits else "model_full", memory=needed, capacity=size)


def _limits(step: Step) -> Sentence:
    found = thresholds_of(step)
    if found is None or step.load.phase != "decode":
        return []
    return say("model_limits", words=" ".join(threshold_words(step, found)))


def _dollars(asked: Asked, step: Step) -> Sentence:
    bought = tokens_per_dollar(step.tokens_per_s_per_device, asked.price)
    return [] if bought is None else say("model_price", per_dollar=amount(bought))


def tokens_per_dollar(each: float | None, price: float | None) -> float | None:
    """Tokens of one device, `each` a second, in the time that a dollar pays for."""
    return each * _S_PER_HOUR / price if each and price else None


# ---------------------------------------------------------------------------- times and memory


def _times(step: Step) -> Iterable[tuple[str, float | None, str]]:
    expected = step.expected
    sums, is_training = step.step_us, step.load.phase == "train"
    yield "Overlap", sums["overlap"], "sum"
    if is_training:
        yield "Scheduled", sums["scheduled"], "taken"
    yield "Serial", sums["serial"], "sum" if is_training else "taken"
    yield "No overlap", sums["no_overlap"], "sum"
    yield "Expected", expected.high_us if expected else None, "sum"


def time_bars(rows: Iterable[tuple[str, float | None, str]]) -> Iterable[BarView]:
    """A bar for each title and time in µs; the third is its class."""
    every = list(rows)
    longest = max((time for _, time, _ in every if time), default=1.0)
    for title, time, css in every:
        share = 100 * (time or 0.0) / longest
        yield BarView(title=title, time=duration(time), share=share, css=css)


def _expected_words(step: Step) -> str:
    found = step.expected
    if found is None:
        return ""
    low, high = sorted(found.matrix)
    shares = span(share(low), share(high))
    times = span(duration(found.low_us), duration(found.high_us))
    return (
        f"Expected: at {shares} of the matrix peak and {share(found.memory)} of the memory’s, "
        f"{times}. These are default shares, not fitted to a run."
    )


def _memory(step: Step) -> views.MemoryView:
    is_training = step.load.phase == "train"
    rest = step.activation_bytes if is_training else cache_bytes(step.model, step.load)
    return memory_view(step.part, step.memory_bytes + step.activation_bytes, rest)


def memory_view(part: Part, needed: float, cache: float) -> views.MemoryView:
    """The memory of a device, `needed` bytes, `cache` of them keys and values or activations."""
    size = part.value("memory_bytes")
    fits = size is None or needed <= size
    whole = max(needed, size or 0.0)
    words = f"needs {amount(needed, 'B')}"
    if size is not None:
        words += f" of {amount(size, 'B')}" if fits else f", has {amount(size, 'B')}"
    return views.MemoryView(
        name=part.name,
        words=words,
        weights=100 * (needed - cache) / whole,
        cache=100 * cache / whole,
        fits=fits,
    )


# ------------------------------------------------------------------------------ ops and devices


def op_bars(
    rows: Sequence[tuple[TimedOp | None, float, str]], most: int
) -> Iterable[views.OpBarView]:
    """Bars of the first `most` times in µs with names; of an op its calls and its bound, too."""
    longest = max((taken for _, taken, _ in rows), default=0.0) or 1.0
    whole = sum(taken for _, taken, _ in rows) or 1.0
    for one, taken, name in rows[:most]:
        yield views.OpBarView(
            name=name,
            title=f"{significant(one.counted)} calls of {duration(one.time_us)}, {one.bound}"
            if one
            else name,
            time=duration(taken) if one is None or one.time_us is not None else "–",
            of_all=percent(taken / whole),
            share=100 * taken / longest,
            css=css_of(one.bound) if one else "",
        )


def op_view(one: TimedOp, serial: float, step: Step) -> views.ModelOpView:
    """A row of the table of ops; `serial` are the µs of the whole step."""
    op, taken = one.op, time_of(one)
    return views.ModelOpView(
        name=op.name,
        calls=significant(one.counted),
        flops=amount(op.matrix or op.vector, "FLOP") if op.matrix or op.vector else "–",
        moved=amount(op.link or op.bytes, "B"),
        each=duration(one.time_us),
        time=duration(taken) if one.time_us is not None else "–",
        of_step=percent(taken / serial) if serial else "–",
        bound=step.peaks[MEMORY].label if one.bound == MEMORY else one.bound or "not known",
        css=css_of(one.bound),
    )


def sources_of(step: Step) -> tuple[FactView, ...]:
    """The peaks of the step and where they are from."""
    known = (peak for peak in step.peaks.values() if peak.source)
    return tuple(FactView(name=peak.label, value=peak.source) for peak in known)


def _heads(has_limits: bool, is_training: bool, price: float | None) -> Iterable[tuple[str, str]]:
    yield from (
        ("Step", "scheduled" if is_training else "serial"),
        ("Tokens/s", ""),
        ("Per device", ""),
    )
    if price is not None:
        yield "Per dollar", "at this price"
    yield "Memory", ""
    if has_limits:
        yield from (("B*", "products"), ("B*", "experts"), ("ctx*", "tokens"))


def _device(step: Step, number: int, price: float | None) -> views.ModelDeviceView:
    found, bound = thresholds_of(step), step.bound
    cells = [
        duration(step.step_us["scheduled"]),
        significant(step.tokens_per_s),
        significant(step.tokens_per_s_per_device),
    ]
    if price is not None:
        cells.append(amount(tokens_per_dollar(step.tokens_per_s_per_device, price)))
    cells.append(_memory(step).words)
    if step.load.phase == "decode":
        cells += [_batch(found, PRODUCTS), _batch(found, EXPERTS), _context(found)]
    return views.ModelDeviceView(
        name=step.part.name,
        line=LOOKS[number] if number < len(LOOKS) else None,
        cells=tuple(cells),
        bound=bound_words(step, bound),
        css=css_of(bound),
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

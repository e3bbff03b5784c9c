"""The page `/model`: what a step of a language model should cost. Its address holds every input."""

import math
from collections.abc import Iterable, Mapping, Sequence

from roofline.devices import catalogue
from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.forms import Field
from roofline.estimate.llm.memory import cache_bytes
from roofline.estimate.llm.request_document import (
    MeasuredRequest,
    bound_of,
    lever_lines,
    measured_lines,
    request_sentences,
)
from roofline.estimate.llm.serving import Request, request_of
from roofline.estimate.llm.step import Step
from roofline.estimate.llm.workload import devices_of
from roofline.exports import cost_charts
from roofline.exports.cost_charts import request_figure, time_of
from roofline.model.units import KILO, plain_number
from roofline.presentation.charts.cost_figures import LOOKS
from roofline.presentation.quantities import amount, count, duration, significant
from roofline.presentation.sentences import Number, Sentence, say
from roofline.web.offline import calculator_views as views
from roofline.web.offline.calculator import device_groups, network_words, offered_field
from roofline.web.offline.calculator_cards import css_of
from roofline.web.offline.calculator_views import FieldView
from roofline.web.offline.model_cards import (
    FULL,
    Asked,
    answer,
    memory_view,
    op_bars,
    op_view,
    sources_of,
    time_bars,
    tokens_per_dollar,
)
from roofline.web.offline.model_curves import request_curves
from roofline.web.offline.model_form import (
    REQUEST,
    ModelForm,
    check_phase,
    models,
    phases,
    read_form,
)
from roofline.web.offline.model_over import Measured
from roofline.web.offline.views import error_body, pieces

DEVICE = "h100-sxm"
_BESIDE = ("h200", "b200", "mi300x", "a100-80-sxm", "tpu-v5e", "tpu-v5p", "tpu-v6e")
BESIDE_AT_FIRST = ("mi300x", "a100-80-sxm")
_MOST_DEVICES = 5  # looks of lines in the style sheet
_MOST_BARS = 12
_NOTE = (
    "Kernels run one after the other, and all sequences start together. With full slots, the "
    "prefills of the others lie between the steps."
)


def request_answer(asked: Asked) -> views.StepView:
    """The answer; `BadViewError` for what cannot be read."""
    form, measured = asked.form, asked.form.measured
    found = request_of(form.shape, form.options, asked.parts[0], form.draft)
    others = [found, *_other_parts(asked)]
    return views.StepView(
        headline=pieces(_headline(found)),
        lead=pieces(_lead(asked, found)),
        words=(*request_sentences(found), *lever_lines(found), *measured_lines(found, measured)),
        css="",
        times=tuple(time_bars(_times(found, measured))),
        times_note=_NOTE,
        memory=tuple(map(_memory, others)),
        roofline=request_figure(found, measured),
        bars=tuple(op_bars(list(_classes(found)), _MOST_BARS)),
        steps=tuple(_steps(found)),
        curves=tuple(request_curves(found, [one.part for one in others], measured)),
        curves_note=FULL,
        heads=tuple(_heads(asked.price)),
        devices=tuple(_device(one, number, asked.price) for number, one in enumerate(others)),
        sources=sources_of(found.peaks),
        notes=found.peaks.notes,
        over=None,
    )


def _other_parts(asked: Asked) -> Iterable[Request]:
    """The request on the other parts; one that it cannot run on says nothing about the others."""
    form = asked.form
    for part in asked.parts[1:]:
        try:
            yield request_of(form.shape, form.options, part, form.draft)
        except BadViewError:
            continue


def _headline(found: Request) -> Sentence:
    first, each = Number(found.ttft_us, "time_us"), found.tpot_us
    prefill = bound_of(found.peaks, found.prefill.bound)
    if found.decode is None or each is None:
        return say("request_one", prefill=prefill, first=first, device=found.part.name)
    return say(
        "request_both",
        prefill=prefill,
        first=first,
        decode=bound_of(found.peaks, found.decode.bound),
        each=Number(each, "time_us"),
        device=found.part.name,
    )


def _lead(asked: Asked, found: Request) -> Sentence:
    needed, size = amount(found.memory_bytes, "B"), amount(found.part.value("memory_bytes"), "B")
    kind = {None: "model_memory", True: "model_fits", False: "model_full"}[found.fits]
    bought = tokens_per_dollar(found.tokens_per_s_per_device, asked.price)
    return [
        *say(
            "request_asks",
            name=asked.form.title,
            count=Number(found.load.batch, "count"),
            prompt=count(found.prompt),
            output=count(found.output),
        ),
        *say(kind, memory=needed, capacity=size),
        *([] if bought is None else say("model_price", per_dollar=amount(bought))),
    ]


def _times(found: Request, measured: MeasuredRequest) -> Iterable[tuple[str, float | None, str]]:
    yield "First token", found.ttft_us, "taken"
    if measured.ttft_ms:
        yield "First token, measured", measured.ttft_ms * KILO, "sum"
    yield "Further token", found.tpot_us, "taken"
    yield "With full slots", found.continuous_tpot_us, "sum"
    if measured.tpot_ms:
        yield "Further token, measured", measured.tpot_ms * KILO, "sum"
    yield "Whole request", found.latency_us, "sum"


def _memory(found: Request) -> views.MemoryView:
    return memory_view(found.part, found.memory_bytes, cache_bytes(found.model, found.last))


def _classes(found: Request) -> Iterable[tuple[None, float, str]]:
    """Time of each class of ops in each phase, the longest first."""
    for phase, one in cost_charts.phases(found):
        for kind, part in sorted(one.shares.items(), key=lambda share: -share[1]):
            yield None, part * one.serial_us, f"{phase}: {kind}"


def _steps(found: Request) -> Iterable[tuple[str, tuple[views.ModelOpView, ...]]]:
    """The ops of the prefill, and of the decode step at half of the output."""
    named = (("Prefill", found.peaks), ("A decode step, at half of the output", found.middle))
    for title, step in named:
        if step is not None:
            yield title, _rows(step)


def _rows(step: Step) -> tuple[views.ModelOpView, ...]:
    serial = step.step_us["serial"] or 0.0
    return tuple(op_view(one, serial, step) for one in sorted(step.ops, key=time_of, reverse=True))


def _heads(price: float | None) -> Iterable[tuple[str, str]]:
    yield from (
        ("First token", ""),
        ("Further token", ""),
        ("Tokens/s", "start together"),
        ("Tokens/s", "full slots"),
        ("Per device", ""),
    )
    if price is not None:
        yield "Per dollar", "at this price"
    yield "Memory", ""


def _device(found: Request, number: int, price: float | None) -> views.ModelDeviceView:
    cells = [
        duration(found.ttft_us),
        duration(found.tpot_us),
        significant(found.tokens_per_s),
        significant(found.continuous_tokens_per_s),
        significant(found.tokens_per_s_per_device),
    ]
    if price is not None:
        cells.append(amount(tokens_per_dollar(found.tokens_per_s_per_device, price)))
    bounds = [bound_of(found.peaks, one.bound) for _, one in cost_charts.phases(found)]
    return views.ModelDeviceView(
        name=found.part.name,
        line=LOOKS[number] if number < len(LOOKS) else None,
        cells=(*cells, _memory(found).words),
        bound=", ".join(dict.fromkeys(bounds)),
        css=css_of(found.bound) if len(set(bounds)) == 1 else "",
    )


def view_of(
    given: Mapping[str, str], beside: Sequence[str], measured: Measured | None
) -> views.ModelView:
    """The page of `given`, beside these parts, and over a run where one is measured."""
    form, device = read_form(given), given.get("device") or DEVICE
    found, error = None, None
    try:
        check_phase(given.get("phase", ""))
        asked = _asked(form, device, beside, given.get("price", ""))
        is_request = form.phase == REQUEST and measured is None
        found = request_answer(asked) if is_request else answer(asked, measured)
    except BadViewError as fault:
        error = error_body(fault)
    return views.ModelView(
        models=tuple(models()),
        model=form.model,
        phases=phases(),
        phase=form.phase,
        main=_fields(form, form.main),
        more=_fields(form, form.more),
        network=_fields(form, form.network),
        network_words=network_words(
            device, lambda: (form.options.choice, devices_of(form.options))
        ),
        config=form.config,
        price=given.get("price", "")[:20],
        groups=device_groups(device),
        device=device,
        others=tuple(_others(device, beside)),
        over=given.get("over", "")[:100],
        error=error,
        step=found,
    )


def _asked(form: ModelForm, device: str, beside: Sequence[str], price: str) -> Asked:
    chosen = known_part(device)
    parts = {chosen.id: chosen}
    for name in beside:
        part = known_part(name)
        parts.setdefault(part.id, part)
    return Asked(form=form, parts=tuple(parts.values())[:_MOST_DEVICES], price=_price(price))


def _price(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(plain_number(text))
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise BadViewError("The price cannot be read.", remedy="Write dollars per device hour.")
    return value


def _others(device: str, beside: Sequence[str]) -> list[views.ChoiceView]:
    """Parts to lay beside the first one: popular ones, and those of the address."""
    first = catalogue.find(device)
    names = dict.fromkeys((*_BESIDE, *beside))
    known = [part for name in names if (part := catalogue.find(name)) and part != first]
    chosen = [part.id for part in map(catalogue.find, beside) if part and part != first]
    drawn = list(dict.fromkeys(chosen))[: _MOST_DEVICES - 1]
    return [
        views.ChoiceView(
            id=part.id,
            name=part.name,
            is_chosen=part.id in drawn,
        )
        for part in known
    ]


def _fields(form: ModelForm, fields: Iterable[Field]) -> tuple[FieldView, ...]:
    return tuple(offered_field(one, form.values[one.key], "by default") for one in fields)

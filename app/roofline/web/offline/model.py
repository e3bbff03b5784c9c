"""The page `/model`: what a step of a language model should cost. Its address holds every input."""

import math
from collections.abc import Mapping, Sequence

from roofline.devices import catalogue
from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.forms import Field
from roofline.estimate.llm.workload import devices_of
from roofline.model.units import plain_number
from roofline.web.offline import model_views as views
from roofline.web.offline.calculator import device_groups, network_words
from roofline.web.offline.calculator_views import FieldView
from roofline.web.offline.model_cards import Asked, answer
from roofline.web.offline.model_form import (
    REQUEST,
    ModelForm,
    check_phase,
    models,
    phases,
    read_form,
)
from roofline.web.offline.model_over import Measured
from roofline.web.offline.model_request import request_answer
from roofline.web.offline.views import error_body

DEVICE = "h100-sxm"
_BESIDE = ("h200", "b200", "mi300x", "a100-80-sxm", "tpu-v5e", "tpu-v5p", "tpu-v6e")
BESIDE_AT_FIRST = ("mi300x", "a100-80-sxm")
_MOST_DEVICES = 5  # looks of lines in the style sheet


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
        main=tuple(_field(one, form) for one in form.main),
        more=tuple(_field(one, form) for one in form.more),
        network=tuple(_field(one, form) for one in form.network),
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


def _field(one: Field, form: ModelForm) -> FieldView:
    value, names = form.values[one.key], one.offered
    choices = [(name, name) for name in names]
    if names and not one.default:
        choices.insert(0, ("", "by default"))
    if names and value not in dict(choices):
        choices.append((value, value))
    return FieldView(
        key=one.key, label=one.label, kind=one.kind, value=value, choices=tuple(choices)
    )

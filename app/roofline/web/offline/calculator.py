"""The page `/calculator`: what one op should cost. Its address holds every input."""

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping

from roofline.devices import catalogue
from roofline.devices.choice import known_part
from roofline.devices.topology import NetworkChoice, topology
from roofline.errors import BadViewError
from roofline.estimate.forms import FORMS, NETWORK_FIELDS, Field, Filled, filled
from roofline.model.plain_data import alike
from roofline.web.offline import calculator_views as views
from roofline.web.offline.calculator_cards import Measured, cost, positive
from roofline.web.offline.views import error_body

_DEVICE = "h100-sxm"
# Fields that the link from a profile's operation brings along.
KEPT = ("from", "name", "of", "measured_us", "calls", "counted_flops", "counted_bytes")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
MOST_TEXT = 200


def view_of(given: Mapping[str, str]) -> views.CalculatorView:
    """The page. An op that is not known raises `BadViewError`; other faults stand in the page."""
    form = filled(given.get("op") or "matmul", given)
    kept = {key: given[key] for key in KEPT if given.get(key)}
    device, answer, error = given.get("device") or _DEVICE, None, None
    options = form.form.options
    is_sent = all(one in options for one in NETWORK_FIELDS)
    network = NETWORK_FIELDS if is_sent else ()
    try:
        answer = cost(form, device, measured_of(kept, form), kept)
    except BadViewError as fault:
        error = error_body(fault)
    return views.CalculatorView(
        tabs=tuple(_tabs(form, device)),
        title=form.form.title,
        op=form.op,
        ops=form.form.ops if len(form.form.ops) > 1 else (),
        sizes=tuple(field_view(one, form) for one in form.form.sizes),
        options=tuple(field_view(one, form) for one in options if one not in network),
        network=tuple(field_view(one, form) for one in network),
        network_words=network_words(device, lambda: (form.options.choice, form.options.ranks))
        if network
        else "",
        groups=device_groups(device),
        device=_id_of(device),
        kept=tuple(kept.items()),
        origin=_origin(kept),
        error=error,
        cost=answer,
    )


def network_words(device: str, asked: Callable[[], tuple[NetworkChoice, int]]) -> str:
    """Domain and network of what is `asked`, a choice and ranks; "" where it cannot be read."""
    try:
        return topology(known_part(device), *asked()).in_words
    except BadViewError:
        return ""


def _tabs(form: Filled, device: str) -> Iterable[views.LinkView]:
    for op, one in FORMS.items():
        url = f"/calculator?op={op}&device={_id_of(device)}"
        yield views.LinkView(title=one.title, url=url, is_current=one is form.form)


def field_view(one: Field, form: Filled) -> views.FieldView:
    """A field with its value and what it offers."""
    return offered_field(one, form.values[one.key], "as the others", is_wrong=form.is_wrong(one))


def offered_field(one: Field, value: str, unset: str, *, is_wrong: bool = False) -> views.FieldView:
    """The same of a value; `unset` are the words of no value, where that is a choice."""
    choices = [(name, name) for name in one.offered]
    if choices and not one.default:
        choices.insert(0, ("", unset))
    if choices and value not in dict(choices):
        choices.append((value, value))
    return alike(views.FieldView, one, value=value, choices=tuple(choices), is_wrong=is_wrong)


def device_groups(chosen: str) -> tuple[views.GroupView, ...]:
    """The part that is chosen, where it is not of the catalogue, and those by vendor."""
    with contextlib.suppress(BadViewError):
        if catalogue.part((part := known_part(chosen)).id) is None:
            return (views.GroupView(title="Measured", parts=((part.id, part.name),)), *_vendors())
    return _vendors()


def _vendors() -> tuple[views.GroupView, ...]:
    vendors = dict.fromkeys(part.vendor for part in catalogue.parts())
    return tuple(
        views.GroupView(
            title=vendor,
            parts=tuple((one.id, one.name) for one in catalogue.parts() if one.vendor == vendor),
        )
        for vendor in vendors
    )


def _id_of(device: str) -> str:
    """The id of the part that `device` means; the default where it means none."""
    try:
        return known_part(device).id
    except BadViewError:
        return _DEVICE


def _origin(kept: Mapping[str, str]) -> views.LinkView | None:
    profile = kept.get("from", "")
    if not _ID.fullmatch(profile):
        return None
    return views.LinkView(title=kept.get("name") or "a profile", url=f"/p/{profile}")


def measured_of(kept: Mapping[str, str], form: Filled) -> Measured:
    """The measured values in the address; nothing for another shape than that of the key `of`."""
    if kept.get("of", form.shape) != form.shape:
        return Measured()
    return Measured(
        time_us=positive(kept, "measured_us"),
        calls=positive(kept, "calls"),
        flop=positive(kept, "counted_flops"),
        bytes=positive(kept, "counted_bytes"),
    )

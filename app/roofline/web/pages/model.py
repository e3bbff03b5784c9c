"""The page `/model`: what a step of a language model should cost. Its address holds every input."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.devices import catalogue
from roofline.devices.choice import known_part
from roofline.errors import BadViewError, ProfileNotFoundError
from roofline.estimate.forms import Field
from roofline.estimate.llm.step import step_of
from roofline.estimate.llm.workload import devices_of
from roofline.library.reader import ProfileReader
from roofline.model.units import plain_number
from roofline.web.api.comparing import note_compared, sides_of
from roofline.web.http.errors import error_body
from roofline.web.pages import model_views as views
from roofline.web.pages.calculator import device_groups, network_words
from roofline.web.pages.calculator_views import FieldView
from roofline.web.pages.model_cards import Asked, answer
from roofline.web.pages.model_form import (
    MOST_CONFIG,
    REQUEST,
    ModelForm,
    check_phase,
    models,
    phases,
    read_form,
)
from roofline.web.pages.model_over import Measured
from roofline.web.pages.model_request import request_answer
from roofline.web.parts import Parts, Reader

_READ = ["GET", "HEAD"]
_DEVICE = "h100-sxm"
_BESIDE = ("h200", "b200", "mi300x", "a100-80-sxm", "tpu-v5e", "tpu-v5p", "tpu-v6e")
_BESIDE_AT_FIRST = ("mi300x", "a100-80-sxm")
_MOST_DEVICES = 5  # looks of lines in the style sheet

router = APIRouter(include_in_schema=False)


@router.api_route("/model", methods=_READ)
async def model(request: Request, parts: Parts, reader: Reader) -> Response:
    """The form as the address fills it in, and the answer; with `over`, over a stored profile."""
    query = request.query_params
    given = {key: value[:MOST_CONFIG] for key, value in query.items()}
    beside = query.getlist("vs") if given else _BESIDE_AT_FIRST
    measured = await _measured(request, reader, given.get("over", ""))
    if measured and not given.get("device"):
        given["device"] = await run_in_threadpool(_device_of, reader, given["over"])
    view = await run_in_threadpool(view_of, given, beside, measured)
    view = replace(view, csv_url=f"/model.csv?{request.url.query}")
    return parts.templates.page("model.html", view, request, status=400 if view.error else 200)


@router.api_route("/model.csv", methods=_READ)
async def model_csv(request: Request, reader: Reader) -> Response:
    """The errors of the step over a stored profile as CSV; the address is that of the page."""
    given = {key: value[:MOST_CONFIG] for key, value in request.query_params.items()}
    measured = await _measured(request, reader, given.get("over", ""))
    if measured is None:
        raise ProfileNotFoundError("No profile is named.", remedy="Open the page of a model first.")
    if not given.get("device"):
        given["device"] = await run_in_threadpool(_device_of, reader, given["over"])
    content = await run_in_threadpool(_csv, given, measured)
    headers = {"content-disposition": 'attachment; filename="model-over-run.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _csv(given: Mapping[str, str], measured: Measured) -> bytes:
    # Loaded when somebody asks: most servers answer other requests first.
    from roofline.exports.model_overlay_text import overlay_csv

    form = read_form(given)
    return overlay_csv(measured.over(step_of(form.shape, form.load, known_part(given["device"]))))


async def _measured(request: Request, reader: ProfileReader, profile_id: str) -> Measured | None:
    """The run to lay the step over; an id that is not one of a ready profile is an error page."""
    if not profile_id:
        return None
    sides = await sides_of(reader, (profile_id,), ())
    note_compared(request, (profile_id,))
    return Measured(run=sides.a[0], url=f"/p/{profile_id}")


def _device_of(reader: ProfileReader, profile_id: str) -> str:
    """The part that the run's device is; the default where the catalogue does not have it."""
    part = catalogue.find(reader.manifest(profile_id).summary.device)
    return part.id if part else _DEVICE


def view_of(
    given: Mapping[str, str], beside: Sequence[str], measured: Measured | None
) -> views.ModelView:
    """The page of `given`, beside these parts, and over a run where one is measured."""
    form, device = read_form(given), given.get("device") or _DEVICE
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
        groups=device_groups(),
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

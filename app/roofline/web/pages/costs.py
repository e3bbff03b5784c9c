"""The pages `/calculator` and `/model`: what an op, or the step of a model, should cost."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.devices import catalogue
from roofline.devices.choice import known_part
from roofline.errors import ProfileNotFoundError
from roofline.estimate.llm.step import step_of
from roofline.library.comparing import predict_over
from roofline.library.reader import ProfileReader
from roofline.web.api.comparing import note_compared, sides_of
from roofline.web.offline import calculator, model
from roofline.web.offline.model import BESIDE_AT_FIRST, DEVICE
from roofline.web.offline.model_form import MOST_CONFIG, read_form
from roofline.web.offline.model_over import Measured
from roofline.web.parts import Parts, Reader

_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


@router.api_route("/calculator", methods=_READ)
async def calculator_page(request: Request, parts: Parts) -> Response:
    """The form as the address fills it in, and the answer."""
    given = {key: value[: calculator.MOST_TEXT] for key, value in request.query_params.items()}
    view = await run_in_threadpool(calculator.view_of, given)
    status = 400 if view.error else 200
    return parts.templates.page("calculator.html", view, request, status=status)


@router.api_route("/model", methods=_READ)
async def model_page(request: Request, parts: Parts, reader: Reader) -> Response:
    """The form as the address fills it in, and the answer; with `over`, over a stored profile."""
    query = request.query_params
    given = {key: value[:MOST_CONFIG] for key, value in query.items()}
    beside = query.getlist("vs") if given else BESIDE_AT_FIRST
    measured = await _measured(request, reader, given.get("over", ""))
    if measured and not given.get("device"):
        given["device"] = await run_in_threadpool(_device_of, reader, given["over"])
    view = await run_in_threadpool(model.view_of, given, beside, measured)
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
    run = sides.a[0]
    return Measured(title=run.title, url=f"/p/{profile_id}", over=partial(predict_over, stored=run))


def _device_of(reader: ProfileReader, profile_id: str) -> str:
    """The part that the run's device is; the default where the catalogue does not have it."""
    part = catalogue.find(reader.manifest(profile_id).summary.device)
    return part.id if part else DEVICE

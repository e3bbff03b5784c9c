"""What an op, the step of a model, or a stored profile on other parts should cost.

These are the pages `/calculator`, `/model` and `/explore`, and a part of an op's drawer. Their
addresses hold every input. Without scripts they have words and tables in place of charts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.devices import catalogue
from roofline.devices.choice import known_part
from roofline.errors import BadViewError, ProfileNotFoundError
from roofline.estimate.forms import Filled, filled
from roofline.estimate.from_op import MeasuredOp, form_of_op
from roofline.estimate.llm.step import step_of
from roofline.estimate.on_device import estimate
from roofline.library.comparing import StoredRun, predict_over
from roofline.library.ranges import Part
from roofline.library.reader import ProfileReader
from roofline.model.units import GIGA, US_PER_S
from roofline.web.api.advice import stored_record
from roofline.web.api.comparing import note_compared, sides_of
from roofline.web.api.ranges import results_for
from roofline.web.api.results import computed
from roofline.web.offline import calculator, calculator_cards, model
from roofline.web.offline import calculator_views as views
from roofline.web.offline.calculator import KEPT, MOST_TEXT, field_view, measured_of
from roofline.web.offline.calculator_cards import cost, positive
from roofline.web.offline.model import BESIDE_AT_FIRST, DEVICE
from roofline.web.offline.model_form import MOST_CONFIG, read_form
from roofline.web.offline.model_over import Measured
from roofline.web.pages.views import ExploreView
from roofline.web.parts import Parts, Reader

if TYPE_CHECKING:
    from roofline.web.pages.explore_cards import OnParts


_READ = ["GET", "HEAD"]
_MOST_TEXT = 300
_OF_A_CHIP = "Peaks are those of a whole chip, of which a device of this profile is a part."

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


@router.api_route("/explore", methods=_READ)
async def explore(request: Request, parts: Parts, reader: Reader) -> Response:
    """The form as the address fills it in, and the answer for the profile `of`."""
    given = {key: value[:_MOST_TEXT] for key, value in request.query_params.items()}
    profile_id = given.get("of", "")
    if not profile_id:
        raise ProfileNotFoundError("No profile is named.", remedy="Open this page from a profile.")
    stored = (await sides_of(reader, (profile_id,), ())).a[0]
    note_compared(request, (profile_id,))
    beside = request.query_params.getlist("vs") if "storage" in given else None
    advice = await stored_record(reader, profile_id)

    def on_parts(names: Sequence[str]) -> Mapping[str, Any]:
        return results_for(parts, reader, profile_id, Part()).on_parts(names, usual=True)

    view = await run_in_threadpool(_explored, stored, advice, given, beside, on_parts)
    return parts.templates.page("explore.html", view, request, status=400 if view.error else 200)


def _explored(
    stored: StoredRun,
    advice: bytes,
    given: Mapping[str, str],
    beside: Sequence[str] | None,
    on_parts: "OnParts",
) -> ExploreView:
    # Loaded when somebody asks: most servers answer other requests first.
    from roofline.web.pages.explore_cards import explore_view

    return explore_view(stored, advice, given, beside, on_parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpCostView:
    """The input of `_op_cost.html`; `url` is the calculator with everything filled in.

    `landing` is what the estimate leaves of the measured time, FLOPs and bytes, for the chart.
    """

    op: str
    device: str
    url: str
    sizes: tuple[views.FieldView, ...]
    options: tuple[views.FieldView, ...]
    kept: tuple[tuple[str, str], ...]
    cost: views.CostView
    notes: tuple[str, ...]
    category: str
    landing: Mapping[str, float] | None


@router.api_route("/p/{profile_id}/ops/{index}/cost", methods=_READ)
async def op_cost(
    request: Request, profile_id: str, index: int, reader: Reader, parts: Parts
) -> Response:
    """The estimate of one op; 204 where its shapes or the device are not known.

    The query has what was measured per call (`measured_us`, `calls`, `counted_flops`,
    `counted_bytes`) and `category`; with `op`, the fields of a form that the reader has changed.
    In place of counts it may have `each_us`, `rate_gflops` and `intensity` of the main memory.
    """
    content = await computed(reader, profile_id, lambda: reader.op_details(profile_id, index))
    given = _with_counts({key: value[:MOST_TEXT] for key, value in request.query_params.items()})
    view = await run_in_threadpool(_op_view, reader, profile_id, orjson.loads(content), given)
    if view is None:
        return Response(status_code=204)
    return parts.templates.page("_op_cost.html", view, request)


def _with_counts(given: Mapping[str, str]) -> dict[str, str]:
    """`given` with FLOPs and bytes per call, where it has rates: time × rate, FLOPs ÷ intensity."""
    each_us, gflops = positive(given, "each_us"), positive(given, "rate_gflops")
    if each_us is None or gflops is None:
        return dict(given)
    flop, intensity = each_us * gflops * GIGA / US_PER_S, positive(given, "intensity")
    counts = {"counted_flops": f"{flop:.9g}"}
    if intensity is not None:
        counts["counted_bytes"] = f"{flop / intensity:.9g}"
    return {**given, **counts}


def _op_view(
    reader: ProfileReader, profile_id: str, details: Mapping[str, Any], given: Mapping[str, str]
) -> OpCostView | None:
    part = catalogue.find(reader.manifest(profile_id).summary.device)
    own = _form(details, given)
    if part is None or own is None:
        return None
    form = filled(given["op"], given) if given.get("op") else own
    kept = {key: given[key] for key in KEPT if given.get(key)}
    kept |= {"from": profile_id, "name": str(details["name"])[:MOST_TEXT], "of": own.shape}
    is_whole = part.devices_per_chip == 1
    try:
        measured = measured_of(kept, form) if is_whole else calculator_cards.Measured()
        found = cost(form, part.id, measured, kept)
    except BadViewError:
        return None
    query = {"op": form.op, **form.values, "device": part.id, **kept}
    return OpCostView(
        op=form.op,
        device=part.id,
        url="/calculator?" + urlencode({key: value for key, value in query.items() if value}),
        sizes=tuple(field_view(one, form) for one in form.form.sizes),
        options=tuple(field_view(one, form) for one in form.form.options),
        kept=tuple(kept.items()),
        cost=found,
        notes=() if is_whole else (_OF_A_CHIP,),
        category=given.get("category", ""),
        landing=_landing(form, part.id, given) if is_whole else None,
    )


def _landing(form: Filled, device: str, given: Mapping[str, str]) -> Mapping[str, float] | None:
    """Predicted over measured, per call; `None` where the op has no place in the chart."""
    found = estimate(form.op, form.shape, device, form.options)
    ratios = {
        "time_ratio": _ratio(found.t_min_us, positive(given, "measured_us")),
        "flop_ratio": _ratio(found.flop, positive(given, "counted_flops")),
        "bytes_ratio": _ratio(found.work.memory_bytes, positive(given, "counted_bytes")),
    }
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    return known if len(known) == len(ratios) else None


def _ratio(predicted: float | None, measured: float | None) -> float | None:
    return predicted / measured if predicted and measured else None


def _form(details: Mapping[str, Any], given: Mapping[str, str]) -> Filled | None:
    shapes = details.get("shapes") or {"operands": (), "results": ()}
    return form_of_op(
        MeasuredOp(
            name=details["name"],
            category=given.get("category", ""),
            operands=tuple(shapes["operands"]),
            results=tuple(shapes["results"]),
            flop=positive(given, "counted_flops"),
            group_size=details.get("group_size"),
        )
    )

"""The expected cost of a stored profile's op: a part of its drawer, filled in from its shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from roofline.devices import catalogue
from roofline.errors import BadViewError
from roofline.estimate.forms import Filled, filled
from roofline.estimate.from_op import MeasuredOp, form_of_op
from roofline.estimate.on_device import estimate
from roofline.library.reader import ProfileReader
from roofline.model.units import GIGA, US_PER_S
from roofline.web.api.results import computed
from roofline.web.offline import calculator_views as views
from roofline.web.offline.calculator import KEPT, MOST_TEXT, field_view, measured_of
from roofline.web.offline.calculator_cards import Measured, cost, positive
from roofline.web.parts import Parts, Reader

_OF_A_CHIP = "Peaks are those of a whole chip, of which a device of this profile is a part."

router = APIRouter(include_in_schema=False)


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


@router.api_route("/p/{profile_id}/ops/{index}/cost", methods=["GET", "HEAD"])
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
    view = await run_in_threadpool(_view, reader, profile_id, orjson.loads(content), given)
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


def _view(
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
        measured = measured_of(kept, form) if is_whole else Measured()
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

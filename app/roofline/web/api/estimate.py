"""Estimates over HTTP: what an op or a model should cost on a part, or in other number formats."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.document import estimate_document
from roofline.estimate.llm.config import ModelConfig, config_of, preset
from roofline.estimate.llm.document import step_document
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import MeasuredRequest, request_document
from roofline.estimate.llm.serving import request_of
from roofline.estimate.llm.step import step_of
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import Options
from roofline.library.comparing import formats_over, predict_over
from roofline.web.api.comparing import note_compared, sides_of
from roofline.web.api.responses import NOT_READY
from roofline.web.parts import Reader

router = APIRouter(prefix="/api/v1", tags=["estimates"])

Op = Literal[
    "matmul",
    "distributed-matmul",
    "convolution",
    "gather",
    "chain",
    "dot",
    "elementwise",
    "norm",
    "softmax",
    "reduction",
    "attention",
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "permute",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateBody(Options):
    """An op, its shape and a device, as `roofline estimate` takes them; docs/estimate.md."""

    op: Op
    shape: str
    device: str


@router.post("/estimate")
async def estimated(request: Request, given: EstimateBody) -> dict[str, Any]:
    """FLOPs, bytes, intensity and the time of each resource for one op on a part."""
    check_options(asdict(given), await request.json(), "an estimate")
    options = {one.name: getattr(given, one.name) for one in fields(Options)}
    return estimate_document(estimate(given.op, given.shape, given.device, Options(**options)))


_MOST_TEXT = 100
_MOST_NUMBER = 10**9


def check_options(given: Mapping[str, object], sent: Iterable[str], what: str) -> None:
    """Raise `BadViewError` for a key of `sent` that means nothing and for a value out of range.

    `given` are the options as they were read, without unknown keys; `what` is "an estimate".
    """
    for name in sent:
        if name not in given:
            raise BadViewError(
                f'"{name[:_MOST_TEXT]}" is not an option of {what}.',
                remedy=f"Options are {', '.join(given)}.",
            )
    for name, value in given.items():
        if not _is_in_range(value):
            raise BadViewError(
                f"The option {name} has a value that it cannot have.",
                remedy="Texts have up to 100 characters; numbers are not negative.",
            )


def _is_in_range(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MOST_TEXT
    return not isinstance(value, int | float) or 0 <= value <= _MOST_NUMBER


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictBody(PredictOptions):
    """A model, a device and options, as `roofline predict` takes them; docs/predict.md.

    `model` is a preset; `config` the content of a `config.json` in its place; `over` the id of a
    profile to lay the model over.
    """

    device: str
    model: str | None = None
    config: dict[str, Any] | None = None
    over: str | None = None
    draft: str | None = None
    measured_ttft_ms: float | None = None
    measured_tpot_ms: float | None = None
    measured_tokens_per_s: float | None = None


@router.post("/predict", responses=NOT_READY)
async def predicted(request: Request, reader: Reader, given: PredictBody) -> dict[str, Any]:
    """FLOPs, bytes and time of each op of one step, the step's times, and the memory it needs.

    With `over`, the id of a profile: which ops are which, and measured over predicted.
    """
    check_options(asdict(given), await request.json(), "a prediction")
    options = {one.name: getattr(given, one.name) for one in fields(PredictOptions)}
    if given.phase == "request":
        return await run_in_threadpool(_request, given, PredictOptions(**options))
    load = workload(PredictOptions(**options))
    step = step_of(_model(given), load, known_part(given.device))
    document = step_document(step, given.model or "config")
    if given.over is None:
        return document
    stored = (await sides_of(reader, (given.over,), ())).a[0]
    note_compared(request, (given.over,))
    over = await run_in_threadpool(predict_over, step, stored)
    return {**document, "coverage": over["coverage"], "over": over}


def _request(given: PredictBody, options: PredictOptions) -> dict[str, Any]:
    draft = None if given.draft is None else preset(given.draft)
    found = request_of(_model(given), options, known_part(given.device), draft)
    measured = MeasuredRequest(
        ttft_ms=given.measured_ttft_ms,
        tpot_ms=given.measured_tpot_ms,
        tokens_per_s=given.measured_tokens_per_s,
    )
    return request_document(found, given.model or "config", measured)


def _model(given: PredictBody) -> ModelConfig:
    if (given.model is None) == (given.config is None):
        raise BadViewError(
            "A prediction needs one model.", remedy='Give "model", a preset, or "config".'
        )
    return config_of(given.config) if given.model is None else preset(given.model)


_LONGEST = 300


_Text = Annotated[str, Query(max_length=_LONGEST)]
_Format = Annotated[str | None, Query(max_length=20, description="An element type: int4:g128.")]


@router.get("/profiles/{profile_id}/whatif", responses=NOT_READY)
async def whatif(
    request: Request,
    profile_id: str,
    reader: Reader,
    storage: _Format = None,
    compute: _Format = None,
    tensors: Literal["auto", "weights", "all"] = "auto",
    category: _Text = "",
    op: _Text = "",
    link_bytes: Annotated[
        float | None, Query(gt=0, le=100, description="The part of the bytes over links: 0.5.")
    ] = None,
) -> dict[str, Any]:
    """The profile with other number formats: stored ones change bytes, computed ones the roof. With
    `link_bytes` collectives move that part of their bytes."""
    formats = {
        "storage": storage,
        "tensors": tensors,
        "compute": compute,
        "category": category,
        "op": op,
        "link_bytes": link_bytes,
    }
    stored = (await sides_of(reader, (profile_id,), ())).a[0]
    return await run_in_threadpool(formats_over, stored, formats)

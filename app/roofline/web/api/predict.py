"""Predictions over HTTP: what a step of a language model should cost on a part."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig, preset
from roofline.estimate.llm.document import step_document
from roofline.estimate.llm.hugging_face import config_of
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import MeasuredRequest, request_document
from roofline.estimate.llm.serving import request_of
from roofline.estimate.llm.step import step_of
from roofline.library.comparing import predict_over
from roofline.web.api.comparing import note_compared, sides_of
from roofline.web.api.estimate import check_options
from roofline.web.api.responses import NOT_READY
from roofline.web.parts import Reader

router = APIRouter(prefix="/api/v1", tags=["estimates"])


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

"""Predictions over HTTP: what a step of a language model should cost on a part."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from fastapi import APIRouter, Request

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig, preset
from roofline.estimate.llm.document import step_document
from roofline.estimate.llm.hugging_face import config_of
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import step_of

router = APIRouter(prefix="/api/v1", tags=["estimates"])

_MOST_TEXT = 100
_MOST_NUMBER = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictBody(PredictOptions):
    """A model, a device and options, as `roofline predict` takes them; docs/predict.md.

    `model` is a preset; `config` the content of a `config.json` in its place.
    """

    device: str
    model: str | None = None
    config: dict[str, Any] | None = None


@router.post("/predict")
async def predicted(request: Request, given: PredictBody) -> dict[str, Any]:
    """FLOPs, bytes and time of each op of one step, the step's times, and the memory it needs."""
    _check(given, await request.json())
    model = _model(given)
    options = {one.name: getattr(given, one.name) for one in fields(PredictOptions)}
    load = workload(PredictOptions(**options))
    return step_document(step_of(model, load, known_part(given.device)), given.model or "config")


def _model(given: PredictBody) -> ModelConfig:
    if (given.model is None) == (given.config is None):
        raise BadViewError(
            "A prediction needs one model.", remedy='Give "model", a preset, or "config".'
        )
    return config_of(given.config) if given.model is None else preset(given.model)


def _check(given: PredictBody, sent: dict[str, Any]) -> None:
    """Raise `BadViewError` for a key that means nothing and for a value out of range."""
    known = [one.name for one in fields(PredictBody)]
    for name in sent:
        if name not in known:
            raise BadViewError(
                f'"{name[:_MOST_TEXT]}" is not an option of a prediction.',
                remedy=f"Options are {', '.join(known)}.",
            )
    for name, value in asdict(given).items():
        if not _is_in_range(value):
            raise BadViewError(
                f"The option {name} has a value that it cannot have.",
                remedy="Texts have up to 100 characters; numbers are not negative.",
            )


def _is_in_range(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MOST_TEXT
    return not isinstance(value, int | float) or 0 <= value <= _MOST_NUMBER

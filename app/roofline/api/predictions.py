"""`predict`: what a step of a language model, or a request, should cost on a part."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from roofline.api.estimates import chosen
from roofline.api.results import Cell, Result
from roofline.devices.choice import known_part
from roofline.estimate.llm.config import ModelConfig, preset
from roofline.estimate.llm.document import step_document, step_text
from roofline.estimate.llm.hugging_face import read_config
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import (
    MeasuredRequest,
    request_document,
    request_sentences,
    request_text,
)
from roofline.estimate.llm.serving import Request, request_of
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.llm.times import time_text

_PHASES = ("prefill", "decode")


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Result):
    """A step of a language model, or a request, on a part; docs/predict.md.

    `found` is all of it, and not a stable surface.
    """

    name: str
    found: Step | Request
    measured: MeasuredRequest = field(default_factory=MeasuredRequest)

    @property
    def sentence(self) -> str:
        """What binds a request; what a step takes at least."""
        if isinstance(self.found, Request):
            return f"{self._head}. {' '.join(request_sentences(self.found))}"
        time = time_text(self.found.step_us["serial"])
        return f"{self._head}: {time} one op after the other."

    @property
    def _head(self) -> str:
        return self.to_text().partition("\n")[0]

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline predict --format json`."""
        if isinstance(self.found, Request):
            return request_document(self.found, self.name, self.measured)
        return step_document(self.found, self.name)

    def to_text(self) -> str:
        """What `roofline predict` prints."""
        if isinstance(self.found, Request):
            return request_text(self.found, self.name, self.measured)
        return step_text(self.found, self.name)

    def rows(self) -> list[dict[str, Any]]:
        """One row per op of a step, per phase of a request; keys as in `to_dict()`."""
        document = self.to_dict()
        if isinstance(self.found, Step):
            return _flat(document["ops"])
        phases = [{"phase": name} | document[name] for name in _PHASES if document.get(name)]
        return _flat(phases)

    def cell(self) -> Cell:
        """The sentence, and the ops that take longest."""
        rows = sorted(self.rows(), key=lambda row: -(row.get("time_us") or 0.0))
        return Cell(lines=[self.sentence], rows=rows[:10])


def predict(model: str, *, phase: str, device: str, **options: Any) -> Prediction:
    """A step (`phase` is prefill, decode, mixed or train) or a request of a model on a part.

    `model` is a preset or the path of a `config.json`, `draft` of a request the model that guesses
    tokens; `measured_ttft_ms`, `measured_tpot_ms` and `measured_tokens_per_s` are what a server
    took. Other `options` are those of the command, as in `batch=8, context=4096`. Raises
    `BadViewError` for what is not understood.
    """
    draft = options.pop("draft", None)
    given = {one.name: options.pop(f"measured_{one.name}", None) for one in fields(MeasuredRequest)}
    name, config = read_model(model)
    part, load = known_part(device), chosen(PredictOptions, options | {"phase": phase})
    if phase == "request":
        guesses = None if draft is None else read_model(draft)[1]
        return Prediction(name, request_of(config, load, part, guesses), MeasuredRequest(**given))
    return Prediction(name, step_of(config, workload(load), part))


def read_model(given: str) -> tuple[str, ModelConfig]:
    """The name and the numbers of a preset, or of the model in a file ending in .json."""
    path = Path(given)
    if path.suffix.casefold() != ".json":
        return given.casefold(), preset(given)
    return path.stem if path.stem != "config" else path.absolute().parent.name, read_config(path)


def _flat(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The numbers and texts of each record, without what is nested."""
    return [{k: v for k, v in one.items() if not isinstance(v, dict | list)} for one in records]

"""The form of the page of a model: its fields, and the workload that an address means."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from roofline.errors import BadViewError
from roofline.estimate.forms import NETWORK_FIELDS, Field, field_of, written
from roofline.estimate.llm.config import ModelConfig, config_of, preset, presets
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import MeasuredRequest
from roofline.estimate.llm.workload import Workload
from roofline.model.plain_data import read_beside

CONFIG = "config"
"""The value of the choice of a model where a pasted config stands in for a preset."""

MOST_CONFIG = 8_000
_MOST_NUMBER = 10**9
REQUEST = "request"
_PHASES = (REQUEST, "decode", "prefill", "mixed", "train")
_MODEL = "llama-3-8b"


_FIELDS = read_beside(__file__, "model_form.json")


def _fields(*parts: Sequence[Mapping[str, Any]]) -> tuple[Field, ...]:
    """The fields of parts of `model_form.json`; a draft is one of the presets."""
    found = (field_of(one) for part in parts for one in part)
    return tuple(
        replace(one, choices=tuple(presets())) if one.key == "draft" else one for one in found
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelForm:
    """The form as an address fills it in: a text for each field."""

    model: str
    phase: str
    config: str
    values: Mapping[str, str]
    main: tuple[Field, ...]
    more: tuple[Field, ...]
    network: tuple[Field, ...] = NETWORK_FIELDS

    @property
    def title(self) -> str:
        """The name of the model."""
        return "config.json" if self.model == CONFIG else self.model

    @property
    def shape(self) -> ModelConfig:
        """The model; `BadViewError` for a name or a config that is not known."""
        if self.model != CONFIG:
            return preset(self.model)
        return config_of(_config(self.config))

    @property
    def load(self) -> Workload:
        """The workload of a step; `BadViewError` for a value that an option cannot have."""
        return workload(self.options)

    @property
    def options(self) -> PredictOptions:
        """The options, those of a request too; `BadViewError` for what cannot be read."""
        known = {one.name for one in fields(PredictOptions)}
        given = {key: value for key, value in self._given().items() if key in known}
        return PredictOptions(phase=self.phase, **given)

    @property
    def draft(self) -> ModelConfig | None:
        """The model that guesses the tokens of a request."""
        name = self.values.get("draft", "")
        return preset(name) if name else None

    @property
    def measured(self) -> MeasuredRequest:
        """What a server took for such requests."""
        given = self._given()
        return MeasuredRequest(
            ttft_ms=given.get("measured_ttft_ms"),
            tpot_ms=given.get("measured_tpot_ms"),
            tokens_per_s=given.get("measured_tokens_per_s"),
        )

    def _given(self) -> dict[str, Any]:
        every = (*self.main, *self.more, *self.network)
        read = {one.key: _value(one, self.values[one.key]) for one in every}
        return {key: value for key, value in read.items() if value is not None}


def read_form(given: Mapping[str, str]) -> ModelForm:
    """The form with the values `given`, defaults for the others."""
    phase = given.get("phase") or ("decode" if given.get("over") else REQUEST)
    phase = phase if phase in _PHASES else REQUEST
    main = _fields([_FIELDS["batch"]], _FIELDS["lengths"][phase], _FIELDS["always"])
    more = _fields(_FIELDS["more"][phase], _FIELDS["more_always"])
    every = (*main, *more, *NETWORK_FIELDS)
    values = {one.key: written(one, given.get(one.key, "")) or one.default for one in every}
    return ModelForm(
        model=given.get("model") or _MODEL,
        phase=phase,
        config=given.get("config", "")[:MOST_CONFIG],
        values=values,
        main=main,
        more=more,
    )


def check_phase(phase: str) -> None:
    """Raises `BadViewError` for one that is not offered."""
    if phase and phase not in _PHASES:
        raise BadViewError(
            f'"{phase[:60]}" is not a phase.', remedy=f"Name one of: {', '.join(_PHASES)}."
        )


def models() -> Iterable[str]:
    """The models to choose from: presets, then a pasted config."""
    return (*presets(), CONFIG)


def phases() -> tuple[str, ...]:
    """The phases."""
    return _PHASES


def _config(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise BadViewError(
            "The config is not JSON.", remedy="Paste the content of a config.json."
        ) from fault
    if not isinstance(found, dict):
        raise BadViewError("The config is not an object.", remedy="Paste a whole config.json.")
    return found


def _value(one: Field, text: str) -> object:
    if one.kind == "flag":
        return text == "yes"
    if not text:
        return None
    if one.key in ("grad_bytes", "zero") or one.kind == "count":
        return _whole(one, text)
    if one.kind == "number":
        return _share(one, text)
    return text


def _whole(one: Field, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) > _MOST_NUMBER:
        raise BadViewError(f"{one.label} cannot be read.", remedy="Write a whole number.")
    return int(text)


def _share(one: Field, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadViewError(f"{one.label} cannot be read.", remedy="Write a number.")
    return value

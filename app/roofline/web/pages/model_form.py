"""The form of the page of a model: its fields, and the workload that an address means."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from roofline.errors import BadViewError
from roofline.estimate.forms import STORAGE, TYPES, Field, Kind, written
from roofline.estimate.llm.config import ModelConfig, preset, presets
from roofline.estimate.llm.hugging_face import config_of
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.workload import Workload

CONFIG = "config"
"""The value of the choice of a model where a pasted config stands in for a preset."""

MOST_CONFIG = 8_000
_MOST_NUMBER = 10**9
_PHASES = ("decode", "prefill", "mixed", "train")
_DEFAULTS = {"model": "llama-3-8b", "phase": "decode", "batch": "8", "context": "2048"}


def _one_of(key: str, label: str, choices: tuple[str, ...], default: str = "") -> Field:
    return Field(key=key, label=label, kind="choice", choices=choices, default=default)


def _count(key: str, label: str, default: str = "", kind: Kind = "count") -> Field:
    return Field(key=key, label=label, default=default, kind=kind)


def _lengths(phase: str) -> tuple[Field, ...]:
    if phase == "decode":
        return (_count("context", "Context", "2048"), _count("new_tokens", "Guessed tokens", "1"))
    if phase == "mixed":
        return (
            _count("context", "Context of these", "2048"),
            _count("prompts", "Prompts", "1"),
            _count("seq", "Their new tokens", "512"),
            _count("cached", "Their cached tokens", "0"),
        )
    if phase == "prefill":
        return (_count("seq", "New tokens", "2048"), _count("cached", "Cached tokens", "0"))
    return (_count("seq", "Tokens", "4096"),)


_STORED = (
    Field(key="weights", label="Weights", kind="storage", default="bf16"),
    Field(key="kv", label="KV cache", kind="storage", default="bf16"),
)
_WAYS = (
    _count("tp", "TP ways", "1"),
    _count("pp", "PP ways", "1"),
    _count("ep", "EP ways", "1"),
    _count("dp", "DP ways", "1"),
)
_MORE = (
    Field(key="activations", label="Activations", kind="storage", default="bf16"),
    Field(key="expert_weights", label="Expert weights", kind="storage"),
    Field(key="compute", label="Arithmetic", kind="type"),
    Field(key="logits", label="Logits", kind="storage", default="bf16"),
    _one_of("pairs", "Pairs of attention", ("full", "causal")),
    _one_of("fusion", "Fusion", ("unfused", "typical", "ideal"), "typical"),
    _one_of("head", "Tokens of the head", ("last", "all")),
    _count("microbatches", "Microbatches", "1"),
    _count("kv_block", "Block of the cache", "1"),
    _count("acceptance", "Acceptance", kind="number"),
    _one_of("recompute", "Recompute", ("none", "full"), "none"),
    _one_of("grad_bytes", "Bytes of a gradient", ("2", "4"), "2"),
    Field(key="flash", label="Flash attention", kind="flag", default="yes"),
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
        """The workload; `BadViewError` for a value that an option cannot have."""
        given: dict[str, Any] = {"phase": self.phase}
        for one in (*self.main, *self.more):
            value = _value(one, self.values[one.key])
            if value is not None:
                given[one.key] = value
        known = {one.name for one in fields(PredictOptions)}
        return workload(PredictOptions(**{key: given[key] for key in given if key in known}))


def read_form(given: Mapping[str, str]) -> ModelForm:
    """The form with the values `given`, defaults for the others."""
    phase = given.get("phase") or _DEFAULTS["phase"]
    phase = phase if phase in _PHASES else _DEFAULTS["phase"]
    main = (_count("batch", "Batch", _DEFAULTS["batch"]), *_lengths(phase), *_STORED, *_WAYS)
    every = (*main, *_MORE)
    values = {one.key: written(one, given.get(one.key, "")) or one.default for one in every}
    return ModelForm(
        model=given.get("model") or _DEFAULTS["model"],
        phase=phase,
        config=given.get("config", "")[:MOST_CONFIG],
        values=values,
        main=main,
        more=_MORE,
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
    if one.key == "grad_bytes" or one.kind == "count":
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
        return float(text)
    except ValueError as fault:
        raise BadViewError(f"{one.label} cannot be read.", remedy="Write a number.") from fault


def offered(one: Field) -> tuple[str, ...]:
    """The choices of a field; nothing for one to write in."""
    return {"storage": STORAGE, "type": TYPES}.get(one.kind, one.choices)

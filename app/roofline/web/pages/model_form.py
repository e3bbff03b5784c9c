"""The form of the page of a model: its fields, and the workload that an address means."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from roofline.errors import BadViewError
from roofline.estimate.forms import NETWORK_FIELDS, Field, Kind, written
from roofline.estimate.llm.config import ModelConfig, config_of, preset, presets
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import MeasuredRequest
from roofline.estimate.llm.workload import Workload

CONFIG = "config"
"""The value of the choice of a model where a pasted config stands in for a preset."""

MOST_CONFIG = 8_000
_MOST_NUMBER = 10**9
REQUEST = "request"
_PHASES = (REQUEST, "decode", "prefill", "mixed", "train")
_MODEL, _BATCH = "llama-3-8b", "8"


def _one_of(key: str, label: str, choices: tuple[str, ...], default: str = "") -> Field:
    return Field(key=key, label=label, kind="choice", choices=choices, default=default)


def _count(key: str, label: str, default: str = "", kind: Kind = "count") -> Field:
    return Field(key=key, label=label, default=default, kind=kind)


def _lengths(phase: str) -> tuple[Field, ...]:
    if phase == REQUEST:
        return (_count("prompt", "Prompt", "2048"), _count("output", "Output", "256"))
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
_GUESSES = (
    _count("cached", "Cached tokens", "0"),
    _count("new_tokens", "Guessed tokens", "1"),
    _one_of("draft", "Guessed by", tuple(presets())),
)
_SHARES = (
    _one_of("zero", "ZeRO stage", ("0", "1", "2", "3"), "0"),
    _count("virtual", "Chunks of a stage", "1"),
    _one_of("recompute", "Recompute", ("none", "selective", "full"), "none"),
    _one_of("grad_bytes", "Bytes of a gradient", ("2", "4"), "2"),
)
_CONTEXT_WAYS = _count("cp", "CP ways", "1")
_MEASURED = (
    _count("measured_ttft_ms", "Measured: first token, ms", kind="number"),
    _count("measured_tpot_ms", "per token, ms", kind="number"),
    _count("measured_tokens_per_s", "tokens/s", kind="number"),
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
    Field(key="dispatch", label="Tokens to experts", kind="storage"),
    _one_of("exchange", "Exchange of experts", ("direct", "per-node")),
    Field(key="flash", label="Flash attention", kind="flag", default="yes"),
    Field(key="sparse", label="Sparse 2:4", kind="flag"),
    Field(key="sequence_parallel", label="Sequence parallel", kind="flag"),
)


def _more(phase: str) -> tuple[Field, ...]:
    """Options that a reader rarely changes."""
    own = {
        REQUEST: (*_MEASURED, *_GUESSES),
        "prefill": (_CONTEXT_WAYS,),
        "train": (_CONTEXT_WAYS, *_SHARES),
    }
    return (*own.get(phase, ()), *_MORE)


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
    main = (_count("batch", "Batch", _BATCH), *_lengths(phase), *_STORED, *_WAYS)
    more = _more(phase)
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

"""The shape of a language model: presets, and the `config.json` of Hugging Face's model types."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from roofline.errors import BadViewError
from roofline.model.plain_data import read_beside
from roofline.model.units import MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Sizes of a decoder. `heads` are query heads, `kv_heads` those of keys and values.

    `mlp` is the width of a dense layer's MLP, 0 where all layers are experts. `windowed_layers` of
    the `layers` attend to the last `window` tokens. `gated` MLPs multiply two products, others
    have one (`up_proj`). `biases` are those of gpt-oss (with a sink per
    head), `qkv_biases` those of queries, keys and values, `output_biases` those after attention.
    Multi-head latent attention has `kv_rank` above 0: queries go through `q_rank` (0: one
    product), and each head
    has `head_without_position`, `head_with_position` and `value_head` elements. `source` is where
    the sizes were published, `stored` the method of quantisation by which the config says that
    weights are stored, empty where it says none.
    """

    hidden: int
    layers: int
    heads: int
    vocabulary: int
    kv_heads: int = 0
    head_size: int = 0
    mlp: int = 0
    gated: bool = True
    tied: bool = False
    qk_norm: bool = False
    sandwich_norms: bool = False
    biases: bool = False
    qkv_biases: bool = False
    output_biases: bool = False
    window: int = 0
    windowed_layers: int = 0
    experts: int = 0
    active_experts: int = 0
    expert_width: int = 0
    shared_experts: int = 0
    dense_layers: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    head_without_position: int = 0
    head_with_position: int = 0
    value_head: int = 0
    source: str = ""
    stored: str = ""

    @property
    def is_latent(self) -> bool:
        """True for multi-head latent attention."""
        return self.kv_rank > 0

    @property
    def expert_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def mlp_layers(self) -> int:
        """Layers with a dense MLP."""
        return self.layers - self.expert_layers

    @property
    def parameters(self) -> int:
        """All parameters, embedding table and head included."""
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        per_layer = _attention_parameters(self) + _norm_parameters(self)
        dense = (3 if self.gated else 2) * self.hidden * self.mlp
        return (
            embeddings
            + self.hidden
            + self.layers * per_layer
            + self.mlp_layers * dense
            + self.expert_layers * self.expert_layer_parameters
        )

    @property
    def expert_layer_parameters(self) -> int:
        """Router, experts and shared experts of one layer."""
        router = self.hidden * self.experts + (self.experts if self.biases else 0)
        shared = self.shared_experts * 3 * self.hidden * self.expert_width
        return router + self.experts * self.one_expert_parameters + shared

    @property
    def one_expert_parameters(self) -> int:
        """Gate, up and down matrices of one expert, biases included."""
        matrices = 3 * self.hidden * self.expert_width
        return matrices + (2 * self.expert_width + self.hidden if self.biases else 0)

    @property
    def routed_parameters(self) -> int:
        """Parameters of all routed experts of all layers."""
        return self.expert_layers * self.experts * self.one_expert_parameters


def _attention_parameters(model: ModelConfig) -> int:
    if model.is_latent:
        key = model.head_without_position + model.head_with_position
        queries = model.hidden * model.q_rank + (model.q_rank or model.hidden) * model.heads * key
        keys = model.hidden * (model.kv_rank + model.head_with_position)
        values = model.kv_rank * model.heads * (model.head_without_position + model.value_head)
        return (
            queries
            + keys
            + values
            + model.q_rank
            + model.kv_rank
            + model.heads * model.value_head * model.hidden
        )
    wide = (model.heads + 2 * model.kv_heads) * model.head_size
    narrow = model.heads * model.head_size
    biases = wide + model.hidden + model.heads if model.biases else 0
    biases += wide if model.qkv_biases else 0
    biases += model.hidden if model.output_biases else 0
    norms = 2 * model.head_size if model.qk_norm else 0
    return model.hidden * wide + narrow * model.hidden + biases + norms


def _norm_parameters(model: ModelConfig) -> int:
    return (4 if model.sandwich_norms else 2) * model.hidden


@cache
def presets() -> Mapping[str, ModelConfig]:
    """Published models by name."""
    found: Mapping[str, Mapping[str, Any]] = read_beside(__file__, "presets.json")
    return {name: ModelConfig(**fields) for name, fields in found.items()}


def preset(name: str) -> ModelConfig:
    """The model of this name; `BadViewError` lists them."""
    found = presets().get(name.casefold())
    if found is None:
        raise BadViewError(
            f'"{name}" is not a model.',
            remedy=f"Name one of: {', '.join(presets())}; or a config.json.",
        )
    return found


_MOST_BYTES = 4 * MIB
_MOST = 10**9
_MOST_LAYERS = 10_000
_NAME_SHOWN = 60

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """The facts that follow from the model type alone: its necessary keys, norms, windows.

    `experts` and `expert_width` are the keys of a mixture of experts. `every` gives one full layer
    after so many with a window, 1 where all layers have it, 0 where none has it. `defaults` are
    those of the model's class in transformers, for keys that published configs leave out.
    """

    experts: str = ""
    expert_width: str = "moe_intermediate_size"
    qk_norm: bool = False
    sandwich_norms: bool = False
    biases: bool = False
    qkv_biases: bool = False
    is_latent: bool = False
    is_tied: bool = False
    every: int = 0
    defaults: Mapping[str, int] = field(default_factory=dict)


_GEMMA_3 = _Kind(
    qk_norm=True,
    sandwich_norms=True,
    is_tied=True,
    every=6,
    defaults={
        "vocab_size": 262_208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
    },
)
_LATENT = _Kind(experts="n_routed_experts", is_latent=True)
_KINDS: Mapping[str, _Kind] = {
    "llama": _Kind(),
    "mistral": _Kind(every=1),
    "mixtral": _Kind(experts="num_local_experts", expert_width="intermediate_size", every=1),
    "qwen2": _Kind(qkv_biases=True),
    "qwen3": _Kind(qk_norm=True),
    "qwen3_moe": _Kind(experts="num_experts", qk_norm=True),
    "gemma": _Kind(is_tied=True),
    "gemma2": _Kind(sandwich_norms=True, is_tied=True, every=2),
    "gemma3": _GEMMA_3,
    "gemma3_text": _GEMMA_3,
    "gpt_oss": _Kind(
        experts="num_local_experts", expert_width="intermediate_size", biases=True, every=2
    ),
    "phi3": _Kind(every=1),
    "deepseek_v2": _LATENT,
    "deepseek_v3": _LATENT,
    "kimi_k2": _LATENT,
}


def read_config(path: Path) -> ModelConfig:
    """The model of the `config.json` at `path`; `BadViewError` names what is wrong with it."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BadViewError(f"{path} is too large for a config.json.", remedy=_REMEDY)
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BadViewError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
            remedy="Check the path and its permissions.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadViewError(f"{path} is not JSON.", remedy=_REMEDY) from error
    return config_of(content, str(path))


_REMEDY = "Name the config.json of a Hugging Face model, or a preset."


def config_of(content: object, source: str = "") -> ModelConfig:
    """The model that a `config.json` describes.

    `head_dim` is hidden ÷ heads where it is missing, `num_key_value_heads` the heads, and tables
    are not tied unless the model type ties them. `BadViewError` names a model type that is not
    known, and a key that is missing or has a value that it cannot have.
    """
    if not isinstance(content, Mapping):
        raise BadViewError("The config is not a JSON object.", remedy=_REMEDY)
    inner = content.get("text_config")
    text: Json = inner if isinstance(inner, Mapping) else content
    name = text.get("model_type", content.get("model_type"))
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        shown = f'"{str(name)[:_NAME_SHOWN]}"' if name is not None else "missing"
        raise BadViewError(
            f"model_type is {shown}, which is not a type that is known here.",
            remedy=f"Known types: {', '.join(_KINDS)}.",
        )
    text = {**kind.defaults, **text}
    tied = text.get("tie_word_embeddings", content.get("tie_word_embeddings", kind.is_tied))
    layers = _count(text, "num_hidden_layers", most=_MOST_LAYERS)
    has_biases = not kind.biases and text.get("attention_bias") is True
    sizes: dict[str, Any] = {
        **_attention(text, kind),
        **_window(text, kind, layers),
        **_mlp(text, kind, layers),
    }
    found = ModelConfig(
        hidden=_count(text, "hidden_size"),
        layers=layers,
        heads=_count(text, "num_attention_heads"),
        vocabulary=_count(text, "vocab_size"),
        tied=bool(tied),
        qk_norm=kind.qk_norm,
        sandwich_norms=kind.sandwich_norms,
        biases=kind.biases,
        qkv_biases=kind.qkv_biases or has_biases,
        output_biases=has_biases,
        source=source,
        stored=_stored(text) or _stored(content),
    )
    return replace(found, **sizes)


def _stored(text: Json) -> str:
    """How the published weights are quantised: fp8, mxfp4, awq …"""
    found = text.get("quantization_config")
    method = found.get("quant_method") if isinstance(found, Mapping) else None
    return method[:_NAME_SHOWN] if isinstance(method, str) else ""


def _attention(text: Json, kind: _Kind) -> dict[str, int]:
    heads = _count(text, "num_attention_heads")
    if kind.is_latent:
        return {
            "q_rank": 0 if text.get("q_lora_rank", 0) is None else _count(text, "q_lora_rank"),
            "kv_rank": _count(text, "kv_lora_rank"),
            "head_without_position": _count(text, "qk_nope_head_dim"),
            "head_with_position": _count(text, "qk_rope_head_dim"),
            "value_head": _count(text, "v_head_dim"),
        }
    kv_heads = _count(text, "num_key_value_heads", heads)
    if text.get("head_dim") is None and _count(text, "hidden_size") % heads:
        raise _bad("num_attention_heads", "it does not divide hidden_size, and head_dim is missing")
    size = _count(text, "head_dim", _count(text, "hidden_size") // heads)
    if heads % kv_heads:
        raise _bad("num_key_value_heads", "it does not divide num_attention_heads")
    return {"kv_heads": kv_heads, "head_size": size}


def _window(text: Json, kind: _Kind, layers: int) -> dict[str, int]:
    """The window and how many layers have it: as `layer_types` lists them, else by model type."""
    if not text.get("sliding_window") or text.get("use_sliding_window") is False:
        return {}
    window = _count(text, "sliding_window")
    listed = text.get("layer_types")
    if isinstance(listed, list):
        windowed = sum(one == "sliding_attention" for one in listed)
        if len(listed) != layers:
            raise _bad("layer_types", f"it has {len(listed)} entries for {layers} layers")
    elif text.get("use_sliding_window") is True:  # Qwen: the first layers see everything
        windowed = layers - min(_count(text, "max_window_layers", layers, least=0), layers)
    else:
        every = _count(text, "sliding_window_pattern", kind.every, least=0)
        windowed = layers if every == 1 else layers - layers // every if every else 0
    return {"window": window, "windowed_layers": windowed} if windowed else {}


def _mlp(text: Json, kind: _Kind, layers: int) -> dict[str, int]:
    if not kind.experts:
        return {"mlp": _count(text, "intermediate_size")}
    dense = _dense_layers(text, layers)
    experts, active = _count(text, kind.experts), _count(text, "num_experts_per_tok")
    if active > experts:
        raise _bad("num_experts_per_tok", f"there are {experts:,} experts")
    return {
        "experts": experts,
        "active_experts": active,
        "expert_width": _count(text, kind.expert_width),
        "shared_experts": _count(text, "n_shared_experts", 0, least=0),
        "dense_layers": dense,
        "mlp": _count(text, "intermediate_size") if dense else 0,
    }


def _dense_layers(text: Json, layers: int) -> int:
    """Layers of a mixture of experts that have a plain MLP."""
    first = _count(text, "first_k_dense_replace", 0, least=0)
    only = text.get("mlp_only_layers") or []
    step, every = _count(text, "decoder_sparse_step", 1), _count(text, "moe_layer_freq", 1)
    listed = only if isinstance(only, list) else []
    return sum(
        layer < first or layer in listed or (layer + 1) % step != 0 or layer % every != 0
        for layer in range(layers)
    )


def _count(
    text: Json, key: str, default: int | None = None, *, least: int = 1, most: int = _MOST
) -> int:
    """The whole number under `key`; a default stands in where it is missing or null."""
    value = text.get(key)
    if value is None:
        if default is None:
            raise BadViewError(
                f'The config has no "{key}".', remedy=f"Add {key}, or name a preset."
            )
        return default
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _bad(key, f"it is not a whole number from {least} to {most:,}")
    return value


def _bad(key: str, why: str) -> BadViewError:
    return BadViewError(f'"{key}" of the config cannot be used: {why}.', remedy=_REMEDY)

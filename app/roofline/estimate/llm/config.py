"""The shape of a language model: presets from published configs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from roofline.errors import BadViewError

_PRESETS = Path(__file__).with_name("presets.json")


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
    found: Mapping[str, Mapping[str, Any]] = json.loads(_PRESETS.read_text("utf-8"))
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

"""What a model is asked to do: sequences, tokens, element types, fusion, ways of parallelism."""

from dataclasses import dataclass, field
from typing import Literal

from roofline.devices.topology import NetworkChoice
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig

Phase = Literal["prefill", "decode", "train", "mixed"]
Fusion = Literal["unfused", "typical", "ideal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload: sequences, tokens, element types, fusion, and ways of parallelism.

    `new_tokens` per sequence go through the model, after `cached` ones. `all_logits` takes the head
    over all rows, not over the last of each sequence. In a mixed step `prompts` sequences with
    `prompt_tokens` new ones after `prompt_cached` run beside those that decode. `dispatch` is the
    element type of tokens on their way to experts, `exchange` how they go; `links` is what is known
    of the network.
    """

    phase: Phase = "decode"
    batch: int = 1
    new_tokens: int = 1
    cached: int = 0
    weights: str = "bf16"
    expert_weights: str | None = None
    activations: str = "bf16"
    kv: str = "bf16"
    logits: str = "bf16"
    compute: str | None = None
    causal: bool = False
    fusion: Fusion = "typical"
    flash: bool = True
    all_logits: bool = False
    absorbed: bool | None = None
    tp: int = 1
    ep: int = 1
    pp: int = 1
    dp: int = 1
    microbatches: int = 1
    recompute: bool = False
    grad_bytes: int = 2
    kv_block: int = 1
    acceptance: float | None = None
    prompts: int = 0
    prompt_tokens: int = 0
    prompt_cached: int = 0
    dispatch: str | None = None
    exchange: str | None = None
    links: NetworkChoice = field(default_factory=NetworkChoice)

    @property
    def is_per_node(self) -> bool:
        """Whether a token goes once to each other node that has one of its experts."""
        if self.exchange is not None:
            return self.exchange == "per-node"
        return self.phase != "decode"

    @property
    def devices(self) -> int:
        """Devices of the program."""
        return self.tp * self.ep * self.dp * self.pp

    @property
    def context(self) -> int:
        """Keys per sequence, the new ones included."""
        return self.cached + self.new_tokens

    @property
    def rows(self) -> int:
        """Tokens that go through the layers."""
        return self.batch * self.new_tokens + self.prompts * self.prompt_tokens

    @property
    def head_rows(self) -> int:
        """Rows of the language-model head."""
        return self.rows if self.all_logits else self.batch


def check(model: ModelConfig, load: Workload) -> None:
    """Raise `BadViewError` for a workload that cannot be."""
    ways = ("tp", "ep", "pp", "dp", "microbatches", "batch", "new_tokens", "grad_bytes", "kv_block")
    for name in ways:
        if getattr(load, name) < 1:
            raise _bad(f"--{name.replace('_', '-')} is below 1.", "Give 1 or more.")
    if load.cached < 0:
        raise _bad("There are fewer keys than new tokens.", "--context counts the new tokens too.")
    if model.heads % load.tp:
        raise _bad(
            f"{model.heads} heads cannot be split over {load.tp} devices.",
            "Choose --tp so that it divides the heads.",
        )
    if load.ep > max(model.experts, 1):
        raise _bad(
            f"The model has {model.experts} experts for {load.ep} ranks.", "Choose a smaller --ep."
        )
    if load.pp > model.layers:
        raise _bad(f"{model.layers} layers cannot be {load.pp} stages.", "Choose a smaller --pp.")
    if load.batch % load.microbatches:
        raise _bad(
            f"{load.batch} sequences are not {load.microbatches} equal microbatches.",
            "Choose --microbatches so that it divides --batch.",
        )


def _bad(message: str, remedy: str) -> BadViewError:
    return BadViewError(message, remedy=remedy)

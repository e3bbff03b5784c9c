"""What a model is asked to do: sequences, tokens, element types, fusion, ways of parallelism."""

from dataclasses import dataclass, field
from math import prod
from typing import Literal

from roofline.devices.topology import NetworkChoice
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig

Phase = Literal["prefill", "decode", "train", "mixed"]
Fusion = Literal["unfused", "typical", "ideal"]
Recompute = Literal["none", "selective", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload: sequences, tokens, element types, fusion, and ways of parallelism.

    `new_tokens` per sequence go through the model, after `cached` ones. `all_logits` takes the head
    over all rows, not over the last of each sequence. In a mixed step `prompts` sequences with
    `prompt_tokens` new ones after `prompt_cached` run beside those that decode. `dispatch` is the
    element type of tokens on their way to experts, `exchange` how they go; `links` is what is known
    of the network. The `dp` ranks share optimizer state (`zero` 1), gradients (2) and weights (3);
    `cp` ranks share the tokens of each sequence, with `sequence_parallel` the tp ranks those of
    norms and residuals. With `sparse` the weights of products in the layers are pruned
    to 2 of 4. A stage of the pipeline has `virtual` chunks of layers.
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
    recompute: Recompute = "none"
    grad_bytes: int = 2
    kv_block: int = 1
    acceptance: float | None = None
    prompts: int = 0
    prompt_tokens: int = 0
    prompt_cached: int = 0
    dispatch: str | None = None
    exchange: str | None = None
    zero: int = 0
    sequence_parallel: bool = False
    cp: int = 1
    virtual: int = 1
    sparse: bool = False
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
        return devices_of(self)

    @property
    def per_replica(self) -> int:
        """Devices that answer together; with experts spread, the ranks of one of their groups."""
        return self.tp * self.cp * self.pp

    @property
    def sharing(self) -> int:
        """Ranks that share what training keeps: those of the data and of its context."""
        return self.dp * self.cp

    @property
    def context(self) -> int:
        """Keys per sequence, the new ones included."""
        return self.cached + self.new_tokens

    @property
    def rows(self) -> int:
        """Tokens that go through the layers of one rank."""
        return self.tokens // self.cp

    @property
    def tokens(self) -> int:
        """New tokens of a replica."""
        return self.batch * self.new_tokens + self.prompts * self.prompt_tokens

    @property
    def head_rows(self) -> int:
        """Rows of the language-model head."""
        return self.rows if self.all_logits else self.batch


def devices_of(asked: object) -> int:
    """Devices of a program that is split in these ways."""
    found: int = prod(getattr(asked, way) for way in ("tp", "cp", "ep", "dp", "pp"))
    return found


def kept_tokens(checked: int, acceptance: float) -> float:
    """Tokens that stay of those `checked` at once: (1 - x^T) / (1 - x) at an acceptance of x."""
    return checked if acceptance == 1 else (1 - acceptance**checked) / (1 - acceptance)


def check(model: ModelConfig, load: Workload) -> None:
    """Raise `BadViewError` for a workload that cannot be."""
    ways = (
        *("tp", "ep", "pp", "dp", "cp", "virtual", "microbatches", "batch", "new_tokens"),
        *("grad_bytes", "kv_block"),
    )
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
    _check_shares(model, load)
    if load.batch % load.microbatches:
        raise _bad(
            f"{load.batch} sequences are not {load.microbatches} equal microbatches.",
            "Choose --microbatches so that it divides --batch.",
        )


def _check_shares(model: ModelConfig, load: Workload) -> None:
    if load.zero not in (0, 1, 2, 3):
        raise _bad(f"--zero {load.zero} is not a stage of ZeRO.", "Choose 0, 1, 2 or 3.")
    if load.zero and load.sharing < 2:
        raise _bad("Nothing to share: --zero needs --dp.", "Give --dp 2 or more.")
    if load.sparse and load.phase == "train":
        raise _bad("--sparse is of trained weights.", "Choose another phase.")
    if load.zero and load.phase != "train":
        raise _bad("--zero is of training.", "Choose --phase train.")
    if load.sequence_parallel and load.tp < 2:
        raise _bad("--sequence-parallel needs --tp.", "Give --tp 2 or more.")
    if load.cp > 1 and load.phase not in ("train", "prefill"):
        raise _bad("--cp is of training and prefill.", "Leave it out.")
    if load.new_tokens % load.cp:
        raise _bad(f"{load.new_tokens} tokens are not {load.cp} equal parts.", "Change --cp.")
    if load.virtual > 1:
        _check_chunks(model, load)


def _check_chunks(model: ModelConfig, load: Workload) -> None:
    chunks = load.pp * load.virtual
    if load.pp < 2:
        raise _bad("--virtual needs --pp.", "Give --pp 2 or more.")
    if model.layers % chunks:
        raise _bad(f"{model.layers} layers do not make {chunks} equal chunks.", "Change --virtual.")
    if load.microbatches % load.pp:
        raise _bad(
            f"{load.microbatches} microbatches do not fill {load.pp} stages in turn.",
            "Choose --microbatches as a multiple of --pp.",
        )


def _bad(message: str, remedy: str) -> BadViewError:
    return BadViewError(message, remedy=remedy)

"""The request of `roofline predict` and `POST /api/v1/predict`, and the workload that it means."""

from dataclasses import dataclass
from typing import Literal, cast, get_args

from roofline.devices.topology import NetworkChoice
from roofline.errors import BadViewError
from roofline.estimate.llm.workload import Fusion, Phase, Recompute, Workload
from roofline.model.plain_data import alike

Pairs = Literal["full", "causal"]
Head = Literal["last", "all"]
Exchange = Literal["direct", "per-node"]

_MOST = 10**9
"""Tokens, sequences and ranks beyond this are a slip, and overflow what counts FLOPs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictOptions(NetworkChoice):
    """Options of a prediction beside model and device; `None` is the default of the phase.

    `seq` are new tokens per sequence, after `cached` ones; `context` counts keys, new tokens
    included. `new_tokens` above 1 make decode a check of guessed tokens (speculative decoding).
    `weights`, `activations` and the others are element types; `expert_weights` those of routed
    experts. `kv_block` is the block of a paged cache in tokens, `acceptance` the share (0 to 1) of
    guessed tokens that are right. A mixed step decodes `batch` sequences at `context`, and reads
    `prompts` with `seq` new tokens after `cached` ones. `dispatch` is the element type of tokens on
    their way to experts, which goes to each expert (direct) or once to each node (per-node). A
    request (phase "request") has `prompt` and `output` tokens of each sequence. `sparse` weights of
    the layers are pruned to 2 of 4.
    """

    phase: str = "decode"
    batch: int = 1
    seq: int | None = None
    context: int | None = None
    cached: int = 0
    new_tokens: int | None = None
    weights: str = "bf16"
    expert_weights: str | None = None
    activations: str = "bf16"
    kv: str = "bf16"
    logits: str = "bf16"
    compute: str | None = None
    tp: int = 1
    ep: int = 1
    pp: int = 1
    dp: int = 1
    microbatches: int = 1
    pairs: str | None = None
    fusion: str = "typical"
    flash: bool = True
    head: str | None = None
    recompute: str = "none"
    grad_bytes: int = 2
    kv_block: int = 1
    acceptance: float | None = None
    prompts: int = 1
    dispatch: str | None = None
    exchange: str | None = None
    zero: int = 0
    sequence_parallel: bool = False
    cp: int = 1
    virtual: int = 1
    prompt: int | None = None
    output: int | None = None
    sparse: bool = False


def workload(given: PredictOptions) -> Workload:
    """The workload that `given` means; `BadViewError` says which option is wrong or missing."""
    phase = cast(Phase, _choice("phase", given.phase, get_args(Phase)))
    new, cached = _lengths(given, phase)
    is_mixed = phase == "mixed"
    is_check = phase == "decode" and new > 1
    pairs = _default("pairs", given.pairs, Pairs, "causal" if phase == "train" else "full")
    head = _default("head", given.head, Head, "all" if phase == "train" or is_check else "last")
    if given.grad_bytes not in (2, 4):
        raise BadViewError(
            f"Gradients have 2 or 4 bytes, not {given.grad_bytes}.", remedy="Choose 2 or 4."
        )
    if given.acceptance is not None and not 0 <= given.acceptance <= 1:
        raise BadViewError("Acceptance is a share.", remedy="Give a number from 0 to 1.")
    for name in ("batch", "tp", "ep", "pp", "dp", "cp", "microbatches", "kv_block", "prompts"):
        if getattr(given, name) > _MOST:
            raise BadViewError(f"{name} is above {_MOST:,}.", remedy="Choose a smaller one.")
    return alike(
        Workload,
        given,
        phase=phase,
        new_tokens=new,
        cached=cached,
        causal=pairs == "causal" or (is_check and given.pairs is None),
        fusion=cast(Fusion, _choice("fusion", given.fusion, get_args(Fusion))),
        all_logits=head == "all",
        absorbed=None,
        recompute=cast(Recompute, _choice("recompute", given.recompute, get_args(Recompute))),
        prompts=given.prompts if is_mixed else 0,
        prompt_tokens=(given.seq or 0) if is_mixed else 0,
        prompt_cached=given.cached if is_mixed else 0,
        exchange=given.exchange and _choice("exchange", given.exchange, get_args(Exchange)),
        links=given.choice,
    )


def _lengths(given: PredictOptions, phase: Phase) -> tuple[int, int]:
    """New tokens per sequence, and those that are in the cache."""
    if given.cached < 0:
        raise BadViewError(f"{given.cached} tokens cannot be cached.", remedy="Give 0 or more.")
    if phase == "mixed" and not (given.seq and given.context):
        raise _missing(phase, "--context N for those that decode, and --seq N for the prompts")
    if phase in ("decode", "mixed"):
        keys = given.context or given.seq
        new = 1 if given.new_tokens is None else given.new_tokens
        if keys is None:
            raise _missing("decode", "--context N: the keys of a sequence, the new one included")
        found = new, keys - new
    else:
        cached = given.cached if phase == "prefill" else 0
        tokens = given.seq or (given.context and given.context - cached)
        if not tokens:
            raise _missing(phase, "--seq N: the new tokens of a sequence")
        if tokens < 1:
            raise BadViewError(
                f"A {phase} step of {tokens} new tokens cannot be.",
                remedy="Give 1 or more with --seq.",
            )
        found = tokens, cached
    if max(*map(abs, found), given.seq or 0, given.cached) > _MOST:
        raise BadViewError(f"A length is above {_MOST:,}.", remedy="Give tokens per sequence.")
    return found


def _missing(phase: str, what: str) -> BadViewError:
    return BadViewError(f"A {phase} step needs a length.", remedy=f"Give {what}.")


def _default(name: str, value: str | None, kind: object, default: str) -> str:
    return default if value is None else _choice(name, value, get_args(kind))


def _choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise BadViewError(
            f'"{value}" is not a value of {name}.', remedy=f"Choose one of: {', '.join(choices)}."
        )
    return value

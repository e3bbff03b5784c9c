"""A step that decodes some sequences and reads the prompts of others: chunked prefill.

All rows go through each product together, so that weights are read once; attention runs for each
group by itself, and the head for one row of each sequence.
"""

from collections.abc import Iterator
from dataclasses import replace

from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.ops import ModelOp, Workload, forward

_OF_THE_HEAD = frozenset({"final_norm", "lm_head", "logits_allgather"})


def prompts_of(load: Workload) -> Workload:
    """The prompts of a mixed step, as a step of their own."""
    return replace(
        load,
        batch=load.prompts,
        new_tokens=load.prompt_tokens,
        cached=load.prompt_cached,
        prompts=0,
        # Both groups take the same path through latent attention.
        absorbed=True if load.absorbed is None else load.absorbed,
    )


def decoding_of(load: Workload) -> Workload:
    """The sequences of a mixed step that decode, as a step of their own."""
    return replace(load, prompts=0)


def mixed_ops(model: ModelConfig, load: Workload) -> tuple[ModelOp, ...]:
    """The ops of a mixed step; `BadViewError` for a load that cannot be."""
    if load.microbatches > 1 or load.new_tokens > 1:
        raise BadViewError(
            "A mixed step has one microbatch, and no guessed tokens.",
            remedy="Leave --microbatches and --new-tokens out.",
        )
    if load.prompts < 1 or load.prompt_tokens < 1 or load.prompt_cached < 0:
        raise BadViewError("A mixed step has prompts.", remedy="Give --prompts and --seq.")
    return tuple(_ops(model, load))


def _ops(model: ModelConfig, load: Workload) -> Iterator[ModelOp]:
    every = replace(load, batch=load.rows, prompts=0, all_logits=False)
    one_each = replace(every, batch=load.batch + load.prompts)
    heads = {op.name: op for op in forward(model, one_each) if op.name in _OF_THE_HEAD}
    groups = {
        "decode": forward(model, decoding_of(load)),
        "prefill": forward(model, prompts_of(load)),
    }
    for op in forward(model, every):
        if op.is_attention:
            for group, ops in groups.items():
                yield from _attention(op.name, group, ops)
        else:
            yield heads.get(op.name, op)


def _attention(name: str, group: str, ops: tuple[ModelOp, ...]) -> Iterator[ModelOp]:
    """The attention of one group, under a name of its own."""
    for op in ops:
        if op.name == name:
            yield replace(op, name=f"{name}.{group}")

"""A step that decodes some sequences and reads the prompts of others: chunked prefill.

All rows go through each product together, so that weights are read once; attention runs for each
group by itself, and the head for one row of each sequence. Latent attention of those that decode
works on compressed keys, that of prompts expands them, so that both read the weights for it.
"""

from collections.abc import Iterator
from dataclasses import replace

from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.model_op import ModelOp
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.workload import Workload

_OF_THE_HEAD = frozenset({"final_norm", "lm_head", "logits_allgather"})
_OF_A_GROUP = frozenset({"kv_b_proj", "q_absorb", "v_absorb"})
"""Products of latent attention that depend on its form, and each group has its own."""


def prompts_of(load: Workload) -> Workload:
    """The prompts of a mixed step, as a step of their own."""
    return replace(
        load,
        batch=load.prompts,
        new_tokens=load.prompt_tokens,
        cached=load.prompt_cached,
        prompts=0,
        absorbed=False if load.absorbed is None else load.absorbed,
    )


def decoding_of(load: Workload) -> Workload:
    """The sequences of a mixed step that decode, as a step of their own."""
    return replace(load, prompts=0, absorbed=True if load.absorbed is None else load.absorbed)


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
    is_told = False
    for op in forward(model, every):
        if not _is_of_a_group(op):
            yield heads.get(op.name, op)
        elif not is_told:
            is_told = True
            for group, ops in groups.items():
                yield from _attention(group, ops)


def _attention(group: str, ops: tuple[ModelOp, ...]) -> Iterator[ModelOp]:
    """The attention of one group, under names of its own."""
    for op in ops:
        if _is_of_a_group(op):
            yield replace(op, name=f"{op.name}.{group}")


def _is_of_a_group(op: ModelOp) -> bool:
    return op.is_attention or op.name in _OF_A_GROUP

"""The ops of a forward pass: FLOPs by unit and bytes by kind, per call and device.

R rows go through every layer; each of B sequences attends to its context. Formulas and symbols are
those of docs/predict.md: GEMMs count 2·M·N·K, softmax 5 and norms 4 per element.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import ceil

from roofline.devices.topology import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    REDUCE_SCATTER,
    SEND,
)
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.layer_ops import attention_block, mlp_block
from roofline.estimate.llm.rank import ModelOp, Rank, Sent
from roofline.estimate.llm.workload import Workload, check


def forward(model: ModelConfig, load: Workload) -> tuple[ModelOp, ...]:
    """The ops of one forward pass of one microbatch per device; of a pipeline those of a stage.

    A stage has layers ÷ stages, rounded up; the first has the embedding, the last the head.
    """
    check(model, load)
    part = replace(load, batch=load.batch // load.microbatches)
    rank = Rank(stage_of(model, load.pp), part)
    return tuple(op for op in _ops(rank) if op.calls)


def stage_of(model: ModelConfig, stages: int) -> ModelConfig:
    """The layers of one stage of a pipeline, kinds of layers in proportion."""
    if stages == 1:
        return model
    layers = ceil(model.layers / stages)
    return replace(
        model,
        layers=layers,
        windowed_layers=round(model.windowed_layers * layers / model.layers),
        dense_layers=round(model.dense_layers * layers / model.layers),
    )


def _ops(rank: Rank) -> Iterator[ModelOp]:
    """All ops in the order of the model, those of zero calls too."""
    yield _embedding(rank)
    yield from attention_block(rank)
    yield from mlp_block(rank)
    yield replace(rank.norm("final_norm", 1, rank.load.head_rows), place="last")
    yield _head(rank)
    yield from _collectives(rank)


def _embedding(rank: Rank) -> ModelOp:
    gathered = rank.load.rows * rank.model.hidden
    return ModelOp(
        name="embed",
        calls=1,
        place="first",
        weights=gathered * rank.sizes.w,
        activations=gathered * rank.sizes.a,
    )


def _head(rank: Rank) -> ModelOp:
    model, rows = rank.model, rank.load.head_rows
    words = model.vocabulary / rank.load.tp
    return ModelOp(
        name="lm_head",
        calls=1,
        place="last",
        matrix=2.0 * rows * model.hidden * words,
        weights=words * model.hidden * rank.sizes.w,
        activations=rows * model.hidden * rank.sizes.a + rows * words * rank.sizes.z,
    )


def _collectives(rank: Rank) -> Iterator[ModelOp]:
    load, model, s = rank.load, rank.model, rank.sizes
    if load.tp > 1:
        payload = load.rows * model.hidden * s.a
        kinds = (ALL_GATHER, REDUCE_SCATTER) if load.sequence_parallel else (ALL_REDUCE,)
        for block, kind in product(("attn", "mlp"), kinds):
            sent = Sent(kind=kind, payload=payload, ranks=load.tp)
            name = f"{block}_{kind.replace('-', '')}"
            yield ModelOp(name=name, calls=model.layers, sent=sent)
        logits = load.head_rows * model.vocabulary * s.z
        gathered = Sent(kind=ALL_GATHER, payload=logits, ranks=load.tp)
        yield ModelOp(name="logits_allgather", calls=1, sent=gathered, place="last")
    if load.ep > 1 and model.expert_layers:
        yield from _exchanges(rank)
    if load.cp > 1:
        keys = 2.0 * load.batch * load.new_tokens / load.cp * _key_elements(rank) * s.a
        sent = Sent(kind=SEND, payload=keys, ranks=load.cp, inner=(load.tp,))
        yield ModelOp(name="cp_exchange", calls=model.layers * (load.cp - 1), sent=sent)
    if load.pp > 1:
        inner = (load.tp, load.cp, load.ep, load.dp)
        sent = Sent(kind=SEND, payload=load.rows * model.hidden * s.a, ranks=2, inner=inner)
        yield ModelOp(name="pp_send", calls=1, sent=sent, place="boundary")


def _key_elements(rank: Rank) -> float:
    """Half of the elements of keys and values of one token and layer, on one rank."""
    model = rank.model
    if model.is_latent:
        return (model.kv_rank + model.head_with_position) / 2
    return rank.kv_heads * model.head_size


def _exchanges(rank: Rank) -> Iterator[ModelOp]:
    """Tokens to their experts and back: a copy for each expert, or one for each other node."""
    load, model = rank.load, rank.model
    copies = model.active_experts
    for name, size in (("ep_dispatch", rank.sizes.d), ("ep_combine", rank.sizes.a)):
        once = load.rows * model.hidden * size
        sent = Sent(
            kind=ALL_TO_ALL,
            payload=once if load.is_per_node else once * copies,
            ranks=load.ep,
            inner=(load.tp, load.cp),
            chosen=copies if load.is_per_node else 0,
        )
        yield ModelOp(name=name, calls=model.expert_layers, sent=sent)

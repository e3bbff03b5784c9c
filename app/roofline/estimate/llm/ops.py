"""The ops of a forward pass: FLOPs by unit and bytes by kind, per call and device.

R rows go through every layer; each of B sequences attends to its context. Formulas and symbols are
those of docs/predict.md: GEMMs count 2·M·N·K, softmax 5 and norms 4 per element.

A layer is attention (with heads of keys and values, windowed, or latent), and the dense layers or
experts behind it.
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


_SOFT_FLOP = 5.0  # of a softmax, per pair of query and key; one of them is an exponential


def attention_block(rank: Rank) -> Iterator[ModelOp]:
    """From the norm before attention to the residual behind it, of all layers."""
    layers = rank.model.layers
    yield rank.norm("attn_norm", layers, rank.load.rows)
    yield from _latent(rank) if rank.model.is_latent else _grouped(rank)
    if rank.model.sandwich_norms:
        yield rank.norm("post_attn_norm", layers, rank.load.rows)
    yield rank.residual("attn_residual", layers)


def _grouped(rank: Rank) -> Iterator[ModelOp]:
    """Attention with as many or fewer heads of keys than of queries."""
    model, load, s = rank.model, rank.load, rank.sizes
    rows, head = load.rows, model.head_size
    n, k = rank.heads, rank.kv_heads
    wide = (n + 2 * k) * head
    yield ModelOp(
        name="qkv_proj",
        calls=model.layers,
        matrix=2.0 * rows * model.hidden * wide,
        weights=model.hidden * wide * s.w,
        activations=(rows * model.hidden + rows * n * head) * s.a
        if rank.is_fused
        else (3 * rows * model.hidden + rows * wide) * s.a,
        kv=2.0 * rows * k * head * s.q if rank.is_fused else 0.0,
        is_layer_product=True,
    )
    turned = rows * (n + k) * head
    unfused = 0.0 if rank.is_fused else 2.0 * turned * s.a
    if model.qk_norm:
        yield ModelOp(
            name="qk_norm",
            calls=model.layers,
            vector=4.0 * turned,
            weights=2.0 * head * s.w,
            activations=unfused,
        )
    yield ModelOp(name="rope", calls=model.layers, vector=3.0 * turned, activations=unfused)
    if not rank.is_fused:
        written = 2.0 * rows * k * head
        yield ModelOp(
            name="kv_write",
            calls=model.layers,
            activations=written * s.a,
            kv=written * s.q,
        )
    yield from _attention(rank)
    yield ModelOp(
        name="o_proj",
        calls=model.layers,
        matrix=2.0 * rows * n * head * model.hidden,
        weights=n * head * model.hidden * s.w,
        activations=(rows * n * head + rows * model.hidden) * s.a,
        is_layer_product=True,
    )


def _attention(rank: Rank) -> Iterator[ModelOp]:
    """Full layers, and windowed ones where the model has them."""
    local = rank.model.windowed_layers
    if not local:
        yield from _scores(rank, "", rank.model.layers, window=0)
        return
    yield from _scores(rank, "_local", local, window=rank.model.window)
    yield from _scores(rank, "_global", rank.model.layers - local, window=0)


def _scores(rank: Rank, suffix: str, calls: int, *, window: int) -> Iterator[ModelOp]:
    load, s, head = rank.load, rank.sizes, rank.model.head_size
    n, k = rank.heads, rank.kv_heads
    pairs = _pairs(rank, window)
    keys = min(load.context, window + load.new_tokens - 1) if window else load.context
    query = load.rows * n * head * s.a
    key = load.batch * keys * k * head * s.q
    product, soft = 2.0 * load.batch * n * head * pairs, _SOFT_FLOP * load.batch * n * pairs
    if load.flash:
        yield ModelOp(
            name=f"attention{suffix}",
            calls=calls,
            matrix=2 * product,
            vector=soft,
            exp=load.batch * n * pairs,
            activations=2 * query,
            kv=2 * key,
            is_attention=True,
        )
        return
    scores = load.batch * n * load.new_tokens / load.cp * keys * s.a
    parts = (
        ("qk_matmul", product, 0.0, query + scores, key),
        ("softmax", 0.0, soft, 2 * scores, 0.0),
        ("sv_matmul", product, 0.0, scores + query, key),
    )
    for name, matrix, vector, moved, read in parts:
        yield ModelOp(
            name=f"{name}{suffix}",
            calls=calls,
            matrix=matrix,
            vector=vector,
            exp=vector / _SOFT_FLOP,
            activations=moved,
            kv=read,
            is_attention=True,
        )


def _pairs(rank: Rank, window: int = 0) -> float:
    """Pairs of a query and a key, per sequence and head; ranks of its context share them."""
    return _all_pairs(rank, window) / rank.load.cp


def _all_pairs(rank: Rank, window: int) -> float:
    new, cached = rank.load.new_tokens, rank.load.cached
    if window:
        reach = max(min(new, window - cached), 0)  # tokens before which the window is not full
        return reach * cached + reach * (reach + 1) / 2 + (new - reach) * window
    if rank.load.causal:
        return new * cached + new * (new + 1) / 2
    return new * (cached + new)


def _latent(rank: Rank) -> Iterator[ModelOp]:
    """Multi-head latent attention: the cache holds one compressed key for all heads."""
    m, load, s = rank.model, rank.load, rank.sizes
    rows, n, calls = load.rows, rank.heads, m.layers
    key = m.head_without_position + m.head_with_position
    if m.q_rank:
        yield rank.product("q_a_proj", calls, rows, m.hidden, m.q_rank)
        yield rank.norm("q_a_norm", calls, rows, m.q_rank)
        yield rank.product("q_b_proj", calls, rows, m.q_rank, n * key)
    else:
        yield rank.product("q_proj", calls, rows, m.hidden, n * key)
    yield rank.product("kv_a_proj", calls, rows, m.hidden, m.kv_rank + m.head_with_position)
    cached = rows * (m.kv_rank + m.head_with_position)
    yield ModelOp(
        name="kv_a_norm",
        calls=calls,
        vector=4.0 * rows * m.kv_rank,
        weights=m.kv_rank * s.w,
        activations=rank.vector_bytes(cached * s.a),
        kv=cached * s.q,
    )
    yield ModelOp(name="rope", calls=calls, vector=3.0 * rows * (n + 1) * m.head_with_position)
    yield from _absorbed(rank) if _is_absorbed(rank) else _expanded(rank)
    yield rank.product("o_proj", calls, rows, n * m.value_head, m.hidden)


def _is_absorbed(rank: Rank) -> bool:
    """Decode works on the compressed keys, prefill and training expand them."""
    chosen = rank.load.absorbed
    return rank.load.phase == "decode" if chosen is None else chosen


def _expanded(rank: Rank) -> Iterator[ModelOp]:
    m, load, s, n = rank.model, rank.load, rank.sizes, rank.heads
    seen = load.batch * load.context
    wide = n * (m.head_without_position + m.value_head)
    yield ModelOp(
        name="kv_b_proj",
        calls=m.layers,
        matrix=2.0 * seen / load.cp * m.kv_rank * wide,
        weights=m.kv_rank * wide * s.w,
        activations=seen / load.cp * wide * s.a,
        kv=seen / load.cp * m.kv_rank * s.q,
        is_layer_product=True,
    )
    each = m.head_without_position + m.head_with_position + m.value_head
    yield ModelOp(
        name="attention",
        calls=m.layers,
        matrix=2.0 * load.batch * n * _pairs(rank) * each,
        vector=_SOFT_FLOP * load.batch * n * _pairs(rank),
        exp=load.batch * n * _pairs(rank),
        activations=(load.rows * n * each + seen * wide) * s.a,
        kv=seen * m.head_with_position * s.q,
        is_attention=True,
    )


def _absorbed(rank: Rank) -> Iterator[ModelOp]:
    m, load, s, n = rank.model, rank.load, rank.sizes, rank.heads
    rows, latent, turned = load.rows, m.kv_rank, m.head_with_position
    for name, wide in (("q_absorb", m.head_without_position), ("v_absorb", m.value_head)):
        if name == "v_absorb":
            yield ModelOp(
                name="attention",
                calls=m.layers,
                matrix=2.0 * load.batch * n * _pairs(rank) * (2 * latent + turned),
                vector=_SOFT_FLOP * load.batch * n * _pairs(rank),
                exp=load.batch * n * _pairs(rank),
                activations=rows * n * (2 * latent + turned) * s.a,
                kv=load.batch * load.context * (latent + turned) * s.q,
                is_attention=True,
            )
        yield ModelOp(
            name=name,
            calls=m.layers,
            matrix=2.0 * rows * n * wide * latent,
            weights=n * wide * latent * s.w,
            activations=rows * n * (wide + latent) * s.a,
            is_layer_product=True,
        )


def mlp_block(rank: Rank) -> Iterator[ModelOp]:
    """From the norm before the dense products or experts to the residual behind them."""
    model = rank.model
    yield rank.norm("mlp_norm", model.layers, rank.load.rows)
    yield from _dense(rank, "", model.mlp_layers, model.mlp / rank.load.tp)
    if model.expert_layers:
        yield from _experts(rank)
    if model.sandwich_norms:
        yield rank.norm("post_mlp_norm", model.layers, rank.load.rows)
    yield rank.residual("mlp_residual", model.layers)


def _dense(rank: Rank, prefix: str, calls: int, width: float) -> Iterator[ModelOp]:
    model, rows, s = rank.model, rank.load.rows, rank.sizes
    names = ("gate_up_proj" if model.gated else "up_proj", "mlp_act", "down_proj")
    if prefix:
        names = (f"{prefix}_gate_up", f"{prefix}_act", f"{prefix}_down")
    wide = (2 if model.gated or prefix else 1) * width
    reads = 1 if rank.is_fused or wide == width else 2
    yield ModelOp(
        name=names[0],
        calls=calls,
        matrix=2.0 * rows * model.hidden * wide,
        weights=model.hidden * wide * s.w,
        activations=(reads * rows * model.hidden + rows * wide) * s.a,
        is_layer_product=True,
    )
    yield ModelOp(
        name=names[1],
        calls=calls,
        vector=5.0 * rows * width,
        exp=rows * width,
        activations=rank.vector_bytes((wide + width) * rows * s.a),
    )
    yield ModelOp(
        name=names[2],
        calls=calls,
        matrix=2.0 * rows * width * model.hidden,
        weights=width * model.hidden * s.w,
        activations=(rows * width + rows * model.hidden) * s.a,
        is_layer_product=True,
    )


def _touched_experts(rank: Rank) -> float:
    """Experts of one rank that a layer's rows reach, where the router spreads them evenly."""
    model, load = rank.model, rank.load
    missed = (1 - model.active_experts / model.experts) ** (load.rows * load.ep)
    return model.experts / load.ep * (1 - missed)


def _experts(rank: Rank) -> Iterator[ModelOp]:
    model, load, s = rank.model, rank.load, rank.sizes
    calls, rows = model.expert_layers, load.rows
    width = model.expert_width / load.tp
    routed, touched = rows * model.active_experts, _touched_experts(rank)
    gathered = 0.0 if rank.is_fused else (rows + routed) * model.hidden * s.a
    yield ModelOp(
        name="router",
        calls=calls,
        matrix=2.0 * rows * model.hidden * model.experts,
        vector=5.0 * rows * model.experts,
        exp=rows * model.experts,
        weights=model.hidden * model.experts * s.w,
        activations=(rows * model.hidden + rows * model.experts) * s.a,
    )
    yield ModelOp(
        name="expert_gate_up",
        calls=calls,
        matrix=4.0 * routed * model.hidden * width,
        weights=touched * 2 * model.hidden * width * s.e,
        activations=(routed * model.hidden + 2 * routed * width) * s.a + gathered,
        is_layer_product=True,
    )
    yield ModelOp(
        name="expert_act",
        calls=calls,
        vector=5.0 * routed * width,
        exp=routed * width,
        activations=rank.vector_bytes(3.0 * routed * width * s.a),
    )
    yield ModelOp(
        name="expert_down",
        calls=calls,
        matrix=2.0 * routed * width * model.hidden,
        weights=touched * model.hidden * width * s.e,
        activations=(routed * width + routed * model.hidden) * s.a,
        is_layer_product=True,
    )
    if model.shared_experts:
        yield from _dense(rank, "shared", calls, model.shared_experts * width)
    yield ModelOp(
        name="moe_combine",
        calls=calls,
        vector=2.0 * routed * model.hidden,
        activations=rank.vector_bytes((routed + rows) * model.hidden * s.a),
    )

"""The ops of the blocks behind attention: dense layers and experts."""

from collections.abc import Iterator

from roofline.estimate.llm.model_op import ModelOp
from roofline.estimate.llm.rank import Rank


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

"""A training step: forward, backward, recomputation, loss, optimizer, gradients over the ranks.

Backward does twice the work of forward, in hardware 2.5 times for flash attention, whose scores are
computed again. Weights are read once and their gradients written once. An Adam step in mixed
precision moves 26 bytes per parameter and the gradient.
"""

from collections.abc import Iterator
from dataclasses import replace

from roofline.estimate.element_types import bytes_per_element
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import stage_parameters
from roofline.estimate.llm.model_op import ModelOp
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.workload import Workload

_ADAM_BYTES = 26  # of master weights and two moments, read and written, and the bf16 copy
_ADAM_FLOP = 12
_AGAIN = 2.5  # attention in the backward pass, scores included, over the forward pass


def training_ops(model: ModelConfig, load: Workload) -> tuple[ModelOp, ...]:
    """The ops of one optimizer step per device; all rows go through the head.

    Ops before the optimizer are those of one microbatch.
    """
    whole = replace(load, all_logits=True, kv=load.activations, cached=0)
    return tuple(_ops(model, whole))


def _ops(model: ModelConfig, load: Workload) -> Iterator[ModelOp]:
    ahead = [op for op in forward(model, load) if op.name != "logits_allgather"]
    yield from (replace(op, name=f"fwd.{op.name}", model_matrix=op.matrix) for op in ahead)
    yield from (_backward(op, load) for op in ahead)
    if load.recompute:
        again = (op for op in ahead if op.place != "boundary")
        yield from (replace(op, name=f"recompute.{op.name}", model_matrix=0.0) for op in again)
    words = load.rows / load.microbatches * model.vocabulary / load.tp
    yield ModelOp(
        name="loss",
        calls=1,
        place="last",
        vector=5.0 * words,
        activations=2.0 * words * bytes_per_element(load.logits),
    )
    held = stage_parameters(model, load)
    yield ModelOp(
        name="optimizer",
        calls=1,
        place="step",
        vector=_ADAM_FLOP * held,
        weights=(_ADAM_BYTES + load.grad_bytes) * held,
    )
    if load.dp > 1:
        steps = 2 * (load.dp - 1)
        yield ModelOp(
            name="dp_allreduce",
            calls=1,
            place="step",
            link=steps / load.dp * held * load.grad_bytes,
            link_steps=steps,
        )


def _backward(op: ModelOp, load: Workload) -> ModelOp:
    """Twice the work; each weight is read once and its gradient is written once."""
    size = bytes_per_element(load.weights)
    again = _AGAIN if op.is_attention and load.flash else 2.0
    return replace(
        op,
        name=f"bwd.{op.name}",
        matrix=again * op.matrix,
        model_matrix=2 * op.matrix,
        vector=2 * op.vector,
        weights=op.weights + op.weights / size * load.grad_bytes,
        activations=2 * op.activations,
        kv=2 * op.kv,
    )

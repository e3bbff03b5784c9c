"""Ops of a model as programs run them: whole, or as several products.

A framework may multiply with the matrices of queries, keys and values apart, or with those of gate
and up; and the gradient of a product is two products, each as large as the product itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.step import Step, TimedOp

_BACKWARD = "bwd."


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of an op: `share` of its FLOPs, bytes and time, as often as the op is called.

    `inputs` are the elements of the activations that a product reads, 0 where they are not told.
    """

    name: str
    of: TimedOp
    share: float = 1.0
    inputs: float = 0.0

    @property
    def flop(self) -> float:
        """FLOPs of the matrix unit per call."""
        return self.share * self.of.op.matrix


def forms_of(step: Step, timed: TimedOp) -> tuple[tuple[Piece, ...], ...]:
    """The forms in which a program may run this op, the whole one first."""
    name = timed.op.name.rpartition(".")[2]
    inputs = _inputs(step, name)
    whole: tuple[Piece, ...] = (Piece(name=timed.op.name, of=timed, inputs=inputs),)
    if not timed.op.matrix:
        return (whole,)
    parts = list(_parts(step.model, name))
    forms = [whole]
    if parts:
        forms.append(tuple(_split(timed, parts, inputs)))
    if timed.op.name.startswith(_BACKWARD) and not name.startswith("attention"):
        forms += [_gradients(form) for form in list(forms)]
    return tuple(forms)


def _split(timed: TimedOp, parts: Sequence[tuple[str, float]], inputs: float) -> Iterator[Piece]:
    prefix = timed.op.name.removesuffix(timed.op.name.rpartition(".")[2])
    for name, share in parts:
        yield Piece(name=prefix + name, of=timed, share=share, inputs=inputs)


def _gradients(form: Sequence[Piece]) -> tuple[Piece, ...]:
    """The product for the inputs' gradient, and that for the weights'."""
    return tuple(
        Piece(name=f"{one.name} {what}", of=one.of, share=one.share / 2)
        for one in form
        for what in ("(inputs)", "(weights)")
    )


def _parts(model: ModelConfig, name: str) -> Iterator[tuple[str, float]]:
    if name == "qkv_proj":
        heads = model.heads + 2 * model.kv_heads
        yield "q_proj", model.heads / heads
        yield from ((key, model.kv_heads / heads) for key in ("k_proj", "v_proj"))
    if name in ("gate_up_proj", "shared_gate_up", "expert_gate_up"):
        for half in ("gate", "up"):
            yield name.replace("gate_up", half), 0.5


def _inputs(step: Step, name: str) -> float:
    """Elements of the activations that a product reads."""
    model, load = step.model, step.load
    rows = load.rows // load.microbatches
    routed = rows * model.active_experts
    found = {
        "qkv_proj": rows * model.hidden,
        "o_proj": rows * model.heads * model.head_size / load.tp,
        "gate_up_proj": rows * model.hidden,
        "up_proj": rows * model.hidden,
        "down_proj": rows * model.mlp / load.tp,
        "router": rows * model.hidden,
        "expert_gate_up": routed * model.hidden,
        "expert_down": routed * model.expert_width / load.tp,
        "lm_head": load.head_rows // load.microbatches * model.hidden,
    }
    return float(found.get(name, 0.0))

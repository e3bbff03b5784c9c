"""Steps that are not one forward pass: chunked prefill, and training.

A mixed step decodes some sequences and reads the prompts of others. All rows go through each
product together, so that weights are read once; attention runs for each group by itself, and the
head for one row of each sequence. Latent attention of those that decode works on compressed keys,
that of prompts expands them, so that both read the weights for it.

Of a training step, backward does twice the work of forward, in hardware 2.5 times for flash
attention, whose scores are computed again. Weights are read once and their gradients written once.
An Adam step in mixed precision moves 26 bytes per parameter and the gradient.

What of a step overlaps: collectives between replicas pass behind the work of other layers.

Of weights that the ranks share, the first layer's gather and the last one's scatter cannot hide.
Keys and values go round behind attention. All other collectives are on the path of the step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from roofline.devices.topology import ALL_GATHER, ALL_REDUCE, REDUCE_SCATTER
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.memory import WEIGHTS, device_parameters, layer_parameters
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.rank import ModelOp, Sent
from roofline.estimate.llm.workload import Workload
from roofline.estimate.ops import bytes_per_element

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


_ADAM_BYTES = 26  # of master weights and two moments, read and written, and the bf16 copy
_ADAM_FLOP = 12
_AGAIN = 2.5  # attention in the backward pass, scores included, over the forward pass


def training_ops(model: ModelConfig, load: Workload) -> tuple[ModelOp, ...]:
    """The ops of one optimizer step per device; all rows go through the head.

    Ops before the optimizer are those of one microbatch.
    """
    whole = replace(load, all_logits=True, kv=load.activations, cached=0)
    return tuple(_training_ops(model, whole))


def _training_ops(model: ModelConfig, load: Workload) -> Iterator[ModelOp]:
    ahead = [op for op in forward(model, load) if op.name != "logits_allgather"]
    yield from (replace(op, name=f"fwd.{op.name}", model_matrix=op.matrix) for op in ahead)
    yield from (_backward(op, load) for op in ahead)
    yield from (
        replace(op, name=f"recompute.{op.name}", model_matrix=0.0)
        for op in ahead
        if _is_run_again(op, load)
    )
    words = load.rows / load.microbatches * model.vocabulary / load.tp
    yield ModelOp(
        name="loss",
        calls=1,
        place="last",
        vector=5.0 * words,
        exp=words,
        activations=2.0 * words * bytes_per_element(load.logits),
    )
    held = device_parameters(model, load)
    mine = sum(held) / (load.sharing if load.zero else 1)
    yield ModelOp(
        name="optimizer",
        calls=1,
        place="step",
        vector=_ADAM_FLOP * mine,
        weights=(_ADAM_BYTES + load.grad_bytes) * mine,
    )
    yield from _of_layers(model, load) if load.zero == WEIGHTS else _of_step(held, load)


def _is_run_again(op: ModelOp, load: Workload) -> bool:
    """Full: every op; selective: those between products, which have the largest results."""
    if load.recompute == "selective":
        return op.name.endswith(("_norm", "_act")) or op.name.startswith("softmax")
    return load.recompute == "full" and op.place != "boundary"


def _of_step(held: tuple[float, float], load: Workload) -> Iterator[ModelOp]:
    """Gradients of a replica's weights, of experts over the replicas alone; new weights."""
    size, weight = load.grad_bytes, bytes_per_element(load.weights)
    for prefix, amount, ranks, inner in _groups(held, load):
        if ranks < 2 or not amount:
            continue
        if not load.zero:
            name = f"{prefix or 'dp_'}allreduce"
            yield _shared(name, ALL_REDUCE, amount * size, ranks, inner)
            continue
        yield _shared(f"{prefix}grads_reducescatter", REDUCE_SCATTER, amount * size, ranks, inner)
        yield _shared(f"{prefix}weights_allgather", ALL_GATHER, amount * weight, ranks, inner)


def _groups(
    held: tuple[float, float], load: Workload
) -> Iterator[tuple[str, float, int, tuple[int, ...]]]:
    """Names, parameters, ranks and inner groups: experts are the same on the replicas alone."""
    dense, experts = held
    if load.ep < 2:
        yield "", dense + experts, load.sharing, (load.tp,)
        return
    yield "", dense, load.sharing * load.ep, (load.tp,)
    yield "experts_", experts, load.sharing, (load.tp, load.ep)


def _of_layers(model: ModelConfig, load: Workload) -> Iterator[ModelOp]:
    """With weights shared: each layer is gathered ahead of both passes, and its gradients are
    scattered; tables, head and final norm once per step."""
    size, weight = load.grad_bytes, bytes_per_element(load.weights)
    layer, root, layers = layer_parameters(model, load)
    kinds = (
        ("fwd.weights_allgather", ALL_GATHER, weight),
        ("bwd.weights_allgather", ALL_GATHER, weight),
        ("bwd.grads_reducescatter", REDUCE_SCATTER, size),
    )
    ranks, inner = load.sharing, (load.tp, load.ep) if load.ep > 1 else (load.tp,)
    for name, kind, each in kinds:
        op = _shared(name, kind, layer * each, ranks, inner)
        yield replace(op, calls=layers, place="layer")
    yield _shared("weights_allgather_root", ALL_GATHER, root * weight, ranks, inner)
    yield _shared("grads_reducescatter_root", REDUCE_SCATTER, root * size, ranks, inner)


def _shared(name: str, kind: str, payload: float, ranks: int, inner: tuple[int, ...]) -> ModelOp:
    sent = Sent(kind=kind, payload=payload, ranks=ranks, inner=inner, is_of_data=True)
    return ModelOp(name=name, calls=1, place="step", sent=sent)


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
        sent=_sent_back(op),
    )


def _sent_back(op: ModelOp) -> Sent | None:
    """Keys and values come round once more with their gradients."""
    if op.sent is None or op.name != "cp_exchange":
        return op.sent
    return replace(op.sent, payload=2 * op.sent.payload)


_FORWARD, _ROOT = "fwd.", "_root"
_OTHERS = {"attn": "tp", "mlp": "tp", "logits": "tp", "ep": "ep", "pp": "pp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The time of a step in µs, and what collectives of each group add to it (`exposed_us`).

    `hidden_us` and `behind_us` are the collectives that can hide, and the work that hides them, of
    the forward and the backward pass.
    """

    time_us: float
    exposed_us: dict[str, float]
    hidden_us: tuple[float, float]
    behind_us: tuple[float, float]

    @property
    def is_hidden(self) -> bool:
        """Whether the work of both passes is as long as the collectives behind it."""
        return all(a <= b for a, b in zip(self.hidden_us, self.behind_us, strict=True))


def scheduled(
    ops: Sequence[tuple[ModelOp, float]], zero: int, layers: int, busiest_us: float
) -> Schedule:
    """The schedule of ops with the time of all their calls, in µs.

    It is never shorter than `busiest_us`, the time of the resource that works longest: collectives
    that hide behind others of the same links take turns with them.
    """
    data = [(op.name, us) for op, us in ops if op.sent and op.sent.is_of_data]
    ring = sum(us for op, us in ops if op.name.endswith("cp_exchange"))
    waits = sum(_beyond_attention(ops, prefix) for prefix in ("fwd.", "bwd.", ""))
    passes = [us for op, us in ops if not (op.sent and op.sent.is_of_data)]
    work = sum(passes) - ring + waits
    ahead = sum(us for op, us in ops if op.name.startswith(_FORWARD) and not _is_beside(op))
    ahead += _beyond_attention(ops, _FORWARD)
    rest = sum(us for op, us in ops if op.name in ("loss", "optimizer"))
    back = work - ahead - rest
    first, (forward, backward) = _edges(data, zero, layers)
    total = max(first + max(ahead, forward) + max(back, backward) + rest, busiest_us)
    exposed = {"dp": total - work, "cp": waits, **_exposed(ops)}
    return Schedule(
        time_us=total,
        exposed_us=exposed,
        hidden_us=(forward, backward),
        behind_us=(ahead, back),
    )


def _is_beside(op: ModelOp) -> bool:
    return op.name.endswith("cp_exchange") or bool(op.sent and op.sent.is_of_data)


def _edges(
    data: Sequence[tuple[str, float]], zero: int, layers: int
) -> tuple[float, tuple[float, float]]:
    """The collectives that nothing hides, and those that may hide in the forward and backward
    pass."""
    gathers = sum(us for name, us in data if "weights_allgather" in name and _ROOT not in name)
    scatters = sum(us for name, us in data if "weights" not in name and _ROOT not in name)
    root = sum(us for name, us in data if name.endswith(_ROOT))
    if zero < WEIGHTS:
        edges = (gathers + scatters) / layers
        return edges, (gathers - gathers / layers, scatters - scatters / layers)
    gather = gathers / 2  # one for each pass
    edges = root + gather / layers + scatters / layers
    return edges, (gather - gather / layers, gather + scatters - scatters / layers)


def _beyond_attention(ops: Sequence[tuple[ModelOp, float]], prefix: str) -> float:
    """What the exchange of keys takes longer than the attention of the same pass."""
    exchange = sum(us for op, us in ops if op.name == f"{prefix}cp_exchange")
    if not exchange:
        return 0.0
    work = sum(us for op, us in ops if op.is_attention and op.name.startswith(prefix))
    return max(exchange - work, 0.0)


def _exposed(ops: Sequence[tuple[ModelOp, float]]) -> dict[str, float]:
    """Collectives on the path of the step, by group."""
    found = dict.fromkeys(("tp", "ep", "pp"), 0.0)
    for op, us in ops:
        if op.sent and not _is_beside(op):
            name = op.name.rpartition(".")[2].partition("_")[0]
            found[_OTHERS[name]] += us
    return found

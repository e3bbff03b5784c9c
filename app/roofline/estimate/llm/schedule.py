"""What of a step overlaps: collectives between replicas pass behind the work of other layers.

Of weights that the ranks share, the first layer's gather and the last one's scatter cannot hide.
Keys and values go round behind attention. All other collectives are on the path of the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from roofline.estimate.llm.memory import WEIGHTS
from roofline.estimate.llm.rank import ModelOp

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

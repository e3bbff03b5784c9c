"""Bytes on the wire of collectives: what each device sends, for `n` ranks and a payload.

Source: the bus-bandwidth factors of nccl-tests (`doc/PERFORMANCE.md`), which count what a ring
moves; a switch that reduces in the network moves less and may exceed the link's peak by this count.
"""

from collections.abc import Callable, Mapping

_RING: Mapping[str, Callable[[int], float]] = {
    "all-reduce": lambda n: 2 * (n - 1) / n,
    "all-gather": lambda n: (n - 1) / n,
    "reduce-scatter": lambda n: (n - 1) / n,
    "all-to-all": lambda n: (n - 1) / n,
}
_WHOLE = frozenset({"collective-permute", "send", "recv", "broadcast", "reduce", "in", "out"})


def wire_bytes(kind: str, payload_bytes: float, group_size: int) -> float | None:
    """Bytes that each device puts on the wire; `None` where the kind or the group is unknown.

    The payload is the operand of an all-reduce, reduce-scatter and all-to-all, the full result of
    an all-gather, and what is sent of everything else.
    """
    if kind in _WHOLE:
        return payload_bytes
    factor = _RING.get(kind)
    if factor is None or group_size < 1:
        return None
    return factor(group_size) * payload_bytes

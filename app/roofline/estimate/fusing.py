"""A chain of elementwise ops as kernels of their own, against the one kernel that fuses them."""

from dataclasses import dataclass

from roofline.estimate.on_device import MEMORY, VECTOR, Estimate
from roofline.estimate.ops import product


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfused:
    """The chain as one kernel per op: each reads what the op before wrote.

    `time_us` is the sum of each kernel's longest clock; it and `speed_up` are `None` where a peak
    is not known.
    """

    bytes: float
    time_us: float | None
    speed_up: float | None


def unfused(found: Estimate) -> Unfused | None:
    """The same work as separate ops, to compare a fused chain with; `None` for other ops."""
    if found.op != "chain":
        return None
    options, n = found.options, product(found.shape)
    kept = max(options.ops - 1, 0)
    moved = found.work.memory_bytes + 2 * kept * n * options.size()
    time = _time(found, moved)
    return Unfused(
        bytes=moved,
        time_us=time,
        speed_up=time / found.t_min_us if time and found.t_min_us else None,
    )


def _time(found: Estimate, moved: float) -> float | None:
    """Each op takes the longer of its arithmetic and its bytes.

    Bytes are spread evenly over the ops: only the first reads the further inputs, which makes a
    difference where arithmetic binds some of them.
    """
    memory, vector = found.time_us.get(MEMORY), found.time_us.get(VECTOR)
    if memory is None or vector is None:
        return None
    return max(vector, memory * moved / found.work.memory_bytes)

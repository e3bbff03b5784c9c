"""Bytes per second of each host, over the operations whose bytes are known."""

import numpy as np

from roofline.model.categories import is_container, is_start, is_work
from roofline.model.op_columns import Bools
from roofline.model.units import PS_PER_S
from roofline.pods.blocks import Block
from roofline.pods.partial import BYTES, BYTES_KNOWN, KNOWN, SELF


class Bandwidths:
    """Takes blocks of operations. Waits are left out, and ops whose bytes others move or count."""

    def __init__(self, hosts: int) -> None:
        self._bytes, self._time_ps = np.zeros(hosts, np.int64), np.zeros(hosts, np.int64)

    def take(self, block: Block) -> None:
        """Add the operations of one block."""
        known = _moving(block) & ((block.quantities[KNOWN] & BYTES_KNOWN) > 0)
        self._bytes += np.where(known, block.quantities[BYTES], 0).sum(axis=1)
        self._time_ps += np.where(known, block.quantities[SELF], 0).sum(axis=1)

    def per_core(self) -> list[float | None]:
        """Bytes per second and core of each host; `None` where no bytes are known."""
        return [_rate(*one) for one in np.stack([self._bytes, self._time_ps], axis=1).tolist()]


def _moving(block: Block) -> Bools:
    """True for ops that move their bytes in their own time."""
    categories = [key.category for key in block.keys]
    return np.array(
        [is_work(one) and not is_container(one) and not is_start(one) for one in categories],
        np.bool_,
    )


def _rate(moved: int, time_ps: int) -> float | None:
    return moved * PS_PER_S / time_ps if moved > 0 and time_ps > 0 else None

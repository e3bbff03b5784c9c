"""How long the bytes of an asynchronous transfer took, for every peak that its link may have.

An occurrence took its wait where that is long enough for its bytes at the peak, else the whole
interval. So the time falls in steps as the peak grows: one per occurrence, at bytes / wait.
"""

from dataclasses import dataclass

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.analysis.time_records import GBS_PER_BYTE_PER_PS, TransferRecord
from roofline.model.timeline import Transfers
from roofline.model.units import PS_PER_US

MOST_STEPS = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AwaitedSteps:
    """Time under the rate of one op's transfers: `interval_us`, or `took_us[k]` from a peak of
    `least_gbs[k]` on. Of more than 64 steps every n-th is kept.
    """

    interval_us: float
    least_gbs: Floats
    took_us: Floats


def awaited_steps(
    transfers: Transfers, rows: tuple[TransferRecord, ...]
) -> dict[int, AwaitedSteps]:
    """The steps of each op that waits for asynchronous transfers; `rows` are the records of these.

    Only transfers whose bytes and interval are known count, as in rates.
    """
    seen = transfers.occurrences
    sized = np.flatnonzero(~np.isnan(seen.wire_bytes) & ~np.isnan(seen.interval_ps))
    if not len(sized):
        return {}
    op = np.array([row.waits for row in rows], np.int64)[seen.transfer[sized]]
    order = np.argsort(op, kind="stable")
    ops, first = np.unique(op[order], return_index=True)
    found: dict[int, AwaitedSteps] = {}
    for number, mine in zip(ops.tolist(), np.split(sized[order], first[1:]), strict=True):
        if not np.isnan(seen.wait_ps[mine]).all():
            columns = (seen.wire_bytes, seen.wait_ps, seen.interval_ps)
            found[number] = _steps(*(column[mine] for column in columns))
    return found


def _steps(wire: Floats, wait_ps: Floats, interval_ps: Floats) -> AwaitedSteps:
    awaited = wait_ps > 0  # false for synchronous ones, which have no wait
    least = wire[awaited] / wait_ps[awaited] * GBS_PER_BYTE_PER_PS
    order = np.argsort(least)
    saved = (wait_ps - interval_ps)[awaited][order]
    took_us = (interval_ps.sum() + np.cumsum(saved)) / PS_PER_US
    at = np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_STEPS)).round().astype(int))
    return AwaitedSteps(
        interval_us=float(interval_ps.sum()) / PS_PER_US,
        least_gbs=least[order][at],
        took_us=took_us[at],
    )

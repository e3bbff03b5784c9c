"""How long collectives take without the wait for other ranks: the shortest time among the ranks.

A kernel of a collective runs until all ranks have come. The k-th occurrence on each rank is the
same collective, where all of its group are in the profile and ran it equally often.
"""

from dataclasses import replace

import numpy as np

from roofline.model.op_columns import F64, Bools
from roofline.model.timeline import EachTransfer, Transfers


def with_least(transfers: Transfers, n_cores: int) -> Transfers:
    """`transfers` with the shortest times of those whose group is the `n_cores` of the profile."""
    each = transfers.each
    if each is None or n_cores < 2:
        return transfers
    least_ps = np.full(len(transfers), np.nan)
    for row in np.flatnonzero(transfers.group_size == n_cores).tolist():
        least_ps[row] = _least(each, each.transfer == row, n_cores)
    return replace(transfers, least_ps=least_ps)


def _least(each: EachTransfer, mine: Bools, n_cores: int) -> float:
    """Sum over occurrences of the shortest time; NaN where ranks ran it differently often."""
    core, time_ps = each.core[mine], each.time_ps[mine]
    counts = np.bincount(core, minlength=n_cores)
    if len(counts) > n_cores or not counts[0] or (counts != counts[0]).any():
        return float("nan")
    by_rank: F64 = time_ps[np.argsort(core, kind="stable")].reshape(n_cores, counts[0])
    return float(by_rank.min(axis=0).sum())

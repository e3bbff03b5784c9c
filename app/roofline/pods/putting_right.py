"""The gain of putting right the hosts that hold the others up, one after the other.

Each step lasts as long as its slowest host works: with the worst one put right, the next one sets
the pace. So a gain depends on the order, and all gains add up to the cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.definitions import lower_median
from roofline.pods.partial import SELF, Partial
from roofline.pods.report import Deviation, Gain, HostReport, OpKey

MOST_GAINS = 16
"""Hosts whose gains are told apart; the others are in the rest."""
MOST_DEVIATING = 32
"""Hosts whose deviations are told."""
DEVIATIONS = 10


def outliers(hosts: Sequence[HostReport]) -> list[HostReport]:
    """The hosts that hold the others up, the worst ratio first."""
    found = [one for one in hosts if one.verdict is not None]
    return sorted(found, key=lambda one: (-(one.same_work_ratio or 0.0), one.host))


def gains(hosts: Sequence[HostReport], work_ps: I64) -> tuple[Gain, ...]:
    """The share of the time that each outlier brings when its work is that of the median host.

    `work_ps` has a row for each of `hosts`, and a column for each step. The last gain, of no host,
    is what is left of the cost: the spread of all others. Empty where nothing ran.
    """
    rows = {one.host: k for k, one in enumerate(hosts)}
    median, rest = lower_median(work_ps), work_ps.copy()
    whole = pace = int(rest.max(axis=0).sum())
    if whole == 0:
        return ()
    found = []
    for one in outliers(hosts)[:MOST_GAINS]:
        row = rows[one.host]
        rest[row] = np.minimum(rest[row], median)
        left = int(rest.max(axis=0).sum())
        found.append(Gain(host=one.host, share=(pace - left) / whole))
        pace = left
    return (*found, Gain(host=None, share=(pace - int(median.sum())) / whole))


def with_deviations(
    hosts: Sequence[HostReport], workers: Sequence[Partial], representative: Partial
) -> list[HostReport]:
    """The hosts; outliers with the operations in which they differ most from `representative`."""
    named = {one.host for one in outliers(hosts)[:MOST_DEVIATING]}
    if not named:
        return list(hosts)
    wanted = _times(representative)
    return [
        replace(one, deviations=_deviations(partial, wanted)) if one.host in named else one
        for one, partial in zip(hosts, workers, strict=True)
    ]


def _times(one: Partial) -> dict[OpKey, int]:
    """The self time of each operation per core."""
    times = one.ops[SELF] // one.header.cores
    return dict(zip(one.names.keys, times.tolist(), strict=True))


def _deviations(one: Partial, wanted: Mapping[OpKey, int]) -> tuple[Deviation, ...]:
    mine = _times(one)
    found = [
        Deviation(key=key, time_ps=mine.get(key, 0), representative_ps=wanted.get(key, 0))
        for key in mine.keys() | wanted.keys()
    ]
    found.sort(key=lambda each: (-abs(each.time_ps - each.representative_ps), each.key))
    return tuple(one for one in found[:DEVIATIONS] if one.time_ps != one.representative_ps)

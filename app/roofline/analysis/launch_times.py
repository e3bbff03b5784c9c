"""Percentiles of an op's launches: their times, and the bandwidth that they reach.

A percentile is that of a launch (nearest rank): p90 is the least time that 90 % of the launches do
not exceed, so below ten launches it is the longest.
"""

from collections.abc import Callable

import numpy as np

from roofline.analysis.knowledge import bytes_known
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.memory import main_level
from roofline.model.op_columns import F64, I64
from roofline.model.profile import LaunchTable, Profile
from roofline.model.timeline import LaunchTimes
from roofline.model.units import GIB, PS_PER_S, PS_PER_US

_TIMES = (("p50_us", 0.5), ("p90_us", 0.9), ("p99_us", 0.99))
_LEAST = 2


def launch_records(analysis: RooflineAnalysis) -> Callable[[int], dict[str, float]]:
    """By the op's place: `count` of its launches, `p50_us`, `p90_us`, `p99_us` of their times, and
    `p95_gibs`, the bandwidth that 95 % of them do not exceed, where the bytes of each are known.

    Empty for an op of which the files tell less than two launches.
    """
    found = _single(analysis.profile)
    if found is None:
        return lambda op: {}
    launches, moved = found
    n_ops = len(analysis.profile.ops)
    count = np.bincount(launches.op, launches.count, n_ops)
    columns = {
        name: _at(launches.op, launches.count, launches.time_ps, ratio, n_ops) / PS_PER_US
        for name, ratio in _TIMES
    }
    is_rate = (moved > 0) & (launches.time_ps > 0)
    rate = np.divide(moved, launches.time_ps, np.full(len(moved), np.nan), where=is_rate)
    p95 = _at(launches.op, launches.count, rate, 0.95, n_ops) * PS_PER_S / GIB
    is_shown = np.array([why is None for why in analysis.ops.not_shown[:n_ops]], np.bool_)
    columns["p95_gibs"] = np.where(is_shown, p95, np.nan)

    def record(op: int) -> dict[str, float]:
        if op >= n_ops or count[op] < _LEAST:
            return {}
        values = {name: float(column[op]) for name, column in columns.items()}
        known = {name: value for name, value in values.items() if np.isfinite(value)}
        return {"count": int(count[op]), **known}

    return record


def _single(profile: Profile) -> tuple[LaunchTimes, F64] | None:
    """The launches of ops that the files tell one by one, and the bytes of each."""
    table, timeline = profile.launches, profile.timeline
    launches = profile.launch_times if timeline is None else timeline.launches
    if launches is None or (table and table.traffic_bytes):
        return None if table is None else _listed(profile, table)
    return launches, _each_bytes(profile, launches)[launches.op]


def _each_bytes(profile: Profile, launches: LaunchTimes) -> Floats:
    """Bytes of one launch of each op whose launches are all alike: of the same shapes."""
    ops = profile.ops
    shapes = zip(ops.operands, ops.results, strict=True)
    has_shape = np.array([bool(a or b) for a, b in shapes], np.bool_)
    once = np.bincount(launches.op, launches.count, len(ops)) == ops.occurrences
    alike = bytes_known(ops) & ops.time_known & has_shape & once
    moved = np.full(len(ops), np.nan)
    moved[alike] = ops.bytes_accessed[alike] / ops.occurrences[alike]
    return moved


def _listed(profile: Profile, table: LaunchTable) -> tuple[LaunchTimes, F64]:
    """Of a table of launches: of ops whose every launch is a row with a time."""
    ops = profile.ops
    timed = np.bincount(table.op[table.time_ps > 0], minlength=len(ops))
    rows = np.flatnonzero((timed == ops.occurrences)[table.op])
    level = main_level(table.traffic_bytes)
    moved = table.traffic_bytes.get(level, np.full(len(table), np.nan))[rows]
    launches = LaunchTimes(
        op=table.op[rows],
        count=np.ones(len(rows), np.int64),
        time_ps=table.time_ps[rows].astype(np.float64),
    )
    return launches, moved


def _at(op: I64, count: I64, values: Floats, ratio: float, n_ops: int) -> Floats:
    """Of each op the value that a part `ratio` of its launches do not exceed; NaN with unknown."""
    order = np.lexsort((values, op))  # unknown ones come last
    sums = np.append(0, np.cumsum(count[order]))
    first, last = (np.searchsorted(op[order], np.arange(n_ops), side) for side in ("left", "right"))
    rank = sums[first] + np.ceil(ratio * (sums[last] - sums[first]) - 1e-9)
    at = np.append(values[order], np.nan)[np.minimum(np.searchsorted(sums, rank) - 1, len(order))]
    unknown = np.bincount(op, np.isnan(values), n_ops) > 0
    return np.where((last > first) & ~unknown, at, np.nan)

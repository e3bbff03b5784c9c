"""Sums up to the edges of time bins, core by core, to the bins of a capture.

Importers take sums at edges, not in bins: what lies between two edges is a difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.sweep import Windows
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I64
from roofline.model.time_bins import CONTAINER, MOST_BINS, OTHER, WORK, BinOps, BinTimes, TimeBins
from roofline.model.timeline import LAUNCH_GAP_PS

# The kinds of an op's own time, as a core's times divide.
DOES_WORK, CONTAINS, COMMUNICATES, COPIES, FEEDS = range(5)
_KIND_OF_OP = np.array([WORK, CONTAINER, OTHER, OTHER, OTHER], np.int8)

# Sums of all edges and ops of a core together: 8 bytes times three each.
_MOST_SUMS = 2_000_000
_LEAST_BINS = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoreSums:
    """Sums of one core up to each edge: columns of shape (edges, rows), or (edges,) for gaps.

    Rows have an `op` of the table (-1: none), a `kind` of time, and a `link`.
    """

    op: I64
    kind: I64
    link: Sequence[MemoryLevel | None]
    time_ps: F64
    own_ps: F64
    calls: F64
    launch_gaps_ps: F64
    idle_ps: F64
    host_wait_ps: F64


def most_bins(n_rows: int) -> int:
    """How many bins a core with so many rows may have: fewer where it has thousands."""
    return min(max(_MOST_SUMS // max(n_rows, 1), _LEAST_BINS), MOST_BINS)


def even_edges(first: int, last: int, n_bins: int, steps: I64) -> I64:
    """Edges of about equal bins from `first` to `last`, those of steps among them.

    Steps that would take more than half of the edges are left out.
    """
    fixed = steps_that_fit(steps, n_bins)
    fixed = fixed[(fixed > first) & (fixed < last)]
    count = max(n_bins - len(fixed), 1)
    even = first + (np.arange(count + 1) * ((last - first) / count)).astype(np.int64)
    even[-1] = last
    return np.unique(np.concatenate([even, fixed]))


def steps_that_fit(steps: I64, n_bins: int) -> I64:
    """The distinct edges of steps in order; none where they are more than half of all."""
    edges = np.unique(steps)
    return edges if len(edges) <= n_bins // 2 else edges[:0]


def bins_of(edges_ps: I64, cores: Sequence[CoreSums], steps: Windows) -> TimeBins | None:
    """The bins between these edges; `None` for a capture without time.

    Steps are kept where they begin and end at edges.
    """
    if len(edges_ps) < 2:
        return None
    at_edges = np.isin(steps.begin, edges_ps) & np.isin(steps.end, edges_ps)
    real = at_edges & (steps.end > steps.begin)
    return TimeBins(
        edges_ps=edges_ps - edges_ps[0],
        step_begin_ps=steps.begin[real] - edges_ps[0],
        step_end_ps=steps.end[real] - edges_ps[0],
        times=_times(cores),
        ops=_ops(cores),
    )


def with_ops(bins: TimeBins | None, ops: I64) -> TimeBins | None:
    """The bins with each op's new row; two ops may have got the same."""
    if bins is None:
        return None
    rows = np.append(ops, -1)
    return replace(bins, ops=replace(bins.ops, op=rows[bins.ops.op].astype(np.int32)))


def _times(cores: Sequence[CoreSums]) -> BinTimes:
    links = list(
        dict.fromkeys(
            link
            for core in cores
            for link, kind in zip(core.link, core.kind.tolist(), strict=True)
            if kind == COMMUNICATES
        )
    )

    def own(kinds: tuple[int, ...]) -> F64:
        return np.array([_in_bins(c.own_ps[:, np.isin(c.kind, kinds)].sum(1)) for c in cores])

    return BinTimes(
        work_ps=own((DOES_WORK, CONTAINS)),
        infeed_outfeed_ps=own((FEEDS,)),
        host_ps=own((COPIES,)),
        exposed_ps={link: np.array([_over(core, link) for core in cores]) for link in links},
        launch_gaps_ps=np.array([_in_bins(core.launch_gaps_ps) for core in cores]),
        idle_ps=np.array([_in_bins(core.idle_ps) for core in cores]),
        host_wait_ps=np.array([_in_bins(core.host_wait_ps) for core in cores]),
    )


def _over(core: CoreSums, link: MemoryLevel | None) -> F64:
    uses = np.array([used is link for used in core.link], np.bool_)
    return _in_bins(core.own_ps[:, uses & (core.kind == COMMUNICATES)].sum(1))


def _in_bins(sums: F64) -> F64:
    """Differences of sums; those of damaged files never fall."""
    return np.maximum(np.diff(sums, axis=0), 0)


def _ops(cores: Sequence[CoreSums]) -> BinOps:
    """The ops that ran in each bin, summed over cores."""
    keys = [(core.op + 1) * 3 + _KIND_OF_OP[core.kind] for core in cores]
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
    ends = np.cumsum([len(key) for key in keys])[:-1]
    places = np.split(place, ends)
    time, own, calls = (
        _added([getattr(core, name) for core in cores], places, len(distinct))
        for name in ("time_ps", "own_ps", "calls")
    )
    bins, row = np.nonzero((time > 0) | (own > 0) | (calls > 0))
    return BinOps(
        bin=bins.astype(np.int32),
        op=(distinct[row] // 3 - 1).astype(np.int32),
        kind=(distinct[row] % 3).astype(np.int8),
        time_ps=time[bins, row].astype(np.float32),
        own_ps=own[bins, row].astype(np.float32),
        calls=calls[bins, row].astype(np.float32),
    )


def _added(sums: Sequence[F64], places: Sequence[NDArray[np.intp]], n_keys: int) -> F64:
    """The sums of all cores for each key, bin by bin."""
    parts = (_by_key(column, place, n_keys) for column, place in zip(sums, places, strict=True))
    total = next(parts)
    for part in parts:
        total += part
    return total


def _by_key(sums: F64, place: NDArray[np.intp], n_keys: int) -> F64:
    """Columns of one key added up, bin by bin."""
    total = np.zeros((len(sums) - 1, n_keys))
    if not len(place):
        return total
    order = np.argsort(place, kind="stable")
    keys, first = np.unique(place[order], return_index=True)
    total[:, keys] = np.add.reduceat(_in_bins(sums)[:, order], first, axis=1)
    return total


def gaps_up_to(gaps: tuple[I64, I64], edges: I64, tick_ps: int) -> tuple[F64, F64]:
    """Launch gaps and idle time before each edge, in ps; gaps are in ticks and in order."""
    begin, end = gaps
    short = end - begin < LAUNCH_GAP_PS // tick_ps
    launch, idle = (
        time_up_to(begin[which], end[which], edges)[:-1] * tick_ps for which in (short, ~short)
    )
    return launch, idle


def time_up_to(begin: I64, end: I64, edges: I64) -> F64:
    """How much of spans in order that do not overlap lies before each edge, and in all."""
    total = np.concatenate([[0], np.cumsum(end - begin)]).astype(np.float64)
    before = np.searchsorted(begin, edges)
    beyond = np.where(before > 0, np.append(end, 0)[before - 1] - edges, 0)
    return np.append(total[before] - np.maximum(beyond, 0), total[-1])

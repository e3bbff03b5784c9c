"""Passes over spans: nesting, overlap with steps, and exact sums. Compiled, one entry per event.

All times are unsigned 64-bit picoseconds and wrap like XProf's counters. "Includes" and "overlaps"
are inclusive at both ends, as in XProf.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
Bools = NDArray[np.bool_]

_U64A = types.uint64[::1]
_I64A = types.int64[::1]
_I32A = types.int32[::1]
_BOOLA = types.boolean[::1]


@njit(types.void(_U64A, _U64A, _BOOLA, _I64A, _I64A, _U64A), cache=True, nogil=True)
def _nest(begin, end, apart, parent, rank, child_time):  # type: ignore[no-untyped-def]
    """One walk with a stack: parent of each event, order of closing, time of direct children."""
    stack = np.empty(begin.shape[0], np.int64)
    depth = 0
    closed = 0
    for k in range(begin.shape[0]):
        parent[k] = -1
        child_time[k] = 0
        rank[k] = -1
        if apart[k]:
            continue
        while depth > 0:
            top = stack[depth - 1]
            if begin[top] <= begin[k] and end[k] <= end[top]:
                break
            rank[top] = closed
            closed += 1
            depth -= 1
        if depth > 0:
            top = stack[depth - 1]
            parent[k] = top
            child_time[top] += end[k] - begin[k]
        stack[depth] = k
        depth += 1
    while depth > 0:
        depth -= 1
        rank[stack[depth]] = closed
        closed += 1


@njit(
    types.boolean(types.uint64, types.uint64, types.uint64, types.uint64, types.boolean),
    cache=True,
    nogil=True,
    inline="always",
)
def _fits(step_begin, step_end, begin, end, containing):  # type: ignore[no-untyped-def]
    if containing:
        return step_begin <= begin and end <= step_end
    return step_begin <= end and begin <= step_end


@njit(types.void(_U64A, _U64A, _U64A, _U64A, _I64A, types.boolean), cache=True, nogil=True)
def _follow(step_begin, step_end, begin, end, found, containing):  # type: ignore[no-untyped-def]
    """Index of the step of each event, -1 without. Never walks back, keeps a step while it fits."""
    current = -1
    n_steps = step_begin.shape[0]
    for k in range(begin.shape[0]):
        found[k] = -1
        if current >= 0 and _fits(
            step_begin[current], step_end[current], begin[k], end[k], containing
        ):
            found[k] = current
            continue
        for step in range(current + 1, n_steps):
            if step_begin[step] > end[k]:
                break
            if step_end[step] < begin[k]:
                continue
            current = step
            if _fits(step_begin[step], step_end[step], begin[k], end[k], containing):
                found[k] = step
            break


@njit(
    types.void(
        _I64A, _I64A, _I32A, _U64A, _U64A, _U64A, _I64A, _U64A,
        _I64A, _I64A, _I32A, _U64A, _U64A, _U64A, _I64A, _U64A,
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def _accumulate(  # type: ignore[no-untyped-def]
    row, rank, meta, time, self_time, normalised, occurrences, stall,
    events, first_rank, first_meta, sum_time, sum_self, sum_normalised, sum_occurrences, sum_stall,
):  # fmt: skip
    """Exact sums per row; `first_meta` is the metadata of the row's first closed event."""
    for k in range(row.shape[0]):
        r = row[k]
        if r < 0:
            continue
        events[r] += 1
        if first_meta[r] < 0 or rank[k] < first_rank[r]:
            first_rank[r] = rank[k]
            first_meta[r] = meta[k]
        sum_time[r] += time[k]
        sum_self[r] += self_time[k]
        sum_normalised[r] += normalised[k]
        sum_occurrences[r] += max(np.int64(1), occurrences[k])
        sum_stall[r] += stall[k]


@njit(
    types.int64(_I64A, _I64A, types.int64, types.int64, _I64A, _I64A), cache=True, nogil=True
)  # fmt: skip
def _spread(first_child, children, root, group, groups, queue):  # type: ignore[no-untyped-def]
    """Give `group` to `root` and, breadth first, to all descendants that have none."""
    groups[root] = group
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for k in range(first_child[node], first_child[node + 1]):
            child = children[k]
            if groups[child] < 0:
                groups[child] = group
                queue[tail] = child
                tail += 1
    return tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesting:
    """Per event: index of the parent (-1 without), order of closing, time of direct children."""

    parent: I64
    rank: I64
    child_time_ps: U64


def nest(begin_ps: U64, end_ps: U64, apart: Bools | None = None) -> Nesting:
    """Nesting of one line's spans in the given order; events `apart` take no part."""
    count = len(begin_ps)
    alone = np.zeros(count, np.bool_) if apart is None else np.ascontiguousarray(apart)
    parent, rank = np.empty(count, np.int64), np.empty(count, np.int64)
    child_time = np.empty(count, np.uint64)
    _nest(
        np.ascontiguousarray(begin_ps),
        np.ascontiguousarray(end_ps),
        alone,
        parent,
        rank,
        child_time,
    )
    return Nesting(parent=parent, rank=rank, child_time_ps=child_time)


def follow_steps(
    step_begin_ps: U64, step_end_ps: U64, begin_ps: U64, end_ps: U64, *, containing: bool = False
) -> I64:
    """Index of the step that each event overlaps (or lies in, if `containing`); -1 without.

    Walks forward only and keeps the current step as long as it fits, so an op that starts exactly
    where a step ends belongs to the earlier step.
    """
    found = np.empty(len(begin_ps), np.int64)
    _follow(
        np.ascontiguousarray(step_begin_ps),
        np.ascontiguousarray(step_end_ps),
        np.ascontiguousarray(begin_ps),
        np.ascontiguousarray(end_ps),
        found,
        containing,
    )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSums:
    """Sums per row. `first_meta` is the event metadata that supplies the row's name and costs."""

    events: I64
    first_rank: I64
    first_meta: I32
    time_ps: U64
    self_time_ps: U64
    normalised_time_ps: U64
    occurrences: I64
    dma_stall_ps: U64


def sum_rows(
    row: I64,
    n_rows: int,
    *,
    rank: I64,
    meta: I32,
    time_ps: U64,
    self_time_ps: U64,
    normalised_time_ps: U64,
    occurrences: I64,
    dma_stall_ps: U64,
) -> RowSums:
    """Exact unsigned sums of event columns per row; events with row -1 are left out."""
    sums = RowSums(
        events=np.zeros(n_rows, np.int64),
        first_rank=np.zeros(n_rows, np.int64),
        first_meta=np.full(n_rows, -1, np.int32),
        time_ps=np.zeros(n_rows, np.uint64),
        self_time_ps=np.zeros(n_rows, np.uint64),
        normalised_time_ps=np.zeros(n_rows, np.uint64),
        occurrences=np.zeros(n_rows, np.int64),
        dma_stall_ps=np.zeros(n_rows, np.uint64),
    )
    _accumulate(
        row, rank, meta, time_ps, self_time_ps, normalised_time_ps, occurrences, dma_stall_ps,
        sums.events, sums.first_rank, sums.first_meta, sums.time_ps, sums.self_time_ps,
        sums.normalised_time_ps, sums.occurrences, sums.dma_stall_ps,
    )  # fmt: skip
    return sums


def spread_group(first_child: I64, children: I64, root: int, group: int, groups: I64) -> None:
    """Give `group` to `root` and all its descendants without a group; updates `groups` in place."""
    _spread(first_child, children, root, group, groups, np.empty(len(groups), np.int64))

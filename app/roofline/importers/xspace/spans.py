"""Passes over spans: nesting, overlap with steps, and exact sums. Compiled, one entry per event.

All times are unsigned 64-bit picoseconds and wrap like XProf's counters. "Includes" and "overlaps"
are inclusive at both ends, as in XProf.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from roofline.importers.kernel_cache import kernel

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]

_U64A = types.uint64[::1]
_I64A = types.int64[::1]
_I32A = types.int32[::1]
_BOOLA = types.boolean[::1]
_U64M = types.uint64[:, ::1]
_F64C = types.float64[:, :, ::1]
_pair: Any = types.UniTuple
_PAIR = _pair(types.int64, 2)
_I64M = types.int64[:, ::1]
# Part of a kernel: compiled into it, see wire.py.
_part: Any = njit(nogil=True)


@kernel(types.void(_U64A, _U64A, _BOOLA, _I64A))
def _parents(begin, end, apart, parent):  # type: ignore[no-untyped-def]
    """One walk with a stack: the nearest preceding event that includes each event."""
    stack = np.empty(begin.shape[0], np.int64)
    depth = 0
    for k in range(begin.shape[0]):
        parent[k] = -1
        if apart[k]:
            continue
        while depth > 0:
            top = stack[depth - 1]
            if begin[top] <= begin[k] and end[k] <= end[top]:
                parent[k] = top
                break
            depth -= 1
        stack[depth] = k
        depth += 1


@_part
def _fits(step_begin, step_end, begin, end, containing):  # type: ignore[no-untyped-def]
    if containing:
        return step_begin <= begin and end <= step_end
    return step_begin <= end and begin <= step_end


@kernel(
    types.int64(_U64A, _U64A, _U64A, _U64A, _I64A, types.boolean, types.int64),
)
def _follow(step_begin, step_end, begin, end, found, containing, current):  # type: ignore[no-untyped-def]
    """Index of the step of each event, -1 without. Never walks back, keeps a step while it fits.

    Starts at the step `current` (-1: none yet) and returns where it stopped.
    """
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
    return current


# rows of the stack: open events of a walk
_BEGIN, _END, _CHILDREN, _ROW, _META, _TIMES, _NORMALISED, _STALL = range(8)
_STACK_ROWS = 8
# rows of the sums
_TIME, _SELF, _SUM_NORMALISED, _OCCURRENCES, _SUM_STALL, _FIRST_RANK, _FIRST_META = range(7)
_SUM_ROWS = 7
_NO_META = np.uint64(2**64 - 1)
# scalars of a walk
_DEPTH, _CLOSED, _CLAMPED = range(3)


@_part
def _close(stack, sums, state, clamp):  # type: ignore[no-untyped-def]
    """Pop the innermost open event and add it to its row."""
    top = state[_DEPTH] - 1
    state[_DEPTH] = top
    rank = state[_CLOSED]
    state[_CLOSED] = rank + 1
    row = stack[_ROW, top]
    time = stack[_END, top] - stack[_BEGIN, top]
    own = time - stack[_CHILDREN, top]
    if clamp and stack[_CHILDREN, top] > time:
        own = types.uint64(0)
        state[_CLAMPED] += 1
    if row == _NO_META:
        return
    if sums[_FIRST_META, row] == _NO_META:
        sums[_FIRST_META, row] = stack[_META, top]
        sums[_FIRST_RANK, row] = types.uint64(rank)
    sums[_TIME, row] += time
    sums[_SELF, row] += own
    sums[_SUM_NORMALISED, row] += stack[_NORMALISED, top]
    sums[_OCCURRENCES, row] += stack[_TIMES, top]
    sums[_SUM_STALL, row] += stack[_STALL, top]


@kernel(
    types.int64(
        _U64A, _U64A, _I32A, _I64A, _I64A, _U64A, _U64A,
        _U64M, _U64M, _I64A, types.boolean, types.boolean, types.int64,
    ),
)  # fmt: skip
def _walk(  # type: ignore[no-untyped-def]
    begin, end, meta, row, occurrences, normalised, stall,
    stack, sums, state, clamp, only_rows, first,
):  # fmt: skip
    """Go on with one line's events: nest them and add every closed one to its row.

    Starts at event `first`; returns the event that found the stack full, or the event count.
    Events with row -1 nest but are not summed; those with row -2 take no part if `only_rows`.
    """
    for k in range(first, begin.shape[0]):
        if state[_DEPTH] == stack.shape[1]:
            return k
        if only_rows and row[k] == -2:
            continue
        while state[_DEPTH] > 0:
            top = state[_DEPTH] - 1
            if stack[_BEGIN, top] <= begin[k] and end[k] <= stack[_END, top]:
                stack[_CHILDREN, top] += end[k] - begin[k]
                break
            _close(stack, sums, state, clamp)
        depth = state[_DEPTH]
        stack[_BEGIN, depth] = begin[k]
        stack[_END, depth] = end[k]
        stack[_CHILDREN, depth] = types.uint64(0)
        stack[_ROW, depth] = types.uint64(row[k]) if row[k] >= 0 else _NO_META
        stack[_META, depth] = types.uint64(meta[k])
        stack[_TIMES, depth] = types.uint64(max(types.int64(1), occurrences[k]))
        stack[_NORMALISED, depth] = normalised[k]
        stack[_STALL, depth] = stall[k]
        state[_DEPTH] = depth + 1
    return begin.shape[0]


@_part
def _mark(edge, stack, sums, state, out):  # type: ignore[no-untyped-def]
    """Write time, own time and occurrences of each row up to `edge`: of open events, their part.

    A nested event that goes on after the edge is in its parent's children as a whole.
    """
    for row in range(out.shape[1]):
        out[0, row] = sums[_TIME, row]
        out[1, row] = sums[_SELF, row]
        out[2, row] = sums[_OCCURRENCES, row]
    depth = state[_DEPTH]
    for k in range(depth):
        begin, end, row = stack[_BEGIN, k], stack[_END, k], stack[_ROW, k]
        if row == _NO_META or begin >= edge:
            continue
        lasts, passed = end - begin, min(end, edge) - begin
        inside = stack[_CHILDREN, k]
        if k + 1 < depth and stack[_END, k + 1] > edge:
            inside -= stack[_END, k + 1] - max(edge, stack[_BEGIN, k + 1])
        out[0, row] += passed
        out[1, row] += passed - inside if passed > inside else types.uint64(0)
        out[2, row] += stack[_TIMES, k] * (passed / lasts if lasts > 0 else 1.0)


@kernel(
    _PAIR(
        _U64A, _U64A, _I32A, _I64A, _I64A, _U64A, _U64A,
        _U64M, _U64M, _I64A, types.boolean, types.int64, _U64A, _F64C, types.int64,
    ),
)  # fmt: skip
def _walk_to_edges(  # type: ignore[no-untyped-def]
    begin, end, meta, row, occurrences, normalised, stall,
    stack, sums, state, clamp, first, edges, marked, mark,
):  # fmt: skip
    """`_walk`, and the sums up to each of `edges` from `mark` on, all before the last begin.

    Returns the event and the edge to go on with: where the stack is full, these are not the last.
    """
    while mark < edges.shape[0]:
        stop = first + np.searchsorted(begin[first:], edges[mark])
        reached = _walk(
            begin[:stop], end[:stop], meta[:stop], row[:stop], occurrences[:stop],
            normalised[:stop], stall[:stop], stack, sums, state, clamp, False, first,
        )  # fmt: skip
        if reached < stop:
            return reached, mark
        _mark(edges[mark], stack, sums, state, marked[mark])
        first = stop
        mark += 1
    reached = _walk(
        begin, end, meta, row, occurrences, normalised, stall,
        stack, sums, state, clamp, False, first,
    )  # fmt: skip
    return reached, mark


@kernel(types.void(_U64M, _U64M, _I64A, _U64A, _F64C))
def _mark_rest(stack, sums, state, edges, marked):  # type: ignore[no-untyped-def]
    for mark in range(edges.shape[0]):
        _mark(edges[mark], stack, sums, state, marked[mark])


@kernel(types.void(_U64M, _U64M, _I64A, types.boolean))
def _close_all(stack, sums, state, clamp):  # type: ignore[no-untyped-def]
    while state[_DEPTH] > 0:
        _close(stack, sums, state, clamp)


@kernel(types.int64(_I64A, _I64A, _I64M, _I64A, types.int64))
def _number_pairs(first, second, table, out, count):  # type: ignore[no-untyped-def]
    """Number pairs by first occurrence, in an open hash table of rows (first, second, number).

    Pairs whose `first` is negative get -2, others whose `second` is negative -1. Returns the count.
    """
    mask = types.uint64(table.shape[1] - 1)
    for k in range(first.shape[0]):
        if first[k] < 0 or second[k] < 0:
            out[k] = -2 if first[k] < 0 else -1
            continue
        mixed = types.uint64(first[k]) * types.uint64(0x9E3779B97F4A7C15)
        mixed ^= types.uint64(second[k]) * types.uint64(0xC2B2AE3D27D4EB4F)
        slot = (mixed ^ (mixed >> types.uint64(29))) & mask
        while table[2, slot] >= 0 and (table[0, slot] != first[k] or table[1, slot] != second[k]):
            slot = (slot + types.uint64(1)) & mask
        if table[2, slot] < 0:
            table[0, slot] = first[k]
            table[1, slot] = second[k]
            table[2, slot] = count
            count += 1
        out[k] = table[2, slot]
    return count


@kernel(
    types.int64(_I64A, _I64A, types.int64, types.int64, _I64A, _I64A)
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


@kernel(types.void(_I64A, _I64A, _I64A, _I64A, _BOOLA))
def _executions(op, name, seen, state, starts):  # type: ignore[no-untyped-def]
    """Mark the kernels that start an execution of their op; state = op and number of the last."""
    for k in range(op.shape[0]):
        starts[k] = op[k] != state[0] or seen[name[k]] == state[1]
        if starts[k]:
            state[0] = op[k]
            state[1] += 1
        seen[name[k]] = state[1]


@kernel(types.int64(_I64A, _I64A, _I64A, _I64A, _I64A))
def _gaps(begin, end, first, last, state):  # type: ignore[no-untyped-def]
    """Stretches between spans, in order of their begin; their number, -1 if out of order.

    The state is the last begin and the latest end so far, -1 without any.
    """
    count, before, reached = 0, state[0], state[1]
    for k in range(begin.shape[0]):
        if begin[k] < before:
            return -1
        before = begin[k]
        if end[k] <= begin[k]:
            continue
        if reached >= 0 and begin[k] > reached:
            first[count] = reached
            last[count] = begin[k]
            count += 1
        reached = max(reached, end[k])
    state[0], state[1] = before, reached
    return count


class Gaps:
    """Finds the stretches that a line's spans leave empty, piece by piece.

    Spans without length do not count. `reached` is the latest end so far, -1 without any.
    """

    def __init__(self) -> None:
        self._state = np.array([-1, -1], np.int64)

    @property
    def reached(self) -> int:
        """The latest end so far; -1 without any span."""
        return int(self._state[1])

    def find(self, begin_ps: I64, end_ps: I64) -> tuple[I64, I64] | None:
        """Begin and end of the gaps before each of the next spans; `None` if not in order."""
        first, last = np.empty(len(begin_ps), np.int64), np.empty(len(begin_ps), np.int64)
        count = _gaps(begin_ps, end_ps, first, last, self._state)
        return None if count < 0 else (first[:count], last[:count])


class Executions:
    """Tells executions of one op apart in a stream of kernels, several of which may be one.

    A kernel starts one if another op ran before it, or if a kernel of its name was part of the
    execution before it.
    """

    def __init__(self, n_names: int) -> None:
        self._seen = np.full(n_names, -1, np.int64)
        self._state = np.array([-2, 0], np.int64)

    def starts(self, op: I64, name: I64) -> Bools:
        """True for the first kernel of each execution among the stream's next kernels."""
        starts = np.empty(len(op), np.bool_)
        _executions(op, name, self._seen, self._state, starts)
        return starts


def parents(begin_ps: U64, end_ps: U64, apart: Bools) -> I64:
    """Parent of each of a line's events in the given order, -1 without; `apart` take no part."""
    parent = np.empty(len(begin_ps), np.int64)
    _parents(begin_ps, end_ps, apart, parent)
    return parent


class StepFollower:
    """Finds the step that each event of a line overlaps (or lies in, if `containing`).

    Walks forward only and keeps the current step as long as it fits, so an op that starts exactly
    where a step ends belongs to the earlier step.
    """

    def __init__(self, begin_ps: U64, end_ps: U64, *, containing: bool = False) -> None:
        self._begin = np.ascontiguousarray(begin_ps)
        self._end = np.ascontiguousarray(end_ps)
        self._containing = containing
        self._current = -1

    def find(self, begin_ps: U64, end_ps: U64) -> I64:
        """Index of the step of each of the line's next events; -1 without."""
        found = np.empty(len(begin_ps), np.int64)
        self._current = _follow(
            self._begin, self._end, begin_ps, end_ps, found, self._containing, self._current
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSums:
    """Sums per row. `first_meta` is the event metadata that supplies the row's name and costs.

    It is that of the row's first closed event, `first_rank` its place in the order of closing;
    -1 for a row without events.
    """

    first_rank: I64
    first_meta: I64
    time_ps: U64
    self_time_ps: U64
    normalised_time_ps: U64
    occurrences: I64
    dma_stall_ps: U64

    def take(self, rows: I64) -> "RowSums":
        """These rows."""
        return RowSums(**{one.name: getattr(self, one.name)[rows] for one in fields(self)})


class Walk:
    """A line's events nested and summed piece by piece. Rows are added when first seen.

    `clamp` stops self time at zero where children exceed their parent, and counts it in `clamped`;
    without it self time wraps.
    """

    def __init__(self, n_rows: int = 0, *, clamp: bool, only_rows: bool = False) -> None:
        self._clamp = clamp
        self._only_rows = only_rows
        self._stack = np.zeros((_STACK_ROWS, 64), np.uint64)
        self._sums = np.zeros((_SUM_ROWS, 0), np.uint64)
        self._state = np.zeros(3, np.int64)
        self._n_rows = 0
        self.grow_rows(n_rows)

    @property
    def clamped(self) -> int:
        """Events so far whose children exceed them."""
        return int(self._state[_CLAMPED])

    def grow_rows(self, n_rows: int) -> None:
        """Make room for rows up to `n_rows`."""
        self._n_rows = max(self._n_rows, n_rows)
        had = self._sums.shape[1]
        if had < n_rows:
            self._sums = _widened(self._sums, max(n_rows, 2 * had))
            self._sums[_FIRST_META, had:] = _NO_META

    def go_on(
        self,
        *,
        begin_ps: U64,
        end_ps: U64,
        meta: I32,
        row: I64,
        occurrences: I64,
        normalised_ps: U64,
        dma_stall_ps: U64,
        edges_ps: U64 | None = None,
        marked: F64 | None = None,
    ) -> None:
        """Take the next events of the line. Row -1: nested only; row -2: skipped if `only_rows`.

        `edges_ps` are times in order up to the last begin: the sums up to each, time, own time and
        occurrences of each row, are written to `marked`, of shape (edges, 3, rows).
        """
        done, mark = 0, 0
        while done < len(begin_ps):
            if self._state[_DEPTH] == self._stack.shape[1]:
                self._stack = _widened(self._stack, 2 * self._stack.shape[1])
            if edges_ps is not None and marked is not None:
                done, mark = _walk_to_edges(
                    begin_ps, end_ps, meta, row, occurrences, normalised_ps, dma_stall_ps,
                    self._stack, self._sums, self._state, self._clamp, done, edges_ps, marked, mark,
                )  # fmt: skip
                continue
            done = _walk(
                begin_ps, end_ps, meta, row, occurrences, normalised_ps, dma_stall_ps,
                self._stack, self._sums, self._state, self._clamp, self._only_rows, done,
            )  # fmt: skip

    def mark(self, edges_ps: U64, marked: F64) -> None:
        """Write the sums up to each of `edges_ps`, after the last begin, as `go_on` does."""
        _mark_rest(self._stack, self._sums, self._state, edges_ps, marked)

    def end_line(self) -> None:
        """Close what is open: the next line nests for itself."""
        _close_all(self._stack, self._sums, self._state, self._clamp)

    def sums(self) -> RowSums:
        """Sums of all closed events."""
        sums = self._sums[:, : self._n_rows]
        return RowSums(
            first_rank=sums[_FIRST_RANK].view(np.int64),
            first_meta=sums[_FIRST_META].view(np.int64),
            time_ps=sums[_TIME],
            self_time_ps=sums[_SELF],
            normalised_time_ps=sums[_SUM_NORMALISED],
            occurrences=sums[_OCCURRENCES].view(np.int64),
            dma_stall_ps=sums[_SUM_STALL],
        )


def _widened(columns: U64, width: int) -> U64:
    wide = np.zeros((columns.shape[0], width), np.uint64)
    wide[:, : columns.shape[1]] = columns
    return wide


class PairNumbers:
    """Dense numbers for (first, second) pairs of non-negative integers, by first occurrence."""

    def __init__(self) -> None:
        self._table = np.full((3, 1024), -1, np.int64)
        self.count = 0

    def number(self, first: I64, second: I64) -> I64:
        """Number of each pair; -2 where `first` is negative, -1 where only `second` is."""
        if 2 * (self.count + len(first)) > self._table.shape[1]:
            self._grow(2 * (self.count + len(first)))
        numbers = np.empty(len(first), np.int64)
        self.count = _number_pairs(first, second, self._table, numbers, self.count)
        return numbers

    def _grow(self, slots: int) -> None:
        firsts = self.firsts()
        used = self._table[:, self._table[2] >= 0]
        seconds = used[1, np.argsort(used[2])]
        self._table = np.full((3, 1 << int(slots).bit_length()), -1, np.int64)
        _number_pairs(firsts, seconds, self._table, np.empty(len(firsts), np.int64), 0)

    def firsts(self) -> I64:
        """First of each pair, by number."""
        used = self._table[:, self._table[2] >= 0]
        firsts: I64 = np.ascontiguousarray(used[0, np.argsort(used[2])])
        return firsts


def spread_group(first_child: I64, children: I64, root: int, group: int, groups: I64) -> None:
    """Give `group` to `root` and all its descendants without a group; updates `groups` in place."""
    _spread(first_child, children, root, group, groups, np.empty(len(groups), np.int64))

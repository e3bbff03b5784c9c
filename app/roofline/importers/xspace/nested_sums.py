"""Events of a line nested and summed by row. Compiled, one entry per event.

All times are unsigned 64-bit picoseconds and wrap like XProf's counters.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import kernel, part
from roofline.model.plain_data import Aligned

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
F64 = NDArray[np.float64]


# rows of the stack: open events of a walk
_BEGIN, _END, _CHILDREN, _ROW, _META, _TIMES, _NORMALISED, _STALL = range(8)
_STACK_ROWS = 8
# rows of the sums
_TIME, _SELF, _SUM_NORMALISED, _OCCURRENCES, _SUM_STALL, _FIRST_RANK, _FIRST_META = range(7)
_SUM_ROWS = 7
_NO_META = np.uint64(2**64 - 1)
# scalars of a walk
_DEPTH, _CLOSED, _CLAMPED, _MARKED = range(4)


@part
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
        own = np.uint64(0)
        state[_CLAMPED] += 1
    if row == _NO_META:
        return
    if sums[_FIRST_META, row] == _NO_META:
        sums[_FIRST_META, row] = stack[_META, top]
        sums[_FIRST_RANK, row] = np.uint64(rank)
    sums[_TIME, row] += time
    sums[_SELF, row] += own
    sums[_SUM_NORMALISED, row] += stack[_NORMALISED, top]
    sums[_OCCURRENCES, row] += stack[_TIMES, top]
    sums[_SUM_STALL, row] += stack[_STALL, top]


@kernel(
    "int64(uint64[], uint64[], int32[], int64[], int64[], uint64[], uint64[], uint64[,], "
    "uint64[,], int64[], bool, bool, int64)"
)
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
        stack[_CHILDREN, depth] = np.uint64(0)
        stack[_ROW, depth] = np.uint64(row[k]) if row[k] >= 0 else _NO_META
        stack[_META, depth] = np.uint64(meta[k])
        stack[_TIMES, depth] = np.uint64(max(np.int64(1), occurrences[k]))
        stack[_NORMALISED, depth] = normalised[k]
        stack[_STALL, depth] = stall[k]
        state[_DEPTH] = depth + 1
    return begin.shape[0]


@part
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
        out[1, row] += passed - inside if passed > inside else np.uint64(0)
        out[2, row] += stack[_TIMES, k] * (passed / lasts if lasts > 0 else 1.0)


@kernel(
    "int64(uint64[], uint64[], int32[], int64[], int64[], uint64[], uint64[], uint64[,], "
    "uint64[,], int64[], bool, int64, uint64[], float64[,,])"
)
def _walk_to_edges(  # type: ignore[no-untyped-def]
    begin, end, meta, row, occurrences, normalised, stall,
    stack, sums, state, clamp, first, edges, marked,
):  # fmt: skip
    """`_walk`, and the sums up to each of `edges`, all before the last begin.

    Starts at the edge `state[_MARKED]` and leaves the next one there. Returns the event to go on
    with, which is not the last where the stack is full.
    """
    while state[_MARKED] < edges.shape[0]:
        mark = state[_MARKED]
        stop = first + np.searchsorted(begin[first:], edges[mark])
        reached = _walk(
            begin[:stop], end[:stop], meta[:stop], row[:stop], occurrences[:stop],
            normalised[:stop], stall[:stop], stack, sums, state, clamp, False, first,
        )  # fmt: skip
        if reached < stop:
            return reached
        _mark(edges[mark], stack, sums, state, marked[mark])
        first = stop
        state[_MARKED] = mark + 1
    return _walk(
        begin, end, meta, row, occurrences, normalised, stall,
        stack, sums, state, clamp, False, first,
    )  # fmt: skip


@kernel("void(uint64[,], uint64[,], int64[], uint64[], float64[,,])")
def _mark_rest(stack, sums, state, edges, marked):  # type: ignore[no-untyped-def]
    for mark in range(edges.shape[0]):
        _mark(edges[mark], stack, sums, state, marked[mark])


@kernel("void(uint64[,], uint64[,], int64[], bool)")
def _close_all(stack, sums, state, clamp):  # type: ignore[no-untyped-def]
    while state[_DEPTH] > 0:
        _close(stack, sums, state, clamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSums(Aligned):
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
        self._state = np.zeros(4, np.int64)
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
        done, self._state[_MARKED] = 0, 0
        while done < len(begin_ps):
            if self._state[_DEPTH] == self._stack.shape[1]:
                self._stack = _widened(self._stack, 2 * self._stack.shape[1])
            if edges_ps is not None and marked is not None:
                done = _walk_to_edges(
                    begin_ps, end_ps, meta, row, occurrences, normalised_ps, dma_stall_ps,
                    self._stack, self._sums, self._state, self._clamp, done, edges_ps, marked,
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

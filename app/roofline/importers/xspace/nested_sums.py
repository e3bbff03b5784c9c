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


# columns of the stack: open events of a walk
_BEGIN, _END, _CHILDREN, _ROW, _META, _TIMES, _NORMALISED, _STALL = range(8)
_STACK_COLUMNS = 8
# columns of the sums
_TIME, _SELF, _SUM_NORMALISED, _OCCURRENCES, _SUM_STALL, _FIRST_RANK, _FIRST_META = range(7)
_SUM_COLUMNS = 7
_NO_META = np.uint64(2**64 - 1)
# scalars of a walk
_DEPTH, _CLOSED, _CLAMPED, _MARKED = range(4)


@part
def _close(stack, sums, top, rank, clamp):  # type: ignore[no-untyped-def]
    """Add the innermost open event, at `top`, to its row. Returns whether it was clamped."""
    row = stack[top, _ROW]
    time = stack[top, _END] - stack[top, _BEGIN]
    own = time - stack[top, _CHILDREN]
    clamped = clamp and stack[top, _CHILDREN] > time
    if row != _NO_META:
        if sums[row, _FIRST_META] == _NO_META:
            sums[row, _FIRST_META] = stack[top, _META]
            sums[row, _FIRST_RANK] = np.uint64(rank)
        sums[row, _TIME] += time
        sums[row, _SELF] += np.uint64(0) if clamped else own
        sums[row, _SUM_NORMALISED] += stack[top, _NORMALISED]
        sums[row, _OCCURRENCES] += stack[top, _TIMES]
        sums[row, _SUM_STALL] += stack[top, _STALL]
    return clamped


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
    depth, closed, clamped = state[_DEPTH], state[_CLOSED], state[_CLAMPED]
    reached = begin.shape[0]
    for k in range(first, begin.shape[0]):
        if depth == stack.shape[0]:
            reached = k
            break
        if only_rows and row[k] == -2:
            continue
        while depth > 0:
            top = depth - 1
            if stack[top, _BEGIN] <= begin[k] and end[k] <= stack[top, _END]:
                stack[top, _CHILDREN] += end[k] - begin[k]
                break
            clamped += _close(stack, sums, top, closed, clamp)
            depth, closed = top, closed + 1
        stack[depth, _BEGIN] = begin[k]
        stack[depth, _END] = end[k]
        stack[depth, _CHILDREN] = np.uint64(0)
        stack[depth, _ROW] = np.uint64(row[k]) if row[k] >= 0 else _NO_META
        stack[depth, _META] = np.uint64(meta[k])
        stack[depth, _TIMES] = np.uint64(max(np.int64(1), occurrences[k]))
        stack[depth, _NORMALISED] = normalised[k]
        stack[depth, _STALL] = stall[k]
        depth += 1
    state[_DEPTH], state[_CLOSED], state[_CLAMPED] = depth, closed, clamped
    return reached


@part
def _mark(edge, stack, sums, state, out):  # type: ignore[no-untyped-def]
    """Write time, own time and occurrences of each row up to `edge`: of open events, their part.

    A nested event that goes on after the edge is in its parent's children as a whole.
    """
    for row in range(out.shape[1]):
        out[0, row] = sums[row, _TIME]
        out[1, row] = sums[row, _SELF]
        out[2, row] = sums[row, _OCCURRENCES]
    depth = state[_DEPTH]
    for k in range(depth):
        begin, end, row = stack[k, _BEGIN], stack[k, _END], stack[k, _ROW]
        if row == _NO_META or begin >= edge:
            continue
        lasts, passed = end - begin, min(end, edge) - begin
        inside = stack[k, _CHILDREN]
        if k + 1 < depth and stack[k + 1, _END] > edge:
            inside -= stack[k + 1, _END] - max(edge, stack[k + 1, _BEGIN])
        out[0, row] += passed
        out[1, row] += passed - inside if passed > inside else np.uint64(0)
        out[2, row] += stack[k, _TIMES] * (passed / lasts if lasts > 0 else 1.0)


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
        state[_DEPTH] -= 1
        state[_CLAMPED] += _close(stack, sums, state[_DEPTH], state[_CLOSED], clamp)
        state[_CLOSED] += 1


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
        self._stack = np.zeros((64, _STACK_COLUMNS), np.uint64)
        self._sums = np.zeros((0, _SUM_COLUMNS), np.uint64)
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
        had = len(self._sums)
        if had < n_rows:
            self._sums = _longer(self._sums, max(n_rows, 2 * had))
            self._sums[had:, _FIRST_META] = _NO_META

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
            if self._state[_DEPTH] == len(self._stack):
                self._stack = _longer(self._stack, 2 * len(self._stack))
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
        sums = np.ascontiguousarray(self._sums[: self._n_rows].T)
        return RowSums(
            first_rank=sums[_FIRST_RANK].view(np.int64),
            first_meta=sums[_FIRST_META].view(np.int64),
            time_ps=sums[_TIME],
            self_time_ps=sums[_SELF],
            normalised_time_ps=sums[_SUM_NORMALISED],
            occurrences=sums[_OCCURRENCES].view(np.int64),
            dma_stall_ps=sums[_SUM_STALL],
        )


def _longer(rows: U64, count: int) -> U64:
    wide = np.zeros((count, rows.shape[1]), np.uint64)
    wide[: len(rows)] = rows
    return wide

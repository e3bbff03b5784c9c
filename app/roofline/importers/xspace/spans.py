"""Passes over spans: parents, steps, gaps, executions and pairs. Compiled, one entry per event.

All times are unsigned 64-bit picoseconds and wrap like XProf's counters. "Includes" and "overlaps"
are inclusive at both ends, as in XProf.
"""

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import kernel, part

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]


@kernel("void(uint64[], uint64[], bool[], int64[], int64[])")
def _parents(begin, end, apart, stack, parent):  # type: ignore[no-untyped-def]
    """One walk with a stack: the nearest preceding event that includes each event."""
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


@part
def _fits(step_begin, step_end, begin, end, containing):  # type: ignore[no-untyped-def]
    if containing:
        return step_begin <= begin and end <= step_end
    return step_begin <= end and begin <= step_end


@kernel("int64(uint64[], uint64[], uint64[], uint64[], int64[], bool, int64)")
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


@kernel("int64(int64[], int64[], int64[,], int64[], int64[], int64)")
def _number_pairs(first, second, table, out, count, done):  # type: ignore[no-untyped-def]
    """Number pairs by first occurrence, in an open hash table of rows (first, second, number).

    Pairs whose `first` is negative get -2, others whose `second` is negative -1. Starts at the pair
    `done`; returns the one that found the table full by a quarter, or the number of pairs.
    """
    mask = np.uint64(table.shape[0] - 1)
    for k in range(done, first.shape[0]):
        if first[k] < 0 or second[k] < 0:
            out[k] = -2 if first[k] < 0 else -1
            continue
        mixed = np.uint64(first[k]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= np.uint64(second[k]) * np.uint64(0xC2B2AE3D27D4EB4F)
        slot = (mixed ^ (mixed >> np.uint64(29))) & mask
        while table[slot, 2] >= 0 and (table[slot, 0] != first[k] or table[slot, 1] != second[k]):
            slot = (slot + np.uint64(1)) & mask
        if table[slot, 2] < 0:
            if 4 * count[0] >= table.shape[0]:
                return k
            table[slot, 0] = first[k]
            table[slot, 1] = second[k]
            table[slot, 2] = count[0]
            count[0] += 1
        out[k] = table[slot, 2]
    return first.shape[0]


@kernel("int64(int64[], int64[], int64, int64, int64[], int64[])")
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


@kernel("void(int64[], int64[], int64[], int64[], bool[])")
def _executions(op, name, seen, state, starts):  # type: ignore[no-untyped-def]
    """Mark the kernels that start an execution of their op; state = op and number of the last."""
    for k in range(op.shape[0]):
        starts[k] = op[k] != state[0] or seen[name[k]] == state[1]
        if starts[k]:
            state[0] = op[k]
            state[1] += 1
        seen[name[k]] = state[1]


@kernel("int64(int64[], int64[], int64[], int64[], int64[])")
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


@kernel("bool(const uint64[], const uint64[], uint64[])")
def in_order(begin, duration, last):  # type: ignore[no-untyped-def]
    """Whether events come by start up, duration down, after the `last` one; then theirs is that."""
    fits = True
    before, lasted = last[0], last[1]
    for k in range(begin.shape[0]):
        fits &= (before < begin[k]) | ((before == begin[k]) & (duration[k] <= lasted))
        before, lasted = begin[k], duration[k]
    last[0], last[1] = before, lasted
    return fits


@kernel("void(const uint64[], const uint64[], const bool[], uint64[])")
def widen(begin, duration, chosen, ends):  # type: ignore[no-untyped-def]
    """Widen first begin and last end by those of the chosen events."""
    for k in range(begin.shape[0]):
        if chosen[k]:
            ends[0] = min(ends[0], begin[k])
            ends[1] = max(ends[1], begin[k] + duration[k])


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
    _parents(begin_ps, end_ps, apart, np.empty(len(begin_ps), np.int64), parent)
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


class PairNumbers:
    """Dense numbers for (first, second) pairs of non-negative integers, by first occurrence."""

    def __init__(self) -> None:
        self._table = np.full((1024, 3), -1, np.int64)
        self._count = np.zeros(1, np.int64)

    @property
    def count(self) -> int:
        """How many pairs there are so far."""
        return int(self._count[0])

    def number(self, first: I64, second: I64) -> I64:
        """Number of each pair; -2 where `first` is negative, -1 where only `second` is."""
        numbers, done = np.empty(len(first), np.int64), 0
        while True:
            done = _number_pairs(first, second, self._table, numbers, self._count, done)
            if done == len(first):
                return numbers
            firsts, seconds = self._pairs()
            self._table = np.full((4 * len(self._table), 3), -1, np.int64)
            self._count[0] = 0
            _number_pairs(firsts, seconds, self._table, np.empty_like(firsts), self._count, 0)

    def firsts(self) -> I64:
        """First of each pair, by number."""
        return self._pairs()[0]

    def _pairs(self) -> tuple[I64, I64]:
        used = self._table[self._table[:, 2] >= 0]
        first, second, _ = np.ascontiguousarray(used[np.argsort(used[:, 2])].T)
        return first, second


def spread_group(first_child: I64, children: I64, root: int, group: int, groups: I64) -> None:
    """Give `group` to `root` and all its descendants without a group; updates `groups` in place."""
    _spread(first_child, children, root, group, groups, np.empty(len(groups), np.int64))

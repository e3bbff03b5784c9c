"""One core's intervals to exclusive time: which of them owns each instant. Compiled.

Every interval has a slot, and every slot a class; at each instant the best class that is active
owns it, and intervals of one class share it equally. What no interval covers is a gap. Times are
summed up per slot, over all of the core's time and over each window of it.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import kernel, part
from roofline.model.plain_data import Aligned

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
I8 = NDArray[np.int8]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]

N_CLASSES = 4

# rows of the counts of a slot: of all its intervals, and those in the open window
_EVENTS, _STARTED, _LASTED, _IN_WINDOW = range(4)
# rows of the sums of a slot
_WHOLE, _OPEN = range(2)
# planes of what is marked
_OWN, _LENGTH, _COUNT = range(3)
# rows of the heap
_ENDS, _SLOT, _LASTS = range(3)
# Intervals that may be active at once, at first.
_ROOM = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Windows(Aligned):
    """Disjoint windows of time in order, begin inclusive, end exclusive."""

    begin: I64
    end: I64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """What a sweep found, per slot: the time that its intervals own, how many `events` they are,
    how many of these start something, and how long they `lasted` together.

    `window`, `slot_in_window`, `time_in_window` and `events_in_window` have a row per window and
    slot that meet. Gaps lie between `first` and `last`; `gap_at` is the place in `order` of the
    interval that ends a gap: the first of those that begin with it.
    """

    time: F64
    events: I64
    started: I64
    lasted: I64
    window: I64
    slot_in_window: I64
    time_in_window: F64
    events_in_window: I64
    gap_begin: I64
    gap_end: I64
    gap_at: I64
    order: I64
    first: int
    last: int
    marks: "Marks"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Marks:
    """Sums per slot up to each mark, of shape (marks, slots): `time` that its intervals own, how
    long they `lasted`, how many `events`, of which one under way is the share of it that passed."""

    time: F64
    lasted: F64
    events: F64


def sweep(
    begin: I64,
    end: I64,
    slot: I32,
    class_of_slot: I8,
    *,
    starts: Bools | None = None,
    windows: Windows | None = None,
    marks: I64 | None = None,
) -> Swept:
    """The sweep over one core's intervals; times are integers of any unit.

    Classes count from 0, the best, below `N_CLASSES`. Intervals without length own nothing. `marks`
    are times in order at which the sums so far are wanted.
    """
    order = np.argsort(begin, kind="stable")  # streams are in order: a stable sort merges them
    edges = np.zeros(0, np.int64)
    if windows is not None:
        edges = np.stack([windows.begin, windows.end], axis=1).ravel()
    started = np.ones(len(begin), np.bool_) if starts is None else starts
    columns = [np.ascontiguousarray(one) for one in (begin, end, order, slot, started)]
    at = np.zeros(0, np.int64) if marks is None else np.ascontiguousarray(marks)
    n_slots, n_windows, room = len(class_of_slot), len(edges) // 2, _ROOM
    while True:
        # A row per window and slot that meet: of what begins in a window, and what was active.
        rows = min(n_windows * n_slots, len(begin) + n_windows * room)
        found = _Found.of(n_slots, len(begin), room, rows, len(at))
        if _sweep(*columns, class_of_slot.astype(np.int64), edges, at, *found.arrays()):
            return found.swept(order)
        room *= 2  # rare: many intervals at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    """What the kernel writes. `heap`, `since`, `shares` and `active` are its own; `ends` are the
    number of gaps, the first begin, the last end, and the number of rows."""

    sums: F64
    counts: I64
    touched: I64
    heap: I64
    since: F64
    shares: F64
    active: I64
    gaps: I64
    rows: I64
    row_times: F64
    ends: I64
    marked: F64

    @classmethod
    def of(cls, n_slots: int, n_intervals: int, room: int, rows: int, marks: int) -> "_Found":
        return cls(
            sums=np.zeros((2, n_slots)),
            counts=np.zeros((4, n_slots), np.int64),
            touched=np.empty(n_slots, np.int64),
            heap=np.empty((3, room), np.int64),
            since=np.empty(room),
            shares=np.zeros(N_CLASSES),
            active=np.zeros(N_CLASSES, np.int64),
            gaps=np.empty((3, n_intervals), np.int64),
            rows=np.empty((3, rows), np.int64),
            row_times=np.empty(rows),
            ends=np.zeros(4, np.int64),
            marked=np.empty((3, marks, n_slots)),
        )

    def arrays(self) -> tuple[NDArray[Any], ...]:
        return tuple(getattr(self, one.name) for one in fields(self))

    def swept(self, order: I64) -> Swept:
        n_gaps, first, last, n_rows = self.ends.tolist()
        gap_begin, gap_end, gap_at = self.gaps[:, :n_gaps]
        window, slot, events = self.rows[:, :n_rows]
        return Swept(
            time=self.sums[_WHOLE],
            events=self.counts[_EVENTS],
            started=self.counts[_STARTED],
            lasted=self.counts[_LASTED],
            window=window,
            slot_in_window=slot,
            time_in_window=self.row_times[:n_rows],
            events_in_window=events,
            gap_begin=gap_begin,
            gap_end=gap_end,
            gap_at=gap_at,
            order=order,
            first=first,
            last=last,
            marks=Marks(
                time=self.marked[_OWN], lasted=self.marked[_LENGTH], events=self.marked[_COUNT]
            ),
        )


@part
def _put(heap, since, n, end, slot, lasts, share):  # type: ignore[no-untyped-def]
    """Add an active interval to the heap of `n`, whose root ends first."""
    at = n
    while at > 0:
        above = (at - 1) >> 1
        if heap[0, above] <= end:
            break
        heap[0, at], heap[1, at], since[at] = heap[0, above], heap[1, above], since[above]
        heap[2, at] = heap[2, above]
        at = above
    heap[0, at], heap[1, at], heap[2, at], since[at] = end, slot, lasts, share


@part
def _drop(heap, since, last):  # type: ignore[no-untyped-def]
    """Take the root off the heap: its last, at `last`, becomes the root and sinks."""
    end, slot, lasts, share = heap[0, last], heap[1, last], heap[2, last], since[last]
    at, below = 0, 1
    while below < last:
        if below + 1 < last and heap[0, below + 1] < heap[0, below]:
            below += 1
        if end <= heap[0, below]:
            break
        heap[0, at], heap[1, at], since[at] = heap[0, below], heap[1, below], since[below]
        heap[2, at] = heap[2, below]
        at, below = below, 2 * below + 1
    heap[0, at], heap[1, at], heap[2, at], since[at] = end, slot, lasts, share


@part
def _credit(slot, own, window, sums, counts, touched, n_touched):  # type: ignore[no-untyped-def]
    """Add time to a slot, and to the open window; the number of slots that this one touched."""
    sums[_WHOLE, slot] += own
    if window >= 0:
        if counts[_IN_WINDOW, slot] == 0:
            touched[n_touched] = slot
            n_touched += 1
        sums[_OPEN, slot] += own
        counts[_IN_WINDOW, slot] += 1
    return n_touched


@part
def _close(window, sums, counts, touched, n_touched, rows, row_times, n_rows):  # type: ignore[no-untyped-def]
    """Write a row for every slot that the open window touched; the number of rows."""
    for j in range(n_touched):
        slot = touched[j]
        rows[0, n_rows], rows[1, n_rows], rows[2, n_rows] = window, slot, counts[_IN_WINDOW, slot]
        row_times[n_rows] = sums[_OPEN, slot]
        sums[_OPEN, slot], counts[_IN_WINDOW, slot] = 0.0, 0
        n_rows += 1
    return n_rows


@part
def _mark(t, sums, counts, classes, shares, heap, since, n_active, marked, mark):  # type: ignore[no-untyped-def]
    """Write the sums per slot up to now: of intervals under way, the part that has passed."""
    for slot in range(sums.shape[1]):
        marked[_OWN, mark, slot] = sums[_WHOLE, slot]
        marked[_LENGTH, mark, slot] = counts[_LASTED, slot]
        marked[_COUNT, mark, slot] = counts[_EVENTS, slot]
    for j in range(n_active):
        slot, left = heap[_SLOT, j], heap[_ENDS, j] - t
        marked[_OWN, mark, slot] += shares[classes[slot]] - since[j]
        marked[_LENGTH, mark, slot] -= left
        marked[_COUNT, mark, slot] -= left / heap[_LASTS, j]


@kernel(
    "bool(int64[], int64[], int64[], int32[], bool[], int64[], int64[], int64[], float64[,], "
    "int64[,], int64[], int64[,], float64[], float64[], int64[], int64[,], int64[,], float64[], "
    "int64[], float64[,,])"
)
def _sweep(  # type: ignore[no-untyped-def]
    begin, end, order, slots, starts, classes, edges, marks,
    sums, counts, touched, heap, since, shares, active,
    gaps, rows, row_times, ends, marked,
):  # fmt: skip
    """One walk in order of time, with a heap of active intervals. False: the heap is full.

    `shares` is, per class, what one of its intervals owned since the class became active, `since`
    what that was when an interval or a window began. At one instant intervals end first, then
    windows end and begin, then intervals begin; marks see what ended. In one piece, because calls
    with this many arrays cost half as much again.
    """
    n, n_edges = len(order), len(edges)
    n_touched, n_active, n_gaps, n_rows = 0, 0, 0, 0
    p, edge, window, best = 0, 0, -1, N_CLASSES
    mark, n_marks = 0, len(marks)
    now, first, last, has_run = np.int64(0), np.int64(0), np.int64(0), False
    while p < n or n_active:
        following = order[p] if p < n else 0
        t = begin[following] if p < n else heap[0, 0]
        if n_active and heap[0, 0] < t:
            t = heap[0, 0]
        if edge < n_edges and edges[edge] < t:
            t = edges[edge]
        if mark < n_marks and marks[mark] < t:
            t = marks[mark]
        if n_active and t > now:
            shares[best] += (t - now) / active[best]
        now = t
        while n_active and heap[0, 0] == t:
            slot = heap[1, 0]
            kind = classes[slot]
            own = shares[kind] - since[0]
            n_touched = _credit(slot, own, window, sums, counts, touched, n_touched)
            n_active -= 1
            _drop(heap, since, n_active)
            active[kind] -= 1
            if active[kind] == 0:
                shares[kind] = 0.0
                while best < N_CLASSES and active[best] == 0:
                    best += 1
            last = t
        while mark < n_marks and marks[mark] <= t:
            _mark(t, sums, counts, classes, shares, heap, since, n_active, marked, mark)
            mark += 1
        while edge < n_edges and edges[edge] <= t:
            if edge % 2 == 0 and edges[edge] == edges[edge + 1]:  # a window without length
                edge += 2
                continue
            for j in range(n_active):
                slot = heap[1, j]
                own = shares[classes[slot]] - since[j]
                n_touched = _credit(slot, own, window, sums, counts, touched, n_touched)
                since[j] = shares[classes[slot]]
            n_rows = _close(window, sums, counts, touched, n_touched, rows, row_times, n_rows)
            n_touched, window = 0, edge // 2 if edge % 2 == 0 else -1
            edge += 1
        while p < n and begin[order[p]] == t:
            one = order[p]
            slot = slots[one]
            kind = classes[slot]
            counts[_EVENTS, slot] += 1
            counts[_STARTED, slot] += starts[one]
            if end[one] > t:
                counts[_LASTED, slot] += end[one] - t
                if not has_run:
                    first, has_run = t, True
                elif n_active == 0 and last < t:
                    gaps[0, n_gaps], gaps[1, n_gaps], gaps[2, n_gaps] = last, t, p
                    n_gaps += 1
                if n_active == len(since):
                    return False
                _put(heap, since, n_active, end[one], slot, end[one] - t, shares[kind])
                n_active += 1
                active[kind] += 1
                best = min(best, kind)
            else:
                n_touched = _credit(slot, 0.0, window, sums, counts, touched, n_touched)
            p += 1
    while mark < n_marks:
        _mark(now, sums, counts, classes, shares, heap, since, 0, marked, mark)
        mark += 1
    n_rows = _close(window, sums, counts, touched, n_touched, rows, row_times, n_rows)
    ends[0], ends[1], ends[2], ends[3] = n_gaps, first, last, n_rows
    return True


@kernel("void(int64[], uint64[], int64[], uint64[])")
def _reach(key, end, order, reached):  # type: ignore[no-untyped-def]
    for k in range(1, len(order)):
        before, at = order[k - 1], order[k]
        if key[before] == key[at]:
            reached[at] = max(reached[before], end[before])


def reached(key: I64, begin: U64, end: U64) -> U64:
    """Of each span the latest end of those of its key that began earlier; 0 for the first."""
    found = np.zeros(len(key), np.uint64)
    _reach(key, np.ascontiguousarray(end), np.lexsort((begin, key)), found)
    return found


def uncovered(key: I64, begin: U64, end: U64) -> U64:
    """The time of each span in which none of its key that began earlier lasted."""
    since = np.maximum(begin, reached(key, begin, end))
    return np.asarray(np.maximum(end, since) - since)


def union_length(begin: U64, duration: U64) -> int:
    """Length of the union of spans."""
    return int(uncovered(np.zeros(len(begin), np.int64), begin, begin + duration).sum())


def time_inside(begin: I64, end: I64, windows: Windows) -> F64:
    """How much of all spans together lies in each window; spans do not overlap."""
    span, window = _meetings(begin, end, windows)
    first = np.maximum(begin[span], windows.begin[window])
    last = np.minimum(end[span], windows.end[window])
    total = np.zeros(len(windows))
    np.add.at(total, window, (last - first).astype(np.float64))
    return total


def _meetings(begin: I64, end: I64, windows: Windows) -> tuple[I64, I64]:
    """Pairs of span and window that share time, as two columns."""
    if not len(windows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    first = np.searchsorted(windows.end, begin, side="right")
    stop = np.searchsorted(windows.begin, end, side="left")
    count = np.maximum(stop - first, 0)
    span = np.repeat(np.arange(len(begin)), count)
    offset = np.arange(len(span)) - np.repeat(np.cumsum(count) - count, count)
    return span, first[span] + offset


def split_gaps(gaps: tuple[I64, I64], shortest_idle: int) -> tuple[tuple[I64, I64], ...]:
    """Gaps shorter than `shortest_idle`, and the others."""
    begin, end = gaps
    short = end - begin < shortest_idle
    return (begin[short], end[short]), (begin[~short], end[~short])

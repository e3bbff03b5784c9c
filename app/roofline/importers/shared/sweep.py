"""One core's intervals to exclusive time: which of them owns each instant.

Every interval has a class; at each instant the best class that is active owns it, and intervals of
one class share it equally. What no interval covers is a gap. One sort, no loop over events.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Windows:
    """Disjoint windows of time in order, begin inclusive, end exclusive."""

    begin: I64
    end: I64

    def __len__(self) -> int:
        return len(self.begin)


class Sweep:
    """The sweep over one core's intervals; times are integers of any unit.

    `kind` numbers classes from 0, the best. Intervals without length own nothing.
    """

    def __init__(self, begin: I64, end: I64, kind: I64) -> None:
        self._begin, self._end, self._kind = begin, end, kind
        real = end > begin
        self._points = _distinct(np.concatenate([begin[real], end[real]]))
        # Floats hold differences exactly, not times since 1970.
        self._since_first = (self._points - self._points[:1]).astype(np.float64)
        self._owner = np.full(max(len(self._points) - 1, 0), -1, np.int64)
        self._share = self._shares(real)

    def _shares(self, real: NDArray[np.bool_]) -> list[F64]:
        """Per class: time up to each point that one active interval of it owns."""
        counts = [self._active(real & (self._kind == k)) for k in range(self._n_kinds())]
        for kind, count in reversed(list(enumerate(counts))):
            self._owner[count > 0] = kind
        lengths = np.diff(self._points).astype(np.float64)
        owned = [np.where(self._owner == k, lengths, 0.0) for k in range(len(counts))]
        each = [time / np.maximum(count, 1) for time, count in zip(owned, counts, strict=True)]
        return [np.concatenate([np.zeros(1), np.cumsum(time)]) for time in each]

    def _n_kinds(self) -> int:
        return int(self._kind.max(initial=-1)) + 1

    def _active(self, chosen: NDArray[np.bool_]) -> I64:
        """How many of the `chosen` intervals cover each segment between two points."""
        change = np.zeros(len(self._points), np.int64)
        np.add.at(change, np.searchsorted(self._points, self._begin[chosen]), 1)
        np.add.at(change, np.searchsorted(self._points, self._end[chosen]), -1)
        return np.cumsum(change)[:-1]

    @property
    def hull(self) -> tuple[int, int]:
        """First begin and last end; zeros without any interval of length."""
        return (int(self._points[0]), int(self._points[-1])) if len(self._points) else (0, 0)

    def exclusive(self) -> F64:
        """Time that each interval owns."""
        return self._owned(self._begin, self._end, self._kind)

    def exclusive_in(self, windows: Windows) -> tuple[I64, I64, F64]:
        """Interval, window and owned time of every pair that meets."""
        interval, window = _meetings(self._begin, self._end, windows)
        begin = np.maximum(self._begin[interval], windows.begin[window])
        end = np.minimum(self._end[interval], windows.end[window])
        return interval, window, self._owned(begin, end, self._kind[interval])

    def gaps(self) -> tuple[I64, I64]:
        """Begin and end of each stretch inside the hull that nothing covers, in order."""
        empty = self._owner < 0
        edges = np.diff(np.concatenate([[False], empty, [False]]).astype(np.int8))
        return self._points[np.flatnonzero(edges == 1)], self._points[np.flatnonzero(edges == -1)]

    def _owned(self, begin: I64, end: I64, kind: I64) -> F64:
        owned = np.zeros(len(begin))
        for number, share in enumerate(self._share):
            mine = np.flatnonzero((kind == number) & (end > begin))
            if not len(mine):
                continue
            owned[mine] = self._at(share, end[mine]) - self._at(share, begin[mine])
        return owned

    def _at(self, share: F64, time: I64) -> F64:
        """`share` at any time, between two points as well."""
        if not len(self._points):
            return np.zeros(len(time))
        found: F64 = np.interp(time - self._points[0], self._since_first, share)
        return found


def _distinct(times: I64) -> I64:
    """Distinct times in order. Streams are runs in order, which a stable sort merges: of a million
    times in three runs `np.unique` makes 1.1 s, this 0.01 s."""
    ordered = np.sort(times, kind="stable")
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = ordered[1:] > ordered[:-1]
    return ordered[is_first]


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


def union_length(begin: I64, end: I64) -> int:
    """Length of the union of intervals."""
    return int(Sweep(begin, end, np.zeros(len(begin), np.int64)).exclusive().sum().round())


def split_gaps(gaps: tuple[I64, I64], shortest_idle: int) -> tuple[tuple[I64, I64], ...]:
    """Gaps shorter than `shortest_idle`, and the others."""
    begin, end = gaps
    short = end - begin < shortest_idle
    return (begin[short], end[short]), (begin[~short], end[~short])

"""Launches of ops by how long they took: few classes, however many launches a file has. Compiled.

A class is one op and the first bits of a time, so that classes of several cores, files or pieces
of a file add up without the launches. A few launches are each a class of their own.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roofline.importers.kernels import kernel
from roofline.model.op_columns import F64, I32, I64
from roofline.model.timeline import LaunchTimes

PIECE = 1 << 15
"""Launches at once: with more of them, columns that last for a moment leave the cache."""

_FEW = 20_000
_DROPPED_BITS, _KEPT_BITS = 46, 18  # of a float's 64: 64 classes for times that double
_NONE = -1
_LEAST_ROOM = 1 << 12
_HASH = -7046029254386353131


class LaunchPieces:
    """The launches of a line that is read piece by piece: a table by key, with room to spare."""

    def __init__(self) -> None:
        self._few: list[LaunchTimes] = []
        self._keys, self._counts, self._sums = _room(0)
        self._used = np.zeros(1, np.int64)

    def add(self, op: I64 | I32, time_ps: F64, count: I64 | None = None) -> None:
        """The next launches, `count` of each; those of no op (-1) are left."""
        rows = np.flatnonzero(op >= 0)
        part = LaunchTimes(
            op=op[rows].astype(np.int64),
            count=np.ones(len(rows), np.int64) if count is None else count[rows],
            time_ps=time_ps[rows],
        )
        self._few.append(part)
        if self._used[0] or sum(map(len, self._few)) > _FEW:
            for one in self._few:
                self._take(one)
            self._few.clear()

    def all(self) -> LaunchTimes:
        """All so far, in order."""
        if not self._used[0]:
            return _in_order(self._few)
        at = np.flatnonzero(self._keys != _NONE)
        at = at[np.argsort(self._keys[at])]
        count = self._counts[at]
        return LaunchTimes(
            op=self._keys[at] >> _KEPT_BITS, count=count, time_ps=self._sums[at] / count
        )

    def _take(self, part: LaunchTimes) -> None:
        length = np.maximum(part.time_ps, 1).view(np.int64) >> _DROPPED_BITS
        key, total_ps = (part.op << _KEPT_BITS) | length, part.time_ps * part.count
        first = 0
        while True:
            columns = (self._keys, self._counts, self._sums, self._used)
            first = _add(first, key, part.count, total_ps, *columns)
            if first == len(key):
                return
            at = np.flatnonzero(self._keys != _NONE)
            held = (self._keys[at], self._counts[at], self._sums[at])
            self._keys, self._counts, self._sums = _room(len(self._keys))
            self._used[0] = 0
            _add(0, *held, self._keys, self._counts, self._sums, self._used)


def launches_of(op: I64 | I32, time_ps: F64) -> LaunchTimes:
    """The launches of ops (-1: of none) that took these times."""
    launches = LaunchPieces()
    launches.add(op, time_ps)
    return launches.all()


def renumbered(launches: LaunchTimes | None, op: I64) -> LaunchTimes | None:
    """The launches with ops by their new rows."""
    return launches and replace(launches, op=np.append(op, -1)[launches.op])


def all_joined(parts: Sequence[LaunchTimes | None]) -> LaunchTimes | None:
    """The launches of all `parts`; `None` where one has none."""
    known = [part for part in parts if part is not None]
    return joined_launches(known) if known and len(known) == len(parts) else None


def joined_launches(parts: Sequence[LaunchTimes]) -> LaunchTimes:
    """The launches of all `parts`."""
    pieces = LaunchPieces()
    for part in parts:
        pieces.add(part.op, part.time_ps, part.count)
    return pieces.all()


def _room(before: int) -> tuple[I64, I64, F64]:
    size = max(4 * before, _LEAST_ROOM)
    return np.full(size, _NONE), np.zeros(size, np.int64), np.zeros(size)


def _in_order(parts: Sequence[LaunchTimes]) -> LaunchTimes:
    none = LaunchTimes(op=np.zeros(0, np.int64), count=np.zeros(0, np.int64), time_ps=np.zeros(0))
    every = LaunchTimes.joined([none, *parts])
    return every.taken(np.lexsort((every.time_ps, every.op)))


@kernel(
    "int64(int64, const int64[], const int64[], const float64[], int64[], int64[], float64[],"
    " int64[])"
)
def _add(
    first: int, key: I64, count: I64, total_ps: F64, keys: I64, counts: I64, sums: F64, used: I64
) -> int:
    """Add launches from `first` on; ends before the last one where the table is half full."""
    last = len(keys) - 1  # a power of two less one
    for at in range(first, len(key)):
        place = ((key[at] * _HASH) >> 24) & last
        while keys[place] != _NONE and keys[place] != key[at]:
            place = (place + 1) & last
        if keys[place] == _NONE:
            if 2 * used[0] >= len(keys):
                return at
            keys[place] = key[at]
            used[0] += 1
        counts[place] += count[at]
        sums[place] += total_ps[at]
    return len(key)

"""Columns of a core's events: distinct keys and names of many, and its idle stretches.

Of idle stretches: which of them waited for a launch, whether the capture began with idling, the
longest one. Times are integers of any unit; stretches are in order and do not overlap.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from roofline.importers.shared.sweep import Windows, time_inside
from roofline.model.op_columns import F64, I32, I64
from roofline.model.profile import distinct_rows


def in_order(keys: I64, place: I64) -> tuple[I64, I64]:
    """Distinct keys in order of appearance, and the place of each key among them."""
    first = np.zeros(len(keys), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]  # of equal places the last stays: the first
    order = np.argsort(first)
    moved_to = np.empty(len(keys), np.int64)
    moved_to[order] = np.arange(len(keys))
    return keys[order], moved_to[place]


class Names:
    """Names in the order of their first use, each with a number: its place among them."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        """All names by their numbers."""
        return list(self._number)

    def number(self, name: str) -> int:
        """The number of a name, which may be new."""
        return self._number.setdefault(name, len(self._number))

    def places(self, names: Iterable[str]) -> I64:
        """The number of each name."""
        return np.array([*map(self.number, names)], np.int64)

    def numbers(self, name_of: Callable[..., str], *ids: I64) -> I64:
        """The number of the name of each row of these columns, asked for once per distinct row."""
        rows, place = distinct_rows(ids)
        return np.array([self.number(name_of(*row)) for row in rows.tolist()], np.int64)[place]


def longest_of(key: I64, value: I64, time: I64) -> dict[int, int]:
    """The value in which most time was spent by key: of several the one with the largest number."""
    pairs, place = distinct_rows([key, value])
    longest_last = np.argsort(np.bincount(place, time, len(pairs)), kind="stable")
    return dict(pairs[longest_last].tolist())


def place_of(ids: I64, among: I64) -> I32:
    """Place of each id among others, of equal ones the first; -1 where there is none, and of 0."""
    places = np.full(len(ids), -1, np.int32)
    if len(among):
        order = np.argsort(among, kind="stable").astype(np.int32)
        near = np.searchsorted(among[order], ids)
        at = order[np.minimum(near, len(order) - 1, out=near)]
        matches = (among[at] == ids) & (ids > 0)
        places[matches] = at[matches]
    return places


NO_LAUNCH = np.iinfo(np.int64).max
"""The launch of an event is not in the file."""

# A start is this much idle at least, and has this much of the core's busy time at most: a capture
# that idles evenly has none.
_MOSTLY_IDLE = 0.9
_LEAST_BUSY = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Idle stretches of one core, in order; `first` is where its time begins."""

    begin: I64
    end: I64
    first: int

    def start(self, busy: float) -> tuple[int, int]:
        """The mostly idle start of the core's time, which an idle stretch ends: its idle time, and
        where it ends.

        `busy` is the core's time that is not idle.
        """
        idle = np.append(0, np.cumsum(self.end - self.begin))
        end = np.append(self.first, self.end)
        passed = end - self.first
        is_start = (idle >= _MOSTLY_IDLE * passed) & (passed - idle <= _LEAST_BUSY * busy)
        last = int(np.flatnonzero(is_start)[-1])
        return int(idle[last]), int(end[last])


def enders(at: I64, order: I64, begin: I64) -> tuple[I64, I64]:
    """The events that end stretches, as two columns: the stretch and the event.

    `order` sorts the events, `at` has the place in it of each stretch's first event; all others
    that begin with that one end the stretch, too.
    """
    left, following = np.arange(len(at)), at.copy()
    stretches, events = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    while len(left):  # hardly ever more than two begin together
        stretches.append(left)
        events.append(order[following[left]])
        following[left] += 1
        left = left[following[left] < len(order)]
        left = left[begin[order[following[left]]] == begin[order[at[left]]]]
    return np.concatenate(stretches), np.concatenate(events)


def in_rows(spans: tuple[I64, I64], windows: Windows) -> F64:
    """The length of spans in whole, and then in each window."""
    begin, end = spans
    return np.append(float((end - begin).sum()), time_inside(begin, end, windows))

"""What idle stretches of a core tell: which of them waited for a launch, whether the capture began
with idling, the longest one.

Times are integers of any unit; stretches are in order and do not overlap.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.sweep import Windows, time_inside

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

NO_LAUNCH = np.iinfo(np.int64).max
"""In a column of launches: the launch of this event is not in the file."""

# A start is this much idle at least, and has this much of the core's busy time at most: a capture
# that idles evenly has none.
_MOSTLY_IDLE = 0.9
_LEAST_BUSY = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretches:
    """Idle stretches of one core, in order; `first` and `last` bound the time of the core."""

    begin: I64
    end: I64
    first: int
    last: int

    @property
    def longest(self) -> int:
        """Length of the longest one; 0 without any."""
        return int((self.end - self.begin).max(initial=0))

    def start(self, busy: float) -> tuple[int, int]:
        """Length of the mostly idle start of the core's time, and the idle time in it.

        It ends with an idle stretch. `busy` is the core's time that is not idle.
        """
        idle = np.cumsum(self.end - self.begin)
        passed = self.end - self.first
        is_start = (idle >= _MOSTLY_IDLE * passed) & (passed - idle <= _LEAST_BUSY * busy)
        ends = np.flatnonzero(is_start)
        return (int(passed[ends[-1]]), int(idle[ends[-1]])) if len(ends) else (0, 0)

    def chosen(self, which: NDArray[np.bool_]) -> tuple[I64, I64]:
        """Begin and end of some of them."""
        return self.begin[which], self.end[which]


def awaited_launches(
    idle: Stretches, begin: I64, launched: I64
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which stretches ended with an event launched after they began, and which with an event whose
    launch is not in the file.

    `begin` and `launched` (`NO_LAUNCH`: not known) are those of the core's events.
    """
    at = np.searchsorted(idle.end, begin)
    ends_one = at < len(idle.end)
    ends_one[ends_one] = idle.end[at[ends_one]] == begin[ends_one]
    first_launch = np.full(len(idle.end), NO_LAUNCH)
    np.minimum.at(first_launch, at[ends_one], launched[ends_one])
    is_unknown = first_launch == NO_LAUNCH
    return ~is_unknown & (first_launch > idle.begin), is_unknown


def in_rows(spans: tuple[I64, I64], windows: Windows) -> F64:
    """The length of spans in whole, and then in each window."""
    begin, end = spans
    return np.append(float((end - begin).sum()), time_inside(begin, end, windows))

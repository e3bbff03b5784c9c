"""The record of runs over time: the numbers of each, and its standing at the gate.

The server reads it without loading the gate and NumPy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["base", "passed", "better", "broken", "accepted", "inconclusive", "untested"]

STATE_WORDS = {
    "base": "first of the series",
    "passed": "passed",
    "better": "better",
    "broken": "failed",
    "accepted": "accepted",
    "inconclusive": "unclear",
    "untested": "not tested",
}
"""The name of each standing of a run at the gate."""

_MOVES_BASE = ("passed", "better")
_NEAREST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNumbers:
    """One run in one unit, per core, in us. `None` is not known.

    `time_us`, `floor_us`, `roof_ratio` and `known_ratio` are those of its subject. `roof_us` is the
    sum of calls x longest of work / peak, over operations whose bound is known: it has no noise.
    """

    time_us: float
    floor_us: float | None
    roof_us: float | None
    roof_ratio: float | None
    known_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run stands at the gate: `rules` are those that are broken or accepted.

    `until` is the last day (ISO 8601) on which a broken rule is accepted.
    """

    state: State
    rules: tuple[str, ...] = ()
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A run's standing against the run at `base` of the series; `None` where it is the base."""

    standing: Standing
    base: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeChange:
    """A lasting change of time: runs from `first` to before `end` against those from `start` on.

    All three are places in the series. Times are medians, in us.
    """

    start: int
    first: int
    end: int
    before_us: float
    after_us: float

    @property
    def ratio(self) -> float:
        """Time after divided by time before."""
        return self.after_us / self.before_us

    @property
    def sides(self) -> tuple[range, range]:
        """The runs next to the change, at most five before it and five from it on."""
        before = range(max(self.start, self.first - _NEAREST), self.first)
        return before, range(self.first, min(self.end, self.first + _NEAREST))


def check_series(count: int, judge: Callable[[int, int], Standing]) -> list[Checked]:
    """Each of `count` runs, the oldest first, against the newest run before it that passed.

    A run that broke a rule is not a baseline: the runs after it are held against the one before.
    So a regression stays visible until it is mended. `judge(base, run)` checks one pair.
    """
    found: list[Checked] = []
    base = 0
    for run in range(count):
        if run == 0:
            found.append(Checked(standing=Standing(state="base"), base=None))
            continue
        standing = judge(base, run)
        found.append(Checked(standing=standing, base=base))
        if standing.state in _MOVES_BASE:
            base = run
    return found

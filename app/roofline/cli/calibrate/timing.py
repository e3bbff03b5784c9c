"""Repeated timings of a peak: what else runs on the machine only ever slows them.

So the fastest of them count: their median is the rate, their range the spread.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

STEADY = 0.05
_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure: one timing takes `seconds` at least; of `timings` the fastest count.

    Where those are not within 5 % of each other there are two more rounds.
    """

    seconds: float
    timings: int
    counted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Work per second: the median of the timings that count, and half their range over it."""

    per_second: float
    spread_ratio: float
    text: str


def seconds_of(run: Callable[[], object]) -> float:
    """How long `run` takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def rate_of(work: float, run: Callable[[], float], effort: Effort) -> Rate:
    """The rate of `work`, which `run` does once and returns its seconds."""
    seconds: list[float] = []
    for _ in range(_ROUNDS):
        seconds += [max(run(), 1e-9) for _ in range(effort.timings)]
        counted = sorted(seconds)[: effort.counted]
        median = statistics.median(counted)
        spread = (counted[-1] - counted[0]) / 2 / median
        if spread <= STEADY:
            break
    text = f"median of the fastest {len(counted)} of {len(seconds)}"
    return Rate(per_second=work / median, spread_ratio=spread, text=text)


def fastest(run: Callable[[], float], tries: int = 3) -> float:
    """The least of some `tries`, in seconds: how long `run` takes undisturbed."""
    return min(run() for _ in range(tries))

"""Repeated timings: their median, and how far they scatter."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure: `seconds` at least for one timing, `repeats` timings."""

    seconds: float
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Work per second: the median of several timings, `spread_ratio` half their range over it."""

    per_second: float
    spread_ratio: float


def seconds_of(run: Callable[[], object]) -> float:
    """How long `run` takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def rate_of(work: float, seconds: list[float]) -> Rate:
    """`work` done in each of the `seconds`."""
    rates = [work / max(one, 1e-9) for one in seconds]
    median = statistics.median(rates)
    return Rate(per_second=median, spread_ratio=(max(rates) - min(rates)) / 2 / median)

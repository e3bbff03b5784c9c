"""Runs of one title or tag over time: step time, roof time and the share of it at the roofs."""

import gzip
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roofline.compare.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNumbers:
    """One run in one unit, per core, in us. `None` is not known.

    `time_us` is the median over the units of the capture. `roof_us` is the sum of calls x longest
    of work / peak, over operations whose bound is known; `known_ratio` is their share of the time
    of all operations. `efficiency_ratio` is roof time / time.
    """

    time_us: float
    roof_us: float | None
    efficiency_ratio: float | None
    known_ratio: float | None


def numbers_of(packed: bytes) -> Mapping[str, RunNumbers]:
    """The numbers of a stored run by unit, the best unit first; `packed` is gzip."""
    from roofline.compare.run import UNITS, run_from_json

    run = run_from_json(gzip.decompress(packed))
    return {unit: _numbers(run, unit) for unit in UNITS if unit in run.units}


def _numbers(run: "Run", unit: str) -> RunNumbers:
    from roofline.compare.gate.numbers import amounts, roof_times
    from roofline.compare.statistics import capture_median

    times = run.units[unit]
    time_us = capture_median(times.samples_us, times.total_us)
    roof_us = amounts(run, unit, "roof_time").total(times.calls > 0)
    all_us = float(times.time_us.sum())
    pairs = zip(times.time_us.tolist(), roof_times(run, None).tolist(), strict=True)
    known_us = sum(us for us, roof in pairs if not math.isnan(roof))
    return RunNumbers(
        time_us=time_us,
        roof_us=roof_us,
        efficiency_ratio=roof_us / time_us if roof_us is not None and time_us > 0 else None,
        known_ratio=known_us / all_us if all_us > 0 else None,
    )


def unit_of_all(runs: Sequence[Mapping[str, RunNumbers]]) -> str:
    """The best unit that all runs have; every capture has itself."""
    from roofline.compare.run import CAPTURE, UNITS

    return next((unit for unit in UNITS if all(unit in run for run in runs)), CAPTURE)

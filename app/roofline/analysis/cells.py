"""The columns of ops as they are shown: a cell that would not be a rate is empty, and says why.

The arithmetic divides whatever it is given. What follows from it is decided with all of its
columns; what people read are these.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.above_roof import IMPOSSIBLE
from roofline.analysis.causes import NotShown
from roofline.analysis.context import NAN, Context
from roofline.analysis.records import Bools, Measures
from roofline.analysis.roofline import Floats
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns

MOST_TIMES = 10
"""Times the peak: no peak is wrong by more, so what is above that is not shown."""

# Below that, a time is a few ticks of any profiler's clock.
_LEAST_PS = 10_000
# The shortest line of a cache among devices, in bytes.
_CACHE_LINE = 64


class _Rows(NamedTuple):
    """Kinds of rows: calls below the clock, transfers over a link, halves of asynchronous ops."""

    short: Bools
    moves: Bools
    halves: Bools

    def lost(self, share: Floats) -> Bools:
        """Where a rate with this share of its peak is none.

        An asynchronous op moves its bytes while others run.
        """
        used = np.nan_to_num(share)
        lost: Bools = self.short | (used > MOST_TIMES) | (self.halves & (used > IMPOSSIBLE))
        return lost


def shown_cells(
    measures: Measures, work: OpColumns, context: Context, moves: Bools, halves: Bools
) -> tuple[Measures, tuple[NotShown | None, ...]]:
    """The columns of `measures` to show, and why cells of a row are empty, if any are.

    `moves` are transfers over a link, `halves` the starts and ends of asynchronous ops. XProf shows
    every quotient, and so does comparison mode.
    """
    if context.oddities.on:
        return measures, (None,) * len(work)
    rows = _Rows(short=_is_short(work, context), moves=moves, halves=halves)
    shown = replace(
        measures,
        **_memories(measures, work, rows),
        **_compute(measures, rows),
        **_intensities(measures, work, context, rows),
        **_roof(measures, rows),
    )
    return shown, _reasons(measures, shown, rows)


def _is_short(work: OpColumns, context: Context) -> Bools:
    least_ps = max(_LEAST_PS, context.profile.clock_tick_ps)
    short: Bools = (work.time_ps > 0) & (work.time_ps < _calls(work) * least_ps)
    return short


def _calls(work: OpColumns) -> Floats:
    return np.maximum(work.occurrences, 1).astype(np.float64)


def _memories(measures: Measures, work: OpColumns, rows: _Rows) -> dict[str, Any]:
    """Bandwidths and shares. Where that of one memory is none, that of all together is none."""
    shares, used = measures.utilisation_ratio, measures.memory_utilisation_ratio
    lost = {
        level: rows.lost(share) | (rows.moves & (not level.is_link))
        for level, share in shares.items()
    }
    of_memories = [found for level, found in lost.items() if not level.is_link]
    together = np.logical_or.reduce([rows.moves | rows.short, *of_memories])
    # Bytes of an op and of the ops inside it, or beside it, are not of its own time alone.
    shared = (rows.halves | (work.time_ps != work.self_time_ps)) & (np.nan_to_num(used) > 1.0)
    return {
        "bandwidth_gibs": _emptied(measures.bandwidth_gibs, lost),
        "utilisation_ratio": _emptied(shares, lost),
        "memory_bandwidth_gibs": np.where(together, NAN, measures.memory_bandwidth_gibs),
        "memory_utilisation_ratio": np.where(together | shared, NAN, used),
    }


def _compute(measures: Measures, rows: _Rows) -> dict[str, Any]:
    """Rates and shares of FLOPs. No FLOPs are none in any time."""
    shares = measures.unit_utilisation_ratio
    works = np.nan_to_num(measures.flop_rate_gflops) > 0
    lost = {unit: works & rows.lost(share) for unit, share in shares.items()}
    main = works & rows.lost(measures.main_utilisation_ratio)
    most = main | (works & rows.lost(measures.compute_efficiency_ratio))
    whole = ("flop_rate_gflops", "model_flop_rate_gflops", "compute_efficiency_ratio")
    return {
        **{name: np.where(most, NAN, getattr(measures, name)) for name in whole},
        "integer_rate_gops": np.where(rows.short, NAN, measures.integer_rate_gops),
        "main_utilisation_ratio": np.where(main, NAN, measures.main_utilisation_ratio),
        "unit_rate_gflops": _emptied(measures.unit_rate_gflops, lost),
        "unit_utilisation_ratio": _emptied(shares, lost),
    }


def _intensities(
    measures: Measures, work: OpColumns, context: Context, rows: _Rows
) -> dict[str, Any]:
    """FLOPs per byte: none of a transfer, and none of less than a line of a cache per call."""
    least = _calls(work) * _CACHE_LINE
    overall = rows.moves | (work.bytes_accessed < least)
    lost = {
        level: _moved_less(work, level, least, overall) | rows.moves for level in measures.intensity
    }
    binding = [(roofline.COMPUTE_BOUND, overall)]
    for code, level in enumerate(context.levels, roofline.COMPUTE_BOUND + 1):
        binding.append((code, lost[level]))
    at_bound = rows.moves.copy()
    for code, none in binding:
        at_bound |= (measures.bound == code) & none
    return {
        "intensity": _emptied(measures.intensity, lost),
        "operational_intensity": np.where(overall, NAN, measures.operational_intensity),
        "bottleneck_intensity": np.where(at_bound, NAN, measures.bottleneck_intensity),
    }


def _moved_less(work: OpColumns, level: MemoryLevel, least: Floats, overall: Bools) -> Bools:
    """Rows that moved less than `least`; bytes that are not broken down count in every memory."""
    less: Bools = work.traffic_bytes[level] < least
    return less if level.is_link else np.where(work.traffic_known, less, overall)


def _roof(measures: Measures, rows: _Rows) -> dict[str, Any]:
    """The share of the roof, and what binds: nothing that is told where no share is."""
    share = measures.roofline_efficiency_ratio
    lost = rows.lost(share)
    return {
        "roofline_efficiency_ratio": np.where(lost, NAN, share),
        "attainable_gflops": np.where(lost, NAN, measures.attainable_gflops),
        "bound": np.where(lost & ~rows.moves, roofline.UNKNOWN_BOUND, measures.bound),
    }


def _emptied(columns: Mapping[Any, Floats], lost: Mapping[Any, Bools]) -> dict[Any, Floats]:
    return {
        key: np.where(lost[key], NAN, column) if key in lost else column
        for key, column in columns.items()
    }


def _reasons(measures: Measures, shown: Measures, rows: _Rows) -> tuple[NotShown | None, ...]:
    """The first reason of each row that has one."""
    shares = [
        measures.roofline_efficiency_ratio,
        measures.compute_efficiency_ratio,
        measures.memory_utilisation_ratio,
        *measures.utilisation_ratio.values(),
        *measures.unit_utilisation_ratio.values(),
    ]
    most = roofline.highest(shares, length=len(rows.short), missing=0.0)
    less = np.isnan(shown.operational_intensity) & ~np.isnan(measures.operational_intensity)
    whys = [rows.short, rows.halves & (most > IMPOSSIBLE), most > MOST_TIMES, rows.moves, less]
    found = np.select(whys, range(1, len(whys) + 1), default=0)
    every = (None, *NotShown)
    return tuple(every[number] for number in found.tolist())

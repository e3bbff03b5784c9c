"""Ops whose work is known and whose time is not: what the roof allows for their work, at best.

At best, the most used of the ceilings is used fully: rate = min(peak, intensity × bandwidth). So
the op is measured as if it took one second, and its rates are divided by the share of the roof that
this would be. A prediction has no share of the roof, because it is the roof.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN
from roofline.analysis.records import Measures, Timing
from roofline.model.op_columns import Bools, OpColumns
from roofline.model.units import PS_PER_S


class Untimed(NamedTuple):
    """Rows without a time: `is_rate` holds the work of one second, `is_predicted` only its work."""

    is_rate: Bools
    is_predicted: Bools

    @property
    def timing(self) -> tuple[Timing, ...]:
        """How each row's rates were obtained."""
        named = np.where(self.is_rate, Timing.RATE, Timing.MEASURED)
        return tuple(map(Timing, np.where(self.is_predicted, Timing.PREDICTED, named).tolist()))


def untimed(work: OpColumns) -> Untimed:
    """Which rows of `work` have no time. Work that is known in part gives no prediction."""
    has_time = work.time_ps > 0
    return Untimed(
        is_rate=~work.time_known & has_time,
        is_predicted=~work.time_known & ~has_time & work.cost_known,
    )


def in_one_second(work: OpColumns, rows: Bools) -> OpColumns:
    """`work` as if each of `rows` took one second."""
    second = np.uint64(PS_PER_S)
    return replace(work, time_ps=np.where(rows, second, work.time_ps))


def at_best(measures: Measures, work: OpColumns, rows: Bools) -> Measures:
    """`measures`, whose `rows` are those of one second, at the highest rates of the roof."""
    if not rows.any():
        return measures
    known = rows & work.flop_known & work.bytes_known
    share = np.where(known, measures.roofline_efficiency_ratio, NAN)
    factor = np.where(rows, 1 / np.where(share > 0, share, NAN), 1.0)
    is_placed = ~rows | np.isfinite(factor)
    changed: dict[str, Any] = {
        "bound": np.where(is_placed, measures.bound, roofline.UNKNOWN_BOUND),
        "bottleneck_intensity": np.where(is_placed, measures.bottleneck_intensity, NAN),
        "roofline_efficiency_ratio": np.where(rows, NAN, measures.roofline_efficiency_ratio),
    }
    for name in _RATES:
        changed[name] = getattr(measures, name) * factor
    changed["attainable_gflops"] = np.where(
        rows, changed["flop_rate_gflops"], measures.attainable_gflops
    )
    for name in _RATES_BY_KEY:
        changed[name] = {key: rate * factor for key, rate in getattr(measures, name).items()}
    return replace(measures, **changed)


# Columns that are twice as large in half the time.
_RATES = (
    "flop_rate_gflops",
    "model_flop_rate_gflops",
    "integer_rate_gops",
    "memory_bandwidth_gibs",
    "compute_efficiency_ratio",
    "memory_utilisation_ratio",
    "main_utilisation_ratio",
    "compute_low_ratio",
    "compute_high_ratio",
)
_RATES_BY_KEY = (
    "bandwidth_gibs",
    "utilisation_ratio",
    "unit_rate_gflops",
    "unit_utilisation_ratio",
)

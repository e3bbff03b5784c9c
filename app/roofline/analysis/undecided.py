"""Work whose compute unit the profile does not tell: held against both ends of its range.

Of FLOPs that one of several units did, the share of the roof lies between work ÷ the largest of
their peaks (the low end) and work ÷ the smallest (the high end). A unit whose peak is not known may
be faster than all others, so its end is not known either.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.knowledge import KNOWN_SHARE
from roofline.analysis.records import UNDECIDED, Measures
from roofline.analysis.roofline import Floats, Peaks
from roofline.model.compute import ComputeUnit, UndecidedUnit
from roofline.model.op_columns import OpColumns

Pick = Callable[[Peaks, Sequence[ComputeUnit]], ComputeUnit]


def fastest(peaks: Peaks, units: Sequence[ComputeUnit]) -> ComputeUnit:
    """The unit of the low end: the one with the largest peak, or one whose peak is not known."""
    return max(units, key=lambda unit: peaks.unit_gflops.get(unit, math.inf))


def slowest(peaks: Peaks, units: Sequence[ComputeUnit]) -> ComputeUnit:
    """The unit of the high end."""
    return min(units, key=lambda unit: peaks.unit_gflops.get(unit, math.inf))


def decided(work: OpColumns, peaks: Peaks, pick: Pick) -> OpColumns:
    """`work` as if all of its undecided FLOPs were of the units that `pick` chooses."""
    flop = dict(work.unit_flop)
    for among, column in work.undecided_flop.items():
        if column.any():
            unit = pick(peaks, among.units)
            flop[unit] = flop[unit] + column if unit in flop else column
    ordered = {unit: flop[unit] for unit in ComputeUnit if unit in flop}
    return replace(work, unit_flop=ordered, undecided_flop={})


def units_held(ops: OpColumns, peaks: Peaks) -> tuple[ComputeUnit, ...]:
    """The units that FLOPs of `ops` are held against, in their order."""
    flop = decided(ops, peaks, fastest).unit_flop
    return tuple(unit for unit in flop if unit in ops.unit_flop or unit in peaks.unit_gflops)


def units_of(work: OpColumns, op: int) -> tuple[ComputeUnit, ...]:
    """The units of which one ran the op; empty where the profile tells, or names none of them."""
    among = next((one for one, flop in work.undecided_flop.items() if flop[op]), UndecidedUnit.ANY)
    return () if among is UndecidedUnit.ANY else among.units


def between(
    low: Measures, high: Measures, work: OpColumns, units: Sequence[ComputeUnit], fallback: Floats
) -> Measures:
    """The measures of rows from those of both ends, with the `units` of the analysis.

    Where both ends have the same bound, the low end counts; elsewhere the use of compute is not
    known, nothing is known to bind, and x is `fallback`.
    """
    flop = sum(work.undecided_flop.values(), np.zeros(len(work), np.uint64))
    has, is_most = flop > 0, flop > (1 - KNOWN_SHARE) * work.flop
    unknown = has & (low.bound != high.bound)
    unknown |= is_most & (low.bound == roofline.UNKNOWN_BOUND)

    def known(values: Floats) -> Floats:
        return np.where(unknown, np.nan, values)

    numbers = [units.index(one) if one in units else UNDECIDED for one in low.unit_rate_gflops]
    unit = np.array([*numbers, -1], np.int64)[low.unit]  # -1 stays the main peak
    return replace(
        low,
        bound=np.where(unknown, roofline.UNKNOWN_BOUND, low.bound),
        unit=np.where(unknown, UNDECIDED, unit),
        unit_rate_gflops={one: known(low.unit_rate_gflops[one]) for one in units},
        unit_utilisation_ratio={one: known(low.unit_utilisation_ratio[one]) for one in units},
        main_utilisation_ratio=known(low.main_utilisation_ratio),
        compute_efficiency_ratio=known(low.compute_efficiency_ratio),
        roofline_efficiency_ratio=known(low.roofline_efficiency_ratio),
        attainable_gflops=known(low.attainable_gflops),
        bottleneck_intensity=np.where(unknown, fallback, low.bottleneck_intensity),
        compute_low_ratio=np.where(has, low.compute_efficiency_ratio, np.nan),
        compute_high_ratio=np.where(has, high.compute_efficiency_ratio, np.nan),
    )

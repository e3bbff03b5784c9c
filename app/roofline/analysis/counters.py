"""The program's point by hardware counters: "Total (HW)"."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.measure import measure
from roofline.analysis.records import U64, Measures, ProgramPoints, Scope
from roofline.analysis.roofline import Floats
from roofline.model.device import MeasuredWork
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns
from roofline.model.units import gib_to_gb

MATRIX_UNIT = "matrix unit"


def with_counters(context: Context, points: ProgramPoints) -> ProgramPoints:
    """Insert "Total (HW)" after Total where hardware counted the program's work."""
    counters = context.device.counters
    if counters.measured is not None:
        return _inserted(points, "Total (HW)", _measured_row(context, counters.measured))
    compute, memory = _counted(counters.matrix_unit_ratio), _counted(counters.hbm_ratio)
    parts = [name for name, ratio in ((MATRIX_UNIT, compute), ("HBM", memory)) if ratio >= 0]
    if not parts:
        return points
    what = f"{parts[0]} only" if len(parts) == 1 else " and ".join(parts)
    row = _counter_row(context, compute, memory, points.measures)
    # Work of the vector unit is not counted, so the rate is a lower bound.
    return _inserted(points, f"Total (HW, {what})", row, flop_is_least=compute > 0)


def _inserted(
    points: ProgramPoints, label: str, row: Measures, *, flop_is_least: bool = False
) -> ProgramPoints:
    placement = points.placement
    return ProgramPoints(
        scope=(points.scope[0], Scope.TOTAL_HW, *points.scope[1:]),
        label=(points.label[0], label, *points.label[1:]),
        outlier=np.insert(points.outlier, 1, False),
        flop_is_least=np.insert(points.flop_is_least, 1, flop_is_least),
        bytes_is_least=np.insert(points.bytes_is_least, 1, False),
        measures=points.measures.inserted(1, row),
        placement=None if placement is None else placement.inserted(1, row),
    )


def _measured_row(context: Context, counted: MeasuredWork) -> Measures:
    """Work that a kernel profiler counted, over its kernels' share of the program's time.

    Idle time counts in proportion, so that the point compares with the program's modelled one.
    """
    ops_ps = context.profile.op_time_ps
    time_ps = counted.time_ps * (context.program_ps(include=True) / ops_ps if ops_ps else 1.0)
    return measure(_work_of(context, counted, int(time_ps)), context)


def _work_of(context: Context, counted: MeasuredWork, time_ps: int) -> OpColumns:
    def one(count: int) -> U64:
        return np.array([count], np.uint64)

    traffic = counted.traffic_bytes
    return OpColumns(
        time_ps=one(time_ps),
        self_time_ps=one(0),
        occurrences=np.ones(1, np.int64),
        flop=one(counted.flop),
        bytes_accessed=one(traffic.get(context.main_level, 0)),
        traffic_bytes={level: one(traffic.get(level, 0)) for level in context.levels},
        traffic_known=np.ones(1, np.bool_),
        cost_known=np.ones(1, np.bool_),
        bytes_known=np.array([context.main_level in traffic], np.bool_),
        unit_flop={unit: one(counted.unit_flop.get(unit, 0)) for unit in context.units},
    )


def _counted(value: float | None) -> float:
    return NAN if value is None or not math.isfinite(value) else value


def _counter_row(context: Context, compute: float, memory: float, measures: Measures) -> Measures:
    """Counter-derived values: rate = utilisation × peak, intensity = rate / HBM bytes per second.

    Known only as far as the counters go; a program is placed on the roof only with both. The times
    are those of the program's total, the first row of `measures`. The rate is that of the matrix
    unit; where that did nothing, all FLOPs are the vector unit's, and unknown.
    """
    main = context.main_level
    rate = compute * (context.peaks.gflops or NAN) if compute else NAN
    bandwidth = memory * context.peaks.binding_gibs.get(main, NAN)
    intensity = rate / gib_to_gb(bandwidth) if bandwidth > 0 else NAN
    both = not math.isnan(compute) and not math.isnan(memory)
    efficiency = max(compute, memory) if both else NAN
    row = Measures.unknown(1, context.levels, context.units)

    def at_main(columns: Mapping[MemoryLevel, Floats], value: float) -> dict[MemoryLevel, Floats]:
        return {level: _one(value) if level is main else c for level, c in columns.items()}

    return replace(
        row,
        total_time_us=measures.total_time_us[:1],
        total_time_per_core_us=measures.total_time_per_core_us[:1],
        flop_rate_gflops=_one(rate),
        bandwidth_gibs=at_main(row.bandwidth_gibs, bandwidth),
        intensity=at_main(row.intensity, intensity),
        utilisation_ratio=at_main(row.utilisation_ratio, memory),
        operational_intensity=_one(intensity),
        bottleneck_intensity=_one(intensity),
        bound=np.array([_counter_bound(context, compute, memory)], np.int64),
        attainable_gflops=_one(rate / efficiency if efficiency > 0 else NAN),
        roofline_efficiency_ratio=_one(efficiency),
        compute_efficiency_ratio=_one(compute),
        memory_utilisation_ratio=_one(memory),
    )


def _one(value: float) -> Floats:
    return np.array([value])


def _counter_bound(context: Context, compute: float, memory: float) -> int:
    """As for ops: the more utilised one, compute on a tie, nothing where nothing is used."""
    if math.isnan(compute) or math.isnan(memory) or max(compute, memory) <= 0:
        return roofline.UNKNOWN_BOUND
    if compute >= memory or context.main_level not in context.levels:
        return roofline.COMPUTE_BOUND
    return roofline.COMPUTE_BOUND + 1 + context.levels.index(context.main_level)

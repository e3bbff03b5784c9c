"""The program's point by hardware counters: "Total (HW)"."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.context import NAN, Context
from roofline.analysis.measure import Work, measure
from roofline.analysis.records import U64, Measures, ProgramPoints, Scope
from roofline.analysis.roofline import Floats
from roofline.model.device import MeasuredWork
from roofline.model.units import gib_to_gb


def with_counters(context: Context, points: ProgramPoints) -> ProgramPoints:
    """Insert "Total (HW)" after Total where hardware counted the program's work."""
    counters = context.device.counters
    if counters.measured is not None:
        return _inserted(points, _measured_row(context, counters.measured))
    compute, memory = _counted(counters.matrix_unit_ratio), _counted(counters.hbm_ratio)
    if math.isnan(compute) and math.isnan(memory):
        return points
    row = _counter_measures(context, compute, memory) | {
        name: float(getattr(points.measures, name)[0])
        for name in ("total_time_us", "total_time_per_core_us")
    }
    return _inserted(points, row)


def _inserted(points: ProgramPoints, row: Mapping[str, float]) -> ProgramPoints:
    return ProgramPoints(
        scope=(points.scope[0], Scope.TOTAL_HW, *points.scope[1:]),
        label=(points.label[0], "Total (HW)", *points.label[1:]),
        outlier=np.insert(points.outlier, 1, False),
        measures=_insert_row(points.measures, row),
    )


def _measured_row(context: Context, counted: MeasuredWork) -> dict[str, float]:
    """Work that a kernel profiler counted, over its kernels' share of the program's time.

    Idle time counts in proportion, so that the point compares with the program's modelled one.
    """
    ops_ps = context.profile.op_time_ps
    time_ps = counted.time_ps * (context.program_ps(include=True) / ops_ps if ops_ps else 1.0)
    row = measure(_work_of(context, counted, int(time_ps)), context)
    return {
        key: float(value[0])
        for key, value in (*_columns(row), ("bound", row.bound), ("unit", row.unit))
    }


def _work_of(context: Context, counted: MeasuredWork, time_ps: int) -> Work:
    def one(count: int) -> U64:
        return np.array([count], np.uint64)

    traffic, unknown = counted.traffic_bytes, np.array([NAN])
    table = context.profile.ops
    return Work(
        time_ps=one(time_ps),
        self_time_ps=one(0),
        occurrences=np.ones(1, np.int64),
        dma_stall_ps=one(0),
        flop=one(counted.flop),
        model_flop=one(counted.flop),
        bytes_accessed=one(traffic.get(context.main_level, 0)),
        traffic_bytes={level: one(traffic.get(level, 0)) for level in context.levels},
        traffic_known=np.ones(1, np.bool_),
        known=np.ones(1, np.bool_),
        flop_known=np.ones(1, np.bool_),
        bytes_known=np.array([context.main_level in traffic], np.bool_),
        divisor=np.ones(1),
        unit_flop={unit: one(counted.unit_flop.get(unit, 0)) for unit in context.units},
        unit_capacity_flop=dict.fromkeys(table.unit_capacity_flop, unknown),
        level_capacity_bytes=dict.fromkeys(table.level_capacity_bytes, unknown),
    )


def _columns(measures: Measures) -> Iterator[tuple[str, Floats]]:
    """Every column by the name `_insert_row` knows it by."""
    for field in fields(Measures):
        value = getattr(measures, field.name)
        if isinstance(value, Mapping):
            yield from ((f"{key}_{field.name}", column) for key, column in value.items())
        elif field.name not in {"bound", "unit"}:
            yield field.name, value


def _counted(value: float | None) -> float:
    return NAN if value is None or not math.isfinite(value) else value


def _counter_measures(context: Context, compute: float, memory: float) -> dict[str, float]:
    """Counter-derived values: rate = utilisation × peak, intensity = rate / HBM bytes per second.

    Known only as far as the counters go; a program is placed on the roof only with both.
    """
    peak_gflops = context.peaks.gflops or NAN
    peak_gibs = context.peaks.binding_gibs.get(context.main_level, NAN)
    rate, bandwidth = compute * peak_gflops, memory * peak_gibs
    intensity = rate / gib_to_gb(bandwidth) if bandwidth > 0 else NAN
    both = not math.isnan(compute) and not math.isnan(memory)
    efficiency = max(compute, memory) if both else NAN
    return {
        "flop_rate_gflops": rate,
        f"{context.main_level}_bandwidth_gibs": bandwidth,
        f"{context.main_level}_intensity": intensity,
        f"{context.main_level}_utilisation_ratio": memory,
        "unit": -1,
        "operational_intensity": intensity,
        "bottleneck_intensity": intensity,
        "bound": float(_counter_bound(context, compute, memory)),
        "attainable_gflops": rate / efficiency if efficiency > 0 else NAN,
        "roofline_efficiency_ratio": efficiency,
        "compute_efficiency_ratio": compute,
        "memory_utilisation_ratio": memory,
    }


def _counter_bound(context: Context, compute: float, memory: float) -> int:
    """As for ops: the more utilised one, compute on a tie, nothing where nothing is used."""
    if math.isnan(compute) or math.isnan(memory) or max(compute, memory) <= 0:
        return roofline.UNKNOWN_BOUND
    if compute >= memory or context.main_level not in context.levels:
        return roofline.COMPUTE_BOUND
    return roofline.COMPUTE_BOUND + 1 + context.levels.index(context.main_level)


def _insert_row(measures: Measures, row: Mapping[str, float]) -> Measures:
    columns: dict[str, object] = {}
    for field in fields(Measures):
        value = getattr(measures, field.name)
        if isinstance(value, Mapping):
            columns[field.name] = {
                key: np.insert(column, 1, row.get(f"{key}_{field.name}", NAN))
                for key, column in value.items()
            }
        else:
            columns[field.name] = np.insert(value, 1, row.get(field.name, NAN))
    return Measures(**columns)  # type: ignore[arg-type]

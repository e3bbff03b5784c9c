"""The ops of the page data: one array per column, each listed op once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.analysis.awaited import awaited_steps
from roofline.analysis.causes import WHY_NOT_SHOWN
from roofline.analysis.records import I64, Cost, Measures, RooflineAnalysis, Timing
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.budget import owners_of
from roofline.analysis.subjects.records import Subject
from roofline.model.memory import MemoryLevel
from roofline.presentation.ceiling_words import ceiling_words
from roofline.presentation.columns import BUSY, CLOCK, LEVEL_USE, UNIT_USE
from roofline.presentation.quantities import duration
from roofline.presentation.rounding import numbers, rounded
from roofline.presentation.shown import (
    ceiling_labels,
    clock_labels,
    has_program,
    is_untimed,
    shown_measures,
)

Values = dict[str, list[Any]]


def categories_of(analysis: RooflineAnalysis, listed: I64) -> list[str]:
    """Categories of the listed ops, by self time."""
    time: dict[str, float] = {}
    self_us = analysis.ops.measures.self_time_us
    for op in listed.tolist():
        name = analysis.ops.category[op]
        time[name] = time.get(name, 0.0) + float(np.nan_to_num(self_us[op]))
    return sorted(time, key=lambda name: (-time[name], name))


def op_values(
    analysis: RooflineAnalysis,
    listed: I64,
    levels: Sequence[MemoryLevel],
    categories: Sequence[str],
    subject: Subject,
) -> Values:
    """Every column of `listed`; `None` where IDLE or an op has no value."""
    ops = analysis.ops
    measured = shown_measures(analysis, ops.cells, levels)
    own_peaks = shares_of_own_peaks(analysis, ops.cells)
    roofs = compute_roofs(analysis, ops.cells)
    clocks = ops.clocks.bounds() | {
        CLOCK.format(id=key): ops.clocks.of[key] for key in clock_labels(analysis, levels)
    }
    return {
        **_identity(analysis, listed.tolist(), categories),
        "bound_by": ops.cells.bound[listed].tolist(),
        **_nearest(analysis, listed),
        **{name: column[listed].tolist() for name, column in roofs.items()},
        "self_time_per_core_us": numbers(ops.self_time_per_core_us[listed]),
        "saving_per_core_us": numbers(ops.saving_per_core_us[listed]),
        **{name: numbers(column[listed]) for name, column in clocks.items()},
        **({"is_start": ops.is_start[listed].astype(int).tolist()} if ops.is_start.any() else {}),
        **_moved(analysis, listed),
        **_not_shown(analysis, listed),
        **_parts(analysis, listed, subject),
        "at_ridge": ops.clocks.at_ridge[listed].astype(int).tolist(),
        **{name: numbers(column[listed]) for name, column in measured.items()},
        **{name: numbers(column[listed]) for name, column in own_peaks.items()},
    }


def _nearest(analysis: RooflineAnalysis, listed: I64) -> Values:
    """Nearest ceiling and busy shares of ops; nothing where none were counted."""
    near, rows = analysis.nearest, listed.tolist()
    labels = ceiling_labels(analysis)
    if not labels:
        return {}
    return {
        "nearest_ceiling": [ceiling_words(near.ceiling_of(op)) for op in rows],
        "nearest_ratio": numbers(near.ratios()[listed]),
        **{
            BUSY.format(id=key): numbers(near.busy[near.ceilings.index(key)][listed])
            for key in labels
        },
    }


def _parts(analysis: RooflineAnalysis, listed: I64, subject: Subject) -> Values:
    """The part of the subject's time that owns each op; nothing where it has no parts."""
    owners = owners_of(analysis, subject, listed)
    return {"part": owners} if any(owners) else {}


def _moved(analysis: RooflineAnalysis, listed: I64) -> Values:
    """The bytes of transfers over their links; nothing where there are none."""
    moved = analysis.ops.moved
    if Cost.TRANSFER not in analysis.ops.cost:
        return {}
    return {
        "link": [link and link.value for link in (moved.link[op] for op in listed.tolist())],
        "link_bytes": numbers(moved.bytes[listed]),
        "exposed_us": numbers(moved.exposed_us[listed]),
    }


def _not_shown(analysis: RooflineAnalysis, listed: I64) -> Values:
    """Sentences on cells that are empty; nothing where all that is known is shown."""
    ops, each_us = analysis.ops, analysis.ops.measures.avg_time_us
    if not any(ops.not_shown[op] for op in listed.tolist()):
        return {}
    whys = [(ops.not_shown[op], duration(float(each_us[op]))) for op in listed.tolist()]
    return {"not_shown": [why and WHY_NOT_SHOWN[why].format(time=text) for why, text in whys]}


def awaited(analysis: RooflineAnalysis, listed: I64) -> dict[str, Any]:
    """The ops that wait for asynchronous transfers, and how long these took under other peaks."""
    timeline = analysis.profile.timeline
    if timeline is None or not analysis.transfers.rows:
        return {}
    found = awaited_steps(timeline.transfers, analysis.transfers.rows)
    at = [k for k, op in enumerate(listed.tolist()) if op in found]
    steps = [found[op] for op in listed[at].tolist()]
    waits = {
        "op": at,
        "interval_us": [rounded(one.interval_us) for one in steps],
        "least_gbs": [numbers(one.least_gbs) for one in steps],
        "took_us": [numbers(one.took_us) for one in steps],
    }
    return {"awaited": waits} if at else {}


def predictions(
    analysis: RooflineAnalysis, listed: I64, levels: Sequence[MemoryLevel]
) -> dict[str, Any]:
    """The ops without a time by their index, and their rates if each took one second.

    The browser works out from these what other peaks allow at best.
    """
    ops = analysis.ops
    at = [k for k, op in enumerate(listed.tolist()) if ops.timing[op] is Timing.PREDICTED]
    rates = shown_measures(analysis, ops.in_one_second, levels)
    columns = {
        name: numbers(column[listed[at]])
        for name, column in rates.items()
        if name.endswith(("_gflops", "_gops", "_gibs")) and name != "attainable_gflops"
    }
    return {"predictions": {"op": at, "columns": columns}} if at else {}


def _identity(analysis: RooflineAnalysis, rows: list[int], categories: Sequence[str]) -> Values:
    """The identity of an op: names, kind, place in the program."""
    ops, names = analysis.ops, analysis.profile.program_names
    number = {name: k for k, name in enumerate(categories)}
    real = [op if op < len(analysis.profile.ops) else None for op in rows]  # None: IDLE
    programs = [None if op is None or not has_program(analysis, op) else op for op in real]
    return {
        "name": [ops.name[op] for op in rows],
        "category": [number[ops.category[op]] for op in rows],
        "cost": [ops.cost[op].value for op in rows],
        **({"timing": [ops.timing[op].value for op in rows]} if is_untimed(analysis) else {}),
        "above_roof": [ops.above_roof[op] for op in rows],
        "compute_cause": [ops.compute_cause[op].value for op in rows],
        "memory_cause": [ops.memory_cause[op].value for op in rows],
        "program_id": [None if op is None else str(int(ops.program_id[op])) for op in programs],
        "program": ["" if op is None else names.get(int(ops.program_id[op]), "") for op in real],
        "source": ["" if op is None else _source(analysis, op) for op in real],
        "occurrences": [None if op is None else int(ops.occurrences[op]) for op in real],
    }


def compute_roofs(analysis: RooflineAnalysis, measures: Measures) -> dict[str, NDArray[np.object_]]:
    """The compute roof of each row that has FLOPs, where these are split by unit.

    Elsewhere it is the main one for all rows.
    """
    if not analysis.units:
        return {}
    found = [
        analysis.roof_of_unit(unit) if rate > 0 else None
        for unit, rate in zip(
            measures.unit.tolist(), measures.flop_rate_gflops.tolist(), strict=True
        )
    ]
    return {"compute_unit": np.array(found, dtype=object)}


def shares_of_own_peaks(analysis: RooflineAnalysis, measures: Measures) -> dict[str, Floats]:
    """Utilisation where a profiler measured peaks per launch: not rate ÷ the device's peak."""
    table = analysis.profile.ops
    return {
        **{
            LEVEL_USE.format(id=level): measures.utilisation_ratio[level]
            for level in table.level_capacity_bytes
        },
        **{
            UNIT_USE.format(id=unit): measures.unit_utilisation_ratio[unit]
            for unit in table.unit_capacity_flop
            if unit in measures.unit_utilisation_ratio
        },
    }


def _source(analysis: RooflineAnalysis, op: int) -> str:
    table = analysis.profile.ops
    file, line = table.source_file[op], int(table.source_line[op])
    return f"{file}:{line}" if file and line >= 0 else file

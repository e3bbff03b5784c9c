"""The ops of the page data: one array per column, each listed op once."""

from collections.abc import Callable, Mapping, Sequence
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
from roofline.presentation.facts_and_view import Document, is_column_in, is_of_ops_in
from roofline.presentation.op_names import op_names
from roofline.presentation.page_groups import page_groups
from roofline.presentation.quantities import duration
from roofline.presentation.rounding import numbers, rounded
from roofline.presentation.shown import (
    ceiling_labels,
    clock_labels,
    has_program,
    is_untimed,
    shown_measures,
)

Makers = dict[str, Callable[[], list[Any] | None]]


def categories_of(analysis: RooflineAnalysis, listed: I64) -> list[str]:
    """Categories of the listed ops, by self time."""
    time: dict[str, float] = {}
    self_us = np.nan_to_num(analysis.ops.measures.self_time_us[listed]).tolist()
    for op, us in zip(listed.tolist(), self_us, strict=True):
        name = analysis.ops.category[op]
        time[name] = time.get(name, 0.0) + us
    return sorted(time, key=lambda name: (-time[name], name))


def page_ops(
    document: Document,
    analysis: RooflineAnalysis,
    listed: I64,
    levels: Sequence[MemoryLevel],
    categories: Sequence[str],
    subject: Subject,
) -> dict[str, Any]:
    """The ops of the page data, or what `document` has of them; only that is computed."""
    columns = _columns(analysis, listed, levels, categories, subject)
    makers: dict[str, Callable[[], Any]] = {
        "count": lambda: len(listed),
        "columns": lambda: _made(
            {id: make for id, make in columns.items() if is_column_in(document, id)}
        ),
        "predictions": lambda: predictions(analysis, listed, levels),
        "awaited": lambda: awaited(analysis, listed),
        "groups": lambda: page_groups(analysis, listed),
        "names": lambda: op_names(analysis, listed),
    }
    return _made({key: make for key, make in makers.items() if is_of_ops_in(document, key)})


def _made(makers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The value of each of `makers`; those without one are left out."""
    values = {key: make() for key, make in makers.items()}
    return {key: value for key, value in values.items() if value is not None}


def _columns(
    analysis: RooflineAnalysis,
    listed: I64,
    levels: Sequence[MemoryLevel],
    categories: Sequence[str],
    subject: Subject,
) -> Makers:
    """What makes each column of `listed`, by its id; `None` where IDLE or an op has no value.

    A column that this profile does not have is `None` as a whole.
    """
    ops = analysis.ops
    roofs = compute_roofs(analysis, ops.cells)
    clocks = ops.clocks.bounds() | {
        CLOCK.format(id=key): ops.clocks.of[key] for key in clock_labels(analysis, levels)
    }
    measured = shown_measures(analysis, ops.cells, levels)
    own_peaks = shares_of_own_peaks(analysis, ops.cells)

    def of(column: Floats) -> Callable[[], list[Any]]:
        return lambda: numbers(column[listed])

    return {
        **_identity(analysis, listed.tolist(), categories),
        "bound_by": lambda: ops.cells.bound[listed].tolist(),
        **_nearest(analysis, listed),
        **{name: column[listed].tolist for name, column in roofs.items()},
        "self_time_per_core_us": of(ops.self_time_per_core_us),
        "saving_per_core_us": of(ops.saving_per_core_us),
        **{name: of(column) for name, column in clocks.items()},
        "is_start": lambda: (
            ops.is_start[listed].astype(int).tolist() if ops.is_start.any() else None
        ),
        **_moved(analysis, listed),
        "not_shown": lambda: _not_shown(analysis, listed),
        "part": lambda: _parts(analysis, listed, subject),
        "at_ridge": lambda: ops.clocks.at_ridge[listed].astype(int).tolist(),
        **{name: of(column) for name, column in measured.items()},
        **{name: of(column) for name, column in own_peaks.items()},
    }


def _nearest(analysis: RooflineAnalysis, listed: I64) -> Makers:
    """Nearest ceiling and busy shares of ops; nothing where none were counted."""
    near = analysis.nearest
    labels = ceiling_labels(analysis)
    if not labels:
        return {}

    def busy(key: str) -> Callable[[], list[Any]]:
        return lambda: numbers(near.busy[near.ceilings.index(key)][listed])

    return {
        "nearest_ceiling": lambda: [ceiling_words(near.ceiling_of(op)) for op in listed.tolist()],
        "nearest_ratio": lambda: numbers(near.ratios()[listed]),
        **{BUSY.format(id=key): busy(key) for key in labels},
    }


def _parts(analysis: RooflineAnalysis, listed: I64, subject: Subject) -> list[Any] | None:
    """The part of the subject's time that owns each op; `None` where it has no parts."""
    owners = owners_of(analysis, subject, listed)
    return owners if any(owners) else None


def _moved(analysis: RooflineAnalysis, listed: I64) -> Makers:
    """The bytes of transfers over their links; nothing where there are none."""
    moved = analysis.ops.moved
    if Cost.TRANSFER not in analysis.ops.cost:
        return {}
    return {
        "link": lambda: [
            link and link.value for link in (moved.link[op] for op in listed.tolist())
        ],
        "link_bytes": lambda: numbers(moved.bytes[listed]),
        "exposed_us": lambda: numbers(moved.exposed_us[listed]),
    }


def _not_shown(analysis: RooflineAnalysis, listed: I64) -> list[Any] | None:
    """Sentences on cells that are empty; `None` where all that is known is shown."""
    ops, each_us = analysis.ops, analysis.ops.measures.avg_time_us

    def sentence(op: int) -> str | None:
        why = ops.not_shown[op]
        return why and WHY_NOT_SHOWN[why].format(time=duration(float(each_us[op])))

    sentences = [sentence(op) for op in listed.tolist()]
    return sentences if any(sentences) else None


def awaited(analysis: RooflineAnalysis, listed: I64) -> dict[str, Any] | None:
    """The ops that wait for asynchronous transfers, and how long these took under other peaks."""
    timeline = analysis.profile.timeline
    if timeline is None or not analysis.transfers.rows:
        return None
    found = awaited_steps(timeline.transfers, analysis.transfers.rows)
    at = [k for k, op in enumerate(listed.tolist()) if op in found]
    steps = [found[op] for op in listed[at].tolist()]
    waits = {
        "op": at,
        "interval_us": [rounded(one.interval_us) for one in steps],
        "least_gbs": [numbers(one.least_gbs) for one in steps],
        "took_us": [numbers(one.took_us) for one in steps],
    }
    return waits if at else None


def predictions(
    analysis: RooflineAnalysis, listed: I64, levels: Sequence[MemoryLevel]
) -> dict[str, Any] | None:
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
    return {"op": at, "columns": columns} if at else None


def _identity(analysis: RooflineAnalysis, rows: list[int], categories: Sequence[str]) -> Makers:
    """The identity of an op: names, kind, place in the program."""
    ops, names = analysis.ops, analysis.profile.program_names
    number = {name: k for k, name in enumerate(categories)}
    real = [op if op < len(analysis.profile.ops) else None for op in rows]  # None: IDLE

    def program(op: int | None) -> str | None:
        if op is None or not has_program(analysis, op):
            return None
        return str(int(ops.program_id[op]))

    return {
        "name": lambda: [ops.name[op] for op in rows],
        "category": lambda: [number[ops.category[op]] for op in rows],
        "cost": lambda: [ops.cost[op].value for op in rows],
        "timing": lambda: [ops.timing[op].value for op in rows] if is_untimed(analysis) else None,
        "above_roof": lambda: [ops.above_roof[op] for op in rows],
        "compute_cause": lambda: [ops.compute_cause[op].value for op in rows],
        "memory_cause": lambda: [ops.memory_cause[op].value for op in rows],
        "program_id": lambda: [program(op) for op in real],
        "program": lambda: [
            "" if op is None else names.get(int(ops.program_id[op]), "") for op in real
        ],
        "source": lambda: ["" if op is None else _source(analysis, op) for op in real],
        "occurrences": lambda: [None if op is None else int(ops.occurrences[op]) for op in real],
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

"""Records for people's own tools: JSON with one object per op, and CSV. Full precision.

Keys carry units; `None` (JSON null, empty CSV cell) is "not measured", 0 is a real zero.
"""

import csv
import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import numpy as np
from orjson import Fragment

from roofline.analysis import roofline
from roofline.analysis.nearest_records import NearestOps
from roofline.analysis.program import slow_step_us
from roofline.analysis.records import I64, Measures, Ranking, RooflineAnalysis, Scope, View
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.records import Subject
from roofline.analysis.undecided import units_of
from roofline.analysis.utilisation import utilisation_of
from roofline.exports.answering import answer_of
from roofline.exports.csv_cells import CSV_END, csv_cell
from roofline.exports.serving import serving_record
from roofline.exports.time_records import time_records
from roofline.model.device import Sustained
from roofline.model.units import gb_to_gib, ps_to_us
from roofline.presentation.columns import BUSY
from roofline.presentation.json_text import to_json
from roofline.presentation.op_shapes import element_types, shape_lists
from roofline.presentation.verdict import Answer
from roofline.presentation.verdict_data import subject_record, verdict_record

# Version 1, without this key, had no times of transfers, clocks and savings.
SCHEMA = "roofline-analysis/2"

Record = dict[str, Any]
Columns = dict[str, list[Any]]

# The columns that differ between rankings of the same ops.
_OF_RANKING = frozenset(
    {
        "rank",
        "self_share_ratio",
        "cumulative_share_ratio",
        "total_share_ratio",
        "saving_share_ratio",
    }
)


def analysis_to_json(
    analysis: RooflineAnalysis,
    *,
    include_infeed_outfeed: bool,
    answer: Answer | None = None,
    groups: Record | None = None,
) -> bytes:
    """The document of the API and of `roofline analyze --format json`, as UTF-8.

    `answer` is that of the default subject unless one is given; `groups` are the ops as a tree,
    where somebody asked for one.
    """
    view, answer = _view(analysis, include_infeed_outfeed), answer or answer_of(analysis)
    return _document(analysis, view, answer, _op_objects(analysis, view, answer.subject), groups)


def _view(analysis: RooflineAnalysis, include_infeed_outfeed: bool) -> View:
    return analysis.view(include_infeed_outfeed=include_infeed_outfeed)


def both_to_json(analysis: RooflineAnalysis, answer: Answer | None = None) -> tuple[bytes, bytes]:
    """`analysis_to_json` with and without infeed and outfeed.

    Most programs have neither: both list the same ops then, and these are written once.
    """
    views = analysis.with_infeed, analysis.without_infeed
    answer = answer or answer_of(analysis)
    ops = Fragment(to_json(_op_objects(analysis, views[0], answer.subject)))
    is_same = views[0].lists_as(views[1])
    others = ops if is_same else _op_objects(analysis, views[1], answer.subject)
    return (
        _document(analysis, views[0], answer, ops, None),
        _document(analysis, views[1], answer, others, None),
    )


def _document(
    analysis: RooflineAnalysis,
    view: View,
    answer: Answer,
    ops: list[Record] | Fragment,
    groups: Record | None,
) -> bytes:
    """The document with `ops` as objects, or as JSON that was made of them."""
    points = _program_points(analysis, view)
    document = {
        "schema": SCHEMA,
        "subject": subject_record(answer),
        "verdict": verdict_record(answer),
        "profile": _profile(analysis),
        "device": _device(analysis),
        "roofs": _roofs(analysis),
        "include_infeed_outfeed": view.include_infeed_outfeed,
        "known_time_ratio": asdict(view.known),
        "program_points": points,
        "utilisation": asdict(utilisation_of(analysis, view)),
        "steps": [point for point in points if point["scope"] == Scope.STEP],
        "steps_p95_us": slow_step_us(view.program),
        "ops": ops,
        "beyond": {"ops": view.beyond_ops, "self_share_ratio": view.beyond_share_ratio},
        "diagnostics": _diagnostics(analysis),
        "graphs": _graphs(analysis),
        "serving": serving_record(analysis),
        **time_records(analysis, answer.subject),
        **({} if groups is None else {"groups": groups}),
    }
    return to_json(document)


def op_records(
    analysis: RooflineAnalysis, *, include_infeed_outfeed: bool, subject: Subject | None = None
) -> list[Record]:
    """Every op by self time, one dictionary each, with the keys of the CSV."""
    view, subject = _view(analysis, include_infeed_outfeed), subject or choose(analysis)
    return _rows(_flat_columns(analysis, view.every, subject))


def ops_to_csv(
    analysis: RooflineAnalysis, *, include_infeed_outfeed: bool, subject: Subject | None = None
) -> bytes:
    """Every op, RFC 4180, UTF-8 with a header of ids; text that looks like a formula is preceded by
    an apostrophe. Columns of the subject stand behind the name."""
    view, subject = _view(analysis, include_infeed_outfeed), subject or choose(analysis)
    return _joined([_csv_lines(_flat_columns(analysis, view.every, subject))])


def both_to_csv(analysis: RooflineAnalysis, subject: Subject | None = None) -> tuple[bytes, bytes]:
    """`ops_to_csv` with and without infeed and outfeed: cells that are equal are written once.

    Where both have the same ops it is one text.
    """
    ours, others = analysis.with_infeed.every, analysis.without_infeed.every
    subject = subject or choose(analysis)
    columns = _flat_columns(analysis, ours, subject)
    parts = [
        (is_ranked, {name: columns[name] for name in names})
        for is_ranked, names in groupby(columns, _OF_RANKING.__contains__)
    ]
    lines = [_csv_lines(part) for _, part in parts]
    if ours.lists_as(others):
        text = _joined(lines)
        return text, text
    place = {op: k for k, op in enumerate(ours.op.tolist(), start=1)}  # after the header
    picked = [0, *(place[op] for op in others.op.tolist())]
    ranked = _flat_columns(analysis, others, subject)
    return _joined(lines), _joined(
        [
            _csv_lines({name: ranked[name] for name in part})
            if is_ranked
            else [written[k] for k in picked]
            for (is_ranked, part), written in zip(parts, lines, strict=True)
        ]
    )


class _Lines(list[str]):
    """What `csv` writes to: each row as a line without its end."""

    def write(self, line: str) -> None:
        self.append(line[: -len(CSV_END)])


def _csv_lines(columns: Columns) -> list[str]:
    """The header and the rows of some columns."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator=CSV_END)
    writer.writerow(columns)
    writer.writerows(zip(*map(_csv_cells, columns.values()), strict=True))
    return lines


def _joined(parts: Sequence[Sequence[str]]) -> bytes:
    """The lines of columns beside each other as one text."""
    lines = map(",".join, zip(*parts, strict=True))
    return "".join(f"{line}{CSV_END}" for line in lines).encode("utf-8", "replace")


def _csv_cells(column: list[Any]) -> list[Any]:
    """The cells of a column; `csv` itself writes nothing for `None`, and numbers as they are."""
    has_text = any(isinstance(value, str) for value in column)
    return [csv_cell(value) for value in column] if has_text else column


def _profile(analysis: RooflineAnalysis) -> Record:
    profile = analysis.profile
    return {
        "format": profile.format_label,
        "flop_provenance": profile.flop_provenance.value,
        "bytes_provenance": profile.bytes_provenance.value,
        "limits": list(profile.limits),
        "captured_at_unix_ns": profile.captured_at_ns,
        "environment": dict(profile.environment),
        "wall_time_us": None if profile.wall_time_ps is None else ps_to_us(profile.wall_time_ps),
        "hosts": [
            {"file_name": host.file_name, "hostname": host.hostname, "core_count": host.core_count}
            for host in profile.hosts
        ],
    }


def _graphs(analysis: RooflineAnalysis) -> Record | None:
    """Kernels that ran in graphs, and which captures explain them."""
    graphs = analysis.profile.graphs
    if graphs is None:
        return None
    return {
        "replays": graphs.replays,
        "kernels": graphs.kernels,
        "aligned_kernels": graphs.aligned,
        "time_us": ps_to_us(graphs.time_ps),
        "aligned_time_us": ps_to_us(graphs.aligned_ps),
        "captures": [asdict(capture) for capture in graphs.captures],
        "not_aligned": [
            {"name": one.name, "count": one.count, "time_us": ps_to_us(one.time_ps)}
            for one in graphs.left
        ],
    }


def _device(analysis: RooflineAnalysis) -> Record:
    device = analysis.device
    return {
        "name": device.name,
        "kind": device.kind.value,
        "core_count": device.core_count,
        "core_word": device.core_word,
        "has_megacore": device.has_megacore,
        "peak_gflops": device.peak_gflops,
        "peak_bandwidth_gibs": {peak.level.value: gb_to_gib(peak.gbs) for peak in device.memory},
        "time_scale_multiplier": analysis.time_scale_multiplier,
        "matrix_unit_utilisation_ratio": device.counters.matrix_unit_ratio,
        "hbm_utilisation_ratio": device.counters.hbm_ratio,
    }


def _roofs(analysis: RooflineAnalysis) -> Record:
    device, gflops = analysis.device, analysis.peaks.gflops
    return {
        "compute": [
            {
                "id": peak.id,
                "unit": peak.unit.value if peak.unit else None,
                "label": peak.label,
                "peak_gflops": peak.gflops,
                "origin": peak.origin.value,
                "source": peak.source,
                "sustained": _sustained(peak.sustained),
            }
            for peak in device.compute
        ],
        "memory": [
            {
                "level": peak.level.value,
                "label": peak.level.label,
                "peak_gibs": gb_to_gib(peak.gbs),
                "ridge_flop_per_byte": (
                    roofline.ridge_point(gflops, gb_to_gib(peak.gbs)) if gflops else None
                ),
                "origin": peak.origin.value,
                "source": peak.source,
                "sustained": _sustained(peak.sustained),
            }
            for peak in device.memory
        ],
        "links": [
            {
                "level": peak.level.value,
                "label": peak.level.label,
                "peak_gbs": peak.gbs,
                "origin": peak.origin.value,
                "source": peak.source,
                "sustained": _sustained(peak.sustained),
            }
            for peak in device.links
        ],
    }


def _sustained(sustained: Sustained | None) -> Record | None:
    """The shares of a peak that programs reach, and their source."""
    return None if sustained is None else asdict(sustained)


def _diagnostics(analysis: RooflineAnalysis) -> list[Record]:
    return [
        {
            "severity": found.severity.value,
            "code": found.code,
            "message": found.message,
            "remedy": found.remedy,
            "count": found.count,
        }
        for found in analysis.diagnostics
    ]


def _program_points(analysis: RooflineAnalysis, view: View) -> list[Record]:
    points = view.program
    rows = range(len(points))
    measured = _measured(analysis, points.measures, rows)
    # A program has no self time, and its counters no time of their own.
    kept = {
        name: column
        for name, column in measured.items()
        if "self_time" not in name and name != "dma_stall_ratio"
    }
    columns: Columns = {
        "scope": [scope.value for scope in points.scope],
        "label": list(points.label),
        "is_outlier": [
            bool(points.outlier[row]) if points.scope[row] is Scope.STEP else None for row in rows
        ],
        "flop_rate_is_lower_bound": points.flop_is_least.tolist(),
        "bandwidth_is_lower_bound": points.bytes_is_least.tolist(),
        **kept,
    }
    return _rows(columns)


def _nearest(near: NearestOps, ops: I64) -> Columns:
    """What binds each op: the ceiling that it is nearest to, and how near; null is unknown."""
    rows = ops.tolist()
    return {
        "class": [near.kind_of(op).value for op in rows],
        "ceiling": [near.ceiling_of(op) or None for op in rows],
        "ratio": _numbers(near.ratios()[ops]),
        "useful_ratio": _numbers(near.useful_ratios()[ops]),
        "why": [near.why[op] or None for op in rows],
    }


def _op_objects(analysis: RooflineAnalysis, view: Ranking, subject: Subject) -> list[Record]:
    """One object per op of `view`; `nearest`, `busy`, `clocks` and `shapes` are objects."""
    clocks = {key: _numbers(column[view.op]) for key, column in analysis.ops.clocks.of.items()}
    table, ops = analysis.profile.ops, _real_ops(analysis, view)
    near = analysis.nearest
    also = [list(near.also_of(op)) for op in view.op.tolist()]
    described: Columns = {
        "nearest": _rows({**_nearest(near, view.op), "also": also}),
        "busy": [near.busy_of(op) for op in view.op.tolist()],
        "shapes": [None if op is None else shape_lists(table, op) for op in ops],
        "dtypes": [[] if op is None else element_types(table, op) for op in ops],
        "clocks": _rows(clocks),
    }
    return _rows({**_op_columns(analysis, view, subject), **described})


def _flat_columns(analysis: RooflineAnalysis, view: Ranking, subject: Subject) -> Columns:
    """All columns of the ops of `view`, with one column per clock; shapes and types as texts."""
    clocks, near = analysis.ops.clocks.of, analysis.nearest
    table, ops = analysis.profile.ops, _real_ops(analysis, view)
    return {
        **_op_columns(analysis, view, subject),
        "operands": [None if op is None else table.operands[op] or None for op in ops],
        "results": [None if op is None else table.results[op] or None for op in ops],
        "dtypes": [None if op is None else "; ".join(element_types(table, op)) for op in ops],
        **{f"{key}_clock_us": _numbers(column[view.op]) for key, column in clocks.items()},
        **_bound_peaks(analysis, view),
        **{f"nearest_{key}": column for key, column in _nearest(near, view.op).items()},
        **_busy(near, view.op),
    }


def _busy(near: NearestOps, ops: I64) -> Columns:
    """A column per ceiling of which a counter was read."""
    counted = [place for place in range(len(near.ceilings)) if np.isfinite(near.busy[place]).any()]
    return {
        BUSY.format(id=near.ceilings[place]): _numbers(near.busy[place][ops]) for place in counted
    }


def _bound_peaks(analysis: RooflineAnalysis, view: Ranking) -> Columns:
    """The peak of what bounds each op, per core, and its origin; `None` where it is not known.

    GFLOP/s of a compute unit, or GB/s of a memory or link.
    """
    device, measures = analysis.device, analysis.ops.cells
    gbs = {peak.level: peak for peak in (*device.memory, *device.links)}
    bounds = list(
        zip(measures.bound[view.op].tolist(), measures.unit[view.op].tolist(), strict=True)
    )
    found: dict[tuple[int, int], tuple[float | None, float | None, str | None]] = {}
    for bound, unit in set(bounds):
        place = analysis.roof_of_unit(unit) if bound == roofline.COMPUTE_BOUND else None
        level = analysis.level_of(bound)
        if place is not None:
            compute = device.compute[place]
            found[bound, unit] = compute.gflops, None, compute.origin.value
        elif level in gbs:
            found[bound, unit] = None, gbs[level].gbs, gbs[level].origin.value
    cells = [found.get(bound, (None, None, None)) for bound in bounds]
    names = ("bound_peak_gflops", "bound_peak_gbs", "bound_peak_origin")
    return {name: [cell[k] for cell in cells] for k, name in enumerate(names)}


def _real_ops(analysis: RooflineAnalysis, view: Ranking) -> list[int | None]:
    """Rows of the op table; `None` for IDLE."""
    count = len(analysis.profile.ops)
    return [op if op < count else None for op in view.op.tolist()]


def _op_columns(analysis: RooflineAnalysis, view: Ranking, subject: Subject) -> Columns:
    """All columns of the ops of `view`, in the order of the CSV; `None` where IDLE has no value."""
    ops, table, names = analysis.ops, analysis.profile.ops, analysis.profile.program_names
    rows, real = view.op.tolist(), _real_ops(analysis, view)
    return {
        "rank": view.rank.tolist(),
        "name": [ops.name[op] for op in rows],
        **_of_subject(subject, rows, real),
        "category": [ops.category[op] for op in rows],
        "program_id": [None if op is None else str(int(ops.program_id[op])) for op in real],
        "program": [None if op is None else names.get(int(ops.program_id[op]), "") for op in real],
        "cost": [ops.cost[op].value for op in rows],
        "timing": [ops.timing[op].value for op in rows],
        "above_roof": [ops.above_roof[op] for op in rows],
        "occurrences": [None if op is None else int(ops.occurrences[op]) for op in real],
        **_measured(analysis, ops.cells, rows),
        "compute_unit": _compute_units(analysis, real),
        "self_time_per_core_us": _numbers(ops.self_time_per_core_us[rows]),
        "saving_per_core_us": _numbers(ops.saving_per_core_us[rows]),
        **{name: _numbers(column[rows]) for name, column in ops.clocks.bounds().items()},
        "at_ridge": ops.clocks.at_ridge[rows].tolist(),
        "self_share_ratio": _numbers(view.self_share_ratio),
        "cumulative_share_ratio": _numbers(view.cumulative_share_ratio),
        "total_share_ratio": _numbers(view.total_share_ratio),
        "saving_share_ratio": _numbers(view.saving_share_ratio),
        "source_file": [None if op is None else table.source_file[op] for op in real],
        "source_line": [None if op is None else _source_line(analysis, op) for op in real],
        "path": [None if op is None else table.framework_path[op] or None for op in real],
    }


def _of_subject(subject: Subject, rows: list[int], real: list[int | None]) -> Columns:
    """Times in the subject, in us per unit and core: they add up to its length and its gain.

    IDLE has no width, which is the wait for the host, and what waits without an op could gain.
    """
    ops = subject.ops
    gains = np.append(ops.gain_us[:-1], subject.other_gain_us)
    return {
        "width_us": [None if op is None else float(ops.width_us[op]) for op in real],
        "needed_us": [None if op is None else float(ops.needed_us[op]) for op in real],
        "gain_us": gains[rows].tolist(),
        "part": [None if op is None else ops.part[op].value or None for op in real],
    }


def _compute_units(analysis: RooflineAnalysis, ops: Sequence[int | None]) -> list[str | None]:
    """The unit whose roof an op is held against, else the one that does most of its work.

    `None` where the profile does not tell units apart, and for an op without FLOPs of one; all
    that it may be where it is one of several.
    """
    units = [*analysis.units, None, None]  # -2 is not known, -1 the main peak
    flop = analysis.profile.ops.unit_flop

    def unit_of(op: int) -> str | None:
        among = units_of(analysis.profile.ops, op)
        if among:
            return " or ".join(unit.value for unit in among)
        held = units[int(analysis.ops.measures.unit[op])]
        busiest = max(flop, key=lambda unit: int(flop[unit][op]), default=None)
        own = busiest if busiest is not None and flop[busiest][op] else None
        found = held or own
        return found.value if found is not None else None

    return [None if op is None else unit_of(op) for op in ops]


def _source_line(analysis: RooflineAnalysis, op: int) -> int | None:
    line = int(analysis.profile.ops.source_line[op])
    return line if line >= 0 else None


def _measured(analysis: RooflineAnalysis, measures: Measures, rows: Sequence[int]) -> Columns:
    picked = list(rows)
    columns: Columns = {}
    for name, column in measures.by_id(measures.intensity).items():
        columns[name] = _numbers(column[picked])
        if name == "bottleneck_intensity":
            columns["bound_by"] = [analysis.bound_label(c) for c in measures.bound[picked].tolist()]
    if analysis.units:
        # -2 is not known, -1 the main peak
        units = [*(unit.value for unit in analysis.units), None, None]
        columns["compute_unit"] = [units[number] for number in measures.unit[picked].tolist()]
    return columns


def _rows(columns: Columns) -> list[Record]:
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _numbers(column: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in column.tolist()]

"""Records for people's own tools: JSON with one object per op, and CSV. Full precision.

Keys carry units; `None` (JSON null, empty CSV cell) is "not measured", 0 is a real zero.
"""

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from hashlib import blake2b
from itertools import groupby
from typing import Any

from orjson import Fragment

from roofline import __version__
from roofline.analysis import roofline
from roofline.analysis.knowledge import KNOWN_SHARE
from roofline.analysis.launch_times import launch_records
from roofline.analysis.program import slow_step_us
from roofline.analysis.records import Ranking, RooflineAnalysis, Scope, View
from roofline.analysis.serving_records import ServingColumns
from roofline.analysis.subjects.budget import budget_of
from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.records import Subject
from roofline.analysis.time_records import TransferRecord
from roofline.analysis.utilisation import utilisation_of
from roofline.exports.answering import answer_of
from roofline.exports.csv_files import CSV_END, csv_cell
from roofline.exports.serving_model import curve, served_model
from roofline.model.device import Sustained
from roofline.model.plain_data import taken
from roofline.model.units import gb_to_gib, ps_to_us
from roofline.presentation.columns import exported, in_order
from roofline.presentation.json_text import to_json
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_values import rows_of
from roofline.presentation.program_columns import PROGRAM_COLUMNS, point_rows
from roofline.presentation.verdict import Answer
from roofline.presentation.verdict_data import subject_record, verdict_record

# Version 1, without this key, had no times of transfers, clocks and savings.
SCHEMA = "roofline-analysis/2"
_ID_LETTERS = 10

Record = dict[str, Any]
Columns = dict[str, list[Any]]


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
        "roofline_version": __version__,
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
        **_of_several_files(analysis),
        **({} if groups is None else {"groups": groups}),
    }
    return to_json(document)


def op_ids(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids that are equal in every run that has the operation: of its program, path, name and
    shapes, and of its place among those that are alike in all of these."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for row in rows:
        columns = ("program", "path", "name", "operands", "results")
        key = tuple(str(row.get(column) or "") for column in columns)
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        found.append(blake2b(text.encode("utf-8", "replace")).hexdigest()[:_ID_LETTERS])
    return found


def op_records(
    analysis: RooflineAnalysis, *, include_infeed_outfeed: bool, subject: Subject | None = None
) -> list[Record]:
    """Every op by self time, one dictionary each, with the keys of the CSV."""
    view, subject = _view(analysis, include_infeed_outfeed), subject or choose(analysis)
    return _rows(exported(_CSV_COLUMNS, rows_of(analysis, view.every, subject)))


def ops_to_csv(
    analysis: RooflineAnalysis, *, include_infeed_outfeed: bool, subject: Subject | None = None
) -> bytes:
    """Every op, RFC 4180, UTF-8 with a header of ids; text that looks like a formula is preceded by
    an apostrophe. Columns of the subject stand behind the name."""
    view, subject = _view(analysis, include_infeed_outfeed), subject or choose(analysis)
    return _joined([_csv_lines(exported(_CSV_COLUMNS, rows_of(analysis, view.every, subject)))])


def both_to_csv(analysis: RooflineAnalysis, subject: Subject | None = None) -> tuple[bytes, bytes]:
    """`ops_to_csv` with and without infeed and outfeed: cells that are equal are written once.

    Where both have the same ops it is one text.
    """
    ours, others = analysis.with_infeed.every, analysis.without_infeed.every
    subject = subject or choose(analysis)
    rows = rows_of(analysis, ours, subject)
    parts = [
        (of_view, tuple(part))
        for of_view, part in groupby(_CSV_COLUMNS, lambda column: column.of_view)
    ]
    lines = [_csv_lines(exported(part, rows)) for _, part in parts]
    if ours.lists_as(others):
        text = _joined(lines)
        return text, text
    place = {op: k for k, op in enumerate(ours.op.tolist(), start=1)}  # after the header
    picked = [0, *(place[op] for op in others.op.tolist())]
    other_rows = rows_of(analysis, others, subject)
    return _joined(lines), _joined(
        [
            _csv_lines(exported(part, other_rows)) if of_view else [written[k] for k in picked]
            for (of_view, part), written in zip(parts, lines, strict=True)
        ]
    )


_CSV_COLUMNS = in_order(column for column in OP_COLUMNS if column.shown.csv)


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


def _of_several_files(analysis: RooflineAnalysis) -> Record:
    """`sources` of cells, where several files tell of one program, what files state, and `next`:
    commands that record what they lack."""
    cells, profile = analysis.profile.cells, analysis.profile
    sources = [] if cells is None else [{"id": k, **asdict(s)} for k, s in enumerate(cells.sources)]
    keys = {
        "sources": sources,
        "stated": [asdict(one) for one in profile.stated],
        "next": [asdict(one) for one in profile.next_steps],
    }
    return {key: values for key, values in keys.items() if values}


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
        **taken(device, "core_count", "core_word", "has_megacore", "peak_gflops"),
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
        "network": device.network.in_words if device.network else None,
    }


def _sustained(sustained: Sustained | None) -> Record | None:
    """The shares of a peak that programs reach, and their source."""
    return None if sustained is None else asdict(sustained)


def _diagnostics(analysis: RooflineAnalysis) -> list[Record]:
    return [
        {
            "severity": found.severity.value,
            **taken(found, "code", "message", "remedy", "count"),
        }
        for found in analysis.diagnostics
    ]


def _program_points(analysis: RooflineAnalysis, view: View) -> list[Record]:
    rows = point_rows(analysis, view.program, tuple(view.program.measures.intensity))
    has_units = bool(analysis.units)
    shown = in_order(
        column
        for column in PROGRAM_COLUMNS
        if column.shown.json and (has_units or column.id != "compute_unit")
    )
    return _rows(exported(shown, rows))


def _op_objects(analysis: RooflineAnalysis, view: Ranking, subject: Subject) -> list[Record]:
    """One object per op of `view`; `nearest`, `busy`, `clocks` and `shapes` are objects, as are the
    `sources` of cells where several files tell of one program, and `launch_times` where the files
    tell each launch."""
    shown = in_order(column for column in OP_COLUMNS if column.shown.json)
    objects = _rows(exported(shown, rows_of(analysis, view, subject)))
    launches = launch_records(analysis)
    for one, op in zip(objects, view.op.tolist(), strict=True):
        if times := launches(op):
            one["launch_times"] = times
    cells = analysis.profile.cells
    if cells is not None:
        for one, op in zip(objects, view.op.tolist(), strict=True):
            known = {of: int(place[op]) for of, place in cells.of.items() if op < len(place)}
            one["sources"] = {of: source for of, source in known.items() if source >= 0}
    return objects


def _rows(columns: Columns) -> list[Record]:
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def time_records(analysis: RooflineAnalysis, subject: Subject) -> Record:
    """`budget`, the subject's time by resource (null where it has no parts), and `transfers`."""
    budget = budget_of(analysis, subject)
    return {
        "budget": None if budget is None else asdict(budget),
        "transfers": [_transfer(analysis, row) for row in analysis.transfers.rows],
    }


def _transfer(analysis: RooflineAnalysis, row: TransferRecord) -> Record:
    names = analysis.profile.ops.name
    return {
        **{field.name: getattr(row, field.name) for field in fields(row)},
        "op": names[row.op],
        "done": names[row.done] if row.done >= 0 else None,
        "link": row.link.value if row.link else None,
    }


_STEPS = 1_000


def serving_record(analysis: RooflineAnalysis) -> Record | None:
    """The document's part; `None` without a server's steps.

    `model` is there if sizes tell it, with a `curve` over batch and context; `groups` are by phase
    and batch, `steps` the first 1,000.
    """
    found = analysis.serving
    if found is None:
        return None
    steps, columns = found.steps, found.columns
    count = min(len(steps), _STEPS)
    model = served_model(analysis)
    return {
        "model": asdict(model) if model else None,
        "curve": [asdict(point) for point in curve(analysis)],
        "groups": [asdict(group) for group in found.groups],
        "step_count": len(steps),
        "steps": [
            {
                "label": analysis.profile.steps.label[k],
                "phase": steps.phase[k],
                "sequences": _known(steps.sequences[k]),
                "prefill_tokens": _known(steps.prefill_tokens[k]),
                "decode_tokens": _known(steps.decode_tokens[k]),
                "context_tokens": _known(steps.context_tokens[k]),
                "time_us": float(columns.time_us[k]),
                "busy_us": float(columns.busy_us[k]),
                "wait_us": float(columns.wait_us[k]),
                "known_ratio": float(columns.known_ratio[k]),
                **_work(columns, k),
            }
            for k in range(count)
        ],
    }


def _work(columns: ServingColumns, step: int) -> Record:
    """Work of a step; unknown where that of most of its time is."""
    is_known = columns.known_ratio[step] >= KNOWN_SHARE
    found = {
        "bound_us": columns.bound_us,
        "flop": columns.flop,
        "bytes": columns.moved_bytes,
    }
    return {name: float(column[step]) if is_known else None for name, column in found.items()}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

"""The ops of the page data: one array per column, each listed op once; groups and transfers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofline.analysis.awaited import awaited_steps
from roofline.analysis.knowledge import is_part_unknown
from roofline.analysis.records import I64, ProgramPoints, RooflineAnalysis, Timing, View
from roofline.model.categories import is_container
from roofline.model.memory import MemoryLevel
from roofline.presentation.columns import page_values
from roofline.presentation.facts_and_view import Document, is_of_ops_in, is_of_view_in
from roofline.presentation.grouping import Key, op_keys
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_names import op_names
from roofline.presentation.op_values import OpRows
from roofline.presentation.program_columns import PLACED_COLUMNS, PROGRAM_COLUMNS, point_rows
from roofline.presentation.rounding import numbers, rounded
from roofline.presentation.sentences import Segment, Sentence
from roofline.presentation.verdict import Lines


def categories_of(analysis: RooflineAnalysis, listed: I64) -> list[str]:
    """Categories of the listed ops, by self time."""
    time: dict[str, float] = {}
    self_us = np.nan_to_num(analysis.ops.measures.self_time_us[listed]).tolist()
    for op, us in zip(listed.tolist(), self_us, strict=True):
        name = analysis.ops.category[op]
        time[name] = time.get(name, 0.0) + us
    return sorted(time, key=lambda name: (-time[name], name))


def page_ops(document: Document, rows: OpRows) -> dict[str, Any]:
    """The ops of the page data, or what `document` has of them; only that is computed."""
    columns = [
        column for column in OP_COLUMNS if not column.of_view and document.has(column.is_fact)
    ]
    makers: dict[str, Callable[[], Any]] = {
        "count": lambda: len(rows.at),
        "columns": lambda: page_values(columns, rows),
        "predictions": lambda: predictions(rows),
        "awaited": lambda: awaited(rows.analysis, rows.at),
        "groups": lambda: page_groups(rows.analysis, rows.at),
        "names": lambda: op_names(rows.analysis, rows.at),
    }
    values = {key: make() for key, make in makers.items() if is_of_ops_in(document, key)}
    return {key: value for key, value in values.items() if value is not None}


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


def predictions(rows: OpRows) -> dict[str, Any] | None:
    """The ops without a time by their index, and their rates if each took one second.

    The browser works out from these what other peaks allow at best.
    """
    timing = rows.ops.timing
    at = [k for k, op in enumerate(rows.at.tolist()) if timing[op] is Timing.PREDICTED]
    in_one_second = replace(rows, measures=rows.ops.in_one_second, at=rows.at[at])
    rates = [one for one in OP_COLUMNS if one.unit in _RATES and one.id not in _NOT_MEASURED]
    return {"op": at, "columns": page_values(rates, in_one_second)} if at else None


_RATES = {"gflops", "gops", "gibs"}
_NOT_MEASURED = {"attainable_gflops", "bound_peak_gflops"}


# The browser knows the other ones from columns of their own; what binds an op depends on the peaks.
_SENT = ("module", "layer", "source", "kernel", "dtype", "phase")


def page_groups(analysis: RooflineAnalysis, listed: I64) -> dict[str, Any]:
    """`names`, and one entry per dimension: for each listed op places in `names`, outermost first.

    `containers` are the ops whose work is that of others in the list.
    """
    rows = listed.tolist()
    places: dict[str, int] = {}

    def place(key: Key) -> list[int]:
        return [places.setdefault(name, len(places)) for name in key]

    keys = {by: op_keys(analysis, by) for by in _SENT}
    found = {by: [place(all_keys[op]) for op in rows] for by, all_keys in keys.items()}
    return {
        "names": list(places),
        "containers": [k for k, op in enumerate(rows) if is_container(analysis.ops.category[op])],
        **found,
    }


def transfers(analysis: RooflineAnalysis, place: Mapping[int, int]) -> dict[str, list[Any]]:
    """One entry per kind of transfer, by the op that waits for it; `place` is each op's index."""
    rows = [row for row in analysis.transfers.rows if row.waits in place]
    return {
        "op": [place[row.waits] for row in rows],
        "start": [place.get(row.op) if row.done >= 0 else None for row in rows],
        "kind": [row.kind for row in rows],
        "link": [row.link and row.link.value for row in rows],
        "group_size": [row.group_size for row in rows],
        "bytes": numbers(np.array([row.bytes for row in rows], np.float64)),
        "time_us": numbers(np.array([row.time_us for row in rows])),
        "exposed_us": numbers(np.array([row.exposed_us for row in rows])),
        "achieved_gbs": numbers(np.array([row.achieved_gbs for row in rows], np.float64)),
        "is_least": [row.is_lower_bound for row in rows],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryShare:
    """One category of a view: ops, self time over all cores, share, time-weighted efficiency.

    `share_ratio` is of the program's time, `None` where that is zero.
    """

    name: str
    ops: int
    self_time_us: float
    share_ratio: float | None
    efficiency_ratio: float | None
    saving_per_core_us: float
    is_op: bool = False


def infeed_view(document: Document, rows: OpRows, view: View, lines: Lines) -> dict[str, Any]:
    """One view of the page data, or what `document` has of it; its `ops` are `rows`.

    `lines` are the verdict's.
    """
    analysis = rows.analysis
    place = {op: k for k, op in enumerate(rows.at.tolist())}
    columns = [column for column in OP_COLUMNS if column.of_view and document.has(column.is_fact)]
    cores = max(analysis.device.core_count, 1)
    makers: dict[str, Callable[[], Any]] = {
        "op": lambda: [place[op] for op in view.op.tolist()],
        "columns": lambda: page_values(columns, replace(rows, at=view.op, view=view)),
        "total_time_per_core_us": lambda: rounded(view.total_time_us / cores),
        "known_time_ratio": lambda: {
            "flop": rounded(view.known.flop),
            "bytes": rounded(view.known.bytes),
            "both": rounded(view.known.both),
        },
        "share_is_least": lambda: is_part_unknown(view.known),
        "beyond": lambda: {
            "ops": view.beyond_ops,
            "share_ratio": rounded(view.beyond_share_ratio),
        },
        "program": lambda: _program(analysis, view.program, rows.levels),
        "verdict": lambda: {
            "headline": _sent(lines.headline),
            "do_first": _sent(lines.do_first),
            "lead": _sent(lines.lead),
        },
        "categories": lambda: [
            _category(share, rows.categories) for share in category_shares(analysis, view)
        ],
    }
    return {key: make() for key, make in makers.items() if is_of_view_in(document, key)}


def _sent(sentence: Sentence) -> list[Segment]:
    """A sentence with six digits of each number."""
    return [
        {**one, "value": rounded(one["value"]) or 0.0} if "value" in one else one
        for one in sentence
    ]


def _category(share: CategoryShare, categories: Mapping[str, int]) -> dict[str, Any]:
    return {
        "category": categories[share.name],
        "ops": share.ops,
        "self_time_us": rounded(share.self_time_us),
        "share_ratio": rounded(share.share_ratio),
        "efficiency_ratio": rounded(share.efficiency_ratio),
    }


def _program(
    analysis: RooflineAnalysis, points: ProgramPoints, levels: Sequence[MemoryLevel]
) -> dict[str, Any]:
    """Program points as columns: a long run has thousands of steps."""
    rows = point_rows(analysis, points, levels)
    values = page_values(PROGRAM_COLUMNS, rows)
    if points.placement is not None:
        placed = page_values(PLACED_COLUMNS, replace(rows, measures=points.placement))
        values |= {f"placed_{name}": column for name, column in placed.items()}
    return {"count": len(points), "columns": values}


def category_shares(analysis: RooflineAnalysis, view: View) -> tuple[CategoryShare, ...]:
    """Categories of the listed ops by self time; IDLE is one of them."""
    ops = analysis.ops
    rows: dict[str, list[int]] = {}
    for op in view.op.tolist():
        rows.setdefault(ops.category[op], []).append(op)
    shares = [category_share(analysis, name, at, view.total_time_us) for name, at in rows.items()]
    return tuple(sorted(shares, key=lambda share: (-share.self_time_us, share.name)))


def category_share(
    analysis: RooflineAnalysis, name: str, rows: list[int], total_us: float
) -> CategoryShare:
    """The share of the ops `rows`, together."""
    time = np.nan_to_num(analysis.ops.measures.self_time_us[rows])
    efficiency = np.minimum(analysis.ops.measures.roofline_efficiency_ratio[rows], 1.0)
    known = ~np.isnan(efficiency)
    weighed = float((time[known] * efficiency[known]).sum())
    known_time = float(time[known].sum())
    saving = analysis.ops.saving_per_core_us[rows]
    return CategoryShare(
        name=name,
        ops=len(rows),
        self_time_us=float(time.sum()),
        share_ratio=float(time.sum()) / total_us if total_us else None,
        efficiency_ratio=weighed / known_time if known_time else None,
        saving_per_core_us=float(np.nansum(saving)),
    )

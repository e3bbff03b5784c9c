"""Both states of the infeed/outfeed switch: order of ops, categories, points, verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofline.analysis.knowledge import is_part_unknown
from roofline.analysis.records import ProgramPoints, RooflineAnalysis, View
from roofline.model.memory import MemoryLevel
from roofline.presentation.columns import page_values
from roofline.presentation.facts_and_view import Document, is_of_view_in
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_values import OpRows
from roofline.presentation.program_columns import PLACED_COLUMNS, PROGRAM_COLUMNS, point_rows
from roofline.presentation.rounding import rounded
from roofline.presentation.sentences import Segment, Sentence
from roofline.presentation.verdict import Lines


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

"""Both states of the infeed/outfeed switch: order and shares of ops, program points, verdict."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from roofline.analysis.knowledge import is_part_unknown
from roofline.analysis.records import Measures, ProgramPoints, RooflineAnalysis, Scope, View
from roofline.model.memory import MemoryLevel
from roofline.presentation.category_shares import CategoryShare, category_shares
from roofline.presentation.columns import LEVEL_BANDWIDTH, PLACED, UNIT_RATE
from roofline.presentation.facts_and_view import (
    Document,
    is_column_of_view_in,
    is_of_view_in,
)
from roofline.presentation.page_ops import compute_roofs, shares_of_own_peaks
from roofline.presentation.rounding import numbers, rounded
from roofline.presentation.sentences import Segment, Sentence
from roofline.presentation.shown import shown_measures
from roofline.presentation.verdict import Lines

# A program runs once and is its own self.
_OF_OPS_ONLY = {"avg_time_us", "self_time_us", "avg_self_time_us", "dma_stall_ratio"}


def infeed_view(
    document: Document,
    analysis: RooflineAnalysis,
    view: View,
    lines: Lines,
    place: Mapping[int, int],
    levels: Sequence[MemoryLevel],
    categories: Sequence[str],
) -> dict[str, Any]:
    """One view of the page data, or what `document` has of it.

    `place` is each op's index in its `ops`, `lines` the verdict's.
    """
    cores = max(analysis.device.core_count, 1)
    columns: dict[str, Callable[[], list[Any]]] = {
        "rank": view.rank.tolist,
        "self_share_ratio": lambda: numbers(view.self_share_ratio),
        "cumulative_share_ratio": lambda: numbers(view.cumulative_share_ratio),
        "total_share_ratio": lambda: numbers(view.total_share_ratio),
        "saving_share_ratio": lambda: numbers(view.saving_share_ratio),
    }
    makers: dict[str, Callable[[], Any]] = {
        "op": lambda: [place[op] for op in view.op.tolist()],
        "columns": lambda: {
            id: make() for id, make in columns.items() if is_column_of_view_in(document, id)
        },
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
        "program": lambda: _program(analysis, view.program, levels),
        "verdict": lambda: {
            "headline": _sent(lines.headline),
            "do_first": _sent(lines.do_first),
            "lead": _sent(lines.lead),
        },
        "categories": lambda: [
            _category(share, categories) for share in category_shares(analysis, view)
        ],
    }
    return {key: make() for key, make in makers.items() if is_of_view_in(document, key)}


def _sent(sentence: Sentence) -> list[Segment]:
    """A sentence with six digits of each number."""
    return [
        {**one, "value": rounded(one["value"]) or 0.0} if "value" in one else one
        for one in sentence
    ]


def _category(share: CategoryShare, categories: Sequence[str]) -> dict[str, Any]:
    return {
        "category": categories.index(share.name),
        "ops": share.ops,
        "self_time_us": rounded(share.self_time_us),
        "share_ratio": rounded(share.share_ratio),
        "efficiency_ratio": rounded(share.efficiency_ratio),
    }


def _program(
    analysis: RooflineAnalysis, points: ProgramPoints, levels: Sequence[MemoryLevel]
) -> dict[str, Any]:
    """Program points as columns: a long run has thousands of steps."""
    measured = shown_measures(analysis, points.measures, levels)
    own_peaks = shares_of_own_peaks(analysis, points.measures)
    roofs = compute_roofs(analysis, points.measures)
    return {
        "count": len(points),
        "columns": {
            "scope": [scope.value for scope in points.scope],
            "label": list(points.label),
            "order": _order_of_steps(points),
            "is_outlier": points.outlier.tolist(),
            "flop_is_least": points.flop_is_least.tolist(),
            "bytes_is_least": points.bytes_is_least.tolist(),
            "bound_by": points.measures.bound.tolist(),
            **{name: column.tolist() for name, column in roofs.items()},
            **{
                name: numbers(column)
                for name, column in measured.items()
                if name not in _OF_OPS_ONLY
            },
            **{name: numbers(column) for name, column in own_peaks.items()},
            **_placement(analysis, points.placement, levels),
        },
    }


def _placement(
    analysis: RooflineAnalysis, placement: Measures | None, levels: Sequence[MemoryLevel]
) -> dict[str, Any]:
    """Rates of the ops that have a place on the roofline, where others are known as well."""
    if placement is None:
        return {}
    rates = {
        "flop_rate_gflops": placement.flop_rate_gflops,
        "memory_bandwidth_gibs": placement.memory_bandwidth_gibs,
        **{UNIT_RATE.format(id=unit): rate for unit, rate in placement.unit_rate_gflops.items()},
        **{LEVEL_BANDWIDTH.format(id=level): placement.bandwidth_gibs[level] for level in levels},
        **shares_of_own_peaks(analysis, placement),
    }
    return {PLACED.format(id=name): numbers(column) for name, column in rates.items()}


def _order_of_steps(points: ProgramPoints) -> list[float | None]:
    """0 for the first step to 1 for the last; `None` for points that are not steps."""
    is_step = np.array([scope is Scope.STEP for scope in points.scope], np.bool_)
    steps = int(is_step.sum())
    place = (np.cumsum(is_step) - 1) / (steps - 1) if steps > 1 else np.ones(len(points))
    return numbers(np.where(is_step, place, np.nan))

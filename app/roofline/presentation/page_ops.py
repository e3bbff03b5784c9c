"""The ops of the page data: one array per column, each listed op once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from roofline.analysis.awaited import awaited_steps
from roofline.analysis.records import I64, RooflineAnalysis, Timing
from roofline.presentation.columns import page_values
from roofline.presentation.facts_and_view import Document, is_of_ops_in
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_names import op_names
from roofline.presentation.op_values import OpRows
from roofline.presentation.page_groups import page_groups
from roofline.presentation.rounding import numbers, rounded


def categories_of(analysis: RooflineAnalysis, listed: I64) -> list[str]:
    """Categories of the listed ops, by self time."""
    time: dict[str, float] = {}
    self_us = analysis.ops.measures.self_time_us
    for op in listed.tolist():
        name = analysis.ops.category[op]
        time[name] = time.get(name, 0.0) + float(np.nan_to_num(self_us[op]))
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

"""The ops of the page data: one array per column, each listed op once; groups and transfers."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from roofline.analysis.awaited import awaited_steps
from roofline.analysis.records import I64, RooflineAnalysis, Timing
from roofline.model.categories import is_container
from roofline.presentation.columns import page_values
from roofline.presentation.facts_and_view import Document, is_of_ops_in
from roofline.presentation.grouping import Key, op_keys
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_names import op_names
from roofline.presentation.op_values import OpRows
from roofline.presentation.rounding import numbers, rounded


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

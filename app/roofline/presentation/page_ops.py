"""The ops of the page data: one array per column, each listed op once."""

from dataclasses import replace
from typing import Any

import numpy as np

from roofline.analysis.awaited import awaited_steps
from roofline.analysis.records import I64, RooflineAnalysis, Timing
from roofline.presentation.columns import page_values
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_values import OpRows
from roofline.presentation.rounding import numbers, rounded


def categories_of(analysis: RooflineAnalysis, listed: I64) -> list[str]:
    """Categories of the listed ops, by self time."""
    time: dict[str, float] = {}
    self_us = analysis.ops.measures.self_time_us
    for op in listed.tolist():
        name = analysis.ops.category[op]
        time[name] = time.get(name, 0.0) + float(np.nan_to_num(self_us[op]))
    return sorted(time, key=lambda name: (-time[name], name))


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


def predictions(rows: OpRows) -> dict[str, Any]:
    """The ops without a time by their index, and their rates if each took one second.

    The browser works out from these what other peaks allow at best.
    """
    timing = rows.ops.timing
    at = [k for k, op in enumerate(rows.at.tolist()) if timing[op] is Timing.PREDICTED]
    in_one_second = replace(rows, measures=rows.ops.in_one_second, at=rows.at[at])
    rates = [one for one in OP_COLUMNS if one.unit in _RATES and one.id not in _NOT_MEASURED]
    return {"predictions": {"op": at, "columns": page_values(rates, in_one_second)}} if at else {}


_RATES = {"gflops", "gops", "gibs"}
_NOT_MEASURED = {"attainable_gflops", "bound_peak_gflops"}

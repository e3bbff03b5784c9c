"""Fusions whose name says that they hold communication or copies, while their category does not."""

import re

import numpy as np

from roofline.analysis.context import Context
from roofline.analysis.records import Cost, OpRecords
from roofline.model.profile import Diagnostic, Severity

_NAME = re.compile(r"async-collective-(?:start|done|fusion)")
_WORTH_A_WORD = 0.001  # of the time


def async_collectives(context: Context, ops: OpRecords) -> Diagnostic | None:
    """Time in `async-collective-*` fusions without FLOPs, a line of its own."""
    rows = [
        row
        for row, (name, cost) in enumerate(zip(ops.name, ops.cost, strict=True))
        if cost in {Cost.NO_FLOPS, Cost.UNKNOWN} and _NAME.match(name)
    ]
    total = float(np.nansum(ops.measures.self_time_us))
    share = float(ops.measures.self_time_us[rows].sum()) / total if total else 0.0
    if share < _WORTH_A_WORD:
        return None
    source = "capture" if context.profile.timeline is not None else "table"
    percent = f"{100 * share:.1f} %"
    return Diagnostic(
        severity=Severity.INFO,
        code="async-collectives",
        message=f"{len(rows)} async-collective ops do no FLOPs and take {percent} of the time. "
        f"They hold communication or copies, which this {source} does not tell apart, so they stay "
        "with the memory.",
        remedy="A capture with the program's HLO (XSpace) names what they hold.",
        count=len(rows),
    )

"""The time of steps of a server by its owners."""

import numpy as np

from roofline.analysis.records import I64, RooflineAnalysis, Timing
from roofline.analysis.subjects.costs import Costs
from roofline.analysis.subjects.owned import Owned, by_op, call_us
from roofline.analysis.subjects.owned_in_bins import in_bins
from roofline.model.serving import ServingSteps
from roofline.model.units import PS_PER_US, ps_to_us

# Slices of a capture that hold as much work as the steps, but for this share, are those steps.
_SAME = 0.005


def of_steps(analysis: RooflineAnalysis, costs: Costs, steps: ServingSteps, rows: I64) -> Owned:
    """The mean of the steps `rows`, from the first work of each to its last."""
    total_us = float(steps.span_ps[rows].mean()) / PS_PER_US
    busy_us = float(steps.busy_ps[rows].mean()) / PS_PER_US
    timeline, table = analysis.profile.timeline, analysis.profile.steps
    bins = None if timeline is None else timeline.bins
    if bins is not None and len(bins):
        spans = list(zip(table.begin_ps[rows].tolist(), table.end_ps[rows].tolist(), strict=True))
        sliced = in_bins(analysis, bins, costs, spans, total_us)
        if abs(sliced.named_us - busy_us) <= _SAME * busy_us:
            return sliced.shortened(busy_us)
    return _of_rows(analysis, costs, steps, rows, total_us, busy_us)


def _of_rows(
    analysis: RooflineAnalysis,
    costs: Costs,
    steps: ServingSteps,
    rows: I64,
    total_us: float,
    busy_us: float,
) -> Owned:
    """The same from the ops of each step, which may overlap: then each owns its share."""
    mine, size = np.isin(steps.work_step, rows), len(analysis.ops)
    n_means = len(rows) * max(analysis.device.core_count, 1)
    op, work = steps.work_op[mine], steps.work
    self_us = by_op(op, work.self_time_ps[mine] / PS_PER_US, size) / n_means
    calls = by_op(op, work.occurrences[mine].astype(np.float64), size) / n_means
    waits = np.array(costs.wait, object)
    names = [name for name in dict.fromkeys(costs.wait) if name]
    owned = Owned(
        total_us=total_us,
        work_us=np.where(waits == "", self_us, 0.0),
        calls=calls,
        called_us=calls * call_us(analysis),
        unnamed_us=0.0,
        waits_us={name: np.where(waits == name, self_us, 0.0) for name in names},
        unnamed_waits_us={},
        link_share=dict.fromkeys(names, _share(analysis, total_us)),
    )
    return owned.shortened(busy_us)


def _share(analysis: RooflineAnalysis, total_us: float) -> float:
    whole_ps = analysis.profile.time_ps / max(analysis.device.core_count, 1)
    return total_us * PS_PER_US / whole_ps if whole_ps else 0.0


# Ops that ran at once, on threads or streams, take longer together than the program: then each owns
# the part of the program's time that it has of their sum.


def of_table(analysis: RooflineAnalysis, costs: Costs, units: int) -> Owned:
    """The mean of a table over its cores and `units`, which its ops do not tell apart."""
    cores = max(analysis.device.core_count, 1)
    self_us = np.nan_to_num(analysis.ops.self_time_per_core_us) / units
    idle_us, self_us[-1] = float(self_us[-1]), 0.0
    program_us = ps_to_us(analysis.profile.time_ps) / cores / units
    busy_us, sum_us = program_us - idle_us, float(self_us.sum())
    waits = np.array(costs.wait, object)
    is_rate = np.array([one is Timing.RATE for one in analysis.ops.timing], np.bool_)
    counted = (waits == "") & ~is_rate
    names = [name for name in dict.fromkeys(costs.wait) if name]
    owned = Owned(
        total_us=program_us if busy_us > 0 else sum_us + idle_us,
        work_us=np.where(waits == "", self_us, 0.0),
        calls=np.where(counted, analysis.ops.occurrences / cores / units, 0.0),
        called_us=self_us,
        unnamed_us=0.0,
        waits_us={name: np.where(waits == name, self_us, 0.0) for name in names},
        unnamed_waits_us={},
        link_share=dict.fromkeys(names, 1.0 / units),
    )
    return owned.shortened(busy_us) if busy_us > 0 else owned

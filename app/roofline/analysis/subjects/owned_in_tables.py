"""The time of a table without events in time: each op owns its self time.

Ops that ran at once, on threads or streams, take longer together than the program: then each owns
the part of the program's time that it has of their sum.
"""

import numpy as np

from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.analysis.subjects.costs import Costs
from roofline.analysis.subjects.owned import Owned
from roofline.model.units import ps_to_us


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

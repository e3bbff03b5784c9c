"""The complete steps of a timeline: how long each took, and which of them a mean step is of."""

import numpy as np

from roofline.analysis.program import OUTLIER_RATIO
from roofline.analysis.records import I64
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Sample
from roofline.model.timeline import Timeline
from roofline.model.units import PS_PER_US


def step_us(timeline: Timeline) -> Floats:
    """The time of each step, as a mean over the cores that ran it; 0 where none did."""
    inside = timeline.times.scope >= 0
    scope, total = timeline.times.scope[inside], timeline.times.total_ps[inside]
    cores = np.bincount(scope, minlength=timeline.steps)
    sums = np.bincount(scope, total, timeline.steps)
    return np.asarray(sums / np.maximum(cores, 1) / PS_PER_US)


def of_mean(times_us: Floats) -> tuple[I64, Sample]:
    """The steps that a mean step is of: all, but a first one that is far off the others."""
    rows, ratio = np.arange(len(times_us)), None
    if len(times_us) > 1:
        usual = float(np.median(times_us[1:]))
        if abs(times_us[0] - usual) > OUTLIER_RATIO * usual:
            rows, ratio = rows[1:], float(times_us[0]) / usual if usual else None
    median = float(np.median(times_us[rows]))
    return rows, Sample(used=len(rows), found=len(times_us), median_us=median, first_ratio=ratio)

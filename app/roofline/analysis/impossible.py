"""Ops above their roof: more work was counted for them than their time allows."""

import numpy as np

from roofline.analysis.causes import EXPLAINED
from roofline.analysis.records import RooflineAnalysis, View

IMPOSSIBLE = 1.03
"""Above this share of its roof an op is not explained by rounding or by the peak's tolerance."""


def impossible_share(analysis: RooflineAnalysis, view: View) -> float:
    """Share of the time (0 to 1) in ops that seem to run above their roof.

    Ops whose cause is `EXPLAINED` do not count.
    """
    rows = view.every.op
    above = np.nan_to_num(analysis.ops.measures.roofline_efficiency_ratio[rows]) > IMPOSSIBLE
    causes = [analysis.ops.above_roof[op] for op in rows.tolist()]
    above &= np.array([cause not in EXPLAINED for cause in causes], np.bool_)
    return float(np.nan_to_num(view.every.self_share_ratio[above]).sum())

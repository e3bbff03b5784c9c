"""The program with every op capped at its roofs: what is left of a picture with impossible points.

An op above its roof has more work counted than its time allows. Capped, it uses that ceiling fully
and no more, so that the program's place rests on what can be.
"""

from dataclasses import dataclass

import numpy as np

from roofline.analysis.causes import Cause
from roofline.analysis.records import Cost, RooflineAnalysis, View
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND, Floats

IMPOSSIBLE = 1.03
"""Above this share of its roof an op is not explained by rounding or by the peak's tolerance."""

DOUBTFUL = 0.05
"""From this share of the time on, impossible points put the whole picture in doubt."""


@dataclass(frozen=True, slots=True)
class CappedPlace:
    """The bound of the program, as its code, and its share of that roof (0 to 1)."""

    bound: int
    share: float


def impossible_share(analysis: RooflineAnalysis, view: View) -> float:
    """Share of the time (0 to 1) in ops that seem to run above their roof.

    Asynchronous ops do not count: their bytes are right, they move while other ops run.
    """
    rows = view.every.op
    above = np.nan_to_num(analysis.ops.measures.roofline_efficiency_ratio[rows]) > IMPOSSIBLE
    causes = [analysis.ops.above_roof[op] for op in rows.tolist()]
    above &= np.array([cause is not Cause.ASYNCHRONOUS for cause in causes], np.bool_)
    return float(np.nan_to_num(view.every.self_share_ratio[above]).sum())


def capped_place(analysis: RooflineAnalysis, view: View) -> CappedPlace:
    """The program's place with each op's use of each ceiling capped at 100 %."""
    measures, rows = analysis.ops.measures, _judged(analysis, view)
    shares = view.every.self_share_ratio[rows]
    ops = view.every.op[rows]
    used = [
        measures.compute_efficiency_ratio,
        *map(measures.utilisation_ratio.get, analysis.levels),
    ]
    totals = [0.0 if one is None else _capped_sum(one[ops], shares) for one in used]
    best = int(np.argmax(totals))
    code = COMPUTE_BOUND + best if totals[best] > 0 else UNKNOWN_BOUND
    return CappedPlace(code, totals[best])


def _judged(analysis: RooflineAnalysis, view: View) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    cost = analysis.ops.cost
    kept = [k for k, op in enumerate(view.every.op.tolist()) if cost[op] in _WITH_ROOFS]
    return np.array(kept, np.int64)


_WITH_ROOFS = {Cost.KNOWN, Cost.NO_FLOPS, Cost.FLOPS_UNKNOWN}


def _capped_sum(used: Floats, shares: Floats) -> float:
    return float((np.clip(np.nan_to_num(used), 0.0, 1.0) * np.nan_to_num(shares)).sum())


def closeness(analysis: RooflineAnalysis, view: View) -> float:
    """How near the program's ops are to their roofs while they run, 0 to 1; NaN where unknown.

    The mean share of the roof over the ops that have one, weighted by self time and capped at 1.
    """
    share = analysis.ops.measures.roofline_efficiency_ratio[view.every.op]
    weight = np.where(np.isnan(share), 0.0, np.nan_to_num(view.every.self_share_ratio))
    total = float(weight.sum())
    return _capped_sum(share, weight) / total if total else float("nan")

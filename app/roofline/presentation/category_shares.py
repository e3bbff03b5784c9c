"""Where the time of a view goes, by category of op."""

from dataclasses import dataclass

import numpy as np

from roofline.analysis.records import RooflineAnalysis, View


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryShare:
    """One category of a view: ops, self time over all cores, share, time-weighted efficiency.

    `share_ratio` is of the program's time, `None` where that is zero.
    """

    name: str
    ops: int
    self_time_us: float
    share_ratio: float | None
    efficiency_ratio: float | None
    saving_per_core_us: float
    is_op: bool = False


def category_shares(analysis: RooflineAnalysis, view: View) -> tuple[CategoryShare, ...]:
    """Categories of the listed ops by self time; IDLE is one of them."""
    ops = analysis.ops
    rows: dict[str, list[int]] = {}
    for op in view.op.tolist():
        rows.setdefault(ops.category[op], []).append(op)
    shares = [category_share(analysis, name, at, view.total_time_us) for name, at in rows.items()]
    return tuple(sorted(shares, key=lambda share: (-share.self_time_us, share.name)))


def category_share(
    analysis: RooflineAnalysis, name: str, rows: list[int], total_us: float
) -> CategoryShare:
    """The share of the ops `rows`, together."""
    time = np.nan_to_num(analysis.ops.measures.self_time_us[rows])
    efficiency = np.minimum(analysis.ops.measures.roofline_efficiency_ratio[rows], 1.0)
    known = ~np.isnan(efficiency)
    weighed = float((time[known] * efficiency[known]).sum())
    known_time = float(time[known].sum())
    saving = analysis.ops.saving_per_core_us[rows]
    return CategoryShare(
        name=name,
        ops=len(rows),
        self_time_us=float(time.sum()),
        share_ratio=float(time.sum()) / total_us if total_us else None,
        efficiency_ratio=weighed / known_time if known_time else None,
        saving_per_core_us=float(np.nansum(saving)),
    )

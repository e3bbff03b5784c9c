"""The time of stretches of a capture by its owners, from the slices that divide the capture."""

from collections.abc import Callable, Sequence

import numpy as np

from roofline.analysis.records import I64, Bools, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.costs import Costs
from roofline.analysis.subjects.owned import Owned, by_op, link_shares, spread, waits_of
from roofline.model.op_columns import F64
from roofline.model.time_bins import OTHER, BinTimes, TimeBins
from roofline.model.units import PS_PER_US

Spans = Sequence[tuple[float, float]]


def in_bins(
    analysis: RooflineAnalysis,
    bins: TimeBins,
    costs: Costs,
    spans: Spans,
    total_us: float | None = None,
) -> Owned:
    """The mean over the cores and `spans`, in ps from the begin, each widened to whole bins.

    `total_us` is the length of a span where it is known better than by bins.
    """
    pieces = [bins.around(*span) for span in spans]
    inside = np.concatenate([np.arange(*piece) for piece in pieces])
    n_means = len(bins.times.work_ps) * len(spans)
    rows = _rows(bins, pieces)
    op, is_other = bins.ops.op[rows], bins.ops.kind[rows] == OTHER
    own_us = bins.ops.own_ps[rows].astype(np.float64) / PS_PER_US / n_means
    size = len(analysis.ops)
    named = op >= 0
    share = _share_of_calls(bins, rows, size)

    def summed(which: Bools) -> Floats:
        return by_op(op[which], own_us[which], size)

    waited, waits = summed(named & is_other), np.array(costs.wait, object)
    totals = waits_of(bins.times, _mean_of(inside, n_means))
    time_us = sum(totals.values()) + _rest_us(bins.times, _mean_of(inside, n_means))
    waits_us, unnamed = spread(
        totals, {name: np.where(waits == name, waited, 0.0) for name in totals}
    )
    return Owned(
        total_us=time_us if total_us is None else total_us,
        work_us=summed(named & ~is_other),
        calls=share * analysis.ops.occurrences / n_means,
        called_us=share * np.nan_to_num(analysis.ops.measures.total_time_us) / n_means,
        unnamed_us=float(own_us[~named & ~is_other].sum()),
        waits_us=waits_us,
        unnamed_waits_us=unnamed,
        link_share=_link_shares(bins, totals, time_us),
        host_wait_us=_mean_of(inside, n_means)(bins.times.host_wait_ps),
    )


def _rows(bins: TimeBins, pieces: Sequence[tuple[int, int]]) -> I64:
    """The rows of the ops in the bins of `pieces`."""
    ends = [np.searchsorted(bins.ops.bin, piece).tolist() for piece in pieces]
    return np.concatenate([np.arange(*one) for one in ends])


def _share_of_calls(bins: TimeBins, rows: I64, ops_count: int) -> Floats:
    """The share of the calls of each op that lies in `rows`."""
    ops, size = bins.ops, ops_count + 1
    whole = np.bincount(ops.op + 1, ops.calls, size)
    part = np.bincount(ops.op[rows] + 1, ops.calls[rows], size)
    return np.divide(part, whole, out=np.zeros(size), where=whole > 0)[1:]


def _mean_of(inside: I64, n_means: int) -> Callable[[F64], float]:
    return lambda column: float(column[:, inside].sum()) / n_means / PS_PER_US


def _rest_us(times: BinTimes, mean_us: Callable[[F64], float]) -> float:
    """The time of work and of nothing."""
    return sum(mean_us(one) for one in (times.work_ps, times.launch_gaps_ps, times.idle_ps))


def _link_shares(bins: TimeBins, totals: dict[str, float], time_us: float) -> dict[str, float]:
    mean_us = _mean_of(np.arange(len(bins)), len(bins.times.work_ps))
    of_capture = waits_of(bins.times, mean_us)
    whole_us = sum(of_capture.values()) + _rest_us(bins.times, mean_us)
    return link_shares(totals, of_capture, time_us / whole_us if whole_us else 0.0)

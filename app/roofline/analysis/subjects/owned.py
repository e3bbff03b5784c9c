"""The time of one subject by its owners: ops that work, and ops that wait. The rest has none.

Every instant has one owner, so the columns and the rest add up to the whole. All times are means
per unit and core, in us.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.analysis.records import I64, Bools, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.costs import INPUT, Costs, wait_name
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64
from roofline.model.time_bins import BinTimes
from roofline.model.timeline import WHOLE_CAPTURE, CoreTimes, Timeline, Transfers
from roofline.model.units import PS_PER_US


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Owned:
    """The time of a subject. Columns have one entry per op of the analysis.

    `work_us` is the time that an op owns, `calls` its calls, `called_us` what they took. `waits_us`
    is the time that an op owns of each wait, and `unnamed_waits_us` what no op owns of it;
    `unnamed_us` is work of no op. Of the rest, `host_wait_us` waited for the host, as the file
    shows. `link_share` is the part of the capture's transfers that a unit has, by link; all of them
    over links that it does not name.
    """

    total_us: float
    work_us: Floats
    calls: Floats
    called_us: Floats
    unnamed_us: float
    waits_us: Mapping[str, Floats]
    unnamed_waits_us: Mapping[str, float]
    link_share: Mapping[str, float]
    host_wait_us: float = 0.0

    @property
    def named_us(self) -> float:
        """All time that belongs to work or to a wait for something."""
        waits = sum(float(column.sum()) for column in self.waits_us.values())
        unnamed = self.unnamed_us + sum(self.unnamed_waits_us.values())
        return float(self.work_us.sum()) + waits + unnamed

    def shortened(self, most_us: float) -> "Owned":
        """The same with at most this much time that has an owner: each keeps its share of it."""
        factor = most_us / self.named_us if self.named_us > most_us else 1.0
        return replace(
            self,
            work_us=self.work_us * factor,
            unnamed_us=self.unnamed_us * factor,
            waits_us={name: column * factor for name, column in self.waits_us.items()},
            unnamed_waits_us={name: us * factor for name, us in self.unnamed_waits_us.items()},
        )


def in_scopes(
    analysis: RooflineAnalysis, timeline: Timeline, costs: Costs, scopes: I64, start_us: float = 0.0
) -> Owned:
    """The mean over the cores and `scopes` of a timeline; `start_us` of it is left out."""
    rows, work = np.isin(timeline.times.scope, scopes), timeline.work
    n_means = max(int(rows.sum()), 1)
    mine = np.isin(work.scope, scopes)
    named = mine & (work.op >= 0)

    def mean(column: Floats) -> Floats:
        return by_op(work.op[named], column[named], len(analysis.ops)) / n_means

    totals, calls = waits_of(timeline.times, _mean_of(rows)), mean(work.calls)
    waits, unnamed = spread(totals, wait_weights(analysis, timeline.transfers, costs))
    return Owned(
        total_us=float(timeline.times.total_ps[rows].sum()) / n_means / PS_PER_US - start_us,
        work_us=mean(work.time_ps) / PS_PER_US,
        calls=calls,
        called_us=calls * call_us(analysis),
        unnamed_us=float(work.time_ps[mine & (work.op < 0)].sum()) / n_means / PS_PER_US,
        waits_us=waits,
        unnamed_waits_us=unnamed,
        link_share=_link_shares(timeline.times, totals, rows),
        host_wait_us=_mean_of(rows)(timeline.times.host_wait_ps),
    )


def by_op(op: NDArray[np.integer], values: Floats, size: int) -> Floats:
    """The sums of `values` for each of `size` ops."""
    return np.asarray(np.bincount(op, values, size), np.float64)


def call_us(analysis: RooflineAnalysis) -> Floats:
    """The mean time of a call of each op; 0 where none was measured."""
    calls = np.maximum(analysis.ops.occurrences.astype(np.float64), 1)
    return np.nan_to_num(analysis.ops.measures.total_time_us) / calls


def waits_of(times: CoreTimes | BinTimes, mean_us: Callable[[F64], float]) -> dict[str, float]:
    """The time of each wait, by its name, where there is any."""
    columns = [(wait_name(link), column) for link, column in times.exposed_ps.items()]
    columns += [(MemoryLevel.HOST.value, times.host_ps), (INPUT, times.infeed_outfeed_ps)]
    found: dict[str, float] = {}
    for name, column in columns:
        found[name] = found.get(name, 0.0) + mean_us(column)
    return {name: time_us for name, time_us in found.items() if time_us > 0}


def _mean_of(rows: Bools) -> Callable[[F64], float]:
    return lambda column: float(column[rows].sum()) / max(int(rows.sum()), 1) / PS_PER_US


def _link_shares(times: CoreTimes, totals: Mapping[str, float], rows: Bools) -> dict[str, float]:
    whole = times.scope == WHOLE_CAPTURE
    if not times.total_ps[whole].any() or (rows == whole).all():
        return {}
    time_share = float(times.total_ps[rows].mean() / times.total_ps[whole].mean())
    return link_shares(totals, waits_of(times, _mean_of(whole)), time_share)


def link_shares(
    totals: Mapping[str, float], of_capture: Mapping[str, float], time_share: float
) -> dict[str, float]:
    """The part of each link's transfers in a unit: that of the time which waits for the link.

    Where the capture never waits for it, that of all time.
    """
    return {
        level.value: totals.get(level.value, 0.0) / of_capture[level.value]
        if of_capture.get(level.value)
        else time_share
        for level in MemoryLevel
        if level.is_link
    }


def wait_weights(
    analysis: RooflineAnalysis, transfers: Transfers, costs: Costs
) -> dict[str, Floats]:
    """How the time of each wait divides over ops: as the time of the whole capture does."""
    size, seen = len(analysis.ops), transfers.occurrences
    exposed = by_op(seen.transfer, seen.exposed_ps, len(transfers))
    owner = np.where(transfers.done >= 0, transfers.done, transfers.op)
    found: dict[str, Floats] = {}
    for link in dict.fromkeys(transfers.link):
        mine = np.array([one is link for one in transfers.link], np.bool_) & (owner >= 0)
        found[wait_name(link)] = by_op(owner[mine], exposed[mine], size)
    self_us = np.nan_to_num(analysis.ops.self_time_per_core_us)
    found[INPUT] = np.where(np.array(costs.wait, object) == INPUT, self_us, 0.0)
    return found


def spread(
    totals: Mapping[str, float], weights: Mapping[str, Floats]
) -> tuple[dict[str, Floats], dict[str, float]]:
    """Each total over ops by their weights, and the totals of which no op has a part."""
    by_op: dict[str, Floats] = {}
    rest: dict[str, float] = {}
    for name, total in totals.items():
        weight = weights.get(name)
        whole = 0.0 if weight is None else float(weight.sum())
        if weight is None or whole <= 0:
            rest[name] = total
        else:
            by_op[name] = weight * (total / whole)
    return by_op, rest

"""What each op's time is held against, whatever the subject: its nearest ceiling, or its link.

`docs/subject.md` has the definitions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.above_roof import IMPOSSIBLE
from roofline.analysis.causes import Cause
from roofline.analysis.knowledge import opaque_in
from roofline.analysis.nearest_records import SLACK, OpClass
from roofline.analysis.records import Bools, Cost, OpRecords, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.categories import is_infeed_outfeed
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns

INPUT = "input"
"""The wait of infeed and outfeed; other waits have the name of their link."""

UNKNOWN_LINK = "unknown"
_WINOGRAD = "winograd"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Costs:
    """One entry per op of the analysis, the last of IDLE.

    `useful` is the share of its time that an op needs at the ceiling that its work is nearest to;
    NaN where that is not known. `busy` is the largest busy share of a unit (NaN: not measured).
    `assumed` marks ops whose busy share alone is known: all of it may be needed. `impossible` are
    ops above a ceiling, `doubtful` those of them whose numbers cannot be right. `wait` is what an
    op waits for, "" for work.
    """

    useful: Floats
    busy: Floats
    assumed: Bools
    impossible: Bools
    doubtful: Bools
    wait: tuple[str, ...]

    @classmethod
    def of(cls, analysis: RooflineAnalysis) -> "Costs":
        """The costs of the ops of `analysis`."""
        ops = analysis.ops
        waits = wait_of(ops)
        works = np.array([not one for one in waits], np.bool_)
        share = _known_share(ops, works)
        above = _above(analysis, share)
        opaque = _of_category(ops.category, opaque_in(analysis.profile))
        share = np.where(opaque & ~above, np.nan, share)
        busy = np.where(works & ~opaque, _nearest_busy(analysis.profile.ops), np.nan)
        # Where none of the units that were looked at worked, another one may have been full.
        is_judged = ~analysis.nearest.is_kind(OpClass.UNKNOWN)
        tells = busy >= SLACK if analysis.profile.is_busy_sampled else is_judged & (busy >= 0)
        assumed = np.isnan(share) & tells
        return cls(
            useful=np.where(assumed, np.fmax(busy, _least_share(ops)), np.minimum(share, 1.0)),
            busy=busy,
            assumed=assumed,
            impossible=above,
            doubtful=_doubtful(ops, above),
            wait=waits,
        )


def _above(analysis: RooflineAnalysis, share: Floats) -> Bools:
    """Ops above a ceiling. Winograd's transform does fewer FLOPs than its convolution counts."""
    above = np.nan_to_num(share) > IMPOSSIBLE
    table = analysis.profile.ops
    for row in np.flatnonzero(above).tolist():
        above[row] = _WINOGRAD not in f"{table.name[row]} {table.long_name[row]}".lower()
    return above


def _doubtful(ops: OpRecords, above: Bools) -> Bools:
    found = above.copy()
    for row in np.flatnonzero(above).tolist():
        found[row] = ops.above_roof[row] is not Cause.ASYNCHRONOUS
    return found


def wait_of(ops: OpRecords) -> tuple[str, ...]:
    """What each op waits for: `INPUT`, the name of a link, or "" for work."""
    feeds = _of_category(ops.category, is_infeed_outfeed).tolist()
    rows = zip(feeds, ops.cost, ops.moved.link, strict=True)
    return tuple(
        INPUT if is_fed else wait_name(link) if cost is Cost.TRANSFER else ""
        for is_fed, cost, link in rows
    )


def wait_name(link: MemoryLevel | None) -> str:
    """The name of the wait for a link."""
    return UNKNOWN_LINK if link is None else link.value


def _known_share(ops: OpRecords, works: Bools) -> Floats:
    """The share of the roof of ops that work and have one; NaN for all others."""
    share = ops.measures.roofline_efficiency_ratio
    return np.where(works & (ops.measures.bound != roofline.UNKNOWN_BOUND), share, np.nan)


def _least_share(ops: OpRecords) -> Floats:
    """The largest share of a ceiling that the known part of an op's work tells."""
    measures = ops.measures
    known = np.fmax(measures.memory_utilisation_ratio, measures.compute_efficiency_ratio)
    return np.minimum(known, 1.0)


def _nearest_busy(table: OpColumns) -> Floats:
    """The largest busy share of each op, and of IDLE behind them; NaN where none was measured."""
    time_ps = table.time_ps.astype(np.float64)
    known = np.where(time_ps > 0, time_ps, np.nan)
    busy = np.full(len(table), np.nan)
    for column in table.busy_ps.values():
        busy = np.fmax(busy, column / known)
    return np.append(np.minimum(busy, 1.0), np.nan)


def _of_category(categories: Sequence[str], is_one: Callable[[str], bool]) -> Bools:
    told = {one: is_one(one) for one in set(categories)}
    return np.array([told[one] for one in categories], np.bool_)

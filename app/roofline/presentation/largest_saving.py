"""The largest saving: the ops of one category at their roofs, or the transfers over one link.

Only time in which nothing else ran can be saved: of overlapping streams the time that an op has for
itself, of transfers the exposed time. The next roof limits every saving.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.analysis.records import Cost, RooflineAnalysis, View
from roofline.analysis.roofline import COMPUTE_BOUND, Floats
from roofline.model.categories import IDLE_CATEGORY, is_async_copy, is_infeed_outfeed
from roofline.model.memory import MemoryLevel
from roofline.model.timeline import WHOLE_CAPTURE
from roofline.model.units import PS_PER_US
from roofline.presentation.category_shares import CategoryShare, category_share
from roofline.presentation.placed import is_mostly_known

_LEAST = 0.001  # of the time: a smaller saving is not worth a sentence
COMPUTE = "compute"


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestSaving:
    """The ops that would save most, the largest first, per core, and the roof that is left then:
    "compute", or the key of a memory or link. `of` are these ops as a share of the time.
    """

    ops: tuple[int, ...]
    saving_us: float
    limited_by: str
    of: CategoryShare

    @property
    def link(self) -> MemoryLevel | None:
        """The link, where these are transfers."""
        level = None if self.limited_by == COMPUTE else MemoryLevel(self.limited_by)
        return level if level is not None and level.is_link else None


def largest_saving(analysis: RooflineAnalysis, view: View) -> LargestSaving | None:
    """The largest saving of the listed ops; `None` where too little is known, or none is large."""
    if not is_mostly_known(view):
        return None
    saving_us = savings(analysis)
    groups = [_group(analysis, view, name, rows, saving_us) for name, rows in _rows(analysis, view)]
    best = max(groups, key=lambda one: one.saving_us, default=None)
    least_us = _LEAST * view.total_time_us / max(analysis.device.core_count, 1)
    return best if best is not None and best.saving_us >= least_us else None


def savings(analysis: RooflineAnalysis) -> Floats:
    """Time per core that each op would save, at most what it has for itself; 0 where unknown."""
    saving_us = np.nan_to_num(analysis.ops.saving_per_core_us)
    timeline = analysis.profile.timeline
    if timeline is None:
        return saving_us
    work = timeline.work
    rows = (work.scope == WHOLE_CAPTURE) & work.is_work & (work.op >= 0)
    own_ps = np.bincount(work.op[rows], work.time_ps[rows], minlength=len(saving_us))
    own_us = own_ps / PS_PER_US / max(analysis.device.core_count, 1)
    at_roof_us = analysis.ops.self_time_per_core_us - saving_us
    is_in = np.bincount(work.op[rows], minlength=len(saving_us)) > 0
    most_us = np.maximum(np.nan_to_num(own_us - at_roof_us), 0.0)
    return np.where(is_in, np.minimum(saving_us, most_us), saving_us)


def _rows(analysis: RooflineAnalysis, view: View) -> list[tuple[str, list[int]]]:
    """Groups of the listed ops: transfers by link, other work by category.

    A table without events does not say what an asynchronous copy waits for, so its wait is not a
    known saving. Infeed and outfeed wait for the host, so no roof of the device says what they
    would save. One category for all ops says nothing; each op of it does.
    """
    ops, groups = analysis.ops, dict[tuple[bool, str], list[int]]()
    for op in view.op.tolist():
        category, link = ops.category[op], ops.moved.link[op]
        moves = ops.cost[op] is Cost.TRANSFER
        if category == IDLE_CATEGORY or is_infeed_outfeed(category) or (moves and link is None):
            continue
        if not moves and analysis.profile.timeline is None and is_async_copy(category):
            continue
        groups.setdefault((moves, link.value if moves and link else category), []).append(op)
    work = [rows for (moves, _), rows in groups.items() if not moves]
    if len(work) == 1 and len(work[0]) > 1:
        links = [(name, rows) for (moves, name), rows in groups.items() if moves]
        return [*links, *((ops.name[op], [op]) for op in work[0])]
    return [(name, rows) for (_, name), rows in groups.items()]


def _group(
    analysis: RooflineAnalysis, view: View, name: str, rows: list[int], saving_us: Floats
) -> LargestSaving:
    order = sorted((op for op in rows if saving_us[op] > 0), key=lambda op: -saving_us[op])
    of = category_share(analysis, name, rows, view.total_time_us)
    total_us = float(saving_us[rows].sum())
    is_op = len(rows) == 1 and name == analysis.ops.name[rows[0]] != analysis.ops.category[rows[0]]
    return LargestSaving(
        ops=tuple(order),
        saving_us=total_us,
        limited_by=_limit(analysis, order, saving_us),
        of=replace(of, saving_per_core_us=total_us, is_op=is_op),
    )


def _limit(analysis: RooflineAnalysis, rows: Sequence[int], saving_us: Floats) -> str:
    """The roof under which most of the saving is."""
    by_roof: dict[str, float] = {}
    for op in rows:
        roof = _roof(analysis, int(analysis.ops.measures.bound[op]))
        by_roof[roof] = by_roof.get(roof, 0.0) + float(saving_us[op])
    return _largest(by_roof)


def _largest(times: Mapping[str, float]) -> str:
    return max(times, key=lambda key: times[key], default=COMPUTE)


def _roof(analysis: RooflineAnalysis, code: int) -> str:
    return COMPUTE if code <= COMPUTE_BOUND else analysis.levels[code - 2].value

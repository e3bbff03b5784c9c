"""A subject's time as parts that add up, its floor, and what each op can gain.

    floor = max(needed + unknown + impossible, what the busiest link needs at its peak)
    stay  = floor - needed - unknown - impossible

`stay` lies in the waits for that link; where it is longer than these, it takes the rest of what
others could gain. So all gains add up to the time above the floor.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from roofline.analysis.knowledge import is_mostly_missing
from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.costs import INPUT, Costs
from roofline.analysis.subjects.owned import Owned
from roofline.analysis.subjects.records import LEAST_KNOWN, OpPart, OpTimes, Parts
from roofline.model.memory import MemoryLevel
from roofline.model.plain_data import alike

_TRANSFERS = MemoryLevel.HOST.value
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Division:
    """The parts of the time, the floor, and the columns of ops; `other_gain_us` is of no op.

    `wait_gains_us` has the gain of each wait by kind, as `Parts.waits`.
    `assumed_us` is the part of `parts.needed` of which only a busy share is known; `useful_ratio`
    the share of the ceilings of all other known work, `None` where that is less than half of the
    work.
    """

    parts: Parts
    ops: OpTimes
    floor_us: float
    other_gain_us: float
    wait_gains_us: Mapping[str, float]
    assumed_us: float
    link_need_us: float
    useful_ratio: float | None


def divided(analysis: RooflineAnalysis, owned: Owned, costs: Costs) -> Division:
    """The division of the time that `owned` says."""
    work = _Work.of(owned, costs)
    idle = max(owned.total_us - owned.named_us, 0.0)
    # Where most of the program is not in the file, something else ran in what looks idle.
    host_wait = 0.0 if is_mostly_missing(analysis.profile) else min(owned.host_wait_us, idle)
    base_us = float((work.needed_us + work.unknown_us + work.impossible_us).sum())
    base_us += owned.unnamed_us
    link, needs_us = _busiest(analysis, owned.link_share)
    floor_us = max(base_us, min(needs_us, owned.total_us))
    waits = {name: float(column.sum()) for name, column in owned.waits_us.items()}
    for name, time_us in owned.unnamed_waits_us.items():
        waits[name] = waits.get(name, 0.0) + time_us
    stay = floor_us - base_us
    kept = _Kept.of(stay, link, waits, owned.total_us - base_us)
    parts = Parts(
        needed=float(work.needed_us.sum()),
        to_gain=float(work.to_gain_us.sum()),
        wasted=None if np.isnan(work.wasted_us).all() else float(np.nansum(work.wasted_us)),
        unknown=float(work.unknown_us.sum()) + owned.unnamed_us,
        impossible=float(work.impossible_us.sum()),
        links={name: us for name, us in waits.items() if name not in {_TRANSFERS, INPUT}},
        transfers=waits.get(_TRANSFERS, 0.0),
        input=waits.get(INPUT, 0.0),
        host_wait=host_wait,
        unknown_wait=idle - host_wait,
        stay=stay,
    )
    return Division(
        parts=parts,
        ops=_op_times(owned, costs, work, kept),
        floor_us=floor_us,
        other_gain_us=kept.others * idle
        + sum(kept.of_wait(name) * us for name, us in owned.unnamed_waits_us.items()),
        wait_gains_us=kept.of_waits(waits, parts),
        assumed_us=float(work.needed_us[costs.assumed].sum()),
        link_need_us=min(needs_us, owned.total_us),
        useful_ratio=_useful_ratio(work, costs, parts),
    )


def _useful_ratio(work: "_Work", costs: Costs, parts: Parts) -> float | None:
    needed = float(work.needed_us[~costs.assumed].sum())
    known = needed + float(work.to_gain_us[~costs.assumed].sum())
    return needed / known if known > 0 and known >= LEAST_KNOWN * parts.work else None


def _busiest(analysis: RooflineAnalysis, share: Mapping[str, float]) -> tuple[str, float]:
    """The link whose busier direction needs the longest at its peak, and how long in a unit."""
    timeline = analysis.profile.timeline
    cores = max(len(timeline.cores) if timeline else analysis.device.core_count, 1)
    needs = analysis.transfers.at_peak_us.items()
    of_unit = {link.value: us / cores * share.get(link.value, 1.0) for link, us in needs}
    link = max(of_unit, key=lambda one: of_unit[one], default="")
    return link, of_unit.get(link, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Work:
    """The time of work, by op: the parts that add up to it, and what of `to_gain` is wasted."""

    needed_us: Floats
    to_gain_us: Floats
    wasted_us: Floats
    unknown_us: Floats
    impossible_us: Floats

    @classmethod
    def of(cls, owned: Owned, costs: Costs) -> "_Work":
        work, useful = owned.work_us, costs.useful
        known = ~np.isnan(useful) & ~costs.impossible
        at_ceiling = np.nan_to_num(useful) * owned.called_us
        is_full = at_ceiling > work * (1 - _ROUNDING)
        needed = np.where(known, np.where(is_full, work, at_ceiling), 0.0)
        gain = np.where(known, work - needed, 0.0)
        wasted = np.clip((costs.busy - useful) * owned.called_us, 0.0, gain)
        return cls(
            needed_us=needed,
            to_gain_us=gain,
            wasted_us=np.where(known & ~costs.assumed & (work > 0), wasted, np.nan),
            unknown_us=np.where(known | costs.impossible, 0.0, work),
            impossible_us=np.where(costs.impossible, work, 0.0),
        )


class _Kept(NamedTuple):
    """The shares of the time above the floor that could be saved, from 0 to 1: `mine` of the wait
    for `link`, `others` of all else."""

    link: str
    mine: float
    others: float

    @classmethod
    def of(cls, stay: float, link: str, waits: Mapping[str, float], above_us: float) -> "_Kept":
        wait_us = waits.get(link, 0.0)
        inside = min(stay, wait_us)
        rest_us = above_us - wait_us
        return cls(
            link=link,
            mine=1.0 - inside / wait_us if wait_us > 0 else 1.0,
            others=1.0 - (stay - inside) / rest_us if rest_us > 0 else 1.0,
        )

    def of_wait(self, name: str) -> float:
        """The share of this wait that may go."""
        return self.mine if name == self.link else self.others

    def of_waits(self, waits: Mapping[str, float], parts: Parts) -> dict[str, float]:
        """The gain of each wait by kind, in us; `waits` are times by name."""
        return {
            "links": sum(self.of_wait(name) * waits[name] for name in parts.links),
            "transfers": self.of_wait(_TRANSFERS) * parts.transfers,
            "input": self.others * parts.input,
            "host_wait": self.others * parts.host_wait,
            "unknown_wait": self.others * parts.unknown_wait,
        }


def _op_times(owned: Owned, costs: Costs, work: _Work, kept: _Kept) -> OpTimes:
    waits_us = sum(owned.waits_us.values(), np.zeros(len(owned.work_us)))
    gains = (kept.of_wait(name) * column for name, column in owned.waits_us.items())
    width_us, work_gain_us = owned.work_us + waits_us, kept.others * work.to_gain_us
    part = np.select(
        [width_us <= 0, waits_us > owned.work_us, costs.impossible, work.unknown_us > 0],
        [_NONE, _wait_codes(costs), _IMPOSSIBLE, _UNKNOWN],
        default=_WORK,
    )
    return alike(
        OpTimes,
        work,
        width_us=width_us,
        work_us=owned.work_us,
        calls=owned.calls,
        called_us=owned.called_us,
        gain_us=sum(gains, work_gain_us),
        work_gain_us=work_gain_us,
        assumed=costs.assumed,
        part=tuple(_PARTS[code] for code in part.tolist()),
        doubtful=np.flatnonzero(costs.doubtful & (width_us > 0)),
    )


_PARTS = tuple(OpPart)
_NONE, _WORK, _UNKNOWN, _IMPOSSIBLE, _LINKS, _HOST, _INPUT = range(len(_PARTS))
_CODE_OF_WAIT = {"": _NONE, _TRANSFERS: _HOST, INPUT: _INPUT}


def _wait_codes(costs: Costs) -> I64:
    return np.array([_CODE_OF_WAIT.get(name, _LINKS) for name in costs.wait], np.int64)

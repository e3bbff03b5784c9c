"""Where the time of a step or a capture went, as parts that add up, and its floor.

Facts come from the profile's timeline; here work is divided by what the roofs allow. All times are
means over the cores, in microseconds. Definitions: `docs/budget.md`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.records import I64, Bools, Cost, OpRecords
from roofline.analysis.roofline import Floats
from roofline.analysis.time_records import (
    Budget,
    BudgetPart,
    Budgets,
    IdleDetail,
    TransferRecords,
)
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64
from roofline.model.timeline import WHOLE_CAPTURE, CoreTimes, Timeline
from roofline.model.units import PS_PER_US

UNKNOWN = "unknown"
IDLE = "idle"
NO_PEAK = "no known peak"
"""The label of the part `unknown` where all of its work is counted."""
_COMPUTE = "compute"


def budgets_of(
    timeline: Timeline,
    ops: OpRecords,
    levels: tuple[MemoryLevel, ...],
    transfers: TransferRecords,
) -> Budgets:
    """The budgets of a profile; ops and transfers are those of its analysis."""
    roofs = _Roofs.of(ops, levels)
    whole = _budget(timeline, roofs, transfers, np.array([WHOLE_CAPTURE]))
    steps = np.arange(timeline.steps)
    step = _budget(timeline, roofs, transfers, steps) if timeline.steps else None
    return Budgets(capture=whole, step=step)


def part_of_unknown(costs: Iterable[Cost]) -> str:
    """The label of the part without a roof: what is missing of the ops with these costs."""
    is_peak = {one in _COUNTED for one in costs}
    if is_peak == {True}:
        return NO_PEAK
    return "unknown cost or peak" if True in is_peak else _LABELS[UNKNOWN]


_COUNTED = frozenset({Cost.KNOWN, Cost.NO_FLOPS})


def roof_names(levels: tuple[MemoryLevel, ...]) -> tuple[str, ...]:
    """The words for each bound code in the name of a part; the last is a code beyond all levels."""
    return (UNKNOWN, _COMPUTE, *(level.value for level in levels), UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Roofs:
    """Per op: time per call at its roof in ps, and the name of that roof ("unknown" without)."""

    per_call_ps: Floats
    bound: tuple[str, ...]
    cost: tuple[Cost, ...]

    @classmethod
    def of(cls, ops: OpRecords, levels: tuple[MemoryLevel, ...]) -> "_Roofs":
        measures = ops.measures
        names = roof_names(levels)
        total_ps = measures.total_time_us * PS_PER_US * measures.roofline_efficiency_ratio
        calls = np.maximum(ops.occurrences.astype(np.float64), 1)
        known = (measures.bound != roofline.UNKNOWN_BOUND) & ~np.isnan(total_ps)
        return cls(
            per_call_ps=np.where(known, total_ps / calls, np.nan),
            cost=tuple(ops.cost),
            bound=tuple(
                names[code] if is_known else UNKNOWN
                for code, is_known in zip(measures.bound.tolist(), known.tolist(), strict=True)
            ),
        )


def _budget(timeline: Timeline, roofs: _Roofs, transfers: TransferRecords, scopes: I64) -> Budget:
    """The mean over cores of the mean over `scopes`."""
    rows = np.isin(timeline.times.scope, scopes)
    n_means = max(int(rows.sum()), 1)
    parts = _work_parts(timeline, roofs, scopes) | _other_parts(timeline.times, rows)
    means = {name: time_ps / n_means / PS_PER_US for name, time_ps in parts.items() if time_ps > 0}
    total_us = float(timeline.times.total_ps[rows].sum()) / n_means / PS_PER_US
    stays = sum(time for name, time in means.items() if _stays(name))
    links_us = transfers.busiest_at_peak_us / max(len(timeline.cores), 1)
    if scopes[0] != WHOLE_CAPTURE:
        links_us *= _share_of_capture(timeline.times, rows)
    return Budget(
        total_us=total_us,
        floor_us=min(max(stays, links_us), total_us),
        parts=tuple(
            BudgetPart(
                id=name,
                label=part_label(name)
                if name != UNKNOWN
                else part_of_unknown(_costs_without_roof(timeline, roofs, scopes)),
                time_us=time_us,
                idle=_idle_detail(timeline.times, rows) if name == IDLE else None,
            )
            for name, time_us in means.items()
        ),
    )


def _idle_detail(times: CoreTimes, rows: Bools) -> IdleDetail:
    """The known details of the idle time of these rows."""
    idle, is_capture = times.idle, bool((times.scope[rows] == WHOLE_CAPTURE).all())

    def mean_us(column: F64) -> float | None:
        mean = float(column[rows].mean()) / PS_PER_US
        return None if np.isnan(mean) else mean

    return IdleDetail(
        waiting_for_launch_us=mean_us(idle.waiting_for_launch_ps),
        unknown_launch_us=mean_us(idle.unknown_launch_ps),
        barrier_us=mean_us(idle.barrier_ps),
        start_us=mean_us(idle.start_ps) if is_capture else None,
        longest_start_us=float(idle.start_ps[rows].max()) / PS_PER_US if is_capture else None,
        start_idle_us=mean_us(idle.start_idle_ps) if is_capture else None,
        longest_us=mean_us(idle.longest_ps) if is_capture else None,
    )


def _share_of_capture(times: CoreTimes, rows: Bools) -> float:
    """The mean step's time over the capture's: that share of the transfers is taken as its own."""
    whole = times.total_ps[times.scope == WHOLE_CAPTURE]
    steps = times.total_ps[rows]
    return float(steps.mean() / whole.mean()) if len(steps) and whole.any() else 0.0


def _work_parts(timeline: Timeline, roofs: _Roofs, scopes: I64) -> dict[str, float]:
    """Time at the roof and below it, by bound, and time of unknown cost; sums over rows, in ps."""
    work = timeline.work
    rows = np.isin(work.scope, scopes)
    op, time_ps = work.op[rows], work.time_ps[rows]
    is_work = work.is_work[rows] & (op >= 0)
    allowed = np.where(is_work, roofs.per_call_ps[op] * work.calls[rows], np.nan)
    bounds = np.array(roofs.bound, object)[op]
    bounds = np.where(np.isnan(allowed), UNKNOWN, bounds)
    at_roof = np.minimum(time_ps, np.nan_to_num(allowed))
    parts: dict[str, float] = {}
    for name in dict.fromkeys(bounds.tolist()):
        chosen = bounds == name
        if name == UNKNOWN:
            parts[UNKNOWN] = float(time_ps[chosen].sum())
            continue
        parts[f"at_roof.{name}"] = float(at_roof[chosen].sum())
        parts[f"below_roof.{name}"] = float((time_ps - at_roof)[chosen].sum())
    return dict(sorted(parts.items(), key=lambda part: _place(part[0])))


def _costs_without_roof(timeline: Timeline, roofs: _Roofs, scopes: I64) -> set[Cost]:
    """The costs of the ops whose time has no roof; unknown for containers and for no op."""
    work = timeline.work
    rows = np.isin(work.scope, scopes) & (work.time_ps > 0)
    ops = np.unique(np.where(work.is_work[rows], work.op[rows], -1)).tolist()
    return {
        Cost.UNKNOWN if op < 0 else roofs.cost[op]
        for op in ops
        if op < 0 or roofs.bound[op] == UNKNOWN
    }


def _other_parts(times: CoreTimes, rows: Bools) -> dict[str, float]:
    exposed: Mapping[str, Floats] = {
        f"exposed.{UNKNOWN if link is None else link.value}": column
        for link, column in times.exposed_ps.items()
    }
    columns = {
        **exposed,
        "exposed_transfer.host": times.host_ps,
        "infeed_outfeed": times.infeed_outfeed_ps,
        "launch_gaps": times.launch_gaps_ps,
        IDLE: times.idle_ps,
    }
    return {name: float(column[rows].sum()) for name, column in columns.items()}


_ORDER = ("at_roof", UNKNOWN, "below_roof")


def _place(name: str) -> tuple[int, str]:
    return _ORDER.index(name.partition(".")[0]), name


def _stays(name: str) -> bool:
    """Parts that count into the floor: unknown cost too, for it is not known that it can go."""
    return name.startswith("at_roof.") or name in {UNKNOWN, "infeed_outfeed"}


_LABELS = {
    UNKNOWN: "unknown cost",
    "exposed_transfer.host": "exposed host transfers",
    "exposed.unknown": "exposed communication on an unknown link",
    "infeed_outfeed": "infeed and outfeed",
    "launch_gaps": "launch gaps",
    IDLE: "idle",
    "at_roof.compute": "at the compute roof",
    "below_roof.compute": "below the compute roof",
}


def part_label(name: str) -> str:
    """The page's name of a part: "at the HBM roof", "exposed ICI"."""
    if name in _LABELS:
        return _LABELS[name]
    kind, _, key = name.partition(".")
    level = MemoryLevel(key).label
    if kind == "exposed":
        return f"exposed {level}"
    return f"{'at' if kind == 'at_roof' else 'below'} the {level} roof"

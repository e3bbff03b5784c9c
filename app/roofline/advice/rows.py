"""An analysis as rows that levers can change: ops of one step, and the time that no op has."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.advice import thresholds as limit
from roofline.advice.diagnosis import Clocks, Diagnoses, diagnose_all
from roofline.advice.plan import State
from roofline.analysis.context import NAN
from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.time_records import Budget, Budgets
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import Bools
from roofline.model.timeline import WHOLE_CAPTURE, Timeline
from roofline.model.units import PS_PER_US

STEP, CAPTURE = "step", "capture"
IDLE, LAUNCH_GAPS, INFEED, UNKNOWN = "idle", "launch_gaps", "infeed_outfeed", "unknown"
HOST = "exposed_transfer.host"
EXPOSED = "exposed."
START = "start"
"""Idle time before the program's first work: no lever on the program moves it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """`unit` is what times are per, as means over cores. Ops come first, then `parts` in order.

    `calls` are those of the ops in one unit. `diagnoses` are of the ops; `target` is the share
    of a roof that the reader chose to aim at.
    """

    unit: str
    total_us: float
    floor_us: float
    state: State
    calls: Floats
    parts: tuple[str, ...]
    diagnoses: Diagnoses
    target: float | None

    def part_us(self, name: str) -> float:
        """Time of a part; 0 without it."""
        return float(self.state.own_us[self.row_of(name)]) if name in self.parts else 0.0

    def row_of(self, name: str) -> int:
        """The row of a part."""
        return len(self.calls) + self.parts.index(name)


def rows_of(analysis: RooflineAnalysis, target: float | None = None) -> Rows:
    """The rows of a mean step, or of the whole capture where the profile has no steps."""
    timeline, budgets = analysis.profile.timeline, analysis.budgets
    if timeline is not None and budgets is not None:
        times = _timed(analysis, timeline, budgets)
    else:
        times = _summed(analysis)
    count = len(analysis.profile.ops)
    calls_before = np.maximum(analysis.profile.ops.occurrences.astype(np.float64), 1)
    scale = times.calls / calls_before
    busy_us = np.nan_to_num(analysis.ops.measures.total_time_us[:count]) * scale
    clocks = _clocks(analysis, scale)
    parts = {name: us for name, us in times.parts.items() if us > 0}
    rest = [np.full(len(parts), NAN)]
    own_us = np.concatenate([times.own_us, list(parts.values())])
    return Rows(
        unit=times.unit,
        total_us=float(own_us.sum()),
        floor_us=times.floor_us,
        state=State(
            busy_us=np.concatenate([busy_us, list(parts.values())]),
            own_us=own_us,
            clocks={name: np.concatenate([one, *rest]) for name, one in clocks.items()},
            least_us=min(times.links_us, float(own_us.sum())),
        ),
        calls=times.calls,
        parts=tuple(parts),
        diagnoses=diagnose_all(_to_diagnose(analysis, busy_us, times.calls, clocks)),
        target=target,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Times:
    unit: str
    own_us: Floats
    calls: Floats
    parts: Mapping[str, float]
    floor_us: float
    links_us: float


def _timed(analysis: RooflineAnalysis, timeline: Timeline, budgets: Budgets) -> _Times:
    """Times of a timeline: each instant has one owner, so the rows add up to the budget."""
    budget, scopes = budgets.capture, np.array([WHOLE_CAPTURE])
    if budgets.step is not None:
        budget, scopes = budgets.step, np.arange(timeline.steps)
    rows, mine = np.isin(timeline.times.scope, scopes), np.isin(timeline.work.scope, scopes)
    n_means = max(int(rows.sum()), 1)
    mine &= (timeline.work.op >= 0) & timeline.work.is_work
    op, count = timeline.work.op[mine], len(analysis.profile.ops)
    own_us = np.bincount(op, timeline.work.time_ps[mine], count) / n_means / PS_PER_US
    calls = np.bincount(op, timeline.work.calls[mine], count) / n_means
    parts = {
        one.id: one.time_us
        for one in budget.parts
        if not one.id.startswith(("at_roof", "below_roof", UNKNOWN))
    }
    start_us = _start_us(budget)
    if start_us:
        parts[START] = start_us
        parts[IDLE] = max(parts.get(IDLE, 0.0) - start_us, 0.0)
    parts[UNKNOWN] = max(budget.total_us - float(own_us.sum()) - sum(parts.values()), 0.0)
    links_us = analysis.transfers.busiest_at_peak_us / max(len(timeline.cores), 1)
    return _Times(
        unit=CAPTURE if budgets.step is None else STEP,
        own_us=own_us,
        calls=calls,
        parts=parts,
        floor_us=budget.floor_us,
        links_us=links_us * (1.0 if budgets.step is None else _share(timeline, rows)),
    )


def _share(timeline: Timeline, rows: Bools) -> float:
    """A mean step's part of the capture, for the bytes of its transfers."""
    whole = timeline.times.total_ps[timeline.times.scope == WHOLE_CAPTURE]
    return float(timeline.times.total_ps[rows].mean() / whole.mean()) if whole.any() else 0.0


def _start_us(budget: Budget) -> float:
    idle = budget.part(IDLE)
    detail = None if idle is None else idle.idle
    return 0.0 if detail is None else detail.start_idle_us or 0.0


def _summed(analysis: RooflineAnalysis) -> _Times:
    """Self times where the file has sums alone; what they leave of the program is idle."""
    table, ops = analysis.profile.ops, analysis.ops
    cores = max(analysis.device.core_count, 1)
    self_us = np.where(table.time_known, table.self_time_ps / PS_PER_US, 0.0) / cores
    calls = np.maximum(table.occurrences / cores, 0.0)
    moves = np.array([cost is Cost.TRANSFER for cost in ops.cost[: len(table)]], np.bool_)
    hosted = np.array([is_infeed_outfeed(one) for one in table.category], np.bool_)
    held = np.array([is_container(one) for one in table.category], np.bool_)
    parts: dict[str, float] = {}
    for op in np.flatnonzero(moves & ~hosted).tolist():
        link = ops.moved.link[op]
        name = HOST if link is MemoryLevel.HOST else f"{EXPOSED}{link or UNKNOWN}"
        parts[name] = parts.get(name, 0.0) + float(self_us[op])
    parts[INFEED] = float(self_us[hosted].sum())
    parts[UNKNOWN] = float(self_us[held].sum())
    own_us = np.where(moves | hosted | held, 0.0, self_us)
    total_us = analysis.profile.time_ps / PS_PER_US / cores
    parts[IDLE] = max(total_us - float(own_us.sum()) - sum(parts.values()), 0.0)
    count = len(analysis.profile.steps) or 1
    at_roof = np.fmin(ops.clocks.t_min_us[: len(table)] / cores, own_us)
    floor_us = float(at_roof.sum()) + parts[UNKNOWN] + parts[INFEED]
    return _Times(
        unit=STEP if len(analysis.profile.steps) else CAPTURE,
        own_us=own_us / count,
        calls=calls / count,
        parts={name: us / count for name, us in parts.items()},
        floor_us=floor_us / count,
        links_us=0.0,
    )


def _clocks(analysis: RooflineAnalysis, scale: Floats) -> dict[str, Floats]:
    """Clocks of ops per unit; none of transfers, which are held against their links alone."""
    count = len(scale)
    moves = np.array([one is Cost.TRANSFER for one in analysis.ops.cost[:count]], np.bool_)
    found = {
        name: np.where(moves, NAN, column[:count] * scale)
        for name, column in analysis.ops.clocks.of.items()
    }
    return {name: column for name, column in found.items() if np.nansum(column) > 0}


def _to_diagnose(
    analysis: RooflineAnalysis, busy_us: Floats, calls: Floats, clocks: Mapping[str, Floats]
) -> Clocks:
    count = len(busy_us)
    levels = {level.value: level for level in MemoryLevel}
    nothing = {UNKNOWN: np.full(count, NAN)}
    is_gpu = analysis.device.kind is DeviceKind.GPU
    compute = frozenset(name for name in clocks if name not in levels)
    vector = frozenset(name for name in compute if name.startswith("vector_"))
    return Clocks(
        time=np.where(busy_us > 0, busy_us, NAN),
        call_us=np.where(calls > 0, busy_us / np.where(calls > 0, calls, 1.0), NAN),
        clocks=clocks or nothing,
        vector=vector,
        matrix=compute - vector,
        links=frozenset(name for name, level in levels.items() if level.is_link),
        on_chip=frozenset(
            name for name, level in levels.items() if not level.is_link and not level.is_main
        ),
        is_async=analysis.ops.is_start[:count]
        | np.array([one is Cost.TRANSFER for one in analysis.ops.cost[:count]], np.bool_),
        exposed_limit=limit.EXPOSED_GPU if is_gpu else limit.EXPOSED,
    )


def commonest(values: list[str]) -> str:
    """The value that occurs most often, the first of several; "" of none."""
    counted = Counter(values)
    return max(counted, key=lambda one: counted[one], default="")

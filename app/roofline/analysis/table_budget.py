"""The budget of a profile without events in time: each op's self time, by what it is.

A table does not say what overlapped, so every op owns its own self time, and the parts add up to
the sum of all self times and the idle time. `docs/budget.md` has the definitions.
"""

from collections.abc import Iterator

import numpy as np

from roofline.analysis.budget import IDLE, UNKNOWN, part_label, part_of_unknown, roof_names
from roofline.analysis.records import Cost, OpRecords
from roofline.analysis.time_records import Budget, BudgetPart, Budgets
from roofline.model.categories import is_async_copy, is_container, is_infeed_outfeed
from roofline.model.memory import MemoryLevel

_ROUNDING = 1e-6
_STAYS = ("at_roof.", UNKNOWN, "infeed_outfeed")
_ORDER = ("at_roof", UNKNOWN, "below_roof", "exposed", "exposed_transfer", "infeed_outfeed", IDLE)


def table_budgets(
    ops: OpRecords, levels: tuple[MemoryLevel, ...], program_us: float
) -> Budgets | None:
    """The division of the self times of `ops`; `None` where no time was measured.

    `program_us` is the program's time per core. Ops that ran at once, on threads or streams, take
    longer together: then each owns the part of the time that it has of their sum. Steps of a table
    are sums that do not tell its ops apart, so there is no budget of a step.
    """
    names = roof_names(levels)
    totals: dict[str, float] = {}
    without_roof = set[Cost]()
    factor = _own_share(ops, program_us)
    for op in range(len(ops)):
        for part, time_us in _parts(ops, op, names, factor):
            totals[part] = totals.get(part, 0.0) + time_us
            if part == UNKNOWN and time_us > 0:
                without_roof.add(_cost(ops, op))
    found = {part: time_us for part, time_us in totals.items() if time_us > 0}
    if not found:
        return None
    total_us = sum(found.values())
    stays = sum(time for part, time in found.items() if part.startswith(_STAYS))
    parts = tuple(
        BudgetPart(
            id=part,
            label=part_of_unknown(without_roof) if part == UNKNOWN else part_label(part),
            time_us=found[part],
        )
        for part in sorted(found, key=_place)
    )
    return Budgets(
        capture=Budget(total_us=total_us, floor_us=min(stays, total_us), parts=parts), step=None
    )


def _own_share(ops: OpRecords, program_us: float) -> float:
    """The part of its self time that each op owns: 1 unless ops ran at once."""
    is_idle = np.array([cost is Cost.IDLE for cost in ops.cost], np.bool_)
    times_us = np.nan_to_num(ops.self_time_per_core_us)
    busy_us = program_us - float(times_us[is_idle].sum())
    sum_us = float(times_us[~is_idle].sum())
    return busy_us / sum_us if 0 < busy_us < sum_us * (1 - _ROUNDING) else 1.0


def _cost(ops: OpRecords, op: int) -> Cost:
    """The known cost of an op without a roof. Ops around others, and ops that wait, have none."""
    category = ops.category[op]
    return Cost.UNKNOWN if is_container(category) or is_async_copy(category) else ops.cost[op]


def _parts(
    ops: OpRecords, op: int, names: tuple[str, ...], factor: float
) -> Iterator[tuple[str, float]]:
    """The parts of the time that one op owns, `factor` of its self time per core, in µs.

    Its work needs the same time at the roof, whatever ran at once.
    """
    self_us = float(np.nan_to_num(ops.self_time_per_core_us[op]))
    time_us = self_us * factor
    share = float(ops.measures.roofline_efficiency_ratio[op])
    category, bound = ops.category[op], names[int(ops.measures.bound[op])]
    if ops.cost[op] is Cost.IDLE:
        yield IDLE, self_us
    elif is_infeed_outfeed(category):
        yield "infeed_outfeed", time_us
    elif ops.cost[op] is Cost.TRANSFER:
        yield _wait(ops.moved.link[op]), time_us
    elif bound == UNKNOWN or np.isnan(share) or is_container(category) or is_async_copy(category):
        yield UNKNOWN, time_us
    else:
        at_roof_us = min(self_us * share, time_us)
        yield f"at_roof.{bound}", at_roof_us
        yield f"below_roof.{bound}", time_us - at_roof_us


def _wait(link: MemoryLevel | None) -> str:
    if link is MemoryLevel.HOST:
        return "exposed_transfer.host"
    return f"exposed.{UNKNOWN if link is None else link.value}"


def _place(part: str) -> tuple[int, str]:
    return _ORDER.index(part.partition(".")[0]), part

"""The budget of a profile without events in time: each op's self time, by what it is.

A table does not say what overlapped, so every op owns its own self time, and the parts add up to
the sum of all self times and the idle time. `docs/budget.md` has the definitions.
"""

from collections.abc import Iterator

import numpy as np

from roofline.analysis.budget import IDLE, UNKNOWN, part_label, roof_names
from roofline.analysis.records import Cost, OpRecords
from roofline.analysis.time_records import Budget, BudgetPart, Budgets
from roofline.model.categories import is_async_copy, is_container, is_infeed_outfeed
from roofline.model.memory import MemoryLevel

_STAYS = ("at_roof.", UNKNOWN, "infeed_outfeed")
_ORDER = ("at_roof", UNKNOWN, "below_roof", "exposed", "exposed_transfer", "infeed_outfeed", IDLE)


def table_budgets(ops: OpRecords, levels: tuple[MemoryLevel, ...]) -> Budgets | None:
    """The division of the self times of `ops`; `None` where no time was measured.

    Steps of a table are sums that do not tell its ops apart, so there is no budget of a step.
    """
    names = roof_names(levels)
    totals: dict[str, float] = {}
    for op in range(len(ops)):
        for part, time_us in _parts(ops, op, names):
            totals[part] = totals.get(part, 0.0) + time_us
    found = {part: time_us for part, time_us in totals.items() if time_us > 0}
    if not found:
        return None
    total_us = sum(found.values())
    stays = sum(time for part, time in found.items() if part.startswith(_STAYS))
    parts = tuple(
        BudgetPart(id=part, label=part_label(part), time_us=found[part])
        for part in sorted(found, key=_place)
    )
    return Budgets(
        capture=Budget(total_us=total_us, floor_us=min(stays, total_us), parts=parts), step=None
    )


def _parts(ops: OpRecords, op: int, names: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """The parts of one op's self time per core, in µs."""
    time_us = float(np.nan_to_num(ops.self_time_per_core_us[op]))
    share = float(ops.measures.roofline_efficiency_ratio[op])
    category, bound = ops.category[op], names[int(ops.measures.bound[op])]
    if ops.cost[op] is Cost.IDLE:
        yield IDLE, time_us
    elif is_infeed_outfeed(category):
        yield "infeed_outfeed", time_us
    elif ops.cost[op] is Cost.TRANSFER:
        yield _wait(ops.moved.link[op]), time_us
    elif bound == UNKNOWN or np.isnan(share) or is_container(category) or is_async_copy(category):
        yield UNKNOWN, time_us
    else:
        yield f"at_roof.{bound}", time_us * min(share, 1.0)
        yield f"below_roof.{bound}", time_us * (1.0 - min(share, 1.0))


def _wait(link: MemoryLevel | None) -> str:
    if link is MemoryLevel.HOST:
        return "exposed_transfer.host"
    return f"exposed.{UNKNOWN if link is None else link.value}"


def _place(part: str) -> tuple[int, str]:
    return _ORDER.index(part.partition(".")[0]), part

"""The budget and the transfers as people's own tools get them: JSON objects, times in us."""

from dataclasses import asdict, fields
from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.time_records import Budget, BudgetPart, TransferRecord

Record = dict[str, Any]


def time_records(analysis: RooflineAnalysis) -> Record:
    """`budget` (null where the file has no events in time) and `transfers`."""
    budgets = analysis.budgets
    return {
        "budget": budgets
        and {
            "capture": _budget(budgets.capture),
            "step": budgets.step and _budget(budgets.step),
        },
        "transfers": [_transfer(analysis, row) for row in analysis.transfers.rows],
    }


def _budget(budget: Budget) -> Record:
    """The known details of idle time stand beside the time of that part."""
    return {**asdict(budget), "parts": [_part(part) for part in budget.parts]}


def _part(part: BudgetPart) -> Record:
    record = asdict(part)
    return record | (record.pop("idle") or {})


def _transfer(analysis: RooflineAnalysis, row: TransferRecord) -> Record:
    names = analysis.profile.ops.name
    return {
        **{field.name: getattr(row, field.name) for field in fields(row)},
        "op": names[row.op],
        "done": names[row.done] if row.done >= 0 else None,
        "link": row.link.value if row.link else None,
    }

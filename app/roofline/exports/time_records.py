"""The budget and the transfers as people's own tools get them: JSON objects, times in us."""

from dataclasses import asdict
from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.time_records import TransferRecord

Record = dict[str, Any]


def time_records(analysis: RooflineAnalysis) -> Record:
    """`budget` (null where the file has no events in time) and `transfers`."""
    budgets = analysis.budgets
    return {
        "budget": budgets
        and {
            "capture": asdict(budgets.capture),
            "step": budgets.step and asdict(budgets.step),
        },
        "transfers": [_transfer(analysis, row) for row in analysis.transfers.rows],
    }


def _transfer(analysis: RooflineAnalysis, row: TransferRecord) -> Record:
    names = analysis.profile.ops.name
    return {
        **asdict(row),
        "op": names[row.op],
        "done": names[row.done] if row.done >= 0 else None,
        "link": row.link.value if row.link else None,
    }

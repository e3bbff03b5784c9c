"""The budget and the transfers as people's own tools get them: JSON objects, times in us."""

from dataclasses import asdict, fields
from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.budget import budget_of
from roofline.analysis.subjects.records import Subject
from roofline.analysis.time_records import TransferRecord

Record = dict[str, Any]


def time_records(analysis: RooflineAnalysis, subject: Subject) -> Record:
    """`budget`, the subject's time by resource (null where it has no parts), and `transfers`."""
    budget = budget_of(analysis, subject)
    return {
        "budget": None if budget is None else asdict(budget),
        "transfers": [_transfer(analysis, row) for row in analysis.transfers.rows],
    }


def _transfer(analysis: RooflineAnalysis, row: TransferRecord) -> Record:
    names = analysis.profile.ops.name
    return {
        **{field.name: getattr(row, field.name) for field in fields(row)},
        "op": names[row.op],
        "done": names[row.done] if row.done >= 0 else None,
        "link": row.link.value if row.link else None,
    }

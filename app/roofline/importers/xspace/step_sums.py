"""Work of steps, for GPU and CPU captures."""

from collections.abc import Sequence

import numpy as np

from roofline.importers.shared.op_tables import OpRows
from roofline.importers.xspace.grouping import StepRoots
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.op_columns import I64
from roofline.model.profile import StepTable


def step_labels(groups: I64, roots: StepRoots) -> tuple[str, ...]:
    """Names of steps: the annotations' own numbers if all have different ones, else group ids."""
    numbers = [int(roots.number[g]) if g < len(roots.number) else -1 for g in groups.tolist()]
    if min(numbers, default=-1) >= 0 and len(set(numbers)) == len(numbers):
        return tuple(map(str, numbers))
    return tuple(map(str, groups.tolist()))


def add_step_work(table: StepTable, scope: I64, rows: OpRows, categories: Sequence[str]) -> None:
    """Add rows to the steps they belong to (`scope`: index of each row's step), in place.

    `categories` are those of the labels that the rows refer to.
    """
    kind = np.array([_work_class(category) for category in categories], np.int64)[rows.label]
    kept = kind >= 0
    table.sums.add_at((scope[kept], kind[kept]), rows.select(kept))


def _work_class(category: str) -> int:
    """Second index of a step's sums: 0 work, 1 infeed and outfeed, -1 containers."""
    return -1 if is_container(category) else int(is_infeed_outfeed(category))

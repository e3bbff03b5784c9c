"""The steps that all hosts share: durations, the work of each chip, and of a host's slowest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.partial import Partial

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedSteps:
    """Columns are steps, rows hosts. Without steps the capture counts as one, without a label.

    `chip_work_ps` has a row for each chip, those of a host beside each other.
    """

    labels: tuple[str, ...]
    duration_ps: I64
    work_ps: I64
    chip_work_ps: I64


def shared_steps(partials: Sequence[Partial]) -> SharedSteps:
    """Steps are the same where their labels are; else where all hosts have equally many."""
    tables = [partial.header.steps for partial in partials]
    labels = _shared_labels(tables)
    if labels:
        rows = [[table.index(label) for label in labels] for table in tables]
    elif tables and len({len(table) for table in tables}) == 1:
        labels = tuple(str(k) for k in range(len(tables[0])))
        rows = [list(range(len(labels)))] * len(tables)
    if not labels:
        return SharedSteps(
            labels=(),
            duration_ps=np.zeros((len(partials), 0), np.int64),
            work_ps=_whole(partials),
            chip_work_ps=np.concatenate([_NONE, *(one.chip_ps for one in partials)]).reshape(-1, 1),
        )
    columns = list(zip(partials, rows, strict=True))
    return SharedSteps(
        labels=labels,
        duration_ps=np.stack([one.step_ps[at] for one, at in columns]),
        work_ps=np.stack([one.step_work_ps[:, at].max(axis=0) for one, at in columns]),
        chip_work_ps=np.concatenate([one.step_work_ps[:, at] for one, at in columns]),
    )


def _shared_labels(tables: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The labels that every host has, in the first host's order; none if a host repeats one."""
    if not tables or any(len(set(table)) < len(table) for table in tables):
        return ()
    everywhere = set(tables[0]).intersection(*tables)
    return tuple(label for label in tables[0] if label in everywhere)


def _whole(partials: Sequence[Partial]) -> I64:
    return np.array([one.chip_ps.max(initial=0) for one in partials], np.int64).reshape(-1, 1)

"""Steps of a program: the ranges on the host that mark them, and the work of each device in them.

A step begins with the first work that was launched in it, for the host may run ahead of the device.
"""

import re
from collections.abc import Sequence

import numpy as np

from roofline.importers.shared.launches import no_steps
from roofline.importers.shared.op_tables import OpRows
from roofline.importers.shared.stream_timeline import Steps
from roofline.importers.shared.sweep import Windows
from roofline.model.op_columns import I64, Bools, OpColumns
from roofline.model.profile import StepTable
from roofline.model.units import PS_PER_NS

_STEP = re.compile(
    r"(?<![a-z])(?:step|iter|iteration|batch|train|profilerstep|epoch_step|forward_backward)(?![a-z])",
    re.IGNORECASE,
)


def step_ranges(texts: Sequence[str], number: I64, begin: I64, end: I64, thread: I64) -> I64:
    """Begin and end, shape (n, 2), of ranges that repeat on one thread, do not overlap, and are
    called a step, an iteration or a batch: those that take longest. `number` is the text of each
    range, without numbers of instances."""
    is_step = np.array([bool(_STEP.search(text)) and ", op_id" not in text for text in texts], bool)
    runs: dict[tuple[int, int], list[int]] = {}
    for at in np.flatnonzero(is_step[number]).tolist() if texts else ():
        runs.setdefault((int(thread[at]), int(number[at])), []).append(at)
    ordered = [np.array(rows)[np.argsort(begin[rows], kind="stable")] for rows in runs.values()]
    repeated = [
        rows for rows in ordered if len(rows) > 1 and (begin[rows[1:]] >= end[rows[:-1]]).all()
    ]
    none = np.zeros(0, np.int64)
    longest = max(repeated, key=lambda rows: int((end[rows] - begin[rows]).sum()), default=none)
    return np.stack([begin[longest], end[longest]], axis=1)


def steps_of(
    begin: I64, end: I64, device: I64, launched_in: I64, is_work: Bools, n_devices: int
) -> list[Steps]:
    """The steps of each device, times in ns. `launched_in` is the host's step of each event (-1:
    none); steps that launched work are numbered from 0."""
    works = is_work & (launched_in >= 0)
    launching, number = np.unique(launched_in[works], return_inverse=True)
    real = end > begin
    steps = []
    for number_of_device in range(n_devices):
        mine = device[works] == number_of_device
        last = int(end[real & (device == number_of_device)].max(initial=0))
        # From the first work launched in a step to that of the next; without work it is empty.
        n_steps = len(launching)
        first = np.full(n_steps, last)
        np.minimum.at(first, number[mine], begin[works][mine])
        first = np.minimum.accumulate(first[::-1])[::-1]
        windows = Windows(begin=first, end=np.append(first[1:], last)[:n_steps])
        steps.append(Steps(windows=windows, number=np.arange(len(launching))))
    return steps


def step_table(steps: Sequence[Steps], step: I64, rows: OpRows) -> StepTable:
    """The table of the steps of all devices; `step` is that of each of `rows` (-1: none)."""
    if not steps:
        return no_steps(tuple(rows.traffic_bytes))
    n_steps = len(steps[0].number)
    begin, end = (
        np.array([getattr(one.windows, edge) for one in steps]) * PS_PER_NS
        for edge in ("begin", "end")
    )
    sums = OpColumns.zeros((n_steps, 2), tuple(rows.traffic_bytes), tuple(rows.unit_flop))
    inside = np.flatnonzero(step >= 0)
    sums.add_at((step[inside], np.zeros(len(inside), np.int64)), rows.select(inside))
    lasted = (end - begin).astype(np.uint64)
    return StepTable(
        label=tuple(map(str, range(n_steps))),
        begin_ps=begin.min(axis=0).astype(np.uint64),
        end_ps=end.max(axis=0).astype(np.uint64),
        duration_ps=lasted.max(axis=0),
        time_ps=lasted.sum(axis=0),
        sums=sums,
    )

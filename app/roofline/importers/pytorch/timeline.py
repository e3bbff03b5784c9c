"""The steps of a Kineto trace on each GPU, and the timelines of all traces as one.

A step begins with the first work that was launched in it, for the host may run ahead of the device.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.join_timelines import joined_timeline
from roofline.importers.shared.stream_timeline import Steps, with_calls
from roofline.importers.shared.sweep import Windows
from roofline.model.op_columns import OpColumns
from roofline.model.timeline import Timeline

I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]


def steps_of(
    begin: I64, end: I64, device: I64, launched_in: I64, is_work: Bools, n_devices: int
) -> list[Steps]:
    """The steps of each device, times in ns. `launched_in` is the host's step of each event (-1:
    none); steps that launched work are numbered from 0."""
    works = is_work & (launched_in >= 0)
    found, number = np.unique(launched_in[works], return_inverse=True)
    real = end > begin
    steps = []
    for one in range(n_devices):
        mine = device[works] == one
        last = int(end[real & (device == one)].max(initial=0))
        windows = _windows(begin[works][mine], number[mine], len(found), last)
        steps.append(Steps(windows=windows, number=np.arange(len(found))))
    return steps


def _windows(begin: I64, step: I64, n_steps: int, last: int) -> Windows:
    """From the first work launched in a step to that of the next; without work it is empty."""
    first = np.full(n_steps, last)
    np.minimum.at(first, step, begin)
    first = np.minimum.accumulate(first[::-1])[::-1]
    return Windows(begin=first, end=np.append(first[1:], last)[:n_steps])


def joined(
    timelines: Sequence[Timeline], hosts: Sequence[str], op_of_row: I64, ops: OpColumns
) -> Timeline | None:
    """The timelines of all traces as one, with ops of the table in place of rows."""
    parts = [(one, host, op_of_row) for one, host in zip(timelines, hosts, strict=True)]
    found = joined_timeline(parts if len(parts) > 1 else [(one, "", op) for one, _, op in parts])
    return None if found is None else replace(found, work=with_calls(found.work, ops))

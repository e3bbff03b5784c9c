"""When each device worked on the steps of a trace, and how long it waited before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.importers.shared.join_timelines import joined_timeline
from roofline.importers.shared.stream_timeline import with_calls
from roofline.model.op_columns import I32, I64, Bools, OpColumns
from roofline.model.timeline import Timeline


def joined(
    timelines: Sequence[Timeline], hosts: Sequence[str], op_of_row: I64, ops: OpColumns
) -> Timeline | None:
    """The timelines of all traces as one, with ops of the table in place of rows."""
    parts = [(timeline, host, op_of_row) for timeline, host in zip(timelines, hosts, strict=True)]
    result = joined_timeline(parts if len(parts) > 1 else [(part, "", op) for part, _, op in parts])
    return None if result is None else replace(result, work=with_calls(result.work, ops))


# Work that ran before a wait counts as before the step if it is no more than this share of it,
# and if the wait is at least that long.
_BEFORE, _LONG = 0.05, 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepWindows:
    """Per step, in ns on the device's clock.

    `span` is of the slowest device, `core` the sum of all; `busy` and `wait` are means.
    """

    begin: I64
    end: I64
    span: I64
    core: I64
    busy: I64
    wait: I64


def step_windows(
    begin: I64, end: I64, device: I64, step: I32, n_steps: int, n_devices: int
) -> StepWindows:
    """The windows of `n_steps` steps; `step` is that of each event, -1 none."""
    inside = np.flatnonzero(step >= 0)
    order = inside[np.lexsort((begin[inside], device[inside], step[inside]))]
    group = step[order].astype(np.int64) * n_devices + device[order]
    starts = np.searchsorted(group, np.arange(n_steps * n_devices), side="left").tolist()
    stops = np.searchsorted(group, np.arange(n_steps * n_devices), side="right").tolist()
    table = np.zeros((n_steps * n_devices, 4), np.int64)
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        if stop > start:
            rows = order[start:stop]
            table[k] = _window(begin[rows], end[rows])
    by_step = table.reshape(n_steps, n_devices, 4)
    has = by_step[:, :, 1] > 0
    count = np.maximum(has.sum(axis=1), 1)
    first = np.where(has, by_step[:, :, 0], np.iinfo(np.int64).max).min(axis=1)
    last = by_step[:, :, 1].max(axis=1)
    first = np.minimum(first, last)
    span = np.where(has, by_step[:, :, 1] - by_step[:, :, 0], 0)
    return StepWindows(
        begin=first,
        end=last,
        span=span.max(axis=1),
        core=span.sum(axis=1),
        busy=by_step[:, :, 2].sum(axis=1) // count,
        wait=_waits(by_step, has).sum(axis=1) // count,
    )


def _window(begin: I64, end: I64) -> tuple[int, int, int, int]:
    """Begin and end of a step's work on one device, its busy time, and the wait inside before it.

    Events are in order of their begin.
    """
    reached = np.maximum.accumulate(end)
    gaps = np.maximum(begin[1:] - reached[:-1], 0)
    covered = np.cumsum(np.maximum(end - np.maximum(begin, np.r_[begin[0], reached[:-1]]), 0))
    busy = int(covered[-1])
    early = np.flatnonzero(covered[:-1] <= _BEFORE * busy)
    if len(early):
        at = int(early[np.argmax(gaps[early])])
        if gaps[at] >= _LONG * busy:
            return int(begin[at + 1]), int(reached[-1]), busy - int(covered[at]), int(gaps[at])
    return int(begin[0]), int(reached[-1]), busy, 0


def _waits(windows: I64, has: Bools) -> I64:
    """Idle time of each device before each step: from the step before, else what lies inside it."""
    waits = np.array(windows[:, :, 3])
    for device in range(windows.shape[1]):
        mine = np.flatnonzero(has[:, device])
        if len(mine) > 1:
            since = windows[mine[1:], device, 0] - windows[mine[:-1], device, 1]
            waits[mine[1:], device] = np.maximum(since, waits[mine[1:], device])
    return waits

"""Device work to the operators that launched it, and both to steps.

A kernel's correlation names its launch, and the launch lies inside an operator on its thread: that
holds in traces of every age. Kernels' own `External id` names the operator only in traces since
2024 (before, it repeats the correlation), so it comes second.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.apis import Api
from roofline.importers.pytorch.nesting import NOT_FOUND, holders, innermost, nest
from roofline.importers.pytorch.trace import Step, Trace

I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
I8 = NDArray[np.int8]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attribution:
    """Per device event: its operator (`NOT_FOUND`: unknown), and when and how it was launched.

    `thread` is the launching thread (-1: unknown), `api` what the launching call starts,
    `Api.OTHER` where the trace dropped it. `order` lists operators outside in, `parent` is the
    operator around each.
    """

    operator: I32
    launched_ns: I64
    thread: I32
    api: I8
    has_launch: Bools
    parent: I32
    order: I32

    def within_holders(self, events: Bools, counts: Bools) -> I32:
        """Operator per event; kernels inside an operator that alone `counts` go to that one.

        `events` are those that may be the work of such an operator.
        """
        works = np.zeros(len(self.parent), np.bool_)
        works[self.operator[events & (self.operator >= 0)]] = True
        target = holders(self.order, self.parent, works, counts)
        return np.where(self.operator >= 0, target[self.operator], NOT_FOUND).astype(np.int32)

    def count_once(self, operators: Bools) -> Bools:
        """Of these operators, those that hold no other of them."""
        return innermost(self.order, self.parent, operators)


def attribute(trace: Trace) -> Attribution:
    """Which operator and which call launched each event."""
    work, launches, operators = trace.work, trace.launches, trace.operators
    launch = _launch_of(work["correlation"], launches["correlation"])
    known = launch >= 0
    used, point = np.unique(launch[known], return_inverse=True)
    parent, around, order = nest(
        begin=operators["begin"],
        duration=operators["duration"],
        thread=operators["thread"],
        point_ns=launches["begin"][used],
        point_thread=launches["thread"][used],
    )
    operator = np.full(len(work), NOT_FOUND, np.int32)
    operator[known] = around[point]
    launched = np.array(work["begin"])
    launched[known] = launches["begin"][launch[known]]
    thread = np.full(len(work), NOT_FOUND, np.int32)
    thread[known] = launches["thread"][launch[known]]
    api = np.full(len(work), Api.OTHER, np.int8)
    api[known] = launches["api"][launch[known]]
    _by_external_id(trace, operator)
    return Attribution(
        operator=operator,
        launched_ns=launched,
        thread=thread,
        api=api,
        has_launch=known,
        parent=parent,
        order=order,
    )


def _launch_of(correlation: I64, launches: I64) -> I32:
    """Place of the launch with the same correlation, `NOT_FOUND` where the trace dropped it."""
    found = np.full(len(correlation), NOT_FOUND, np.int32)
    if not len(launches):
        return found
    order = np.argsort(launches, kind="stable").astype(np.int32)
    place = np.searchsorted(launches, correlation, sorter=order)
    at = order[np.minimum(place, len(order) - 1)]
    matches = (launches[at] == correlation) & (correlation > 0)
    found[matches] = at[matches]
    return found


def _by_external_id(trace: Trace, operator: I32) -> None:
    """Fill in operators of kernels whose launch told none."""
    external = trace.work["external"]
    open_ones = np.flatnonzero(
        (operator < 0) & (external > 0) & (external != trace.work["correlation"])
    )
    ids = trace.operators["external"]
    if not len(open_ones) or not len(ids):
        return
    order = np.argsort(ids, kind="stable")
    wanted = external[open_ones]
    first = np.searchsorted(ids, wanted, side="left", sorter=order)
    last = np.searchsorted(ids, wanted, side="right", sorter=order)
    single = last - first == 1  # old traces repeat ids on several threads
    operator[open_ones[single]] = order[first[single]]


def step_of(times_ns: I64, steps: list[Step]) -> I32:
    """Index of the step (sorted, not overlapping) whose host span holds each time; -1: none."""
    if not steps:
        return np.full(len(times_ns), NOT_FOUND, np.int32)
    begin = np.array([step.begin_ns for step in steps], np.int64)
    end = np.array([step.end_ns for step in steps], np.int64)
    at = np.searchsorted(begin, times_ns, side="right") - 1
    inside = (at >= 0) & (times_ns <= end[np.maximum(at, 0)])
    return np.where(inside, at, NOT_FOUND).astype(np.int32)


def distinct_steps(steps: list[Step]) -> list[Step]:
    """Steps in order of time, one per number: the longest of its markers, in whole if cut."""
    longest: dict[int, Step] = {}
    for step in steps:
        kept = longest.get(step.number)
        if kept is None or step.end_ns - step.begin_ns > kept.end_ns - kept.begin_ns:
            longest[step.number] = step
    return sorted(longest.values(), key=lambda step: (step.begin_ns, step.number))

"""What the CPU did in a trace without device work: operators by the time they spent themselves."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.attribution import distinct_steps, step_of
from roofline.importers.pytorch.events import Trace
from roofline.importers.pytorch.nesting import busy_times, innermost, nest, self_times
from roofline.importers.pytorch.rows import Costs, FileWork, RowNumbers, Sums, added_up, multiplied
from roofline.importers.pytorch.words import operator_category

I64 = NDArray[np.int64]
_NONE = np.zeros(0, np.int64)
# The category of operators whose names say nothing; on the CPU there is no kernel to ask.
_NO_KERNEL = ""


def cpu_work(trace: Trace, numbers: RowNumbers) -> FileWork:
    """The work of all threads of `trace`."""
    operators = trace.operators
    begin, duration = operators["begin"], operators["duration"]
    steps = distinct_steps(trace.steps)
    parent, _, order = nest(
        begin=begin,
        duration=duration,
        thread=operators["thread"],
        point_ns=_NONE,
        point_thread=_NONE,
    )
    signature = operators["signature"].astype(np.int64)
    costs = Costs.of(trace.signatures)
    counted = innermost(order, parent, costs.flop[signature] >= 0)
    moving = counted | innermost(order, parent, costs.moved_bytes[signature] >= 0)
    scope = step_of(begin, steps)
    row = np.array([_row(trace, k, numbers) for k in range(len(trace.signatures))], np.int64)
    one = np.zeros(len(begin), np.int64)
    lasted = np.array([step.end_ns - step.begin_ns for step in steps], np.int64)
    return FileWork(
        sums=_sums(trace, row[signature], scope, len(numbers.rows), parent, counted, moving),
        steps=steps,
        step_core_ns=lasted,
        busy_ns=busy_times(one, begin, duration, 1),
        span_ns=np.array([(begin + duration).max() - begin.min()]),
        begin_ns=int(begin.min()),
        end_ns=int((begin + duration).max()),
        notes=_notes(trace, signature),
    )


def _row(trace: Trace, signature: int, numbers: RowNumbers) -> int:
    call = trace.signatures[signature]
    category = operator_category(call.operator, _NO_KERNEL)
    return numbers.of(call.label, category, operator=call.operator, dtype=call.dtype)


def _sums(
    trace: Trace,
    row: I64,
    scope: NDArray[np.int32],
    width: int,
    parent: NDArray[np.int32],
    counted: NDArray[np.bool_],
    moving: NDArray[np.bool_],
) -> Sums:
    """FLOPs of `counted` operators, bytes of `moving` ones, times of all."""
    operators, name = trace.operators, trace.file_name
    signature = operators["signature"].astype(np.int64)
    costs = Costs.of(trace.signatures)
    keys, at = np.unique((scope.astype(np.int64) + 1) * width + row, return_inverse=True)
    known = np.zeros(len(keys), np.bool_)
    known[at[counted]] = True
    moved = np.zeros(len(keys), np.bool_)
    moved[at[moving & (costs.moved_bytes[signature] >= 0)]] = True
    return Sums(
        scope=keys // width - 1,
        row=keys % width,
        occurrences=np.bincount(at, minlength=len(keys)),
        time_ns=added_up(at, operators["duration"], len(keys), name),
        self_ns=added_up(at, self_times(operators["duration"], parent), len(keys), name),
        flop=multiplied(at[counted], signature[counted], costs.flop, len(keys), name),
        moved_bytes=multiplied(at[moving], signature[moving], costs.moved_bytes, len(keys), name),
        flop_known=known,
        bytes_known=moved,
    )


def _notes(trace: Trace, signature: I64) -> Counter[str]:
    with_shapes = np.array([s.has_shapes for s in trace.signatures], np.bool_)
    n_with = int(with_shapes[signature].sum())
    return Counter({"with-shapes": n_with, "without-shapes": len(signature) - n_with})

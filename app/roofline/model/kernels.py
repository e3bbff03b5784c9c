"""Single kernels of a profile: what files of one program are joined by.

A profile that says when work ran and one that counted what it did name the same kernels, with the
same launch shapes, in the same order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.model.op_columns import I64, U64, OpColumns

SHAPE_AXES = 6
"""Blocks along x, y and z, then threads of a block along x, y and z."""
_IMPOSSIBLE = 2**62  # of a size: more than any device launches


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kernels:
    """One row per kernel, in the order of start on each device; copies are not among them.

    `name` is a place in `names`, whole names as the profiler wrote them. `op` is the row of the op
    table that the kernel is of, `step` that of the step table, -1 for none. `shape` is a row of
    `shapes`, which have one column per axis of `SHAPE_AXES`: 0 where a profiler wrote none; where
    it wrote totals alone, these are along x. `time_ps` is 0 where it is unknown.
    `work` has one row per kernel where it was counted.
    """

    names: tuple[str, ...]
    shapes: I64
    name: I64
    op: I64
    step: I64
    shape: I64
    time_ps: U64
    work: OpColumns | None = None

    def __len__(self) -> int:
        return len(self.op)


def distinct_shapes(shapes: Sequence[Sequence[int]] | I64) -> dict[str, I64]:
    """The columns `shapes`, of which the first is unknown, and `shape` of kernels with these sizes
    along each axis."""
    try:
        rows = np.array(shapes, np.int64).reshape(-1, SHAPE_AXES)
    except OverflowError:  # of a damaged file: such sizes are unknown
        known = [[size if abs(size) < _IMPOSSIBLE else 0 for size in shape] for shape in shapes]
        rows = np.array(known, np.int64)
    place = np.zeros(len(rows), np.int64)
    for axis in rows.T:  # one after the other: sorting whole rows takes long
        _, at = np.unique(axis, return_inverse=True)
        _, place = np.unique(place * (len(rows) + 1) + at, return_inverse=True)
    _, first = np.unique(place, return_index=True)
    return {
        "shapes": np.concatenate([np.zeros((1, SHAPE_AXES), np.int64), rows[first]]),
        "shape": place + 1,
    }

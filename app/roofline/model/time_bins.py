"""A capture in slices of time: what each core did in each, and which ops ran in it.

The importers that see events in time make at most `MOST_BINS` slices beside their other sums. An
event that crosses an edge is cut there: its time divides exactly, and its occurrence, and with it
its work, in proportion to its time. Definitions: `docs/timeline.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F32, F64, I8, I32, I64
from roofline.model.plain_data import Aligned

MOST_BINS = 400

WORK, CONTAINER, OTHER = range(3)
"""The kind of an op's own time in a bin: work; a container's, whose cost is not known; no work."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinTimes:
    """How the time of each core divides in each bin, in ps; columns have shape (cores, bins).

    The parts are those of `CoreTimes`: together with `work_ps` they add up to the core's time in
    the bin. A core has no time before its first event and after its last. `host_wait_ps` is the
    part of launch gaps and idle time that the file shows to be the host's (`CoreTimes`).
    """

    work_ps: F64
    infeed_outfeed_ps: F64
    host_ps: F64
    exposed_ps: Mapping[MemoryLevel | None, F64]
    launch_gaps_ps: F64
    idle_ps: F64
    host_wait_ps: F64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinOps(Aligned):
    """One row per (bin, op, kind), in order of the bin: what ran, summed over cores.

    `time_ps` is the time of its occurrences in the bin, `own_ps` the part of it that the op owns
    (see `WorkTimes`), `calls` its occurrences, of which a cut one is a fraction. `op` is -1 for
    events that no op of the table stands for.
    """

    bin: I32
    op: I32
    kind: I8
    time_ps: F32
    own_ps: F32
    calls: F32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimeBins:
    """The bins of a capture; times are in ps since its begin, which is the first edge.

    Bin k is from edge k to edge k+1. Steps are those of one core, so that their edges are edges of
    bins; both columns are empty where the steps do not divide the capture.
    """

    edges_ps: I64
    step_begin_ps: I64
    step_end_ps: I64
    times: BinTimes
    ops: BinOps

    def __len__(self) -> int:
        return max(len(self.edges_ps) - 1, 0)

    def around(self, begin_ps: float, end_ps: float) -> tuple[int, int]:
        """The bins from the first that holds `begin_ps` to before the one after `end_ps`.

        A range is widened to whole bins, and has one at least. A picosecond beyond an edge is on
        it: times come as floats of other units.
        """
        first = int(np.searchsorted(self.edges_ps, begin_ps + 1, side="right")) - 1
        last = int(np.searchsorted(self.edges_ps, end_ps - 1, side="left"))
        first = min(max(first, 0), len(self) - 1)
        return first, min(max(last, first + 1), len(self))

"""Barriers of a TensorCore: time in which it waited for other cores before a collective.

The runtime marks them on a line of its own, on the host's clock, which differs from the device's by
up to a fifth of a second: only their lengths are used. By the op lines this time is idle.
"""

from collections.abc import Sequence

import numpy as np

from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.planes import OP_LINES, Plane

_RUNTIME_LINE = "XLA TraceMe"
_BARRIER = "barrier-cores"


def barrier_ps(plane: Plane) -> float:
    """Length of all barriers that began after the core's first op, in ps; NaN without the line."""
    line = _first_with_events(plane, (_RUNTIME_LINE,))
    if line is None:
        return float("nan")
    if _BARRIER not in plane.event_names:
        return 0.0
    is_barrier = np.array([name == _BARRIER for name in (*plane.event_names, "")], np.bool_)
    first, total = _first_op_ps(plane), 0
    for events in plane.chunks(line):
        chosen = is_barrier[events.meta] & (events.begin_ps >= first)
        total += int(events.duration_ps[chosen].sum(dtype=np.uint64))
    return float(total)


def _first_op_ps(plane: Plane) -> np.uint64:
    """Begin of the first op on the host's clock."""
    line = _first_with_events(plane, OP_LINES)
    if line is None:
        return np.uint64(0)
    return np.uint64(next(plane.chunks(line, chunk_events=1)).begin_ps[0])


def _first_with_events(plane: Plane, names: Sequence[str]) -> Line | None:
    return next((one for one in plane.lines if one.name in names and one.event_count), None)

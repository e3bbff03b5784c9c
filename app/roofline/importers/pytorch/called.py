"""The messages of collectives, by the calls around their launches, where kernels do not state it.

In this order: `record_param_comms` with its arguments, the operator around the launch
(`c10d::_allgather_base_`) or one around that, and torch's annotation (`nccl:all_gather`).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.attribution import Attribution
from roofline.importers.pytorch.collectives import called_collective_of
from roofline.importers.pytorch.trace import Columns, Trace
from roofline.importers.shared.collectives import UNKNOWN_KIND, Collective

I64 = NDArray[np.int64]

# c10d's operator lies around `record_param_comms`, which lies around the launch.
_LEVELS = 4


def settle_collectives(trace: Trace, found: Attribution) -> None:
    """Fill in kinds, payloads and groups of the trace's collectives, in place."""
    places = [at for at, one in trace.collectives.items() if math.isnan(one.payload_bytes)]
    if not places:
        return
    at = np.array(places, np.int64)
    told = (
        _around(trace.stated, trace.calls, found, at),
        _of_operators(trace, found, at),
        _around(trace.called, trace.calls, found, at),
    )
    for place, *calls in zip(places, *told, strict=True):
        trace.collectives[place] = _merged([*calls, trace.collectives[place]])


def _merged(told: Sequence[Collective | None]) -> Collective:
    """The first known value of each field; the kernel itself comes last."""
    known = [one for one in told if one is not None]
    return Collective(
        next((one.kind for one in known if one.kind != UNKNOWN_KIND), UNKNOWN_KIND),
        next((one.payload_bytes for one in known if not math.isnan(one.payload_bytes)), math.nan),
        next((one.group_size for one in known if one.group_size), 0),
    )


def _around(
    spans: Columns, calls: Sequence[Collective], found: Attribution, at: I64
) -> list[Collective | None]:
    """The span around each event's launch on its thread. Spans of one kind do not overlap."""
    if not len(spans):
        return [None] * len(at)
    threads, begin = spans["thread"].astype(np.int64), spans["begin"]
    inside = np.full(len(at), -1, np.int64)
    for thread in np.unique(found.thread[at]).tolist():
        mine = np.flatnonzero(threads == thread)
        mine = mine[np.argsort(begin[mine], kind="stable")]
        asked = np.flatnonzero((found.thread[at] == thread) & found.has_launch[at])
        launched = found.launched_ns[at[asked]]
        last = np.searchsorted(begin[mine], launched, side="right") - 1
        asked, span = asked[last >= 0], mine[last[last >= 0]]
        holds = launched[last >= 0] <= begin[span] + spans["duration"][span]
        inside[asked[holds]] = span[holds]
    moved = np.append(spans["moved"], -1)[inside].tolist()
    return [calls[one] if one >= 0 else None for one in moved]


def _of_operators(trace: Trace, found: Attribution, at: I64) -> list[Collective | None]:
    """The message of the innermost operator around each launch that is a collective."""
    calls = [called_collective_of(one) for one in trace.signatures]
    moves = np.array([*(one is not None for one in calls), False], np.bool_)
    signatures = np.append(trace.operators["signature"].astype(np.int64), -1)
    parents = np.append(found.parent.astype(np.int64), -1)
    operator, chosen = found.operator[at].astype(np.int64), np.full(len(at), -1, np.int64)
    for _ in range(_LEVELS):
        signature = signatures[operator]
        chosen = np.where((chosen < 0) & moves[signature], signature, chosen)
        operator = parents[operator]
    return [calls[one] if one >= 0 else None for one in chosen.tolist()]

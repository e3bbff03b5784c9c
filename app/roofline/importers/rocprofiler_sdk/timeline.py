"""Where the time of each agent went: kernels, copies over links, gaps and idle time."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from roofline.importers.rocprofiler_sdk.document import Copy, Dispatch, Process
from roofline.importers.shared.events import NO_LAUNCH
from roofline.importers.shared.kernel_names import (
    NAN,
    Collective,
    is_collective,
    kind_by_kernel,
)
from roofline.importers.shared.stream_timeline import (
    COMMUNICATION,
    HOST_COPY,
    WORK,
    DeviceEvents,
    Link,
    no_steps,
    timeline_of,
    with_calls,
)
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64
from roofline.model.profile import OpTable
from roofline.model.timeline import Timeline
from roofline.model.units import PS_PER_NS

_HOST = {"HOST_TO_DEVICE": "in", "DEVICE_TO_HOST": "out"}
Event = Dispatch | Copy
Move = tuple[Collective, Link]


def agents_timeline(processes: Sequence[Process], op_of: I64, ops: OpTable) -> Timeline | None:
    """The timeline of all agents; `op_of` is the op of each event, process by process.

    `None` where an event has no time: its agent's time cannot be divided.
    """
    events = [(k, event) for k, process in enumerate(processes) for event in process.events]
    if not events or any(event.times is None for _, event in events):
        return None
    places: dict[tuple[int, int], list[int]] = {}
    for at, (process, event) in enumerate(events):
        places.setdefault((process, event.agent), []).append(at)
    rows = np.arange(len(ops))
    devices = [
        _device(number, [events[at][1] for at in mine], op_of[mine], rows)
        for number, mine in enumerate(places.values())
    ]
    timeline = timeline_of(devices, 0, PS_PER_NS, lambda launched: launched)
    return replace(timeline, work=with_calls(timeline.work, ops))


def _device(number: int, events: Sequence[Event], op: I64, rows: I64) -> DeviceEvents:
    moves = [_move(event) for event in events]
    distinct = list(dict.fromkeys(move for move in moves if move is not None))
    place = {move: at for at, move in enumerate(distinct)}
    spans = np.array([event.times for event in events], np.int64)
    launched = [_launched_ns(event) for event in events]
    return DeviceEvents(
        name=f"GPU {number}",
        begin=spans[:, 0],
        end=spans[:, 1],
        kind=np.array([_kind(move) for move in moves], np.int8),
        op=op,
        rows=rows,
        transfer=np.array([-1 if move is None else place[move] for move in moves], np.int64),
        moved=[collective for collective, _ in distinct],
        links=[link for _, link in distinct],
        steps=no_steps(),
        launch=np.array(launched, np.int64) if min(launched) != NO_LAUNCH else None,
    )


def _move(event: Event) -> Move | None:
    """What an event moves over a link, and over which; `None` for work."""
    if isinstance(event, Dispatch):
        return _collective(event.kernel)
    direction = next((kind for words, kind in _HOST.items() if words in event.name), "")
    if not direction:
        return None
    return Collective(direction, NAN if event.size is None else event.size), MemoryLevel.HOST


@lru_cache(maxsize=4096)
def _collective(kernel: str) -> Move | None:
    return (Collective(kind_by_kernel(kernel)), None) if is_collective(kernel) else None


def _kind(move: Move | None) -> int:
    if move is None:
        return WORK
    return HOST_COPY if move[1] is MemoryLevel.HOST else COMMUNICATION


def _launched_ns(event: Event) -> int:
    known = event.launched_ns if isinstance(event, Dispatch) else None
    return NO_LAUNCH if known is None else known

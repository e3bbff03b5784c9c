"""Where the time of each GPU of a capture went: its streams, and the steps of its `Steps` line.

The host launched a kernel in the event that shares a correlation id with it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.shared.events import NO_LAUNCH
from roofline.importers.shared.op_tables import OpLabels
from roofline.importers.shared.stream_timeline import (
    COMMUNICATION,
    DeviceEvents,
    Steps,
    no_steps,
    timeline_of,
)
from roofline.importers.shared.sweep import Windows
from roofline.importers.xspace.gpu_transfers import Moves
from roofline.importers.xspace.kernels import Kernels
from roofline.importers.xspace.launch_forest import CORRELATION
from roofline.importers.xspace.planes import STEPS_LINES, Plane
from roofline.model.op_columns import I64, U64, Bools
from roofline.model.timeline import Timeline

_MOST_FLAGS = 1 << 26


class HostLaunches:
    """The launches on all threads of one host. Times count from `origin`, in ps."""

    def __init__(self, hosts: Sequence[Plane], origin: U64) -> None:
        self._hosts = [plane for plane in hosts if plane.has_stat(CORRELATION)]
        self._origin = origin

    @property
    def are_there(self) -> bool:
        """True where the file has any."""
        return bool(self._hosts)

    def of(self, correlation: I64) -> I64:
        """When kernels with these ids were launched; `NO_LAUNCH` where that is not in the file.

        Reads the threads each time: ask once for many.
        """
        wanted = correlation.view(np.uint64)
        launched = np.full(len(correlation), NO_LAUNCH)
        if not len(wanted):
            return launched
        ids = np.unique(wanted)
        first = np.full(len(ids), NO_LAUNCH)
        is_wanted = _Wanted(ids)
        for correlated, begin in self._launches(is_wanted):
            np.minimum.at(first, np.searchsorted(ids, correlated), begin)
        known = wanted > 0
        launched[known] = first[np.searchsorted(ids, wanted[known])]
        return launched

    def _launches(self, is_wanted: "_Wanted") -> Iterator[tuple[U64, I64]]:
        """Ids and begins of the wanted launches."""
        for plane in self._hosts:
            for line in plane.lines:
                if not line.event_count:
                    continue
                for events in plane.chunks(line, (CORRELATION,)):
                    column = events.stats.get(CORRELATION)
                    if column is not None:
                        ids = column.int_or_uint()
                        at = is_wanted(ids)
                        yield ids[at], (events.begin_ps[at] - self._origin).view(np.int64)


class _Wanted:
    """Which of many ids are among some: with a flag for each, while they are not too large."""

    def __init__(self, ids: U64) -> None:
        self._ids, self._flags = ids, np.zeros(0, np.bool_)
        if int(ids[-1]) < _MOST_FLAGS:
            self._flags = np.zeros(int(ids[-1]) + 2, np.bool_)
            self._flags[ids] = True

    def __call__(self, ids: U64) -> I64:
        """The places of the wanted ones."""
        if len(self._flags):
            # All that are larger share the last flag, which is not set.
            return np.flatnonzero(self._flags[np.minimum(ids, len(self._flags) - 1)])
        return np.flatnonzero(np.isin(ids, self._ids))


RowsOf = Callable[[Sequence[OpLabels]], I64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streams:
    """The events of one GPU's streams; `kept` are those among its kernels."""

    name: str
    kernels: Kernels
    moves: Moves
    kept: Bools | slice
    steps: Mapping[str, tuple[int, int]]


def gpu_timeline(
    planes: Sequence[Plane], gpus: Sequence[Kernels], rows_of: RowsOf, hosts: Sequence[Plane]
) -> Timeline | None:
    """The timeline of the GPUs that ran something; `None` without one, and in comparison mode.

    `rows_of` numbers the ops of labels in the table to come, `hosts` are planes with launches.
    """
    streams = [_streams(plane, gpu) for plane, gpu in zip(planes, gpus, strict=True)]
    ran = [stream for stream in streams if stream is not None]
    if not ran:
        return None
    # Times count from the first kernel of the first GPU.
    origin = ran[0].kernels.begin_ps[ran[0].kept][:1]
    numbers = _numbers_of_steps(ran)
    launches = HostLaunches(hosts, origin)
    devices = [
        _events(gpu, numbers, origin, rows_of, has_launches=launches.are_there) for gpu in ran
    ]
    return timeline_of(devices, len(numbers), tick_ps=1, launched=launches.of)


def _streams(plane: Plane, gpu: Kernels) -> _Streams | None:
    moves = gpu.moves
    if moves is None:
        return None
    on_stream = moves.kind >= 0
    if not on_stream.any():
        return None
    # A slice copies nothing.
    every = slice(None) if on_stream.all() else on_stream
    return _Streams(
        name=plane.name, kernels=gpu, moves=moves, kept=every, steps=_marked_steps(plane)
    )


def _events(
    gpu: _Streams, numbers: Mapping[str, int], origin: U64, rows_of: RowsOf, *, has_launches: bool
) -> DeviceEvents:
    """The events of one GPU, in ps since `origin`."""
    kernels, moves, on_stream = gpu.kernels, gpu.moves, gpu.kept
    begin = (kernels.begin_ps[on_stream] - origin).view(np.int64)
    kind = moves.kind[on_stream]
    return DeviceEvents(
        name=gpu.name,
        begin=begin,
        end=begin + kernels.duration_ps[on_stream].view(np.int64),
        kind=kind,
        op=kernels.op[on_stream],
        rows=rows_of(kernels.labels),
        transfer=moves.transfer[on_stream],
        moved=moves.moved,
        links=moves.links,
        steps=_steps(gpu, numbers, origin),
        # The bytes of a collective are its instruction's, which may run several kernels.
        starts=kernels.starts[on_stream] | (kind != COMMUNICATION),
        launch=kernels.correlation[on_stream].view(np.int64) if has_launches else None,
    )


# -------------------------------------------------------------------------------------------- steps


def _marked_steps(plane: Plane) -> Mapping[str, tuple[int, int]]:
    """Begin and end of each step on the plane's own line of them, in order; none where two share
    time or a name, for then they do not divide it."""
    line = next((line for line in plane.lines if line.name == STEPS_LINES[0]), None)
    if line is None or not line.event_count:
        return {}
    events = plane.scan(line)
    order = np.argsort(events.begin_ps, kind="stable")
    begin, end = events.begin_ps[order], events.end_ps[order]
    names = [*plane.event_names, ""]
    labels = [names[meta] for meta in events.meta[order].tolist()]
    if len(set(labels)) < len(labels) or (begin[1:] < end[:-1]).any():
        return {}
    return dict(zip(labels, zip(begin.tolist(), end.tolist(), strict=True), strict=True))


def _numbers_of_steps(gpus: Sequence[_Streams]) -> Mapping[str, int]:
    """Number of each step by its name, in order of its first begin on any GPU."""
    first: dict[str, int] = {}
    for gpu in gpus:
        for name, (begin, _) in gpu.steps.items():
            first[name] = min(begin, first.get(name, begin))
    names = sorted(first, key=lambda name: (first[name], name))
    return {name: number for number, name in enumerate(names)}


def _steps(gpu: _Streams, numbers: Mapping[str, int], origin: U64) -> Steps:
    if not gpu.steps:
        return no_steps()
    begin, end = np.array(list(gpu.steps.values()), np.uint64).T
    return Steps(
        windows=Windows(begin=(begin - origin).view(np.int64), end=(end - origin).view(np.int64)),
        number=np.array([numbers[name] for name in gpu.steps], np.int64),
    )

"""Where the time of each GPU of a capture went: its streams, and the steps of its `Steps` line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
from roofline.importers.xspace.planes import STEPS_LINES, Plane
from roofline.model.timeline import Timeline

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]
RowsOf = Callable[[Sequence[OpLabels]], I64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streams:
    """The events of one GPU's streams; `kept` are those among its kernels."""

    name: str
    kernels: Kernels
    moves: Moves
    kept: Bools
    steps: Mapping[str, tuple[int, int]]


def gpu_timeline(
    planes: Sequence[Plane], gpus: Sequence[Kernels], rows_of: RowsOf
) -> Timeline | None:
    """The timeline of the GPUs that ran something; `None` without one, and in comparison mode.

    `rows_of` numbers the ops of labels in the table to come.
    """
    streams = [_streams(plane, gpu) for plane, gpu in zip(planes, gpus, strict=True)]
    ran = [one for one in streams if one is not None]
    return timeline_of(_events(ran, rows_of)) if ran else None


def _streams(plane: Plane, gpu: Kernels) -> _Streams | None:
    moves = gpu.moves
    if moves is None or not (moves.kind >= 0).any():
        return None
    return _Streams(
        name=plane.name, kernels=gpu, moves=moves, kept=moves.kind >= 0, steps=_marked_steps(plane)
    )


def _events(gpus: Sequence[_Streams], rows_of: RowsOf) -> DeviceEvents:
    """The events of all GPUs; times count from the first kernel of the first GPU, in ps."""
    origin = gpus[0].kernels.begin_ps[gpus[0].kept][:1]
    numbers = _numbers_of_steps(gpus)
    begin = [(one.kernels.begin_ps[one.kept] - origin).view(np.int64) for one in gpus]
    lasted = [one.kernels.duration_ps[one.kept].view(np.int64) for one in gpus]
    kind = np.concatenate([one.moves.kind[one.kept] for one in gpus]).astype(np.int64)
    starts = np.concatenate([one.kernels.starts[one.kept] for one in gpus])
    before = np.cumsum([0, *(len(one.moves.moved) for one in gpus)]).tolist()
    return DeviceEvents(
        begin=np.concatenate(begin),
        end=np.concatenate([b + d for b, d in zip(begin, lasted, strict=True)]),
        device=np.repeat(np.arange(len(gpus)), [len(part) for part in begin]),
        kind=kind,
        row=np.concatenate([_rows(one, rows_of) for one in gpus]),
        transfer=np.concatenate(
            [_moved_from(one, first) for one, first in zip(gpus, before[:-1], strict=True)]
        ),
        # The bytes of a collective are its instruction's, which may run several kernels.
        starts=starts | (kind != COMMUNICATION),
        moved=[moved for one in gpus for moved in one.moves.moved],
        links=[link for one in gpus for link in one.moves.links],
        devices=tuple(one.name for one in gpus),
        steps=[_steps(one, numbers, origin) for one in gpus],
        n_steps=len(numbers),
        tick_ps=1,
        launched=None,
    )


def _rows(gpu: _Streams, rows_of: RowsOf) -> I64:
    rows: I64 = np.append(rows_of(gpu.kernels.labels), -1)[gpu.kernels.op[gpu.kept]]
    return rows


def _moved_from(gpu: _Streams, first: int) -> I64:
    """What events move, numbered from `first`."""
    transfer = gpu.moves.transfer[gpu.kept].astype(np.int64)
    return np.where(transfer >= 0, transfer + first, -1)


# -------------------------------------------------------------------------------------------- steps


def _marked_steps(plane: Plane) -> Mapping[str, tuple[int, int]]:
    """Begin and end of each step on the plane's own line of them, in order; none where two share
    time or a name, for then they do not divide it."""
    line = next((one for one in plane.lines if one.name == STEPS_LINES[0]), None)
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

"""Where the time of each GPU of a Kineto trace went: a sweep over its streams, and its transfers.

Kernels, copies on the device and memsets are work; collectives and copies to and from the host are
exposed while no work runs. A step begins with the first work that was launched in it, for the host
may run ahead of the device.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.collectives import Collective
from roofline.importers.shared.join_timelines import joined_timeline
from roofline.importers.shared.sweep import Sweep, Windows, split_gaps, time_inside
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, OpColumns
from roofline.model.timeline import (
    LAUNCH_GAP_PS,
    WHOLE_CAPTURE,
    CoreTimes,
    Timeline,
    TransferOccurrences,
    Transfers,
    WorkTimes,
)
from roofline.model.units import PS_PER_NS

I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

WORK, COMMUNICATION, HOST_COPY = range(3)
_LAUNCH_GAP_NS = LAUNCH_GAP_PS // PS_PER_NS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceEvents:
    """The events of all devices of a trace, as columns; times in ns.

    `kind` is the class of an event, `row` its op, `step` the step in which it was launched (-1:
    none), `transfer` the number of what it moves (-1: work), in `moved`.
    """

    begin: I64
    end: I64
    device: I64
    kind: I64
    row: I64
    step: I64
    transfer: I64
    moved: Sequence[Collective]
    link: MemoryLevel | None
    n_devices: int


def timeline_of(events: DeviceEvents) -> Timeline:
    """The timeline of one trace; ops are its rows."""
    # Steps that launched work, numbered from 0.
    works = (events.kind == WORK) & (events.step >= 0)
    found, place = np.unique(events.step[works], return_inverse=True)
    step = np.full(len(events.step), -1)
    step[works] = place
    n_steps = len(found)
    sweeps = [_device(events, number, step, n_steps) for number in range(events.n_devices)]
    exposed = np.zeros(len(events.begin))
    for one in sweeps:
        exposed[one.at] = one.owned
    return Timeline(
        cores=tuple(f"GPU {number}" for number in range(events.n_devices)),
        steps=n_steps,
        times=_times(events, sweeps),
        work=_work(events, sweeps),
        transfers=_transfers(events, exposed),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Device:
    """One device: its events, what each owns over the capture, and per window."""

    number: int
    at: I64
    sweep: Sweep
    windows: Windows
    owned: F64


def _device(events: DeviceEvents, number: int, step: I64, n_steps: int) -> _Device:
    at = np.flatnonzero(events.device == number)
    sweep = Sweep(events.begin[at], events.end[at], events.kind[at])
    windows = _windows(events.begin[at], step[at], n_steps, sweep.hull[1])
    return _Device(number=number, at=at, sweep=sweep, windows=windows, owned=sweep.exclusive())


def _windows(begin: I64, step: I64, n_steps: int, last: int) -> Windows:
    """From the first work launched in a step to that of the next; without work it is empty."""
    first = np.full(n_steps, last)
    np.minimum.at(first, step[step >= 0], begin[step >= 0])
    first = np.minimum.accumulate(first[::-1])[::-1]
    return Windows(begin=first, end=np.append(first[1:], last)[:n_steps])


def _times(events: DeviceEvents, sweeps: Sequence[_Device]) -> CoreTimes:
    rows = [row for one in sweeps for row in _rows_of(events, one)]
    columns = {
        name: np.array([row[name] for row in rows], np.float64) * PS_PER_NS
        for name in ("total", "exposed", "host", "launch", "idle")
    }
    has_links = bool((events.kind == COMMUNICATION).any())
    return CoreTimes(
        core=np.array([row["core"] for row in rows], np.int64),
        scope=np.array([row["scope"] for row in rows], np.int64),
        total_ps=columns["total"],
        infeed_outfeed_ps=np.zeros(len(rows)),
        host_ps=columns["host"],
        exposed_ps={events.link: columns["exposed"]} if has_links else {},
        launch_gaps_ps=columns["launch"],
        idle_ps=columns["idle"],
    )


def _rows_of(events: DeviceEvents, one: _Device) -> list[dict[str, float]]:
    """The capture, then each step of one device, in ns."""
    kind = events.kind[one.at]
    short, long = split_gaps(one.sweep.gaps(), _LAUNCH_GAP_NS)
    rows = [_row(one.number, WHOLE_CAPTURE, kind, one.owned, _length(short), _length(long))]
    interval, window, owned = one.sweep.exclusive_in(one.windows)
    launch, idle = time_inside(*short, one.windows), time_inside(*long, one.windows)
    for step in range(len(one.windows)):
        mine = window == step
        gaps = (float(launch[step]), float(idle[step]))
        rows.append(_row(one.number, step, kind[interval[mine]], owned[mine], *gaps))
    return rows


def _row(
    core: int, scope: int, kind: I64, owned: F64, launch: float, idle: float
) -> dict[str, float]:
    by_kind = [float(owned[kind == one].sum()) for one in (WORK, COMMUNICATION, HOST_COPY)]
    return {
        "core": core,
        "scope": scope,
        "exposed": by_kind[COMMUNICATION],
        "host": by_kind[HOST_COPY],
        "launch": launch,
        "idle": idle,
        "total": sum(by_kind) + launch + idle,
    }


def _length(spans: tuple[I64, I64]) -> float:
    return float((spans[1] - spans[0]).sum())


def _work(events: DeviceEvents, sweeps: Sequence[_Device]) -> WorkTimes:
    """Owned time by device, scope and op; `calls` are events, to be scaled by the op's calls."""
    parts = []
    for one in sweeps:
        works = events.kind[one.at] == WORK
        row = events.row[one.at]
        capture = np.full(int(works.sum()), WHOLE_CAPTURE)
        parts.append((one.number, capture, row[works], one.owned[works]))
        interval, window, owned = one.sweep.exclusive_in(one.windows)
        kept = works[interval]
        parts.append((one.number, window[kept], row[interval[kept]], owned[kept]))
    core = np.concatenate([np.full(len(row), number) for number, _, row, _ in parts])
    scope = np.concatenate([scope for _, scope, _, _ in parts])
    op = np.concatenate([row for _, _, row, _ in parts])
    time = np.concatenate([time for _, _, _, time in parts])
    n_ops, n_scopes = int(op.max(initial=0)) + 1, int(scope.max(initial=0)) + 2
    keys, at = np.unique((core * n_scopes + scope + 1) * n_ops + op, return_inverse=True)
    total: F64 = np.bincount(at, weights=time, minlength=len(keys)).astype(np.float64)
    calls = np.bincount(at, minlength=len(keys)).astype(np.float64)
    of_core, of_op = np.divmod(keys, n_ops)
    return WorkTimes(
        core=of_core // n_scopes,
        scope=of_core % n_scopes - 1,
        op=of_op,
        time_ps=total * PS_PER_NS,
        calls=calls,
        is_work=np.ones(len(keys), np.bool_),
    )


def _transfers(events: DeviceEvents, exposed: F64) -> Transfers:
    """One row per op, kind and group; all occurrences on a device are one row each."""
    at = np.flatnonzero(events.transfer >= 0)
    kinds: dict[tuple[int, str, int], int] = {}
    numbers = []
    for row, moved in zip(events.row[at].tolist(), events.transfer[at].tolist(), strict=True):
        one = events.moved[moved]
        numbers.append(kinds.setdefault((row, one.kind, one.group_size), len(kinds)))
    wire = np.array([one.wire_bytes for one in events.moved], np.float64)[events.transfer[at]]
    payload = np.array([one.payload_bytes for one in events.moved], np.float64)[events.transfer[at]]
    is_copy = [kind in {"in", "out"} for _, kind, _ in kinds]
    return Transfers(
        op=np.array([row for row, _, _ in kinds], np.int64),
        done=np.full(len(kinds), -1),
        kind=tuple(kind for _, kind, _ in kinds),
        link=tuple(MemoryLevel.HOST if copy else events.link for copy in is_copy),
        group_size=np.array([size for _, _, size in kinds], np.int64),
        unpaired=np.zeros(len(kinds), np.bool_),
        occurrences=_summed(
            TransferOccurrences(
                transfer=np.array(numbers, np.int64),
                core=events.device[at],
                count=np.ones(len(at)),
                wire_bytes=wire,
                payload_bytes=payload,
                interval_ps=(events.end - events.begin)[at].astype(np.float64) * PS_PER_NS,
                wait_ps=np.full(len(at), np.nan),
                exposed_ps=exposed[at] * PS_PER_NS,
            )
        ),
    )


def _summed(seen: TransferOccurrences) -> TransferOccurrences:
    """Occurrences of one kind on one device as one row; those of unknown size as another."""
    key = np.stack(
        [seen.transfer, seen.core, np.isnan(seen.wire_bytes), np.isnan(seen.payload_bytes)]
    )
    keys, at = np.unique(key, axis=1, return_inverse=True)
    at = at.reshape(-1)

    def total(values: F64) -> F64:
        sums = np.zeros(keys.shape[1])
        np.add.at(sums, at, values)
        return sums

    return TransferOccurrences(
        transfer=keys[0].astype(np.int64),
        core=keys[1].astype(np.int64),
        count=total(seen.count),
        wire_bytes=total(seen.wire_bytes),
        payload_bytes=total(seen.payload_bytes),
        interval_ps=total(seen.interval_ps),
        wait_ps=total(seen.wait_ps),
        exposed_ps=total(seen.exposed_ps),
    )


def joined(
    timelines: Sequence[Timeline], hosts: Sequence[str], op_of_row: I64, ops: OpColumns
) -> Timeline | None:
    """The timelines of all traces as one, with ops of the table in place of rows."""
    parts = [(one, host, op_of_row) for one, host in zip(timelines, hosts, strict=True)]
    found = joined_timeline(parts if len(parts) > 1 else [(one, "", op) for one, _, op in parts])
    return None if found is None else replace(found, work=_with_calls(found.work, ops))


def _with_calls(work: WorkTimes, ops: OpColumns) -> WorkTimes:
    """Events to calls: an op runs several kernels at each call."""
    whole = work.scope == WHOLE_CAPTURE
    events = np.zeros(len(ops))
    np.add.at(events, work.op[whole], work.calls[whole])
    per_event = ops.occurrences / np.maximum(events, 1)
    return replace(work, calls=work.calls * per_event[work.op])

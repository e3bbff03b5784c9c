"""Where the time of each GPU went: a sweep over its streams, and its transfers.

Kernels, copies on the device and memsets are work; collectives, copies to and from the host, infeed
and outfeed are exposed while no work runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.collectives import Collective
from roofline.importers.shared.idle_time import Stretches, awaited_launches, in_rows
from roofline.importers.shared.join_timelines import joined_rows
from roofline.importers.shared.sweep import Sweep, Windows, split_gaps
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, OpColumns
from roofline.model.timeline import (
    LAUNCH_GAP_PS,
    WHOLE_CAPTURE,
    CoreTimes,
    IdleTimes,
    Timeline,
    TransferOccurrences,
    Transfers,
    WorkTimes,
)

I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
Link = MemoryLevel | None

WORK, COMMUNICATION, HOST_COPY, INFEED_OUTFEED = range(4)
_KINDS = (WORK, COMMUNICATION, HOST_COPY, INFEED_OUTFEED)
# Priority in the sweep: copies of the host, infeed and outfeed share an instant equally.
_PRIORITY = np.array([0, 1, 2, 2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of one device: their windows, and the number of each, from 0 in the profile."""

    windows: Windows
    number: I64


def no_steps() -> Steps:
    """The steps of a device that ran none."""
    none = np.zeros(0, np.int64)
    return Steps(windows=Windows(begin=none, end=none), number=none)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceEvents:
    """The events of all devices of a capture, as columns; times count ticks of `tick_ps`.

    `kind` is the class of an event, `row` its op (-1: no op), `transfer` the number of what it
    moves (-1: nothing) in `moved`, over the link at the same place of `links`. `starts` is false
    for a further kernel of the same transfer, whose bytes its first kernel has. `devices` are names
    of the devices, `steps` the steps of each. `launched` is when the host launched an event, on the
    same clock (`NO_LAUNCH`: not in the file), `None` where the file has no launches.
    """

    begin: I64
    end: I64
    device: I64
    kind: I64
    row: I64
    transfer: I64
    starts: Bools
    moved: Sequence[Collective]
    links: Sequence[Link]
    devices: tuple[str, ...]
    steps: Sequence[Steps]
    n_steps: int
    tick_ps: int
    launched: I64 | None


def timeline_of(events: DeviceEvents) -> Timeline:
    """The timeline of one capture; ops are its rows."""
    sweeps = [_device(events, number) for number in range(len(events.devices))]
    exposed = np.zeros(len(events.begin))
    for one in sweeps:
        exposed[one.at] = one.owned
    return Timeline(
        cores=events.devices,
        steps=events.n_steps,
        times=_times(events, sweeps),
        work=_work(events, sweeps),
        transfers=_transfers(events, exposed),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Device:
    """One device: its events, what each owns over the capture, and in each step: event, window,
    time."""

    number: int
    at: I64
    sweep: Sweep
    steps: Steps
    owned: F64
    in_steps: tuple[I64, I64, F64]


def _device(events: DeviceEvents, number: int) -> _Device:
    at = np.flatnonzero(events.device == number)
    sweep = Sweep(events.begin[at], events.end[at], _PRIORITY[events.kind[at]])
    steps = events.steps[number]
    return _Device(
        number=number,
        at=at,
        sweep=sweep,
        steps=steps,
        owned=sweep.exclusive(),
        in_steps=sweep.exclusive_in(steps.windows),
    )


# -------------------------------------------------------------------------------------------- times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """One device in its scopes, one row each, in ticks: owned time by kind, that of communication
    by link, launch gaps and idle time, and what is known of idle time."""

    core: I64
    scope: I64
    by_kind: F64
    by_link: F64
    gaps: F64
    idle: IdleTimes


def _times(events: DeviceEvents, sweeps: Sequence[_Device]) -> CoreTimes:
    """The rows of all devices. Communication is divided by link."""
    links, link_of_event = _links_of_communication(events)
    rows = [_rows_of(events, one, link_of_event, len(links)) for one in sweeps]
    by_kind = np.concatenate([one.by_kind for one in rows]) * events.tick_ps
    by_link = np.concatenate([one.by_link for one in rows]) * events.tick_ps
    gaps = np.concatenate([one.gaps for one in rows]) * events.tick_ps
    return CoreTimes(
        core=np.concatenate([one.core for one in rows]),
        scope=np.concatenate([one.scope for one in rows]),
        total_ps=by_kind.sum(axis=1) + gaps.sum(axis=1),
        infeed_outfeed_ps=by_kind[:, INFEED_OUTFEED],
        host_ps=by_kind[:, HOST_COPY],
        exposed_ps={link: by_link[:, at] for at, link in enumerate(links)},
        launch_gaps_ps=gaps[:, 0],
        idle_ps=gaps[:, 1],
        idle=joined_rows(IdleTimes, [one.idle for one in rows]),
    )


def _links_of_communication(events: DeviceEvents) -> tuple[list[Link], I64]:
    """Links that collectives use, and the place of each event's link among them (-1: none)."""
    is_used = np.zeros(len(events.links) + 1, np.bool_)
    is_used[events.transfer[events.kind == COMMUNICATION]] = True
    used = [link for link, one in zip(events.links, is_used.tolist(), strict=False) if one]
    links = list(dict.fromkeys(used))
    places = [links.index(link) if link in links else -1 for link in events.links]
    of_event = np.array([*places, -1], np.int64)[events.transfer]
    return links, np.where(events.kind == COMMUNICATION, of_event, -1)


def _rows_of(events: DeviceEvents, one: _Device, link_of_event: I64, n_links: int) -> _Rows:
    """The capture in the first row, then each step of one device."""
    kind, link = events.kind[one.at], link_of_event[one.at] + 1
    windows, n_rows = one.steps.windows, len(one.steps.number) + 1
    short, long = split_gaps(one.sweep.gaps(), LAUNCH_GAP_PS // events.tick_ps)
    gaps = [in_rows(spans, windows) for spans in (short, long)]
    interval, window, owned = one.in_steps
    at = np.concatenate([np.arange(len(kind)), interval])
    row = np.concatenate([np.zeros(len(kind), np.int64), window + 1])
    time = np.concatenate([one.owned, owned])

    def divided(by: I64, width: int) -> F64:
        sums = np.bincount(row * width + by[at], time, n_rows * width)
        return sums.astype(np.float64).reshape(n_rows, width)

    return _Rows(
        core=np.full(n_rows, one.number),
        scope=np.append(WHOLE_CAPTURE, one.steps.number),
        by_kind=divided(kind, len(_KINDS)),
        by_link=divided(link, n_links + 1)[:, 1:],
        gaps=np.stack(gaps, axis=1),
        idle=_idle_of(events, one, long, float(one.owned.sum())),
    )


def _idle_of(events: DeviceEvents, one: _Device, long: tuple[I64, I64], busy: float) -> IdleTimes:
    """What is known of one device's idle stretches, in the capture and in each step."""
    first, last = one.sweep.hull
    idle, windows = Stretches(begin=long[0], end=long[1], first=first, last=last), one.steps.windows
    n_steps = len(one.steps.number)
    waiting = unknown = np.full(n_steps + 1, np.nan)
    if events.launched is not None:
        real = one.at[events.end[one.at] > events.begin[one.at]]
        awaited = awaited_launches(idle, events.begin[real], events.launched[real])
        waiting, unknown = (in_rows(idle.chosen(which), windows) for which in awaited)
    start, start_idle = idle.start(busy)

    def of_capture(time: int) -> F64:
        return np.append(float(time), np.zeros(n_steps)) * events.tick_ps

    return IdleTimes(
        waiting_for_launch_ps=waiting * events.tick_ps,
        unknown_launch_ps=unknown * events.tick_ps,
        barrier_ps=np.full(n_steps + 1, np.nan),
        start_ps=of_capture(start),
        start_idle_ps=of_capture(start_idle),
        longest_ps=of_capture(idle.longest),
    )


# --------------------------------------------------------------------------------------------- work


def _work(events: DeviceEvents, sweeps: Sequence[_Device]) -> WorkTimes:
    """Owned time by device, scope and op; `calls` are events, to be scaled by the op's calls."""
    parts = []
    for one in sweeps:
        works = events.kind[one.at] == WORK
        row = events.row[one.at]
        capture = np.full(int(works.sum()), WHOLE_CAPTURE)
        parts.append((one.number, capture, row[works], one.owned[works]))
        interval, window, owned = one.in_steps
        kept = works[interval]
        scope = one.steps.number[window[kept]]
        parts.append((one.number, scope, row[interval[kept]], owned[kept]))
    core = np.concatenate([np.full(len(row), number) for number, _, row, _ in parts])
    scope = np.concatenate([scope for _, scope, _, _ in parts])
    op = np.concatenate([row for _, _, row, _ in parts])
    time = np.concatenate([time for _, _, _, time in parts])
    n_ops, n_scopes = int(op.max(initial=-1)) + 2, int(scope.max(initial=-1)) + 2
    keys, at = np.unique((core * n_scopes + scope + 1) * n_ops + op + 1, return_inverse=True)
    total: F64 = np.bincount(at, weights=time, minlength=len(keys)).astype(np.float64)
    of_core, of_op = np.divmod(keys, n_ops)
    return WorkTimes(
        core=of_core // n_scopes,
        scope=of_core % n_scopes - 1,
        op=of_op - 1,
        time_ps=total * events.tick_ps,
        calls=np.bincount(at, minlength=len(keys)).astype(np.float64),
        is_work=of_op > 0,
    )


def with_calls(work: WorkTimes, ops: OpColumns) -> WorkTimes:
    """Events to calls: an op may run several kernels at each call. `ops` are those of the table."""
    whole = (work.scope == WHOLE_CAPTURE) & (work.op >= 0)
    events = np.zeros(len(ops) + 1)  # the last is for work without an op
    np.add.at(events, work.op[whole], work.calls[whole])
    per_event = np.append(ops.occurrences, 0) / np.maximum(events, 1)
    return replace(work, calls=work.calls * per_event[work.op])


# ---------------------------------------------------------------------------------------- transfers


def _transfers(events: DeviceEvents, exposed: F64) -> Transfers:
    """One row per op, kind, group and link; all occurrences on a device are one row each."""
    at = np.flatnonzero(events.transfer >= 0)
    moved, starts = events.transfer[at], events.starts[at]
    kinds, number = _kinds_of_transfers(events, events.row[at], moved)
    wire = np.array([one.wire_bytes for one in events.moved], np.float64)[moved]
    payload = np.array([one.payload_bytes for one in events.moved], np.float64)[moved]
    return Transfers(
        op=np.array([row for row, *_ in kinds], np.int64),
        done=np.full(len(kinds), -1),
        kind=tuple(kind for _, kind, _, _ in kinds),
        link=tuple(link for *_, link in kinds),
        group_size=np.array([size for _, _, size, _ in kinds], np.int64),
        unpaired=np.zeros(len(kinds), np.bool_),
        occurrences=_summed(
            TransferOccurrences(
                transfer=number,
                core=events.device[at],
                count=starts.astype(np.float64),
                # An unknown size stays unknown; what its first kernel has counts once.
                wire_bytes=wire * starts,
                payload_bytes=payload * starts,
                interval_ps=(events.end - events.begin)[at].astype(np.float64) * events.tick_ps,
                wait_ps=np.full(len(at), np.nan),
                exposed_ps=exposed[at] * events.tick_ps,
            )
        ),
    )


def _kinds_of_transfers(
    events: DeviceEvents, row: I64, moved: I64
) -> tuple[list[tuple[int, str, int, Link]], I64]:
    """Distinct (op, kind, group size, link) in order of appearance, and the number of each event's.

    The loop is over distinct pairs of op and what it moves.
    """
    width = len(events.moved) + 1
    pairs, first, of_event = np.unique(row * width + moved, return_index=True, return_inverse=True)
    kinds: dict[tuple[int, str, int, Link], int] = {}
    numbers = np.zeros(len(pairs), np.int64)
    for place in np.argsort(first).tolist():
        op, number = divmod(int(pairs[place]), width)
        one = events.moved[number]
        key = (op, one.kind, one.group_size, events.links[number])
        numbers[place] = kinds.setdefault(key, len(kinds))
    return list(kinds), numbers[of_event]


def _summed(seen: TransferOccurrences) -> TransferOccurrences:
    """Occurrences of one kind on one device as one row; those of unknown size as another."""
    n_cores = int(seen.core.max(initial=0)) + 1
    place = seen.transfer * n_cores + seen.core
    key = (place * 2 + np.isnan(seen.wire_bytes)) * 2 + np.isnan(seen.payload_bytes)
    keys, at = np.unique(key, return_inverse=True)

    def total(values: F64) -> F64:
        sums = np.zeros(len(keys))
        np.add.at(sums, at, values)
        return sums

    return TransferOccurrences(
        transfer=keys // 4 // n_cores,
        core=keys // 4 % n_cores,
        count=total(seen.count),
        wire_bytes=total(seen.wire_bytes),
        payload_bytes=total(seen.payload_bytes),
        interval_ps=total(seen.interval_ps),
        wait_ps=total(seen.wait_ps),
        exposed_ps=total(seen.exposed_ps),
    )

"""Where the time of each GPU went: a sweep over its streams, and its transfers.

Kernels, copies on the device and memsets are work; collectives, copies to and from the host, infeed
and outfeed are exposed while no work runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from roofline.importers.shared.events import (
    NO_LAUNCH,
    Stretches,
    enders,
    in_order,
    in_rows,
)
from roofline.importers.shared.join_timelines import with_least
from roofline.importers.shared.kernel_names import Collective
from roofline.importers.shared.launch_times import PIECE, LaunchPieces, joined_launches
from roofline.importers.shared.sweep import Swept, Windows, split_gaps, sweep
from roofline.importers.shared.time_bins import (
    COMMUNICATES,
    COPIES,
    DOES_WORK,
    FEEDS,
    CoreSums,
    bins_of,
    even_edges,
    gaps_up_to,
    most_bins,
    time_up_to,
)
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I8, I32, I64, Bools, OpColumns
from roofline.model.profile import distinct
from roofline.model.time_bins import TimeBins
from roofline.model.timeline import (
    LAUNCH_GAP_PS,
    WHOLE_CAPTURE,
    CoreTimes,
    EachTransfer,
    LaunchTimes,
    Timeline,
    TransferOccurrences,
    Transfers,
    WorkTimes,
)
from roofline.model.units import PS_PER_NS

Link = MemoryLevel | None

WORK, COMMUNICATION, HOST_COPY, INFEED_OUTFEED = range(4)
_KINDS = (WORK, COMMUNICATION, HOST_COPY, INFEED_OUTFEED)
# Priority in the sweep: copies of the host, infeed and outfeed share an instant equally.
_PRIORITY = np.array([0, 1, 2, 2], np.int8)


class Steps(NamedTuple):
    """The steps of one device: their windows, and the number of each, from 0 in the profile."""

    windows: Windows
    number: I64


def no_steps() -> Steps:
    """The steps of a device that ran none."""
    none = np.zeros(0, np.int64)
    return Steps(windows=Windows(begin=none, end=none), number=none)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceEvents:
    """The events of one device, as columns, and its steps; times count ticks.

    `kind` is the class of an event, `op` what it runs, by its place in `rows`, which has the row of
    each op (-1, also as a place: no op). `transfer` numbers what an event moves (-1: nothing) in
    `moved`, over the link at the same place of `links`. `starts` is false for a further kernel of
    the same transfer, whose bytes its first kernel has (`None`: every event starts one). `launch`
    is what tells the launch of an event; `None` where the file has no launches.
    """

    name: str
    begin: I64
    end: I64
    kind: I64 | I8
    op: I64 | I32
    rows: I64
    transfer: I64 | I32
    moved: Sequence[Collective]
    links: Sequence[Link]
    steps: Steps
    starts: Bools | None = None
    launch: I64 | None = None


def on_each(events: DeviceEvents, device: I64, steps: Sequence[Steps]) -> list[DeviceEvents]:
    """The events of all devices as those of each: `device` numbers the one that ran each event,
    `steps` has the steps of every device."""
    names = ("begin", "end", "kind", "op", "transfer")
    columns = {name: getattr(events, name) for name in names}
    devices = []
    for number, own in enumerate(steps):
        mine = slice(None) if len(steps) == 1 else np.flatnonzero(device == number)
        launch = None if events.launch is None else events.launch[mine]
        parts = {name: column[mine] for name, column in columns.items()}
        devices.append(replace(events, name=f"GPU {number}", steps=own, launch=launch, **parts))
    return devices


def timeline_on(device: I64, steps: Sequence[Steps] = (), **columns: Any) -> Timeline:
    """The timeline of events, whose columns are those of `DeviceEvents`, on each device, in ns:
    `steps` has those of every device, and `launch` of an event is when the host launched it."""
    events = DeviceEvents(name="", steps=no_steps(), **columns)
    devices = on_each(events, device, steps or [no_steps()] * (int(device.max()) + 1))
    n_steps = len(devices[0].steps.number) if devices else 0
    return timeline_of(devices, n_steps, PS_PER_NS, lambda launched: launched)


Launched = Callable[[I64], I64]


def timeline_of(
    devices: Sequence[DeviceEvents], n_steps: int, tick_ps: int, launched: Launched
) -> Timeline:
    """The timeline of one capture; ops are its rows. A tick lasts `tick_ps`.

    `launched` says when the host launched events, in ticks of the same clock, by their `launch`
    (`NO_LAUNCH`: not in the file). It is asked once, for the events that end gaps.
    """
    edges = _edges(devices)
    swept = [_device(device, edges) for device in devices]
    awaited = _awaited(swept, launched)
    return Timeline(
        cores=tuple(device.name for device in devices),
        steps=n_steps,
        times=_times(swept, tick_ps, awaited),
        work=WorkTimes.joined(
            [_work_of(device, core, tick_ps) for core, device in enumerate(swept)]
        ),
        transfers=with_least(_transfers(swept, tick_ps), len(devices)),
        bins=_bins(swept, edges, tick_ps, awaited),
        launches=joined_launches([_launches(device, tick_ps) for device in devices]),
    )


def _launches(events: DeviceEvents, tick_ps: int) -> LaunchTimes:
    """How long each event of a device's ops took."""
    rows, launches = np.append(events.rows, -1), LaunchPieces()
    for first in range(0, len(events.begin), PIECE):
        piece = slice(first, first + PIECE)
        took = np.maximum(events.end[piece] - events.begin[piece], 0)
        launches.add(rows[events.op[piece]], took * float(tick_ps))
    return launches.all()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Device:
    """One device and its sweep. A slot is an op that works, or an op that moves something.

    `row`, `kind` and `transfer` are those of the slots; `talks` are the events that communicate, in
    order of begin, each in its `slot_of_talk`.
    """

    events: DeviceEvents
    swept: Swept
    row: I64
    kind: I64
    transfer: I64
    talks: I64
    slot_of_talk: I64

    @property
    def links(self) -> list[Link]:
        """The link of each slot that communicates; `None` also for all others."""
        links = self.events.links
        return [links[at] if at >= 0 else None for at in self.transfer.tolist()]


def _device(events: DeviceEvents, edges: I64) -> _Device:
    """The sweep over one device: events of one op that move the same are one slot."""
    rows, n_ops = np.append(events.rows, -1), len(events.rows) + 1
    slot = (events.op + 1).astype(np.int32)
    moves = np.flatnonzero(np.asarray(events.kind) != WORK)
    width = len(events.moved) + 1
    keys = ((slot[moves].astype(np.int64)) * width + events.transfer[moves] + 1) * len(_KINDS)
    pairs, number = in_order(*distinct(keys + events.kind[moves]))
    slot[moves] = n_ops + number
    pairs, moving = np.divmod(pairs, len(_KINDS))
    op, transfer = np.divmod(pairs, width)
    kind = np.append(np.full(n_ops, WORK), moving)
    talks = moves[np.asarray(events.kind)[moves] == COMMUNICATION]
    talks = talks[np.argsort(events.begin[talks], kind="stable")]
    return _Device(
        events=events,
        swept=sweep(
            events.begin,
            events.end,
            slot,
            _PRIORITY[kind],
            starts=events.starts,
            windows=events.steps.windows,
            marks=edges,
        ),
        row=rows[np.append(np.arange(n_ops), op) - 1],
        kind=kind,
        transfer=np.append(np.full(n_ops, -1), transfer - 1),
        talks=talks,
        slot_of_talk=slot[talks].astype(np.int64),
    )


# --------------------------------------------------------------------------------------------- bins

_TIME_KINDS = np.array([DOES_WORK, COMMUNICATES, COPIES, FEEDS])


def _edges(devices: Sequence[DeviceEvents]) -> I64:
    """The edges of bins of all devices, in ticks."""
    ran = [device for device in devices if len(device.begin)]
    if not ran:
        return np.zeros(0, np.int64)
    first = min(int(device.begin.min()) for device in ran)
    last = max(int(device.end.max()) for device in ran)
    steps = _first_steps(devices)
    n_bins = most_bins(max(len(device.rows) for device in devices))
    edges_of_steps = np.concatenate([steps.begin, steps.end])
    return even_edges(first, last, n_bins, edges_of_steps)


def _first_steps(devices: Sequence[DeviceEvents]) -> Windows:
    """The steps of the first device that has any."""
    stepped = [device.steps for device in devices if len(device.steps.windows)]
    return stepped[0].windows if stepped else no_steps().windows


def _bins(
    devices: Sequence[_Device], edges: I64, tick_ps: int, awaited: Sequence[Bools | None]
) -> TimeBins | None:
    steps = _first_steps([device.events for device in devices])
    in_ps = Windows(begin=steps.begin * tick_ps, end=steps.end * tick_ps)
    pairs = zip(devices, awaited, strict=True)
    sums = [_sums_at(device, edges, tick_ps, waits) for device, waits in pairs]
    return bins_of(edges * tick_ps, sums, in_ps)


def _sums_at(device: _Device, edges: I64, tick_ps: int, awaited: Bools | None) -> CoreSums:
    swept = device.swept
    waits = slice(0) if awaited is None else awaited
    launch_ps, idle_ps = gaps_up_to((swept.gap_begin, swept.gap_end), edges, tick_ps)
    return CoreSums(
        op=device.row,
        kind=_TIME_KINDS[device.kind],
        link=device.links,
        time_ps=swept.marks.lasted * tick_ps,
        own_ps=swept.marks.time * tick_ps,
        calls=swept.marks.events,
        launch_gaps_ps=launch_ps,
        idle_ps=idle_ps,
        host_wait_ps=time_up_to(swept.gap_begin[waits], swept.gap_end[waits], edges)[:-1] * tick_ps,
    )


# -------------------------------------------------------------------------------------------- times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """One device in its scopes, one row each, in ticks: owned time by kind, that of communication
    by link, launch gaps and idle time, of these what waited for the host, and an idle start."""

    core: I64
    scope: I64
    by_kind: F64
    by_link: F64
    gaps: F64
    host_wait: F64
    start_idle: F64


def _times(devices: Sequence[_Device], tick_ps: int, awaited: Sequence[Bools | None]) -> CoreTimes:
    """The rows of all devices. Communication is divided by link."""
    links = list(dict.fromkeys(link for device in devices for link in _used_links(device)))
    rows = [
        _rows_of(device, core, links, tick_ps, _idle_of(device, tick_ps, waits))
        for core, (device, waits) in enumerate(zip(devices, awaited, strict=True))
    ]
    by_kind = np.concatenate([row.by_kind for row in rows]) * tick_ps
    by_link = np.concatenate([row.by_link for row in rows]) * tick_ps
    gaps = np.concatenate([row.gaps for row in rows]) * tick_ps
    return CoreTimes(
        core=np.concatenate([row.core for row in rows]),
        scope=np.concatenate([row.scope for row in rows]),
        total_ps=by_kind.sum(axis=1) + gaps.sum(axis=1),
        infeed_outfeed_ps=by_kind[:, INFEED_OUTFEED],
        host_ps=by_kind[:, HOST_COPY],
        exposed_ps={link: by_link[:, at] for at, link in enumerate(links)},
        launch_gaps_ps=gaps[:, 0],
        idle_ps=gaps[:, 1],
        host_wait_ps=np.concatenate([row.host_wait for row in rows]) * tick_ps,
        start_idle_ps=np.concatenate([row.start_idle for row in rows]) * tick_ps,
    )


def _used_links(device: _Device) -> list[Link]:
    communicates = (device.kind == COMMUNICATION).tolist()
    return [link for link, is_used in zip(device.links, communicates, strict=True) if is_used]


def _rows_of(
    device: _Device, core: int, links: Sequence[Link], tick_ps: int, idle: tuple[F64, F64]
) -> _Rows:
    """The capture in the first row, then each step of one device."""
    swept, steps = device.swept, device.events.steps
    windows, n_rows = steps.windows, len(steps.number) + 1
    row = np.append(np.zeros(len(swept.time), np.int64), swept.window + 1)
    slot = np.append(np.arange(len(swept.time)), swept.slot_in_window)
    time = np.append(swept.time, swept.time_in_window)
    place = {link: at for at, link in enumerate(links, 1)}
    link = np.array([place.get(link, 0) for link in device.links], np.int64)
    link = np.where(device.kind == COMMUNICATION, link, 0)

    def divided(by: I64, width: int) -> F64:
        sums = np.bincount(row * width + by[slot], time, n_rows * width)
        return sums.astype(np.float64).reshape(n_rows, width)

    short, long = split_gaps((swept.gap_begin, swept.gap_end), LAUNCH_GAP_PS // tick_ps)
    return _Rows(
        core=np.full(n_rows, core),
        scope=np.append(WHOLE_CAPTURE, steps.number),
        by_kind=divided(device.kind, len(_KINDS)),
        by_link=divided(link, len(links) + 1)[:, 1:],
        gaps=np.stack([in_rows(spans, windows) for spans in (short, long)], axis=1),
        host_wait=idle[0],
        start_idle=idle[1],
    )


def _awaited(devices: Sequence[_Device], launched: Launched) -> list[Bools | None]:
    """Per device: the gaps that ended with an event which the host launched after they began.

    `None` where the file has no launches. The events behind all others waited already: for other
    streams, for the device itself, for whatever the file does not say.
    """
    ended: list[tuple[I64, I64]] = []
    for device in devices:
        launch, swept = device.events.launch, device.swept
        at = swept.gap_at if launch is not None else np.zeros(0, np.int64)
        gap, event = enders(at, swept.order, device.events.begin)
        ended.append((gap, launch[event] if launch is not None else gap))
    times = launched(np.concatenate([np.zeros(0, np.int64), *(launch for _, launch in ended)]))
    parts = np.split(times, np.cumsum([len(gap) for gap, _ in ended]))
    return [
        None if device.events.launch is None else _is_later(device.swept.gap_begin, gap, part)
        for device, (gap, _), part in zip(devices, ended, parts, strict=False)
    ]


def _is_later(begin: I64, gap: I64, launched: I64) -> Bools:
    """Which gaps began before the first launch of the events that end them, by gap."""
    first = np.full(len(begin), NO_LAUNCH)
    np.minimum.at(first, gap, launched)
    is_later: Bools = (first != NO_LAUNCH) & (first > begin)
    return is_later


def _idle_of(device: _Device, tick_ps: int, awaited: Bools | None) -> tuple[F64, F64]:
    """What waited for the host, and what lies at an idle start, which the former leaves out of the
    capture: of the capture, and of each step."""
    swept, windows = device.swept, device.events.steps.windows
    is_idle = swept.gap_end - swept.gap_begin >= LAUNCH_GAP_PS // tick_ps
    idle = Stretches(swept.gap_begin[is_idle], swept.gap_end[is_idle], swept.first)
    waits = np.zeros(len(is_idle), np.bool_) if awaited is None else awaited
    start, until = idle.start(float(swept.time.sum()))
    waited = in_rows((swept.gap_begin[waits], swept.gap_end[waits]), windows)
    at_start = waits & is_idle & (swept.gap_begin < until)
    waited[0] -= float((swept.gap_end - swept.gap_begin)[at_start].sum())
    return waited, np.append(float(start), np.zeros(len(windows)))


# --------------------------------------------------------------------------------------------- work


def _work_of(device: _Device, core: int, tick_ps: int) -> WorkTimes:
    """One row per scope and op: several ops of a device may have one row."""
    swept, n_rows = device.swept, int(device.row.max(initial=-1)) + 2
    used = np.flatnonzero((swept.events > 0) & (device.kind == WORK))
    inside = np.flatnonzero(device.kind[swept.slot_in_window] == WORK)
    slot = np.append(used, swept.slot_in_window[inside])
    step = device.events.steps.number[swept.window[inside]]
    scope = np.append(np.full(len(used), WHOLE_CAPTURE), step)
    keys, at = np.unique((scope + 1) * n_rows + device.row[slot] + 1, return_inverse=True)
    time = np.append(swept.time[used], swept.time_in_window[inside])
    events = np.append(swept.events[used], swept.events_in_window[inside])
    op = keys % n_rows - 1
    return WorkTimes(
        core=np.full(len(keys), core),
        scope=keys // n_rows - 1,
        op=op,
        time_ps=np.bincount(at, time, len(keys)).astype(np.float64) * tick_ps,
        calls=np.bincount(at, events, len(keys)).astype(np.float64),
        is_work=op >= 0,
    )


def with_calls(work: WorkTimes, ops: OpColumns) -> WorkTimes:
    """Events to calls: an op may run several kernels at each call. `ops` are those of the table."""
    whole = (work.scope == WHOLE_CAPTURE) & (work.op >= 0)
    events = np.zeros(len(ops) + 1)  # the last is for work without an op
    np.add.at(events, work.op[whole], work.calls[whole])
    per_event = np.append(ops.occurrences, 0) / np.maximum(events, 1)
    return replace(work, calls=work.calls * per_event[work.op])


# ---------------------------------------------------------------------------------------- transfers

_Kind = tuple[int, str, int, Link]


def _transfers(devices: Sequence[_Device], tick_ps: int) -> Transfers:
    """One row per op, kind, group and link; all occurrences on a device are one row each."""
    kinds: dict[_Kind, int] = {}
    parts = [_occurrences(device, core, kinds, tick_ps) for core, device in enumerate(devices)]
    each = [_each(device, core, kinds, tick_ps) for core, device in enumerate(devices)]
    return Transfers(
        op=np.array([row for row, *_ in kinds], np.int64),
        done=np.full(len(kinds), -1),
        kind=tuple(kind for _, kind, _, _ in kinds),
        link=tuple(link for *_, link in kinds),
        group_size=np.array([size for _, _, size, _ in kinds], np.int64),
        unpaired=np.zeros(len(kinds), np.bool_),
        occurrences=_summed(TransferOccurrences.joined(parts)),
        each=EachTransfer.joined(each) if each else None,
    )


def _number_of_slots(device: _Device, slots: I64, kinds: dict[_Kind, int]) -> I64:
    """The number of what each slot moves; new kinds get the next numbers."""
    links, numbers = device.links, []
    for slot in slots.tolist():
        what = device.events.moved[int(device.transfer[slot])]
        key = (int(device.row[slot]), what.kind, what.group_size, links[slot])
        numbers.append(kinds.setdefault(key, len(kinds)))
    return np.array(numbers, np.int64)


def _each(device: _Device, core: int, kinds: dict[_Kind, int], tick_ps: int) -> EachTransfer:
    """The single collectives of one device, of the kinds that are numbered."""
    begin, end = device.events.begin[device.talks], device.events.end[device.talks]
    real = (end > begin) & (device.transfer[device.slot_of_talk] >= 0)
    slots, place = np.unique(device.slot_of_talk[real], return_inverse=True)
    return EachTransfer(
        transfer=_number_of_slots(device, slots, kinds)[place],
        core=np.full(len(place), core),
        time_ps=(end - begin)[real].astype(np.float64) * tick_ps,
    )


def _occurrences(
    device: _Device, core: int, kinds: dict[_Kind, int], tick_ps: int
) -> TransferOccurrences:
    """The transfers in the slots of one device; new kinds get the next numbers."""
    at = np.flatnonzero((device.transfer >= 0) & (device.swept.events > 0))
    moved = [device.events.moved[number] for number in device.transfer[at].tolist()]
    started = device.swept.started[at].astype(np.float64)
    return TransferOccurrences(
        transfer=_number_of_slots(device, at, kinds),
        core=np.full(len(at), core),
        count=started,
        # An unknown size stays unknown; what its first kernel has counts once.
        wire_bytes=np.array([what.wire_bytes for what in moved], np.float64) * started,
        payload_bytes=np.array([what.payload_bytes for what in moved], np.float64) * started,
        interval_ps=device.swept.lasted[at].astype(np.float64) * tick_ps,
        wait_ps=np.full(len(at), np.nan),
        exposed_ps=device.swept.time[at] * tick_ps,
    )


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

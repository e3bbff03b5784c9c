"""Reads results of rocprofv3 into one profile."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.rocprofiler_sdk.database import read_database
from roofline.importers.rocprofiler_sdk.document import read_file, read_sheets, sheet_of
from roofline.importers.rocprofiler_sdk.records import EVENT, SIZES, UNKNOWN, Agent, Process
from roofline.importers.shared.amd_counters import (
    COUNTED_LIMITS,
    AmdSize,
    CacheSizes,
    cache_sizes,
    counted_launch,
)
from roofline.importers.shared.databases import ABSENT, SIGNATURE, Table, joined
from roofline.importers.shared.events import NO_LAUNCH, Names, in_order
from roofline.importers.shared.kernel_names import (
    COPY,
    NAN,
    Collective,
    is_collective,
    kernel_category,
    kind_by_kernel,
)
from roofline.importers.shared.launches import Launch, Launches, launch_tables, without_steps
from roofline.importers.shared.nesting import busy_times
from roofline.importers.shared.stream_timeline import (
    COMMUNICATION,
    HOST_COPY,
    WORK,
    DeviceEvents,
    Link,
    no_steps,
    on_each,
    timeline_of,
    with_calls,
)
from roofline.importers.source import Progress, SourceFile
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.notes import NO_PEAKS, counted, notes_beside
from roofline.model.op_columns import I64
from roofline.model.profile import (
    Diagnostic,
    Host,
    OpTable,
    Profile,
    Provenance,
    distinct_rows,
)
from roofline.model.timeline import Timeline
from roofline.model.units import PS_PER_NS

_LONGEST_PS = 2**63
_NOTES = notes_beside(__file__)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`."""
    processes, names = list[Process](), Names()
    ordered = sorted(sources, key=lambda source: source.name)
    sheets = [source for source in ordered if sheet_of(source.head) is not None]
    for k, source in enumerate(one for one in ordered if one not in sheets):
        progress("read", k / len(sources))
        is_database = source.head.startswith(SIGNATURE)
        found = [] if is_database else read_file(source)
        processes += read_database(source, names) if is_database else []
        processes += [one.process(names) for one in found]
    processes += [one.process(names) for one in read_sheets(sheets)]
    for process in processes:
        # Where counters are read, kernels wait for the profiler, whatever the host launched when.
        process.kernels["launched"][[*process.counters]] = ABSENT
    processes = joined_passes(processes)
    if not any(len(process.kernels) or len(process.copies) for process in processes):
        raise IncompleteProfileError(
            f"{sources[0].name} holds neither kernels nor copies.",
            remedy="Profile with `rocprofv3 --kernel-trace --memory-copy-trace --output-format"
            " json`, and counters with --pmc.",
        )
    return _profile(sources, processes, names.texts)


def joined_passes(processes: Sequence[Process]) -> list[Process]:
    """Passes of one program as one process: the same kernels in the same order, other counters.

    The times are those of the run that counted nothing, if there is one, else of the first pass:
    each pass runs the program again, and counting slows it.
    """
    result: list[Process] = []
    for process in sorted(processes, key=lambda one: bool(one.counters)):
        known = next((one for one in result if _is_pass_of(process, one)), None)
        if known is None:
            result.append(process)
            continue
        of, again = _ordered(known), _ordered(process)
        timeless = known.kernels["start"][of] == ABSENT
        for name in ("start", "end"):
            known.kernels[name][of[timeless]] = process.kernels[name][again[timeless]]
        place = dict(zip(again.tolist(), of.tolist(), strict=True))
        for at, counters in process.counters.items():
            known.counters[place[at]] = {**counters, **known.counters.get(place[at], {})}
    return result


def _ordered(process: Process) -> I64:
    return np.argsort(process.kernels["dispatch_id"], kind="stable")


def _is_pass_of(process: Process, other: Process) -> bool:
    """True where both ran the same kernels, and one counted what the other did not. Processes that
    counted nothing are others of the program."""
    mine, theirs = (one.kernels["name"][_ordered(one)] for one in (process, other))
    names, others = _counter_names(process), _counter_names(other)
    return np.array_equal(mine, theirs) and bool(names or others) and not names & others


def _counter_names(process: Process) -> set[str]:
    return {name for counters in process.counters.values() for name in counters}


# ------------------------------------------------------------------------------------------ profile

Owner = tuple[Process, int]
"""A GPU that ran something, by its process and its number there."""


def _profile(
    sources: Sequence[SourceFile], processes: Sequence[Process], names: Sequence[str]
) -> Profile:
    tables = [table for one in processes for table in (one.kernels, one.copies)]
    events, lengths = joined(tables, EVENT), [len(table) for table in tables]
    process = np.repeat(np.arange(len(tables)) // 2, lengths)
    pairs, device = in_order(*distinct_rows(np.stack([process, events["agent_id"]], axis=1)))
    owners = [(processes[number], agent) for number, agent in pairs.tolist()]
    agents = _agents(owners)
    first = next(iter(agents), UNKNOWN)
    gpus = [process.agents.get(number, UNKNOWN).size for process, number in owners]
    cache = cache_sizes(first.traits.architecture, None)
    launches = _launches(events, device, gpus, cache, _counters(processes), names)
    if launches.time_ps.sum(dtype=np.float64) >= _LONGEST_PS:
        raise CorruptProfileError(
            f"{sources[0].name} holds times so long that they cannot be added up.",
            remedy="Profile again: its clocks are damaged.",
        )
    ops, table, kernels = launch_tables(launches)
    busy_ps, span_ps = _times(events, device)
    timeline = _timeline(events, device, launches, table.op, ops)
    return without_steps(
        ops,
        busy_ps,
        Provenance.MEASURED,
        time_ps=max(span_ps, busy_ps),
        device=ReportedDevice(
            kind=DeviceKind.GPU,
            name=first.name,
            core_count=max(len(agents), 1),
            traits=first.traits,
        ),
        hosts=tuple(_hosts(sources, processes, owners)),
        diagnostics=tuple(_diagnostics(launches, processes)),
        limits=(*COUNTED_LIMITS, NO_PEAKS),
        launches=table,
        timeline=timeline,
        kernels=kernels,
        kernels_timed=launches.partly_timed,
        wall_time_ps=timeline.span_ps if timeline else None,
    )


def _counters(processes: Sequence[Process]) -> dict[int, Mapping[str, float]]:
    """The counters of all processes by the row of the kernel among all kernels and copies."""
    lengths = [len(process.kernels) + len(process.copies) for process in processes]
    return {
        begin + at: counters
        for process, begin in zip(processes, accumulate(lengths, initial=0), strict=False)
        for at, counters in process.counters.items()
    }


def _agents(owners: Iterable[Owner]) -> list[Agent]:
    """One entry per GPU that the file describes."""
    found = {
        (process.file_name, process.pid, number): process.agents[number]
        for process, number in owners
        if number in process.agents
    }
    return list(found.values())


def _hosts(
    sources: Sequence[SourceFile], processes: Sequence[Process], owners: Sequence[Owner]
) -> Iterable[Host]:
    for source in sources:
        pid = next((one.pid for one in processes if one.file_name == source.name), 0)
        used = _agents(one for one in owners if one[0].file_name == source.name)
        hostname = f"process {pid}" if pid else ""
        yield Host(file_name=source.name, hostname=hostname, core_count=len(used))


def _launches(
    events: Table,
    device: I64,
    gpus: Sequence[AmdSize],
    cache: CacheSizes,
    counters: Mapping[int, Mapping[str, float]],
    names: Sequence[str],
) -> Launches:
    """All launches, process by process; those without counters have few kinds."""
    is_kernel = events["dispatch_id"] != ABSENT
    sizes, size = distinct_rows(np.stack([events[name] for name in SIZES], axis=1))
    counted = np.full(len(events), ABSENT)
    counted[[*counters]] = [*counters]
    keys = (counted, is_kernel, events["name"], size, events["size"])
    kind = in_order(*distinct_rows(np.stack(keys, axis=1)))[1]
    time_ps = np.where(events["start"] == ABSENT, 0, events["end"] - events["start"]) * PS_PER_NS
    around = _longest_paths(events["name"], events["path"], time_ps)
    kinds = []
    for at in np.unique(kind, return_index=True)[1].tolist():
        name, lasted = int(events["name"][at]), int(time_ps[at]) or None
        if not is_kernel[at]:
            kinds.append(_copy(names[name], int(events["size"][at]), lasted))
            continue
        shape, mine = _shape(sizes[size[at]].tolist()), counters.get(at, {})
        kinds.append(
            counted_launch(
                # Counters of a block's instances were added up: that is what `…_sum` counts.
                {**{f"{key}_sum": value for key, value in mine.items()}, **mine},
                cache,
                gpus[device[at]],
                lasted,
                math.prod(shape[:3]) or None,
                name=names[name],
                category=kernel_category(names[name]),
                shape=shape,
                framework_path=names[around[name]] if around[name] != ABSENT else "",
            )
        )
    grids = [
        f", grid {'x'.join(map(str, row[:3]))}" if min(row[:3]) > 0 else ""
        for row in sizes.tolist()
    ]
    numbers = zip(events["dispatch_id"].tolist(), size.tolist(), strict=True)
    return Launches(
        kinds=kinds,
        kind=kind,
        time_ps=time_ps.astype(np.uint64),
        timed=time_ps > 0,
        detail=["" if one == ABSENT else f"dispatch {one}{grids[of]}" for one, of in numbers],
    )


def _longest_paths(name: I64, path: I64, time_ps: I64) -> dict[int, int]:
    """The path in which each kernel ran longest, by name; of several the first."""
    pairs, place = in_order(*distinct_rows(np.stack([name, path], axis=1)))
    longest_last = np.argsort(-np.bincount(place, time_ps), kind="stable")[::-1]
    return dict(pairs[longest_last].tolist())


def _shape(sizes: Sequence[int]) -> tuple[int, ...]:
    """Workgroups and work items of one along each axis: a dispatch's grid is in work items."""
    if not all(0 < size < 2**31 for size in sizes):
        return (0,) * len(sizes)
    return (*(-(-of // by) for of, by in zip(sizes[:3], sizes[3:], strict=True)), *sizes[3:])


def _copy(name: str, size: int, time_ps: int | None) -> Launch:
    """A copy within the devices' memory is read and written there."""
    moved = size * (2 if "DEVICE_TO_DEVICE" in name else 1)
    return Launch(
        name=name,
        category=COPY,
        time_ps=time_ps,
        flop=0,
        traffic_bytes={} if size == ABSENT else {MemoryLevel.HBM: moved},
    )


def _times(events: Table, device: I64) -> tuple[int, int]:
    """Busy time and span of all devices, summed, in ps."""
    timed = events["start"] != ABSENT
    number, begin, end = device[timed], events["start"][timed], events["end"][timed]
    devices, number = np.unique(number, return_inverse=True)
    busy = int(busy_times(number, begin, end - begin, len(devices)).sum())
    spans = (
        int(end[number == one].max() - begin[number == one].min()) for one in range(len(devices))
    )
    return busy * PS_PER_NS, sum(spans) * PS_PER_NS


def _diagnostics(launches: Launches, processes: Sequence[Process]) -> Iterable[Diagnostic]:
    uncounted = np.array([kind.flop is None for kind in launches.kinds], np.bool_)[launches.kind]
    has_counters = any(process.counters for process in processes)
    counts = {
        "flop-not-counted": has_counters * int(uncounted.sum()),
        "time-unknown": int((~launches.timed).sum()),
    }
    yield from counted(_NOTES, counts, launches=len(launches.kind))


# ----------------------------------------------------------------------------------------- timeline

_HOST = {"HOST_TO_DEVICE": "in", "DEVICE_TO_HOST": "out"}


def _timeline(
    events: Table, device: I64, launches: Launches, op: I64, ops: OpTable
) -> Timeline | None:
    """The timeline of all agents, each event on its `device` and of its `op`; `None` where an event
    has no time: its agent's time cannot be divided."""
    if not len(events) or not launches.timed.all():
        return None
    moves = [_move(kind) for kind in launches.kinds]
    distinct = list(dict.fromkeys(move for move in moves if move is not None))
    number = {move: at for at, move in enumerate(distinct)}
    place = np.array([-1 if move is None else number[move] for move in moves], np.int64)
    kind = np.array([_kind(move) for move in moves], np.int8)
    launched = np.where(events["launched"] == ABSENT, NO_LAUNCH, events["launched"])
    moving = DeviceEvents(
        name="",
        begin=events["start"],
        end=events["end"],
        kind=kind[launches.kind],
        op=op,
        rows=np.arange(len(ops)),
        transfer=place[launches.kind],
        moved=[collective for collective, _ in distinct],
        links=[link for _, link in distinct],
        steps=no_steps(),
        launch=launched if (launched != NO_LAUNCH).any() else None,
    )
    devices = on_each(moving, device, [no_steps()] * (int(device.max()) + 1))
    timeline = timeline_of(devices, 0, PS_PER_NS, lambda launched: launched)
    return replace(timeline, work=with_calls(timeline.work, ops))


def _move(kind: Launch) -> tuple[Collective, Link] | None:
    """What a launch moves over a link, and over which; `None` for work."""
    if kind.shape is not None:
        return (Collective(kind_by_kernel(kind.name)), None) if is_collective(kind.name) else None
    direction = next((way for words, way in _HOST.items() if words in kind.name), "")
    size = kind.traffic_bytes.get(MemoryLevel.HBM, NAN)
    return (Collective(direction, size), MemoryLevel.HOST) if direction else None


def _kind(move: tuple[Collective, Link] | None) -> int:
    if move is None:
        return WORK
    return HOST_COPY if move[1] is MemoryLevel.HOST else COMMUNICATION

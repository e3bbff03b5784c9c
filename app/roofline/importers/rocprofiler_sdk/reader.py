"""Reads results of rocprofv3 into one profile."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.rocprofiler_sdk.document import SUMS, read_file, read_sheets, sheet_of
from roofline.importers.rocprofiler_sdk.tables import (
    APART_NS,
    EVENT,
    PEER,
    SIZES,
    UNKNOWN,
    Process,
    kernel_name,
    read_database,
)
from roofline.importers.shared.amd_counters import (
    COUNTED_LIMITS,
    AmdSize,
    CacheSizes,
    cache_sizes,
    counted_launch,
    passes_joined,
)
from roofline.importers.shared.databases import ABSENT, SIGNATURE, Table, joined
from roofline.importers.shared.events import NO_LAUNCH, Names, in_order, longest_of
from roofline.importers.shared.kernel_names import (
    COPY,
    NAN,
    Collective,
    is_collective,
    kernel_category,
    kind_by_kernel,
)
from roofline.importers.shared.launches import Launch, Launches, launch_tables, without_steps
from roofline.importers.shared.listed_tables import (
    is_listed,
    profile_of_sums,
    tables_of,
    with_stated_sums,
)
from roofline.importers.shared.nesting import busy_times, spans_of
from roofline.importers.shared.steps import step_table, steps_of
from roofline.importers.shared.stream_timeline import (
    COMMUNICATION,
    HOST_COPY,
    WORK,
    Link,
    Steps,
    timeline_on,
    with_calls,
)
from roofline.importers.source import Progress, SourceFile
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.notes import NO_PEAKS, counted, noted, notes_beside
from roofline.model.op_columns import I8, I64, Bools
from roofline.model.profile import Host, OpTable, Profile, Provenance, distinct_rows
from roofline.model.timeline import Timeline
from roofline.model.units import PS_PER_NS

_LONGEST_PS, _NEVER = 2**63, 2**62
_CLOCKED = ("start", "end", "launched")
# Rows of sums that are not kernels: copies; calls of libraries, and whole domains.
_COPIED = re.compile(r"(?:MEMORY_COPY_)?(?:HOST|DEVICE)_TO_(?:HOST|DEVICE)|Copy\w+To\w+")
_OF_HOST = re.compile(
    r"(?:__)?hip[A-Z]\w*|hsa_\w+|nccl[A-Z][a-zA-Z]*|roctx\w+|rocdec\w+|rocjpeg\w+"
    r"|(?:KERNEL|MEMORY|SCRATCH|HIP|HSA|MARKER|RCCL|ROCTX|OMPT|ROCDECODE|ROCJPEG)_[A-Z_]+"
)
_LIST_ALL = "Give what holds every kernel: *_results.db or *_kernel_trace.csv."
_NOTES = notes_beside(__file__)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`."""
    processes, names = list[Process](), Names()
    ordered = sorted(sources, key=lambda source: source.name)
    sheets = [source for source in ordered if sheet_of(source.head) is not None]
    added_up = [source for source in ordered if is_listed(source.head, SUMS)]
    sums = [table for one in added_up for table in tables_of(bytes(one.data), one.name, SUMS)]
    for k, source in enumerate(one for one in ordered if one not in (*sheets, *added_up)):
        progress("read", k / len(sources))
        is_database = source.head.startswith(SIGNATURE)
        processes += (read_database if is_database else read_file)(source, names)
    processes += read_sheets(sheets, names)
    for process in processes:
        # Where counters are read, kernels wait for the profiler, whatever the host launched when.
        process.kernels["launched"][[*process.counters]] = ABSENT
    found = len([one for one in processes if len(one.kernels) or len(one.copies)])
    if not found and sums:
        agents = [agent.name for one in processes for agent in one.agents.values()]
        return profile_of_sums(sums, launch_of, _LIST_ALL, next(iter(agents), UNKNOWN.name))
    is_counting = all(map(_is_counting, processes))
    # The times are those of the run that counted nothing, if there is one: counting slows.
    processes = passes_joined(
        sorted(processes, key=lambda one: bool(one.counters)),
        kernels=lambda one: one.kernels["name"][_ordered(one)].tolist(),
        counters=lambda one: {*chain(*one.counters.values())},
        join=_with_pass,
    )
    if not found:
        raise IncompleteProfileError(
            f"{sources[0].name} holds neither kernels nor copies.",
            remedy="Profile with `rocprofv3 --kernel-trace --memory-copy-trace --output-format"
            " json`, and counters with --pmc.",
        )
    is_shifted = _begun_together(processes)
    read_from = [one for one in sources if one not in added_up]
    profile = _profile(read_from, processes, names.texts, is_counting=is_counting)
    if is_shifted and profile.timeline is not None:
        notes = (*profile.diagnostics, noted(_NOTES, "clocks-of-machines"))
        profile = replace(profile, diagnostics=notes)
    return with_stated_sums(profile, sums, launch_of) if sums and found == 1 else profile


def _begun_together(processes: Sequence[Process]) -> bool:
    """Let all processes begin at once where their clocks are apart: those of several machines."""
    tables = [(one.kernels.numbers, one.copies.numbers) for one in processes]
    columns = [[one[of] for one in pair for of in _CLOCKED if of in one] for pair in tables]
    starts = [np.concatenate([one["start"] for one in pair]) for pair in tables]
    firsts = [int(start[start != ABSENT].min(initial=_NEVER)) for start in starts]
    known = [first for first in firsts if first != _NEVER]
    if not known or max(known) - min(known) < APART_NS:
        return False
    for process, own, first in zip(processes, columns, firsts, strict=True):
        for column in own:
            column[column != ABSENT] -= first
        process.steps[:] -= first
    return True


def launch_of(name: str, **rest: Any) -> Launch | None:
    """The sum of a kernel or of a kind of copy; `None` for what the host did."""
    is_copy = _COPIED.fullmatch(name) is not None
    if not is_copy and _OF_HOST.fullmatch(name):
        return None
    kernel = kernel_name({"kernel_name": name}) or "unnamed kernel"
    category = COPY if is_copy else kernel_category(kernel)
    return Launch(name=kernel, category=category, flop=0 if is_copy else None, **rest)


def _with_pass(known: Process, process: Process) -> Process:
    of, again = _ordered(known), _ordered(process)
    timeless = known.kernels["start"][of] == ABSENT
    for name in ("start", "end"):
        known.kernels[name][of[timeless]] = process.kernels[name][again[timeless]]
    place = dict(zip(again.tolist(), of.tolist(), strict=True))
    for at, counters in process.counters.items():
        known.counters[place[at]] = {**counters, **known.counters.get(place[at], {})}
    return known


def _ordered(process: Process) -> I64:
    return np.argsort(process.kernels["dispatch_id"], kind="stable")


def _is_counting(process: Process) -> bool:
    """True where every event is a kernel whose counters were read: the time between them is that
    of the reading, and says nothing of the program."""
    counted, kernels = len(process.counters), len(process.kernels)
    return counted == kernels > 0 and not len(process.copies) and not process.apart


def _profile(
    sources: Sequence[SourceFile],
    processes: Sequence[Process],
    names: Sequence[str],
    *,
    is_counting: bool,
) -> Profile:
    """The profile of all processes; one without a timeline where all of them are counting."""
    tables = [table for one in processes for table in (one.kernels, one.copies)]
    events, lengths = joined(tables, EVENT), [len(table) for table in tables]
    process = np.repeat(np.arange(len(tables)) // 2, lengths)
    pairs, device = in_order(*distinct_rows([process, events["agent_id"]]))
    owners = [(processes[number], agent) for number, agent in pairs.tolist()]
    pids = {one.file_name: one.pid for one in reversed(processes)}
    used = Counter(
        one.file_name for one, number in owners if number in one.agents or not one.agents
    )
    agents = [process.agents.get(number, UNKNOWN) for process, number in owners]
    first = next((agent for agent in agents if agent is not UNKNOWN), UNKNOWN)
    gpus = [agent.size for agent in agents]
    cache = cache_sizes(first.traits.architecture, None)
    counters = {
        begin + at: mine
        for one, begin in zip(processes, [0, *accumulate(lengths)][::2], strict=False)
        for at, mine in one.counters.items()
    }
    launches = _launches(events, device, gpus, cache, counters, names)
    if launches.time_ps.sum(dtype=np.float64) >= _LONGEST_PS:
        raise CorruptProfileError(
            f"{sources[0].name} holds times so long that they cannot be added up.",
            remedy="Profile again: its clocks are damaged.",
        )
    ops, table, kernels, rows = launch_tables(launches)
    timed, n_devices = events["start"] != ABSENT, len(agents)
    number, begin, end = device[timed], events["start"][timed], events["end"][timed]
    busy_ps = int(busy_times(number, begin, end - begin, n_devices).sum()) * PS_PER_NS
    span_ps = int(spans_of(number, begin, end, n_devices).sum()) * PS_PER_NS
    uncounted = np.array([kind.flop is None for kind in launches.kinds], np.bool_)[launches.kind]
    counts = {
        "flop-not-counted": int(uncounted.sum()) if counters else 0,
        "time-unknown": int((~launches.timed).sum()),
        "clocks-apart": sum(one.apart for one in processes),
    }
    kinds = np.array([_kind(kind) for kind in launches.kinds], np.int8)[launches.kind]
    step, steps = _steps(processes, process, events, device, kinds == WORK)
    timeline = None
    if not is_counting:
        timeline = _timeline(events, device, launches, kinds, table.op, ops, steps)
    profile = without_steps(
        ops,
        busy_ps,
        Provenance.MEASURED,
        time_ps=busy_ps if is_counting else max(span_ps, busy_ps),
        device=ReportedDevice(
            kind=DeviceKind.GPU,
            name=first.name,
            core_count=max(used.total(), 1),
            traits=first.traits,
        ),
        hosts=tuple(
            Host(
                file_name=source.name,
                hostname=f"process {pids[source.name]}" if pids.get(source.name) else "",
                core_count=used[source.name],
            )
            for source in sources
        ),
        diagnostics=tuple(counted(_NOTES, counts, launches=len(launches.kind))),
        limits=(*COUNTED_LIMITS, NO_PEAKS),
        launches=table,
        timeline=timeline,
        kernels=replace(kernels, step=step[events["dispatch_id"] != ABSENT]),
        kernels_timed=launches.partly_timed,
        wall_time_ps=timeline.span_ps if timeline else None,
    )
    if not steps:
        return profile
    return replace(profile, steps=step_table(steps, step, rows), has_average=True)


def _steps(
    processes: Sequence[Process], process: I64, events: Table, device: I64, is_work: Bools
) -> tuple[I64, list[Steps]]:
    """The step that launched each event (-1: none), and the steps of each device; none where some
    event has no time. The steps of all processes are one, where they have equally many."""
    step, launched = np.full(len(events), -1), events["launched"]
    if len({len(one.steps) for one in processes}) > 1 or (events["start"] == ABSENT).any():
        return step, []
    for number, one in enumerate(processes):
        begin, end = one.steps.T
        at = np.searchsorted(begin, launched, side="right") - 1
        inside = (process == number) & (launched != ABSENT) & (at >= 0)
        inside[inside] &= launched[inside] < end[at[inside]]
        step = np.where(inside, at, step)
    ran = np.unique(step[is_work & (step >= 0)])
    step = np.where(np.isin(step, ran), np.searchsorted(ran, step), -1)
    span = events["start"], events["end"]
    return step, steps_of(*span, device, step, is_work, int(device.max()) + 1) if len(ran) else []


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
    sizes, size = distinct_rows([events[name] for name in SIZES])
    counted = np.full(len(events), ABSENT)
    counted[[*counters]] = [*counters]
    keys = (counted, is_kernel, events["name"], size, events["size"])
    kind = in_order(*distinct_rows(keys))[1]
    time_ps = np.where(events["start"] == ABSENT, 0, events["end"] - events["start"]) * PS_PER_NS
    around = longest_of(events["name"], events["path"], time_ps)
    kinds = []
    for at in np.unique(kind, return_index=True)[1].tolist():
        name, lasted = int(events["name"][at]), int(time_ps[at]) or None
        if not is_kernel[at]:
            label = names[name]  # within a device's memory it is read and written
            moved = int(events["size"][at]) * (2 if label.endswith("DEVICE_TO_DEVICE") else 1)
            traffic = {MemoryLevel.HBM: moved} if moved >= 0 else {}
            kinds.append(
                Launch(name=label, category=COPY, time_ps=lasted, flop=0, traffic_bytes=traffic)
            )
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


def _shape(sizes: Sequence[int]) -> tuple[int, ...]:
    """Workgroups and work items of one along each axis: a dispatch's grid is in work items."""
    if not all(0 < size < 2**31 for size in sizes):
        return (0,) * len(sizes)
    return (*(-(-of // by) for of, by in zip(sizes[:3], sizes[3:], strict=True)), *sizes[3:])


_HOST = {"HOST_TO_DEVICE": "in", "DEVICE_TO_HOST": "out"}


def _kind(kind: Launch) -> int:
    move = _move(kind)
    if move is None:
        return WORK
    return HOST_COPY if move[1] is MemoryLevel.HOST else COMMUNICATION


def _timeline(
    events: Table,
    device: I64,
    launches: Launches,
    kinds: I8,
    op: I64,
    ops: OpTable,
    steps: Sequence[Steps],
) -> Timeline | None:
    """The timeline of all agents, each event on its `device` and of its `op`; `None` where an event
    has no time: its agent's time cannot be divided."""
    if not len(events) or not launches.timed.all():
        return None
    moves = [_move(kind) for kind in launches.kinds]
    distinct = list(dict.fromkeys(move for move in moves if move is not None))
    number = {move: at for at, move in enumerate(distinct)}
    place = np.array([-1 if move is None else number[move] for move in moves], np.int64)
    launched = np.where(events["launched"] == ABSENT, NO_LAUNCH, events["launched"])
    timeline = timeline_on(
        device,
        steps,
        begin=events["start"],
        end=events["end"],
        kind=kinds,
        op=op,
        rows=np.arange(len(ops)),
        transfer=place[launches.kind],
        moved=[collective for collective, _ in distinct],
        links=[link for _, link in distinct],
        launch=launched if (launched != NO_LAUNCH).any() else None,
    )
    return replace(timeline, work=with_calls(timeline.work, ops))


def _move(kind: Launch) -> tuple[Collective, Link] | None:
    """What a launch moves over a link, and over which; `None` for work."""
    if kind.shape is not None:
        return (Collective(kind_by_kernel(kind.name)), None) if is_collective(kind.name) else None
    direction = next((way for words, way in _HOST.items() if words in kind.name), "")
    size = kind.traffic_bytes.get(MemoryLevel.HBM, NAN)
    if kind.name.endswith(PEER):
        return Collective("send", size), MemoryLevel.XGMI
    return (Collective(direction, size), MemoryLevel.HOST) if direction else None

"""Reads results of rocprofv3 into one profile."""

import math
import re
from collections import Counter
from collections.abc import Sequence
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
    cache_sizes,
    counted_launch,
    passes_joined,
)
from roofline.importers.shared.databases import ABSENT, SIGNATURE, joined
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
from roofline.model.memory import MemoryLevel
from roofline.model.notes import NO_PEAKS, counted, notes_beside
from roofline.model.op_columns import I64, Bools
from roofline.model.profile import Host, Profile, Provenance, distinct_rows
from roofline.model.units import PS_PER_NS

_LONGEST_PS, _NEVER = 2**63, 2**62
_HOST = {"HOST_TO_DEVICE": "in", "DEVICE_TO_HOST": "out"}
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
    added_up = [source for source in ordered if is_listed(source, SUMS)]
    sums = [table for one in added_up for table in tables_of(bytes(one.data), one.name, SUMS)]
    for k, source in enumerate(one for one in ordered if one not in (*sheets, *added_up)):
        progress("read", k / len(sources))
        read_one = read_database if source.head.startswith(SIGNATURE) else read_file
        processes += read_one(source, names)
    processes += read_sheets(sheets, names)
    for process in processes:
        # Where counters are read, kernels wait for the profiler, whatever the host launched when.
        process.events["launched"][[*process.counters]] = ABSENT
    found = len([one for one in processes if len(one.events)])
    if not found and sums:
        agents = [agent.device.name for one in processes for agent in one.agents.values()]
        return profile_of_sums(sums, launch_of, _LIST_ALL, next(iter(agents), UNKNOWN.device.name))
    # Where every event is a kernel whose counters were read, the time between them is that of the
    # reading, and says nothing of the program.
    is_counting = all(0 < len(p.events) == len(p.counters) and not p.apart for p in processes)
    # The times are those of the run that counted nothing, if there is one: counting slows.
    processes = passes_joined(
        sorted(processes, key=lambda one: bool(one.counters)),
        kernels=lambda one: one.events["name"][_ordered(one)].tolist(),
        counters=lambda one: {*chain(*one.counters.values())},
        join=_with_pass,
    )
    if not found:
        raise IncompleteProfileError(
            f"{sources[0].name} holds neither kernels nor copies.",
            remedy="Profile with `rocprofv3 --kernel-trace --memory-copy-trace --output-format"
            " json`, and counters with --pmc.",
        )
    read_from = [one for one in sources if one not in added_up]
    profile = _Work(processes, names.texts).profile(read_from, is_counting=is_counting)
    return with_stated_sums(profile, sums, launch_of) if sums and found == 1 else profile


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
    timeless = known.events["start"][of] == ABSENT
    for name in ("start", "end"):
        known.events[name][of[timeless]] = process.events[name][again[timeless]]
    place = dict(zip(again.tolist(), of.tolist(), strict=True))
    for at, counters in process.counters.items():
        known.counters[place[at]] = {**counters, **known.counters.get(place[at], {})}
    return known


def _ordered(process: Process) -> I64:
    """The kernels as they were dispatched."""
    dispatch = process.events["dispatch_id"]
    return np.argsort(dispatch, kind="stable")[int((dispatch == ABSENT).sum()) :]


class _Work:
    """The events of all processes, one after the other, each of a device: one's own agent."""

    def __init__(self, processes: Sequence[Process], names: Sequence[str]) -> None:
        self._processes, self._names = processes, names
        lengths = [len(one.events) for one in processes]
        self._events = events = joined([one.events for one in processes], EVENT)
        self._process = np.repeat(np.arange(len(lengths)), lengths)
        # When each process began, where their clocks are those of several machines.
        first, timed = np.full(len(processes), _NEVER), events["start"] != ABSENT
        np.minimum.at(first, self._process[timed], events["start"][timed])
        known = first[first != _NEVER]
        is_shifted = len(known) > 0 and np.ptp(known) >= APART_NS
        self._begun_ns = first if is_shifted else np.zeros_like(first)
        for name in ("start", "end", "launched"):
            events[name][events[name] != ABSENT] -= self._begun_ns[self._process][
                events[name] != ABSENT
            ]
        pairs, self._device = in_order(*distinct_rows([self._process, events["agent_id"]]))
        self._owners = [(processes[number], agent) for number, agent in pairs.tolist()]
        self._agents = [process.agents.get(agent, UNKNOWN) for process, agent in self._owners]
        self._gpu = next((agent for agent in self._agents if agent is not UNKNOWN), UNKNOWN)
        self._counters = {
            begin + at: counters
            for one, begin in zip(processes, accumulate(lengths, initial=0), strict=False)
            for at, counters in one.counters.items()
        }

    def profile(self, sources: Sequence[SourceFile], *, is_counting: bool) -> Profile:
        """The profile of all processes; one without a timeline where all of them are counting."""
        events, launches = self._events, self._launches()
        if launches.time_ps.sum(dtype=np.float64) >= _LONGEST_PS:
            raise CorruptProfileError(
                f"{sources[0].name} holds times so long that they cannot be added up.",
                remedy="Profile again: its clocks are damaged.",
            )
        found, moves = launch_tables(launches), [*map(_move, launches.kinds)]
        kind = np.array([of for of, *_ in moves])[launches.kind]
        step, steps = self._steps(kind == WORK)
        timeline = None
        if not is_counting and launches.timed.all():  # else an agent's time cannot be divided
            launched = np.where(events["launched"] == ABSENT, NO_LAUNCH, events["launched"])
            timeline = timeline_on(
                self._device,
                steps,
                begin=events["start"],
                end=events["end"],
                kind=kind,
                op=found.launches.op,
                rows=np.arange(len(found.ops)),
                transfer=np.where(kind == WORK, -1, launches.kind),
                moved=[moved for _, moved, _ in moves],
                links=[link for *_, link in moves],
                launch=launched if (launched != NO_LAUNCH).any() else None,
            )
            timeline = replace(timeline, work=with_calls(timeline.work, found.ops))
        uncounted = np.array([kind.flop is None for kind in launches.kinds])[launches.kind]
        counts = {
            "flop-not-counted": int(uncounted.sum()) if self._counters else 0,
            "time-unknown": int((~launches.timed).sum()),
            "clocks-apart": sum(one.apart for one in self._processes),
            "clocks-of-machines": int(timeline is not None and self._begun_ns.any()),
        }
        pids = {one.file_name: one.pid for one in reversed(self._processes)}
        names = {name: f"process {pid}" for name, pid in pids.items() if pid}
        used = Counter(
            one.file_name for one, agent in self._owners if agent in one.agents or not one.agents
        )
        busy_ps, span_ps = self._busy_and_span_ps(launches.timed)
        return without_steps(
            found.ops,
            busy_ps,
            Provenance.MEASURED,
            time_ps=busy_ps if is_counting else max(span_ps, busy_ps),
            device=replace(self._gpu.device, core_count=max(used.total(), 1)),
            hosts=tuple(
                Host(file_name=one, hostname=names.get(one, ""), core_count=used[one])
                for one in (source.name for source in sources)
            ),
            diagnostics=tuple(counted(_NOTES, counts, launches=len(events))),
            limits=(*COUNTED_LIMITS, NO_PEAKS),
            launches=found.launches,
            timeline=timeline,
            kernels=replace(found.kernels, step=step[events["dispatch_id"] != ABSENT]),
            kernels_timed=launches.partly_timed,
            wall_time_ps=timeline.span_ps if timeline else None,
            steps=step_table(steps, step, found.rows),
            has_average=bool(steps),
        )

    def _busy_and_span_ps(self, timed: Bools) -> tuple[int, int]:
        """How long the devices worked, and from the first to the last event of each."""
        columns = (self._device, self._events["start"], self._events["end"])
        device, begin, end = (column[timed] for column in columns)
        busy_ns = busy_times(device, begin, end - begin, len(self._agents))
        span_ns = spans_of(device, begin, end, len(self._agents))
        return int(busy_ns.sum()) * PS_PER_NS, int(span_ns.sum()) * PS_PER_NS

    def _steps(self, is_work: Bools) -> tuple[I64, list[Steps]]:
        """The step that launched each event (-1: none), and the steps of each device; none where
        some event has no time. The steps of all processes are one, where they are equally many."""
        events, processes = self._events, self._processes
        step, launched, begun = np.full(len(events), -1), events["launched"], self._begun_ns
        if len({len(one.steps) for one in processes}) > 1 or (events["start"] == ABSENT).any():
            return step, []
        for number, one in enumerate(processes):
            begin, end = (one.steps - begun[number]).T
            at = np.searchsorted(begin, launched, side="right") - 1
            inside = (self._process == number) & (launched != ABSENT) & (at >= 0)
            inside[inside] &= launched[inside] < end[at[inside]]
            step = np.where(inside, at, step)
        ran = np.unique(step[is_work & (step >= 0)])
        step = np.where(np.isin(step, ran), np.searchsorted(ran, step), -1)
        spans, n = (events["start"], events["end"]), len(self._agents)
        return step, steps_of(*spans, self._device, step, is_work, n) if len(ran) else []

    def _launches(self) -> Launches:
        """All launches, process by process; those without counters have few kinds."""
        events, names = self._events, self._names
        is_kernel = events["dispatch_id"] != ABSENT
        sizes, size = distinct_rows([events[name] for name in SIZES])
        own = np.full(len(events), ABSENT)  # one with counters is a kind of its own
        own[[*self._counters]] = [*self._counters]
        kind = in_order(*distinct_rows((own, is_kernel, events["name"], size, events["size"])))[1]
        time_ps = (
            np.where(events["start"] == ABSENT, 0, events["end"] - events["start"]) * PS_PER_NS
        )
        around = longest_of(events["name"], events["path"], time_ps)
        cache, kinds = cache_sizes(self._gpu.device.traits.architecture, None), list[Launch]()
        for at in np.unique(kind, return_index=True)[1].tolist():
            name, lasted = int(events["name"][at]), int(time_ps[at]) or None
            if not is_kernel[at]:
                text = names[name]  # within a device's memory it is read and written
                moved = int(events["size"][at]) * (2 if text.endswith("DEVICE_TO_DEVICE") else 1)
                of = {MemoryLevel.HBM: moved} if moved >= 0 else {}
                one = Launch(name=text, category=COPY, time_ps=lasted, flop=0, traffic_bytes=of)
                kinds.append(one)
                continue
            shape, mine = _shape(sizes[size[at]].tolist()), self._counters.get(at, {})
            kinds.append(
                counted_launch(
                    # Counters of a block's instances were added up: that is what `…_sum` counts.
                    {**{f"{key}_sum": value for key, value in mine.items()}, **mine},
                    cache,
                    self._agents[self._device[at]].size,
                    lasted,
                    math.prod(shape[:3]) or None,
                    name=names[name],
                    category=kernel_category(names[name]),
                    shape=shape,
                    framework_path=names[around[name]] if around[name] != ABSENT else "",
                )
            )
        grids = [
            f", grid {x}x{y}x{z}" if min(x, y, z) > 0 else "" for x, y, z in sizes[:, :3].tolist()
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


def _move(kind: Launch) -> tuple[int, Collective, Link]:
    """What a launch is, what it moves where that is over a link, and which link."""
    if kind.shape is not None:
        of = COMMUNICATION if is_collective(kind.name) else WORK
        return of, Collective(kind_by_kernel(kind.name)), None
    size = kind.traffic_bytes.get(MemoryLevel.HBM, NAN)
    way = next((way for words, way in _HOST.items() if words in kind.name), "send")
    if kind.name.endswith(PEER):
        return COMMUNICATION, Collective("send", size), MemoryLevel.XGMI
    of = WORK if way == "send" else HOST_COPY
    return of, Collective(way, size), MemoryLevel.HOST

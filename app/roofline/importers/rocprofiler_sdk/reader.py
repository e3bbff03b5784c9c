"""Reads results of rocprofv3 into one profile."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.rocprofiler_sdk.database import read_database
from roofline.importers.rocprofiler_sdk.document import (
    Agent,
    Copy,
    Dispatch,
    Process,
    longest_paths,
    read_file,
)
from roofline.importers.rocprofiler_sdk.sheets import read_sheets, sheet_of
from roofline.importers.rocprofiler_sdk.timeline import agents_timeline
from roofline.importers.shared.amd_counters import (
    AmdSize,
    CacheSizes,
    amd_size,
    busy_shares,
    cache_sizes,
    traffic_bytes,
    unit_flop,
    use_shares,
    why_slow,
)
from roofline.importers.shared.databases import SIGNATURE
from roofline.importers.shared.kernel_names import COPY, kernel_category
from roofline.importers.shared.launches import Launch, Launches, launch_tables, no_steps
from roofline.importers.shared.nesting import busy_times
from roofline.importers.shared.notes import NO_PEAKS, Note, counted
from roofline.importers.source import Progress, SourceFile
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import (
    Diagnostic,
    Host,
    Profile,
    Provenance,
    Severity,
)
from roofline.model.units import KILO, PS_PER_NS

_LONGEST_PS = 2**63
_LIMITS = (
    "HBM bytes are those between L2 and the memory fabric: they include traffic to other devices, "
    "to the host and to the Infinity Cache.",
    "Vector FLOPs assume that all 64 lanes of a wave work; packed fp16 operations count once.",
    NO_PEAKS,
)
_NOTES = {
    "flop-not-counted": Note(
        Severity.WARNING,
        "{count:,} of {launches:,} dispatches have no counters of floating-point work.",
        "Collect SQ_INSTS_VALU_* for all kernels, in several passes if need be.",
    ),
    "time-unknown": Note(
        Severity.WARNING,
        "{count:,} of {launches:,} dispatches have no time.",
        "Add --kernel-trace.",
    ),
}


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`."""
    processes: list[Process] = []
    ordered = sorted(sources, key=lambda source: source.name)
    sheets = [source for source in ordered if sheet_of(source.head) is not None]
    for k, source in enumerate(one for one in ordered if one not in sheets):
        progress("read", k / len(sources))
        is_database = source.head.startswith(SIGNATURE)
        processes += read_database(source) if is_database else read_file(source)
    processes += read_sheets(sheets)
    _forget_launches(processes)
    processes = joined_passes(processes)
    if not any(process.dispatches or process.copies for process in processes):
        raise IncompleteProfileError(
            f"{sources[0].name} holds neither kernels nor copies.",
            remedy="Profile with `rocprofv3 --kernel-trace --memory-copy-trace --output-format"
            " json`, and counters with --pmc.",
        )
    return _profile(sources, processes)


def _forget_launches(processes: Sequence[Process]) -> None:
    """Where counters are read, kernels wait for the profiler, whatever the host launched when."""
    for dispatch in (one for process in processes for one in process.dispatches if one.counters):
        dispatch.launched_ns = None


def joined_passes(processes: Sequence[Process]) -> list[Process]:
    """Passes of one program as one process: the same kernels in the same order, other counters.

    The times are those of the run that counted nothing, if there is one, else of the first pass:
    each pass runs the program again, and counting slows it.
    """
    result: list[Process] = []
    for process in sorted(processes, key=lambda one: bool(_counter_names(one.dispatches))):
        known = next((dispatch for dispatch in result if _is_pass_of(process, dispatch)), None)
        if known is None:
            result.append(process)
            continue
        for dispatch, again in zip(_ordered(known), _ordered(process), strict=True):
            dispatch.counters = {**again.counters, **dispatch.counters}
            dispatch.times = dispatch.times or again.times
    return result


def _ordered(process: Process) -> list[Dispatch]:
    return sorted(process.dispatches, key=lambda dispatch: dispatch.number)


def _is_pass_of(process: Process, other: Process) -> bool:
    """True where both ran the same kernels, and one counted what the other did not. Processes that
    counted nothing are others of the program."""
    mine, theirs = _ordered(process), _ordered(other)
    if [dispatch.kernel for dispatch in mine] != [dispatch.kernel for dispatch in theirs]:
        return False
    names, others = _counter_names(mine), _counter_names(theirs)
    return bool(names or others) and not names & others


def _counter_names(dispatches: Iterable[Dispatch]) -> set[str]:
    return {name for dispatch in dispatches for name in dispatch.counters}


# ------------------------------------------------------------------------------------------ profile


def _profile(sources: Sequence[SourceFile], processes: Sequence[Process]) -> Profile:
    agents = _used_agents(processes)
    sizes = cache_sizes(next((agent.architecture for agent in agents), ""), None)
    launches = _launches(processes, sizes)
    if sum(time_ps or 0 for time_ps in launches.time_ps) >= _LONGEST_PS:
        raise CorruptProfileError(
            f"{sources[0].name} holds times so long that they cannot be added up.",
            remedy="Profile again: its clocks are damaged.",
        )
    ops, table, kernels = launch_tables(launches)
    busy_ps, span_ps = _times(processes)
    timeline = agents_timeline(processes, table.op, ops)
    return Profile(
        device=_device(agents),
        hosts=tuple(_hosts(sources, processes)),
        ops=ops,
        time_ps=max(span_ps, busy_ps),
        op_time_ps=busy_ps,
        normalised_op_time_ps=busy_ps,
        steps=no_steps(tuple(ops.traffic_bytes)),
        diagnostics=tuple(_diagnostics(launches, processes)),
        flop_provenance=Provenance.MEASURED,
        bytes_provenance=Provenance.MEASURED,
        limits=_LIMITS,
        launches=table,
        timeline=timeline,
        kernels=kernels,
        kernels_timed=launches.timed,
        wall_time_ps=timeline.span_ps if timeline else None,
    )


def _used_agents(processes: Sequence[Process]) -> list[Agent]:
    """One entry per GPU that ran something, of all processes."""
    agents = {}
    for process in processes:
        for event in process.events:
            if event.agent in process.agents:
                agents[process.file_name, process.pid, event.agent] = process.agents[event.agent]
    return list(agents.values())


def _device(agents: Sequence[Agent]) -> ReportedDevice:
    first = (
        agents[0]
        if agents
        else Agent(name="AMD GPU", architecture="", compute_units=None, clock_mhz=None)
    )
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=first.name,
        core_count=max(len(agents), 1),
        traits=DeviceTraits(
            processor_count=first.compute_units,
            clock_ghz=first.clock_mhz / KILO if first.clock_mhz else None,
            architecture=first.architecture,
        ),
    )


def _hosts(sources: Sequence[SourceFile], processes: Sequence[Process]) -> Iterable[Host]:
    for source in sources:
        mine = [process for process in processes if process.file_name == source.name]
        yield Host(
            file_name=source.name,
            hostname=f"process {mine[0].pid}" if mine and mine[0].pid else "",
            core_count=len(_used_agents(mine)),
        )


def _launches(processes: Sequence[Process], sizes: CacheSizes) -> Launches:
    """All launches, process by process; those without counters have few kinds."""
    around, kinds, kind = longest_paths(processes), list[Launch](), list[int]()
    known: dict[object, int] = {}
    for process in processes:
        gpus = {number: _size(agent) for number, agent in process.agents.items()}
        for one in process.dispatches:
            key = id(one) if one.counters else (one.kernel, one.shape)
            if key not in known:
                known[key] = len(kinds)
                launch = _kernel(one, sizes, gpus.get(one.agent, AmdSize()))
                kinds.append(replace(launch, framework_path=around[one.kernel]))
            kind.append(known[key])
        for copy in process.copies:
            kind.append(len(kinds))
            kinds.append(_copy(copy))
    events = [event for process in processes for event in process.events]
    return Launches(
        kinds=kinds,
        kind=np.array(kind, np.int64),
        time_ps=[
            (one.times[1] - one.times[0]) * PS_PER_NS if one.times else None for one in events
        ],
        detail=[one.detail for one in events],
    )


def _size(agent: Agent) -> AmdSize:
    return amd_size(
        agent.architecture,
        units=agent.compute_units,
        clock_ghz=agent.clock_mhz / KILO if agent.clock_mhz else None,
        dies=agent.dies,
        unit_waves=agent.unit_waves,
    )


def _kernel(dispatch: Dispatch, sizes: CacheSizes, size: AmdSize) -> Launch:
    # Counters of a block's instances were added up: that is what `…_sum` counts.
    counters = {
        **{f"{name}_sum": value for name, value in dispatch.counters.items()},
        **dispatch.counters,
    }
    flop, moved = unit_flop(counters), traffic_bytes(counters, sizes)
    time_ps = (dispatch.times[1] - dispatch.times[0]) * PS_PER_NS if dispatch.times else None
    return Launch(
        name=dispatch.kernel,
        category=kernel_category(dispatch.kernel),
        time_ps=time_ps,
        flop=None if flop is None else sum(flop.values()),
        unit_flop=flop or {},
        traffic_bytes=moved,
        busy=busy_shares(counters, size, time_ps),
        use=use_shares(counters),
        slow=why_slow(counters, size, time_ps, dispatch.blocks),
        shape=dispatch.shape,
    )


def _copy(copy: Copy) -> Launch:
    """A copy within the devices' memory is read and written there."""
    within = "DEVICE_TO_DEVICE" in copy.name
    size = None if copy.size is None else copy.size * (2 if within else 1)
    return Launch(
        name=copy.name,
        category=COPY,
        time_ps=(copy.times[1] - copy.times[0]) * PS_PER_NS if copy.times else None,
        flop=0,
        traffic_bytes={} if size is None else {MemoryLevel.HBM: size},
    )


def _times(processes: Sequence[Process]) -> tuple[int, int]:
    """Busy time and span of all devices, summed, in ps."""
    busy = span = 0
    for process in processes:
        timed = [(event.agent, *event.times) for event in process.events if event.times]
        agent, begin, end = np.array(timed, np.int64).reshape(-1, 3).T
        agents, number = np.unique(agent, return_inverse=True)
        busy += int(busy_times(number, begin, end - begin, len(agents)).sum())
        for one in range(len(agents)):
            span += int(end[number == one].max() - begin[number == one].min())
    return busy * PS_PER_NS, span * PS_PER_NS


def _diagnostics(launches: Launches, processes: Sequence[Process]) -> Iterable[Diagnostic]:
    has_counters = any(_counter_names(process.dispatches) for process in processes)
    counts = {
        "flop-not-counted": has_counters
        * sum(launches.kinds[at].flop is None for at in launches.kind.tolist()),
        "time-unknown": sum(time_ps is None for time_ps in launches.time_ps),
    }
    yield from counted(_NOTES, counts, launches=len(launches.kind))

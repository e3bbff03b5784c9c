"""Files of Nsight Compute to one profile: kernels as ops, peaks, what is missing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import TypeVar

import numpy as np

from roofline.errors import IncompleteProfileError
from roofline.importers.nsight_compute.busy import DRAM_SHARE, SlowCause, slow_cause
from roofline.importers.nsight_compute.launches import MAGIC, Capture, Launch, ResultKind
from roofline.importers.nsight_compute.notes import diagnostics, limits
from roofline.importers.nsight_compute.report import read_report
from roofline.importers.nsight_compute.tables import read_tables
from roofline.importers.nsight_compute.work import LaunchWork, launch_work
from roofline.importers.shared.kernel_names import kernel_category
from roofline.importers.shared.launches import (
    beside_timed,
    in_all_launches,
    shares_of_time,
    without_steps,
)
from roofline.importers.shared.op_tables import OpLabels, OpRows, OpTableBuilder
from roofline.importers.source import Progress, SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits, PeakOrigin, ReportedDevice
from roofline.model.environment import environment, merged
from roofline.model.memory import MemoryLevel
from roofline.model.notes import compared, differences
from roofline.model.op_columns import F64, I64, U64
from roofline.model.profile import (
    Host,
    Kernels,
    LaunchTable,
    Profile,
    Provenance,
    Stated,
    distinct_shapes,
    sizes_along,
)
from roofline.model.units import GIGA, MEGA, NS_PER_S, PS_PER_NS, PS_PER_S

Key = TypeVar("Key", ComputeUnit, MemoryLevel)
Measured = tuple[Launch, LaunchWork]

_POINTS = 10.0  # shares of a peak that are this close agree

_LARGEST = 2**63 - 1
_ORDER = (MemoryLevel.DRAM, MemoryLevel.L2, MemoryLevel.L1, MemoryLevel.SHARED)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile of all kernels in `sources`."""
    captures = []
    for done, source in enumerate(sources, 1):
        is_report = source.head.startswith(MAGIC)
        captures.append(read_report(source) if is_report else read_tables(source))
        progress("read", done / len(sources))
    return build_profile(captures)


def build_profile(captures: Sequence[Capture]) -> Profile:
    """One profile of all launches. Raises `IncompleteProfileError` if none was measured."""
    pairs = [(launch, launch_work(launch)) for capture in captures for launch in capture.launches]
    measured = [(launch, work) for launch, work in pairs if not work.is_empty]
    if not measured:
        raise _nothing_measured(captures, len(pairs))
    launches, works = [launch for launch, _ in measured], [work for _, work in measured]
    builder = OpTableBuilder(_levels(works))
    causes = _slow_causes(launches, works)
    labels = [_label(launch, causes[launch.name]) for launch in launches]
    number = builder.numbers(labels)
    rows = _rows(works, number)
    builder.add(labels, rows)
    ops = builder.build()
    time_ps = int(ops.time_ps[ops.time_known].sum(dtype=np.uint64))
    stated = _stated(captures, measured)
    return without_steps(
        ops,
        time_ps,
        Provenance.MEASURED,
        format_detail=_version(captures),
        device=read_device(launches, works),
        hosts=tuple(_host(capture) for capture in captures),
        captured_at_ns=min((c.captured_at_ns for c in captures if c.captured_at_ns), default=None),
        diagnostics=(*diagnostics(captures, pairs), *differences(stated)),
        stated=stated,
        limits=limits(works),
        launches=_launch_table(launches, works, number),
        kernels=_kernels(launches, rows, number),
        environment=merged(
            environment({**capture.versions, "profiler_version": capture.tool_version})
            for capture in captures
        ),
        program=next((capture.program for capture in captures if capture.program), ""),
    )


def _stated(captures: Sequence[Capture], measured: Sequence[Measured]) -> tuple[Stated, ...]:
    """The share of DRAM's peak that the reports state, and that of the bytes: means over time."""
    rows = [
        (work.time_ns, 100 * moved.bytes * NS_PER_S / work.time_ns / moved.peak_bytes_per_s, theirs)
        for launch, work in measured
        if work.time_ns
        and (moved := work.moved.get(MemoryLevel.DRAM)) is not None
        and moved.peak_bytes_per_s
        and not moved.is_derived
        and (theirs := launch.numbers.get(DRAM_SHARE)) is not None
    ]
    if not rows:
        return ()
    time_ns, ours, theirs = np.array(rows, np.float64).T
    ours, theirs = (float(np.average(share, weights=time_ns)) for share in (ours, theirs))
    where = ", ".join(capture.file_name for capture in captures[:3])
    what = "% of DRAM's peak, mean of the kernels"
    return (compared(what, ours, theirs, where, points=_POINTS),)


def _version(captures: Sequence[Capture]) -> str:
    """The version of the profiler that took all captures; empty where they differ or do not say."""
    versions = {capture.tool_version for capture in captures}
    return versions.pop() if len(versions) == 1 else ""


def _nothing_measured(captures: Sequence[Capture], count: int) -> IncompleteProfileError:
    names = ", ".join(capture.file_name for capture in captures[:3])
    if not count:
        return IncompleteProfileError(
            f"{names} holds no profiled kernel.",
            remedy="Check the profiler's own messages: a filter that matches no kernel, missing "
            "permission for GPU counters (ERR_NVGPUCTRPERM), or a program that ended early.",
        )
    return IncompleteProfileError(
        f"{names} holds {count:,} kernels, but no time, FLOPs, bytes or busy shares of any: "
        "profiling failed, or only other metrics were collected.",
        remedy="Profile again with: ncu --set roofline -o report PROGRAM",
    )


def _host(capture: Capture) -> Host:
    gpus = {(launch.device_index, launch.device_name) for launch in capture.launches}
    return Host(
        file_name=capture.file_name,
        hostname=capture.hostname,
        core_count=max(1, len(gpus)),
        device=named_device(capture.launches),
    )


def _slow_causes(launches: Sequence[Launch], works: Sequence[LaunchWork]) -> dict[str, SlowCause]:
    """Why each kernel is slow: the cause of the longest of its launches for which one is known."""
    longest: dict[str, tuple[bool, float, SlowCause]] = {}
    for launch, work in zip(launches, works, strict=True):
        cause = slow_cause(launch, work.time_ns)
        candidate = (bool(cause.why), work.time_ns or 0.0, cause)
        longest[launch.name] = max(
            longest.get(launch.name, candidate), candidate, key=lambda known: known[:2]
        )
    return {name: cause for name, (_, _, cause) in longest.items()}


def _label(launch: Launch, cause: SlowCause) -> OpLabels:
    return OpLabels(
        name=launch.name,
        # Of a range or a graph its kind: the name is only a number.
        category=kernel_category(launch.name)
        if launch.kind is ResultKind.KERNEL
        else launch.kind.value,
        slow_why=cause.why,
        slow_words=cause.words,
    )


def _levels(works: Sequence[LaunchWork]) -> tuple[MemoryLevel, ...]:
    """Main memory, and every level that any launch knows bytes of."""
    known = {level for work in works for level in work.moved}
    return tuple(level for level in _ORDER if level in known or level is MemoryLevel.DRAM)


def _units(works: Sequence[LaunchWork]) -> tuple[ComputeUnit, ...]:
    """Units that any launch used; those that were counted but idle say nothing."""
    used = {unit for work in works for unit, flop in work.flop.items() if flop > 0}
    return tuple(unit for unit in ComputeUnit if unit in used)


def _rows(works: Sequence[LaunchWork], op: I64) -> OpRows:
    """One row per launch, whose kernel is `op`; the table adds up those of one kernel.

    Work that some launch of a kernel does not know is not known of the kernel: its time counts.
    Launches of which only busy shares are known count one second each, which no sum includes.
    """
    units, levels = _units(works), _levels(works)
    timed = np.array([w.time_ns is not None for w in works], np.bool_)
    left_out, every = beside_timed(op, timed), np.arange(len(works))
    is_counted = np.array([w.flop_known for w in works], np.bool_)
    flop_known = in_all_launches(op, left_out | is_counted)
    is_rate = ~left_out & in_all_launches(op, [w.has_only_shares for w in works])
    time_ps = np.where(is_rate, np.uint64(PS_PER_S), _times_ps(works))
    has_dram = np.array([MemoryLevel.DRAM in w.moved for w in works], np.bool_)
    counted, moved = flop_known & ~left_out, ~left_out
    unit_flop = {u: counted * _counts([w.flop.get(u) for w in works]) for u in units}
    traffic = {level: moved * _counts([_bytes(w, level) for w in works]) for level in levels}
    flop = np.zeros(len(works), np.uint64)
    for column in unit_flop.values():
        flop += column
    return OpRows(
        label=np.arange(len(works)),
        occurrences=np.ones(len(works), np.int64),
        time_ps=time_ps,
        time_known=timed,
        flop=flop,
        bytes_accessed=traffic[MemoryLevel.DRAM],
        traffic_bytes=traffic,
        traffic_known=np.array([bool(w.moved) for w in works], np.bool_),
        cost_known=np.array([bool(w.flop or w.moved) for w in works], np.bool_),
        flop_known=flop_known,
        bytes_known=in_all_launches(op, left_out | has_dram),
        integer_ops=_known([w.opcodes.integer_ops for w in works]),
        unit_flop=unit_flop,
        unit_capacity_flop=_capacities(units, works, lambda w, unit: w.peak_flop_s.get(unit)),
        level_capacity_bytes=_capacities(levels, works, _peak_bytes_per_s),
        busy_ps=shares_of_time(op, time_ps, every, [w.busy for w in works]),
        use_ps=shares_of_time(op, time_ps, every, [w.use for w in works]),
    )


def _times_ps(works: Sequence[LaunchWork]) -> U64:
    return _counts([None if w.time_ns is None else w.time_ns * PS_PER_NS for w in works])


def _bytes(work: LaunchWork, level: MemoryLevel) -> float | None:
    moved = work.moved.get(level)
    return None if moved is None else moved.bytes


def _peak_bytes_per_s(work: LaunchWork, level: MemoryLevel) -> float | None:
    moved = work.moved.get(level)
    return None if moved is None else moved.peak_bytes_per_s


def _counts(values: Sequence[float | None]) -> U64:
    """Whole numbers; 0 where unknown. Differences of counters can be below zero: none."""
    whole = [0 if v is None else round(min(max(v, 0.0), _LARGEST)) for v in values]
    return np.array(whole, np.uint64)


def _capacities(
    keys: Sequence[Key],
    works: Sequence[LaunchWork],
    peak: Callable[[LaunchWork, Key], float | None],
) -> dict[Key, F64]:
    """Peak × time of each launch, NaN where either is unknown; keys without any are left out."""
    columns, times_ns = {}, _known([work.time_ns for work in works])
    for key in keys:
        column = _known([peak(work, key) for work in works]) * times_ns / NS_PER_S
        if not np.isnan(column).all():
            columns[key] = column
    return columns


def _launch_table(
    launches: Sequence[Launch], works: Sequence[LaunchWork], number: I64
) -> LaunchTable:
    levels = _levels(works)
    return LaunchTable(
        op=number,
        detail=tuple(_detail(launch) for launch in launches),
        time_ps=_times_ps(works),
        flop=_known([w.total_flop for w in works]),
        traffic_bytes={level: _known([_bytes(w, level) for w in works]) for level in levels},
    )


def _kernels(launches: Sequence[Launch], rows: OpRows, number: I64) -> Kernels:
    """The launches of single kernels; a range or a graph is not one."""
    place = [k for k, launch in enumerate(launches) if launch.kind is ResultKind.KERNEL]
    extents = [(launches[k].grid or (0, 0, 0)) + (launches[k].block or (0, 0, 0)) for k in place]
    names = tuple(dict.fromkeys(launch.name for launch in launches))
    at = {name: k for k, name in enumerate(names)}
    return Kernels(
        names=names,
        name=np.array([at[launches[k].name] for k in place], np.int64),
        op=number[place],
        step=np.full(len(place), -1),
        **distinct_shapes(sizes_along(extents)),
        time_ps=rows.time_ps[place] * rows.time_known[place],
        work=rows.select(np.array(place, np.int64)),
    )


def _known(values: Sequence[float | None]) -> F64:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _detail(launch: Launch) -> str:
    """The words that tell launches of one kernel apart."""
    parts = []
    if launch.grid is not None and launch.block is not None:
        parts.append(f"grid {_extent(launch.grid)}, block {_extent(launch.block)}")
    if launch.stream:
        parts.append(f"stream {launch.stream}")
    if launch.device_index:
        parts.append(f"GPU {launch.device_index}")
    return ", ".join(parts)


def _extent(sides: Sequence[int]) -> str:
    return "×".join(map(str, sides))


Roof = TypeVar("Roof", ComputeUnit, MemoryLevel)
PeakOf = TypeVar("PeakOf", ComputeUnit, MemoryLevel, str)

# Short kernels end before clocks have risen: their peaks are lower than what the GPU sustains.
LONG_SHARE = 0.1
_BITS_PER_BYTE = 8
_DOUBLE_DATA_RATE = 2


def gpu_key(launch: Launch) -> tuple[int | None, str]:
    """A key that tells the GPUs of one capture apart."""
    return launch.device_index, launch.device_name


def read_device(launches: Sequence[Launch], works: Sequence[LaunchWork]) -> ReportedDevice:
    """The GPU that most time was spent on; `core_count` counts all of them."""
    times: dict[str, float] = {}
    for launch, work in zip(launches, works, strict=True):
        times[launch.device_name] = times.get(launch.device_name, 0.0) + (work.time_ns or 0.0)
    name = max(times, key=lambda key: (bool(key), times[key]))
    of_name = [k for k, launch in enumerate(launches) if launch.device_name == name]
    chosen = [works[k] for k in of_name]
    compute = _long_medians((w.time_ns, w.peak_flop_s) for w in chosen)
    memory = _long_medians((w.time_ns, _bandwidths(w)) for w in chosen)
    first = launches[of_name[0]]
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=name or "NVIDIA GPU",
        core_count=len({gpu_key(launch) for launch in launches}),
        unit_gflops={unit: value / GIGA for unit, (value, _) in compute.items()},
        bandwidth_gbs={level: value / GIGA for level, (value, _) in memory.items()},
        traits=_traits(first.numbers),
        derivation=_derivation(compute, "multiply-adds per cycle × SM clock")
        | _derivation(memory, "bytes per cycle × clock"),
        peak_origin=PeakOrigin.MEASURED,
        peak_clock_ghz=_clock_ghz(chosen),
    )


def named_device(launches: Sequence[Launch]) -> ReportedDevice | None:
    """The GPU of one file by its name and traits; `None` without a name, and for several models."""
    named = {launch.device_name: launch for launch in launches if launch.device_name}
    if len(named) != 1:
        return None
    name, launch = next(iter(named.items()))
    return ReportedDevice(
        kind=DeviceKind.GPU, name=name, core_count=1, traits=_traits(launch.numbers)
    )


def _bandwidths(work: LaunchWork) -> dict[MemoryLevel, float]:
    return {
        level: moved.peak_bytes_per_s
        for level, moved in work.moved.items()
        if moved.peak_bytes_per_s is not None
    }


def _long_medians(
    peaks: Iterable[tuple[float | None, Mapping[PeakOf, float]]],
) -> dict[PeakOf, tuple[float, int]]:
    """Median peak over long launches by key, and of how many."""
    known = [(time or 0.0, by_key) for time, by_key in peaks if by_key]
    longest = max((time for time, _ in known), default=0.0)
    by_key_peaks: dict[PeakOf, list[tuple[float, float]]] = {}
    for time, by_key in known:
        for key, peak in by_key.items():
            by_key_peaks.setdefault(key, []).append((time, peak))
    result = {}
    for key, pairs in by_key_peaks.items():
        chosen = [peak for time, peak in pairs if time >= LONG_SHARE * longest]
        chosen = chosen or [max(pairs)[1]]
        result[key] = (median(chosen), len(chosen))
    return result


def _clock_ghz(works: Sequence[LaunchWork]) -> float | None:
    """The SMs' clock during the launches that the peaks are of; `None` where it was not counted."""
    with_peaks = [work for work in works if work.peak_flop_s] or works
    clocks = _long_medians((w.time_ns, {"clock": w.clock_hz}) for w in with_peaks if w.clock_hz)
    return clocks["clock"][0] / GIGA if clocks else None


def _derivation(peaks: Mapping[Roof, tuple[float, int]], words: str) -> dict[str, str]:
    return {
        key.value: f"measured by Nsight Compute: {words}, at the clocks of "
        + ("one long launch" if count == 1 else f"{count:,} long launches (median)")
        for key, (_, count) in peaks.items()
    }


def _traits(numbers: Mapping[str, float]) -> DeviceTraits:
    def attribute(name: str) -> float | None:
        return numbers.get(f"device__attribute_{name}") or None

    major, minor = (
        numbers.get(f"device__attribute_compute_capability_{part}") for part in ("major", "minor")
    )
    count, memory = attribute("multiprocessor_count"), attribute("total_memory")
    clock = attribute("clock_rate")
    return DeviceTraits(
        processor_count=None if count is None else int(count),
        clock_ghz=None if clock is None else clock / MEGA,
        memory_bytes=None if memory is None else int(memory),
        memory_gbs=_memory_gbs(
            attribute("fb_bus_width") or attribute("global_memory_bus_width"),
            attribute("max_mem_frequency_khz"),
        ),
        architecture="" if major is None or minor is None else f"sm_{int(major)}{int(minor)}",
    )


def _memory_gbs(width_bits: float | None, clock_khz: float | None) -> float | None:
    """Bandwidth in GB/s by the data sheet's rule: width × clock × 2 transfers per cycle."""
    if width_bits is None or clock_khz is None:
        return None
    return width_bits / _BITS_PER_BYTE * clock_khz * _DOUBLE_DATA_RATE / MEGA

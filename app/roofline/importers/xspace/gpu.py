"""One GPU host: kernels of all its GPUs to a profile with ops, steps and device.

Kernels without HLO are listed by their names, and time that several streams share counts once.

Facts of GPUs: XProf 2.24.2, measured. FLOP per multiprocessor and cycle is the most that any
16- or 32-bit unit does. Shared memory: XProf counts twice what NVIDIA's parts can move; NVIDIA's
number per multiprocessor and cycle: CUDA C++ Programming Guide, "Compute Capabilities" (32 banks of
4 bytes).
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from roofline.importers.shared.op_tables import OpTableBuilder
from roofline.importers.shared.stream_timeline import with_calls
from roofline.importers.shared.sweep import union_length
from roofline.importers.xspace.gpu_timeline import gpu_timeline
from roofline.importers.xspace.gpu_transfers import HostLinks
from roofline.importers.xspace.grouping import EventGroups, add_step_work, group_events, step_labels
from roofline.importers.xspace.hlo.ops import VECTOR_UNITS, Programs, unit_on_gpu
from roofline.importers.xspace.kernels import KERNEL_CATEGORY, Kernels, read_kernels
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import Plane, Space, Stats
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.notes import counted, noted, notes_beside
from roofline.model.op_columns import I64, U64, OpColumns
from roofline.model.profile import Diagnostic, Host, Profile, StepTable
from roofline.model.units import GIGA, KILO, PS_PER_MS

_NOTES = notes_beside(__file__)

GPU_LEVELS = (MemoryLevel.HBM,)
_SAME_TIME = 0.9  # of the capture, per GPU on average: below it, they ran at different times


def read_gpu_host(space: Space, oddities: Oddities, progress: Callable[[float], None]) -> Profile:
    """The profile of one GPU host."""
    programs = Programs(space, unit_on_gpu, oddities)
    at = [k for k, plane in enumerate(space.planes) if plane.is_gpu]
    # Side by side: grouping is mostly compiled scans, reading costs mostly Python.
    with ThreadPoolExecutor(max_workers=1) as pool:
        grouping = pool.submit(group_events, space, at)
        gpus = list(_read_gpus(space, at, grouping, programs, oddities, progress))
        groups = grouping.result()
    builder = OpTableBuilder(GPU_LEVELS)
    for gpu in gpus:
        builder.add(gpu.labels, gpu.rows())
    steps = _steps(gpus, groups, oddities)
    hosts = [plane for plane in space.planes if plane.is_host]
    timeline = gpu_timeline([space.planes[k] for k in at], gpus, builder.numbers, hosts)
    ops = builder.build()
    if timeline is not None:
        timeline = replace(timeline, work=with_calls(timeline.work, ops))
    busy = [_busy_ps(gpu, oddities) for gpu in gpus]
    cores = _cores(gpus, oddities)
    span_ps = timeline.span_ps if timeline else 0
    return Profile(
        device=read_gpu_device(space.gpus[0], count=cores, oddities=oddities),
        hosts=(Host(file_name=space.file_name, hostname=space.hostname, core_count=cores),),
        ops=ops,
        time_ps=sum(max(b, gpu.range_ps) for b, gpu in zip(busy, gpus, strict=True)),
        op_time_ps=sum(busy),
        normalised_op_time_ps=sum(busy),
        wall_time_ps=max(span_ps, *(gpu.range_ps for gpu in gpus)) or None,
        steps=steps,
        has_average=not oddities.zeroes_gpu_steps,
        captured_at_ns=space.captured_at_ns,
        program_names={k: name for k in set(ops.program_id.tolist()) if (name := programs.name(k))},
        diagnostics=tuple(_diagnostics(gpus, steps, programs, span_ps)),
        timeline=timeline,
    )


def _read_gpus(
    space: Space,
    at: Sequence[int],
    grouping: Future[EventGroups],
    programs: Programs,
    oddities: Oddities,
    progress: Callable[[float], None],
) -> Iterator[Kernels]:
    is_amd = space.gpus[0].stats.text("device_vendor") == "AMD"
    links = HostLinks(n_gpus=len(at), link=MemoryLevel.XGMI if is_amd else MemoryLevel.NVLINK)
    for done, k in enumerate(at, 1):
        yield read_kernels(
            space.planes[k],
            partial(_groups_of_plane, grouping, k),
            programs,
            inherit=lambda: not grouping.result().from_file,
            oddities=oddities,
            host=links,
        )
        progress(done / len(at))


def _groups_of_plane(grouping: Future[EventGroups], index: int) -> Mapping[int, I64]:
    by_line = grouping.result().by_line
    return {line: groups for (plane, line), groups in by_line.items() if plane == index}


def _cores(gpus: Sequence[Kernels], oddities: Oddities) -> int:
    """How many GPUs the times are means over: those that ran something, all where none did."""
    return len(gpus) if oddities.counts_resting_gpus else len(_working(gpus) or gpus)


def _working(gpus: Sequence[Kernels]) -> list[Kernels]:
    """GPUs that ran something; the others have no time in the capture."""
    return [gpu for gpu in gpus if len(gpu)]


def _busy_ps(gpu: Kernels, oddities: Oddities) -> int:
    """Time in ops; what several streams share counts once."""
    is_op = gpu.op >= 0
    if oddities.adds_up_streams:
        return int(gpu.duration_ps[is_op].sum(dtype=np.uint64))
    return union_length(gpu.begin_ps[is_op], gpu.duration_ps[is_op])


# -------------------------------------------------------------------------------------------- steps


def _steps(gpus: Sequence[Kernels], groups: EventGroups, oddities: Oddities) -> StepTable:
    """A step per group of which a GPU ran a kernel."""
    marked = [gpu.group[gpu.marks_step & (gpu.group >= 0)] for gpu in gpus]
    step_ids = np.unique(np.concatenate([np.zeros(0, np.int64), *marked]))
    most = oddities.most_gpu_steps_kept
    if most is not None and len(step_ids) > most:
        step_ids = step_ids[1:-1]
    by_group = oddities.numbers_gpu_steps_by_group
    begin, end, duration = _spans(gpus, step_ids)
    table = StepTable(
        label=tuple(map(str, step_ids.tolist()))
        if by_group
        else step_labels(step_ids, groups.roots),
        begin_ps=begin,
        end_ps=end,
        duration_ps=duration,
        time_ps=np.zeros(len(step_ids), np.uint64),
        sums=OpColumns.zeros((len(step_ids), 2), GPU_LEVELS, VECTOR_UNITS),
    )
    if oddities.zeroes_gpu_steps:
        return table
    for gpu in _working(gpus):
        scope, rows = gpu.rows_by_step(step_ids)
        add_step_work(table, scope, rows, [label.category for label in gpu.labels])
        table.time_ps[:] += np.maximum(_busy_by_step(gpu, step_ids), duration)
    return table


def _spans(gpus: Sequence[Kernels], groups: I64) -> tuple[U64, U64, U64]:
    """Begin and end of each step over all GPUs, and its longest span on one of them."""
    begin = np.full(len(groups), 2**64 - 1, np.uint64)
    end, duration = np.zeros(len(groups), np.uint64), np.zeros(len(groups), np.uint64)
    for gpu in gpus:
        inside = np.isin(gpu.group, groups)
        scope = np.searchsorted(groups, gpu.group[inside])
        first = np.full(len(groups), 2**64 - 1, np.uint64)
        last = np.zeros(len(groups), np.uint64)
        np.minimum.at(first, scope, gpu.begin_ps[inside])
        np.maximum.at(last, scope, gpu.begin_ps[inside] + gpu.duration_ps[inside])
        begin, end = np.minimum(begin, first), np.maximum(end, last)
        duration = np.maximum(duration, np.where(last > first, last - first, np.uint64(0)))
    return begin, end, duration


def _busy_by_step(gpu: Kernels, groups: I64) -> U64:
    """Time in ops of each step on one GPU, streams that run at once counted once."""
    is_op = gpu.op >= 0
    busy = [
        union_length(gpu.begin_ps[inside], gpu.duration_ps[inside])
        for inside in (is_op & (gpu.group == group) for group in groups.tolist())
    ]
    return np.array(busy, np.uint64)


# -------------------------------------------------------------------------------------- diagnostics


def _diagnostics(
    gpus: Sequence[Kernels], steps: StepTable, programs: Programs, span_ps: int
) -> Iterator[Diagnostic]:
    counts = {
        "no-steps": int(not len(steps)),
        "kernels-without-hlo": sum(map(_kernels_without_hlo, gpus)),
        "several-kernels-per-op": _ops_of_several_kernels(gpus),
        "unreadable-hlo": programs.unreadable,
    }
    yield from counted(_NOTES, counts)
    working = _working(gpus)
    resting = len(gpus) - len(working)
    if resting and working:
        slots = {"resting": resting, "gpus": len(gpus), "working": len(working)}
        yield noted(_NOTES, "gpus-without-kernels", **slots)
    # Sums do not show that GPUs ran in different parts of the capture.
    ranges_ps = [gpu.range_ps for gpu in working]
    if sum(ranges_ps) < _SAME_TIME * len(ranges_ps) * span_ps:
        mean, span = (f"{ps / PS_PER_MS:.3g} ms" for ps in (np.mean(ranges_ps), span_ps))
        yield noted(_NOTES, "gpus-at-different-times", mean=mean, span=span)


def _kernels_without_hlo(gpu: Kernels) -> int:
    unmatched = [k for k, label in enumerate(gpu.labels) if label.category == KERNEL_CATEGORY]
    return int(np.isin(gpu.op, unmatched).sum())


def _ops_of_several_kernels(gpus: Sequence[Kernels]) -> int:
    split = {
        (gpu.labels[k].program_id, gpu.labels[k].name)
        for gpu in gpus
        for k in np.unique(gpu.op[(gpu.op >= 0) & ~gpu.starts]).tolist()
    }
    return len(split)


T = TypeVar("T")

_GFX = re.compile(r"gfx[0-9a-f]{3,}", re.IGNORECASE)
_BARE_GFX = re.compile(r"gfx[0-9a-f]{3,}\Z")

# NVIDIA: compute capability → FLOP per SM and cycle; a device has the entry at or below its own.
_NVIDIA_FLOP = {
    (2, 0): 64, (3, 0): 384, (5, 0): 256, (6, 0): 256, (6, 1): 256, (7, 0): 1024, (7, 5): 1024,
    (8, 0): 2048, (8, 6): 1024, (8, 9): 1024, (9, 0): 4096, (10, 0): 8192,
}  # fmt: skip
_NVIDIA_FAMILIES = {
    (2, 0): "Fermi", (3, 0): "Kepler", (5, 0): "Maxwell", (6, 0): "Pascal", (7, 0): "Volta",
    (7, 5): "Turing", (8, 0): "Ampere", (8, 9): "Ada Lovelace", (9, 0): "Hopper",
    (10, 0): "Blackwell",
}  # fmt: skip
_FIRST_NVIDIA = (2, 0)
_LAST_NVIDIA_MAJOR = 10
_MISSING_NVIDIA_MAJORS = (4,)
# Bytes per SM and cycle from shared memory and L1.
_NVIDIA_SHARED_BYTES = {(2, 0): 64, (3, 0): 256, (5, 0): 128, (7, 5): 64, (8, 0): 128}

# AMD: architecture → FLOP per compute unit and cycle.
_AMD_FLOP = {"gfx908": 1024, "gfx90a": 1024, "gfx942": 2048, "gfx950": 4096}
_AMD_SHARED_BYTES = {"gfx908": 128, "gfx90a": 128, "gfx942": 128, "gfx950": 256}
_AMD_BY_VERSION = {(9, 4): "gfx942", (9, 5): "gfx950"}


@dataclass(frozen=True, slots=True)
class _Rates:
    """The rates of one multiprocessor per cycle; `None` where that is unknown."""

    name: str
    flop: int | None
    shared_bytes: int | None


def read_gpu_device(plane: Plane, *, count: int, oddities: Oddities) -> ReportedDevice:
    """The device that a GPU plane describes; `count` of them are one host."""
    stats = plane.stats
    rates = _rates(stats, oddities)
    units = stats.int_or_uint("core_count")
    gigahertz = stats.int_or_uint("clock_rate") * KILO / GIGA
    cycles = units * gigahertz  # multiprocessor cycles per nanosecond
    peak = (stats.double("peak_teraflops_per_second") or 0.0) * KILO
    shared = stats.double("peak_sram_wr_bw_gigabytes_per_second") or 0.0
    bandwidth = {
        MemoryLevel.HBM: stats.int_or_uint("memory_bandwidth") / GIGA,
        MemoryLevel.SHARED_L1: shared if shared > 0 else (rates.shared_bytes or 0) * cycles,
    }
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=rates.name,
        core_count=count,
        peak_gflops=(peak if peak > 0 else (rates.flop or 0) * cycles) or None,
        bandwidth_gbs={level: value for level, value in bandwidth.items() if value},
        has_merged_vmem=True,
        traits=DeviceTraits(
            processor_count=units or None,
            clock_ghz=gigahertz or None,
            memory_bytes=stats.int_or_uint("memory_size") or None,
            memory_gbs=bandwidth[MemoryLevel.HBM] or None,
            architecture=_architecture(stats),
        ),
        derivation=_derivation(stats, rates, units, gigahertz),
    )


def _architecture(stats: Stats) -> str:
    """The architecture's own spelling: "sm_90", "gfx942"; empty where the file does not say."""
    if stats.text("device_vendor") == "AMD":
        return _gfx(stats, Oddities(on=False))
    major, minor = _version(stats)
    return f"sm_{major}{minor}" if major else ""


def _gfx(stats: Stats, oddities: Oddities) -> str:
    """AMD's name of the architecture, from the device's name or else its version; empty without."""
    name = stats.text("gpu_device_name")
    match = _BARE_GFX.match(name) if oddities.wants_bare_gfx_name else _GFX.search(name)
    return match[0].lower() if match else _AMD_BY_VERSION.get(_version(stats), "")


def _version(stats: Stats) -> tuple[int, int]:
    return stats.int_or_uint("compute_cap_major"), stats.int_or_uint("compute_cap_minor")


def _derivation(stats: Stats, rates: _Rates, units: int, gigahertz: float) -> dict[str, str]:
    """How peaks that the file does not state come about, by "compute" or level."""
    each = f"{units} multiprocessors × {gigahertz:g} GHz"
    derived = {MemoryLevel.HBM.value: "memory_bandwidth of the device plane"}
    if not (stats.double("peak_teraflops_per_second") or 0.0) > 0 and rates.flop:
        derived["compute"] = f"{each} × {rates.flop:,} FLOP per cycle"
    stated = (stats.double("peak_sram_wr_bw_gigabytes_per_second") or 0.0) > 0
    if not stated and rates.shared_bytes:
        derived[MemoryLevel.SHARED_L1.value] = f"{each} × {rates.shared_bytes} bytes per cycle"
    return derived


def _rates(stats: Stats, oddities: Oddities) -> _Rates:
    vendor = stats.text("device_vendor")
    version = _version(stats)
    if vendor == "Nvidia":
        return _nvidia(version, oddities)
    if vendor == "AMD":
        gfx = _gfx(stats, oddities)
        name = _amd_name(gfx, version[0])
        return _Rates(name, _AMD_FLOP.get(gfx), _AMD_SHARED_BYTES.get(gfx))
    return _Rates("GPU", None, None)


def _nvidia(version: tuple[int, int], oddities: Oddities) -> _Rates:
    major = version[0]
    if version < _FIRST_NVIDIA and not oddities.takes_unknown_gpu_for_oldest:
        return _Rates("Nvidia GPU", None, None)
    shared = _at_or_below(_NVIDIA_SHARED_BYTES, version)
    if oddities.doubles_shared_memory:
        shared = 64 if major <= 2 else 256
    known = 2 <= major <= _LAST_NVIDIA_MAJOR and major not in _MISSING_NVIDIA_MAJORS
    family = _at_or_below(_NVIDIA_FAMILIES, version)
    name = f"Nvidia GPU ({family})" if known else "Nvidia GPU"
    return _Rates(name, _at_or_below(_NVIDIA_FLOP, version), shared)


def _at_or_below(table: Mapping[tuple[int, int], T], version: tuple[int, int]) -> T:
    keys = sorted(table)
    return table[keys[max(0, bisect_right(keys, version) - 1)]]


def _amd_name(gfx: str, major: int) -> str:
    if gfx:
        return f"AMD GPU - {gfx}"
    series = {9: "gfx-9XX", 10: "gfx-10XX", 11: "gfx-11XX"}.get(major)
    return f"AMD GPU - {series} series" if series else "AMD GPU"

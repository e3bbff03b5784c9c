"""Reads captures: the planes of each host, by what computed there, joined into one profile.

Several hosts' profiles to one: ops add up, steps are aligned by time.

The chief is the host whose steps span the shortest time; every other host's steps are shifted
against it to where they overlap most, and the steps that all hosts share remain.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from roofline.importers.shared.join_timelines import host_names, joined_timeline
from roofline.importers.shared.launch_times import all_joined, renumbered
from roofline.importers.shared.launches import no_steps
from roofline.importers.shared.op_tables import OpTableBuilder, table_rows
from roofline.importers.source import Progress, SourceFile
from roofline.importers.xspace.captures import captures_of, several_captures
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import Space, open_space, read_environment
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, HardwareCounters, ReportedDevice
from roofline.model.environment import merged
from roofline.model.memory import MemoryLevel
from roofline.model.notes import noted, notes_beside, recorded
from roofline.model.op_columns import U64, OpColumns
from roofline.model.profile import Diagnostic, Profile, StepTable

_NOTES = notes_beside(__file__)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile from the captures of one or several hosts."""
    return _read(sources, Oddities(on=False), progress)


def read_as_xprof(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The same as XProf 2.24.2 reads it, mistakes included."""
    return _read(sources, Oddities(on=True), progress)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Programs are millions of small objects that stay: looking for cycles among them took a third
    of an import's time, and found none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(sources: Sequence[SourceFile], oddities: Oddities, progress: Progress) -> Profile:
    with _without_collector():
        profiles = _read_hosts(sources, oddities, progress)
        return profiles[0] if len(profiles) == 1 else merge_hosts(profiles, oddities)


def _read_hosts(
    sources: Sequence[SourceFile], oddities: Oddities, progress: Progress
) -> list[Profile]:
    spaces = [open_space(np.frombuffer(s.data, np.uint8), s.name) for s in sources]
    runs = captures_of([space.captured for space in spaces])
    if len(runs) > 1 and not oddities.joins_captures:
        raise several_captures(runs, [source.name for source in sources])
    # A host beside accelerators only drives them: what it computes itself is not a part of the job.
    alone = not any(space.tensor_cores or space.gpus for space in spaces)
    profiles = []
    for k, space in enumerate(spaces):

        def report(fraction: float, done: int = k) -> None:
            progress("read", (done + fraction) / len(spaces))

        profile = _read_host(space, oddities, report, is_alone=alone)
        notes = (*recorded(space.recording), *profile.diagnostics)
        profiles.append(replace(profile, environment=read_environment(space), diagnostics=notes))
    return profiles


def _read_host(
    space: Space, oddities: Oddities, progress: Callable[[float], None], *, is_alone: bool
) -> Profile:
    # Each of these loads slowly, and a capture needs one.
    if space.gpus:
        from roofline.importers.xspace.gpu import read_gpu_host

        return read_gpu_host(space, oddities, progress)
    if space.tensor_cores:
        from roofline.importers.xspace.tpu import read_tpu_host

        return read_tpu_host(space, oddities, progress)
    from roofline.importers.xspace.cpu import has_cpu_ops, read_cpu_host, read_without_device

    if is_alone and not oddities.ignores_cpu_programs and has_cpu_ops(space):
        return read_cpu_host(space)
    return read_without_device(space)


def merge_hosts(profiles: Sequence[Profile], oddities: Oddities) -> Profile:
    """One profile of all hosts, whose order does not matter; it keeps those of each."""
    if not oddities.keeps_order_of_hosts:
        profiles = sorted(profiles, key=lambda p: (p.hosts[0].hostname, p.hosts[0].file_name))
    builder = OpTableBuilder(_levels(profile.ops.traffic_bytes for profile in profiles))
    timelines, launches = [], []
    for profile in profiles:
        labels, rows = table_rows(profile.ops)
        builder.add(labels, rows)
        launches.append(renumbered(profile.launch_times, builder.numbers(labels)))
        if profile.timeline is not None:
            timelines.append((profile.timeline, _host_name(profile), builder.numbers(labels)))
    workers = _workers(profiles)
    steps, apart = _merge_steps(workers, oddities)
    return Profile(
        device=_merge_device(profiles, oddities),
        hosts=tuple(replace(h, device=p.device) for p in profiles for h in p.hosts),
        ops=builder.build(),
        time_ps=sum(profile.time_ps for profile in profiles),
        op_time_ps=sum(profile.op_time_ps for profile in profiles),
        normalised_op_time_ps=sum(profile.normalised_op_time_ps for profile in profiles),
        wall_time_ps=max((p.wall_time_ps or 0 for p in profiles), default=0) or None,
        steps=steps,
        has_average=True,
        captured_at_ns=min((p.captured_at_ns for p in profiles if p.captured_at_ns), default=None),
        program_names={k: v for p in reversed(profiles) for k, v in p.program_names.items()},
        diagnostics=_merge_diagnostics(profiles, steps, apart=apart),
        timeline=joined_timeline(timelines, len(steps)),
        launch_times=all_joined(launches),
        environment=merged(profile.environment for profile in profiles),
        by_host=tuple(profiles),
        all_hosts=host_names(profiles),
    )


def _host_name(profile: Profile) -> str:
    return profile.hosts[0].hostname or profile.hosts[0].file_name


def _levels(traffic: Iterable[Mapping[MemoryLevel, U64]]) -> tuple[MemoryLevel, ...]:
    """Levels that any of the tables counts, in order."""
    counted = {level for by_level in traffic for level in by_level}
    return tuple(level for level in MemoryLevel if level in counted)


def _workers(profiles: Sequence[Profile]) -> list[Profile]:
    """Hosts that take part in steps: those with an accelerator, if any has one."""
    kinds = [_kind_by_name(profile.device) for profile in profiles]
    accelerated = [
        p
        for p, kind in zip(profiles, kinds, strict=True)
        if kind in (DeviceKind.TPU, DeviceKind.GPU)
    ]
    return accelerated or list(profiles)


def _kind_by_name(device: ReportedDevice) -> DeviceKind:
    """XProf tells a host's hardware by the text of its device type when hosts are combined."""
    if "GPU" in device.name:
        return DeviceKind.GPU
    return DeviceKind.TPU if "TPU" in device.name else DeviceKind.UNKNOWN


# ------------------------------------------------------------------------------------------- device


def _merge_device(profiles: Sequence[Profile], oddities: Oddities) -> ReportedDevice:
    devices = [profile.device for profile in profiles]
    capable = _with_accelerator(devices, oddities)
    if not capable:
        return replace(devices[0], core_count=_cores(devices))
    peaks = [device.peak_gflops for device in devices if device.peak_gflops]
    flagged = [] if oddities.forgets_device_flags else capable
    return ReportedDevice(
        kind=_kind(capable),
        name=_last_type(devices) if oddities.tells_hosts_by_device_type else _known_name(capable),
        core_count=_cores(capable),
        peak_gflops=peaks[-1] if peaks else None,
        bandwidth_gbs=next((d.bandwidth_gbs for d in devices if d.bandwidth_gbs), {}),
        has_megacore=any(device.has_megacore for device in flagged),
        has_cmem=any(device.has_cmem for device in flagged),
        has_merged_vmem=any(device.has_merged_vmem for device in flagged),
        counters=HardwareCounters(
            matrix_unit_ratio=_mean([device.counters.matrix_unit_ratio for device in capable]),
            hbm_ratio=_mean([device.counters.hbm_ratio for device in capable]),
        ),
        traits=capable[-1].traits,
        derivation=capable[-1].derivation,
    )


def _with_accelerator(
    devices: Sequence[ReportedDevice], oddities: Oddities
) -> list[ReportedDevice]:
    by_type = oddities.tells_hosts_by_device_type
    return [
        device
        for device in devices
        if device.kind is not DeviceKind.CPU and not (by_type and device.name == _CPU_TYPE)
    ]


def _cores(devices: Sequence[ReportedDevice]) -> int:
    return sum(device.core_count for device in devices)


def _kind(devices: Sequence[ReportedDevice]) -> DeviceKind:
    """TPU before GPU before unknown."""
    kinds = {device.kind for device in devices}
    return next(k for k in (DeviceKind.TPU, DeviceKind.GPU, DeviceKind.UNKNOWN) if k in kinds)


_CPU_TYPE = "CPU"


def _known_name(devices: Sequence[ReportedDevice]) -> str:
    """The last host's device type that is one."""
    return next((device.name for device in reversed(devices) if device.name), "")


def _last_type(devices: Sequence[ReportedDevice]) -> str:
    """The last type that is not CPU, even an empty one, which CPU then fills: XProf's way."""
    shown = ""
    for device in devices:
        text = _CPU_TYPE if device.kind is DeviceKind.CPU else device.name
        if text != _CPU_TYPE or not shown:
            shown = text
    return shown


def _mean(values: Sequence[float | None]) -> float | None:
    """Mean over hosts, known only where every host has the counter."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


# Said once, however many hosts say it; the others count what was noticed on all of them.
_ONCE_PER_PROFILE = {"no-steps", "no-device", "sparse-core-first", "unreadable-hlo"}


def _merge_diagnostics(
    profiles: Sequence[Profile], steps: StepTable, *, apart: bool
) -> tuple[Diagnostic, ...]:
    merged: dict[str, Diagnostic] = {}
    for profile in profiles:
        for diagnostic in profile.diagnostics:
            if diagnostic.code == "no-steps" and len(steps):
                continue
            known = merged.get(diagnostic.code)
            if known is None:
                merged[diagnostic.code] = diagnostic
            elif diagnostic.code not in _ONCE_PER_PROFILE:
                merged[diagnostic.code] = replace(known, count=known.count + diagnostic.count)
    if apart:
        merged.pop("no-steps", None)
        merged["steps-do-not-intersect"] = noted(_NOTES, "steps-do-not-intersect")
    elif not len(steps) and any(p.device.kind is not DeviceKind.CPU for p in profiles):
        merged.setdefault("no-steps", noted(_NOTES, "no-steps"))
    if len({(p.device.peak_gflops, p.device.name) for p in profiles if p.device.peak_gflops}) > 1:
        merged["hosts-differ"] = noted(_NOTES, "hosts-differ")
    return tuple(merged.values())


# -------------------------------------------------------------------------------------------- steps


def _merge_steps(profiles: Sequence[Profile], oddities: Oddities) -> tuple[StepTable, bool]:
    """Steps all hosts share, and whether every host has steps but none is shared."""
    tables = [profile.steps for profile in profiles]
    spans = [_span_ps(table) for table in tables]
    chief = min(range(len(tables)), key=lambda k: (spans[k], k))
    if not len(tables[chief]):
        return _sum_steps(tables, [0] * len(tables), 0, 0, relabel=True), False
    overlaps = [_overlaps(tables[chief], table) for table in tables]
    offsets = [0 if k == chief else _best_offset(overlap) for k, overlap in enumerate(overlaps)]
    first = max(offsets)
    stop = min(k + len(table) for k, table in zip(offsets, tables, strict=True))
    shared = max(0, stop - first)
    if not oddities.pairs_steps_without_overlap and any(
        not overlap and _differ(tables[chief].label, table.label)
        for overlap, table in zip(overlaps, tables, strict=True)
    ):
        shared = 0
    merged = _sum_steps(tables, offsets, first, shared, relabel=oddities.renumbers_shared_steps)
    return merged, not shared


def _span_ps(table: StepTable) -> int:
    """From the first begin to the last end; 0 without steps, which makes that host the chief."""
    return int(table.end_ps.max()) - int(table.begin_ps.min()) if len(table) else 0


def _differ(chief: Sequence[str], other: Sequence[str]) -> bool:
    """Whether steps that share no time have other labels, too: then they are different steps."""
    return any(a != b for a, b in zip(chief, other, strict=False))


def _overlaps(chief: StepTable, other: StepTable) -> dict[int, int]:
    """Total overlap of steps by chief index minus own index."""
    overlap: dict[int, int] = {}
    i = j = 0
    chief_spans = list(zip(chief.begin_ps.tolist(), chief.end_ps.tolist(), strict=True))
    other_spans = list(zip(other.begin_ps.tolist(), other.end_ps.tolist(), strict=True))
    while i < len(chief_spans) and j < len(other_spans):
        (a, b), (c, d) = chief_spans[i], other_spans[j]
        if b > a and d > c and min(b, d) > max(a, c):
            overlap[i - j] = overlap.get(i - j, 0) + min(b, d) - max(a, c)
        ends_first = b - d
        i += ends_first <= 0
        j += ends_first >= 0
    return overlap


def _best_offset(overlap: Mapping[int, int]) -> int:
    """The index with the largest total overlap; ties: 0, 1, 2 …, then -1, -2 …"""
    if not overlap:
        return 0
    return max(overlap, key=lambda k: (overlap[k], k == 0, k > 0, -abs(k)))


def _sum_steps(
    tables: Sequence[StepTable], offsets: Sequence[int], first: int, count: int, *, relabel: bool
) -> StepTable:
    rows = [slice(first - k, first - k + count) for k in offsets]
    parts = list(zip(tables, rows, strict=True))
    if not count:
        return no_steps(_levels(table.sums.traffic_bytes for table in tables))
    names = {tuple(table.label[part]) for table, part in parts}
    labels = tuple(str(k) for k in range(count)) if relabel or len(names) != 1 else names.pop()
    return StepTable(
        label=labels,
        begin_ps=np.minimum.reduce([table.begin_ps[part] for table, part in parts]),
        end_ps=np.maximum.reduce([table.end_ps[part] for table, part in parts]),
        duration_ps=np.maximum.reduce([table.duration_ps[part] for table, part in parts]),
        time_ps=np.add.reduce([table.time_ps[part] for table, part in parts]),
        sums=_add_sums([table.sums.select(part) for table, part in parts], count),
    )


def _add_sums(parts: Sequence[OpColumns], count: int) -> OpColumns:
    levels = _levels(sums.traffic_bytes for sums in parts)
    units = [unit for unit in ComputeUnit if any(unit in sums.unit_flop for sums in parts)]
    total = OpColumns.zeros((count, 2), levels, units)
    for sums in parts:
        total.add_at(np.arange(count), sums)
    return total

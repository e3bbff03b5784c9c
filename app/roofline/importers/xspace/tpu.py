"""One TPU host: its planes' sums to a profile with ops, steps and device."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from roofline.importers.shared.op_tables import OpTableBuilder
from roofline.importers.shared.sweep import Windows
from roofline.importers.xspace.grouping import group_steps
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.op_metrics import CoreOps, read_core, step_edges
from roofline.importers.xspace.planes import HOST_CPU, Plane, Space
from roofline.importers.xspace.tpu_programs import TpuPrograms
from roofline.importers.xspace.tpu_timeline import CoreShare, timeline_of
from roofline.importers.xspace.tpu_transfers import LEVELS
from roofline.importers.xspace.tpu_work import (
    CoreOpKinds,
    common_steps,
    describe,
    op_rows,
    step_spans,
    steps_of,
)
from roofline.model.device import DeviceKind, HardwareCounters, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.notes import counted, noted, notes_beside
from roofline.model.profile import Diagnostic, Host, Profile, StepTable
from roofline.model.timeline import Timeline
from roofline.model.units import KILO

_NOTES = notes_beside(__file__)

_BANDWIDTH_STATS = {
    MemoryLevel.HBM: "peak_hbm_bw_gigabytes_per_second",
    MemoryLevel.CMEM_READ: "peak_cmem_rd_bw_gigabytes_per_second",
    MemoryLevel.CMEM_WRITE: "peak_cmem_wr_bw_gigabytes_per_second",
    MemoryLevel.VMEM_READ: "peak_vmem_rd_bw_gigabytes_per_second",
    MemoryLevel.VMEM_WRITE: "peak_vmem_wr_bw_gigabytes_per_second",
}
_MODULE_NAME = re.compile(r"([^\s%][^\s]*)\((\d{1,20})\)\Z")


def read_tpu_host(space: Space, oddities: Oddities, progress: Callable[[float], None]) -> Profile:
    """The profile of one TPU host."""
    cores = _read_cores(space, oddities, progress)
    data_cores = [core for plane, core in cores if not plane.is_sparse_core]
    builder = OpTableBuilder(LEVELS)
    programs = None if oddities.has_one_compute_peak else TpuPrograms(space)
    described = {id(core): describe(core, programs) for core in data_cores}
    for core in data_cores:
        ops_of_core = described[id(core)]
        builder.add(ops_of_core.labels, op_rows(ops_of_core, core.rows))
    with_steps, groups = common_steps(cores, oddities)
    steps = steps_of(cores, with_steps, groups, builder, described, oddities)
    timeline = _timeline(cores, with_steps, groups, builder, described)
    if programs is not None:  # XProf's table has no such columns
        builder.describe(programs.described)
    ops = builder.build()
    longest_ps = max((core.range_ps for core in data_cores), default=0)
    wall_ps = max(longest_ps, timeline.span_ps) if timeline else longest_ps
    return Profile(
        device=_device(space, oddities),
        hosts=(_host(space),),
        ops=ops,
        time_ps=sum(max(core.op_time_ps, core.range_ps) for core in data_cores),
        op_time_ps=sum(core.op_time_ps for core in data_cores),
        normalised_op_time_ps=sum(core.normalised_op_time_ps for core in data_cores),
        wall_time_ps=wall_ps or None,
        steps=steps,
        has_average=True,
        captured_at_ns=space.captured_at_ns,
        program_names=_program_names(space, set(ops.program_id.tolist())),
        diagnostics=tuple(_diagnostics(space, data_cores, steps)),
        timeline=timeline,
    )


def _read_cores(
    space: Space, oddities: Oddities, progress: Callable[[float], None]
) -> list[tuple[Plane, CoreOps]]:
    """Sums of all TPU planes in file order; planes are read side by side."""
    grouping = group_steps(space, oddities)
    indices = [k for k, plane in enumerate(space.planes) if plane.is_tpu]
    edges = step_edges(next((grouping.markers[k] for k in indices if k in grouping.markers), None))
    done: list[int] = []

    def read(index: int) -> CoreOps:
        core = read_core(
            space.planes[index],
            grouping.markers.get(index),
            from_file=grouping.from_file,
            oddities=oddities,
            edges_of_steps=edges,
        )
        done.append(index)
        progress(len(done) / len(indices))
        return core

    with ThreadPoolExecutor(max_workers=min(len(indices), os.cpu_count() or 1)) as pool:
        cores = list(pool.map(read, indices))
    return [(space.planes[k], core) for k, core in zip(indices, cores, strict=True)]


def _timeline(
    cores: Sequence[tuple[Plane, CoreOps]],
    with_steps: Sequence[CoreOps],
    groups: Sequence[int],
    builder: OpTableBuilder,
    described: Mapping[int, CoreOpKinds],
) -> Timeline | None:
    """Where the time of each TensorCore went; `None` in comparison mode."""
    tensor = [(plane, core) for plane, core in cores if core.timeline is not None]
    stepped = (
        groups if {id(core) for _, core in tensor} <= {id(core) for core in with_steps} else []
    )
    shares = [_share(plane, core, stepped, builder, described[id(core)]) for plane, core in tensor]
    return timeline_of(shares, len(stepped))


def _share(
    plane: Plane,
    core: CoreOps,
    groups: Sequence[int],
    builder: OpTableBuilder,
    described: CoreOpKinds,
) -> CoreShare:
    collector = core.timeline
    assert collector is not None
    kinds = core.kinds
    # -1, the last entry, is what no op's label has.
    numbers = np.append(builder.numbers(described.labels), -1)[described.label_of_meta]

    def op_of_meta(meta: int) -> int:
        kind, known = kinds[meta], int(numbers[meta])
        if known >= 0 or kind is None:
            return known
        return int(builder.numbers([kind])[0])

    with_events, step_with_events = (
        np.flatnonzero(r.first_meta >= 0) for r in (core.rows, core.step_rows)
    )
    metas = core.rows.first_meta[with_events]
    step_metas = core.step_rows.first_meta[step_with_events]
    programs = {k: kind.program_id for k, kind in enumerate(kinds) if kind is not None}
    places = np.searchsorted(groups, core.step_group[step_with_events])
    inside = np.isin(core.step_group[step_with_events], groups)
    return CoreShare(
        name=plane.name,
        range_ps=core.range_ps,
        rows=core.rows.taken(with_events),
        key_of_row=with_events,
        op_of_row=numbers[metas],
        meta_of_row=metas,
        step_rows=core.step_rows.taken(step_with_events),
        op_of_step_row=numbers[step_metas],
        meta_of_step_row=step_metas,
        step_of_row=np.where(inside, places, -1),
        windows=_windows(core, groups),
        collector=collector,
        occurrences=collector.transfers(programs),
        launches=collector.launches(numbers),
        parts=collector.parts,
        op_of_meta=op_of_meta,
    )


def _windows(core: CoreOps, groups: Sequence[int]) -> Windows:
    """The steps on the core's own clock: each its longest marker, the first on ties."""
    begin, end, _ = step_spans([core], groups)
    return Windows(begin=begin.view(np.int64), end=end.view(np.int64))


def _device(space: Space, oddities: Oddities) -> ReportedDevice:
    cores = space.tensor_cores
    first_tpu = next(plane for plane in space.planes if plane.is_tpu)
    source = first_tpu if oddities.takes_peaks_of_first_plane or not cores else cores[0]
    stats = source.stats
    bandwidth = {level: stats.double(name) or 0.0 for level, name in _BANDWIDTH_STATS.items()}
    tflops = stats.double("peak_teraflops_per_second")
    return ReportedDevice(
        kind=DeviceKind.TPU,
        name=cores[0].stats.text("device_type_string") if cores else "",
        core_count=len(cores),
        peak_gflops=tflops * KILO if tflops else None,
        bandwidth_gbs={level: value for level, value in bandwidth.items() if value},
        has_megacore=bool(stats.int_only("has_megacore")),
        has_cmem=bandwidth[MemoryLevel.CMEM_READ] > 0 or bandwidth[MemoryLevel.CMEM_WRITE] > 0,
        has_merged_vmem=bool(stats.int_only("has_merged_vmem")),
        counters=_counters(space),
    )


def _counters(space: Space) -> HardwareCounters:
    plane = space.named(HOST_CPU)
    if plane is None:
        return HardwareCounters()
    matrix = plane.stats.double("matrix_unit_utilization_percent")
    hbm = plane.stats.double("hbm_utilization_percent")
    return HardwareCounters(
        matrix_unit_ratio=None if matrix is None else matrix / 100,
        hbm_ratio=None if hbm is None else hbm / 100,
    )


def _host(space: Space) -> Host:
    return Host(
        file_name=space.file_name, hostname=space.hostname, core_count=len(space.tensor_cores)
    )


def _program_names(space: Space, program_ids: set[int]) -> Mapping[int, str]:
    """Module names by program id, from module events named `jit_step(123)`."""
    names: dict[int, str] = {}
    for plane in space.planes:
        if plane.is_tpu:
            for name in plane.event_names:
                match = _MODULE_NAME.match(name)
                if match and int(match[2]) in program_ids:
                    names.setdefault(int(match[2]), match[1])
    return names


def _diagnostics(space: Space, cores: Sequence[CoreOps], steps: StepTable) -> Iterator[Diagnostic]:
    counts = {
        "no-steps": int(not len(steps)),
        "overlapping-children": sum(core.clamped for core in cores),
        "ops-without-id": len(set().union(*(_without_id(core) for core in cores))),
        "negative-cost": sum(core.negative_costs for core in cores),
    }
    yield from counted(_NOTES, counts)
    if cores and not next(plane for plane in space.planes if plane.is_tpu).is_tensor_core:
        yield noted(_NOTES, "sparse-core-first")


def _without_id(core: CoreOps) -> set[str]:
    """Names of the ops that ran on a core and are known by nothing else."""
    metas = core.rows.first_meta
    kinds = (core.kinds[meta] for meta in metas[metas >= 0].tolist())
    return {kind.name for kind in kinds if kind is not None and not kind.has_id}

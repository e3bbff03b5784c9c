"""One TPU host: its planes' sums to a profile with ops, steps and device."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.importers.shared.op_tables import OpLabels, OpRows, OpTableBuilder
from roofline.importers.shared.sweep import Windows
from roofline.importers.xspace import notes
from roofline.importers.xspace.barriers import barrier_ps
from roofline.importers.xspace.grouping import group_steps
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.op_kinds import LEVELS, OpKind
from roofline.importers.xspace.op_metrics import CoreOps, read_core, step_edges
from roofline.importers.xspace.planes import HOST_CPU, Plane, Space
from roofline.importers.xspace.spans import RowSums
from roofline.importers.xspace.tpu_programs import TpuPrograms
from roofline.importers.xspace.tpu_timeline import CoreShare, timeline_of
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, HardwareCounters, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns
from roofline.model.profile import Diagnostic, Host, Profile, Severity, StepTable
from roofline.model.timeline import Timeline
from roofline.model.units import KILO

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

_BANDWIDTH_STATS = {
    MemoryLevel.HBM: "peak_hbm_bw_gigabytes_per_second",
    MemoryLevel.CMEM_READ: "peak_cmem_rd_bw_gigabytes_per_second",
    MemoryLevel.CMEM_WRITE: "peak_cmem_wr_bw_gigabytes_per_second",
    MemoryLevel.VMEM_READ: "peak_vmem_rd_bw_gigabytes_per_second",
    MemoryLevel.VMEM_WRITE: "peak_vmem_wr_bw_gigabytes_per_second",
}
_MODULE_NAME = re.compile(r"([^\s%][^\s]*)\((\d{1,20})\)\Z")


def read_tpu_host(
    space: Space,
    oddities: Oddities,
    progress: Callable[[float], None],
) -> Profile:
    """The profile of one TPU host."""
    cores = _read_cores(space, oddities, progress)
    data_cores = [core for plane, core in cores if not plane.is_sparse_core]
    builder = OpTableBuilder(LEVELS)
    programs = None if oddities.has_one_compute_peak else TpuPrograms(space)
    described = {id(core): _describe(core, programs) for core in data_cores}
    for core in data_cores:
        ops_of_core = described[id(core)]
        builder.add(ops_of_core.labels, _op_rows(ops_of_core, core.rows))
    with_steps, groups = _common_steps(cores, oddities)
    steps = _steps(cores, with_steps, groups, builder, described, oddities)
    timeline = _timeline(cores, with_steps, groups, builder, described)
    if programs is not None:  # XProf's table has no such columns
        builder.describe(programs.described)
    ops = builder.build()
    return Profile(
        device=_device(space, oddities),
        hosts=(_host(space),),
        ops=ops,
        time_ps=sum(max(core.op_time_ps, core.range_ps) for core in data_cores),
        op_time_ps=sum(core.op_time_ps for core in data_cores),
        normalised_op_time_ps=sum(core.normalised_op_time_ps for core in data_cores),
        wall_time_ps=max((core.range_ps for core in data_cores), default=0) or None,
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


# ---------------------------------------------------------------------------------------------- ops


def _labels(core: CoreOps) -> tuple[list[OpLabels], I64]:
    """Labels of the ops that occur, in order of occurrence; and each event metadata's label."""
    rows = core.rows
    used = np.flatnonzero(rows.first_meta >= 0)
    metas = rows.first_meta[used][np.argsort(rows.first_rank[used], kind="stable")]
    extra = np.setdiff1d(core.step_rows.first_meta, metas)
    label_of_meta = np.full(len(core.kinds) + 1, -1, np.int64)
    labels: list[OpLabels] = []
    for meta in [*metas.tolist(), *extra[extra >= 0].tolist()]:
        kind = core.kinds[meta]
        if kind is not None:
            label_of_meta[meta] = len(labels)
            labels.append(_label(kind))
    return labels, label_of_meta


def _label(kind: OpKind) -> OpLabels:
    return OpLabels(
        name=kind.name,
        program_id=kind.program_id,
        category=kind.category,
        has_source=kind.has_source,
        source_file=kind.source_file,
        source_line=kind.source_line,
        source_stack=kind.source_stack,
        long_name=kind.long_name,
        framework_path=kind.framework_path,
        results=kind.shape,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _CoreOpKinds:
    """A core's ops: labels, and per event metadata its label (-1: none) and cost as columns.

    Costs are of one occurrence, zeros where the metadata is not an op's. `unit_of_meta` is the
    place in `units` of what does its FLOPs, -1 where that is not known.
    """

    labels: Sequence[OpLabels]
    label_of_meta: I64
    units: tuple[ComputeUnit, ...]
    unit_of_meta: I64
    flop: U64
    model_flop: U64
    bytes_accessed: U64
    traffic_bytes: Mapping[MemoryLevel, U64]
    traffic_known: NDArray[np.bool_]
    cost_known: NDArray[np.bool_]


def _describe(core: CoreOps, programs: TpuPrograms | None) -> _CoreOpKinds:
    """The ops of a core; their units are those that `programs` tell, without them none."""
    kinds = core.kinds
    labels, label_of_meta = _labels(core)
    found = [None if programs is None else programs.unit(label) for label in labels]
    units = tuple(unit for unit in ComputeUnit if unit in found)
    of_label = np.array([*(units.index(u) if u else -1 for u in found), -1], np.int64)

    def column(cost: Callable[[OpKind], int]) -> U64:
        return np.array([0 if kind is None else cost(kind) for kind in kinds], np.uint64)

    return _CoreOpKinds(
        labels=labels,
        label_of_meta=label_of_meta,
        units=units,
        unit_of_meta=of_label[label_of_meta],
        flop=column(lambda kind: kind.flop),
        model_flop=column(lambda kind: kind.model_flop),
        bytes_accessed=column(lambda kind: kind.bytes_accessed),
        traffic_bytes={level: column(_traffic_of(level)) for level in LEVELS},
        traffic_known=column(lambda kind: kind.traffic_bytes is not None).astype(np.bool_),
        cost_known=column(lambda kind: kind.cost_known).astype(np.bool_),
    )


def _traffic_of(level: MemoryLevel) -> Callable[[OpKind], int]:
    return lambda kind: (kind.traffic_bytes or {}).get(level, 0)


def _op_rows(ops: _CoreOpKinds, rows: RowSums) -> OpRows:
    """Work of each row: the cost of one occurrence, from its first event, times occurrences."""
    kept = np.flatnonzero(rows.first_meta >= 0)
    meta = rows.first_meta[kept]
    times = rows.occurrences[kept].astype(np.uint64)
    flop, unit = ops.flop[meta] * times, ops.unit_of_meta[meta]
    return OpRows(
        label=ops.label_of_meta[meta],
        occurrences=rows.occurrences[kept],
        time_ps=rows.time_ps[kept],
        self_time_ps=rows.self_time_ps[kept],
        dma_stall_ps=rows.dma_stall_ps[kept],
        flop=flop,
        model_flop=ops.model_flop[meta] * times,
        bytes_accessed=ops.bytes_accessed[meta] * times,
        traffic_bytes={level: column[meta] * times for level, column in ops.traffic_bytes.items()},
        traffic_known=ops.traffic_known[meta],
        cost_known=ops.cost_known[meta],
        unit_flop={u: np.where(unit == k, flop, np.uint64(0)) for k, u in enumerate(ops.units)},
    )


# -------------------------------------------------------------------------------------------- steps


def _common_steps(
    cores: Sequence[tuple[Plane, CoreOps]], oddities: Oddities
) -> tuple[list[CoreOps], list[int]]:
    """Cores that have steps, and the ids of the steps that every one of them has, in order."""
    named = [c for plane, c in cores if plane.is_tensor_core or plane.is_sparse_core]
    per_core = {id(core): _complete_groups(core) for core in named}
    with_steps = [core for core in named if per_core[id(core)]]
    if not with_steps:
        return [], []
    if oddities.forgets_cores_before_a_gap:
        with_steps = _since_restart(with_steps, per_core)
    return with_steps, sorted(set.intersection(*(set(per_core[id(core)]) for core in with_steps)))


def _steps(
    cores: Sequence[tuple[Plane, CoreOps]],
    with_steps: Sequence[CoreOps],
    groups: Sequence[int],
    builder: OpTableBuilder,
    described: Mapping[int, "_CoreOpKinds"],
    oddities: Oddities,
) -> StepTable:
    """Steps that every core with steps has, in order of their id."""
    if not with_steps:
        return _empty_steps()
    begin, end, duration = _step_spans(with_steps, groups)
    used = {unit for ops in described.values() for unit in ops.units}
    units = [unit for unit in ComputeUnit if unit in used]
    table = StepTable(
        label=tuple(str(group) for group in groups),
        begin_ps=begin,
        end_ps=end,
        duration_ps=duration,
        time_ps=np.zeros(len(groups), np.uint64),
        sums=OpColumns.zeros((len(groups), 2), LEVELS, units),
    )
    classes = _work_classes(builder.categories)
    for core in _cores_in_steps(cores, with_steps, oddities):
        ops = described[id(core)]
        rows = _op_rows(ops, core.step_rows)
        of_label = classes[builder.numbers(ops.labels)]
        _add_core_steps(table, core, rows, np.array(groups, np.int64), of_label[rows.label])
    return table


def _timeline(
    cores: Sequence[tuple[Plane, CoreOps]],
    with_steps: Sequence[CoreOps],
    groups: Sequence[int],
    builder: OpTableBuilder,
    described: Mapping[int, "_CoreOpKinds"],
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
    described: "_CoreOpKinds",
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
        return int(builder.numbers([_label(kind)])[0])

    kept, step_kept = (np.flatnonzero(r.first_meta >= 0) for r in (core.rows, core.step_rows))
    metas = core.rows.first_meta[kept]
    step_metas = core.step_rows.first_meta[step_kept]
    programs = {k: kind.program_id for k, kind in enumerate(kinds) if kind is not None}
    found = np.searchsorted(groups, core.step_group[step_kept])
    inside = np.isin(core.step_group[step_kept], groups)
    return CoreShare(
        name=plane.name,
        range_ps=core.range_ps,
        barrier_ps=barrier_ps(plane),
        rows=core.rows.take(kept),
        key_of_row=kept,
        op_of_row=numbers[metas],
        meta_of_row=metas,
        step_rows=core.step_rows.take(step_kept),
        op_of_step_row=numbers[step_metas],
        meta_of_step_row=step_metas,
        step_of_row=np.where(inside, found, -1),
        windows=_windows(core, groups),
        collector=collector,
        occurrences=collector.transfers(programs),
        parts=collector.parts,
        op_of_meta=op_of_meta,
    )


def _windows(core: CoreOps, groups: Sequence[int]) -> Windows:
    """The steps on the core's own clock: each its longest marker, the first on ties."""
    begin, end, _ = _step_spans([core], groups)
    return Windows(begin=begin.view(np.int64), end=end.view(np.int64))


def _since_restart(cores: Sequence[CoreOps], groups: Mapping[int, set[int]]) -> list[CoreOps]:
    """The last of these cores that share steps without a gap: XProf's way."""
    kept: list[CoreOps] = []
    shared: set[int] = set()
    for core in cores:
        if not shared:
            kept = []
        shared = shared & groups[id(core)] if kept else groups[id(core)]
        kept.append(core)
    return kept


def _cores_in_steps(
    cores: Sequence[tuple[Plane, CoreOps]], with_steps: Sequence[CoreOps], oddities: Oddities
) -> list[CoreOps]:
    """TensorCores whose work counts in steps; SparseCores only have a say in which steps exist."""
    chosen = {id(core) for core in with_steps}
    tensor = [
        (plane.id, core) for plane, core in cores if plane.is_tensor_core and id(core) in chosen
    ]
    if oddities.files_steps_by_plane_id:
        return list(dict(tensor).values())
    return [core for _, core in tensor]


def _empty_steps() -> StepTable:
    none = np.zeros(0, np.uint64)
    return StepTable(
        label=(),
        begin_ps=none,
        end_ps=none,
        duration_ps=none,
        time_ps=none,
        sums=OpColumns.zeros((0, 2), LEVELS),
    )


def _complete_groups(core: CoreOps) -> set[int]:
    if core.markers is None:
        return set()
    marked = core.markers.group
    return set(marked[marked >= 0].tolist()) & core.op_groups


def _step_spans(
    cores: Sequence[CoreOps], groups: Sequence[int]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Begin, end and duration of each step: those of its longest marker, the first on ties."""
    begin, end, duration = (np.zeros(len(groups), np.uint64) for _ in range(3))
    index = {group: k for k, group in enumerate(groups)}
    seen: set[int] = set()
    for core in cores:
        marks = core.markers
        if marks is None:
            continue
        lengths = marks.span_end_ps - marks.span_begin_ps  # of damaged files, modulo 2**64
        for row, group in enumerate(marks.group.tolist()):
            k = index.get(group, -1)
            length = lengths[row]
            if k >= 0 and (k not in seen or length > duration[k]):
                seen.add(k)
                begin[k], end[k] = marks.span_begin_ps[row], marks.span_end_ps[row]
                duration[k] = length
    return begin, end, duration


def _add_core_steps(
    table: StepTable,
    core: CoreOps,
    rows: OpRows,
    groups: I64,
    work_class: I64,
) -> None:
    """Add one core's share to every step, in place.

    A step lasts at least as long as its longest marker; the rest of it the core was idle.
    """
    scope = np.searchsorted(groups, core.step_group)
    inside = scope < len(groups)
    inside[inside] = groups[scope[inside]] == core.step_group[inside]
    inside[inside] = table.duration_ps[scope[inside]] > 0
    scope = scope[inside]
    op_time = np.zeros(len(groups), np.uint64)
    np.add.at(op_time, scope, rows.self_time_ps[inside])
    table.time_ps[:] += np.maximum(op_time, table.duration_ps)
    counted = work_class[inside] >= 0
    at = (scope[counted], work_class[inside][counted])
    table.sums.add_at(at, rows.select(np.flatnonzero(inside)[counted]))


def _work_classes(categories: Sequence[str]) -> I64:
    """Second index of a step's sums, per op: 0 work, 1 infeed and outfeed, -1 containers."""
    return np.array(
        [-1 if is_container(c) else int(is_infeed_outfeed(c)) for c in categories], np.int64
    )


# ------------------------------------------------------------------------------------------- device


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
        file_name=space.file_name,
        hostname=space.hostname,
        core_count=len(space.tensor_cores),
    )


def _program_names(space: Space, program_ids: set[int]) -> Mapping[int, str]:
    """Module names by program id, from module events named `jit_step(123)`."""
    names: dict[int, str] = {}
    for plane in space.planes:
        if plane.is_tpu:
            for name in plane.event_names:
                found = _MODULE_NAME.match(name)
                if found and int(found[2]) in program_ids:
                    names.setdefault(int(found[2]), found[1])
    return names


def _diagnostics(space: Space, cores: Sequence[CoreOps], steps: StepTable) -> list[Diagnostic]:
    found = []
    if not len(steps):
        found.append(notes.no_steps())
    clamped = sum(core.clamped for core in cores)
    if clamped:
        found.append(
            Diagnostic(
                severity=Severity.WARNING,
                code="overlapping-children",
                message="ops are shorter than the ops inside them, so their self time is "
                "counted as zero. XProf lets it wrap to 213 days.",
                remedy="Usually two clocks in one capture; capture again with a newer runtime.",
                count=clamped,
            )
        )
    negative = sum(core.negative_costs for core in cores)
    if negative:
        found.append(
            Diagnostic(
                severity=Severity.WARNING,
                code="negative-cost",
                message="ops report negative FLOPs or bytes; their cost is shown as unknown.",
                remedy="The compiler could not count them; a newer compiler may.",
                count=negative,
            )
        )
    if cores and not next(plane for plane in space.planes if plane.is_tpu).is_tensor_core:
        found.append(
            Diagnostic(
                severity=Severity.INFO,
                code="sparse-core-first",
                message="A SparseCore stands before the TensorCores in this file. Peaks are taken "
                "from the TensorCore; XProf takes the SparseCore's and shows none.",
            )
        )
    return found

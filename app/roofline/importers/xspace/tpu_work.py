"""The work of one TPU host: ops of its cores, and the steps that all cores have."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from roofline.importers.shared.launches import no_steps
from roofline.importers.shared.op_tables import OpRows, OpTableBuilder
from roofline.importers.xspace.grouping import work_classes
from roofline.importers.xspace.nested_sums import RowSums
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.op_metrics import CoreOps
from roofline.importers.xspace.planes import Plane
from roofline.importers.xspace.tpu_programs import TpuPrograms
from roofline.importers.xspace.tpu_transfers import LEVELS, OpKind
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64, U64, Bools, OpColumns
from roofline.model.profile import StepTable


def _labels(core: CoreOps) -> tuple[list[OpKind], I64]:
    """Labels of the ops that occur, in order of occurrence; and each event metadata's label."""
    rows = core.rows
    used = np.flatnonzero(rows.first_meta >= 0)
    metas = rows.first_meta[used][np.argsort(rows.first_rank[used], kind="stable")]
    extra = np.setdiff1d(core.step_rows.first_meta, metas)
    label_of_meta = np.full(len(core.kinds) + 1, -1, np.int64)
    labels: list[OpKind] = []
    for meta in [*metas.tolist(), *extra[extra >= 0].tolist()]:
        kind = core.kinds[meta]
        if kind is not None:
            label_of_meta[meta] = len(labels)
            labels.append(kind)
    return labels, label_of_meta


class CoreOpKinds(NamedTuple):
    """A core's ops: labels, and per event metadata its label (-1: none) and cost as columns.

    Costs are of one occurrence, zeros where the metadata is not an op's. `unit_of_meta` is the
    place in `units` of what does its FLOPs, -1 where that is not known.
    """

    labels: Sequence[OpKind]
    label_of_meta: I64
    units: tuple[ComputeUnit, ...]
    unit_of_meta: I64
    flop: U64
    model_flop: U64
    bytes_accessed: U64
    traffic_bytes: Mapping[MemoryLevel, U64]
    traffic_known: Bools
    cost_known: Bools


def describe(core: CoreOps, programs: TpuPrograms | None) -> CoreOpKinds:
    """The ops of a core; their units are those that `programs` tell, without them none."""
    kinds = core.kinds
    labels, label_of_meta = _labels(core)
    units_of_labels = [None if programs is None else programs.unit(label) for label in labels]
    units = tuple(unit for unit in ComputeUnit if unit in units_of_labels)
    of_label = np.array([*(units.index(u) if u else -1 for u in units_of_labels), -1], np.int64)

    costs = np.array([_costs(kind) for kind in kinds], np.uint64).reshape(len(kinds), -1).T
    flop, model_flop, bytes_accessed, traffic_known, cost_known, *traffic = costs
    return CoreOpKinds(
        labels=labels,
        label_of_meta=label_of_meta,
        units=units,
        unit_of_meta=of_label[label_of_meta],
        flop=flop,
        model_flop=model_flop,
        bytes_accessed=bytes_accessed,
        traffic_bytes=dict(zip(LEVELS, traffic, strict=True)),
        traffic_known=traffic_known.astype(np.bool_),
        cost_known=cost_known.astype(np.bool_),
    )


def _costs(kind: OpKind | None) -> tuple[int, ...]:
    """FLOPs, those of the model, bytes, whether traffic and cost are known, bytes of each level."""
    if kind is None:
        return (0,) * (5 + len(LEVELS))
    traffic = kind.traffic_bytes or {}
    known = (kind.traffic_bytes is not None, kind.cost_known)
    moved = [traffic.get(level, 0) for level in LEVELS]
    return kind.flop, kind.model_flop, kind.bytes_accessed, *known, *moved


def op_rows(ops: CoreOpKinds, rows: RowSums) -> OpRows:
    """Work of each row: the cost of one occurrence, from its first event, times occurrences."""
    with_events = np.flatnonzero(rows.first_meta >= 0)
    meta = rows.first_meta[with_events]
    times = rows.occurrences[with_events].astype(np.uint64)
    flop, unit = ops.flop[meta] * times, ops.unit_of_meta[meta]
    return OpRows(
        label=ops.label_of_meta[meta],
        occurrences=rows.occurrences[with_events],
        time_ps=rows.time_ps[with_events],
        self_time_ps=rows.self_time_ps[with_events],
        dma_stall_ps=rows.dma_stall_ps[with_events],
        flop=flop,
        model_flop=ops.model_flop[meta] * times,
        bytes_accessed=ops.bytes_accessed[meta] * times,
        traffic_bytes={level: column[meta] * times for level, column in ops.traffic_bytes.items()},
        traffic_known=ops.traffic_known[meta],
        cost_known=ops.cost_known[meta],
        unit_flop={u: np.where(unit == k, flop, np.uint64(0)) for k, u in enumerate(ops.units)},
    )


def common_steps(
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


def steps_of(
    cores: Sequence[tuple[Plane, CoreOps]],
    with_steps: Sequence[CoreOps],
    groups: Sequence[int],
    builder: OpTableBuilder,
    described: Mapping[int, CoreOpKinds],
    oddities: Oddities,
) -> StepTable:
    """Steps that every core with steps has, in order of their id."""
    if not with_steps:
        return no_steps(LEVELS)
    begin, end, duration = step_spans(with_steps, groups)
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
    classes = work_classes(builder.categories)
    for core in _cores_in_steps(cores, with_steps, oddities):
        ops = described[id(core)]
        rows = op_rows(ops, core.step_rows)
        of_label = classes[builder.numbers(ops.labels)]
        _add_core_steps(table, core, rows, np.array(groups, np.int64), of_label[rows.label])
    return table


def _since_restart(cores: Sequence[CoreOps], groups: Mapping[int, set[int]]) -> list[CoreOps]:
    """The last of these cores that share steps without a gap: XProf's way."""
    result: list[CoreOps] = []
    shared: set[int] = set()
    for core in cores:
        if not shared:
            result = []
        shared = shared & groups[id(core)] if result else groups[id(core)]
        result.append(core)
    return result


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


def _complete_groups(core: CoreOps) -> set[int]:
    if core.markers is None:
        return set()
    marked = core.markers.group
    return set(marked[marked >= 0].tolist()) & core.op_groups


def step_spans(cores: Sequence[CoreOps], groups: Sequence[int]) -> tuple[U64, U64, U64]:
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
    table: StepTable, core: CoreOps, rows: OpRows, groups: I64, work_class: I64
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

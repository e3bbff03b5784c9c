"""Steps of one TPU host: which ones every core has, when they were, and their sums."""

from collections.abc import Mapping, Sequence

import numpy as np

from roofline.importers.shared.op_tables import OpRows, OpTableBuilder
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.op_kinds import LEVELS
from roofline.importers.xspace.op_metrics import CoreOps
from roofline.importers.xspace.planes import Plane
from roofline.importers.xspace.tpu_ops import CoreOpKinds, op_rows
from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.compute import ComputeUnit
from roofline.model.op_columns import I64, U64, OpColumns
from roofline.model.profile import StepTable


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
        return _empty_steps()
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
    classes = _work_classes(builder.categories)
    for core in _cores_in_steps(cores, with_steps, oddities):
        ops = described[id(core)]
        rows = op_rows(ops, core.step_rows)
        of_label = classes[builder.numbers(ops.labels)]
        _add_core_steps(table, core, rows, np.array(groups, np.int64), of_label[rows.label])
    return table


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

"""The ops of one TPU core: labels, what one occurrence costs, and the work of rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.shared.op_tables import OpLabels, OpRows
from roofline.importers.xspace.nested_sums import RowSums
from roofline.importers.xspace.op_kinds import LEVELS, OpKind
from roofline.importers.xspace.op_metrics import CoreOps
from roofline.importers.xspace.tpu_programs import TpuPrograms
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64, U64, Bools


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
            labels.append(label_of(kind))
    return labels, label_of_meta


def label_of(kind: OpKind) -> OpLabels:
    """The label of an op of this kind."""
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
class CoreOpKinds:
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
    traffic_known: Bools
    cost_known: Bools


def describe(core: CoreOps, programs: TpuPrograms | None) -> CoreOpKinds:
    """The ops of a core; their units are those that `programs` tell, without them none."""
    kinds = core.kinds
    labels, label_of_meta = _labels(core)
    found = [None if programs is None else programs.unit(label) for label in labels]
    units = tuple(unit for unit in ComputeUnit if unit in found)
    of_label = np.array([*(units.index(u) if u else -1 for u in found), -1], np.int64)

    def column(cost: Callable[[OpKind], int]) -> U64:
        return np.array([0 if kind is None else cost(kind) for kind in kinds], np.uint64)

    return CoreOpKinds(
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


def op_rows(ops: CoreOpKinds, rows: RowSums) -> OpRows:
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

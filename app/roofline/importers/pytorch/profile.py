"""The work of all files of one upload as a profile: ops added up, steps matched by number."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.header import main_memory
from roofline.importers.pytorch.notes import Findings, diagnostics, limits
from roofline.importers.pytorch.replays import as_record
from roofline.importers.pytorch.rows import (
    MAX_LAUNCHES,
    FileWork,
    RowNumbers,
    Unit,
    as_ps,
    op_rows,
    used,
)
from roofline.importers.pytorch.serving import StepWork, joined_serving, traces_as_one
from roofline.importers.pytorch.words import matrix_precisions, unit_of, working_kernel
from roofline.importers.shared.launch_times import all_joined, renumbered
from roofline.importers.shared.op_tables import OpRows, OpTableBuilder
from roofline.model.compute import ComputeUnit, UndecidedUnit
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64, OpColumns
from roofline.model.profile import (
    Host,
    Kernels,
    LaunchTable,
    ModuleInstances,
    OpTable,
    Profile,
    Provenance,
    StepTable,
)
from roofline.model.serving import ServingSteps
from roofline.model.timeline import Timeline
from roofline.model.units import PS_PER_NS, PS_PER_US

_VECTOR = {"fp32": ComputeUnit.VECTOR_FP32, "fp64": ComputeUnit.VECTOR_FP64}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a profile, one entry per file; `shift_ns` brings a file to a common clock.

    `work` is empty if nothing in the files can be placed on a roofline.
    """

    device: ReportedDevice
    hosts: tuple[Host, ...]
    work: Sequence[FileWork]
    shift_ns: Sequence[int]
    numbers: RowNumbers
    findings: Findings
    captured_at_ns: int | None
    environment: Mapping[str, str]


def build_profile(parts: Parts) -> Profile:
    """The profile."""
    work, level = parts.work, main_memory(parts.device.name)
    units = _units(parts)
    (ops, op_of_row), steps = _ops(parts, units, level), _steps(parts, units, level)
    serving = _serving(parts, units, level, op_of_row)
    span_ps, busy_ps = _times(parts)
    notes = Counter[str]()
    for file in work:
        notes.update(file.notes)
    return Profile(
        device=parts.device,
        hosts=parts.hosts,
        ops=ops,
        time_ps=span_ps,
        op_time_ps=busy_ps,
        normalised_op_time_ps=busy_ps,
        wall_time_ps=max(map(_wall_ps, work), default=0) or None,
        steps=steps,
        has_average=len(steps) > 0,
        captured_at_ns=parts.captured_at_ns,
        diagnostics=diagnostics(parts.findings, notes, n_steps=len(steps)),
        flop_provenance=Provenance.ESTIMATED,
        bytes_provenance=Provenance.ESTIMATED,
        launches=_launches(work),
        launch_times=all_joined([renumbered(file.launch_times, op_of_row) for file in work]),
        kernels=_kernels(parts, op_of_row),
        timeline=_timeline(parts, op_of_row, ops),
        graphs=as_record(parts.findings.replays),
        serving=serving,
        instances=_instances(parts),
        environment=parts.environment,
        is_host_only=parts.findings.is_host_only,
        kernels_timed=_kernels_timed(notes),
        clock_tick_ps=PS_PER_US if notes["whole-microseconds"] else 0,
        flop_slack_ratio=_slack(work, ops),
        limits=limits(parts.findings, ops, n_steps=len(steps)) if work else (),
    )


def _slack(work: Sequence[FileWork], ops: OpTable) -> float:
    """The part of the FLOPs by which they may be more than counted."""
    flop = float(ops.flop.sum(dtype=np.float64))
    return sum(file.flop_slack for file in work) / flop if flop else 0.0


def _kernels_timed(notes: Counter[str]) -> tuple[int, int] | None:
    """Kernels in the files, and with those that were launched and are not; `None` without both.

    A graph runs kernels that no launch of their own stands for, so launches alone tell less.
    """
    timed = notes["kernels"]
    launched = timed + notes["launches-not-run"]
    return (timed, launched) if launched else None


def _wall_ps(work: FileWork) -> int:
    """From the first event of the devices of a file to the last of any, in ps."""
    longest_ps = int(work.span_ns.max()) * PS_PER_NS
    return max(longest_ps, work.timeline.span_ps) if work.timeline else longest_ps


def _timeline(parts: Parts, op_of_row: I64, ops: OpTable) -> Timeline | None:
    timelines = [work.timeline for work in parts.work if work.timeline is not None]
    if not timelines or len(timelines) < len(parts.work):
        return None
    names = [host.hostname or host.file_name for host in parts.hosts if host.core_count]
    return traces_as_one(timelines, names, op_of_row, ops)


def _ops(parts: Parts, units: Mapping[int, Unit], level: MemoryLevel) -> tuple[OpTable, I64]:
    """The op table, and the op of each row."""
    rows = parts.numbers.rows
    builder = OpTableBuilder((level,))
    labels = [row.labels() for row in rows]
    for work in parts.work:
        builder.add(labels, op_rows(work.sums, rows, units, level))
    return builder.build(), builder.numbers(labels)


def _times(parts: Parts) -> tuple[int, int]:
    """Time from first to last event, and the part of it in ops, summed over devices, in ps.

    A host between two launches is not an idle device: without kernels all time is taken as busy.
    """
    busy = sum(int(work.busy_ns.sum()) for work in parts.work)
    span = sum(int(np.maximum(work.span_ns, work.busy_ns).sum()) for work in parts.work)
    if parts.findings.accelerator:
        busy = span
    return span * PS_PER_NS, busy * PS_PER_NS


def _launches(work: Sequence[FileWork]) -> LaunchTable | None:
    """Launches of all files if they are few; rows are ops, because every row is one label."""
    tables = [table.launches for table in work if table.launches is not None]
    count = sum(len(table.row) for table in tables)
    if not tables or len(tables) < len(work) or count > MAX_LAUNCHES:
        return None
    return LaunchTable(
        op=np.concatenate([table.row for table in tables]),
        detail=tuple(detail for table in tables for detail in table.detail),
        time_ps=as_ps(np.concatenate([table.time_ns for table in tables])),
        flop=np.full(count, np.nan),  # of the operator, whose kernels share it
        traffic_bytes={},
    )


def _kernels(parts: Parts, op_of_row: I64) -> Kernels | None:
    """The kernels of all files, one file after the other."""
    files = [(work, work.kernels) for work in parts.work if work.kernels is not None]
    if not files:
        return None
    place = _places_of_steps(parts)
    columns: dict[str, list[NDArray[Any]]] = defaultdict(list)
    names: list[str] = []
    shapes: list[tuple[int, ...]] = []
    for work, found in files:
        step = np.array([place[step.number] for step in work.steps] + [-1], np.int64)
        columns["op"].append(op_of_row[found.row])
        columns["step"].append(step[found.scope])
        columns["name"].append(found.name + len(names))
        columns["shape"].append(found.shape + len(shapes))
        columns["time_ps"].append(as_ps(found.time_ns))
        names += found.names
        shapes += found.shapes
    whole = {name: np.concatenate(column) for name, column in columns.items()}
    return Kernels(
        names=tuple(names),
        shapes=np.array(shapes, np.int64),
        name=whole["name"],
        op=whole["op"],
        step=whole["step"],
        shape=whole["shape"],
        time_ps=whole["time_ps"],
    )


def _units(parts: Parts) -> dict[int, Unit]:
    """Unit per row whose FLOPs are known, or the units that it may have been.

    Vector units compute narrow types at the rate of fp32.
    """
    rows = {k: row for k, row in enumerate(parts.numbers.rows) if not row.flop_gap}
    if parts.device.kind is not DeviceKind.GPU:
        return {k: _VECTOR[row.dtype] for k, row in rows.items() if row.dtype in _VECTOR}
    main = {k: working_kernel(row.kernels) for k, row in rows.items()}
    traits = parts.device.traits
    matrix = matrix_precisions(traits.architecture, parts.device.name, main.values())
    return {
        k: _VECTOR.get(row.dtype, ComputeUnit.VECTOR_FP32)
        if row.is_vector
        else unit_of(row.dtype, main[k], matrix, tf32=row.tf32)
        for k, row in rows.items()
    }


# -------------------------------------------------------------------------------------------- steps


def _steps(parts: Parts, units: Mapping[int, Unit], level: MemoryLevel) -> StepTable:
    """One row per step number; a step lasts as long as its longest marker on any rank."""
    place = _places_of_steps(parts)
    labels = {step.number: step.label for work in parts.work for step in work.steps}
    begin = np.full(len(place), 2**62, np.int64)
    end, lasted = np.zeros(len(place), np.int64), np.zeros(len(place), np.int64)
    core = np.zeros(len(place), np.int64)
    sums = OpColumns.zeros(
        (len(place), 2), (level,), used(units, ComputeUnit), used(units, UndecidedUnit)
    )
    for work, shift in zip(parts.work, parts.shift_ns, strict=True):
        at = np.array([place[step.number] for step in work.steps], np.int64)
        for k, step in zip(at.tolist(), work.steps, strict=True):
            begin[k] = min(begin[k], step.begin_ns + shift)
            end[k] = max(end[k], step.end_ns + shift)
            lasted[k] = max(lasted[k], step.end_ns - step.begin_ns)
        np.add.at(core, at, work.step_core_ns)
        _add_work(sums, work, at, op_rows(work.sums, parts.numbers.rows, units, level))
    return StepTable(
        label=tuple(labels.get(number) or str(number) for number in place),
        begin_ps=as_ps(begin),
        end_ps=as_ps(end),
        duration_ps=as_ps(lasted),
        time_ps=as_ps(core),
        sums=sums,
    )


def _instances(parts: Parts) -> ModuleInstances | None:
    """The instances of modules in all files; those of one name are one."""
    files = [(work, work.instances) for work in parts.work if work.instances is not None]
    if not files:
        return None
    step_of = _places_of_steps(parts)
    numbers: dict[tuple[str, str, str], int] = {}
    sums: dict[str, list[NDArray[Any]]] = defaultdict(list)
    for work, found in files:
        place = np.array([step_of[step.number] for step in work.steps] + [-1], np.int64)
        own = np.array([numbers.setdefault(key, len(numbers)) for key in found.layers], np.int64)
        sums["step"].append(place[found.scope])
        sums["instance"].append(own[found.layer])
        sums["calls"].append(found.calls)
        sums["time_ps"].append(as_ps(found.time_ns).astype(np.float64))
        sums["flop"].append(found.flop.astype(np.float64))
        sums["bytes"].append(found.moved_bytes.astype(np.float64))
    return ModuleInstances(
        name=tuple(name for _, name, _ in numbers),
        path=tuple(path for path, _, _ in numbers),
        direction=tuple(direction for _, _, direction in numbers),
        **{name: np.concatenate(columns) for name, columns in sums.items()},
    )


def _places_of_steps(parts: Parts) -> dict[int, int]:
    """The place of each step by its number, in order of time."""
    first: dict[int, int] = {}
    for work, shift in zip(parts.work, parts.shift_ns, strict=True):
        for step in work.steps:
            at = step.begin_ns + shift
            first[step.number] = min(at, first.get(step.number, at))
    ordered = sorted(first, key=lambda number: (first[number], number))
    return {number: place for place, number in enumerate(ordered)}


def _add_work(sums: OpColumns, work: FileWork, place: I64, rows: OpRows) -> None:
    """Add a file's work to the steps' sums, in place. No op here is infeed or outfeed."""
    inside = work.sums.scope >= 0
    at = (place[work.sums.scope[inside]], np.zeros(int(inside.sum()), np.int64))
    counted = rows.select(inside)
    sums.add_at(at, replace(counted, time_ps=counted.self_time_ps))


# ------------------------------------------------------------------------------------------ servers


def _serving(
    parts: Parts, units: Mapping[int, Unit], level: MemoryLevel, op_of_row: I64
) -> ServingSteps | None:
    """The steps of a server, where every file has some."""
    files = [file.serving for file in parts.work if file.serving is not None]
    if not files or len(files) < len(parts.work):
        return None
    place = _places_of_steps(parts)
    work = []
    for one in parts.work:
        inside = one.sums.scope >= 0
        at = np.array([place[step.number] for step in one.steps], np.int64)
        rows = op_rows(one.sums, parts.numbers.rows, units, level).select(inside)
        work.append(StepWork(step=at[one.sums.scope[inside]], op=op_of_row[rows.label], rows=rows))
    return joined_serving(files, place, work)

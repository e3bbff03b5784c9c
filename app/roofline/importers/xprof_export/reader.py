"""Reads the tables of one profile that XProf exported.

XProf's roofline table has every op twice (with and without infeed), and rows of the program. Ops
are the rows with infeed. Rows of category "Program" give the time of the whole and of each step; a
step without infeed is the row that says so, its infeed the difference.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofline.errors import UploadRejectedError
from roofline.importers.shared.launches import no_steps
from roofline.importers.source import Progress, SourceFile
from roofline.importers.xprof_export.rows import (
    device_kind,
    levels_of,
    op_table,
    picoseconds,
    read_device,
    read_hlo_stats,
    without_breakdown,
    work_of,
)
from roofline.importers.xprof_export.tables import ExportTable, Tool, read_export
from roofline.model.categories import IDLE_CATEGORY, is_container
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.notes import noted, notes_beside
from roofline.model.op_columns import U64, Bools, OpColumns
from roofline.model.profile import LABELS, Diagnostic, Host, OpTable, Profile, Severity, StepTable

PROGRAM = "Program"
_TOTAL, _AVERAGE = "Total", "Average"
# Counts recovered from rates are off by rounding only.
_ROUNDING = 1e-7
_MOST_CANDIDATES = 16
_KERNELS_LEFT_OUT = (
    ": none of its kernels names an instruction of a compiled program, and XProf leaves such"
    " kernels out"
)
_NOTES = notes_beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """The content of a roofline table, before it becomes a profile.

    `stated_ps` is the program's time without the row IDLE, where the table lacks ops of it.
    """

    ops: OpTable
    time_ps: int
    op_time_ps: int
    core_count: int
    steps: StepTable
    notes: tuple[Diagnostic, ...]
    stated_ps: int | None = None


def read_roofline(table: ExportTable, *, counts_resting: bool = False) -> Roofline:
    """Ops, program and steps of a roofline table.

    GPUs that ran nothing are not among the cores where the rows tell, unless `counts_resting`.
    """
    rows = _Rows(table)
    kind = device_kind(table)
    levels = levels_of(kind)
    ops = op_table(table, rows.ops, names=table.texts("operation"), levels=levels)
    total = rows.program(_TOTAL)
    listed_ps = int(ops.self_time_ps.sum(dtype=np.uint64))
    notes: list[Diagnostic] = []
    time_ps, lacks_ops = listed_ps + rows.idle_ps, False
    if total is None:
        notes.append(noted(_NOTES, "no-program-row"))
    else:
        time_ps = max(int(picoseconds(table.numbers("total_time"))[total]), listed_ps)
        ops, missing = _checked(ops, table, total)
        notes += missing
        lacks_ops = bool(missing)
    cores = 1 if total is None else _core_count(table, total)
    may_tell = kind is DeviceKind.GPU and not notes and not counts_resting
    ran = _that_ran(ops, cores) if may_tell else cores
    if ran < cores:
        least, over = (
            ("", "those of the other") if ran == 1 else ("At least ", f"means over {ran:,}")
        )
        resting = noted(
            _NOTES, "gpus-without-kernels", least=least, resting=cores - ran, gpus=cores, over=over
        )
        notes.append(resting)
    nothing_listed = not len(ops) and not notes
    if nothing_listed:
        why = _KERNELS_LEFT_OUT if kind is DeviceKind.GPU else ""
        notes.append(noted(_NOTES, "no-operations", why=why))
    return Roofline(
        ops=ops,
        time_ps=time_ps,
        # Unlisted time is not idle either.
        op_time_ps=time_ps if nothing_listed else listed_ps,
        core_count=ran,
        steps=rows.steps(levels),
        notes=tuple(notes),
        stated_ps=time_ps - rows.idle_ps if lacks_ops else None,
    )


class _Rows:
    """Rows of a table by what they are about."""

    def __init__(self, table: ExportTable) -> None:
        self._table = table
        self._step = table.texts("step")
        self._with_infeed = table.flags("include_infeed_outfeed")
        category, operation = np.array(table.texts("category")), np.array(table.texts("operation"))
        self._is_program = (category == PROGRAM) & (operation == PROGRAM)
        self._is_idle = (category == IDLE_CATEGORY) | (operation == IDLE_CATEGORY)
        of_total = np.array([step == _TOTAL for step in self._step], np.bool_)
        is_op = of_total & ~self._is_program & ~self._is_idle
        # A table that was filtered to the rows without infeed is still a table of ops.
        chosen = is_op & self._with_infeed if (is_op & self._with_infeed).any() else is_op
        self.ops = np.flatnonzero(chosen)

    @property
    def idle_ps(self) -> int:
        """Time of the row IDLE, 0 without one."""
        idle = self._is_idle & self._with_infeed
        return int(picoseconds(self._table.numbers("total_self_time"))[idle].sum(dtype=np.uint64))

    def program(self, step: str, *, infeed: bool = True) -> int | None:
        """The program's row of `step`, if there is one."""
        wanted = self._is_program & (self._with_infeed == infeed)
        return next((k for k in np.flatnonzero(wanted).tolist() if self._step[k] == step), None)

    def steps(self, levels: tuple[MemoryLevel, ...]) -> StepTable:
        """Steps with any time: XProf writes rows of zeros for those it could not fill."""
        time_ps = picoseconds(self._table.numbers("total_time"))
        labels = [
            step
            for k, step in enumerate(self._step)
            if self._is_program[k] and self._with_infeed[k] and time_ps[k] > 0
        ]
        labels = [step for step in dict.fromkeys(labels) if step not in {_TOTAL, _AVERAGE}]
        whole = [row for step in labels if (row := self.program(step)) is not None]
        inner = [self.program(step, infeed=False) for step in labels]
        durations = time_ps[whole]
        return StepTable(
            label=tuple(labels),
            begin_ps=np.zeros(len(labels), np.uint64),
            end_ps=durations,
            duration_ps=durations,
            time_ps=durations,
            sums=self._sums(whole, inner, levels),
        )

    def _sums(
        self, whole: list[int], inner: list[int | None], levels: tuple[MemoryLevel, ...]
    ) -> OpColumns:
        if not whole:
            return OpColumns.zeros((0, 2), levels)
        time_us = self._table.numbers("total_time")
        work, time_ps = work_of(self._table, time_us, levels), picoseconds(time_us)
        # Without the second row, infeed cannot be told from the rest: all counts as work.
        other = [row if k is None else k for row, k in zip(whole, inner, strict=True)]

        def split(column: U64) -> U64:
            all_of_it, without_infeed = column[whole], column[other]
            return np.stack(
                [
                    without_infeed,
                    np.where(all_of_it > without_infeed, all_of_it - without_infeed, 0),
                ],
                axis=1,
            )

        moved = split(work.bytes_accessed)
        times = split(time_ps)
        return OpColumns(
            occurrences=np.zeros(times.shape, np.int64),
            time_ps=times,
            flop=split(work.flop),
            model_flop=split(work.model_flop),
            bytes_accessed=moved,
            traffic_bytes={level: split(column) for level, column in work.traffic_bytes.items()},
            traffic_known=moved > 0,
            cost_known=moved > 0,
        )


def _core_count(table: ExportTable, total: int) -> int:
    """Cores: the program's time over its time per core."""
    time, per_core = table.numbers("total_time")[total], table.numbers("total_time_per_core")[total]
    return max(1, min(round(time / per_core), 1_000_000)) if time > 0 and per_core > 0 else 1


def _that_ran(ops: OpTable, cores: int) -> int:
    """The most of `cores` GPUs that can have run these operations.

    XProf divides by every GPU of the machine. A GPU that runs a program runs its most frequent
    operation at least once.
    """
    most: dict[int, int] = {}
    for program, count in zip(ops.program_id.tolist(), ops.occurrences.tolist(), strict=True):
        most[program] = max(most.get(program, 0), count)
    return min(cores, sum(most.values())) if most and all(most.values()) else cores


def _checked(
    ops: OpTable, table: ExportTable, total: int
) -> tuple[OpTable, tuple[Diagnostic, ...]]:
    """Compare the ops' sums with the program's row: work that is not listed, or not broken down."""
    levels = tuple(ops.traffic_bytes)
    work = work_of(table, table.numbers("total_time"), levels)
    inside = np.array([not is_container(category) for category in ops.category], np.bool_)
    lacking = {
        "FLOPs": _lacking(int(work.flop[total]), ops.flop[inside]),
        "bytes": _lacking(int(work.bytes_accessed[total]), ops.bytes_accessed[inside]),
    }
    if any(share > _ROUNDING for share in lacking.values()):
        shares = " and ".join(
            f"{100 * share:.1f} % of the {what}" for what, share in lacking.items() if share
        )
        return ops, (noted(_NOTES, "ops-not-listed", ops=len(ops), shares=shares),)
    main = MemoryLevel.HBM
    excess = int(ops.traffic_bytes[main][inside].sum(dtype=np.uint64))
    unknown = _never_split(ops, excess - int(work.traffic_bytes[main][total]))
    return without_breakdown(ops, unknown), ()


def _lacking(whole: int, listed: U64) -> float:
    """Share of the program's work that no listed op did."""
    done = int(listed.sum(dtype=np.uint64))
    return (whole - done) / whole if whole > done else 0.0


def _never_split(ops: OpTable, excess_bytes: int) -> Bools:
    """Ops whose bytes are not split by memory: their bytes add up to `excess_bytes`.

    XProf shows such bytes as the op's HBM bytes, but leaves them out of the program's. Which ops
    they are, the table does not say; custom calls come first because their author counts for them.
    Where several sets of ops fit, all look the same on the page.
    """
    unknown = np.zeros(len(ops), np.bool_)
    moved, split = ops.bytes_accessed, ops.traffic_bytes[MemoryLevel.HBM]
    if excess_bytes <= 0:
        return unknown
    names = zip(ops.category, ops.name, strict=True)
    custom = np.array(["custom" in f"{c} {n}" for c, n in names], np.bool_)
    whole = (moved > 0) & (moved == split)
    inside = np.array([not is_container(category) for category in ops.category], np.bool_)
    order = np.argsort(~custom, kind="stable")
    candidates = [int(op) for op in order if whole[op] and inside[op]][:_MOST_CANDIDATES]
    sets = np.arange(1 << len(candidates))
    sums = np.zeros(len(sets))
    for bit, op in enumerate(candidates):
        sums += np.where(sets >> bit & 1, float(moved[op]), 0.0)
    best = int(np.argmin(np.abs(sums - excess_bytes)))
    # Each op's bytes were rounded to a whole number.
    if abs(sums[best] - excess_bytes) <= len(ops) + _ROUNDING * excess_bytes:
        unknown[[op for bit, op in enumerate(candidates) if best >> bit & 1]] = True
    return unknown


_GPU_COSTS = [
    "XProf counts an operation's FLOPs and bytes once per kernel: where an operation runs as "
    "several kernels, its rates are too high.",
    "XProf leaves results in tuples, as library calls return them, out of HBM traffic: such an "
    "operation can be bound by HBM where its row says compute.",
]
_GPU_LIMITS = [
    "XProf leaves out copies, and kernels that name no instruction of a compiled program: their "
    "time counts as idle.",
    *_GPU_COSTS,
]


def read(
    sources: Sequence[SourceFile], *, progress: Progress, counts_resting: bool = False
) -> Profile:
    """The profile in one export, or in the two tables of one profile.

    With `counts_resting` GPUs that ran nothing count as cores, as XProf counts them.
    """
    tables = []
    for k, source in enumerate(sources):
        progress("read", k / len(sources))
        tables.append(read_export(source))
    roofline, stats = _one_of(tables, Tool.ROOFLINE_MODEL), _one_of(tables, Tool.HLO_STATS)
    if roofline is None:
        return _from_hlo_stats(tables[0])
    profile = _from_roofline(roofline, counts_resting=counts_resting)
    return profile if stats is None else replace(profile, ops=_with_texts(profile.ops, stats))


def _one_of(tables: Sequence[ExportTable], tool: Tool) -> ExportTable | None:
    """The table of `tool`: JSON before CSV of the same one. Refuses two that differ."""
    result = [table for table in tables if table.tool is tool]
    kinds = [table.properties is not None for table in result]
    if len(set(kinds)) < len(kinds):
        names = " and ".join(table.name for table in result[:2])
        raise UploadRejectedError(
            f"{names} are both exports of XProf's {tool.value}.",
            remedy="Upload them one by one: exports of several profiles cannot be joined.",
        )
    return max(result, key=lambda table: table.properties is not None, default=None)


def _from_roofline(table: ExportTable, *, counts_resting: bool) -> Profile:
    roofline = read_roofline(table, counts_resting=counts_resting)
    device = read_device(table, core_count=roofline.core_count)
    limits = ["It has no names of programs and not the time of the capture."]
    limits += [] if len(roofline.steps) else ["XProf exported no steps with any time."]
    limits += [] if table.properties else [_csv_limits(device)]
    limits += _GPU_LIMITS if device.kind is DeviceKind.GPU else []
    return _profile(table, device, roofline, limits)


def _from_hlo_stats(table: ExportTable) -> Profile:
    ops, time_ps = read_hlo_stats(table)
    roofline = Roofline(
        ops=ops,
        time_ps=time_ps,
        op_time_ps=int(ops.self_time_ps.sum(dtype=np.uint64)),
        core_count=1,
        steps=no_steps(tuple(ops.traffic_bytes)),
        notes=(),
    )
    limits = [
        "The table hlo_stats has no steps, no peaks, no device name and no number of cores.",
        "Infeed, outfeed and copies are not listed: their time counts as idle.",
    ]
    device = replace(read_device(table, core_count=1), counts_cores=False)
    limits += _GPU_COSTS if device.kind is DeviceKind.GPU else []
    return _profile(table, device, roofline, limits)


def _profile(
    table: ExportTable, device: ReportedDevice, roofline: Roofline, limits: Sequence[str]
) -> Profile:
    return Profile(
        format_detail=f"of {table.tool.value}",
        device=device,
        hosts=(Host(file_name=table.name, hostname="", core_count=device.core_count),),
        ops=roofline.ops,
        time_ps=roofline.time_ps,
        op_time_ps=roofline.op_time_ps,
        normalised_op_time_ps=_scaled(table, roofline.op_time_ps),
        steps=roofline.steps,
        has_average=len(roofline.steps) > 0,
        diagnostics=(*roofline.notes, *_diagnostics(table, device)),
        limits=tuple(limits),
        stated_total_ps=roofline.stated_ps,
    )


def _scaled(table: ExportTable, time_ps: int) -> int:
    """Op time at the default clock, where the properties say how that differs."""
    try:
        scale = float((table.properties or {}).get("time_scale_multiplier", 1.0))
    except ValueError:
        scale = 1.0
    return round(time_ps * scale) if 0.0 < scale < 100.0 else time_ps


def _csv_limits(device: ReportedDevice) -> str:
    """The limits of the CSV, and the peaks that could be recovered from its rows."""
    recovered = ["compute"] if device.peak_gflops else []
    recovered += [level.label for level in device.bandwidth_gbs]
    lost = "The CSV has neither the device's name nor its peaks"
    if not recovered:
        return f"{lost}: choose the device, or export the table as JSON, which has both."
    rest = "; on-chip peaks that bind no operation stay unknown"
    return (
        f"{lost}; those of {', '.join(recovered)} are recovered from the shares in its rows"
        f"{rest if device.kind is DeviceKind.TPU else ''}."
    )


def _diagnostics(table: ExportTable, device: ReportedDevice) -> Iterator[Diagnostic]:
    """XProf's own messages, which its JSON has as a second table, and what may be wrong."""
    for severity, text in table.messages:
        yield Diagnostic(
            severity=Severity.ERROR if severity.lower() == "error" else Severity.WARNING,
            code="xprof-message",
            message=f"XProf says: {text}",
        )
    if not table.ends_whole:
        yield noted(_NOTES, "no-final-line-break", name=table.name)
    if device.name.startswith("AMD GPU") and MemoryLevel.HBM in device.bandwidth_gbs:
        yield noted(_NOTES, "amd-memory-clock")


def _with_texts(ops: OpTable, stats: ExportTable) -> OpTable:
    """`ops` with the HLO texts that hlo_stats has and the roofline table lacks."""
    details, _ = read_hlo_stats(stats)
    keys = zip(details.program_id.tolist(), details.name, strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    wanted = zip(ops.program_id.tolist(), ops.name, strict=True)
    rows = [row_of.get(key, -1) for key in wanted]
    texts: dict[str, Any] = {}
    for name in _TEXTS:
        known, label = getattr(details, name), LABELS[name]
        texts[name] = label.column(known[row] if row >= 0 else label.default for row in rows)
    return replace(ops, **texts)


# Columns of hlo_stats that the roofline table lacks.
_TEXTS = (
    "long_name",
    "framework_path",
    "operands",
    "results",
    "operand_names",
    "replica_groups",
    "group_size",
)

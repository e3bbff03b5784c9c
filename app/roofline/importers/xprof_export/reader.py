"""Reads the tables of one profile that XProf exported."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from roofline.errors import UploadRejectedError
from roofline.importers.shared.launches import no_steps
from roofline.importers.shared.notes import noted
from roofline.importers.source import Progress, SourceFile
from roofline.importers.xprof_export.peaks import read_device
from roofline.importers.xprof_export.roofline_model import NOTES, Roofline, read_roofline
from roofline.importers.xprof_export.rows import read_hlo_stats
from roofline.importers.xprof_export.tables import (
    ExportTable,
    Tool,
    read_export,
)
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import LABELS, Diagnostic, Host, OpTable, Profile, Severity

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
    sources: Sequence[SourceFile],
    *,
    progress: Progress,
    counts_resting: bool = False,
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
    device = read_device(table, core_count=1)
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
        yield noted(NOTES, "no-final-line-break", name=table.name)
    if device.name.startswith("AMD GPU") and MemoryLevel.HBM in device.bandwidth_gbs:
        yield noted(NOTES, "amd-memory-clock")


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

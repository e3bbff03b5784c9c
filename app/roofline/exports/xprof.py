"""Analysis in compatibility mode to XProf's own JSON, for exact comparison.

Layout as XProf 2.24.2 writes it: a list of two tables (rows, diagnostics) in the Google DataTable
format, numbers as doubles, table properties as text with six significant digits.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.analysis import roofline
from roofline.analysis.records import Measures, RooflineAnalysis, View
from roofline.model.device import DeviceKind
from roofline.model.memory import TPU_ON_CHIP_LEVELS, MemoryLevel
from roofline.model.op_columns import F64, I64
from roofline.model.units import gb_to_gib
from roofline.presentation.json_text import to_json

Cell = dict[str, Any]

_TPU_LEVELS = (MemoryLevel.HBM, *TPU_ON_CHIP_LEVELS)
_CMEM = (MemoryLevel.CMEM_READ, MemoryLevel.CMEM_WRITE)
_VMEM = (MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE)

_NOT_ON_GPU = frozenset(
    f"{level}_{column}"
    for level in (*_CMEM, MemoryLevel.VMEM_READ)
    for column in ("bw", "operational_intensity")
) | {"dma_stall_percent"}

_STEP_WARNINGS = {
    "no-steps": "No step marker observed and hence the step time is unknown. This may happen if "
    "(1) training steps are not instrumented (e.g., if you are not using Keras) or (2) the "
    "profiling duration is shorter than the step time. For (1), you need to add step "
    "instrumentation; for (2), you may try to profile longer.",
    "steps-do-not-intersect": "Although there are steps observed on some host(s), the intersection "
    "of the steps over all hosts is empty (because the differences among individual host's step "
    "sequences are too big). Consequently, the overall step time is unknown.",
}


def to_xprof(analysis: RooflineAnalysis) -> bytes:
    """XProf's JSON, as UTF-8."""
    return to_json(xprof_table(analysis))


def xprof_table(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """XProf's two tables. `analysis` must be of compatibility mode."""
    rows: list[dict[str, Any]] = []
    if analysis.device.kind in (DeviceKind.TPU, DeviceKind.GPU):
        rows = [{"c": row} for view in _views(analysis) for row in _rows(analysis, view)]
    columns = [
        {"id": name, "label": label, "type": kind}
        for name, label, kind in compress(_tpu_columns(), _kept(on_gpu=_is_gpu(analysis)))
    ]
    if _is_gpu(analysis):
        columns = [{**column, "label": _gpu_label(column["label"])} for column in columns]
    table = {"cols": columns, "rows": rows, "p": _properties(analysis)}
    return [table, _diagnostics(analysis)]


def _is_gpu(analysis: RooflineAnalysis) -> bool:
    """XProf chooses the layout by the text of the device type."""
    return "GPU" in analysis.device.name


@cache
def _kept(*, on_gpu: bool) -> tuple[bool, ...]:
    """Per column of a TPU whether the layout has it: that of a GPU lacks some."""
    return tuple(not on_gpu or name not in _NOT_ON_GPU for name, _, _ in _tpu_columns())


def _gpu_label(label: str) -> str:
    return label.replace(MemoryLevel.VMEM_WRITE.label, "SHM/L1")


def _views(analysis: RooflineAnalysis) -> tuple[View, View]:
    return analysis.with_infeed, analysis.without_infeed


def _tpu_columns() -> Iterator[tuple[str, str, str]]:
    """(id, label, type) of the 37 columns of a TPU."""
    number = "number"
    yield from (
        ("step", "Step", "string"),
        ("rank", "Rank", number),
        ("category", "Category", "string"),
        ("operation", "Operation", "string"),
        ("occurrences", "# Occurrences", number),
        ("total_time", "Total Time (us)", number),
        ("avg_time", "Avg. time (us)", number),
        ("total_self_time", "Total self time (us)", number),
        ("avg_self_time", "Avg. self time (us)", number),
        ("total_self_time_percent", "Total self time (%)", number),
        ("cumulative_total_self_time_percent", "Cumulative total self time (%)", number),
        ("dma_stall_percent", "%time stalled by DMA", number),
        ("measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)", number),
        ("model_flop_rate", "Model FLOP Rate (GFLOP/s)", number),
        ("measured_memory_bw", "Memory BW (GiB/s)", number),
    )
    yield from ((f"{level}_bw", f"{level.label} BW (GiB/s)", number) for level in _TPU_LEVELS)
    yield "operational_intensity", "Operational Intensity (FLOP/Byte)", number
    for level in _TPU_LEVELS:
        label = f"{level.label} Operational Intensity (FLOP/Byte)"
        yield f"{level}_operational_intensity", label, number
    yield from (
        (
            "bottleneck_operational_intensity",
            "Bottleneck Operational Intensity (FLOP/Byte)",
            number,
        ),
        ("bound_by", "Bound by", "string"),
        ("total_time_per_core", "Total Time per core (us)", number),
        ("total_time_in_percentage", "Total Time (%)", number),
        ("optimal_flop_rate", "Optimal FLOP Rate (GFLOP/s)", number),
        ("roofline_efficiency", "Roofline efficiency (%)", number),
        ("compute_efficiency", "FLOP Rate / Peak (%)", number),
        (
            "max_mem_bw_utilization",
            "Max memory BW utilization (among supported memories) (%)",
            number,
        ),
        ("include_infeed_outfeed", "Include Infeed/Outfeed", "boolean"),
        ("hlo_module_id", "Program ID", "string"),
        ("source_info", "Source Info", "string"),
    )


# ------------------------------------------------------------------------------------------- rows


def _rows(analysis: RooflineAnalysis, view: View) -> Iterator[list[Cell]]:
    """Total, ops by self time, Average, steps."""
    total, *others = zip(*_of_programs(analysis, view), strict=True)
    for row in (total, *zip(*_of_ops(analysis, view), strict=True), *others):
        yield [{"v": value} for value in row]


def _of_programs(analysis: RooflineAnalysis, view: View) -> Iterator[Sequence[Any]]:
    points = view.program
    count, measures = len(points.label), points.measures
    nothing, program = [0.0] * count, ["Program"] * count
    head = (points.label, nothing, program, program, [1.0] * count)
    shares = (nothing, nothing, _floats(measures.total_time_us > 0))
    identity = (["0"] * count, [""] * count)
    return _columns(analysis, view, measures, np.arange(count), head, shares, identity)


def _of_ops(analysis: RooflineAnalysis, view: View) -> Iterator[Sequence[Any]]:
    ops, rows = analysis.ops, view.op
    at = rows.tolist()
    head = (
        ["Total"] * len(at),
        _floats(view.rank),
        [ops.category[row] for row in at],
        [ops.name[row] for row in at],
        _floats(ops.occurrences[rows]),
    )
    shares = (view.self_share_ratio, view.cumulative_share_ratio, view.total_share_ratio)
    identity = (
        [*map(str, ops.program_id[rows].tolist())],
        [_source(analysis, row) for row in at],
    )
    return _columns(
        analysis, view, ops.measures, rows, head, [_floats(one) for one in shares], identity
    )


def _columns(
    analysis: RooflineAnalysis,
    view: View,
    m: Measures,
    rows: I64,
    head: Sequence[Sequence[Any]],
    shares: Sequence[Sequence[float]],
    identity: Sequence[Sequence[str]],
) -> Iterator[Sequence[Any]]:
    """The columns of some rows that the layout has."""

    none = np.zeros_like(m.total_time_us)

    def of_levels(columns: Mapping[MemoryLevel, F64]) -> list[F64]:
        return [columns.get(level, none) for level in _TPU_LEVELS]

    spent = (m.total_time_us, m.avg_time_us, m.self_time_us, m.avg_self_time_us)
    rates = (m.flop_rate_gflops, m.model_flop_rate_gflops, m.memory_bandwidth_gibs)
    intensities = (m.operational_intensity, *of_levels(m.intensity), m.bottleneck_intensity)
    reached = (m.roofline_efficiency_ratio, m.compute_efficiency_ratio, m.memory_utilisation_ratio)

    def taken(*columns: F64) -> list[list[float]]:
        return [_floats(column[rows]) for column in columns]

    values = [
        *head,
        *taken(*spent),
        *shares[:2],
        *taken(m.dma_stall_ratio, *rates, *of_levels(m.bandwidth_gibs), *intensities),
        [analysis.bound_label(code) for code in m.bound[rows].tolist()],
        *taken(m.total_time_per_core_us),
        shares[2],
        *taken(m.attainable_gflops, *reached),
        [view.include_infeed_outfeed] * len(rows),
        *identity,
    ]
    return compress(values, _kept(on_gpu=_is_gpu(analysis)))


def _floats(column: NDArray[Any]) -> list[float]:
    floats: list[float] = column.astype(np.float64).tolist()
    return floats


def _source(analysis: RooflineAnalysis, row: int) -> str:
    """XProf's own HTML for a source location; empty without file or line."""
    table = analysis.profile.ops
    file, line = table.source_file[row], int(table.source_line[row])
    if not file or line == -1:
        return ""
    stack, name = _escape(table.source_stack[row]), _escape(file)
    return f"<div class='source-info-cell' title='{stack}'>{name}:{line}</div>"


def _escape(text: str) -> str:
    return html.escape(text, quote=True).replace("&#x27;", "&#39;")


# ------------------------------------------------------------------------------------- properties


def _properties(analysis: RooflineAnalysis) -> dict[str, str]:
    """Table properties as text; "0" for what is unknown."""
    device = analysis.device
    if _is_gpu(analysis):
        return _gpu_properties(analysis)
    peaks = {level: gb_to_gib(device.memory_gbs(level) or 0.0) for level in _TPU_LEVELS}
    # Oddity of XProf: CMEM peaks hide VMEM's, and without their flag neither is shown.
    for level in _CMEM:
        peaks[level] *= device.has_cmem
    for level in _VMEM:
        peaks[level] *= device.has_merged_vmem and not device.has_cmem
    flops = analysis.peaks.gflops
    scale = analysis.time_scale_multiplier or 0.0
    properties = {
        "device_type": device.name,
        "megacore": _flag(device.has_megacore),
        "has_cmem": _flag(device.has_cmem),
        "has_merged_vmem": _flag(device.has_merged_vmem),
        "peak_flop_rate": _digits(flops),
        "time_scale_multiplier": _digits(scale),
    }
    for level in _TPU_LEVELS:
        ridge = roofline.ridge_point(flops, peaks[level]) or 0.0
        properties[f"peak_{level}_bw"] = _digits(peaks[level])
        properties[f"{level}_ridge_point"] = _digits(ridge)
    return properties


def _gpu_properties(analysis: RooflineAnalysis) -> dict[str, str]:
    """Those of a GPU; its shared memory and L1 stand under VMEM's name."""
    device, flops = analysis.device, analysis.peaks.gflops
    hbm = gb_to_gib(device.memory_gbs(MemoryLevel.HBM) or 0.0)
    shared = gb_to_gib(device.memory_gbs(MemoryLevel.SHARED_L1) or 0.0)
    return {
        "device_type": device.name,
        "peak_flop_rate": _digits(flops),
        "peak_hbm_bw": _digits(hbm),
        "peak_vmem_write_bw": _digits(shared),
        "hbm_ridge_point": _digits(roofline.ridge_point(flops, hbm) or 0.0),
        "vmem_write_ridge_point": _digits(roofline.ridge_point(flops, shared) or 0.0),
    }


def _flag(value: bool) -> str:
    return "1" if value else "0"


def _digits(value: float) -> str:
    """Six significant digits, like C's %g."""
    return f"{value:g}"


def _diagnostics(analysis: RooflineAnalysis) -> dict[str, Any]:
    found = [d.code for d in analysis.profile.diagnostics if d.code in _STEP_WARNINGS]
    rows = [{"c": [{"v": "WARNING"}, {"v": _STEP_WARNINGS[code]}]} for code in found[:1]]
    columns = [
        {"id": "severity", "label": "Severity", "type": "string"},
        {"id": "message", "label": "Message", "type": "string"},
    ]
    return {"cols": columns, "rows": rows}

"""Records for people's own tools: JSON with one object per op, and CSV. Full precision.

Keys carry units; `None` (JSON null, empty CSV cell) is "not measured", 0 is a real zero.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson

from app.analysis import roofline
from app.analysis.records import Measures, RooflineAnalysis, Scope, View
from app.model.units import gb_to_gib

Record = dict[str, Any]

# A spreadsheet takes a cell that starts like this for a formula; names come from strangers.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def analysis_to_json(analysis: RooflineAnalysis, *, include_infeed_outfeed: bool) -> bytes:
    """The document of the API and of `roofline analyze --format json`, as UTF-8."""
    view = analysis.view(include_infeed_outfeed=include_infeed_outfeed)
    document = {
        "profile": _profile(analysis),
        "device": _device(analysis),
        "roofs": _roofs(analysis),
        "include_infeed_outfeed": include_infeed_outfeed,
        "program_points": list(_program_points(analysis, view)),
        "steps": [row for row in _program_points(analysis, view) if row["scope"] == "step"],
        "ops": list(_ops(analysis, view)),
        "beyond": {"ops": view.beyond_ops, "self_share_ratio": view.beyond_share_ratio},
        "diagnostics": [
            {
                "severity": found.severity.value,
                "code": found.code,
                "message": found.message,
                "remedy": found.remedy,
                "count": found.count,
            }
            for found in analysis.diagnostics
        ],
    }
    return orjson.dumps(document)


def ops_to_csv(analysis: RooflineAnalysis, *, include_infeed_outfeed: bool) -> bytes:
    """All listed ops, RFC 4180, UTF-8 with a header of ids; text that looks like a formula is
    preceded by an apostrophe."""
    view = analysis.view(include_infeed_outfeed=include_infeed_outfeed)
    rows = list(_ops(analysis, view))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    header = list(rows[0]) if rows else ["rank", "name", "category"]
    writer.writerow(header)
    writer.writerows([_cell(row[name]) for name in header] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def op_records(analysis: RooflineAnalysis, *, include_infeed_outfeed: bool) -> list[Record]:
    """Listed ops by self time, one object each, as in the JSON document."""
    return list(_ops(analysis, analysis.view(include_infeed_outfeed=include_infeed_outfeed)))


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


def _profile(analysis: RooflineAnalysis) -> Record:
    profile = analysis.profile
    return {
        "format": profile.format_label,
        "captured_at_unix_ns": profile.captured_at_ns,
        "wall_time_us": None if profile.wall_time_ps is None else profile.wall_time_ps / 1e6,
        "hosts": [
            {"file_name": host.file_name, "hostname": host.hostname, "core_count": host.core_count}
            for host in profile.hosts
        ],
    }


def _device(analysis: RooflineAnalysis) -> Record:
    device = analysis.device
    return {
        "name": device.name,
        "kind": device.kind.value,
        "core_count": device.core_count,
        "core_word": device.core_word,
        "has_megacore": device.has_megacore,
        "peak_gflops": device.peak_gflops,
        "peak_bandwidth_gibs": {peak.level.value: gb_to_gib(peak.gbs) for peak in device.memory},
        "time_scale_multiplier": analysis.time_scale_multiplier,
        "matrix_unit_utilisation_ratio": device.counters.matrix_unit_ratio,
        "hbm_utilisation_ratio": device.counters.hbm_ratio,
    }


def _roofs(analysis: RooflineAnalysis) -> Record:
    device, gflops = analysis.device, analysis.peaks.gflops
    return {
        "compute": [
            {
                "id": peak.id,
                "label": peak.label,
                "peak_gflops": peak.gflops,
                "origin": peak.origin.value,
                "source": peak.source,
            }
            for peak in device.compute
        ],
        "memory": [
            {
                "level": peak.level.value,
                "label": peak.level.label,
                "peak_gibs": gb_to_gib(peak.gbs),
                "ridge_flop_per_byte": (
                    roofline.ridge_point(gflops, gb_to_gib(peak.gbs)) if gflops else None
                ),
                "origin": peak.origin.value,
                "source": peak.source,
            }
            for peak in device.memory
        ],
    }


def _program_points(analysis: RooflineAnalysis, view: View) -> Iterator[Record]:
    points = view.program
    for row, (scope, label) in enumerate(zip(points.scope, points.label, strict=True)):
        record = _measured(analysis, points.measures, row)
        # A program has no self time, and its counters no time of their own.
        for name in [name for name in record if "self_time" in name or name == "dma_stall_ratio"]:
            del record[name]
        yield {
            "scope": scope.value,
            "label": label,
            "is_outlier": bool(points.outlier[row]) if scope is Scope.STEP else None,
            **record,
        }


def _ops(analysis: RooflineAnalysis, view: View) -> Iterator[Record]:
    ops, profile = analysis.ops, analysis.profile
    for at, op in enumerate(view.op.tolist()):
        real = op < len(profile.ops)
        program_id = int(ops.program_id[op])
        yield {
            "rank": int(view.rank[at]),
            "name": ops.name[op],
            "category": ops.category[op],
            "program_id": str(program_id) if real else None,
            "program": profile.program_names.get(program_id, "") if real else None,
            "cost": ops.cost[op].value,
            "occurrences": int(ops.occurrences[op]) if real else None,
            **_measured(analysis, ops.measures, op),
            "self_time_per_core_us": _number(ops.self_time_per_core_us[op]),
            "saving_per_core_us": _number(ops.saving_per_core_us[op]),
            "self_share_ratio": _number(view.self_share_ratio[at]),
            "cumulative_share_ratio": _number(view.cumulative_share_ratio[at]),
            "total_share_ratio": _number(view.total_share_ratio[at]),
            "saving_share_ratio": _number(view.saving_share_ratio[at]),
            "source_file": profile.ops.source_file[op] if real else None,
            "source_line": _source_line(analysis, op) if real else None,
        }


def _source_line(analysis: RooflineAnalysis, op: int) -> int | None:
    line = int(analysis.profile.ops.source_line[op])
    return line if line >= 0 else None


def _measured(analysis: RooflineAnalysis, measures: Measures, row: int) -> Record:
    columns: Mapping[str, Any] = {
        "total_time_us": measures.total_time_us,
        "avg_time_us": measures.avg_time_us,
        "self_time_us": measures.self_time_us,
        "avg_self_time_us": measures.avg_self_time_us,
        "total_time_per_core_us": measures.total_time_per_core_us,
        "dma_stall_ratio": measures.dma_stall_ratio,
        "flop_rate_gflops": measures.flop_rate_gflops,
        "model_flop_rate_gflops": measures.model_flop_rate_gflops,
        "memory_bandwidth_gibs": measures.memory_bandwidth_gibs,
        **{f"{level}_bandwidth_gibs": c for level, c in measures.bandwidth_gibs.items()},
        "operational_intensity": measures.operational_intensity,
        **{f"{level}_intensity": c for level, c in measures.intensity.items()},
        "bottleneck_intensity": measures.bottleneck_intensity,
    }
    record: Record = {name: _number(column[row]) for name, column in columns.items()}
    record["bound_by"] = analysis.bound_label(int(measures.bound[row]))
    for name in (
        "attainable_gflops",
        "roofline_efficiency_ratio",
        "compute_efficiency_ratio",
        "memory_utilisation_ratio",
    ):
        record[name] = _number(getattr(measures, name)[row])
    return record


def _number(value: np.float64) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None

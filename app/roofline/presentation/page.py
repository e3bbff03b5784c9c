"""Everything one page shows, as compact JSON. The contract with the browser: docs/page-data.md.

Columns instead of objects, six significant digits, `null` for what is unknown.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.records import Measures, ProgramPoints, RooflineAnalysis, Scope, View
from roofline.analysis.roofline import Floats
from roofline.exports.json_text import to_json
from roofline.model.compute import ComputeUnit
from roofline.model.device import PeakComparison
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, LaunchTable
from roofline.model.units import gb_to_gib, ps_to_us
from roofline.presentation.columns import op_columns, program_columns
from roofline.presentation.device_fields import device_fields
from roofline.presentation.palette import (
    COMPUTE_STYLE,
    LEVEL_STYLES,
    UNKNOWN_STYLE,
    category_style,
    compute_style,
)
from roofline.presentation.verdict import CategoryShare, build_verdict, category_shares

SCHEMA = 1
SIGNIFICANT_DIGITS = 6
LAUNCHES_SHOWN = 200

# A program runs once and is its own self.
_OF_OPS_ONLY = {"avg_time_us", "self_time_us", "avg_self_time_us", "dma_stall_ratio"}

Json = dict[str, Any]

# What "Show" beside a diagnostic sets: the view state that lists the ops it speaks of.
_FILTERS: dict[str, Json] = {
    "unknown-cost": {"bound": ["Unknown"]},
    "above-compute-peak": {"bound": ["Compute"], "sort": "-compute_efficiency_ratio"},
    "above-memory-peak": {"sort": "-memory_utilisation_ratio"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIdentity:
    """Whose page it is; sizes of the uploaded files by name, where known.

    Not its title: that can be edited, and page data are never made again for it.
    """

    id: str
    created_at: str
    file_sizes: Mapping[str, int] = field(default_factory=dict)


def build_page(analysis: RooflineAnalysis, identity: PageIdentity) -> bytes:
    """The page data as UTF-8 JSON."""
    return to_json(page_data(analysis, identity))


def page_data(analysis: RooflineAnalysis, identity: PageIdentity) -> Json:
    """The page data as plain objects."""
    listed = listed_ops(analysis)
    levels = shown_levels(analysis, listed)
    categories = _categories(analysis, listed)
    place = {op: k for k, op in enumerate(listed.tolist())}
    core_word, units = analysis.device.core_word, unit_labels(analysis)
    return {
        "schema": SCHEMA,
        "profile": _profile(analysis, identity),
        "device": _device(analysis),
        "roofs": _roofs(analysis),
        "bounds": _bounds(analysis),
        "x_axes": _x_axes(levels),
        "columns": [asdict(column) for column in op_columns(levels, units, core_word)],
        "program_columns": [asdict(column) for column in program_columns(levels, units, core_word)],
        "categories": [{"name": name, **asdict(category_style(name))} for name in categories],
        "ops": {
            "count": len(listed),
            "columns": _op_columns(analysis, listed, levels, categories),
        },
        "views": {
            "in": _view(analysis, analysis.with_infeed, place, levels, categories),
            "out": _view(analysis, analysis.without_infeed, place, levels, categories),
        },
        "diagnostics": [_diagnostic(found) for found in analysis.diagnostics],
    }


def _diagnostic(found: Diagnostic) -> Json:
    """The page shows a count above 1 behind the message, unless the message says it."""
    said = f"{found.count:,}" in found.message
    return {
        "severity": found.severity.value,
        "code": found.code,
        "message": found.message,
        "remedy": found.remedy,
        "count": 1 if said else found.count,
        "filter": _FILTERS.get(found.code),
    }


def listed_ops(analysis: RooflineAnalysis) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Ops of both views, each once, in order of the first."""
    both = np.concatenate([analysis.with_infeed.op, analysis.without_infeed.op])
    _, first = np.unique(both, return_index=True)
    return both[np.sort(first)]


def op_details(analysis: RooflineAnalysis) -> Iterator[bytes]:
    """JSON of what the drawer shows of each listed op beyond the page data, in order of `ops`."""
    return (to_json(details) for details in _details(analysis))


def _details(analysis: RooflineAnalysis) -> Iterator[Json]:
    table, names = analysis.profile.ops, analysis.profile.program_names
    for op in listed_ops(analysis).tolist():
        if op >= len(table):  # IDLE
            yield {"name": analysis.ops.name[op], "long_name": "", "source_stack": []}
            continue
        program_id = int(table.program_id[op])
        yield {
            "name": table.name[op],
            "long_name": table.long_name[op],
            "source_file": table.source_file[op],
            "source_line": int(table.source_line[op]) if table.source_line[op] >= 0 else None,
            "source_stack": [line for line in table.source_stack[op].split("\n") if line],
            "program_id": str(program_id) if _has_program(analysis, op) else None,
            "program": names.get(program_id, ""),
            **_launches(analysis.profile.launches, op),
        }


def _launches(table: LaunchTable | None, op: int) -> Json:
    """The first launches of `op`, and how many there are."""
    if table is None:
        return {}
    rows = np.flatnonzero(table.op == op)
    return {
        "launch_count": len(rows),
        "launches": [
            {
                "detail": table.detail[row],
                "time_us": _rounded(ps_to_us(float(table.time_ps[row]))),
                "flop": _rounded(float(table.flop[row])),
                "bytes": {
                    level.value: _rounded(float(column[row]))
                    for level, column in table.traffic_bytes.items()
                },
            }
            for row in rows[:LAUNCHES_SHOWN].tolist()
        ],
    }


def unit_labels(analysis: RooflineAnalysis) -> dict[ComputeUnit, str]:
    """Compute units that any op's work is split by, as this device calls them."""
    named = {peak.unit: peak.label for peak in analysis.device.compute}
    return {unit: named.get(unit, unit.label) for unit in analysis.units}


def shown_levels(analysis: RooflineAnalysis, listed: Sequence[int] | Any) -> list[MemoryLevel]:
    """Levels with a known peak, and those that any listed op moved bytes in."""
    measures = analysis.ops.measures
    return [
        level
        for level in analysis.levels
        if level in analysis.peaks.binding_gibs
        or np.nan_to_num(measures.bandwidth_gibs[level][listed]).any()
    ]


# --------------------------------------------------------------------------------------- the frame


def _profile(analysis: RooflineAnalysis, identity: PageIdentity) -> Json:
    profile = analysis.profile
    return {
        "id": identity.id,
        "created_at": identity.created_at,
        "captured_at": _iso(profile.captured_at_ns),
        "format": profile.format_label,
        "limits": list(profile.limits),
        "provenance": {
            "flop": profile.flop_provenance.value,
            "bytes": profile.bytes_provenance.value,
        },
        "files": [
            {
                "name": host.file_name,
                "size_bytes": identity.file_sizes.get(host.file_name),
                "host": host.hostname,
                "cores": host.core_count,
            }
            for host in profile.hosts
        ],
    }


def _iso(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    moment = dt.datetime.fromtimestamp(nanoseconds // 10**9, dt.UTC)
    return moment.isoformat().replace("+00:00", "Z")


def _device(analysis: RooflineAnalysis) -> Json:
    device, profile = analysis.device, analysis.profile
    wall = profile.wall_time_ps
    return {
        "name": device.name or "Unknown device",
        "kind": device.kind.value,
        "core_word": device.core_word,
        "cores": device.core_count,
        "hosts": len(profile.hosts),
        "wall_time_us": None if wall is None else _rounded(ps_to_us(wall)),
        "steps": len(profile.steps),
        "part": {"id": device.part_id, "name": device.part_name} if device.part_id else None,
        "comparisons": [_comparison(found) for found in device.comparisons],
        "fields": [_field(field) for field in device_fields(analysis)],
    }


def _comparison(found: PeakComparison) -> Json:
    numbers = {"profile": found.profile, "catalogue": found.catalogue, "ratio": found.ratio}
    return {
        "id": found.id,
        "label": found.label,
        "unit": found.unit,
        **{name: None if value is None else _rounded(value) for name, value in numbers.items()},
        "explanation": found.explanation,
    }


def _field(field: Json) -> Json:
    value = field["value"]
    return {**field, "value": _rounded(value)} if isinstance(value, float) else field


def _roofs(analysis: RooflineAnalysis) -> Json:
    device = analysis.device
    compute = [
        {
            "id": peak.id,
            "unit": peak.unit.value if peak.unit else None,
            "covers": [unit.value for unit in peak.covers],
            "label": peak.label,
            "gflops": _rounded(peak.gflops),
            "origin": peak.origin.value,
            "source": peak.source,
            **asdict(compute_style(number)),
        }
        for number, peak in enumerate(device.compute)
    ]
    memory = [
        {
            "id": peak.level.value,
            "label": peak.level.label,
            "gibs": _rounded(gb_to_gib(peak.gbs)),
            "gbs": _rounded(peak.gbs),
            "ridge_flop_per_byte": _ridge(analysis, peak.level),
            "origin": peak.origin.value,
            "source": peak.source,
            **asdict(LEVEL_STYLES[peak.level]),
        }
        for peak in device.memory
    ]
    return {"compute": compute, "memory": memory}


def _ridge(analysis: RooflineAnalysis, level: MemoryLevel) -> float | None:
    if not analysis.peaks.gflops:
        return None
    ridge = roofline.ridge_point(analysis.peaks.gflops, analysis.peaks.binding_gibs[level])
    return None if ridge is None else _rounded(ridge)


def _bounds(analysis: RooflineAnalysis) -> list[Json]:
    """By bound code: unknown, compute, then the memory levels."""
    has_peaks = analysis.peaks.gflops or analysis.peaks.binding_gibs
    label = "no cost" if has_peaks else "no peak"
    unknown = {"id": "Unknown", "label": label, "kind": "none", **asdict(UNKNOWN_STYLE)}
    compute = {"id": "Compute", "label": "compute", "kind": "flat", **asdict(COMPUTE_STYLE)}
    memory = [
        {
            "id": level.label,
            "label": level.label,
            "kind": "slanted",
            "level": level.value,
            **asdict(LEVEL_STYLES[level]),
        }
        for level in analysis.levels
    ]
    return [unknown, compute, *memory]


def _x_axes(levels: Sequence[MemoryLevel]) -> list[Json]:
    return [
        {"id": "bottleneck", "label": "bottleneck memory", "column": "bottleneck_intensity"},
        *(
            {"id": level.value, "label": level.label, "column": f"{level}_intensity"}
            for level in levels
        ),
        {"id": "total", "label": "all memories", "column": "operational_intensity"},
    ]


# --------------------------------------------------------------------------------------------- ops


def _categories(analysis: RooflineAnalysis, listed: Any) -> list[str]:
    """Categories of the listed ops, by self time."""
    time: dict[str, float] = {}
    self_us = analysis.ops.measures.self_time_us
    for op in listed.tolist():
        name = analysis.ops.category[op]
        time[name] = time.get(name, 0.0) + float(self_us[op])
    return sorted(time, key=lambda name: (-time[name], name))


def _op_columns(
    analysis: RooflineAnalysis,
    listed: Any,
    levels: Sequence[MemoryLevel],
    categories: Sequence[str],
) -> Json:
    ops, profile = analysis.ops, analysis.profile
    number = {name: k for k, name in enumerate(categories)}
    rows = listed.tolist()
    is_op = [op < len(profile.ops) for op in rows]
    has_program = [
        real and _has_program(analysis, op) for op, real in zip(rows, is_op, strict=True)
    ]
    measured = {name: column[listed] for name, column in ops.measures.by_id(levels).items()}
    own_peaks = _shares_of_own_peaks(analysis, ops.measures)
    return {
        "name": [ops.name[op] for op in rows],
        "category": [number[ops.category[op]] for op in rows],
        "bound_by": ops.measures.bound[listed].tolist(),
        **_compute_roofs(analysis, ops.measures.unit[rows].tolist()),
        "cost": [ops.cost[op].value for op in rows],
        "program_id": [
            str(int(ops.program_id[op])) if known else None
            for op, known in zip(rows, has_program, strict=True)
        ],
        "program": [
            profile.program_names.get(int(ops.program_id[op]), "") if real else ""
            for op, real in zip(rows, is_op, strict=True)
        ],
        "source": [
            _source(analysis, op) if real else "" for op, real in zip(rows, is_op, strict=True)
        ],
        "occurrences": [
            int(ops.occurrences[op]) if real else None for op, real in zip(rows, is_op, strict=True)
        ],
        "self_time_per_core_us": _numbers(ops.self_time_per_core_us[listed]),
        "saving_per_core_us": _numbers(ops.saving_per_core_us[listed]),
        **{name: _numbers(column) for name, column in measured.items()},
        **{name: _numbers(column[listed]) for name, column in own_peaks.items()},
    }


def _compute_roofs(analysis: RooflineAnalysis, units: Sequence[int]) -> Json:
    """The compute roof of each row, where work is split by unit; elsewhere it is the main one."""
    if not analysis.units:
        return {}
    return {"compute_unit": [analysis.roof_of_unit(unit) for unit in units]}


def _shares_of_own_peaks(analysis: RooflineAnalysis, measures: Measures) -> dict[str, Floats]:
    """Utilisation where a profiler measured peaks per launch: not rate ÷ the device's peak."""
    table = analysis.profile.ops
    return {
        **{
            f"{level}_utilisation_ratio": measures.utilisation_ratio[level]
            for level in table.level_capacity_bytes
        },
        **{
            f"{unit}_utilisation_ratio": measures.unit_utilisation_ratio[unit]
            for unit in table.unit_capacity_flop
            if unit in measures.unit_utilisation_ratio
        },
    }


def _has_program(analysis: RooflineAnalysis, op: int) -> bool:
    """False where the profiler knows kernels but no programs: they all have number 0."""
    profile = analysis.profile
    return bool(profile.program_names or profile.ops.program_id[op])


def _source(analysis: RooflineAnalysis, op: int) -> str:
    table = analysis.profile.ops
    file, line = table.source_file[op], int(table.source_line[op])
    return f"{file}:{line}" if file and line >= 0 else file


# -------------------------------------------------------------------------------------------- views


def _view(
    analysis: RooflineAnalysis,
    view: View,
    place: Mapping[int, int],
    levels: Sequence[MemoryLevel],
    categories: Sequence[str],
) -> Json:
    shares = category_shares(analysis, view)
    verdict = build_verdict(analysis, view, shares)
    cores = max(analysis.device.core_count, 1)
    return {
        "op": [place[op] for op in view.op.tolist()],
        "columns": {
            "rank": view.rank.tolist(),
            "self_share_ratio": _numbers(view.self_share_ratio),
            "cumulative_share_ratio": _numbers(view.cumulative_share_ratio),
            "total_share_ratio": _numbers(view.total_share_ratio),
            "saving_share_ratio": _numbers(view.saving_share_ratio),
        },
        "total_time_per_core_us": _rounded(view.total_time_us / cores),
        "beyond": {"ops": view.beyond_ops, "share_ratio": _rounded(view.beyond_share_ratio)},
        "program": _program(analysis, view.program, levels),
        "verdict": {"headline": verdict.headline, "lead": verdict.lead},
        "categories": [_category(share, categories) for share in shares],
    }


def _category(share: CategoryShare, categories: Sequence[str]) -> Json:
    return {
        "category": categories.index(share.name),
        "ops": share.ops,
        "self_time_us": _rounded(share.self_time_us),
        "share_ratio": _rounded(_or_nan(share.share_ratio)),
        "efficiency_ratio": _rounded(_or_nan(share.efficiency_ratio)),
    }


def _program(
    analysis: RooflineAnalysis, points: ProgramPoints, levels: Sequence[MemoryLevel]
) -> Json:
    """Program points as columns: a long run has thousands of steps."""
    measured = points.measures.by_id(levels)
    return {
        "count": len(points),
        "columns": {
            "scope": [scope.value for scope in points.scope],
            "label": list(points.label),
            "order": _order_of_steps(points),
            "is_outlier": points.outlier.tolist(),
            "bound_by": points.measures.bound.tolist(),
            **_compute_roofs(analysis, points.measures.unit.tolist()),
            **{
                name: _numbers(column)
                for name, column in measured.items()
                if name not in _OF_OPS_ONLY
            },
            **_named(_shares_of_own_peaks(analysis, points.measures)),
        },
    }


def _named(columns: Mapping[str, Floats]) -> Json:
    return {name: _numbers(column) for name, column in columns.items()}


def _order_of_steps(points: ProgramPoints) -> list[float | None]:
    """0 for the first step to 1 for the last; `None` for what is no step."""
    is_step = np.array([scope is Scope.STEP for scope in points.scope], np.bool_)
    steps = int(is_step.sum())
    place = (np.cumsum(is_step) - 1) / (steps - 1) if steps > 1 else np.ones(len(points))
    return _numbers(np.where(is_step, place, np.nan))


# ------------------------------------------------------------------------------------------ numbers


# Powers of ten up to this one are exact, so that a division by one is rounded only once.
_EXACT_POWER = 22


def _numbers(column: Floats) -> list[float | None]:
    """Six significant digits; `None` for what is unknown or infinite."""
    values = np.asarray(column, np.float64)
    known = np.isfinite(values)
    size = np.abs(np.where(known & (values != 0), values, 1.0))
    power = SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(size)).astype(np.int64)
    usual = np.abs(power) <= _EXACT_POWER
    scale = 10.0 ** np.abs(np.where(usual, power, 0))
    safe = np.where(known & usual, values, 0.0)
    rounded = np.where(power < 0, np.round(safe / scale) * scale, np.round(safe * scale) / scale)
    rounded[known & ~usual] = [_spelled(value) for value in values[known & ~usual].tolist()]
    return [
        value if fine else None
        for value, fine in zip(rounded.tolist(), known.tolist(), strict=True)
    ]


def _spelled(value: float) -> float:
    """Six significant digits of a number too large or small for exact powers of ten."""
    return float(f"{value:.{SIGNIFICANT_DIGITS - 1}e}")


def _rounded(value: float) -> float | None:
    return _numbers(np.array([value]))[0]


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value

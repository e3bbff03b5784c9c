"""The page data about the capture: its profile, files, device and notes."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from roofline.analysis import roofline
from roofline.analysis.one_host import hosts_alone
from roofline.analysis.other_device import clock_scale
from roofline.analysis.records import RooflineAnalysis, Scope
from roofline.analysis.utilisation import utilisation_of
from roofline.model.device import DeviceKind, PeakComparison
from roofline.model.environment import LABELS
from roofline.model.profile import Diagnostic, Provenance
from roofline.model.units import NS_PER_S, gb_to_gib, ps_to_us
from roofline.presentation.rounding import rounded
from roofline.presentation.shown import shown_peaks

Json = dict[str, Any]

# The effect of "Show" beside a diagnostic: the view state that lists the ops it speaks of.
FILTERS: dict[str, Json] = {
    "unknown-cost": {"bound": ["Unknown"]},
    "above-compute-peak": {"bound": ["Compute"], "sort": "-compute_efficiency_ratio"},
    "above-memory-roof": {"sort": "-roofline_efficiency_ratio"},
    "above-memory-peak": {"sort": "-memory_utilisation_ratio"},
}


def profile(analysis: RooflineAnalysis, file_sizes: Mapping[str, int]) -> Json:
    """The capture: its program, time and files."""
    profile = analysis.profile
    return {
        "captured_at": _iso(profile.captured_at_ns),
        "format": profile.format_label,
        "environment": dict(profile.environment),
        "limits": list(profile.limits),
        "provenance": {
            "flop": profile.flop_provenance.value,
            "bytes": profile.bytes_provenance.value,
        },
        "files": [
            {
                "name": host.file_name,
                "size_bytes": file_sizes.get(host.file_name),
                "host": host.hostname,
                "cores": host.core_count,
            }
            for host in profile.hosts
        ],
    }


def _iso(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    moment = dt.datetime.fromtimestamp(nanoseconds // NS_PER_S, dt.UTC)
    return moment.isoformat().replace("+00:00", "Z")


def device(analysis: RooflineAnalysis) -> Json:
    """The device and every field of its panel."""
    device, profile = analysis.device, analysis.profile
    wall = profile.wall_time_ps
    return {
        "name": device.name or "Unknown device",
        "kind": device.kind.value,
        "core_word": device.core_word,
        "cores": device.core_count if profile.device.counts_cores else 0,
        "hosts": profile.host_count,
        "wall_time_us": None if wall is None else rounded(ps_to_us(wall)),
        "steps": len(profile.steps),
        "part": {"id": device.part_id, "name": device.part_name} if device.part_id else None,
        "comparisons": [_comparison(found) for found in device.comparisons],
        "fields": [_field(field) for field in device_fields(analysis)],
    }


def _comparison(found: PeakComparison) -> Json:
    return {
        "id": found.id,
        "label": found.label,
        "unit": found.unit,
        "profile": rounded(found.profile),
        "catalogue": rounded(found.catalogue),
        "ratio": rounded(found.ratio),
        "explanation": found.explanation,
    }


def _field(field: Json) -> Json:
    value = field["value"]
    return {**field, "value": rounded(value)} if isinstance(value, float) else field


def diagnostic(found: Diagnostic) -> Json:
    """The page shows a count above 1 behind the message, unless the message says it."""
    said = f"{found.count:,}" in found.message
    return {
        "severity": found.severity.value,
        "code": found.code,
        "message": found.message,
        "remedy": found.remedy,
        "count": 1 if said else found.count,
        "filter": FILTERS.get(found.code),
    }


def hosts(analysis: RooflineAnalysis) -> Json | None:
    """The hosts that can be shown alone; `None` where there is no choice."""
    names = hosts_alone(analysis.profile)
    return {"names": list(names), "shown": analysis.profile.host} if names else None


def dvfs(analysis: RooflineAnalysis) -> Json | None:
    """The clock that ran over the default one; `None` where they are the same or not known."""
    scale = clock_scale(analysis.profile)
    if scale is None:
        return None
    return {"scale": rounded(scale), "is_applied": analysis.device.dvfs_scale is not None}


_MEGACORE_HELP = (
    "With Megacore an op is taken to run on both TensorCores of a chip with the whole chip's "
    "resources, so roofs are those of the chip."
)
_DVFS_HELP = (
    "Op time at the default clock ÷ measured op time. Below 1 the clock was lower than the default."
)


_COUNTERS_HELP = (
    "Work counted by the hardware itself, shown as Total (HW); all other work is as the compiler "
    "or the profiler's formulas count it."
)


def _counters(analysis: RooflineAnalysis) -> str:
    """Which hardware counters the capture has, in words."""
    profile, counters = analysis.profile, analysis.device.counters
    if Scope.TOTAL_HW not in analysis.with_infeed.program.scope:
        return "none in this profile"
    if profile.flop_provenance is Provenance.MEASURED:
        return "all FLOPs and bytes"
    if counters.measured is not None:
        return counters.measured.source
    parts = {"matrix unit": counters.matrix_unit_ratio, "HBM": counters.hbm_ratio}
    return " and ".join(name for name, value in parts.items() if value is not None)


def device_fields(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """One entry per field: id, label, raw value with unit, origin of a peak, and help."""
    return [
        *_device(analysis),
        *_peaks(analysis),
        *_ridges(analysis),
        *_capture(analysis),
        *_environment(analysis),
    ]


def _panel_field(
    name: str, label: str, value: Any, unit: str, *, origin: str | None = None, help: str = ""
) -> dict[str, Any]:
    return {
        "id": name,
        "label": label,
        "value": value,
        "unit": unit,
        "origin": origin,
        "help": help,
    }


def _device(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    device = analysis.device
    fields = [_panel_field("device_type", "Device type", device.name or None, "text")]
    if device.kind is DeviceKind.TPU:
        megacore = "yes" if device.has_megacore else "no"
        fields.append(_panel_field("megacore", "Megacore", megacore, "text", help=_MEGACORE_HELP))
    cores = f"{device.core_word[0].upper()}{device.core_word[1:]}s"
    count = device.core_count if analysis.profile.device.counts_cores else None
    fields.append(_panel_field("cores", cores, count, "count"))
    fields.append(_panel_field("hosts", "Hosts", analysis.profile.host_count, "count"))
    return fields


def _environment(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """The environment of the program, as far as the capture says it."""
    found = analysis.profile.environment
    return [_panel_field(name, LABELS[name], value, "text") for name, value in found.items()]


def _peaks(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    device, per = analysis.device, f"per {analysis.device.core_word}"
    compute = [
        _panel_field(
            "peak_flop_rate" if number == 0 else f"peak_{peak.id}_flop_rate",
            f"Peak FLOP rate {per}" if number == 0 else f"{peak.label} {per}",
            peak.gflops,
            "gflops",
            origin=peak.origin.value,
            help=peak.source,
        )
        for number, peak in enumerate(device.compute)
    ]
    memory = [
        _panel_field(
            f"peak_{peak.level}_bandwidth",
            f"Peak {peak.level.label} bandwidth {per}",
            gb_to_gib(peak.gbs),
            "gibs",
            origin=peak.origin.value,
            help=f"{peak.source}: {peak.gbs:,.6g} GB/s",
        )
        for peak in shown_peaks(analysis)
    ]
    return compute + memory


def _ridges(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    gflops = analysis.peaks.gflops
    if not gflops:
        return []
    return [
        _panel_field(
            f"{peak.level}_ridge_point",
            f"Ridge point, {peak.level.label}",
            roofline.ridge_point(gflops, gb_to_gib(peak.gbs)),
            "flop_per_byte",
            help="Peak FLOP rate ÷ peak bandwidth: below it the bandwidth binds, above it compute.",
        )
        for peak in shown_peaks(analysis)
    ]


_MFU_HELP = (
    "FLOPs without those of recomputation ÷ (time × peak FLOP rate). Recomputation is what the "
    "framework path calls rematted_computation. Chowdhery et al., PaLM, 2022, appendix B."
)
_HFU_HELP = "All FLOPs that ran, recomputation included ÷ (time × peak FLOP rate)."
_MBU_HELP = "Bytes of the main memory ÷ (time × its peak bandwidth)."


def _utilisation(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """MFU, HFU and memory-bandwidth utilisation of the average step, where they are known."""
    found = utilisation_of(analysis, analysis.with_infeed)
    of = {Scope.AVERAGE: "average step"}.get(found.scope, "whole capture")
    flops = ", at least" if found.flop_is_least else ""
    bytes_ = ", at least" if found.bytes_is_least else ""
    peak = f" Peak: {found.peak_label}." if found.peak_label else ""
    named = (
        ("mfu", f"MFU, {of}{flops}", found.mfu_ratio, _MFU_HELP + peak),
        ("hfu", f"HFU, {of}{flops}", found.hfu_ratio, _HFU_HELP + peak),
        (
            "memory_bandwidth_utilisation",
            f"Memory-bandwidth utilisation, {of}{bytes_}",
            found.memory_bandwidth_ratio,
            _MBU_HELP,
        ),
    )
    return [
        _panel_field(name, label, value, "ratio", help=help)
        for name, label, value, help in named
        if value is not None
    ]


def _capture(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    profile = analysis.profile
    wall = profile.wall_time_ps
    fields = [
        _panel_field(
            "wall_time",
            "Profile duration",
            None if wall is None else ps_to_us(wall),
            "time_us",
            help="From the first event of any core to the last of any; of the longest host.",
        ),
        _panel_field("steps", "Complete steps", len(profile.steps), "count"),
        _panel_field(
            "counters", "Hardware counters", _counters(analysis), "text", help=_COUNTERS_HELP
        ),
    ]
    fields += _utilisation(analysis)
    scale = analysis.time_scale_multiplier
    if scale is not None and abs(scale - 1) > 1e-6:
        fields.append(
            _panel_field("time_scale", "Time scale multiplier", scale, "ratio", help=_DVFS_HELP)
        )
    return fields

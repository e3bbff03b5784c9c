"""The page data about the capture: its profile, files, device and notes."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from roofline.analysis.one_host import hosts_alone
from roofline.analysis.other_device import clock_scale
from roofline.analysis.records import RooflineAnalysis
from roofline.model.device import PeakComparison
from roofline.model.profile import Diagnostic
from roofline.model.units import NS_PER_S, ps_to_us
from roofline.presentation.device_fields import device_fields
from roofline.presentation.rounding import rounded

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
        "cores": device.core_count,
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

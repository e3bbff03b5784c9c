"""The limits of ops on the page: roofs, memory levels, compute units, bounds, axes."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.records import UNKNOWN_LINK, RooflineAnalysis
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, Sustained
from roofline.model.memory import MemoryLevel
from roofline.model.units import gb_to_gib
from roofline.presentation import contract
from roofline.presentation.columns import (
    CLOCK,
    LEVEL_BANDWIDTH,
    LEVEL_INTENSITY,
    LEVEL_USE,
    UNIT_RATE,
    UNIT_USE,
)
from roofline.presentation.page_rows import JOINED
from roofline.presentation.palette import (
    COMPUTE_STYLE,
    LEVEL_STYLES,
    UNKNOWN_STYLE,
    LineStyle,
    compute_style,
)
from roofline.presentation.rounding import rounded
from roofline.presentation.shown import clock_labels, shown_peaks
from roofline.presentation.words import (
    COMPUTE_BOUND_WORDS,
    UNKNOWN_BOUND_WORDS,
    bound_words,
    spoken,
)


def roofs(analysis: RooflineAnalysis) -> contract.Roofs:
    """Every known peak of the device."""
    device = analysis.device
    compute: list[contract.ComputeRoof] = [
        {
            "id": peak.id,
            "unit": peak.unit.value if peak.unit else None,
            "covers": [unit.value for unit in peak.covers],
            "label": peak.label,
            "gflops": rounded(peak.gflops) or 0.0,
            "origin": peak.origin.value,
            "source": peak.source,
            "sustained": _sustained(peak.sustained),
            "token": compute_style(number).token,
            "dash": compute_style(number).dash,
        }
        for number, peak in enumerate(device.compute)
    ]
    memory: list[contract.MemoryRoof] = [
        {
            "id": peak.level.value,
            "label": peak.level.label,
            "gibs": rounded(gb_to_gib(peak.gbs)) or 0.0,
            "gbs": rounded(peak.gbs) or 0.0,
            "ridge_flop_per_byte": _ridge(analysis, peak.level),
            "origin": peak.origin.value,
            "source": peak.source,
            "sustained": _sustained(peak.sustained),
            "token": LEVEL_STYLES[peak.level].token,
            "dash": LEVEL_STYLES[peak.level].dash,
        }
        for peak in shown_peaks(analysis)
    ]
    return {"compute": compute, "memory": memory}


def _sustained(found: Sustained | None) -> contract.Sustained | None:
    if found is None:
        return None
    return {"low_ratio": found.low_ratio, "ratio": found.ratio, "source": found.source}


def _ridge(analysis: RooflineAnalysis, level: MemoryLevel) -> float | None:
    if not analysis.peaks.gflops:
        return None
    gibs = analysis.peaks.level_gibs(level) or 0.0
    return rounded(roofline.ridge_point(analysis.peaks.gflops, gibs))


def levels(analysis: RooflineAnalysis, shown: Sequence[MemoryLevel]) -> list[contract.Level]:
    """Every memory level of the profile, outermost first; `shown` are those with columns."""
    return [
        {
            "id": level.value,
            "label": level.label,
            "spoken": spoken(level),
            "token": LEVEL_STYLES[level].token,
            "dash": LEVEL_STYLES[level].dash,
            "is_main": level.is_main,
            "is_link": level.is_link,
            "is_shown": level in shown,
            "peak_gibs": rounded(analysis.peaks.level_gibs(level)),
            "columns": {
                "bandwidth": LEVEL_BANDWIDTH.format(id=level),
                "intensity": LEVEL_INTENSITY.format(id=level),
                "utilisation": LEVEL_USE.format(id=level),
            },
        }
        for level in analysis.levels
    ]


def units(analysis: RooflineAnalysis, labels: Mapping[ComputeUnit, str]) -> list[contract.WorkUnit]:
    """Every compute unit that work is split by, with its label on this device."""
    return [
        {
            "id": unit.value,
            "label": label,
            "peak_gflops": rounded(analysis.device.unit_gflops(unit)),
            "columns": {"rate": UNIT_RATE.format(id=unit), "utilisation": UNIT_USE.format(id=unit)},
        }
        for unit, label in labels.items()
    ]


def clocks(analysis: RooflineAnalysis, levels: Sequence[MemoryLevel]) -> list[contract.Clock]:
    """The clocks of ops' work: the main compute peak, units, memories, links."""
    return [
        {
            "id": key,
            "label": label,
            "kind": _kind(key),
            "token": style.token,
            "dash": style.dash,
            "column": CLOCK.format(id=key),
        }
        for key, label in clock_labels(analysis, levels).items()
        for style in [_clock_style(analysis, key)]
    ]


def _kind(key: str) -> Literal["compute", "memory", "link"]:
    if key not in {*MemoryLevel}:
        return "compute"
    return "link" if MemoryLevel(key).is_link else "memory"


def _clock_style(analysis: RooflineAnalysis, key: str) -> LineStyle:
    if _kind(key) != "compute":
        return LEVEL_STYLES[MemoryLevel(key)]
    names = [unit.value for unit in analysis.units]
    roof = analysis.roof_of_unit(names.index(key)) if key in names else 0
    return COMPUTE_STYLE if roof is None else compute_style(roof)


def bounds(analysis: RooflineAnalysis) -> list[contract.Bound]:
    """By bound code: unknown, compute, the memory levels and links, and a link without a peak."""
    has_peaks = analysis.peaks.gflops or analysis.peaks.binding_gibs
    unknown: contract.Bound = {
        "id": "Unknown",
        "label": "unknown" if has_peaks else "no peak",
        "spoken": UNKNOWN_BOUND_WORDS,
        "kind": "none",
        "token": UNKNOWN_STYLE.token,
        "dash": UNKNOWN_STYLE.dash,
    }
    compute: contract.Bound = {
        "id": "Compute",
        "label": "compute",
        "spoken": COMPUTE_BOUND_WORDS,
        "kind": "flat",
        "token": COMPUTE_STYLE.token,
        "dash": COMPUTE_STYLE.dash,
    }
    memory: list[contract.Bound] = [
        {
            "id": level.label,
            "label": level.label,
            "spoken": bound_words(level),
            "kind": "slanted",
            "token": LEVEL_STYLES[level].token,
            "dash": LEVEL_STYLES[level].dash,
            "level": level.value,
        }
        for level in analysis.levels
    ]
    link: contract.Bound = {
        "id": "Link",
        "label": UNKNOWN_LINK,
        "spoken": f"bound by {UNKNOWN_LINK}",
        "kind": "link",
        "token": UNKNOWN_STYLE.token,
        "dash": UNKNOWN_STYLE.dash,
    }
    return [unknown, compute, *memory, link]


def x_axes(analysis: RooflineAnalysis, levels: Sequence[MemoryLevel]) -> list[contract.Axis]:
    """Choices of the chart's x axis, the usual one first: the intensity of the main memory.

    Where kernels of a GPU or a CPU have bytes of several levels, each level is a set of points.
    """
    intensity = analysis.ops.cells.intensity
    counted = {
        level: int((np.nan_to_num(intensity[level]) > 0).sum())
        for level in levels
        if not level.is_link
    }
    most = max(counted.values(), default=0)
    usual = [level for level in levels if most and counted.get(level) == most][:1]
    first = [*usual, *(level for level in levels if level not in usual)]
    axes: list[contract.Axis] = [
        {"id": level.value, "label": level.label, "column": LEVEL_INTENSITY.format(id=level)}
        for level in first
    ]
    axes.append({"id": "total", "label": "all memories", "column": "operational_intensity"})
    if sum(number > 0 for number in counted.values()) < 2:
        return axes
    joined: contract.Axis = {**axes[0], "id": JOINED, "label": "each memory level"}
    return [*axes, joined] if analysis.device.kind is DeviceKind.TPU else [joined, *axes]

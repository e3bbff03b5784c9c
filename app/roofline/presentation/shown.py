"""Which ops, memory levels and compute units of an analysis a page shows, and their names."""

import numpy as np

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel


def listed_ops(analysis: RooflineAnalysis) -> I64:
    """Ops of both views, each once, in order of the first."""
    both = np.concatenate([analysis.with_infeed.op, analysis.without_infeed.op])
    _, first = np.unique(both, return_index=True)
    return both[np.sort(first)]


def shown_levels(analysis: RooflineAnalysis, listed: I64) -> list[MemoryLevel]:
    """Levels with a known peak, and those that any listed op moved bytes in."""
    measures = analysis.ops.measures
    return [
        level
        for level in analysis.levels
        if level in analysis.peaks.binding_gibs
        or np.nan_to_num(measures.bandwidth_gibs[level][listed]).any()
    ]


def unit_labels(analysis: RooflineAnalysis) -> dict[ComputeUnit, str]:
    """Compute units that any op's work is split by, as this device calls them."""
    named = {peak.unit: peak.label for peak in analysis.device.compute}
    return {unit: named.get(unit, unit.label) for unit in analysis.units}


def has_program(analysis: RooflineAnalysis, op: int) -> bool:
    """False where the profiler knows kernels but no programs: they all have number 0."""
    profile = analysis.profile
    return bool(profile.program_names or profile.ops.program_id[op])

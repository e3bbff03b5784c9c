"""Which ops, memory levels and compute units of an analysis a page shows, and their names."""

from collections.abc import Sequence

import numpy as np

from roofline.analysis.op_clocks import MAIN
from roofline.analysis.records import I64, RooflineAnalysis
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import MemoryPeak
from roofline.model.memory import MemoryLevel


def listed_ops(analysis: RooflineAnalysis) -> I64:
    """Ops of both views, each once, in order of the first; those asked for behind the longest."""
    views = analysis.with_infeed, analysis.without_infeed
    longest = [view.op[: len(view.op) - view.found] for view in views]
    both = np.concatenate([*longest, *(view.op for view in views)])
    _, first = np.unique(both, return_index=True)
    return both[np.sort(first)]


def places_of(analysis: RooflineAnalysis) -> dict[int, int]:
    """Of each listed op its place among the ops of the page data."""
    return {op: place for place, op in enumerate(listed_ops(analysis).tolist())}


def shown_levels(analysis: RooflineAnalysis, listed: I64) -> list[MemoryLevel]:
    """Levels with a known peak, those that any listed op moved bytes in, and links."""
    measures = analysis.ops.cells
    return [
        level
        for level in analysis.levels
        if level.is_link
        or analysis.peaks.level_gibs(level) is not None
        or np.nan_to_num(measures.bandwidth_gibs[level][listed]).any()
    ]


def shown_peaks(analysis: RooflineAnalysis) -> list[MemoryPeak]:
    """Peaks of memories, and those of the links that the program uses."""
    device = analysis.device
    return [*device.memory, *(peak for peak in device.links if peak.level in analysis.levels)]


def unit_labels(analysis: RooflineAnalysis) -> dict[ComputeUnit, str]:
    """Compute units that any op's work is split by, as this device calls them."""
    named = {peak.unit: peak.label for peak in analysis.device.compute}
    return {unit: named.get(unit, unit.label) for unit in analysis.units}


def clock_labels(analysis: RooflineAnalysis, levels: Sequence[MemoryLevel]) -> dict[str, str]:
    """The clocks of ops' work, each with its label: units, memories, links."""
    device = analysis.device
    main = device.compute[0].label if device.compute else "Compute"
    if analysis.units:
        main = f"{main}, other work"
    units = {unit.value: label for unit, label in unit_labels(analysis).items()}
    return {MAIN: main, **units, **{level.value: level.label for level in levels}}


def ceiling_labels(analysis: RooflineAnalysis) -> dict[str, str]:
    """The ceilings of which a busy share of any op was counted, each with its label."""
    near = analysis.nearest
    counted = {name for k, name in enumerate(near.ceilings) if np.isfinite(near.busy[k]).any()}
    return {one.value: one.label for one in Ceiling if one.value in counted}


def has_program(analysis: RooflineAnalysis, op: int) -> bool:
    """False where the profiler knows kernels but no programs: they all have number 0."""
    profile = analysis.profile
    return bool(profile.program_names or profile.ops.program_id[op])

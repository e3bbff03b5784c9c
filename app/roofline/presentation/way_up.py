"""Ways to raise the program's rate: more FLOPs per byte, or nothing below its roof."""

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.records import RooflineAnalysis, View
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND
from roofline.model.device import ComputePeak, MemoryPeak
from roofline.presentation.placed import PROGRAM, is_part_unknown, place_of
from roofline.presentation.sentences import Number, Sentence, say

STOP = 0.95
"""From this share of what a roof sustains on, there is nothing left to gain below it."""


def way_up(analysis: RooflineAnalysis, view: View) -> Sentence:
    """How the program can get faster where it stands on the roofline."""
    bound, share = place_of(view)
    if bound == UNKNOWN_BOUND:
        return []
    roof = _roof(analysis, view, bound)
    sustained = roof.sustained.ratio if roof and roof.sustained else 1.0
    if STOP * sustained <= share <= 1:
        return say("stop")
    if bound == COMPUTE_BOUND:
        return say("past_ridge")
    return [] if is_part_unknown(view) else _until_ridge(analysis, view, bound)


def _roof(analysis: RooflineAnalysis, view: View, bound: int) -> ComputePeak | MemoryPeak | None:
    """The peak that binds the program."""
    if bound == COMPUTE_BOUND:
        return _compute(analysis, view)
    level = analysis.levels[bound - 2]
    peaks = (*analysis.device.memory, *analysis.device.links)
    return next((peak for peak in peaks if peak.level is level), None)


def _compute(analysis: RooflineAnalysis, view: View) -> ComputePeak | None:
    place = analysis.roof_of_unit(int(view.program.measures.unit[PROGRAM]))
    return None if place is None else analysis.device.compute[place]


def _until_ridge(analysis: RooflineAnalysis, view: View, bound: int) -> Sentence:
    """Where compute takes over from the memory that binds; nothing without arithmetic."""
    peak, level = _compute(analysis, view), analysis.levels[bound - 2]
    gibs = analysis.peaks.binding_gibs.get(level, 0.0)
    placed = view.program.placement or view.program.measures
    intensity = float(placed.intensity[level][PROGRAM])
    ridge = roofline.ridge_point(peak.gflops, gibs) if peak else None
    if ridge is None or not np.isfinite(intensity) or not 0 < intensity < ridge:
        return []
    return say(
        "until_ridge",
        ridge=Number(ridge, "flop_per_byte"),
        intensity=Number(intensity, "flop_per_byte"),
    )

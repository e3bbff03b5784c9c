"""What lies outside of a subject: the rest of its capture, before and after it."""

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.options import Option
from roofline.analysis.subjects.records import Kind, Outside
from roofline.model.timeline import WHOLE_CAPTURE, Timeline
from roofline.model.units import PS_PER_US

NOTHING = Outside(total_us=0.0, before_us=0.0, after_us=0.0)


def outside_of(analysis: RooflineAnalysis, option: Option) -> Outside:
    """The time outside of `option`, in us per core; unknown where its place is not known."""
    timeline = analysis.profile.timeline
    if timeline is None or option.kind in {Kind.HOST, Kind.KERNELS}:
        return NOTHING
    if option.kind is Kind.CAPTURE:
        start_us = start_idle_us(timeline)
        return Outside(total_us=start_us, before_us=start_us, after_us=0.0)
    spans = _spans(analysis, option, timeline)
    if spans is None or timeline.bins is None:
        return Outside()
    begins, ends = spans
    edges = timeline.bins.edges_ps / PS_PER_US
    before, after = float(begins.min() - edges[0]), float(edges[-1] - ends.max())
    inside = float((ends - begins).sum())
    return Outside(
        total_us=max(float(edges[-1] - edges[0]) - inside, 0.0),
        before_us=max(before, 0.0),
        after_us=max(after, 0.0),
    )


def start_idle_us(timeline: Timeline) -> float:
    """The idle time of a core before its first operation, where a capture began idle."""
    whole = timeline.times.scope == WHOLE_CAPTURE
    return float(timeline.times.start_idle_ps[whole].mean()) / PS_PER_US if whole.any() else 0


def _spans(
    analysis: RooflineAnalysis, option: Option, timeline: Timeline
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...] | None:
    """Begin and end of each unit, in us of the capture."""
    bins = timeline.bins
    if bins is None or not len(bins):
        return None
    if option.span_ps is not None:
        begin, end = option.span_ps
        return np.array([begin / PS_PER_US]), np.array([end / PS_PER_US])
    if option.kind is Kind.SERVING:
        steps = analysis.profile.steps
        return (
            steps.begin_ps[option.steps] / PS_PER_US,
            steps.end_ps[option.steps] / PS_PER_US,
        )
    if len(bins.step_begin_ps) != timeline.steps:
        return None
    return (
        bins.step_begin_ps[option.steps] / PS_PER_US,
        bins.step_end_ps[option.steps] / PS_PER_US,
    )

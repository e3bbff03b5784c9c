"""The subject of a page: the one asked for, or the first that its profile has.

`docs/subject.md` has the table of kinds, and the rules.

What lies outside of a subject: the rest of its capture, before and after it.

The time of steps of a server by its owners.
"""

import numpy as np

from roofline.analysis.knowledge import both_known, has_no_place
from roofline.analysis.records import I64, RooflineAnalysis, Timing
from roofline.analysis.subjects.costs import Costs
from roofline.analysis.subjects.division import divided
from roofline.analysis.subjects.options import Option, asked, options
from roofline.analysis.subjects.owned import Owned, by_op, call_us, in_scopes
from roofline.analysis.subjects.owned_in_bins import in_bins
from roofline.analysis.subjects.records import Kind, Outside, Parts, Subject
from roofline.model.profile import Profile
from roofline.model.serving import ServingSteps
from roofline.model.timeline import WHOLE_CAPTURE, Timeline
from roofline.model.units import PS_PER_US, ps_to_us

# Slices of a capture that hold as much work as the steps, but for this share, are those steps.
_SAME = 0.005


def of_steps(analysis: RooflineAnalysis, costs: Costs, steps: ServingSteps, rows: I64) -> Owned:
    """The mean of the steps `rows`, from the first work of each to its last."""
    total_us = float(steps.span_ps[rows].mean()) / PS_PER_US
    busy_us = float(steps.busy_ps[rows].mean()) / PS_PER_US
    timeline, table = analysis.profile.timeline, analysis.profile.steps
    bins = None if timeline is None else timeline.bins
    if bins is not None and len(bins):
        spans = list(zip(table.begin_ps[rows].tolist(), table.end_ps[rows].tolist(), strict=True))
        sliced = in_bins(analysis, bins, costs, spans, total_us)
        if abs(sliced.named_us - busy_us) <= _SAME * busy_us:
            return sliced.shortened(busy_us)
    return _of_rows(analysis, costs, steps, rows, total_us, busy_us)


def _of_rows(
    analysis: RooflineAnalysis,
    costs: Costs,
    steps: ServingSteps,
    rows: I64,
    total_us: float,
    busy_us: float,
) -> Owned:
    """The same from the ops of each step, which may overlap: then each owns its share."""
    mine, size = np.isin(steps.work_step, rows), len(analysis.ops)
    n_means = len(rows) * max(analysis.device.core_count, 1)
    op, work = steps.work_op[mine], steps.work
    self_us = by_op(op, work.self_time_ps[mine] / PS_PER_US, size) / n_means
    calls = by_op(op, work.occurrences[mine].astype(np.float64), size) / n_means
    waits = np.array(costs.wait, object)
    names = [name for name in dict.fromkeys(costs.wait) if name]
    owned = Owned(
        total_us=total_us,
        work_us=np.where(waits == "", self_us, 0.0),
        calls=calls,
        called_us=calls * call_us(analysis),
        unnamed_us=0.0,
        waits_us={name: np.where(waits == name, self_us, 0.0) for name in names},
        unnamed_waits_us={},
        link_share=dict.fromkeys(names, _share(analysis, total_us)),
    )
    return owned.shortened(busy_us)


def _share(analysis: RooflineAnalysis, total_us: float) -> float:
    whole_ps = analysis.profile.time_ps / max(analysis.device.core_count, 1)
    return total_us * PS_PER_US / whole_ps if whole_ps else 0.0


# Ops that ran at once, on threads or streams, take longer together than the program: then each owns
# the part of the program's time that it has of their sum.


def of_table(analysis: RooflineAnalysis, costs: Costs, units: int) -> Owned:
    """The mean of a table over its cores and `units`, which its ops do not tell apart."""
    cores = max(analysis.device.core_count, 1)
    self_us = np.nan_to_num(analysis.ops.self_time_per_core_us) / units
    idle_us, self_us[-1] = float(self_us[-1]), 0.0
    program_us = ps_to_us(analysis.profile.time_ps) / cores / units
    busy_us, sum_us = program_us - idle_us, float(self_us.sum())
    waits = np.array(costs.wait, object)
    is_rate = np.array([one is Timing.RATE for one in analysis.ops.timing], np.bool_)
    counted = (waits == "") & ~is_rate
    names = [name for name in dict.fromkeys(costs.wait) if name]
    owned = Owned(
        total_us=program_us if busy_us > 0 else sum_us + idle_us,
        work_us=np.where(waits == "", self_us, 0.0),
        calls=np.where(counted, analysis.ops.occurrences / cores / units, 0.0),
        called_us=self_us,
        unnamed_us=0.0,
        waits_us={name: np.where(waits == name, self_us, 0.0) for name in names},
        unnamed_waits_us={},
        link_share=dict.fromkeys(names, 1.0 / units),
    )
    return owned.shortened(busy_us) if busy_us > 0 else owned


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


def choose(analysis: RooflineAnalysis, of: str | None = None) -> Subject:
    """The subject with the address `of`, or else the default one, which then says so."""
    found = None if of is None else asked(analysis, of)
    option = found or options(analysis)[0]
    costs = Costs.of(analysis)
    owned = _owned(analysis, option, costs)
    return _subject(
        analysis, option, owned, costs, not_found=of if of is not None and found is None else ""
    )


def _owned(analysis: RooflineAnalysis, option: Option, costs: Costs) -> Owned:
    """The time of the subject by its owners."""
    profile = analysis.profile
    timeline, serving = profile.timeline, profile.serving
    if option.kind is Kind.SERVING and serving is not None:
        return of_steps(analysis, costs, serving, option.steps)
    if timeline is None or option.kind is Kind.HOST:
        return of_table(analysis, costs, max(len(option.steps), 1))
    if option.kind is Kind.STEP:
        return in_scopes(analysis, timeline, costs, option.steps)
    if option.span_ps and profile.time_range_ps is None and timeline.bins is not None:
        return in_bins(analysis, timeline.bins, costs, [option.span_ps])
    start_us = start_idle_us(timeline) if option.kind is Kind.CAPTURE else 0.0
    return in_scopes(analysis, timeline, costs, np.array([WHOLE_CAPTURE]), start_us)


def _subject(
    analysis: RooflineAnalysis, option: Option, owned: Owned, costs: Costs, *, not_found: str
) -> Subject:
    found = divided(analysis, owned, costs)
    parts, has_floor = found.parts, option.kind is not Kind.HOST and owned.total_us > 0
    return Subject(
        of=option.of,
        kind=option.kind,
        label=option.label,
        unit_word=option.unit_word,
        count=max(len(option.steps), 1),
        cores=_cores(analysis, option),
        host=analysis.profile.host or None,
        time_us=owned.total_us,
        floor_us=found.floor_us if has_floor else None,
        gain_us=owned.total_us - found.floor_us if has_floor else None,
        roof_ratio=found.useful_ratio,
        known_ratio=_ratio(parts.known, parts.work),
        idle_ratio=_ratio(parts.idle, owned.total_us),
        outside=outside_of(analysis, option),
        parts=parts,
        assumed_us=found.assumed_us,
        link_need_us=found.link_need_us,
        has_ceilings=_has_ceilings(analysis, parts),
        unnamed_us=owned.unnamed_us + sum(owned.unnamed_waits_us.values()),
        other_gain_us=found.other_gain_us,
        wait_gains_us=found.wait_gains_us,
        ops=found.ops,
        sample=option.sample,
        not_found=not_found,
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _has_ceilings(analysis: RooflineAnalysis, parts: Parts) -> bool:
    """True where an op can be judged, and where peaks are not what is missing for that."""
    device = analysis.device
    if parts.known + parts.impossible > 0 or has_no_place(analysis.profile):
        return True
    return bool(device.compute and device.memory) and not _lacks_peak(analysis.profile)


def _lacks_peak(profile: Profile) -> bool:
    """True where an op has a place and FLOPs: without any judged op, their unit has no peak."""
    table = profile.ops
    undecided = sum((column > 0 for column in table.undecided_flop.values()), np.zeros(len(table)))
    placed = both_known(profile, table) & (table.flop > 0)
    return bool((placed & (undecided == 0)).any())


def _cores(analysis: RooflineAnalysis, option: Option) -> int:
    """The cores that the means are over: of steps, those that ran one."""
    timeline = analysis.profile.timeline
    if timeline is None or option.kind is Kind.SERVING:
        return max(analysis.device.core_count, 1)
    times = timeline.times
    if option.kind is Kind.STEP:
        return len(np.unique(times.core[np.isin(times.scope, option.steps)]))
    return len(timeline.cores)

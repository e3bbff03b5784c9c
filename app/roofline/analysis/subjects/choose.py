"""The subject of a page: the one asked for, or the first that its profile has.

`docs/subject.md` has the table of kinds, and the rules.
"""

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.costs import Costs
from roofline.analysis.subjects.division import divided
from roofline.analysis.subjects.options import Option, asked, options
from roofline.analysis.subjects.outside import outside_of, start_idle_us
from roofline.analysis.subjects.owned import Owned, in_scopes
from roofline.analysis.subjects.owned_in_bins import in_bins
from roofline.analysis.subjects.owned_in_serving import of_steps, of_table
from roofline.analysis.subjects.records import Kind, Parts, Subject
from roofline.model.profile import OpTable
from roofline.model.timeline import WHOLE_CAPTURE


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
    if parts.known + parts.impossible > 0:
        return True
    device = analysis.device
    return bool(device.compute and device.memory) and not _lacks_peak(analysis.profile.ops)


def _lacks_peak(table: OpTable) -> bool:
    """True where FLOPs were counted: without any judged op, their unit has no peak."""
    undecided = sum((column > 0 for column in table.undecided_flop.values()), np.zeros(len(table)))
    return bool((table.cost_known & (table.flop > 0) & (undecided == 0)).any())


def _cores(analysis: RooflineAnalysis, option: Option) -> int:
    """The cores that the means are over: of steps, those that ran one."""
    timeline = analysis.profile.timeline
    if timeline is None or option.kind is Kind.SERVING:
        return max(analysis.device.core_count, 1)
    times = timeline.times
    if option.kind is Kind.STEP:
        return len(np.unique(times.core[np.isin(times.scope, option.steps)]))
    return len(timeline.cores)

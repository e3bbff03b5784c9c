"""Below the headline: rates against their peaks, what is known, cautions, the largest saving."""

from collections.abc import Iterator

import numpy as np

from roofline.analysis.capped import capped_place
from roofline.analysis.diagnose import why_bytes_exceed_peak
from roofline.analysis.knowledge import KNOWN_SHARE
from roofline.analysis.records import Measures, RooflineAnalysis, View
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Provenance
from roofline.presentation.headline import (
    MOSTLY_IDLE,
    is_far_below,
    is_in_doubt,
    why_unbound,
)
from roofline.presentation.idling import about_idle
from roofline.presentation.largest_saving import largest_saving
from roofline.presentation.placed import (
    PROGRAM,
    does_work,
    has_peaks,
    is_alike,
    is_mostly_known,
    is_part_unknown,
    place_of,
    plain,
    ratio,
)
from roofline.presentation.sentences import Number, Segment, Sentence, aside, say
from roofline.presentation.serving import serving_lead
from roofline.presentation.waiting import is_mostly_waiting, link_rates, link_saving
from roofline.presentation.way_up import way_up
from roofline.presentation.words import spoken

_LEAST_SAVING = 0.001
_LEAST_CORRECTION = 0.005
_NAME_LENGTH = 40
_REMEDIES = 2
_WORTH_A_WORD = 0.1  # of the executions: a note on fewer does not explain what is unknown
# Notes on work that is not known, whose remedy says what to capture.
UNKNOWN_WORK = {
    "no-kernels",
    "launches-without-kernels",
    "no-shapes",
    "kernels-without-operator",
    "kernels-in-graphs",
    "kernels-in-compiled-code",
    "kernels-without-hlo",
    "flop-not-counted",
    "bytes-not-counted",
    "only-times",
    "no-dram-bytes",
    "no-flop-counters",
    "tensor-work-unknown",
    "unknown-cost",
}
# Notes on the whole capture: their count says nothing of its extent.
_OF_ALL = {"no-kernels", "launches-without-kernels"}


def lead(analysis: RooflineAnalysis, view: View, idle: float) -> Iterator[Segment]:
    """Sentences below the headline; `idle` is the idle share of the time."""
    yield from _next_step(analysis, view, idle)
    served = [*serving_lead(analysis)]
    yield from served or _of_program(analysis, view, idle)
    yield from _known(analysis, view, idle)
    yield from _caution(analysis, view)
    if not served or idle < MOSTLY_IDLE:  # else the whole capture says nothing of a step
        yield from _largest_saving(analysis, view)


def _of_program(analysis: RooflineAnalysis, view: View, idle: float) -> Iterator[Segment]:
    """Rates of the whole program, its idle time, and what could raise the rates."""
    waits_first = is_mostly_waiting(analysis) and is_mostly_known(view) and idle < MOSTLY_IDLE
    yield from (waits_first and link_rates(analysis)) or _rates(analysis, view)
    yield from aside(about_idle(analysis, idle))
    if not waits_first and idle < MOSTLY_IDLE:
        yield from aside(_way_up(analysis, view))


def _way_up(analysis: RooflineAnalysis, view: View) -> Sentence:
    """The way to a higher rate; far below every roof that is not a question of intensity."""
    if is_in_doubt(analysis, view):
        return []
    if place_of(view)[0] != UNKNOWN_BOUND and is_far_below(analysis, view):
        return say("why_latency")
    return way_up(analysis, view)


def _next_step(analysis: RooflineAnalysis, view: View, idle: float) -> Iterator[Segment]:
    """How a profile without the peaks of its work gets roofs."""
    if not has_peaks(analysis):
        yield from say("choose_device")
        return
    bound, _ = place_of(view)
    if bound != UNKNOWN_BOUND or not is_mostly_known(view) or not does_work(view):
        return
    if idle >= MOSTLY_IDLE:  # then the headline does not say it
        yield from why_unbound(analysis, view)
        yield plain(". ")
    yield from say("enter_peak")


def _known(analysis: RooflineAnalysis, view: View, idle: float) -> Iterator[Segment]:
    """Of which share of the busy time the work is known, and how more of it can be."""
    known, mostly = view.known, is_mostly_known(view)
    is_in_headline = not mostly and has_peaks(analysis) and idle < MOSTLY_IDLE
    if is_part_unknown(view) and not is_in_headline:
        if not known.flop and not known.bytes:
            yield from say("nothing_known")
        elif is_alike(known):
            yield from say("known_alike", both=ratio(known.both))
        else:
            yield from say("known", flop=ratio(known.flop), bytes=ratio(known.bytes))
    if mostly:
        return
    for remedy in _remedies(analysis):
        yield from aside([plain(f"{remedy} " if remedy.endswith(".") else f"{remedy}. ")])
    is_counted = analysis.profile.flop_provenance is Provenance.MEASURED
    if analysis.device.kind is DeviceKind.GPU and not is_counted:
        yield from aside(say("counters_know"))


def _remedies(analysis: RooflineAnalysis) -> list[str]:
    """The captures that would tell more: first where most is missing, nothing twice."""
    least = _WORTH_A_WORD * int(analysis.profile.ops.occurrences.sum())
    notes = sorted(
        (
            note
            for note in analysis.diagnostics
            if note.code in UNKNOWN_WORK and (note.count >= least or note.code in _OF_ALL)
        ),
        key=lambda note: -note.count,
    )
    remedies = [*dict.fromkeys(note.remedy for note in notes if note.remedy)]
    return [one for one in remedies if not _is_told(one, remedies)][:_REMEDIES]


def _is_told(remedy: str, others: list[str]) -> bool:
    """Another remedy begins with it."""
    return any(other != remedy and other.startswith(remedy.rstrip(".")) for other in others)


def _rates(analysis: RooflineAnalysis, view: View) -> Sentence:
    """The rates that the program achieves: at the ceiling that binds it, else all known ones."""
    bound, _ = place_of(view)
    program = view.program
    if bound != UNKNOWN_BOUND:
        # The same ops as those of the program's place, so that rate and share of the roof agree.
        placed, is_least = program.placement or program.measures, is_part_unknown(view)
        if bound == COMPUTE_BOUND:
            return _flop_rate(analysis, placed, is_least=is_least)
        return _bandwidth(analysis, placed, analysis.levels[bound - 2], is_least=is_least)
    sentence = Sentence()
    if view.known.flop >= KNOWN_SHARE:
        is_least = bool(program.flop_is_least[PROGRAM])
        sentence += _flop_rate(analysis, program.measures, is_least=is_least)
    main = [level for level in analysis.levels if level.is_main]
    if view.known.bytes >= KNOWN_SHARE and main:
        is_least = bool(program.bytes_is_least[PROGRAM])
        sentence += _bandwidth(analysis, program.measures, main[0], is_least=is_least)
    return sentence


def _bandwidth(
    analysis: RooflineAnalysis, measures: Measures, level: MemoryLevel, *, is_least: bool
) -> Sentence:
    achieved = float(measures.bandwidth_gibs[level][PROGRAM])
    used = float(measures.utilisation_ratio[level][PROGRAM])
    if not achieved > 0 or not used > 0:
        return []
    what = say("of_bandwidth" if used <= 1 else "for_level", level=spoken(level))
    return _against(analysis, achieved, achieved / used, "gibs", what, is_least=is_least)


def _flop_rate(analysis: RooflineAnalysis, measures: Measures, *, is_least: bool) -> Sentence:
    """Rate and peak of the unit the program uses most, with its name if it has one."""
    number = int(measures.unit[PROGRAM])
    rate, peak, what = float(measures.flop_rate_gflops[PROGRAM]), analysis.peaks.gflops, Sentence()
    if number >= 0:
        unit = analysis.units[number]
        rate = float(measures.unit_rate_gflops[unit][PROGRAM])
        used = float(measures.unit_utilisation_ratio[unit][PROGRAM])
        peak = rate / used if used > 0 else 0.0
        roof = analysis.roof_of_unit(number)
        label = unit.label if roof is None else analysis.device.compute[roof].label
        what = say("of_unit", unit=label)
    if np.isnan(rate) or not peak:
        return []
    return _against(analysis, rate, peak, "gflops", what, is_least=is_least)


def _against(
    analysis: RooflineAnalysis,
    achieved: float,
    peak: float,
    unit: str,
    what: Sentence,
    *,
    is_least: bool,
) -> Sentence:
    sentence = "above" if achieved > peak else "rate_or_more" if is_least else "rate"
    return say(
        sentence,
        achieved=Number(achieved, unit),
        peak=Number(peak, unit),
        what=what,
        core=analysis.device.core_word,
    )


def _largest_saving(analysis: RooflineAnalysis, view: View) -> Sentence:
    """The operations or transfers to mend first."""
    best = largest_saving(analysis, view)
    if best is None:
        return []
    if best.link is not None:
        return link_saving(analysis, best)
    of = best.of
    if of.efficiency_ratio is None or not of.share_ratio:
        return []
    target = {"q": of.name} if of.is_op else {"cat": [of.name]}
    link = Segment(kind="link", text=_shortened(of.name), filter=target)
    of_time = say(
        "of_time",
        how=aside(
            say("at_roof", share=ratio(of.share_ratio), efficiency=ratio(of.efficiency_ratio))
        ),
        saving=Number(best.saving_us, "time_us"),
        total=Number(view.total_time_us / max(analysis.device.core_count, 1), "time_us"),
        core=analysis.device.core_word,
    )
    return say("known_saving" if is_part_unknown(view) else "saving", link=link, of_time=of_time)


def _shortened(name: str) -> str:
    """A name that fits into a sentence; kernels have names of several lines."""
    return name if len(name) <= _NAME_LENGTH else f"{name[: _NAME_LENGTH - 1].rstrip()}…"


def _caution(analysis: RooflineAnalysis, view: View) -> Sentence:
    """A warning where the program looks better than it can be."""
    bound, share = place_of(view)
    if bound == COMPUTE_BOUND:
        return _above_compute_peak(analysis, view)
    if bound == UNKNOWN_BOUND or share <= 1:
        return []
    return say("too_high", why=why_bytes_exceed_peak(analysis.profile))


def _above_compute_peak(analysis: RooflineAnalysis, view: View) -> Sentence:
    """Ops above the compute peak, and where the program is without what they have too much."""
    used = np.nan_to_num(analysis.ops.measures.compute_efficiency_ratio[view.op])
    above = np.flatnonzero(used > 1.0)
    share = float(view.program.measures.compute_efficiency_ratio[PROGRAM])
    capped = capped_place(analysis, view).share
    if share - capped < _LEAST_CORRECTION:
        return []
    target = {"bound": ["Compute"], "sort": "-compute_efficiency_ratio"}
    count = Number(len(above), "count")
    return say(
        "above_compute_only" if is_in_doubt(analysis, view) else "above_compute",
        link=[{**one, "kind": "link", "filter": target} for one in say("ops_run", count=count)],
        most=ratio(float(used.max())),
        capped=ratio(capped),
    )

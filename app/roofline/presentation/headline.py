"""The first sentence: what binds the program and how far it is from its roof, or why not known."""

import numpy as np

from roofline.analysis.capped import DOUBTFUL, capped_place, closeness, impossible_share
from roofline.analysis.records import Cost, RooflineAnalysis, View
from roofline.analysis.roofline import UNKNOWN_BOUND
from roofline.model.memory import MemoryLevel
from roofline.presentation.idling import without_stretch
from roofline.presentation.placed import (
    PROGRAM,
    bound_segment,
    does_work,
    has_peaks,
    is_alike,
    is_mostly_known,
    is_part_unknown,
    place_of,
    ratio,
)
from roofline.presentation.sentences import Segment, Sentence, say
from roofline.presentation.serving import serving_headline
from roofline.presentation.waiting import is_mostly_waiting, waiting_headline, waits
from roofline.presentation.words import spoken

MOSTLY_IDLE = 0.5
MOSTLY_WORKING = 0.5
_OFTEN = 0.2  # from this share of the time on, idling or moving data belongs in the headline
_FAR_BELOW = 0.2  # of their roofs: such ops wait for each other or for data, not for a unit
_LEAST_SHARE = 0.001  # smaller ones are not written as a number


def headline(analysis: RooflineAnalysis, view: View, idle: float) -> Sentence:
    """The verdict in one sentence, without its full stop; `idle` is the idle share of the time."""
    bound, share = place_of(view)
    more = "_or_more" if is_part_unknown(view) and share >= _LEAST_SHARE else ""
    if is_in_doubt(analysis, view):
        return _in_doubt(analysis, view)
    if served := serving_headline(analysis, view):
        return served
    if idle >= MOSTLY_IDLE:
        word = Segment(kind="bound", text="Idle", token="--warn")
        opening = [*say("idle", word=word, idle=ratio(idle)), *without_stretch(analysis, idle)]
        opening += _also_waiting(analysis)
        if bound == UNKNOWN_BOUND or share < _LEAST_SHARE or idle >= 1:
            return opening
        by = bound_segment(analysis, bound)
        return [*opening, *say(f"idle_bound{more}", bound=by, share=ratio(share / (1 - idle)))]
    if is_mostly_waiting(analysis) and is_mostly_known(view):
        return [*waiting_headline(analysis), *_otherwise(analysis, view, idle)]
    if bound == UNKNOWN_BOUND:
        return why_unbound(analysis, view)
    if is_far_below(analysis, view):
        word = Segment(kind="bound", text="Latency-bound", token="--warn")
        near = say(f"latency{more}", word=word, share=ratio(closeness(analysis, view)))
        return [*near, *_also_idle(idle)]
    found = say(f"bound{more}", bound=bound_segment(analysis, bound), share=ratio(share))
    return [*found, *_finding(analysis, view, idle)]


def _otherwise(analysis: RooflineAnalysis, view: View, idle: float) -> Sentence:
    """The bound of the program while it neither waits nor idles, where that is much of the time."""
    working = 1.0 - idle - sum(one.share for one in waits(analysis))
    place = capped_place(analysis, view)
    if working < MOSTLY_WORKING or place.bound == UNKNOWN_BOUND:
        return _also_idle(idle)
    by, share = bound_segment(analysis, place.bound), min(place.share / working, 1.0)
    return [*_also_idle(idle), *say("otherwise", bound=by, share=ratio(share))]


def is_in_doubt(analysis: RooflineAnalysis, view: View) -> bool:
    """True where impossible points take so much of the time that nothing can be read from it."""
    return is_mostly_known(view) and impossible_share(analysis, view) > DOUBTFUL


def _in_doubt(analysis: RooflineAnalysis, view: View) -> Sentence:
    place = capped_place(analysis, view)
    return say(
        "in_doubt",
        word=Segment(kind="bound", text="operations above their roof", token="--warn"),
        share=ratio(impossible_share(analysis, view)),
        bound=bound_segment(analysis, place.bound),
        capped=ratio(place.share),
    )


def is_far_below(analysis: RooflineAnalysis, view: View) -> bool:
    """True where ops are so far below all their roofs that none of these is what binds."""
    return closeness(analysis, view) < _FAR_BELOW


def _also_idle(idle: float) -> Sentence:
    return say("also_idle", idle=ratio(idle)) if idle >= _OFTEN else []


def _also_waiting(analysis: RooflineAnalysis) -> Sentence:
    """Beside idling: the longest wait for a link, where that is much of the time, too."""
    longest = next(iter(waits(analysis)), None)
    if longest is None or longest.share < _OFTEN:
        return []
    return say("also_waiting", what=longest.name, share=ratio(longest.share))


def _finding(analysis: RooflineAnalysis, view: View, idle: float) -> Sentence:
    rows = [k for k, op in enumerate(view.op.tolist()) if analysis.ops.cost[op] is Cost.NO_FLOPS]
    without = float(np.nan_to_num(view.self_share_ratio[rows]).sum())
    if idle >= _OFTEN and idle >= without:
        return say("also_idle", idle=ratio(idle))
    return say("also_moving", share=ratio(without)) if without >= _OFTEN else []


def why_unbound(analysis: RooflineAnalysis, view: View) -> Sentence:
    """Why the program has no place on the roof."""
    if not has_peaks(analysis):
        return say("no_peaks")
    if not view.total_time_us:
        return say("no_time" if view.include_infeed_outfeed else "no_time_without_infeed")
    if not is_mostly_known(view):
        return _unknown_work(view)
    return _without_peak(analysis, view) if does_work(view) else say("no_work")


def _unknown_work(view: View) -> Sentence:
    known = view.known
    match known.flop > 0, known.bytes > 0:
        case False, False:
            return say("unmeasured")
        case False, True:
            return say("flops_unmeasured")
        case True, False:
            return say("bytes_unmeasured")
    if is_alike(known):
        return say("mostly_unknown_alike", both=ratio(known.both))
    return say("mostly_unknown", flop=ratio(known.flop), bytes=ratio(known.bytes))


def _without_peak(analysis: RooflineAnalysis, view: View) -> Sentence:
    """Which peak a verdict lacks."""
    number = int(view.program.measures.unit[PROGRAM])
    if number >= 0 and analysis.roof_of_unit(number) is None:
        return say("unit_without_peak", unit=analysis.units[number].label)
    if not analysis.peaks.gflops:
        return say("compute_without_peak")
    level = next((one for one in analysis.levels if one.is_main), MemoryLevel.HBM)
    return say("memory_without_peak", level=spoken(level))

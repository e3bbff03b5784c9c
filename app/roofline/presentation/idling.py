"""The words about idle time: the launches it waited for, and what is left without its longest
stretch, or without the start of the capture."""

from dataclasses import dataclass

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.time_records import Budget, IdleDetail
from roofline.presentation.placed import ratio
from roofline.presentation.sentences import Number, Sentence, say

_WORTH_A_WORD = 0.1  # of the time: less idling is not explained
_MOST_OF_IT = 0.5  # of the idle time: a start or a gap that is less explains little
_OTHER_PICTURE = 0.5  # below this share the device is not mostly idle
_SAME_START = 0.9  # of the longest idle start, on average: below it, each core has its own
_LEAST_SHARE = 0.001  # smaller ones are not written as a number


@dataclass(frozen=True, slots=True, kw_only=True)
class _Without:
    """One stretch that explains most of the idle time, and the idle share of the rest."""

    sentence: str
    length_us: float
    rest: float

    def named(self, analysis: RooflineAnalysis) -> Sentence:
        """The stretch, within a sentence."""
        length = Number(self.length_us, "time_us")
        return say(self.sentence, length=length, core=analysis.device.core_word)


def without_stretch(analysis: RooflineAnalysis, idle: float) -> Sentence:
    """For a headline about idling: ", 6.1 % without the longest gap of 463 ms", if that is another
    picture; `idle` is the idle share of the time."""
    found = _explained(analysis)
    if found is None or idle < _OTHER_PICTURE or found.rest >= _OTHER_PICTURE:
        return []
    return say("idle_without", rest=ratio(found.rest), what=found.named(analysis))


def about_idle(analysis: RooflineAnalysis, idle: float) -> Sentence:
    """Below the headline: what the idle time waited for, and where it lies."""
    detail = _detail(analysis)
    if detail is None or idle < _WORTH_A_WORD:
        return []
    return [*_launches(analysis, detail), *_barriers(analysis, detail), *_place(analysis, idle)]


def _launches(analysis: RooflineAnalysis, detail: IdleDetail) -> Sentence:
    total_us = _idle_us(_budget(analysis))
    waited = (detail.waiting_for_launch_us or 0.0) / total_us if total_us else 0.0
    return say("idle_launch", waited=ratio(waited)) if waited >= _LEAST_SHARE else []


def _barriers(analysis: RooflineAnalysis, detail: IdleDetail) -> Sentence:
    total_us = _idle_us(_budget(analysis))
    if not detail.barrier_us or detail.barrier_us < _LEAST_SHARE * total_us:
        return []
    barrier = Number(detail.barrier_us, "time_us")
    return say("idle_barrier", barrier=barrier, core=analysis.device.core_word)


def _place(analysis: RooflineAnalysis, idle: float) -> Sentence:
    found = _explained(analysis)
    if found is None or without_stretch(analysis, idle):
        return []
    what = found.named(analysis)
    if found.rest < _LEAST_SHARE:
        return say("idle_only_there", what=what)
    return say("idle_rest", rest=ratio(found.rest), what=what)


def _explained(analysis: RooflineAnalysis) -> _Without | None:
    """The start of the capture, or the longest gap, where that is most of the idle time."""
    detail, budget = _detail(analysis), _budget(analysis)
    if detail is None or budget is None:
        return None
    start_us, longest_us = detail.start_idle_us or 0.0, detail.longest_us or 0.0
    least_us, gaps_us = _MOST_OF_IT * _idle_us(budget), _gaps_us(budget)
    if start_us >= max(least_us, longest_us):
        left_us = budget.total_us - (detail.start_us or 0.0)
        rest, length_us = _share(gaps_us - start_us, left_us), detail.longest_start_us or 0.0
        sentence = "idle_start" if _is_same_start(detail) else "idle_start_of_each"
        return _Without(sentence=sentence, length_us=length_us, rest=rest)
    if longest_us >= least_us:
        cores = len(analysis.profile.timeline.cores) if analysis.profile.timeline else 1
        rest = _share(gaps_us - longest_us, budget.total_us - longest_us)
        sentence = "idle_gap" if cores == 1 else "idle_gap_of_each"
        return _Without(sentence=sentence, length_us=longest_us, rest=rest)
    return None


def _is_same_start(detail: IdleDetail) -> bool:
    """Whether all cores were idle for about as long as the one that was so for longest."""
    longest_us = detail.longest_start_us or 0.0
    return (detail.start_us or 0.0) >= _SAME_START * longest_us


def _share(part: float, whole: float) -> float:
    return max(part, 0.0) / whole if whole > 0 else 0.0


def _budget(analysis: RooflineAnalysis) -> Budget | None:
    return analysis.budgets.capture if analysis.budgets else None


def _detail(analysis: RooflineAnalysis) -> IdleDetail | None:
    budget = _budget(analysis)
    part = budget.part("idle") if budget else None
    return part.idle if part else None


def _idle_us(budget: Budget | None) -> float:
    part = budget.part("idle") if budget else None
    return part.time_us if part else 0.0


def _gaps_us(budget: Budget) -> float:
    """Time in which nothing ran: idle time and launch gaps."""
    launch = budget.part("launch_gaps")
    return _idle_us(budget) + (launch.time_us if launch else 0.0)

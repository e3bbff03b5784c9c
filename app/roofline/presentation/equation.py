"""The time of a subject as a sum of its parts, in words: the legend of where the time goes."""

from roofline.analysis.subjects.records import Subject
from roofline.presentation.goal import length, waited_for
from roofline.presentation.goal_numbers import Scale
from roofline.presentation.sentences import Segment, Sentence, say


def equation(subject: Subject) -> Sentence:
    """ "34.9 ms a step = 16.7 at its roofs + 13.2 to gain + 2.0 cost not known + 3.0 waiting for
    the host." Parts that print as 0 are left out; the largest takes what rounding leaves."""
    if not subject.time_us > 0:
        return []
    scale, parts = Scale.of(subject.time_us), subject.parts
    times = {
        "at its roofs": parts.needed,
        "to gain": parts.to_gain,
        "cost not known": parts.unknown,
        "impossible": parts.impossible,
        **{f"waiting for {waited_for(subject, kind)}": us for kind, us in parts.waits.items()},
    }
    said: Sentence = []
    for name, amount in _rounded(times, scale, subject.time_us).items():
        said += [Segment(kind="plain", text=f"{' + ' if said else ''}{amount} {name}")]
    return say("equation", length=length(subject), parts=said)


def _rounded(times: dict[str, float], scale: Scale, time_us: float) -> dict[str, str]:
    """The parts as printed, which add up to the length as printed."""
    unit = 10**scale.decimals / scale.us
    whole = {name: int(us * unit + 0.5) for name, us in times.items()}
    largest = max(times, key=lambda name: times[name])
    whole[largest] += int(time_us * unit + 0.5) - sum(whole.values())
    return {name: scale.number(count / unit) for name, count in whole.items() if count > 0}

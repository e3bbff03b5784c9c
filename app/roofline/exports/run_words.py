"""The words about a run of many hosts: how many were read, and which hold the others up."""

from roofline.pods.folders import some_of
from roofline.pods.putting_right import outliers
from roofline.pods.report import (
    FEWEST_HOSTS,
    LEAST_READABLE,
    HostReport,
    NoVerdict,
    RunReport,
    State,
    Verdict,
)
from roofline.presentation.sentences import Number, Sentence, plain_text, say

_SENTENCES = {verdict: f"hosts_{verdict.name.lower()}" for verdict in Verdict}


def run_verdict(run: RunReport) -> str:
    """The sentences on top of a run."""
    said = _read(run) + _judged(run)
    for one in outliers(run.hosts):
        said += [*say("hosts_next"), *_outlier(one, len(run.steps))]
    return plain_text([*said, *say("hosts_end")])


def outlier_sentence(one: HostReport, steps: int) -> str:
    """The sentence about one host that holds the others up."""
    return plain_text(_outlier(one, steps))


def _read(run: RunReport) -> Sentence:
    states = [one.state for one in run.hosts]
    read = len(states) - states.count(State.UNREADABLE)
    said = say("hosts_read", read=Number(read, "count"), hosts=Number(len(states), "count"))
    idle = states.count(State.NO_ACCELERATOR)
    said += say("hosts_working", count=Number(idle, "count")) if idle else []
    apart = [one.host for one in run.hosts if one.state is State.OTHER_PROGRAM]
    if not apart:
        return said
    return said + say("hosts_elsewhere", count=Number(len(apart), "count"), names=some_of(apart))


def _judged(run: RunReport) -> Sentence:
    match run.no_verdict:
        case NoVerdict.FEW_HOSTS:
            return say("hosts_few", fewest=Number(FEWEST_HOSTS, "count"))
        case NoVerdict.UNREADABLE:
            return say("hosts_unreadable", share=Number(LEAST_READABLE, "ratio"))
        case NoVerdict.SEVERAL_CAPTURES:
            return say("hosts_several_captures")
        case NoVerdict.SEVERAL_PROGRAMS:
            return say("hosts_several_programs")
    if run.late is not None:
        return say("hosts_late", host=run.late.host, share=Number(run.late.share, "ratio"))
    if not outliers(run.hosts):
        return say("hosts_even")
    return say("hosts_cost", share=Number(run.cost_ratio or 0.0, "ratio"))


def _outlier(one: HostReport, steps: int) -> Sentence:
    assert one.verdict is not None
    slow = [chip.name for chip in one.chips if chip.is_slow]
    return say(
        _SENTENCES[one.verdict],
        host=one.host,
        share=Number((one.same_work_ratio or 1.0) - 1, "ratio"),
        chips=", ".join(slow),
        slow=Number(one.slow_steps, "count"),
        steps=Number(steps, "count"),
    )

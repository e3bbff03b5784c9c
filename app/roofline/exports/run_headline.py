"""The answer on top of a run's page: one sentence, what it costs, and what could not be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofline.exports.run_page import Arriving
from roofline.pods.folders import some_of
from roofline.pods.report import (
    FEWEST_HOSTS,
    LEAST_READABLE,
    NoVerdict,
    State,
    Verdict,
)
from roofline.presentation.sentences import Number, Sentence, say

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Sentences of the headline and of the lines below it; `is_bad`: a host is slow."""

    headline: Sentence
    lead: Sentence
    is_bad: bool


def answer_of(document: Row, arriving: Arriving | None = None) -> Answer:
    """The first sentence on the page of the run of `document`."""
    if arriving is not None:
        count = {"read": _count(arriving.read), "hosts": _count(arriving.total)}
        known = say("run_arriving_of", **count) if arriving.total else say("run_arriving", **count)
        return Answer(headline=known, lead=say("run_arriving_lead"), is_bad=False)
    unread = _unread(document)
    worst = next(iter(document["outliers"]), None)
    if worst is None:
        lead = _spread(document) + unread
        return Answer(headline=_without_verdict(document), lead=lead, is_bad=False)
    found = {one["host"]: one for one in document["hosts"]}
    return Answer(
        headline=_headline(found[worst["host"]], max(len(document["steps"]), 1)),
        lead=_lead(document) + unread,
        is_bad=worst["kind"] in (Verdict.SLOW_CHIP, Verdict.SLOW_HOST),
    )


def _count(value: int) -> Number:
    return Number(value, "count")


def _without_verdict(document: Row) -> Sentence:
    match document["no_verdict"]:
        case NoVerdict.FEW_HOSTS:
            return say("run_few", fewest=_count(FEWEST_HOSTS))
        case NoVerdict.UNREADABLE:
            return say("run_unreadable", share=Number(LEAST_READABLE, "ratio"))
        case NoVerdict.SEVERAL_CAPTURES:
            return say("run_several_captures")
        case NoVerdict.SEVERAL_PROGRAMS:
            return say("run_several_programs")
    if (late := document["late_host"]) is not None:
        return say("run_late", host=late["host"], share=Number(late["share_ratio"], "ratio"))
    return say("run_even")


def _spread(document: Row) -> Sentence:
    cost = document["stragglers_cost_ratio"]
    return [] if cost is None else say("run_spread", share=Number(cost, "ratio"))


def _headline(host: Row, steps: int) -> Sentence:
    share = (host["same_work_ratio"] or 1.0) - 1
    return say(
        f"run_{Verdict(host['verdict']).name.lower()}",
        host=host["host"],
        share=Number(share, "ratio"),
        slow=_count(host["slow_steps"]),
        steps=_count(steps),
    )


def _lead(document: Row) -> Sentence:
    """The cost of all, and what the first ones bring."""
    said = say("run_cost", share=Number(document["stragglers_cost_ratio"] or 0.0, "ratio"))
    first = document["gains"][0]
    said += say("run_gain", host=first["host"], share=Number(first["share_ratio"], "ratio"))
    more = len(document["outliers"]) - 1
    if more:
        said += say("run_more", count=_count(more))
    return said + say("run_end")


def _unread(document: Row) -> Sentence:
    """What takes no part, though it might have."""
    unread = sum(one["state"] == State.UNREADABLE for one in document["hosts"])
    apart = [one["host"] for one in document["hosts"] if one["state"] == State.OTHER_PROGRAM]
    said = say("run_elsewhere", names=some_of(apart), count=_count(len(apart))) if apart else []
    return said + (say("run_unread", count=_count(unread)) if unread else [])

"""The one answer of a profile: subject, verdict, advice and what to do first, made together."""

from dataclasses import dataclass
from typing import Any

from roofline.advice.advise import advise
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.analysis.verdict import verdict_of
from roofline.exports.advice import advice_record
from roofline.exports.certainty import certainty_of
from roofline.presentation.goal import First
from roofline.presentation.verdict import Answer, headline_of

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answered:
    """An answer, and the advice that its first finding is of, as a document."""

    answer: Answer
    advice: Record


def answered(
    analysis: RooflineAnalysis, of: str | None = None, *, target: float | None = None
) -> Answered:
    """The answer of `analysis` on the subject with the address `of`, else on its default one.

    `target` is the share of a roof that tuning is taken to reach, where it is not the rule's own.
    """
    subject = choose(analysis, of)
    verdict = verdict_of(analysis, subject)
    said = headline_of(analysis, subject, verdict)
    advice = advice_record(advise(analysis, subject, target), analysis, said)
    first = advice["first"]
    answer = Answer(
        subject=subject,
        verdict=verdict,
        first=None
        if first is None
        else First(first["title"], first["saving_us"], is_most=first["measured"]),
        finding="" if first is None else first["finding"],
    )
    certain = certainty_of(analysis, answer).word
    return Answered(answer=answer, advice=advice | {"certain": certain})


def answer_of(analysis: RooflineAnalysis, of: str | None = None) -> Answer:
    """The answer alone."""
    return answered(analysis, of).answer

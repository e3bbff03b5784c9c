"""A verdict in words: what binds the work, how busy its unit was, or why none was."""

from collections.abc import Mapping, Sequence

from roofline.analysis.knowledge import NEARLY_ALL
from roofline.analysis.verdict import LATENCY, MOSTLY
from roofline.analysis.verdict_records import Place, Verdict, VerdictClass
from roofline.presentation.sentences import Segment, Sentence, plain, ratio, say
from roofline.presentation.words import (
    bound_by,
    ceiling_token,
    ceiling_words,
    half_bound_by,
)

_ALIKE = 0.05  # busy and useful shares closer than this are one number

# Why no unit is busier, within a sentence; a stall is named by what it waits for.
REASONS = {
    "few_blocks": "too few blocks",
    "launch": "calls are over before the device is full",
    "tail": "the last wave of blocks runs alone",
    "imbalance": "some multiprocessors work longer than others",
    "low_occupancy": "too few warps are resident",
    "barrier": "warps wait at barriers",
    "dependency": "warps wait for data or for earlier instructions",
    "not_measured": "the reason was not measured",
}


def bound_clause(verdict: Verdict) -> Sentence:
    """What binds the known work: "mostly HBM-bound", "partly HBM-, partly compute-bound"; empty
    where that is latency, or not known."""
    place = verdict.of_work
    if place is None or place.kind is VerdictClass.LATENCY:
        return []
    return _shared(verdict.held)


def busy_sentences(verdict: Verdict) -> Sentence:
    """How busy the unit was that binds, or why none was, as counters say."""
    place = verdict.of_work
    if place is None or place.ratio is None or verdict.known.busy < MOSTLY:
        return []
    if place.kind is VerdictClass.LATENCY:
        return _latency(place)
    held = [one for one in verdict.held.items() if one[0] != LATENCY][:2]
    is_alone = not held or held[0][1] >= NEARLY_ALL
    when = "busy time" if _does_wait(verdict) else "time"
    return _busy(place, when) if is_alone else _binds(held, when)


def _does_wait(verdict: Verdict) -> bool:
    return (verdict.idle_ratio or 0.0) + sum(verdict.waits.values()) > 1 - NEARLY_ALL


def _binds(held: Sequence[tuple[str, float]], when: str) -> Sentence:
    """Which units bind how much of the time: a mean over all operations is of none of them."""
    unit = ceiling_words(held[0][0])
    rest = [
        part
        for name, share in held[1:]
        for part in say("verdict_binds_too", unit=plain(ceiling_words(name)), share=ratio(share))
    ]
    return say(
        "verdict_binds",
        unit=plain(unit),
        bind="bind" if unit.endswith("slots") else "binds",
        share=ratio(held[0][1]),
        when=when,
        rest=rest,
    )


def _shared(held: Mapping[str, float]) -> Sentence:
    known, names = sum(held.values()), list(held)
    if not known > 0:
        return []
    first = held[names[0]] / known
    if len(names) == 1 or first > MOSTLY:
        how = "all" if first >= NEARLY_ALL else "mostly"
        return [plain(f"{how} "), _word(names[0])]
    return [plain("partly "), _word(names[0], is_half=True), plain(", partly "), _word(names[1])]


def _word(name: str, *, is_half: bool = False) -> Segment:
    """A bound in its colour; a half is followed by another bound."""
    text = half_bound_by(name) if is_half else bound_by(name)
    return Segment(kind="bound", text=text, token=ceiling_token(name))


def _busy(place: Place, when: str) -> Sentence:
    if not place.ceiling:
        return []
    busy, useful = place.ratio or 0.0, place.useful_ratio
    is_apart = useful is not None and 0 < useful < busy - _ALIKE
    unit = ceiling_words(place.ceiling)
    return say(
        "verdict_busy",
        unit=plain(unit),
        are="are" if unit.endswith("slots") else "is",
        busy=ratio(busy),
        when=when,
        useful=say("verdict_useful", useful=ratio(useful or 0.0)) if is_apart else "",
    )


def _latency(place: Place) -> Sentence:
    why = place.why_words or REASONS[place.why.partition(":")[0] or "not_measured"]
    busy = ratio(place.ratio or 0.0)
    if not place.ceiling:
        return say("verdict_slack", why=why, busy=busy)
    return say("verdict_latency", why=why, unit=ceiling_words(place.ceiling), busy=busy)

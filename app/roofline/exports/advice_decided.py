"""Advice and the ledger: an entry from a finding, what a comparison measured of it, and advice with
decisions and corrections."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from roofline.advice.ledger import Entry, Hit, Measured, Rate, State, document_of, rates_of
from roofline.compare.changes import Comparison
from roofline.errors import BadViewError, FindingNotFoundError
from roofline.exports.advice import first_of
from roofline.exports.advice_words import correction, saves_text, summary_text, verify_text
from roofline.presentation.goal_numbers import MINUS, Scale
from roofline.presentation.quantities import SPACE

Record = dict[str, Any]


def entry_of(
    record: Record, finding: str, state: State, *, profile: str, at: str, reason: str = ""
) -> Entry:
    """The entry of one finding of an advice: `FindingNotFoundError` where there is none,
    `BadViewError` where there is no saving to accept."""
    one = next((one for one in _all(record) if one["id"] == finding), None)
    if one is None:
        raise FindingNotFoundError(
            "This advice has no such finding.",
            remedy="Copy an id of `roofline advise --format json`.",
        )
    predicted = one["predicted"]
    if state == "accepted" and predicted is None:
        raise BadViewError(
            f"{one['id']} predicts no saving, so it cannot be checked later.",
            remedy="Accept a finding with a saving.",
        )
    raw = predicted.get("raw_saving_us", predicted["saving_us"]) if predicted else 0.0
    return Entry(
        profile=profile,
        finding=finding,
        state=state,
        at=at,
        rule=one["rule"],
        device=record["device"],
        unit=record["unit"],
        term=one["verify"]["expect"]["term"] if predicted else "",
        ops=tuple(one["op_names"]),
        title=one["title"],
        saving_us=raw,
        reason=reason,
    )


def _all(record: Record) -> list[Record]:
    return [*record["findings"], *record.get("dismissed", ())]


def corrected(record: Record, entries: Sequence[Entry], hits: Sequence[Hit]) -> Record:
    """An advice with what was decided of its findings, and predictions corrected by hits.

    Dismissed findings move to `dismissed`. A correction only lowers a saving: a higher one could
    end above a roof.
    """
    decided, rates = {one.finding: one for one in entries}, rates_of(hits)
    device = record["device"]

    def each(findings: Sequence[Record]) -> list[Record]:
        return [
            _decided(
                _lowered(one, record, rates.get((one["rule"], device))), decided, record["now_us"]
            )
            for one in findings
        ]

    findings = each(record["findings"])
    shown = [one for one in findings if not _is_dismissed(one)]
    saved_us = sum(one["predicted"]["saving_us"] for one in shown if one["in_plan"])
    after_us = record["now_us"] - saved_us
    changed = {**record, "after_us": after_us, "findings": shown}
    return {
        **changed,
        "summary": summary_text(changed),
        "first": first_of(shown),
        "dismissed": [one for one in findings if _is_dismissed(one)],
    }


def with_done(record: Record, entries: Sequence[Entry]) -> Record:
    """An advice with accepted findings of the capture before it, as this capture shows them."""
    return {**record, "done": [_done(one, record["now_us"]) for one in entries]}


def _done(entry: Entry, now_us: float) -> Record:
    return {**document_of(entry), "text": done_text(entry, now_us)}


def done_text(entry: Entry, now_us: float) -> str:
    """ "Fused Qwen2RMSNorm: promised −5.7 ms, measured −5.1." in the unit of `now_us`."""
    verb, _, what = entry.title.partition(" ")
    done = verb if entry.measured is None else _past(verb)
    return f"{done} {what}".strip() + f": {promised_text(entry, now_us)}."


def promised_text(entry: Entry, now_us: float) -> str:
    """The saving that was promised, and what a later capture shows of it."""
    scale = Scale.of(now_us)
    promised = f"promised {scale.saving(entry.saving_us)}"
    if entry.measured is None:
        return f"{promised}, waiting for the next capture"
    term_us = entry.measured.term_us
    size = scale.saving(abs(term_us)).removeprefix(MINUS).partition(SPACE)[0]
    sign = "" if not size.strip("0.") else MINUS if term_us < 0 else "+"
    return f"{promised}, measured {sign}{size if sign else 0}"


_IRREGULAR = {
    "Bring": "Brought",
    "Copy": "Copied",
    "Feed": "Fed",
    "Find": "Found",
    "Give": "Gave",
    "Make": "Made",
    "Overlap": "Overlapped",
    "Spread": "Spread",
    "Take": "Took",
}
_REGULAR = frozenset(
    ("Avoid", "Compute", "Fill", "Fuse", "Improve", "Issue", "Join", "Launch", "Load", "Merge")
) | {"Recompute", "Remove", "Update", "Use"}


def _past(verb: str) -> str:
    """A title's verb once it is done; a title without one stays as it is."""
    if verb in _REGULAR:
        return f"{verb}d" if verb.endswith("e") else f"{verb}ed"
    return _IRREGULAR.get(verb, verb)


def _is_dismissed(one: Record) -> bool:
    return one["decision"] is not None and one["decision"]["state"] == "dismissed"


def _decided(one: Record, decided: Mapping[str, Entry], now_us: float) -> Record:
    entry = decided.get(one["id"])
    if entry is None:
        return {**one, "decision": None}
    later = None if entry.measured is None else asdict(entry.measured)
    decision = {
        "state": entry.state,
        "at": entry.at,
        "reason": entry.reason,
        "measured": later,
        "hit_ratio": entry.hit,
        "said": promised_text(entry, now_us) if entry.saving_us > 0 else "",
    }
    return {**one, "decision": decision}


def _lowered(one: Record, record: Record, rate: Rate | None) -> Record:
    predicted = one["predicted"]
    if rate is None or predicted is None or not rate.corrects:
        return one
    raw_us = predicted["saving_us"]
    low, by, high = (min(max(share, 0.0), 1.0) for share in (rate.low, rate.median, rate.high))
    saving_us = raw_us * by
    confirm = {**one["verify"]["expect"], "change_us": -saving_us}
    return {
        **one,
        "predicted": {
            **predicted,
            "raw_saving_us": raw_us,
            "saving_us": saving_us,
            "time_us": predicted["time_us"] + raw_us - saving_us,
            "range_us": [raw_us * low, raw_us * high],
        },
        "share_ratio": saving_us / record["now_us"],
        "verify": {**one["verify"], "expect": confirm},
        "history": asdict(rate),
        "saves": saves_text(one, saving_us, record["now_us"]),
        "why": f"{one['why']} {correction(rate, raw_us)}",
        "how_to_verify": verify_text(one["verify"]["command"], confirm["term"], saving_us),
    }


_OF_THE_PROGRAM = frozenset({"idle", "communication", "transfers"})
_MOVES_OPS = frozenset({"traffic", "calls"})


def measured_by(entry: Entry, found: Comparison, *, profile: str, at: str) -> Measured:
    """The comparison's change, in the entry's unit, of the term that the lever was to move."""
    if entry.term in _OF_THE_PROGRAM:
        term_us = found.terms[entry.term]
        return Measured(profile=profile, at=at, term_us=term_us, side_us=found.change_us - term_us)
    term_us, change_us, names = 0.0, 0.0, set(entry.ops)
    moves = entry.term in _MOVES_OPS
    for one in found.ops:
        if names & {*one.a.names}:
            term_us += one.terms.get(entry.term, 0.0)
            change_us += one.change_us
    for group in found.groups:
        if names & {name for side in group.a for name in side.names}:
            term_us += group.terms.get("regrouped" if moves else entry.term, 0.0)
            change_us += group.change_us
    for gone in found.only_a:
        if names & {*gone.side.names}:
            term_us -= gone.side.time_us if moves else 0.0
            change_us -= gone.side.time_us
    return Measured(profile=profile, at=at, term_us=term_us, side_us=change_us - term_us)

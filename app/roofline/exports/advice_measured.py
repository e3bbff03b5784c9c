"""The measured effect of an accepted finding, by a comparison."""

from collections.abc import Sequence

from roofline.advice.ledger import Entry, Measured
from roofline.compare.changes import Comparison, Side

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
        if names & _names(group.a):
            term_us += group.terms.get("regrouped" if moves else entry.term, 0.0)
            change_us += group.change_us
    for gone in found.only_a:
        if names & {*gone.side.names}:
            term_us -= gone.side.time_us if moves else 0.0
            change_us -= gone.side.time_us
    return Measured(profile=profile, at=at, term_us=term_us, side_us=change_us - term_us)


def _names(sides: Sequence[Side]) -> set[str]:
    return {name for side in sides for name in side.names}

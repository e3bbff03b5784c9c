"""The ledger: findings that were accepted or dismissed, and what became of the accepted ones.

A hit is what the term that the lever was to move has saved, over what was predicted. Hits of one
rule on one device correct its later predictions once there are enough of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from roofline.errors import CorruptProfileError

State = Literal["accepted", "dismissed"]
STATES: tuple[State, ...] = ("accepted", "dismissed")

ENOUGH = 5
"""Hits of a rule on a device from which on they correct its predictions."""

LONGEST_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The changes that a later profile shows, in us: of the term, and of all else in the ops.

    Changes below 0 are time saved.
    """

    profile: str
    at: str
    term_us: float
    side_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A finding of a profile, and what was decided of it; `saving_us` is the prediction then.

    `profile` is the profile's id, or the name of its file; `at` ISO 8601 in UTC. `device` is the
    part, or the device's own name. `ops` are names, none for a part of the time.
    """

    profile: str
    finding: str
    state: State
    at: str
    rule: str
    device: str
    unit: str
    term: str
    ops: tuple[str, ...]
    title: str
    saving_us: float
    reason: str = ""
    measured: Measured | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The profile and the finding: no two entries share both."""
        return self.profile, self.finding

    @property
    def hit(self) -> float | None:
        """Measured over predicted; `None` before it was measured."""
        if self.measured is None or self.saving_us <= 0:
            return None
        return 0.0 - self.measured.term_us / self.saving_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One hit without its profile, as a server keeps it when the profile is gone."""

    rule: str
    device: str
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Hits of a rule on a device: how many, their median and quartiles."""

    count: int
    median: float
    low: float
    high: float

    @property
    def corrects(self) -> bool:
        """True where there are enough to correct a prediction."""
        return self.count >= ENOUGH


def hits_of(entries: Iterable[Entry]) -> list[Hit]:
    """The hits among `entries`."""
    return [
        Hit(rule=one.rule, device=one.device, ratio=one.hit)
        for one in entries
        if one.hit is not None
    ]


def rates_of(hits: Iterable[Hit]) -> dict[tuple[str, str], Rate]:
    """The rate of each rule and device."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for one in hits:
        ratios.setdefault((one.rule, one.device), []).append(one.ratio)
    return {key: _rate(ratios[key]) for key in sorted(ratios)}


def _rate(ratios: Sequence[float]) -> Rate:
    low, median, high = np.quantile(ratios, [0.25, 0.5, 0.75]).tolist()
    return Rate(count=len(ratios), median=median, low=low, high=high)


def with_entry(entries: Sequence[Entry], new: Entry) -> list[Entry]:
    """`entries` with `new` in the place of the one with its key, or at the end."""
    others = [one for one in entries if one.key != new.key]
    return [*others, new]


def measured(entry: Entry, found: Measured) -> Entry:
    """`entry` with what a later profile shows."""
    return replace(entry, measured=found)


def document_of(entry: Entry) -> dict[str, Any]:
    """`entry` as JSON takes it, with its hit."""
    return {**asdict(entry), "hit_ratio": entry.hit}


def entry_from(document: Any) -> Entry:
    """The entry that `document_of` wrote; `CorruptProfileError` for anything else."""
    try:
        later = document.get("measured")
        return Entry(
            **{one: str(document[one]) for one in _TEXTS},
            state=STATES[STATES.index(document["state"])],
            ops=tuple(map(str, document["ops"])),
            saving_us=_number(document["saving_us"]),
            reason=str(document.get("reason", ""))[:LONGEST_REASON],
            measured=None if later is None else _measured(later),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorruptProfileError(
            "This is not a ledger of advice: a part of an entry is missing or damaged.",
            remedy="Write it again with `roofline advise --accept`.",
        ) from error


_TEXTS = ("profile", "finding", "at", "rule", "device", "unit", "term", "title")


def _measured(document: Mapping[str, Any]) -> Measured:
    return Measured(
        profile=str(document["profile"]),
        at=str(document["at"]),
        term_us=_number(document["term_us"]),
        side_us=_number(document["side_us"]),
    )


def _number(value: Any) -> float:
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(value)
    return number

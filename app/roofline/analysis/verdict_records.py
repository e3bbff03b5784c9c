"""The record of a verdict: what binds a subject, how near it is, and how much of it is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class VerdictClass(StrEnum):
    """What can be said of a subject's bound; the order is that of the decision."""

    NOTHING = "nothing"
    HOST_ONLY = "host_only"
    POINTS = "points"
    PREDICTED = "predicted"
    UNKNOWN = "unknown"
    DOUBT = "doubt"
    SERVING = "serving"
    IDLE = "idle"
    WAITS = "waits"
    LATENCY = "latency"
    BOUND = "bound"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What binds some time: its class, the ceiling that is nearest, and that ceiling's share.

    `ratio` and `useful_ratio` are shares of the busy time (0 to 1); for `WAITS` `ratio` is the
    exposed share of all time. `ceiling` is an id as in `NearestOps`, or of a link; "" for none.
    `also` are ceilings that are about as near, in a mixture the second one. `why` is the reason of
    latency, or what is missing: "peaks", "work", "time", "coverage".
    """

    kind: VerdictClass
    ceiling: str = ""
    ratio: float | None = None
    useful_ratio: float | None = None
    also: tuple[str, ...] = ()
    why: str = ""
    why_words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownShares:
    """Shares of the busy time (0 to 1) of which FLOPs, bytes, both, or busy shares are known."""

    flop: float
    bytes: float
    both: float
    busy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Place):
    """The verdict on a subject: a `Place`, and what is said beside it.

    `then` is the verdict on what is left: the busy time of an idle subject, or the time that
    neither waits nor idles. `waits` are exposed shares of all time by link, largest first;
    `idle_ratio` is the share of all time in which nothing ran. `is_least` says that a part of the
    work is unknown, so that the share is a lower bound. `held` are the shares of the busy time that
    ceilings or latency hold, largest first. `coverage` is the share of the launches, or of a total
    that the file states, that has a time.
    """

    is_least: bool = False
    idle_ratio: float | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    then: Place | None = None
    known: KnownShares
    held: Mapping[str, float] = field(default_factory=dict)
    coverage: float | None = None

    @property
    def of_work(self) -> Place | None:
        """The verdict on the work, behind idle time and waits; `None` where it is not known."""
        is_before = self.kind in {VerdictClass.IDLE, VerdictClass.WAITS}
        place = self.then if is_before else self
        return place if place is not None and place.kind in _OF_WORK else None


_OF_WORK = {VerdictClass.SERVING, VerdictClass.LATENCY, VerdictClass.BOUND, VerdictClass.MIXED}

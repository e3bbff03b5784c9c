"""The subject of a page, and how its time divides. Definitions: `docs/subject.md`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from roofline.analysis.records import I64, Bools
from roofline.analysis.roofline import Floats

LEAST_KNOWN = 0.5
"""A share of the roof is said from this share of known work on."""


class Kind(StrEnum):
    """What a subject is; the order is that in which the first that a profile has is its default."""

    HOST = "host"
    SERVING = "serving"
    RANGE = "range"
    STEP = "step"
    CAPTURE = "capture"
    KERNELS = "kernels"


class OpPart(StrEnum):
    """The part of the time that an op's own time belongs to; `NONE`: it has none in the subject."""

    NONE = ""
    WORK = "work"
    UNKNOWN = "unknown"
    IMPOSSIBLE = "impossible"
    LINKS = "links"
    TRANSFERS = "transfers"
    INPUT = "input"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of the time, in us per unit and core; all but `wasted` and `stay` add up to it.

    `needed` is the time of ops of known cost at their nearest ceiling, `to_gain` the rest of their
    time, of which in `wasted` the nearest unit was busy (`None`: no busy share was measured).
    `unknown` are ops without a known cost, `impossible` ops above a ceiling. `links` (by name),
    `transfers` (of hosts) and `input` are times in which no work ran. In `host_wait` and in
    `unknown_wait` nothing did: until the host launched something, as the file shows, and for a
    cause that it does not show.
    `stay` is the part of the waits that the busiest link needs at its peak.
    """

    needed: float
    to_gain: float
    wasted: float | None
    unknown: float
    impossible: float
    links: Mapping[str, float]
    transfers: float
    input: float
    host_wait: float
    unknown_wait: float
    stay: float

    @property
    def known(self) -> float:
        """The time of ops of known cost."""
        return self.needed + self.to_gain

    @property
    def work(self) -> float:
        """The time of all ops that neither wait nor move data over a link."""
        return self.known + self.unknown + self.impossible

    @property
    def idle(self) -> float:
        """The time in which nothing ran."""
        return self.host_wait + self.unknown_wait

    @property
    def waits(self) -> Mapping[str, float]:
        """By kind: "links" of all links, "transfers", "input", "host_wait", "unknown_wait"."""
        return {
            "links": sum(self.links.values()),
            "transfers": self.transfers,
            "input": self.input,
            "host_wait": self.host_wait,
            "unknown_wait": self.unknown_wait,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What lies outside of the subject, in us; `None` where the file does not tell when it ran.

    `total_us` may be more than `before_us` and `after_us`: time between steps.
    """

    total_us: float | None = None
    before_us: float | None = None
    after_us: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The steps that a mean is of: `used` of `found`, and the `median_us` of those used.

    `left_out` has the time of the "first" or the "last" step over the median of the others.
    """

    used: int
    found: int
    median_us: float
    left_out: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpTimes:
    """Times in a subject with one entry per op of the analysis, in us per unit and core.

    `width_us` is the time that the op alone explains: where k ops of a core run at once, each gets
    1/k, and a transfer its exposed part. `work_us` is the width without what it waited;
    `needed_us`, `to_gain_us`, `unknown_us` and `impossible_us` add up to it. `gain_us` is the part
    of the width that can be gained, `work_gain_us` that of the work; in `wasted_us` of `to_gain_us`
    the nearest unit was busy (NaN: not known). `assumed` marks ops of which only a busy share is
    known. `calls` counts
    its calls, and `called_us` is their time, whatever ran at once. `doubtful` are the
    rows of the ops with impossible numbers; ends of asynchronous transfers are not among them:
    their bytes moved in the time of other ops.
    """

    width_us: Floats
    work_us: Floats
    calls: Floats
    called_us: Floats
    needed_us: Floats
    to_gain_us: Floats
    unknown_us: Floats
    impossible_us: Floats
    gain_us: Floats
    work_gain_us: Floats
    wasted_us: Floats
    assumed: Bools
    part: tuple[OpPart, ...]
    doubtful: I64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """What all numbers of a page are of: a mean over `count` units and `cores`, in us.

    `of` is its address, `not_found` what was asked for and does not exist. `floor_us` is what would
    be left with all work at its ceilings and everything hidden that can be, `gain_us` the rest;
    both are `None` for a host, and where no time was measured. `roof_ratio` is the share of the
    nearest ceilings, `None` where that of less than half of the work is known; `known_ratio` is the
    known share of the work, `idle_ratio` the share of `idle` in the time. `assumed_us` is the
    part of `parts.needed` of which only a busy share is known: it is not in `roof_ratio`.
    `has_ceilings` is false where no peak is known, or where those that are judge no op.

    The busiest link needs `link_need_us` at its peak.

    Widths of `ops`, `unnamed_us` (time that belongs to no op) and `parts.idle` add up to
    `time_us`; gains of `ops` and `other_gain_us` (of waits without an op) to `gain_us`.
    `wait_gains_us` has the gain of each wait by kind, as `parts.waits`; the rest is of work.
    """

    of: str
    kind: Kind
    label: str
    unit_word: str
    count: int
    cores: int
    host: str | None
    time_us: float
    floor_us: float | None
    gain_us: float | None
    roof_ratio: float | None
    known_ratio: float | None
    idle_ratio: float | None
    outside: Outside
    parts: Parts
    assumed_us: float
    link_need_us: float
    has_ceilings: bool
    unnamed_us: float
    other_gain_us: float
    wait_gains_us: Mapping[str, float]
    ops: OpTimes
    sample: Sample | None
    not_found: str

"""The finding of a rule: ops or a part of the time, a lever, and what the lever saves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from roofline.advice.chain import Chain
from roofline.advice.plan import Lever

Confidence = Literal["high", "medium", "low"]
Outcome = Literal["contradicts", "nothing", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A rule that holds for `ops`, or for a part of the time, before it is put into the plan.

    `resource` and `factor` are the lever in words; `factor` is what is left of the resource. `term`
    is what a comparison should show as changed. `facts` are numbers for its sentences, `what` names
    what it is about: a category, a module, a link. A `lever` of `None` saves
    none of the measured time. Some of these are options: another batch, another part. `gain` is how
    many times as much work they do in a time, by their own formula; 1 is the same.
    """

    rule: str
    ops: tuple[int, ...]
    what: str
    resource: str
    factor: float | None
    lever: Lever | None
    term: str
    confidence: Confidence
    e: float | None = None
    bound: str | None = None
    time_us: float = 0.0
    also: tuple[str, ...] = ()
    gain: float | None = None
    facts: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """Where an op ends with one lever alone: what is left of its time, FLOPs and bytes."""

    op: int
    time_ratio: float
    flop_ratio: float
    bytes_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """Savings per unit, in us. `saving_us` is what it adds to the findings before it.

    `at_roof_us` is what the same work could save at its roof; `None` where there is none. `landing`
    has the largest ops of the finding.
    """

    saving_us: float
    alone_us: float
    at_roof_us: float | None
    limited_by: str
    landing: tuple[Landing, ...] = ()

    @property
    def range_us(self) -> tuple[float, float]:
        """From half of it to all of it: there is no history yet."""
        return self.saving_us / 2, self.saving_us


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finding:
    """One rule, and what its lever saves: `None` where a gain cannot be said."""

    of: Candidate
    predicted: Predicted | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Advice:
    """Findings: what must be settled first, the plan by what each adds, then options by gain.

    Times are means over cores per `unit`. `floor_us` is what is left with all work at its roof.
    `left_out` findings save less than 1 % each. `at_roof_us` is the time of ops that are at their
    roof already. `state` is "contradicts" (validity alone), "nothing" or "plan". Where the profile
    contradicts itself, `waiting` has the findings that do not depend on what is wrong. `chains` are
    all that could be fused, each alone. Without `has_peaks` there is no roof to come closer to.
    """

    state: Outcome
    unit: str
    now_us: float
    after_us: float
    floor_us: float
    findings: tuple[Finding, ...]
    left_out: int
    at_roof_us: float
    waiting: tuple[Finding, ...] = ()
    chains: tuple[Chain, ...] = ()
    has_peaks: bool = True

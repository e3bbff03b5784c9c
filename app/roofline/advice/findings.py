"""The finding of a rule: ops or a part of the time, a lever, and what the lever saves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from roofline.advice.chain import Chain
from roofline.advice.plan import Lever

Confidence = Literal["high", "medium", "low"]
Outcome = Literal["nothing", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A rule that holds for `ops`, or for a part of the time, before it is put into the plan.

    `resource` and `factor` are the lever in words; `factor` is what is left of the resource. `term`
    is what a comparison should show as changed. `facts` are numbers for its sentences, `what` names
    what it is about: a category, a module, a link. A `lever` of `None` saves
    none of the measured time. Some of these are options, such as another batch. `gain` is how
    many times as much work they do in a time, by their own formula; 1 is the same.

    `kind` picks the text: a kind of op, or the reason that was measured. Findings of one `group`
    are about one op or one link, so only one of them can be saved. `is_hypothetical`: the factor is
    assumed, not known. `changes_results`: the program computes something else. `is_measured`: all
    of the time was measured as a wait, so the saving is "up to".
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
    kind: str = ""
    group: str = ""
    is_hypothetical: bool = False
    changes_results: bool = False
    is_measured: bool = False
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
    """One rule, and what its lever saves: `None` where a gain cannot be said.

    `is_in_plan`: the saving adds to that of the findings before it. Else it is that of the finding
    alone: another way to save the same time, or a factor that is assumed.
    """

    of: Candidate
    predicted: Predicted | None
    is_in_plan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Advice:
    """Findings: the plan by what each adds, then what should be settled, then options by gain.

    Findings that change results come after all others with a saving. Times are means over cores per
    `unit`. `floor_us` is what is left with all work at its roof, `None` where most of the time is
    unknown (`unknown_us`). `left_out` findings save less than 1 % each. `at_roof_us` is the time of
    ops that are at their roof already. `waiting` findings touch operations whose numbers are
    impossible, so nothing is said of them; `doubtful` are those operations. `chains` are all that
    could be fused, each alone. Without `has_peaks` there is no roof to come closer to.
    """

    state: Outcome
    unit: str
    unit_word: str
    now_us: float
    after_us: float
    floor_us: float | None
    unknown_us: float
    findings: tuple[Finding, ...]
    left_out: int
    at_roof_us: float
    waiting: int = 0
    doubtful: int = 0
    chains: tuple[Chain, ...] = ()
    has_peaks: bool = True

    @property
    def planned(self) -> tuple[Finding, ...]:
        """The findings whose savings add up to the plan's."""
        return tuple(one for one in self.findings if one.is_in_plan)

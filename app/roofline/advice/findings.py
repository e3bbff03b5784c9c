"""What `advise` returns: findings with what their levers save, chains, and the plan."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from roofline.advice.rule import Found

Outcome = Literal["missing", "nothing", "plan"]


class Landing(NamedTuple):
    """Where an op ends with one lever alone: what is left of its time, FLOPs and bytes."""

    op: int
    time_ratio: float
    flop_ratio: float
    bytes_ratio: float


class Predicted(NamedTuple):
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

    of: Found
    predicted: Predicted | None
    is_in_plan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Ops that hand tensors to each other; times are us, bytes and FLOPs counts, per unit.

    `what` names their module or program, `known_by` is "graph" or "module". `bytes_now` and
    `bytes_after` are those of the main memory, `limited_by` the resource that ends the saving.
    `is_flop_estimated`: one FLOP per element stands in for ops without counted ones.
    """

    ops: tuple[int, ...]
    what: str
    known_by: str
    calls: float
    now_us: float
    after_us: float
    bytes_now: float
    bytes_after: float
    flop: float
    is_flop_estimated: bool
    limited_by: str

    @property
    def saving_us(self) -> float:
        """The saving of one kernel in their place."""
        return self.now_us - self.after_us


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Advice:
    """Findings: the plan by what each adds, then what should be settled, then options by gain.

    Findings that change results come after all others with a saving. Times are means over cores per
    `unit`. `floor_us` is what is left with all work at its roof, `None` where most of the time is
    unknown (`unknown_us`). `left_out` findings save less than 1 % each. `at_roof_us` is the time of
    ops that are at their roof already. `unjudged_ratio` is the share of the busy time whose cost is
    not known, where it is so large that it should be recorded; else `None`. `waiting` findings
    touch operations whose numbers are impossible, so nothing is said of them; `doubtful` are those
    operations. `chains` are all that could be fused, each alone. Without `has_peaks` there is no
    roof to come closer to, and peaks would give one.
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
    unjudged_ratio: float | None = None
    waiting: int = 0
    doubtful: int = 0
    chains: tuple[Chain, ...] = ()
    has_peaks: bool = True

    @property
    def planned(self) -> tuple[Finding, ...]:
        """The findings whose savings add up to the plan's."""
        return tuple(one for one in self.findings if one.is_in_plan)

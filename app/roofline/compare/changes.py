"""The result of a comparison of two runs: sides, changes of operations, and the record of all."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from roofline.analysis.subjects.records import LEAST_KNOWN
from roofline.compare.run import RunSubject
from roofline.compare.statistics import Tested, noise_us

MODULE, CATEGORY, WAIT, UNNAMED = "module", "category", "wait", "unnamed"
OPERATION = "operation"
CODE = (MODULE, OPERATION)
"""Kinds of rows that one run alone can have; of a category it has no operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a change: names of its operations, time, calls and work in a unit.

    `flop`, `bytes` and `main_bytes` (those of the main memory) are per call, `efficiency` is the
    share of the roof, `needed_us` the time that the `judged_us` of `time_us` whose need is known
    would take at its roofs, `bound` the resource at the lowest roof; `None` is unknown.
    `compute_us` and `memory_us` are the longest clocks of either kind over all calls, `serial_us`
    is the sum of all clocks; NaN without known cost. `source` is the user's line, `library` that of
    the library it calls. `captures_us` is the time in each capture of the side, where there are
    several. `operands` and `results` are tensors in XLA's
    notation. `path` and `category` are those of the first operation.
    """

    names: tuple[str, ...]
    time_us: float
    needed_us: float
    judged_us: float
    calls: float
    flop: float | None
    bytes: float | None
    main_bytes: float | None
    efficiency: float | None
    bound: str | None
    source: str
    library: str
    captures_us: tuple[float, ...]
    compute_us: float
    memory_us: float
    serial_us: float
    operands: str
    results: str
    path: str
    category: str

    @property
    def is_known(self) -> bool:
        """True where time and cost are known."""
        return self.time_us > 0 and max(self.compute_us, self.memory_us) > 0

    @property
    def roof_us(self) -> float:
        """The longest clock: T min."""
        return max(self.compute_us, self.memory_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpChange:
    """The change of an operation, or of a class of equal twins; `terms` add up to the change."""

    a: Side
    b: Side
    tier: int
    category: str
    path: str
    change_us: float
    terms: Mapping[str, float]

    @property
    def beyond_us(self) -> float:
        """The size of the change beyond what captures of one side differ; all where unknown."""
        noise = noise_us(self.a.captures_us, self.b.captures_us) or 0.0
        return max(0.0, abs(self.change_us) - noise)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """Operations under one scope that became others together; `path` is that of one of B's."""

    scope: str
    path: str
    a: tuple[Side, ...]
    b: tuple[Side, ...]
    category: str
    change_us: float
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyOp:
    """An operation that only one run has."""

    side: Side
    category: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The time of one side in one place, in us per unit and core; `bounds` are its parts by what
    binds. `judged_us` is the part whose need is known, `needed_us` what that needs at its roofs."""

    time_us: float = 0.0
    needed_us: float = 0.0
    judged_us: float = 0.0
    bounds: dict[str, float] = field(default_factory=dict)

    @property
    def roof_ratio(self) -> float | None:
        """The share of the roof; `None` where less than half of the time is judged."""
        if not self.time_us or self.judged_us < LEAST_KNOWN * self.time_us:
            return None
        return self.needed_us / self.judged_us

    @property
    def bound(self) -> str:
        """The resource that binds most of the time; empty where none is known."""
        return max(self.bounds, key=lambda one: self.bounds[one], default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceChange:
    """One row. `kind` is `MODULE`, `CATEGORY`, `OPERATION`, `WAIT` (`name` is its term) or
    `UNNAMED`: time of operations without a module. `is_itself`: of a module without the modules in
    it. `phase` is that of a category. `around` is the class of the modules that have this one, and
    `copies` how many of them do. `source` is the user's line of most of the change, `library` the
    line that it calls. `noise_us` is how far captures of a side are apart; `None` unknown."""

    kind: str
    name: str
    a: Place
    b: Place
    is_itself: bool = False
    phase: str = ""
    around: str = ""
    copies: int = 1
    source: str = ""
    library: str = ""
    noise_us: float | None = None

    @property
    def is_new(self) -> bool:
        """True for code that A does not have."""
        return self.kind in CODE and not self.a.time_us and bool(self.b.time_us)

    @property
    def is_gone(self) -> bool:
        """True for code that B does not have."""
        return self.kind in CODE and not self.b.time_us and bool(self.a.time_us)

    @property
    def beyond_us(self) -> float:
        """The size of the change beyond its noise; all of it where the noise is not known."""
        return max(0.0, abs(self.change_us) - (self.noise_us or 0.0))

    @property
    def change_us(self) -> float:
        """B − A, in us per unit and core."""
        return self.b.time_us - self.a.time_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A fact of the captures on both sides."""

    name: str
    a: str
    b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Captures:
    """The time of each capture of one side in the unit, in us, and which one stands for all."""

    labels: tuple[str, ...]
    time_us: tuple[float, ...]
    chosen: int
    spread_us: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All that changed from A to B, in us per unit and core. `terms` add up to `change_us`.

    `matched` are shares of the time in operations of both runs, by tier, with `only` for what has
    no partner. `notes` say what limits the comparison; `is_comparable` is false where no headline
    should be made of it. `places` are the change by module, waits among them. `tested` is there
    from three captures a side on. `exposed_us` is the exposed communication of A and of B,
    `subjects` what the times of A and of B are of (`None`: of a run that was stored without).
    """

    unit: str
    a_us: float
    b_us: float
    change_us: float
    terms: Mapping[str, float]
    matched: Mapping[str, float]
    ops: tuple[OpChange, ...]
    only_a: tuple[OnlyOp, ...]
    only_b: tuple[OnlyOp, ...]
    groups: tuple[GroupChange, ...]
    places: tuple[PlaceChange, ...]
    captures_a: Captures
    captures_b: Captures
    tested: Tested | None
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    is_comparable: bool
    main_memory: str
    peaks: tuple[Mapping[str, float], Mapping[str, float]]
    exposed_us: tuple[float, float]
    subjects: tuple[RunSubject | None, RunSubject | None]

    @property
    def sides(self) -> tuple[tuple[Side, ...], tuple[Side, ...]]:
        """All operations of A, and all of B."""
        a = [one.a for one in self.ops] + [one.side for one in self.only_a]
        b = [one.b for one in self.ops] + [one.side for one in self.only_b]
        a += [side for group in self.groups for side in group.a]
        b += [side for group in self.groups for side in group.b]
        return tuple(a), tuple(b)

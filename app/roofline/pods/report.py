"""The report of a run: its hosts, operations, steps and collectives, and what is said of them.

Pages use these words without the reducer: nothing here loads NumPy.
"""

from dataclasses import dataclass
from enum import StrEnum

FEWEST_HOSTS = 4
"""With fewer hosts there are values, but no verdicts: a median of three says nothing of two."""


LEAST_READABLE = 0.9
"""With a smaller part of the hosts readable, no verdict."""


class State(StrEnum):
    """How a host's file stands."""

    READ = "read"
    UNREADABLE = "unreadable"
    NO_ACCELERATOR = "no accelerator"
    OTHER_PROGRAM = "another program"


class Verdict(StrEnum):
    """The verdict on a host that holds the others up."""

    SLOW_CHIP = "slow chip"
    SLOW_HOST = "slow host"
    MORE_WORK = "more work"
    STRAGGLER = "straggler"
    INTERMITTENT = "intermittent"


class NoVerdict(StrEnum):
    """Why no host is judged."""

    FEW_HOSTS = "few hosts"
    UNREADABLE = "unreadable hosts"
    SEVERAL_CAPTURES = "several captures"
    SEVERAL_PROGRAMS = "several programs"
    ARRIVING = "hosts arriving"


class WaitBound(StrEnum):
    """How a wait stands to the real one."""

    EXACT = "exact"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    ABOUT = "about"


@dataclass(frozen=True, slots=True, order=True)
class OpKey:
    """The key of an operation on every host."""

    program: str
    name: str
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file that could not be read: its name, its digest, and why."""

    name: str
    digest: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipReport:
    """One chip: its work, and its time for the same work against the median chip's.

    The ratio is `None` where less than half of its work can be compared; `compared_share` says how
    much was. `divided` is true where the time was divided by the work first.
    """

    name: str
    work_ps: int
    same_work_ratio: float | None
    compared_share: float
    divided: bool
    is_slow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """An op of one host against the representative: self time per core."""

    key: OpKey
    time_ps: int
    representative_ps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The share of the time that one more host put right brings; `host` is `None` for the rest."""

    host: str | None
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A host that the others wait for in collectives, though it does not work longer.

    `share` is how much later than the next one it comes, as a part of the median host's work.
    """

    host: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """One host. Times are per core; they are `None` where they are not known.

    `step_ps` is the length of a step on it, the median over steps. `bandwidth` is in bytes per
    second and core, over work whose bytes are known. `score` is that of
    its work, of its slowest chip, over all steps. `deviations` are those of hosts with a verdict.
    `file_digest` is the SHA-256 of its capture, as unpacked. `reason` says why it could not be
    read, how it is shorter than others, or what else it ran.
    """

    host: str
    state: State
    file_digest: str
    rank: int | None = None
    reason: str = ""
    device: str = ""
    chips: tuple[ChipReport, ...] = ()
    step_ps: int | None = None
    work_ps: int | None = None
    wait_ps: int | None = None
    wait_bound: WaitBound | None = None
    same_work_ratio: float | None = None
    bandwidth: float | None = None
    score: float | None = None
    slow_steps: int = 0
    verdict: Verdict | None = None
    deviations: tuple[Deviation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpReport:
    """One op over hosts: whole picoseconds of self time per core.

    `flop` and `bytes` are those of the median host per core; `None` where a host that ran the op
    does not know them.
    """

    key: OpKey
    hosts: int
    flop: int | None
    bytes: int | None
    min_ps: int
    median_ps: int
    p95_ps: int
    max_ps: int
    max_host: str
    imbalance_ratio: float | None
    lost_ps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """One step over hosts: its durations, and the work of each host's slowest chip."""

    step: str
    min_ps: int
    median_ps: int
    max_ps: int
    spread_ratio: float | None
    min_work_ps: int
    median_work_ps: int
    p95_work_ps: int
    max_work_ps: int
    critical_host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveReport:
    """One collective over its ranks. Times are sums over its occurrences.

    `transfer_ps` is the shortest time of any rank, `wait_ps` the mean of the rest over ranks.
    `waited_for` is the host that waited least. `instances` is 0 where only sums are known.
    """

    name: str
    kind: str
    group: str
    ranks: int
    instances: int
    transfer_ps: int
    wait_ps: int
    wait_bound: WaitBound
    waited_for: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Everything that is said of a run; `digest` names the set of files and this version.

    `step_ps` is the length of a step of the run: that on the host on which it lasts longest, the
    median over steps; `None` without steps. `cost_ratio` is the share of the time that would be
    saved at most if the slowest chip of each step took as long as the median one; `gains` divide it
    among the hosts.
    """

    hosts: tuple[HostReport, ...]
    ops: tuple[OpReport, ...]
    steps: tuple[StepReport, ...]
    collectives: tuple[CollectiveReport, ...]
    gains: tuple[Gain, ...]
    late: Late | None
    no_verdict: NoVerdict | None
    cost_ratio: float | None
    representative: str | None
    step_ps: int | None
    digest: str

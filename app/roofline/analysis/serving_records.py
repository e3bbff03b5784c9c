"""Records of a language-model server: its steps, each and by phase and batch."""

from dataclasses import dataclass

from roofline.analysis.roofline import Floats
from roofline.model.serving import ServingSteps


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingGroup:
    """Steps of one phase and batch; numbers are medians over them, per step. `None` is unknown.

    `sequences` is `None` for steps of several sizes. `time_us` is from the first work to the last
    on the slowest core, `period_us` with the wait since the step before. `wait_us` is the idle time
    before a step, `longest_wait_us` the longest of all; it is in no other number.

    Bytes, FLOPs and `bound_us` are of one core. They are unknown where the
    work of most of the busy time is (`known_ratio`), `cache_bytes` also without lengths.
    `weight_bytes_least` and `weight_bytes_most` differ where experts are chosen by data.
    `bandwidth_ratio` is the share of the main memory's peak, of which `weight_ratio` and
    `cache_ratio` are parts; `flop_ratio` is that of the compute peak.
    """

    phase: str
    sequences: float | None
    steps: int
    new_tokens: float | None
    context_tokens: float | None
    time_us: float
    busy_us: float
    period_us: float
    wait_us: float | None
    longest_wait_us: float
    tokens_per_s: float | None
    time_per_token_us: float | None
    flop: float | None
    weight_bytes: float | None
    weight_bytes_least: float | None
    weight_bytes_most: float | None
    cache_bytes: float | None
    other_bytes: float | None
    bound_us: float | None
    known_ratio: float
    bandwidth_ratio: float | None
    weight_ratio: float | None
    cache_ratio: float | None
    flop_ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServingColumns:
    """Per step, of one core: what `ServingGroup` has for several. NaN is unknown."""

    time_us: Floats
    busy_us: Floats
    period_us: Floats
    wait_us: Floats
    flop: Floats
    moved_bytes: Floats
    bound_us: Floats
    known_ratio: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServingRecords:
    """The steps of a server, each and by phase and batch."""

    steps: ServingSteps
    columns: ServingColumns
    groups: tuple[ServingGroup, ...]

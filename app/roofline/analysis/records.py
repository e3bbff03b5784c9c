"""Roofline records: what is known of ops, program points and views. Records are columns.

Two modes: corrected (the page, our exports) and `xprof_compat`, which keeps XProf 2.24.2's numbers
cell by cell; each of its oddities is one named place in `roofline.analysis.context`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from roofline.analysis import roofline
from roofline.analysis.causes import Cause, NotShown
from roofline.analysis.nearest_records import NearestOps
from roofline.analysis.roofline import Floats, Peaks
from roofline.analysis.serving_records import ServingRecords
from roofline.analysis.time_records import TransferRecords
from roofline.model.compute import ComputeUnit
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel
from roofline.model.plain_data import Aligned
from roofline.model.profile import Diagnostic, Profile

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]

MAX_OPS = 1000
UNDECIDED = -2
"""The number of the unit of a row whose unit is not known, where that decides what binds it."""
UNKNOWN_LINK = "a link, peak not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """How to analyse. `xprof_compat` reproduces XProf's table exactly, oddities included."""

    xprof_compat: bool = False


class Cost(StrEnum):
    """How much is known of an op's work; `NO_FLOPS` is a known number of zero.

    A `TRANSFER` moves data over a link, and is not held against the roof of a memory.
    """

    KNOWN = "known"
    NO_FLOPS = "no_flops"
    FLOPS_UNKNOWN = "flops_unknown"
    BYTES_UNKNOWN = "bytes_unknown"
    UNKNOWN = "unknown"
    TRANSFER = "transfer"
    IDLE = "idle"


class Timing(StrEnum):
    """How an op's rates were obtained.

    `MEASURED`: work over a measured time. `RATE`: the file states rates, but no time. `PREDICTED`:
    the file states work, but no time: the rates are what the roof allows at best.
    """

    MEASURED = "measured"
    RATE = "rate"
    PREDICTED = "predicted"


class Scope(StrEnum):
    """The part of the profile that a program-level point sums up."""

    TOTAL = "total"
    TOTAL_HW = "total_hw"
    AVERAGE = "average"
    PHASE = "phase"
    STEP = "step"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measures:
    """Roofline columns of rows (ops or program points); NaN where unknown.

    Rates are per core: FLOP/s in GFLOP/s (1e9), bandwidth in GiB/s (2**30), intensity in FLOP/byte,
    ratios as fractions. `bound` is a code of `roofline.classify` over `levels` of the analysis.
    `unit` indexes the analysis' `units`: the compute unit a row uses most, -1 where its work is not
    split by unit and counts against the main peak, `UNDECIDED` where it is not known which of
    several units it is, and that decides what binds the row. Where it makes no difference, the
    FLOPs count as the fastest one's: `compute_low_ratio` and `compute_high_ratio` are the ends of
    the share of the compute roof then, NaN where the unit is known. `utilisation_ratio` is the
    share of each memory's peak, `main_utilisation_ratio` that of the main compute peak, which work
    outside units with a peak uses. `integer_rate_gops` are integer operations per second (1e9), no
    FLOPs.
    """

    total_time_us: Floats
    avg_time_us: Floats
    self_time_us: Floats
    avg_self_time_us: Floats
    total_time_per_core_us: Floats
    dma_stall_ratio: Floats
    flop_rate_gflops: Floats
    model_flop_rate_gflops: Floats
    integer_rate_gops: Floats
    unit_rate_gflops: Mapping[ComputeUnit, Floats]
    memory_bandwidth_gibs: Floats
    bandwidth_gibs: Mapping[MemoryLevel, Floats]
    operational_intensity: Floats
    intensity: Mapping[MemoryLevel, Floats]
    bottleneck_intensity: Floats
    attainable_gflops: Floats
    roofline_efficiency_ratio: Floats
    compute_efficiency_ratio: Floats
    memory_utilisation_ratio: Floats
    utilisation_ratio: Mapping[MemoryLevel, Floats]
    unit: I64
    unit_utilisation_ratio: Mapping[ComputeUnit, Floats]
    main_utilisation_ratio: Floats
    compute_low_ratio: Floats
    compute_high_ratio: Floats
    bound: I64

    @classmethod
    def unknown(
        cls, rows: int, levels: Iterable[MemoryLevel], units: Iterable[ComputeUnit]
    ) -> Self:
        """Rows of which nothing is known."""
        nothing = np.full(rows, np.nan)
        by_level = dict.fromkeys(levels, nothing)
        by_unit = dict.fromkeys(units, nothing)
        known: dict[str, Any] = {
            "unit": np.full(rows, -1),
            "bound": np.full(rows, roofline.UNKNOWN_BOUND),
            "unit_rate_gflops": by_unit,
            "unit_utilisation_ratio": by_unit,
            "bandwidth_gibs": by_level,
            "intensity": by_level,
            "utilisation_ratio": by_level,
        }
        return cls(**{one.name: known.get(one.name, nothing) for one in fields(cls)})

    def inserted(self, at: int, row: "Measures") -> Self:
        """These rows with the first of `row` before row `at`."""

        def insert(values: Any, new: Any) -> Any:
            if isinstance(values, Mapping):
                return {key: np.insert(one, at, new[key][0]) for key, one in values.items()}
            return np.insert(values, at, new[0])

        names = [one.name for one in fields(self)]
        return replace(self, **{k: insert(getattr(self, k), getattr(row, k)) for k in names})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpClocks:
    """How long the work of each op takes at the peak of each resource, in us over all cores.

    `of` has one column per resource: "compute" (the main peak), a compute unit's key, a level's.
    All of them at once take `t_min_us` (the longest), one after the other `t_max_us` (the sum).
    `above_t_max_us` is measured time beyond that: latency, and work that was not counted. At the
    ridge, compute and memory take about as long. NaN where the work or a peak is not known.
    """

    of: Mapping[str, Floats]
    t_min_us: Floats
    t_max_us: Floats
    above_t_max_us: Floats
    at_ridge: Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkUse:
    """The traffic of transfers over the link that binds them (`None`: no transfer, or not known).

    `bytes` on the wire per device and `exposed_us`, in which a core did nothing else, are summed
    over occurrences and cores; NaN where not known, and for ops that are not transfers. `reach` is
    the part of the link's peak that the devices of a group have together.
    """

    link: tuple[MemoryLevel | None, ...]
    bytes: Floats
    exposed_us: Floats
    reach: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpRecords(Aligned):
    """All ops, one row each, in the profile's order; the last row is IDLE.

    `saving_per_core_us` is the self time an op would save at its roof. Times of ops that are not
    `Timing.MEASURED` are unknown, and so is the share of the roof of those that are predicted:
    `in_one_second` has their rates as if each took one second, from which other peaks follow.
    `clocks` are the times that each op's work needs; `is_start` marks the starts of asynchronous
    transfers. `moved` is what transfers move over their links.
    `above_roof` is the likely cause where an op's share of the roof is above 100 %, `None`
    elsewhere; `compute_cause` and `memory_cause` are what it would be above a compute or memory
    roof, whatever the peaks. `cells` are `measures` as they are shown: without quotients that are
    not rates, and `not_shown` says why cells of a row are empty. Decisions use `measures`.
    """

    name: tuple[str, ...]
    category: tuple[str, ...]
    program_id: U64
    occurrences: I64
    cost: tuple[Cost, ...]
    above_roof: tuple[Cause | None, ...]
    compute_cause: tuple[Cause, ...]
    memory_cause: tuple[Cause, ...]
    self_time_per_core_us: Floats
    saving_per_core_us: Floats
    measures: Measures
    cells: Measures
    not_shown: tuple[NotShown | None, ...]
    timing: tuple[Timing, ...]
    in_one_second: Measures
    is_start: Bools
    clocks: OpClocks
    moved: LinkUse


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramPoints(Aligned):
    """Total, counters, average and steps, in that order. `outlier` marks steps off the median.

    `flop_is_least` and `bytes_is_least` mark rates that are lower bounds, because a part of the
    work is not known. `placement` are the rates of those ops alone that have a place on the
    roofline, where they are not the same as in `measures`: bound, intensities and share of the roof
    follow from them.
    """

    scope: tuple[Scope, ...]
    label: tuple[str, ...]
    outlier: Bools
    flop_is_least: Bools
    bytes_is_least: Bools
    measures: Measures
    placement: Measures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTime:
    """Shares of the busy time (0 to 1) whose FLOPs, whose bytes and whose place are known.

    `both`: FLOPs and bytes are known, or the bytes of an op that does hardly any arithmetic.
    """

    flop: float
    bytes: float
    both: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Ops by self time. `op` indexes `OpRecords`; the ratios are of the program's time."""

    op: I64
    rank: I64
    self_share_ratio: Floats
    cumulative_share_ratio: Floats
    total_share_ratio: Floats
    saving_share_ratio: Floats

    def select(self, rows: Bools | I64) -> "Ranking":
        """The entries at `rows`, which keep their ranks."""
        return Ranking(**{one.name: getattr(self, one.name)[rows] for one in fields(Ranking)})

    def lists_as(self, other: "Ranking") -> bool:
        """True where `other` has the same ops in the same order, and the same shares of them."""
        columns = [(getattr(self, one.name), getattr(other, one.name)) for one in fields(Ranking)]
        return all(np.array_equal(ours, theirs, equal_nan=True) for ours, theirs in columns)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View(Ranking):
    """One state of the infeed/outfeed switch: the first 1000 ops and IDLE, and program points.

    `every` are all ops; `beyond_ops` and `beyond_share_ratio` those that are not listed; the last
    `found` of the list were asked for beside the longest. `known` says of which share of the busy
    time the work is known.
    """

    include_infeed_outfeed: bool
    every: Ranking
    known: KnownTime
    total_time_us: float
    beyond_ops: int
    beyond_share_ratio: float
    program: ProgramPoints
    found: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RooflineAnalysis:
    """Everything there is to show or export of one profile on one device.

    `measured` is the profile as it was before the bytes of transfers became traffic of the device's
    links: it is what other peaks, and a profile without its names, are analysed from.
    """

    profile: Profile
    measured: Profile
    device: Device
    options: AnalysisOptions
    peaks: Peaks
    levels: tuple[MemoryLevel, ...]
    units: tuple[ComputeUnit, ...]
    ops: OpRecords
    with_infeed: View
    without_infeed: View
    time_scale_multiplier: float | None
    diagnostics: tuple[Diagnostic, ...]
    transfers: TransferRecords
    serving: ServingRecords | None
    nearest: NearestOps

    def view(self, *, include_infeed_outfeed: bool) -> View:
        """The state with or without infeed and outfeed."""
        return self.with_infeed if include_infeed_outfeed else self.without_infeed

    def roof_of_unit(self, number: int) -> int | None:
        """Place among the device's compute peaks of unit `number` (of `units`); -1 is the main.

        `None` where the device has no such peak, and where the unit is `UNDECIDED`.
        """
        if number == UNDECIDED:
            return None
        if number < 0:
            return 0 if self.device.compute else None
        peak = self.device.peak_of(self.units[number])
        return None if peak is None else self.device.compute.index(peak)

    def bound_label(self, code: int) -> str:
        """XProf's text for a bound code."""
        if code <= roofline.COMPUTE_BOUND:
            return ("Unknown", "Compute")[code]
        if code == self.unknown_link_bound:
            return UNKNOWN_LINK
        return self.levels[code - 2].label

    def level_of(self, code: int) -> MemoryLevel | None:
        """The memory or link of a bound code; `None` for compute and where it is not known."""
        place = code - roofline.COMPUTE_BOUND - 1
        return self.levels[place] if 0 <= place < len(self.levels) else None

    @property
    def unknown_link_bound(self) -> int:
        """Bound code of a transfer whose link, or its peak, is not known."""
        return roofline.COMPUTE_BOUND + 1 + len(self.levels)

"""Roofline records: what is known of ops, program points and views. Records are columns.

Two modes: corrected (the page, our exports) and `xprof_compat`, which keeps XProf 2.24.2's numbers
cell by cell; each of its oddities is one named place in `roofline.analysis.context`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from roofline.analysis import roofline
from roofline.analysis.roofline import Floats, Peaks
from roofline.model.compute import ComputeUnit
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Profile

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]

MAX_OPS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """How to analyse. `xprof_compat` reproduces XProf's table exactly, oddities included."""

    xprof_compat: bool = False


class Cost(StrEnum):
    """What is known of an op's work."""

    KNOWN = "known"
    NO_FLOPS = "no_flops"
    UNKNOWN = "unknown"
    IDLE = "idle"


class Scope(StrEnum):
    """What a program-level point sums up."""

    TOTAL = "total"
    TOTAL_HW = "total_hw"
    AVERAGE = "average"
    STEP = "step"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measures:
    """Roofline columns of rows (ops or program points); NaN where unknown.

    Rates are per core: FLOP/s in GFLOP/s (1e9), bandwidth in GiB/s (2**30), intensity in FLOP/byte,
    ratios as fractions. `bound` is a code of `roofline.classify` over `levels` of the analysis.
    `unit` indexes the analysis' `units`: the compute unit a row uses most, -1 where its work is not
    split by unit and counts against the main peak. `utilisation_ratio` is the share of each
    memory's peak.
    """

    total_time_us: Floats
    avg_time_us: Floats
    self_time_us: Floats
    avg_self_time_us: Floats
    total_time_per_core_us: Floats
    dma_stall_ratio: Floats
    flop_rate_gflops: Floats
    model_flop_rate_gflops: Floats
    memory_bandwidth_gibs: Floats
    bandwidth_gibs: Mapping[MemoryLevel, Floats]
    operational_intensity: Floats
    intensity: Mapping[MemoryLevel, Floats]
    utilisation_ratio: Mapping[MemoryLevel, Floats]
    unit: I64
    unit_rate_gflops: Mapping[ComputeUnit, Floats]
    unit_utilisation_ratio: Mapping[ComputeUnit, Floats]
    bottleneck_intensity: Floats
    bound: I64
    attainable_gflops: Floats
    roofline_efficiency_ratio: Floats
    compute_efficiency_ratio: Floats
    memory_utilisation_ratio: Floats

    def by_id(self, levels: Iterable[MemoryLevel]) -> dict[str, Floats]:
        """Numeric columns by their id on the page and in exports; per memory level for `levels`."""
        levels = tuple(levels)
        return {
            "total_time_us": self.total_time_us,
            "avg_time_us": self.avg_time_us,
            "self_time_us": self.self_time_us,
            "avg_self_time_us": self.avg_self_time_us,
            "total_time_per_core_us": self.total_time_per_core_us,
            "dma_stall_ratio": self.dma_stall_ratio,
            "flop_rate_gflops": self.flop_rate_gflops,
            "model_flop_rate_gflops": self.model_flop_rate_gflops,
            **{f"{unit}_flop_rate_gflops": rate for unit, rate in self.unit_rate_gflops.items()},
            "memory_bandwidth_gibs": self.memory_bandwidth_gibs,
            **{f"{level}_bandwidth_gibs": self.bandwidth_gibs[level] for level in levels},
            "operational_intensity": self.operational_intensity,
            **{f"{level}_intensity": self.intensity[level] for level in levels},
            "bottleneck_intensity": self.bottleneck_intensity,
            "attainable_gflops": self.attainable_gflops,
            "roofline_efficiency_ratio": self.roofline_efficiency_ratio,
            "compute_efficiency_ratio": self.compute_efficiency_ratio,
            "memory_utilisation_ratio": self.memory_utilisation_ratio,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpRecords:
    """All ops, one row each, in the profile's order; the last row is IDLE.

    `saving_per_core_us` is the self time an op would save at its roof.
    """

    name: tuple[str, ...]
    category: tuple[str, ...]
    program_id: U64
    occurrences: I64
    cost: tuple[Cost, ...]
    self_time_per_core_us: Floats
    saving_per_core_us: Floats
    measures: Measures

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramPoints:
    """Total, counters, average and steps, in that order. `outlier` marks steps off the median."""

    scope: tuple[Scope, ...]
    label: tuple[str, ...]
    outlier: Bools
    measures: Measures

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """One state of the infeed/outfeed switch: listed ops by self time, and program points.

    `op` indexes `OpRecords`; the ratios are of the program's time in this state. `beyond_ops` and
    `beyond_share_ratio` are the ops past the first 1000.
    """

    include_infeed_outfeed: bool
    op: I64
    rank: I64
    self_share_ratio: Floats
    cumulative_share_ratio: Floats
    total_share_ratio: Floats
    saving_share_ratio: Floats
    total_time_us: float
    beyond_ops: int
    beyond_share_ratio: float
    program: ProgramPoints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RooflineAnalysis:
    """Everything there is to show or export of one profile on one device."""

    profile: Profile
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

    def view(self, *, include_infeed_outfeed: bool) -> View:
        """The state with or without infeed and outfeed."""
        return self.with_infeed if include_infeed_outfeed else self.without_infeed

    def roof_of_unit(self, number: int) -> int | None:
        """Place among the device's compute peaks of unit `number` (of `units`); -1 is the main.

        `None` where the device has no such peak.
        """
        if number < 0:
            return 0 if self.device.compute else None
        unit = self.units[number]
        peaks = enumerate(self.device.compute)
        return next((k for k, peak in peaks if peak.unit == unit or unit in peak.covers), None)

    def bound_label(self, code: int) -> str:
        """XProf's text for a bound code."""
        if code <= roofline.COMPUTE_BOUND:
            return ("Unknown", "Compute")[code]
        return self.levels[code - 2].label

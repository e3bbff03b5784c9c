"""Devices: what a file reports, and what the analysis computes with once peaks are resolved."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel


class DeviceKind(StrEnum):
    """Which family of accelerator a capture comes from."""

    TPU = "tpu"
    GPU = "gpu"
    CPU = "cpu"
    ACCELERATOR = "accelerator"
    UNKNOWN = "unknown"


class PeakOrigin(StrEnum):
    """Where a peak comes from; shown beside every peak.

    `PROFILE` is what the capture states, `MEASURED` what a profiler or a benchmark measured,
    `CALIBRATED` what `roofline calibrate` measured.
    """

    PROFILE = "profile"
    MEASURED = "measured"
    CATALOGUE = "catalogue"
    CALIBRATED = "calibrated"
    USER = "user"


class CountedUnits(StrEnum):
    """Compute units whose work hardware counted; the FLOPs of all others are unknown."""

    ALL = "all"
    MATRIX_ONLY = "matrix_only"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredWork:
    """Work of a program's kernels as another profiler's hardware counters measured it.

    `flop`, `unit_flop` and `traffic_bytes` (levels that were counted) are those of `time_ps`: the
    program's own time, over all cores, in the operations that have counters. `matched_kernels` of
    the `total_kernels` that the other profiler lists run in the program; `source` says where the
    counters come from. `op_bytes` are those of the main memory by row of the program's operations.
    """

    flop: int
    unit_flop: Mapping[ComputeUnit, int]
    traffic_bytes: Mapping[MemoryLevel, int]
    time_ps: int
    matched_kernels: int
    total_kernels: int
    source: str
    op_bytes: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareCounters:
    """Utilisation counted by the hardware over the whole capture, as fractions of the peak.

    `None` where the capture has no such counter. Source of the ratios: the stats
    `matrix_unit_utilization_percent` and `hbm_utilization_percent` of the host plane; of
    `measured`, the report of a kernel profiler that was uploaded beside the capture.
    """

    matrix_unit_ratio: float | None = None
    hbm_ratio: float | None = None
    measured: MeasuredWork | None = None

    @property
    def counted_units(self) -> CountedUnits:
        """The units whose FLOPs these counters count: a TPU's see its matrix unit alone."""
        if self.measured is not None:
            return CountedUnits.ALL
        matrix = self.matrix_unit_ratio
        known = matrix is not None and math.isfinite(matrix)
        return CountedUnits.MATRIX_ONLY if known else CountedUnits.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTraits:
    """Traits that tell parts of one family apart; `None` where the file does not say.

    `processor_count` is SMs, CUs or CPU cores of one device, `architecture` as the file spells it
    ("sm_90", "gfx942"), `memory_gbs` its memory's bandwidth in GB/s (1e9), `hostname` the machine's
    name, which tells a CPU. `cycles_per_ns` is processors × GHz: where a file has no more than
    this product, the two are `None`.
    """

    processor_count: int | None = None
    clock_ghz: float | None = None
    memory_bytes: int | None = None
    memory_gbs: float | None = None
    architecture: str = ""
    hostname: str = ""
    cycles_per_ns: float | None = None

    @property
    def all_cycles_per_ns(self) -> float | None:
        """Cycles of all processors in a nanosecond; `None` where the file does not say."""
        if self.processor_count and self.clock_ghz:
            return self.processor_count * self.clock_ghz
        return self.cycles_per_ns


NOT_STORED: Mapping[str, bool] = {"not_stored": True}
"""Of fields that follow from others, and hold more than values."""

LEAST_PEAK, MOST_PEAK = 1e-9, 1e12
"""In GFLOP/s or GB/s: a peak outside is a damaged one, and makes numbers that no time can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedDevice:
    """The file's words about its device, per core (TensorCore, GPU), nothing guessed.

    `bandwidth_gbs` holds only levels with a reported, non-zero peak, `unit_gflops` compute peaks
    by unit and precision; `peak_gflops` is one peak without a precision. `derivation` says, for
    "compute", a unit's or a level's key, how the importer computed a peak from other numbers of
    the file. `peak_origin` is `MEASURED` where a profiler measured these peaks, `peak_clock_ghz`
    the clock that the processors had meanwhile. `counts_cores` is false where the file does not say
    of how many cores its times are.
    """

    kind: DeviceKind
    name: str
    core_count: int
    counts_cores: bool = True
    peak_gflops: float | None = None
    unit_gflops: Mapping[ComputeUnit, float] = field(default_factory=dict)
    bandwidth_gbs: Mapping[MemoryLevel, float] = field(default_factory=dict)
    has_megacore: bool = False
    has_cmem: bool = False
    has_merged_vmem: bool = False
    counters: HardwareCounters = HardwareCounters()
    traits: DeviceTraits = DeviceTraits()
    derivation: Mapping[str, str] = field(default_factory=dict)
    peak_origin: PeakOrigin = PeakOrigin.PROFILE
    peak_clock_ghz: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sustained:
    """The shares of a peak that programs reach (0 to 1), and their source.

    `low_ratio` and `ratio` are the same where the source names one number, not a range.
    """

    low_ratio: float
    ratio: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputePeak:
    """A flat ceiling: one compute unit at one precision, in GFLOP/s per core.

    `unit` is `None` for a peak without a known precision; `id` is then "peak", else the unit's
    key. `covers` are further units that run at this peak: those that a nameless peak stands for.
    `clock_ghz` is the processors' clock that the peak belongs to, `None` where it is not known.
    """

    id: str
    label: str
    gflops: float
    origin: PeakOrigin
    source: str
    unit: ComputeUnit | None = None
    covers: tuple[ComputeUnit, ...] = ()
    clock_ghz: float | None = None
    sustained: Sustained | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPeak:
    """A slanted ceiling: one memory level, in GB/s (1e9) per core.

    `clock_ghz` is the processors' clock that the peak belongs to; `None` where that is not known,
    and for memories with a clock of their own.
    """

    level: MemoryLevel
    gbs: float
    origin: PeakOrigin
    source: str
    clock_ghz: float | None = None
    sustained: Sustained | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakComparison:
    """A peak on which the profile and the catalogue differ, both per core, and why.

    `id` is the compute peak's id, or the memory level's key; `unit` "gflops" or "gbs". `ratio` is
    profile over catalogue; both are `None` where the profile has no such peak but should.
    """

    id: str
    label: str
    unit: str
    profile: float | None
    catalogue: float
    ratio: float | None
    explanation: str


class Network(Protocol):
    """What joins devices."""

    @property
    def in_words(self) -> str:
        """Its domain and rates, and whether they were given or assumed."""

    def on_the_wire(self, kind: str, ranks: int) -> tuple[float, float] | None:
        """At most so many GB/s (1e9) of one rank's bytes in a collective of `ranks`, and at least
        so many µs of latency for each call; `None` where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device ready for analysis: peaks with their origin, main compute peak first.

    `part_id` and `part_name` say which part's published or calibrated peaks were looked up,
    `comparisons` where they differ from the profile's own. `dvfs_scale` is what peaks that follow
    the clock were multiplied by; `None` where they are those of the default clock. `network` joins
    the devices of a collective; `None` where no part tells it.
    """

    kind: DeviceKind
    name: str
    core_count: int
    compute: tuple[ComputePeak, ...]
    memory: tuple[MemoryPeak, ...]
    links: tuple[MemoryPeak, ...] = ()
    has_megacore: bool = False
    has_cmem: bool = False
    has_merged_vmem: bool = False
    counters: HardwareCounters = HardwareCounters()
    part_id: str | None = None
    part_name: str = ""
    comparisons: tuple[PeakComparison, ...] = ()
    dvfs_scale: float | None = None
    network: Network | None = field(default=None, metadata=NOT_STORED)

    @property
    def core_word(self) -> str:
        """The word for one core: TensorCore, GPU or core."""
        return {DeviceKind.TPU: "TensorCore", DeviceKind.GPU: "GPU"}.get(self.kind, "core")

    @property
    def peak_gflops(self) -> float | None:
        """The main compute peak, or `None` when unknown."""
        return self.compute[0].gflops if self.compute else None

    def memory_gbs(self, level: MemoryLevel) -> float | None:
        """Peak bandwidth of `level` in GB/s, or `None` when unknown."""
        return next((peak.gbs for peak in self.memory if peak.level == level), None)

    def link_gbs(self, link: MemoryLevel) -> float | None:
        """Peak bandwidth of `link` in GB/s, one way, or `None` when unknown."""
        return next((peak.gbs for peak in self.links if peak.level == link), None)

    def peak_of(self, unit: ComputeUnit) -> ComputePeak | None:
        """The peak that `unit` runs at, its own or one that covers it; `None` when unknown."""
        peaks = self.compute
        return next((peak for peak in peaks if peak.unit == unit or unit in peak.covers), None)

    def unit_gflops(self, unit: ComputeUnit) -> float | None:
        """Peak of `unit` in GFLOP/s, or `None` when unknown."""
        peak = self.peak_of(unit)
        return None if peak is None else peak.gflops

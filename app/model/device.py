"""Devices: what a file reports, and what the analysis computes with once peaks are resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.model.memory import MemoryLevel


class DeviceKind(StrEnum):
    """Which family of accelerator a capture comes from."""

    TPU = "tpu"
    GPU = "gpu"
    CPU = "cpu"
    UNKNOWN = "unknown"


class PeakOrigin(StrEnum):
    """Where a peak comes from; shown beside every peak."""

    PROFILE = "profile"
    CATALOGUE = "catalogue"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareCounters:
    """Utilisation counted by the hardware over the whole capture, as fractions of the peak.

    `None` where the capture has no such counter. Source: the stats
    `matrix_unit_utilization_percent` and `hbm_utilization_percent` of the host plane.
    """

    matrix_unit_ratio: float | None = None
    hbm_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedDevice:
    """What the file says about its device, per core (TensorCore, GPU), nothing guessed.

    `bandwidth_gbs` holds only levels with a reported, non-zero peak. `derivation` says, for
    "compute" or a level's key, how the importer computed a peak from other stats of the file.
    """

    kind: DeviceKind
    name: str
    core_count: int
    peak_gflops: float | None = None
    bandwidth_gbs: Mapping[MemoryLevel, float]
    has_megacore: bool = False
    has_cmem: bool = False
    has_merged_vmem: bool = False
    counters: HardwareCounters = HardwareCounters()
    derivation: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputePeak:
    """A flat ceiling: one compute unit at one precision, in GFLOP/s per core."""

    id: str
    label: str
    gflops: float
    origin: PeakOrigin
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPeak:
    """A slanted ceiling: one memory level, in GB/s (1e9) per core."""

    level: MemoryLevel
    gbs: float
    origin: PeakOrigin
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device ready for analysis: peaks with their origin, main compute peak first."""

    kind: DeviceKind
    name: str
    core_count: int
    compute: tuple[ComputePeak, ...]
    memory: tuple[MemoryPeak, ...]
    has_megacore: bool = False
    has_cmem: bool = False
    has_merged_vmem: bool = False
    counters: HardwareCounters = HardwareCounters()

    @property
    def core_word(self) -> str:
        """What one core is called: TensorCore, GPU or core."""
        return {DeviceKind.TPU: "TensorCore", DeviceKind.GPU: "GPU"}.get(self.kind, "core")

    @property
    def peak_gflops(self) -> float | None:
        """The main compute peak, or `None` when unknown."""
        return self.compute[0].gflops if self.compute else None

    def memory_gbs(self, level: MemoryLevel) -> float | None:
        """Peak bandwidth of `level` in GB/s, or `None` when unknown."""
        return next((peak.gbs for peak in self.memory if peak.level == level), None)

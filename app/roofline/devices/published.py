"""The peaks that are published or calibrated for a part, in the terms of a profile.

A profile decides how many devices it shows of one chip, and which levels its memories have.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from roofline.devices.parts import Figure, Part, PartBandwidth, PartPeak, same_hardware
from roofline.devices.peak_table import PeakTable
from roofline.model.device import ComputePeak, MemoryPeak, ReportedDevice
from roofline.model.memory import MemoryLevel, main_level

_SCRATCH = (MemoryLevel.SHARED, MemoryLevel.LDS)
_HALF_RANGE = (0.85, 1.15)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPeaks:
    """A part's peaks per device of the profile, memories by the profile's own levels."""

    part: Part
    compute: tuple[PartPeak, ...]
    memory: Mapping[MemoryLevel, PartBandwidth]

    @property
    def table(self) -> PeakTable:
        """The same as ceilings, each with its origin and source."""
        return PeakTable(
            compute=tuple(self._compute_peak(peak) for peak in self.compute),
            memory={level: self._memory_peak(level, peak) for level, peak in self.memory.items()},
        )

    def _compute_peak(self, peak: PartPeak) -> ComputePeak:
        return ComputePeak(
            id=peak.unit.value,
            label=peak.label,
            gflops=peak.gflops,
            origin=self.part.origin,
            source=self._source(peak.figure),
            unit=peak.unit,
            covers=same_hardware(self.part.kind, peak.unit),
        )

    def _memory_peak(self, level: MemoryLevel, peak: PartBandwidth) -> MemoryPeak:
        return MemoryPeak(
            level=level, gbs=peak.gbs, origin=self.part.origin, source=self._source(peak.figure)
        )

    def _source(self, figure: Figure) -> str:
        return f"{self.part.name}. {figure.text}"


def published_peaks(part: Part, reported: ReportedDevice, *, is_own: bool) -> PublishedPeaks:
    """The peaks of `part` for the devices and memory levels of the profile.

    `is_own` says that the profile ran on `part`: only then its peak tells half a chip from a whole.
    """
    devices = _devices_per_chip(part, reported) if is_own else part.devices_per_chip
    return PublishedPeaks(
        part=part,
        compute=part.compute(devices),
        memory={_own_level(one.level, reported): one for one in part.memory(devices)},
    )


def _devices_per_chip(part: Part, reported: ReportedDevice) -> int:
    """Devices that the profile shows of one chip: two where its own peak is about half a chip's."""
    if not part.may_split or not reported.peak_gflops:
        return part.devices_per_chip
    low, high = _HALF_RANGE
    half = part.compute()[0].gflops / 2
    return 2 if low <= reported.peak_gflops / half <= high else part.devices_per_chip


def _own_level(level: MemoryLevel, reported: ReportedDevice) -> MemoryLevel:
    """The level at which the profile has what the catalogue calls `level`."""
    own = reported.bandwidth_gbs
    if level.is_main:
        return main_level(own) if any(one.is_main for one in own) else level
    if level in _SCRATCH and MemoryLevel.SHARED_L1 in own:
        return MemoryLevel.SHARED_L1
    return level

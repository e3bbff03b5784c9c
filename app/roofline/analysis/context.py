"""The inputs of an analysis: profile, device, peaks, levels, and XProf's oddities or not."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from roofline.analysis import roofline
from roofline.analysis.roofline import Peaks
from roofline.model.categories import is_infeed_outfeed
from roofline.model.compute import ComputeUnit
from roofline.model.device import Device, DeviceKind
from roofline.model.memory import MemoryLevel, main_level
from roofline.model.profile import Profile
from roofline.model.units import gb_to_gib

NAN = float("nan")
_U64 = 2**64


@dataclass(frozen=True, slots=True)
class Oddities:
    """Where XProf 2.24.2 differs from what is right, each switch in one place."""

    on: bool

    @property
    def missing(self) -> float:
        """XProf shows 0 for what it does not know."""
        return 0.0 if self.on else NAN

    @property
    def cuts_before_dropping(self) -> bool:
        """XProf takes the top 1000 first and drops IDLE and infeed rows from them afterwards."""
        return self.on

    @property
    def knows_all_costs(self) -> bool:
        """XProf takes an unknown cost for zero."""
        return self.on

    @property
    def averages_no_steps(self) -> bool:
        """XProf shows an average of zeros when there is no step."""
        return self.on

    def counter(self, time_ps: int) -> int:
        """A time as a 64-bit counter: XProf's wraps below zero and above its range, ours stops."""
        return time_ps % _U64 if self.on else min(max(0, time_ps), _U64 - 1)

    def shared_memory_moves_hbm_bytes(self, device: Device) -> bool:
        """XProf takes HBM traffic for that of shared memory and L1, which were not measured."""
        return self.on and device.kind is DeviceKind.GPU

    def counted_levels(self, device: Device) -> frozenset[MemoryLevel]:
        """Levels in efficiency: XProf goes by flags that combining hosts loses, we by peaks."""
        if not self.on:
            return frozenset(peak.level for peak in device.memory)
        levels = {MemoryLevel.HBM}
        if device.has_cmem:
            levels |= {MemoryLevel.CMEM_READ, MemoryLevel.CMEM_WRITE}
        elif device.has_merged_vmem:
            levels |= {MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE}
        return frozenset(levels)


class Context(NamedTuple):
    """One analysis under way: its inputs, and the levels and units that split the work."""

    profile: Profile
    device: Device
    peaks: Peaks
    levels: tuple[MemoryLevel, ...]
    units: tuple[ComputeUnit, ...]
    oddities: Oddities

    @property
    def main_level(self) -> MemoryLevel:
        """The memory that bytes count as where they are not split by level."""
        return main_level(self.levels)

    @property
    def memories(self) -> tuple[MemoryLevel, ...]:
        """The levels that are memories of the device."""
        return tuple(level for level in self.levels if not level.is_link)

    @property
    def links(self) -> tuple[MemoryLevel, ...]:
        """The levels that are links."""
        return tuple(level for level in self.levels if level.is_link)

    @property
    def unknown_link_bound(self) -> int:
        """Bound code of a transfer whose link, or its peak, is not known."""
        return roofline.COMPUTE_BOUND + 1 + len(self.levels)

    @property
    def idle_ps(self) -> int:
        """Core-time in which no op ran."""
        return self.oddities.counter(self.profile.time_ps - self.profile.op_time_ps)

    def program_ps(self, *, include: bool) -> int:
        """The program's core-time, in the second state without its infeed and outfeed ops."""
        hosted = 0 if include else self.infeed_outfeed_ps
        return self.oddities.counter(self.profile.time_ps - hosted)

    @property
    def infeed_outfeed_ps(self) -> int:
        """Core-time of infeed and outfeed ops."""
        table = self.profile.ops
        hosted = np.array([is_infeed_outfeed(category) for category in table.category], np.bool_)
        return int(table.time_ps[hosted].sum(dtype=np.uint64))

    @property
    def has_times(self) -> bool:
        """False where the file has ops, and none of them a time."""
        known = self.profile.ops.time_known
        return bool(known.any() or not len(known))


def peaks_of(device: Device, oddities: Oddities) -> Peaks:
    """The ceilings of `device` in the page's units."""
    gibs = {peak.level: gb_to_gib(peak.gbs) for peak in device.memory}
    counted = oddities.counted_levels(device)
    return Peaks(
        gflops=device.peak_gflops or 0.0,
        unit_gflops={unit: gflops for unit in ComputeUnit if (gflops := device.unit_gflops(unit))},
        is_of_one_unit=bool(device.compute) and device.compute[0].unit is not None,
        binding_gibs=gibs,
        counted_gibs={level: value for level, value in gibs.items() if level in counted},
        link_gibs={peak.level: gb_to_gib(peak.gbs) for peak in device.links},
    )


def time_scale(profile: Profile) -> float | None:
    """Op time at the default clock over op time: below 1 where the clock was lower than that."""
    return profile.normalised_op_time_ps / profile.op_time_ps if profile.op_time_ps else None

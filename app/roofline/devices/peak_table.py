"""Peaks of one device: what one source knows, and how a second source fills the gaps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from roofline.devices.choice import PeakChoice
from roofline.model.compute import ComputeUnit
from roofline.model.device import ComputePeak, MemoryPeak, PeakOrigin
from roofline.model.memory import MemoryLevel, main_level

_BY_USER = "Set by you"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakTable:
    """Compute peaks, the main one first, and memory peaks by level."""

    compute: tuple[ComputePeak, ...] = ()
    memory: Mapping[MemoryLevel, MemoryPeak] = field(default_factory=dict)

    def or_else(self, other: "PeakTable") -> "PeakTable":
        """These peaks, then those of `other` for units and memories that have none here.

        A device has one main memory: HBM and DRAM stand for each other.
        """
        known = {unit for peak in self.compute for unit in (peak.unit, *peak.covers)}
        added = [peak for peak in other.compute if not known & {peak.unit, *peak.covers}]
        has_main = any(level.is_main for level in self.memory)
        missing = {
            level: peak for level, peak in other.memory.items() if not (has_main and level.is_main)
        }
        return PeakTable(compute=(*self.compute, *added), memory={**missing, **self.memory})

    def with_choice(self, choice: PeakChoice, levels: Sequence[MemoryLevel]) -> "PeakTable":
        """The user's peaks in place of these; `levels` are the profile's own."""
        main = main_level([*self.memory, *levels, *choice.gbs])
        memory = dict(self.memory)
        for chosen, gbs in choice.gbs.items():
            level = main if chosen.is_main else chosen
            memory[level] = MemoryPeak(
                level=level, gbs=gbs, origin=PeakOrigin.USER, source=_BY_USER
            )
        return PeakTable(compute=_with_set_rates(self.compute, choice.gflops), memory=memory)

    @property
    def memory_in_order(self) -> tuple[MemoryPeak, ...]:
        """Memory peaks from the main memory inwards."""
        return tuple(self.memory[level] for level in MemoryLevel if level in self.memory)


def _with_set_rates(
    peaks: Sequence[ComputePeak], rates: Mapping[ComputeUnit | None, float]
) -> tuple[ComputePeak, ...]:
    """`peaks` with the user's rates in place of theirs; `None` is the first."""
    result = list(peaks)
    for unit, gflops in rates.items():
        at = 0 if unit is None else _place(result, unit)
        before = result[at] if at is not None and at < len(result) else None
        mine = ComputePeak(
            id=before.id if before else (unit.value if unit else "peak"),
            label=before.label if before else (unit.label if unit else "Compute"),
            gflops=gflops,
            origin=PeakOrigin.USER,
            source=_BY_USER,
            unit=before.unit if before else unit,
            covers=before.covers if before else (),
        )
        if before is None:
            result.append(mine)
        else:
            result[result.index(before)] = mine
    return tuple(result)


def _place(peaks: Sequence[ComputePeak], unit: ComputeUnit) -> int | None:
    return next((k for k, peak in enumerate(peaks) if peak.unit == unit), None)

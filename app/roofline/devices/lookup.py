"""Which part a profile's device is, and that part's peaks as the profile would state them."""

from collections.abc import Mapping
from dataclasses import dataclass

from roofline.devices.catalogue import find
from roofline.devices.choice import THIS_MACHINE, known_part
from roofline.devices.families import resolve_family
from roofline.devices.parts import Part, PartBandwidth, PartPeak, same_hardware
from roofline.errors import BadViewError
from roofline.model.device import ComputePeak, DeviceKind, MemoryPeak, ReportedDevice
from roofline.model.memory import MemoryLevel, main_level

_SCRATCH = (MemoryLevel.SHARED, MemoryLevel.LDS)
_HALF_RANGE = (0.85, 1.15)
_NO_NAME = ("", "localhost")


@dataclass(frozen=True, slots=True)
class Lookup:
    """A part's peaks per device of the profile, memories by the profile's own levels."""

    part: Part
    compute: tuple[PartPeak, ...]
    memory: Mapping[MemoryLevel, PartBandwidth]

    def compute_peak(self, peak: PartPeak) -> ComputePeak:
        """The ceiling that `peak` of the part is."""
        return ComputePeak(
            id=peak.unit.value,
            label=peak.label,
            gflops=peak.gflops,
            origin=self.part.origin,
            source=f"{self.part.name}. {peak.figure.text}",
            unit=peak.unit,
            covers=same_hardware(self.part.kind, peak.unit),
        )

    def memory_peak(self, level: MemoryLevel, peak: PartBandwidth) -> MemoryPeak:
        """The ceiling that `peak` of the part is at the profile's `level`."""
        source = f"{self.part.name}. {peak.figure.text}"
        return MemoryPeak(level=level, gbs=peak.gbs, origin=self.part.origin, source=source)


def identify(reported: ReportedDevice) -> Part | None:
    """The catalogue's part behind a reported device: by its exact name, else by its family.

    AMD's tools name generations of their own ("MI200"); the architecture is the family, too.
    """
    traits = reported.traits
    return (
        find(reported.name)
        or resolve_family(reported.name, traits)
        or resolve_family(f"AMD GPU - {traits.architecture}", traits)
    )


def parts_of(reported: ReportedDevice, machine: Part | None) -> tuple[Part, ...]:
    """Where to look peaks up, best first: this machine, then the catalogue."""
    published = identify(reported)
    found = machine if machine is not None and _is_machine(reported, machine) else None
    return tuple(part for part in (found, published) if part is not None)


def chosen_part(part_id: str, machine: Part | None) -> Part:
    """The part that a user chose; `BadViewError` where nobody knows it."""
    if part_id != THIS_MACHINE:
        return known_part(part_id)
    if machine is None:
        raise BadViewError(
            "This machine's peaks have not been measured.", remedy="Run `roofline calibrate` first."
        )
    return machine


def look_up(part: Part, reported: ReportedDevice) -> Lookup:
    """The peaks of `part` for the devices and memory levels of the profile."""
    devices = _devices_per_chip(part, reported)
    memory = {_own_level(one.level, reported): one for one in part.memory(devices)}
    return Lookup(part, part.compute(devices), memory)


def _is_machine(reported: ReportedDevice, machine: Part) -> bool:
    """True for a CPU capture that names this machine or its model of CPU."""
    if reported.kind is not DeviceKind.CPU:
        return False
    host = reported.traits.hostname
    return (host not in _NO_NAME and host == machine.hostname) or reported.name == machine.name


def _devices_per_chip(part: Part, reported: ReportedDevice) -> int:
    """Devices that the profile shows of one chip: two where its own peak is about half a chip's."""
    if not part.may_split or part != identify(reported) or not reported.peak_gflops:
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

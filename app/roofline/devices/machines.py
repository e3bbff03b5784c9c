"""Whether two files of one upload can come from one machine: the same kind and part of device."""

from roofline.devices.lookup import identify
from roofline.devices.parts import Part
from roofline.model.device import DeviceKind, ReportedDevice

_ACCELERATORS = frozenset({DeviceKind.TPU, DeviceKind.GPU})


def differ(one: ReportedDevice, other: ReportedDevice) -> bool:
    """True where two files certainly ran on different devices: a TPU and a GPU, or two parts.

    A device that the catalogue does not know differs from no other of its kind. A host's processor
    differs from nothing: it drives the accelerators of the other files.
    """
    parts = identify(one), identify(other)
    kinds = _kind(one, parts[0]), _kind(other, parts[1])
    if not set(kinds) <= _ACCELERATORS:
        return False
    if kinds[0] is not kinds[1]:
        return True
    return None not in parts and _peaks(parts[0]) != _peaks(parts[1])


def label(reported: ReportedDevice) -> str:
    """The device's name for people: the part's, else the profile's own."""
    part = identify(reported)
    return part.name if part is not None else reported.name


def _kind(reported: ReportedDevice, part: Part | None) -> DeviceKind:
    """The kind of device; a person's table names a part, not its kind."""
    return reported.kind if part is None else part.kind


def _peaks(part: Part | None) -> object:
    """What makes a part that part in a roofline; a family name may stand for several alike."""
    if part is None:
        return None
    return (
        tuple((peak.unit, peak.gflops) for peak in part.compute()),
        tuple((one.level, one.gbs) for one in part.memory()),
    )

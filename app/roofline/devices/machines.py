"""Whether two files of one upload can come from one machine: the same kind and part of device."""

from roofline.devices.identification import catalogue_part
from roofline.devices.parts import Part
from roofline.model.device import DeviceKind, ReportedDevice

_ACCELERATORS = frozenset({DeviceKind.TPU, DeviceKind.GPU})


def differ(one: ReportedDevice, other: ReportedDevice) -> bool:
    """True where two files certainly ran on different devices: a TPU and a GPU, or two parts.

    A device that the catalogue does not know differs from no other of its kind. A host's processor
    differs from nothing: it drives the accelerators of the other files.
    """
    part, other_part = catalogue_part(one), catalogue_part(other)
    kinds = _kind(one, part), _kind(other, other_part)
    if not set(kinds) <= _ACCELERATORS:
        return False
    if kinds[0] is not kinds[1]:
        return True
    # A family name may stand for several parts that are alike.
    return part is not None and other_part is not None and part.roofs != other_part.roofs


def label(reported: ReportedDevice) -> str:
    """The device's name for people: the part's, else the profile's own."""
    part = catalogue_part(reported)
    return part.name if part is not None else reported.name


def _kind(reported: ReportedDevice, part: Part | None) -> DeviceKind:
    """The kind of device; a person's table names a part, not its kind."""
    return reported.kind if part is None else part.kind

"""Which part a profile's device is: by its name, by its family, or as this machine's CPU; and
whether two files of one upload can come from one machine.
"""

from roofline.devices.catalogue import find
from roofline.devices.choice import THIS_MACHINE, known_part
from roofline.devices.families import resolve_family, resolve_shared_name
from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.model.device import DeviceKind, ReportedDevice

_NO_NAME = ("", "localhost")


def catalogue_part(reported: ReportedDevice) -> Part | None:
    """The catalogue's part that a reported device is: by its name, else by its family.

    AMD's tools name generations of their own ("MI200"); the architecture is the family, too.
    """
    traits = reported.traits
    return (
        find(reported.name)
        or resolve_shared_name(reported.name, traits)
        or resolve_family(reported.name, traits)
        or resolve_family(f"AMD GPU - {traits.architecture}", traits)
    )


def is_this_machine(reported: ReportedDevice, machine: Part) -> bool:
    """True for a CPU capture that names this machine or its model of CPU."""
    if reported.kind is not DeviceKind.CPU:
        return False
    host = reported.traits.hostname
    return (host not in _NO_NAME and host == machine.hostname) or reported.name == machine.name


def chosen_part(part_id: str, machine: Part | None) -> Part:
    """The part that a user chose; `BadViewError` where there is none of that name."""
    if part_id != THIS_MACHINE:
        return known_part(part_id)
    if machine is None:
        raise BadViewError(
            "This machine's peaks have not been measured.", remedy="Run `roofline calibrate` first."
        )
    return machine


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

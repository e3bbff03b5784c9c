"""Which part a profile's device is: by its name, by its family, or as this machine's CPU."""

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

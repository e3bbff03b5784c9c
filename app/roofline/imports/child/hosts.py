"""Results of each host of a profile are stored, so that one of them can be shown alone later."""

from roofline.analysis.one_host import hosts_alone, of_host
from roofline.analysis.time_range import to_analyse_again
from roofline.devices import resolve
from roofline.devices.this_machine import read_machine
from roofline.model.profile import Profile
from roofline.model.stored import stored


def hosts_to_store(profile: Profile) -> bytes:
    """Name, profile and device of each host that can be shown alone."""
    machine = read_machine()
    found = [(name, of_host(profile, name)) for name in hosts_alone(profile)]
    return stored(
        tuple(
            (name, to_analyse_again(one), resolve(one.device, machine=machine))
            for name, one in found
        )
    )

"""Names by which the hosts of one profile are told apart."""

from collections import Counter
from collections.abc import Sequence

from roofline.model.profile import Profile


def host_names(profiles: Sequence[Profile]) -> tuple[str, ...]:
    """A name per profile, each of one host: its host's, its file's where that is not known or not
    alone, and its place behind it where two files are called the same."""
    hosts = [profile.hosts[0] for profile in profiles]
    counted = Counter(host.hostname for host in hosts)
    names = [
        host.hostname if host.hostname and counted[host.hostname] == 1 else host.file_name
        for host in hosts
    ]
    again = Counter(names)
    return tuple(
        name if again[name] == 1 else f"{name} {place + 1}" for place, name in enumerate(names)
    )

"""The profile of one host of several: what its file alone says."""

from collections.abc import Sequence
from dataclasses import replace

from roofline.errors import NoSuchRangeError
from roofline.model.notes import noted, notes_beside
from roofline.model.profile import Host, Profile

_NOTES = notes_beside(__file__)

_NAMES_SHOWN = 10

MOST_HOSTS = 64
"""Of which each can be shown alone on a server; a larger program is a run of hosts."""


def hosts_alone(profile: Profile) -> tuple[str, ...]:
    """The hosts that can be shown alone; empty where there is one, or too many to keep."""
    return profile.all_hosts if 1 < len(profile.all_hosts) <= MOST_HOSTS else ()


def files_of_host(profile: Profile, name: str) -> frozenset[str] | None:
    """The files to read for the host of this name alone, with those that only describe work.

    `None` where the profile keeps its hosts, or has no other. A machine's name stands for all of
    its ranks. Raises `NoSuchRangeError` for a name that no host has.
    """
    if profile.by_host:
        return None
    working = [host for host in profile.hosts if host.core_count] or list(profile.hosts)
    chosen = [host for host in working if name in _names(host)]
    if not chosen:
        raise _no_host(name, names_of_hosts(profile))
    if len(chosen) == len(working):
        return None
    left_out = {host.file_name for host in working} - {host.file_name for host in chosen}
    files = {host.file_name for host in profile.hosts} - left_out
    if len(left_out) != len(working) - len(chosen):
        raise NoSuchRangeError(
            f"Files of “{name[:200]}” and of other hosts have the same name.",
            remedy="Open the file of the host alone.",
        )
    return frozenset(files)


def names_of_hosts(profile: Profile) -> tuple[str, ...]:
    """The names by which hosts can be shown alone: of machines, and of ranks that share one."""
    if profile.all_hosts:
        return profile.all_hosts
    working = [host for host in profile.hosts if host.core_count] or list(profile.hosts)
    machines = [host.hostname or host.file_name for host in working]
    shared = {name for name in machines if machines.count(name) > 1}
    ranks = [
        f"rank {host.rank}"
        for host, name in zip(working, machines, strict=True)
        if name in shared and host.rank is not None
    ]
    return tuple(dict.fromkeys([*machines, *ranks]))


def of_host(profile: Profile, name: str) -> Profile:
    """The profile of the host of this name, with a note that says so.

    The only host of a profile may be named, too. Raises `NoSuchRangeError` for any other name.
    """
    if not profile.by_host:
        files_of_host(profile, name)
        return profile
    names = profile.all_hosts
    if name not in names:
        raise _no_host(name, names)
    return alone(profile.by_host[names.index(name)], profile, name)


def alone(found: Profile, whole: Profile, name: str) -> Profile:
    """`found`, the profile of the host `name` of `whole`, with a note that says so."""
    names = names_of_hosts(whole)
    note = noted(_NOTES, "one-host", name=name, hosts=len(names))
    return replace(
        found,
        format_id=whole.format_id,
        format_label=whole.format_label,
        diagnostics=(note, *found.diagnostics),
        host=name,
        all_hosts=names,
    )


def _names(host: Host) -> set[str]:
    return {host.hostname, host.file_name, "" if host.rank is None else f"rank {host.rank}"} - {""}


def _no_host(name: str, names: Sequence[str]) -> NoSuchRangeError:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return NoSuchRangeError(
        f"The profile has no host “{name[:200]}”.",
        remedy=f"Its hosts are: {', '.join(names[:_NAMES_SHOWN])}{more}.",
    )

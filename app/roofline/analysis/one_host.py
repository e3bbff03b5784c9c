"""The profile of one host of several: what its file alone says."""

from dataclasses import replace

from roofline.errors import NoSuchRangeError
from roofline.model.profile import Diagnostic, Profile, Severity

_NAMES_SHOWN = 10

MOST_HOSTS = 64
"""Of which each can be shown alone on a server; a larger program is a run of hosts."""


def hosts_alone(profile: Profile) -> tuple[str, ...]:
    """The hosts that can be shown alone; empty where there is one, or too many to keep."""
    return profile.all_hosts if 1 < len(profile.all_hosts) <= MOST_HOSTS else ()


def of_host(profile: Profile, name: str) -> Profile:
    """The profile of the host of this name, with a note that says so.

    The only host of a profile may be named, too. Raises `NoSuchRangeError` for any other name.
    """
    names = profile.all_hosts
    if not profile.by_host and name in {one.hostname or one.file_name for one in profile.hosts}:
        if len(profile.hosts) == 1:
            return profile
        raise NoSuchRangeError(
            "The hosts of this format are read together, so one of them cannot be shown alone.",
            remedy="Open the file of the host alone.",
        )
    if name not in names:
        known = names or tuple(one.hostname or one.file_name for one in profile.hosts)
        more = f" and {len(known) - _NAMES_SHOWN} more" if len(known) > _NAMES_SHOWN else ""
        raise NoSuchRangeError(
            f"The profile has no host “{name[:200]}”.",
            remedy=f"Its hosts are: {', '.join(known[:_NAMES_SHOWN])}{more}.",
        )
    found = profile.by_host[names.index(name)]
    note = Diagnostic(
        severity=Severity.INFO,
        code="one-host",
        message=f"All numbers are of the host {name}, one of {len(names)}.",
    )
    return replace(
        found,
        format_id=profile.format_id,
        format_label=profile.format_label,
        diagnostics=(note, *found.diagnostics),
        host=name,
        all_hosts=names,
    )

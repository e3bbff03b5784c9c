"""The isolation of processes that read untrusted files: no network, no secrets.

The network is given up where the system allows it (Linux with user namespaces, or with the right
to make network namespaces); elsewhere the host must separate it, see docs/operations.md.
"""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

from roofline import process_environment

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of sched.h
# Nothing else is needed to read a file; credentials of databases and object stores least of all.
_KEPT = frozenset({"HOME", "LANG", "PATH", "ROOFLINE_DATA_DIR", "TMPDIR", "TZ"})
_KEPT_PREFIXES = ("LC_", "NUMBA_", "OMP_", "OPENBLAS_", "PYTHON", "XDG_")


def forget_environment() -> None:
    """Drops every variable of this process but those that reading files may need."""
    process_environment.forget(os.environ.keys() - needed_environment().keys())


def needed_environment() -> dict[str, str]:
    """The variables of this process that reading files may need: what a program is started with
    that reads them."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }


def give_up_network() -> bool:
    """Moves this process, and all it starts, to a network without any other; false if it may not.

    Only while it has a single thread.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None)
    user, group = os.getuid(), os.getgid()
    if user == 0:
        # In a user namespace root would lose its right to files that are not its own.
        return bool(libc.unshare(_NEW_NETWORK) == 0)
    if libc.unshare(_NEW_USER | _NEW_NETWORK) != 0:
        return False
    with contextlib.suppress(OSError):  # without it, this process sees itself as the user `nobody`
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True

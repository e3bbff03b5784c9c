"""Takes secrets out of the environment of this process, also out of what others can read of it.

The system shows the variables that a process was started with in `/proc/PID/environ`, for its whole
life and to every process of the same user: a child that reads strangers' files is one. Deleting
a variable from `os.environ` does not change that memory, so its value is overwritten there.
"""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

# Variables that object stores, PostgreSQL and Google's library read by themselves.
SECRETS_OF_LIBRARIES = ("AWS_", "AZURE_", "GOOGLE_", "PG")
# Fields of /proc/self/stat after the program's name, see proc(5): where the variables lie.
_STARTS_AT, _ENDS_AT = 47, 48


def forget(names: Iterable[str]) -> None:
    """Deletes these variables; their values cannot be read afterwards."""
    wanted = set(names)
    for name in wanted:
        os.environ.pop(name, None)
    _overwrite(wanted)


def hide_secrets_of_libraries() -> None:
    """Keeps them for this process and the programs it starts, and hides their values."""
    found = {
        name: text for name, text in os.environ.items() if name.startswith(SECRETS_OF_LIBRARIES)
    }
    os.environ.update(found)  # now in memory of our own
    _overwrite(set(found))


def _overwrite(names: set[str]) -> None:
    """Overwrites the values in the memory that the system shows; on Linux only."""
    start, end = _place()
    if not start:
        return
    # Read from the system, not from memory, so that a wrong place is not touched.
    block = Path("/proc/self/environ").read_bytes()
    if len(block) != end - start:
        return
    at = start
    for entry in block.split(b"\0"):
        name, found, value = entry.partition(b"=")
        if found and os.fsdecode(name) in names:
            ctypes.memset(at + len(name) + 1, ord("-"), len(value))
        at += len(entry) + 1


def _place() -> tuple[int, int]:
    """The first address of the variables, and the one after the last; zeros if unknown."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    return int(fields[_STARTS_AT]), int(fields[_ENDS_AT])

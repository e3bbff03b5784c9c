"""Limits of processes that read strangers' files: memory, processor time, file sizes, no network.

The network is given up where the system allows it (Linux with user namespaces, or with the right
to make network namespaces); elsewhere the host must separate it, see docs/operations.md.
"""

import contextlib
import ctypes
import errno
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from roofline.errors import (
    ImportStoppedError,
    RooflineError,
    StorageFullError,
    UploadTooLargeError,
)
from roofline.model.outer_limits import ImportLimits, OuterLimits
from roofline.model.units import GIB

# Where processors are short, people who look at pages come first; an idle machine is as quick.
_NICENESS = 5
_HARD_CPU_S = 5  # after the soft limit
_SHORTEST_S = 0.01  # a timer of 0 s never ends
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of sched.h
# Nothing else is needed to read a file; credentials of databases and object stores least of all.
_KEPT = frozenset({"HOME", "LANG", "PATH", "ROOFLINE_DATA_DIR", "TMPDIR", "TZ"})
_KEPT_PREFIXES = ("LC_", "NUMBA_", "OMP_", "OPENBLAS_", "PYTHON", "XDG_")


def give_way() -> None:
    """Lets pages of the server go before this process and its children."""
    os.nice(_NICENESS)


def limit_process(limits: ImportLimits, file_bytes: int) -> None:
    """Puts this process under `limits`, with address space for `file_bytes` of mapped files."""
    # The soft limit sends SIGXCPU, which ends us with a reason. Code that has taken over can raise
    # soft limits, and no hard one. Unpacked files are mapped, too.
    limit_memory(limits, file_bytes, rises=limits.max_unpacked_bytes)
    _set_soft(resource.RLIMIT_CPU, limits.cpu_seconds, rises=_HARD_CPU_S)
    _set_soft(resource.RLIMIT_CORE, 0, rises=0)
    _set_soft(resource.RLIMIT_FSIZE, limits.max_unpacked_bytes, rises=0)


def limit_memory(limits: ImportLimits, file_bytes: int, *, rises: int | None = None) -> None:
    """Limits address space anew: mapped files count, and unpacking makes more of them.

    It can rise by so much afterwards; without `rises`, as far as before.
    """
    # Libraries and compiled kernels, which were mapped before the import, do not count.
    _set_soft(resource.RLIMIT_AS, _held_bytes() + limits.memory_bytes + file_bytes, rises=rises)


@contextmanager
def within(limits: OuterLimits) -> Iterator[None]:
    """This process under limits of memory and processor time for a while, from the main thread.

    Raises `MemoryError`, and `TimeoutError` where the processor time is over.
    """
    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGPROF, _over)
    try:
        # RLIMIT_CPU counts from the start of the process, by ticks: it is late in an old one.
        signal.setitimer(signal.ITIMER_PROF, max(limits.cpu_seconds, _SHORTEST_S))
        _set_soft(resource.RLIMIT_AS, _held_bytes() + limits.memory_bytes)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGPROF, handler)


def _over(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError


def out_of_memory(limits: ImportLimits) -> ImportStoppedError:
    """The error of an import that reaches its memory limit."""
    return ImportStoppedError(
        f"The import needs more than {limits.memory_bytes / GIB:,.3g} GiB of memory.",
        remedy="Capture fewer steps, or raise ROOFLINE_IMPORT_MEMORY_BYTES.",
    )


def ended(
    what: str, exit_code: int | None, limits: ImportLimits, *, is_slow: bool, guess: str = ""
) -> ImportStoppedError:
    """The error of work (`what` it is, as a subject) whose child ended without an answer.

    `exit_code` is as in `subprocess`; `None` where the child sent something else than messages. A
    `guess` at why the system ended it follows the signal's name.
    """
    if is_slow:
        return ImportStoppedError(
            f"{what} took longer than {limits.wall_seconds:,.0f} s and was stopped.",
            remedy="Capture fewer steps or upload fewer hosts, or raise"
            " ROOFLINE_IMPORT_WALL_SECONDS.",
        )
    if exit_code == -signal.SIGXCPU:
        return ImportStoppedError(
            f"{what} used more than {limits.cpu_seconds:,} s of processor time.",
            remedy="Capture fewer steps, or raise ROOFLINE_IMPORT_CPU_SECONDS.",
        )
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        return ImportStoppedError(
            f"{what} was ended by the operating system ({name}){guess}.",
            remedy="Try again, or capture fewer steps; the file itself was not judged.",
        )
    return ImportStoppedError(
        f"{what} ended unexpectedly (exit status {exit_code}).",
        remedy="The server's log says why. Please report it together with the file.",
    )


def system_fault(error: OSError, limits: ImportLimits) -> RooflineError:
    """`error` in the user's words if it is about a limit; anything else is raised again."""
    if error.errno == errno.ENOMEM:  # mmap says so instead of raising MemoryError
        return out_of_memory(limits)
    if error.errno == errno.EFBIG:  # the limit that `limit_process` sets
        return UploadTooLargeError(
            f"The import writes a file of more than {limits.max_unpacked_bytes / GIB:,.3g} GiB.",
            remedy="Upload fewer hosts at once, or raise ROOFLINE_MAX_UNPACKED_BYTES.",
        )
    if error.errno in _FULL:
        return StorageFullError(
            "The server's disk is full.",
            remedy="Delete profiles that are no longer needed, or free space on the server's disk.",
        )
    raise error


def _held_bytes() -> int:
    """Address space of this process, in bytes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _set_soft(which: int, value: int, *, rises: int | None = None) -> None:
    unlimited = resource.RLIM_INFINITY
    known = (resource.getrlimit(which)[1], unlimited if rises is None else value + rises)
    hard = min((one for one in known if one != unlimited), default=unlimited)
    resource.setrlimit(which, (value if hard == unlimited else min(value, hard), hard))


def needed_environment() -> dict[str, str]:
    """The variables of this process that reading files may need: a program that reads them gets no
    others."""
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

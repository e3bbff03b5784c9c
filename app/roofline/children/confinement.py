"""What the code in a child may do besides computing: read its files, write its folder, and answer.

A file may take over the code that reads it. Such a child has no new privileges, sees no other file
(Landlock, Linux 5.13 and later), and starts, signals or traces no process, opens no socket and
changes no rights (seccomp). Neither needs a right of this process, so both work in containers.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2  # of prctl.h and seccomp.h
_MAKE_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446  # Landlock's calls, on every architecture

# Landlock's rights on files: of linux/landlock.h, in the order of its versions.
_READ_FILE, _READ_FOLDER, _TRUNCATE = 1 << 2, 1 << 3, 1 << 14
_WRITE_FILE, _REMOVE_FOLDER, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE_FOLDER, _MAKE_FILE, _REFER = 1 << 7, 1 << 8, 1 << 13
_READ = _READ_FILE | _READ_FOLDER
_WRITE = (
    _READ | _WRITE_FILE | _REMOVE_FOLDER | _REMOVE_FILE | _MAKE_FOLDER | _MAKE_FILE
    | _REFER | _TRUNCATE
)  # fmt: skip
_OF_FILES = 1 | _READ_FILE | _WRITE_FILE | _TRUNCATE
# How many of the rights, counted from bit 0, each version of Landlock knows.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_NEWEST_RIGHTS = 16
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals
_O_PATH = getattr(os, "O_PATH", 0)

# Besides its files, a child reads code, time zones, and facts about itself and the processor.
_SYSTEM = (
    "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime",
    "/dev/urandom", "/dev/zero", "/proc/self", "/sys/devices/system/cpu",
)  # fmt: skip

# Numbers of calls by architecture; 0 where it has none. Each gets EPERM.
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_COLUMN = {"x86_64": 0, "aarch64": 1}
_DENIED = {
    "socket": (41, 198), "socketpair": (53, 199), "bind": (49, 200), "connect": (42, 203),
    "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242),
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, 0), "vfork": (58, 0),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "setpriority": (141, 140),
    "chmod": (90, 0), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, 0), "fchown": (93, 55), "lchown": (94, 0), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "mknod": (133, 0), "mknodat": (259, 33), "chroot": (161, 51), "pivot_root": (155, 41),
    "mount": (165, 40), "umount2": (166, 39), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsmount": (432, 432),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "iopl": (172, 0), "ioperm": (173, 0), "syslog": (103, 116), "acct": (163, 89),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "quotactl": (179, 60),
}  # fmt: skip
_CLONE, _CLONE3 = (56, 220), 435
_THREAD = 0x00010000  # CLONE_THREAD: a thread, not a process
# With the child's own number as their first argument; `prlimit` with 0, too.
_OF_ITSELF = {"kill": (62, 129), "tgkill": (234, 131), "tkill": (200, 130), "prlimit": (302, 261)}

# Instructions of the filter (linux/bpf_common.h), and its answers.
_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16  # where the call's data are


def missing() -> tuple[str, ...]:
    """What this system lacks for `confine`, in words."""
    found = []
    if _landlock_version() < 1:
        found.append("Landlock (imports can read files of the server's user)")
    if _architecture() is None:
        found.append("a filter of system calls (imports can start processes and open sockets)")
    return tuple(found)


def confine(reads: Iterable[str], writes: str) -> None:
    """From now on this process reads `reads` and its own code, and writes below `writes`.

    What `missing` names is left out. Raises `OSError` where the system refuses the rest. Only while
    the process has one thread.
    """
    if not sys.platform.startswith("linux"):
        return
    _checked(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    if _landlock_version() >= 1:
        _restrict_files(reads, writes)
    architecture = _architecture()
    if architecture is not None:
        program = b"".join(_filter(architecture, os.getpid()))
        steps = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
        _checked(_libc().prctl(_SECCOMP, _FILTER, header, 0, 0))


def _restrict_files(reads: Iterable[str], writes: str) -> None:
    version = _landlock_version()
    known = (1 << _RIGHTS.get(version, _NEWEST_RIGHTS)) - 1
    fields = (known, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _checked(_libc().syscall(_MAKE_RULESET, struct.pack("QQQ", *fields), size, 0))
    try:
        for place in (*_code(), *_SYSTEM, *reads):
            _allow(rules, place, _READ & known)
        _allow(rules, os.devnull, (_READ | _WRITE_FILE) & known)
        _allow(rules, writes, _WRITE & known)
        _checked(_libc().syscall(_RESTRICT, rules, 0))
    finally:
        os.close(rules)


def _allow(rules: int, place: str, rights: int) -> None:
    """Adds a rule for all below `place`, or for that file; nothing where it does not exist."""
    try:
        opened = os.open(place, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = rights if os.path.isdir(place) else rights & _OF_FILES
        rule = struct.pack("=Qi", rights, opened)
        _checked(_libc().syscall(_ADD_RULE, rules, 1, rule, 0))
    finally:
        os.close(opened)


def _code() -> tuple[str, ...]:
    """Where Python, its packages, our code and compiled kernels are."""
    kernels = os.environ.get("NUMBA_CACHE_DIR", "")
    return sys.prefix, sys.base_prefix, str(Path(__file__).parents[1]), kernels


def _filter(architecture: str, own: int) -> Iterator[bytes]:
    """The instructions of the seccomp filter of the process with the number `own`."""
    column = _COLUMN[architecture]
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, _AUDIT[architecture], skip_if=1)
    yield _step(_RETURN, _KILL)  # calls of a 32-bit program, whose numbers are others
    yield _step(_LOAD, _NUMBER)
    if architecture == "x86_64":
        yield _step(_AT_LEAST, _X32, skip_else=1)
        yield _step(_RETURN, _KILL)
    for numbers in _DENIED.values():
        if numbers[column]:
            yield from _answer(numbers[column], [_step(_RETURN, _FAIL | errno.EPERM)])
    # The C library then makes threads with `clone`, whose flags a filter can read.
    yield from _answer(_CLONE3, [_step(_RETURN, _FAIL | errno.ENOSYS)])
    yield from _answer(_CLONE[column], [
        _step(_LOAD, _FIRST),
        _step(_HAS_BITS, _THREAD, skip_if=1),
        _step(_RETURN, _FAIL | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ])  # fmt: skip
    for name, numbers in _OF_ITSELF.items():
        other = own if name != "prlimit" else 0
        yield from _answer(numbers[column], [
            _step(_LOAD, _FIRST),
            _step(_EQUAL, own, skip_if=2),
            _step(_EQUAL, other, skip_if=1),
            _step(_RETURN, _FAIL | errno.EPERM),
            _step(_RETURN, _ALLOW),
        ])  # fmt: skip
    yield _step(_RETURN, _ALLOW)


def _answer(number: int, steps: list[bytes]) -> Iterator[bytes]:
    """The `steps` for the call `number`; the next instruction for others."""
    yield _step(_EQUAL, number, skip_else=len(steps))
    yield from steps


def _step(code: int, value: int, *, skip_if: int = 0, skip_else: int = 0) -> bytes:
    return struct.pack("HBBI", code, skip_if, skip_else, value)


def _architecture() -> str | None:
    """The name of this one; `None` where the filter does not know its calls."""
    machine = platform.machine()
    is_known = sys.platform.startswith("linux") and machine in _AUDIT
    return machine if is_known and sys.maxsize > 1 << 32 else None


def _landlock_version() -> int:
    """Landlock's version; 0 or below where the kernel has none, or it is turned off."""
    if not sys.platform.startswith("linux"):
        return 0
    found: int = _libc().syscall(_MAKE_RULESET, None, 0, 1)
    return found


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result

"""What the code in a child may do besides computing: read its files, write its folder, and answer.

A file may take over the code that reads it. Such a child has no new privileges, sees no other file
(Landlock, Linux 5.13 and later), and has the system calls of reading and computing alone: it
starts, signals or traces no process, opens no socket, watches and changes no other file (seccomp).
Nothing of that needs a right of this process, so it works in containers; root gives up its rights.
"""

import ctypes
import errno
import json
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2  # of prctl.h and seccomp.h
_CAPABILITIES, _READ_ALL = 0x20080522, 1 << 1  # of capability.h: version 3, and DAC_OVERRIDE
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
_EXECUTE = 1
_OF_FILES = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
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

_PROGRAMS = ("/bin", "/sbin")  # where they are not links to those of /usr

# Calls, and their numbers on x86-64 and aarch64; -1 where there is none. A child has no others.
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_COLUMN = {"x86_64": 0, "aarch64": 1}
_ALLOWED = """
    read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
    pwritev 296 70, preadv2 327 286, pwritev2 328 287, open 2 -1, openat 257 56, close 3 57,
    close_range 436 436, lseek 8 62, stat 4 -1, lstat 6 -1, fstat 5 80, newfstatat 262 79,
    statx 332 291, statfs 137 43, fstatfs 138 44, access 21 -1, faccessat 269 48,
    faccessat2 439 439, readlink 89 -1, readlinkat 267 78, getdents64 217 61, getcwd 79 17,
    chdir 80 49, fchdir 81 50, mkdir 83 -1, mkdirat 258 34, rmdir 84 -1, unlink 87 -1,
    unlinkat 263 35, rename 82 -1, renameat 264 38, renameat2 316 276, ftruncate 77 46,
    fallocate 285 47, fsync 74 82, fdatasync 75 83, fadvise64 221 223, dup 32 23, dup2 33 -1,
    dup3 292 24, pipe 22 -1, pipe2 293 59, umask 95 166, sendfile 40 71, copy_file_range 326 285,
    mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233, msync 26 227,
    mincore 27 232, brk 12 214, memfd_create 319 279, get_mempolicy 239 236, membarrier 324 283,
    clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169, time 201 -1,
    nanosleep 35 101, clock_nanosleep 230 115, setitimer 38 103, getitimer 36 102, times 100 153,
    poll 7 -1, ppoll 271 73, select 23 -1, pselect6 270 72, epoll_create1 291 20, epoll_ctl 233 21,
    epoll_wait 232 -1, epoll_pwait 281 22, eventfd2 290 19, rt_sigaction 13 134,
    rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137,
    rt_sigsuspend 130 133, sigaltstack 131 132, restart_syscall 219 128, futex 202 98,
    set_robust_list 273 99, set_tid_address 218 96, rseq 334 293, sched_yield 24 124,
    sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120, exit 60 93,
    exit_group 231 94, arch_prctl 158 -1, getrandom 318 278, getcpu 309 168, getpid 39 172,
    gettid 186 178, getppid 110 173, getuid 102 174, geteuid 107 175, getgid 104 176,
    getegid 108 177, getpgrp 111 -1, uname 63 160, sysinfo 99 179, getrusage 98 165,
    getrlimit 97 163, setrlimit 160 164
"""
# Calls that a child has with these values of one argument alone, which stands at this place: locks
# and copies of open files, what a terminal is asked, names of threads and of memory, and itself.
_OWN = -1  # the child's own number
_WITH = {
    "fcntl": ((72, 25), 1, (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)),
    "ioctl": ((16, 29), 1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    "prctl": ((157, 167), 0, (15, 16, 0x53564D41)),
    "kill": ((62, 129), 0, (_OWN,)), "tgkill": ((234, 131), 0, (_OWN,)),
    "tkill": ((200, 130), 0, (_OWN,)), "prlimit": ((302, 261), 0, (_OWN, 0)),
}  # fmt: skip
# Calls that a program which starts others has not: sockets, of which Landlock leaves out those with
# a path, signals to others, and the memory of others.
_REFUSED = (
    (41, 198), (62, 129), (200, 130), (234, 131), (129, 138), (297, 240), (101, 117), (310, 270),
    (311, 271),
)  # fmt: skip
_CLONE = (56, 220)
_THREAD = 0x00010000  # CLONE_THREAD: a thread, not a process
# Of calls since Linux 5.1: C libraries do without them where a system says that it has none.
_NEW_CALLS = 424

# Instructions of the filter (linux/bpf_common.h), and its answers.
_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where the call's data are


def start_confined() -> None:
    """Become the program of the last arguments of this process, confined as the first, JSON, says.

    It has its limits and no network. Exits where the system cannot keep files from it.
    """
    from roofline.children.sandbox import give_up_network, limit_process
    from roofline.model.outer_limits import ImportLimits

    said, *command = sys.argv[1:]
    asked = json.loads(said)
    if missing():
        sys.exit(f"this system lacks {missing()[0]}: no program is started here.")
    give_up_network()
    limit_process(ImportLimits(**asked["limits"]), asked["size_bytes"])
    own = Path(command[0]).resolve()
    # Programs with libraries of their own: PLACE/bin/nsys, PLACE/target-linux-x64/nsys.
    is_part = own.parent.name == "bin" or own.parent.name.startswith("target-")
    confine([asked["reads"]], asked["writes"], [str(own.parents[1 if is_part else 0])])
    os.execv(own, command)


def missing() -> tuple[str, ...]:
    """What this system lacks for `confine`, in words."""
    found = []
    if _landlock_version() < 1:
        found.append("Landlock (imports can read files of the server's user)")
    if _architecture() is None:
        found.append("a filter of system calls (imports can start processes and open sockets)")
    return tuple(found)


def confine(reads: Iterable[str], writes: str, runs: Sequence[str] = ()) -> None:
    """From now on this process reads `reads` and its own code, and writes below `writes`.

    With `runs` it starts programs that lie below these and the system's, which have other calls.
    What `missing` names is left out. Raises `OSError` where the system refuses the rest. Only while
    the process has one thread.
    """
    if not sys.platform.startswith("linux"):
        return
    _checked(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    if _landlock_version() >= 1:
        _restrict_files(reads, writes, runs)
    _give_up_capabilities()
    architecture = _architecture()
    if architecture is not None:
        program = b"".join(_filter(architecture, os.getpid(), starts=bool(runs)))
        steps = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
        _checked(_libc().prctl(_SECCOMP, _FILTER, header, 0, 0))


def _give_up_capabilities() -> None:
    """Those of root: it sets no clock, and raises no limit. Files may be another user's."""
    for kept in (_READ_ALL, 0):
        header, sets = struct.pack("Ii", _CAPABILITIES, 0), struct.pack("6I", kept, kept, *[0] * 4)
        if _libc().capset(header, sets) == 0:
            return
    raise OSError(ctypes.get_errno(), "capset")


def _restrict_files(reads: Iterable[str], writes: str, runs: Sequence[str]) -> None:
    version = _landlock_version()
    known = (1 << _RIGHTS.get(version, _NEWEST_RIGHTS)) - 1
    fields = (known, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _checked(_libc().syscall(_MAKE_RULESET, struct.pack("QQQ", *fields), size, 0))
    try:
        for place in (*_code(), *_SYSTEM, *reads):
            _allow(rules, place, _READ & known)
        for place in (*_SYSTEM, *_PROGRAMS, *runs) if runs else ():
            _allow(rules, place, _READ | _EXECUTE)
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


def _filter(architecture: str, own: int, *, starts: bool = False) -> Iterator[bytes]:
    """The instructions of the seccomp filter of the process with the number `own`, which starts
    programs or does not."""
    column = _COLUMN[architecture]
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, _AUDIT[architecture], skip_if=1)
    yield _step(_RETURN, _KILL)  # calls of a 32-bit program, whose numbers are others
    yield _step(_LOAD, _NUMBER)
    if architecture == "x86_64":
        yield _step(_AT_LEAST, _X32, skip_else=1)
        yield _step(_RETURN, _KILL)
    if starts:
        for numbers in _REFUSED:
            yield from _answer(numbers[column], [_step(_RETURN, _FAIL | errno.EPERM)])
        yield _step(_AT_LEAST, _NEW_CALLS, skip_else=1)
        yield _step(_RETURN, _FAIL | errno.ENOSYS)
        yield _step(_RETURN, _ALLOW)
        return
    for call in _ALLOWED.split(","):
        if (number := int(call.split()[1 + column])) >= 0:
            yield from _answer(number, [_step(_RETURN, _ALLOW)])
    yield from _answer(_CLONE[column], [
        _step(_LOAD, _ARGUMENTS),
        _step(_HAS_BITS, _THREAD, skip_else=1),
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _FAIL | errno.EPERM),
    ])  # fmt: skip
    for numbers, place, values in _WITH.values():
        known = [own if value == _OWN else value for value in values]
        yield from _with(numbers[column], place, known)
    # The C library then makes threads with `clone`, whose flags a filter can read.
    yield _step(_AT_LEAST, _NEW_CALLS, skip_else=1)
    yield _step(_RETURN, _FAIL | errno.ENOSYS)
    yield _step(_RETURN, _FAIL | errno.EPERM)


def _with(number: int, place: int, values: Sequence[int]) -> Iterator[bytes]:
    """Allows the call `number` where its argument at `place` is one of `values`."""
    yield from _answer(number, [
        _step(_LOAD, _ARGUMENTS + 8 * place),
        *(_step(_EQUAL, value, skip_if=len(values) - at) for at, value in enumerate(values)),
        _step(_RETURN, _FAIL | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ])  # fmt: skip


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

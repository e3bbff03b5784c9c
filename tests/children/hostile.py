"""Code that has taken over a child: it tries what the child must not do, and says what it got.

The server that it attacks is a process that sleeps, so that nothing is lost where it succeeds.
"""

import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from roofline.children.messages import Body, Say


def prepare() -> None:
    """Nothing is loaded."""


def attack(body: Body, _say: Say) -> Body:
    """The names of the attempts of `ATTEMPTS` that succeeded, and of the permitted that failed."""
    failed = [name for name, attempt in PERMITTED.items() if not _succeeds(attempt, body)]
    got = [name for name, attempt in ATTEMPTS.items() if _succeeds(attempt, body)]
    return {"got": got, "failed": failed, "tried": len(ATTEMPTS)}


def _succeeds(attempt: Callable[[Any], object], body: Body) -> bool:
    try:
        attempt(body)
    except OSError:
        return False
    return True


def _call(name: str, *arguments: Any) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)


def _fork(_body: Body) -> None:
    if os.fork() == 0:
        os._exit(0)


def _write_by_link(body: Body) -> None:
    Path("way").symlink_to(body["secret"])
    Path("way").write_text("x")


def _make_and_remove(_body: Body) -> None:
    Path("a").mkdir()
    Path("a").rmdir()


def _move(_body: Body) -> None:
    Path("b").mkdir()
    Path("c").write_text("x")
    Path("c").rename("b/c")


def _watch_names(body: Body) -> None:
    _call(
        "inotify_add_watch",
        ctypes.CDLL(None).inotify_init(),
        os.path.dirname(body["secret"]).encode(),
        0xFFF,
    )


def _have_the_server_signalled(body: Body) -> None:
    fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, body["server"])


def _have_what_the_program_waits_on(_body: Body) -> None:
    for number in range(3, 64):
        with suppress(OSError):
            if "eventpoll" in os.readlink(f"/proc/self/fd/{number}"):
                return
    raise OSError("none")


def _thread(_body: Body) -> None:
    ran = threading.Event()
    thread = threading.Thread(target=ran.set)
    thread.start()
    thread.join()
    assert ran.is_set()


ATTEMPTS: dict[str, Callable[[Any], object]] = {
    "read a secret": lambda body: Path(body["secret"]).read_text(),
    "list its folder": lambda body: os.listdir(Path(body["secret"]).parent),
    "read the server's memory": lambda body: open(f"/proc/{body['server']}/mem", "rb").close(),
    "read its environment": lambda body: Path(f"/proc/{body['server']}/environ").read_bytes(),
    "list processes": lambda _: os.listdir("/proc"),
    "read passwords": lambda _: Path("/etc/passwd").read_bytes(),
    "link a secret to its folder": lambda body: os.link(body["secret"], "linked"),
    "write to it by a link": _write_by_link,
    "write beside its folder": lambda body: Path(body["beside"], "x").write_text("x"),
    "write a temporary file": lambda _: Path("/var/tmp/roofline-hostile").write_text("x"),
    "write the server's code": lambda _: Path(__file__).with_suffix(".hostile").write_text("x"),
    "append to the server's code": lambda _: Path(__file__).open("a").close(),
    "cut a secret off": lambda body: os.truncate(body["secret"], 0),
    "remove a secret": lambda body: os.unlink(body["secret"]),
    "move a secret": lambda body: os.rename(body["secret"], "moved"),
    "open a secret to all": lambda body: os.chmod(body["secret"], 0o777),
    "give a secret away": lambda body: os.chown(body["secret"], 12345, 12345),
    "mark a secret": lambda body: os.setxattr(body["secret"], "user.x", b"x"),
    "make a pipe in the file system": lambda _: os.mkfifo("pipe"),
    "signal the server": lambda body: os.kill(body["server"], 0),
    "signal everybody": lambda _: os.kill(-1, 0),
    "signal by a handle": lambda body: signal.pidfd_send_signal(os.pidfd_open(body["server"]), 0),
    "trace the server": lambda body: _call("ptrace", 16, body["server"], 0, 0),
    "change the server's limits": lambda body: _call(
        "prlimit", body["server"], 7, b"\x10" + bytes(15), None
    ),
    "slow the server down": lambda body: os.setpriority(os.PRIO_PROCESS, body["server"], 19),
    "let others go before it": lambda body: os.sched_setscheduler(
        body["server"], os.SCHED_IDLE, os.sched_param(0)
    ),
    "hold it on one processor": lambda body: os.sched_setaffinity(body["server"], {0}),
    "have it signalled": _have_the_server_signalled,
    "have what its program waits on": _have_what_the_program_waits_on,
    "watch names of files": _watch_names,
    "touch a secret": lambda body: os.utime(body["secret"]),
    "mark code": lambda _: fcntl.ioctl(os.open(os.__file__, os.O_RDONLY), 0x80086601, bytes(8)),
    "ask for the clock": lambda _: _call("clock_adjtime", 0, ctypes.create_string_buffer(256)),
    "raise its hard limits": lambda _: _call("setrlimit", 0, b"\xff" * 16),
    "start a program": lambda _: subprocess.run(["/bin/true"], check=True),
    "become a program": lambda _: os.execv("/bin/true", ["true"]),
    "leave a process": _fork,
    "leave a daemon by spawn": lambda _: os.posix_spawn("/bin/true", ["true"], {}),
    "open a socket": lambda _: socket.socket().close(),
    "open a local socket": lambda _: socket.socket(socket.AF_UNIX).close(),
    "make a pair of sockets": lambda _: socket.socketpair(),
    "leave its user's namespace": lambda _: _call("unshare", 0x10000000),
    "mount": lambda _: _call("mount", b"none", b"b", b"tmpfs", 0, None),
    "change the root": lambda _: os.chroot("."),
    "use shared memory": lambda _: _call("shmget", 4711, 4096, 0o1666),
}
PERMITTED: dict[str, Callable[[Any], object]] = {
    "read its file": lambda body: Path(body["file"]).read_bytes(),
    "write its folder": lambda body: Path(body["writes_to"], "x").write_text("x"),
    "make and remove a folder": _make_and_remove,
    "move in its folder": _move,
    "read code": lambda _: Path(os.__file__).read_bytes(),
    "see its own size": lambda _: Path("/proc/self/statm").read_text(),
    "write to nothing": lambda _: Path(os.devnull).write_text("x"),
    "start a thread": _thread,
    "signal itself": lambda _: os.kill(os.getpid(), 0),
}


def work(body: Body, say: Say) -> Body:
    """As `attack`, in its folder."""
    os.chdir(body["writes_to"])
    return attack(body, say)

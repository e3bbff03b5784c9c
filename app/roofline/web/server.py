"""Runs the application under uvicorn until it is told to stop."""

import ctypes
import errno
import gc
import os
import resource
import socket
import sys
from collections.abc import Callable
from functools import partial

import uvicorn
from starlette.concurrency import run_in_threadpool

from roofline.errors import SettingsError
from roofline.settings import Settings, forget_secrets
from roofline.web.app import create_app
from roofline.web.http.access import check_access
from roofline.web.http.forwarded import may_forward
from roofline.web.http.gate import ACCEPTED_AT_ONCE, MOST_CONNECTIONS, gated
from roofline.web.http.logs import configure
from roofline.web.parts import ServerParts

BACKLOG = 2048
FILES_WANTED = 2 * MOST_CONNECTIONS + 1024
# The database, the children of imports, logs, and files that are being sent.
OTHER_FILES = 64
# Uploads that are half-way get this long to end after Ctrl-C or SIGTERM.
GRACE_S = 10
# A thread that computes gives Python's lock back after this long; the loop that answers waits for
# it several times for each answer. Python's own choice is 5 ms.
SWITCH_S = 0.0005
# Of glibc, see mallopt(3): pools that threads take memory from, and blocks outside of them.
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3
ARENAS, OWN_MAPPING_BYTES = 2, 64 << 10


def run(settings: Settings) -> None:
    """Serves until SIGINT or SIGTERM.

    Raises `SettingsError` when the address or the data folder cannot be used.
    """
    check_access(settings)
    forget_secrets()
    keep_memory_together()
    configure(settings.log_format)
    listener = listen(settings)
    app = create_app(settings)
    parts: ServerParts = app.state.parts
    # Before the server starts, so that a folder in use is one clear sentence. Imports go on after
    # that, so that they do not hold up the first answers.
    parts.instance.claim()
    config = gated(
        app,
        is_proxy=partial(may_forward, proxies=settings.proxies),
        most=most_connections(raise_file_limit()),
        log_config=None,
        access_log=False,  # it would write addresses, which are secrets
        server_header=False,
        proxy_headers=False,  # `http.forwarded` reads them, and keeps the peer's address
        timeout_graceful_shutdown=GRACE_S,
    )
    # Objects of the start stay. A search for garbage among them would stop all answers for 70 ms.
    gc.collect()
    gc.freeze()
    gc.enable()
    sys.setswitchinterval(SWITCH_S)
    _announce(settings, listener)
    try:
        server = RooflineServer(config)
        server.end_waits = parts.end_waits
        server.run(sockets=[listener])
    finally:
        parts.instance.close()
        listener.close()


def keep_memory_together() -> None:
    """Has glibc give back what answers took: threads share arenas, a page is a mapping of its own.

    Otherwise a quarter of a busy server's memory is holes. Another C library has no `mallopt`.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)
        mallopt(_M_MMAP_THRESHOLD, OWN_MAPPING_BYTES)


def raise_file_limit() -> int:
    """Lets this process open as many files as it may and needs; how many that are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft


def most_connections(files: int) -> int:
    """How many connections fit where `files` may be open: an upload needs one more for its file."""
    return max(8, min(MOST_CONNECTIONS, (files - ACCEPTED_AT_ONCE - OTHER_FILES) // 2))


class RooflineServer(uvicorn.Server):
    """uvicorn that answers requests which wait, and ends streams, when it is told to stop."""

    end_waits: Callable[[], None] = staticmethod(lambda: None)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops. uvicorn would wait until streams end by themselves, and break off what waits."""
        await run_in_threadpool(self.end_waits)
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to accept connections."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # asyncio has set it to what it accepts in a row


def listen(settings: Settings) -> socket.socket:
    """The socket of the server's address; `SettingsError` if it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named. With it on, the body of
    # an answer waits 40 ms on Linux, until the browser has acknowledged the headers.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _explained(settings, error) from error
    return listener


def _explained(settings: Settings, error: OSError) -> SettingsError:
    place = f"{settings.host}:{settings.port}"
    if error.errno == errno.EADDRINUSE:
        return SettingsError(
            f"Another program already listens on {place}.",
            remedy=f"Stop it, or choose another port: roofline serve --port {settings.port + 1}.",
        )
    reason = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)
    return SettingsError(
        f"The server cannot listen on {place}: {reason}.",
        remedy="Choose another address with --host and --port.",
    )


def _announce(settings: Settings, listener: socket.socket) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    port = listener.getsockname()[1]
    # Set-up scripts and people wait for this line; it must not sit in a buffer.
    os.write(1, f"Roofline is at http://{host}:{port} (profiles in {settings.data_dir})\n".encode())

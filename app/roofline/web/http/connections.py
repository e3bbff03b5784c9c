"""How many connections a server holds, and how long each may take to say what it wants.

A connection that sends no whole head holds a file for nothing, and anyone may open one. Each gets
`HEAD_S`. There are fewer of them than files that this process may open; where one more comes, the
connection that has been idle longest since its last answer goes, or the one that has waited longest
for its head, so new ones are always answered.

Those that send a body come before those that ask again and again: see `body_flow`.
"""

import asyncio
import logging
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import uvicorn

from roofline.web.http.at_once import AtOnce, never
from roofline.web.http.body_flow import Bodies
from roofline.web.http.protocol import LimitedProtocol

HEAD_S = 30.0
# Longer than clients and proxies keep a connection that is idle (httpx 5 s, aiohttp 15 s, nginx
# 60 s): the one that ends it is not the one that is about to be asked, so no request meets its end.
IDLE_S = 75
# Connections cost 20 KB each; more than this one process cannot answer anyway.
MOST_CONNECTIONS = 4096
FILES_WANTED = 2 * MOST_CONNECTIONS + 1024
# asyncio accepts this many in a row before it looks at any of them.
ACCEPTED_AT_ONCE = 64
# The database, the children of imports, logs, and files that are being sent.
OTHER_FILES = 64
SILENCE_S = 60.0
_OUT_OF_FILES = "socket.accept() out of system resource"
_log = logging.getLogger("roofline.server")


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


class ServerConfig(uvicorn.Config):
    """uvicorn's configuration for connections under these limits."""

    def __init__(
        self,
        app: Any,
        *,
        at_once: AtOnce = never,
        most: int = MOST_CONNECTIONS,
        head_s: float = HEAD_S,
        **options: Any,
    ) -> None:
        options.setdefault("backlog", ACCEPTED_AT_ONCE)
        options.setdefault("timeout_keep_alive", IDLE_S)
        super().__init__(app, http=LimitedProtocol, ws="none", **options)
        self.at_once = at_once
        self.heads = Heads(most=most, head_s=head_s)
        self.bodies = Bodies()

    def get_loop_factory(self) -> Callable[[], asyncio.AbstractEventLoop]:
        """See `uvicorn.Config`: a loop whose turns are short, where the system can."""
        return self._new_loop if sys.platform.startswith("linux") else asyncio.new_event_loop

    def _new_loop(self) -> asyncio.AbstractEventLoop:
        from roofline.web.http.short_turns import ShortTurns  # which other systems cannot import

        self.bodies.turns = turns = ShortTurns()
        return asyncio.SelectorEventLoop(turns)


class Heads:
    """The connections that have not said what they want, the one that waits longest first."""

    def __init__(
        self, *, most: int, head_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = most
        self._head_s = head_s
        self._clock = clock
        self._waiting: dict[LimitedProtocol, float] = {}
        self._idle: dict[LimitedProtocol, None] = {}
        self._say_full = Seldom(clock)
        self._say_no_files = Seldom(clock)

    def expect(self, connection: LimitedProtocol) -> None:
        """`connection` has to send a head from now on."""
        self.came(connection)
        self._waiting[connection] = self._clock()

    def rest(self, connection: LimitedProtocol) -> None:
        """`connection` was answered, and may stay until it asks again."""
        self.came(connection)
        self._idle[connection] = None

    def came(self, connection: LimitedProtocol) -> None:
        """`connection` has sent its head, or has gone."""
        self._waiting.pop(connection, None)
        self._idle.pop(connection, None)

    def make_room(self) -> bool:
        """Ends one that is idle, or has waited longest; false where all are being answered."""
        self._say_full.say(
            "%d connections are open, as many as this server holds: those that send no request"
            " are closed",
            self.most,
        )
        oldest = next(iter(self._idle), None) or next(iter(self._waiting), None)
        if oldest is not None:
            self._end(oldest)
        return oldest is not None

    def end_late(self) -> None:
        """Ends every connection whose time is over."""
        latest = self._clock() - self._head_s
        while self._waiting:
            connection, since = next(iter(self._waiting.items()))
            if since > latest:
                return
            self._end(connection)

    def hear(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """For the loop's faults: asyncio tells of each refused file in a traceback of its own."""
        if context.get("message") != _OUT_OF_FILES:
            loop.default_exception_handler(context)
            return
        self.make_room()
        self._say_no_files.say("a connection was not accepted: %s", context.get("exception"))

    def _end(self, connection: LimitedProtocol) -> None:
        self.came(connection)
        connection.transport.abort()


class Seldom:
    """Logs a warning at most once in `SILENCE_S`, with how often it was due since."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._silent_until = -SILENCE_S
        self._times = 0

    def say(self, message: str, *values: object) -> None:
        """Logs `message`, unless it was logged a short while ago."""
        self._times += 1
        now = self._clock()
        if now < self._silent_until:
            return
        self._silent_until = now + SILENCE_S
        _log.warning(f"{message} (%d times since this was last written)", *values, self._times)
        self._times = 0

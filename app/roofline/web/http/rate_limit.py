"""How often one person or address may do something costly, try a secret, or follow a stream.

Held in memory: a restart forgives. Wrong tokens count, whether they come in the log-in form or in
the header that tools send.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from roofline.errors import TooManyRequestsError
from roofline.web.http.access import Tokens
from roofline.web.http.forwarded import counted_as

HOUR_S = 3600.0
PRUNE_ABOVE = 10_000
STREAMS = 500
STREAMS_PER_ADDRESS = 10


class RateLimit:
    """`count` at once, and as many again in each `period_s`, evenly spread; `None`: no limit."""

    def __init__(
        self,
        count: int | None,
        period_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._count = count
        self._period_s = period_s
        self._clock = clock
        self._full_at: dict[str, float] = {}  # when each bucket will be full again
        self._lock = threading.Lock()

    def take(self, key: str, *, counts: bool = True) -> float | None:
        """`None` if `key` may go on now, otherwise the seconds to wait; `counts` uses one up."""
        if self._count is None:
            return None
        key, now, cost = counted_as(key), self._clock(), self._period_s / self._count
        with self._lock:
            full_at = max(now, self._full_at.get(key, now)) + cost
            if full_at - now > self._period_s + 1e-9:
                return full_at - now - self._period_s
            if counts:
                self._full_at[key] = full_at
            if len(self._full_at) > PRUNE_ABOVE:
                self._full_at = {key: at for key, at in self._full_at.items() if at > now}
            return None


class UploadRate:
    """Uploads of one person or address: `per_hour`, or any number if that is `None`."""

    def __init__(self, per_hour: int | None) -> None:
        self._per_hour = per_hour
        self._limit = RateLimit(per_hour, HOUR_S)

    def check(self, key: str) -> None:
        """Counts an upload of `key`; `TooManyRequestsError` if it is one too many."""
        wait_s = self._limit.take(key)
        if wait_s is not None:
            raise TooManyRequestsError(
                f"You have uploaded {self._per_hour} profiles within the hour, as many as this"
                " server takes from one person.",
                remedy=f"Try again in {math.ceil(wait_s / 60)} min, or put the files of all hosts"
                " into one upload.",
                retry_after_s=wait_s,
            )


ATTEMPTS = 10
ATTEMPTS_PERIOD_S = 60.0


class Attempts:
    """Counts those who tried, by address."""

    def __init__(self) -> None:
        self._limit = RateLimit(ATTEMPTS, ATTEMPTS_PERIOD_S)

    def check(self, address: str, *, is_wrong: bool) -> None:
        """Raises `TooManyRequestsError` for one too many; counts this one if `is_wrong`.

        An address that has tried too often is refused with the right token, too: otherwise it
        could go on until it finds that one.
        """
        wait_s = self._limit.take(address, counts=is_wrong)
        if wait_s is not None:
            raise TooManyRequestsError(
                "Tokens were entered too often in a short time.",
                remedy="Wait a minute, then try again.",
                retry_after_s=wait_s,
            )

    def note(self, address: str) -> None:
        """Counts one that was wrong."""
        self._limit.take(address)


@dataclass(frozen=True, slots=True)
class Door:
    """`tokens` open it."""

    tokens: Tokens
    attempts: Attempts


@dataclass(slots=True)
class Streams:
    """The streams that are open now. `is_closing` ends them all, so that the server can stop."""

    is_closing: bool = False
    _open: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def admitted(self, address: str) -> Iterator[None]:
        """While a stream to `address` is open.

        Raises `TooManyRequestsError` where it would be one too many.
        """
        address = counted_as(address)
        self._admit(address)
        try:
            yield
        finally:
            with self._lock:
                self._open[address] -= 1
                self._open += Counter()  # forgets addresses without any

    def _admit(self, address: str) -> None:
        with self._lock:
            if self._open[address] >= STREAMS_PER_ADDRESS or self._open.total() >= STREAMS:
                raise TooManyRequestsError(
                    "Too many pages follow imports at the same time.",
                    remedy="Close some of them, or ask for the profile's state instead.",
                    retry_after_s=5,
                )
            self._open[address] += 1

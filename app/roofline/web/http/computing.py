"""Views in memory: prepared profiles, what was computed of them, and how many at once."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

from roofline.errors import ServerBusyError

T = TypeVar("T")

PREPARED_BYTES = 32 << 20
"""Of profiles and parts of them, ready for any peaks: about ten of a thousand operations."""
RANGES_BYTES = 16 << 20
"""Of results of parts, with what they are computed from."""
RENDERED_BYTES = 8 << 20
"""Of compressed documents: about 90 views of a thousand operations."""
MOST_CHANGES = 4096
"""Profiles whose last change is known; pages of all others are drawn anew when one is forgotten."""
MOST_WAITING = 32
RETRY_AFTER_S = 2.0


class Memory(Generic[T]):
    """The values asked for last, `most` of them by `size_of`, which counts. For any thread."""

    def __init__(self, most: float, size_of: Callable[[T], int] = lambda _: 1) -> None:
        self._lock = threading.Lock()
        self._size_of = size_of
        self._values: LRUCache[str, T] = LRUCache(most, size_of)

    def get(self, key: str) -> T | None:
        """The value of `key`, if it is still there."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: str, value: T) -> T:
        """Keeps `value`, unless it alone is too large; returns it."""
        with self._lock:
            if self._size_of(value) <= self._values.maxsize:
                self._values[key] = value
        return value


class Changes:
    """How often a profile has changed, as far as this process did it: for keys of its pages.

    A key is made before its page is drawn, and a change is noted after its commit and before it is
    answered. So a page that was drawn meanwhile lies under a key that is not asked for again.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._last: dict[str, int] = {}
        self._forgotten = 0

    def note(self, profile_id: str | None) -> None:
        """The profile has changed, or is gone; `None`: every one may have."""
        with self._lock:
            if profile_id is not None and len(self._last) < MOST_CHANGES:
                self._last[profile_id] = next(self._numbers)
            else:
                self._last.clear()
                self._forgotten = next(self._numbers)

    def last(self, profile_id: str) -> int:
        """A number that is another one after each change of the profile."""
        with self._lock:
            return self._last.get(profile_id, self._forgotten)


class Computations:
    """Computes each key once at a time: other threads that ask for it wait for the result.

    As many run at once as there are cores. Where `most_waiting` threads wait already, `once`
    raises `ServerBusyError`.
    """

    def __init__(self, at_once: int | None = None, most_waiting: int = MOST_WAITING) -> None:
        self._turns = threading.Semaphore(at_once or len(os.sched_getaffinity(0)))
        self._lock = threading.Lock()
        self._running: dict[str, Future[Any]] = {}
        self.waiting = 0
        self._most_waiting = most_waiting

    def once(self, key: str, compute: Callable[[], T]) -> T:
        """The result of `compute`, or what another thread is computing for `key`."""
        with self._lock:
            running: Future[T] | None = self._running.get(key)
            future: Future[T] = Future()
            if running is None:
                self._running[key] = future
        if running is not None:
            with self._counted():
                return running.result()
        try:
            value = self._in_turn(compute)
        except BaseException as error:
            future.set_exception(error)
            raise
        else:
            future.set_result(value)
            return value
        finally:
            with self._lock:
                del self._running[key]

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """While a thread waits."""
        with self._lock:
            if self.waiting >= self._most_waiting:
                raise ServerBusyError(
                    "The server is busy with other profiles.",
                    remedy="Try again in a few seconds.",
                    retry_after_s=RETRY_AFTER_S,
                )
            self.waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self.waiting -= 1

    def _in_turn(self, compute: Callable[[], T]) -> T:
        if not self._turns.acquire(blocking=False):
            with self._counted():
                self._turns.acquire()
        try:
            return compute()
        finally:
            self._turns.release()

"""Answers computed for one viewer, which the next may ask for, and what they were computed of."""

import itertools
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class Kept(Generic[T]):
    """The values asked for last: `most` of them, or of their sizes where `size_of` is given."""

    def __init__(self, most: int, size_of: Callable[[T], int] | None = None) -> None:
        self._lock = threading.Lock()
        self._values: LRUCache[Hashable, T] = LRUCache(most, size_of)

    def get(self, key: Hashable) -> T | None:
        """The value of `key`, if it is still kept."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: Hashable, value: T) -> T:
        """Keeps `value`, unless it is larger than all that may be kept, and gives it back."""
        with self._lock, suppress(ValueError):
            self._values[key] = value
        return value


class Changes:
    """How often a profile has changed, as far as this process did it: for keys of its pages.

    A key is made before its page is drawn, and a change is noted after its commit and before it is
    answered. So a page that was drawn meanwhile lies under a key that is not asked for again.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._last: dict[str, int] = {}

    def note(self, profile_id: str) -> None:
        """The profile has changed, or is gone."""
        self._last[profile_id] = next(self._numbers)

    def last(self, profile_id: str) -> int:
        """The number of its last change; 0 if there was none."""
        return self._last.get(profile_id, 0)

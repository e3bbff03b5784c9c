"""Answers computed for one viewer, which the next may ask for, by a digest of their inputs."""

import threading
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class Kept(Generic[T]):
    """The `most` values asked for last."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._values: LRUCache[str, T] = LRUCache(most)

    def get(self, key: str) -> T | None:
        """The value of `key`, if it is still kept."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: str, value: T) -> T:
        """Keeps `value`, and gives it back."""
        with self._lock:
            self._values[key] = value
        return value

"""How many event streams are open, in all and to one address."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from roofline.errors import TooManyRequestsError

STREAMS = 500
STREAMS_PER_ADDRESS = 10


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

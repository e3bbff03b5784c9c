"""Attempts at secrets: how often an address may try, and the door of mode `token`.

Wrong tokens count, whether they come in the log-in form or in the header that tools send.
"""

from dataclasses import dataclass

from roofline.errors import TooManyRequestsError
from roofline.web.http.access import Tokens
from roofline.web.http.rate_limit import RateLimit

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
        wait_s = self._limit.take(address) if is_wrong else self._limit.wait_s(address)
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

"""The door of mode `token`: the secrets that open sessions, and how often an address may try."""

from dataclasses import dataclass

from roofline.web.http.access import Tokens
from roofline.web.http.rate_limit import RateLimit

ATTEMPTS = 10
ATTEMPTS_PERIOD_S = 60.0


@dataclass(frozen=True, slots=True)
class Door:
    """`tokens` open it; `attempts` counts those who tried, by address."""

    tokens: Tokens
    attempts: RateLimit


def door_to(tokens: Tokens) -> Door:
    """The door that `tokens` open."""
    return Door(tokens, RateLimit(ATTEMPTS, ATTEMPTS_PERIOD_S))

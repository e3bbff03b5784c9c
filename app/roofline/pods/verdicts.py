"""How a host stands and what is said of it, in words that pages use without the reducer."""

from enum import StrEnum

FEWEST_HOSTS = 4
"""With fewer hosts there are values, but no verdicts: a median of three says nothing of two."""
_FEWEST_STEPS, _FEWEST_VALUES = 3, 8
LEAST_READABLE = 0.9
"""With a smaller part of the hosts readable, no verdict."""


class State(StrEnum):
    """How a host's file stands."""

    READ = "read"
    UNREADABLE = "unreadable"
    NO_ACCELERATOR = "no accelerator"


class Verdict(StrEnum):
    """What is said of a host that holds the others up."""

    SLOW_CHIP = "slow chip"
    SLOW_HOST = "slow host"
    MORE_WORK = "more work"
    STRAGGLER = "straggler"
    INTERMITTENT = "intermittent"


class NoVerdict(StrEnum):
    """Why no host is judged."""

    FEW_HOSTS = "few hosts"
    FEW_STEPS = "few steps"
    UNREADABLE = "unreadable hosts"


def fewest_steps(hosts: int) -> int:
    """Steps that a verdict on one of so many hosts needs.

    With fewer than three nothing tells a host that is slow from one that was held up once. The
    median host of a step and the accused one tell nothing of the noise: of four hosts two do.
    """
    return max(_FEWEST_STEPS, -(-_FEWEST_VALUES // max(hosts - 2, 1)))

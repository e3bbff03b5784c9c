"""How a host stands and what is said of it, in words that pages use without the reducer."""

from enum import StrEnum

FEWEST_HOSTS = 4
"""With fewer hosts there are values, but no verdicts: a median of three says nothing of two."""
LEAST_READABLE = 0.9
"""With a smaller part of the hosts readable, no verdict."""


class State(StrEnum):
    """How a host's file stands."""

    READ = "read"
    UNREADABLE = "unreadable"
    NO_ACCELERATOR = "no accelerator"
    OTHER_PROGRAM = "another program"


class Verdict(StrEnum):
    """The verdict on a host that holds the others up."""

    SLOW_CHIP = "slow chip"
    SLOW_HOST = "slow host"
    MORE_WORK = "more work"
    STRAGGLER = "straggler"
    INTERMITTENT = "intermittent"


class NoVerdict(StrEnum):
    """Why no host is judged."""

    FEW_HOSTS = "few hosts"
    UNREADABLE = "unreadable hosts"
    SEVERAL_CAPTURES = "several captures"
    SEVERAL_PROGRAMS = "several programs"
    ARRIVING = "hosts arriving"

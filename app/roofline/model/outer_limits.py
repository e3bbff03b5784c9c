"""The outer limits of all work on what strangers send: processor, memory, time, attempts, turns.

Operators choose those of imports (`settings`), which also hold for each host of a run. Everything
else is here, for imports, listings and runs alike.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OuterLimits:
    """The limits of a piece of work. `memory_bytes` is address space beyond what it begins with."""

    memory_bytes: int
    cpu_seconds: int
    wall_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLimits(OuterLimits):
    """The limits of one import. Its files are not part of `memory_bytes`."""

    max_unpacked_bytes: int
    max_unpacked_files: int
    max_expansion_ratio: int


# Other runs wait while a place is listed. 100,000 names take 3 s and 100 MB.
LISTING = OuterLimits(memory_bytes=2 << 30, cpu_seconds=60, wall_seconds=120.0)

# A job or run belongs to a process for so long after its last sign of life.
LEASE_S = 30.0
# A program that was killed is started again at once, so many times in all.
MAX_STARTS = 3
# Work that the machine interrupted runs again: at once, then after pauses that double from 2 s to
# a quarter of an hour. Twelve attempts take about 40 minutes. A run that is read with no new host
# in between ends after five.
MAX_ATTEMPTS, MAX_FAILURES_OF_A_RUN = 12, 5
FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 900.0
# A killed process has ended after this time, unless the system is stuck.
END_S = 10.0


def pause_s(attempts: int) -> float:
    """How long work waits after its last of so many attempts."""
    return 0.0 if attempts < 2 else min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (attempts - 2))

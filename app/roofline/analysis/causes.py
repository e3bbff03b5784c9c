"""Why an op may seem to run above its roof, and why a cell of it is empty: one sentence for each.

Apart from what finds them, so that a server has the words without loading NumPy.
"""

from enum import StrEnum


class Cause(StrEnum):
    """Why an op may seem to run above its roof."""

    ASYNCHRONOUS = "asynchronous"
    CACHED = "cached"
    ON_CHIP = "on_chip"
    COMPILER_ESTIMATE = "compiler_estimate"
    OWN_ESTIMATE = "own_estimate"
    FASTER_PRECISION = "faster_precision"
    COMPILER_COUNT = "compiler_count"
    NOT_FOUND = "not_found"
    MASKED = "masked"
    FEWER_MULTIPLICATIONS = "fewer_multiplications"
    OTHER_RUN = "other_run"
    STATED = "stated"
    SHORT = "short"
    LINK = "link"


EXPLAINED = frozenset({Cause.ASYNCHRONOUS, Cause.FEWER_MULTIPLICATIONS})
"""Causes that raise no doubt: the work is right, and the hardware did not have to do all of it in
this op's time."""


class NotShown(StrEnum):
    """Why cells of an op are empty, although there is work and a time to divide it by."""

    SHORT = "short"
    ASYNCHRONOUS = "asynchronous"
    IMPOSSIBLE = "impossible"
    TRANSFER = "transfer"
    CACHE_LINE = "cache_line"


# "{time}" is the time of a call.
WHY_NOT_SHOWN = {
    NotShown.SHORT: "Not a rate: the op was measured for {time}.",
    NotShown.ASYNCHRONOUS: "Not a rate: its bytes move in the time of other ops.",
    NotShown.IMPOSSIBLE: "Not a rate: it would be more than 10 times its peak.",
    NotShown.TRANSFER: "A link binds this op: it has no rate of a memory and no intensity.",
    NotShown.CACHE_LINE: "Not an intensity: a call moves less than a line of a cache.",
}
# The name of the cause, and one sentence about the op.
CAUSE_LABELS = {
    Cause.ASYNCHRONOUS: "asynchronous transfer",
    Cause.CACHED: "kept in a cache",
    Cause.ON_CHIP: "stayed on the chip",
    Cause.COMPILER_ESTIMATE: "compiler’s estimate",
    Cause.OWN_ESTIMATE: "author’s estimate",
    Cause.FASTER_PRECISION: "faster precision",
    Cause.COMPILER_COUNT: "compiler’s count of FLOPs",
    Cause.NOT_FOUND: "no known cause",
    Cause.MASKED: "masked part",
    Cause.FEWER_MULTIPLICATIONS: "fewer multiplications",
    Cause.OTHER_RUN: "another run",
    Cause.STATED: "as stated",
    Cause.SHORT: "too short to time",
    Cause.LINK: "more than its link",
}
WHY_ABOVE = {
    Cause.ASYNCHRONOUS: "It starts or ends an asynchronous transfer, whose bytes move in the time "
    "of other ops.",
    Cause.CACHED: "Its bytes are estimated from shapes; a part of them stayed in a cache.",
    Cause.ON_CHIP: "The capture does not tell bytes of this memory from bytes that stayed on the "
    "chip, so all count here.",
    Cause.COMPILER_ESTIMATE: "Its bytes are the compiler’s estimate, which counts some that never "
    "reach this memory.",
    Cause.OWN_ESTIMATE: "It is a custom op, whose work is the estimate that its author gave.",
    Cause.FASTER_PRECISION: "It runs at a faster precision than the peak’s, or its FLOPs are "
    "counted too high.",
    Cause.COMPILER_COUNT: "The compiler counts over 50 FLOPs for each number that it writes: a "
    "function such as exp counts as many, and runs on its own unit. The count is too high, not the "
    "op too fast.",
    Cause.NOT_FOUND: "It has no matrix products, and no precision of the vector unit is that fast: "
    "check its counted FLOPs.",
    Cause.MASKED: "Its FLOPs are counted from shapes, and a mask leaves a part of them out.",
    Cause.FEWER_MULTIPLICATIONS: "It computes a convolution with fewer multiplications than the "
    "convolution has (Winograd or FFT), so it counts as 100 % of its roof.",
    Cause.OTHER_RUN: "Counters and time were taken in different runs, or the clock was above the "
    "peak’s.",
    Cause.STATED: "Check the units of its time and work in the file, and the peak.",
    Cause.SHORT: "It is too short for the profiler’s clock, so its rate is uncertain.",
    Cause.LINK: "Its bytes are those of a ring over one link: it uses several links, a switch adds "
    "up for it, or the link’s peak is higher.",
}

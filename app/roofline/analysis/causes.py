"""Why an op may seem to run above its roof: the causes, their names and one sentence for each.

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
    MASKED = "masked"
    OTHER_RUN = "other_run"
    STATED = "stated"
    SHORT = "short"
    LINK = "link"


# The name of the cause, and one sentence about the op.
CAUSE_LABELS = {
    Cause.ASYNCHRONOUS: "asynchronous transfer",
    Cause.CACHED: "kept in a cache",
    Cause.ON_CHIP: "stayed on the chip",
    Cause.COMPILER_ESTIMATE: "compiler’s estimate",
    Cause.OWN_ESTIMATE: "author’s estimate",
    Cause.FASTER_PRECISION: "faster precision",
    Cause.MASKED: "masked part",
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
    Cause.MASKED: "Its FLOPs are counted from shapes, and a mask leaves a part of them out.",
    Cause.OTHER_RUN: "Counters and time were taken in different runs, or the clock was above the "
    "peak’s.",
    Cause.STATED: "Check the units of its time and work in the file, and the peak.",
    Cause.SHORT: "It is too short for the profiler’s clock, so its rate is uncertain.",
    Cause.LINK: "Its bytes are those of a ring over one link: it uses several links, a switch adds "
    "up for it, or the link’s peak is higher.",
}

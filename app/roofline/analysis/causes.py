"""Why an op may seem to run above its roof, and why a cell of it is empty: one sentence for each.

Apart from what finds them, so that a server has the words without loading NumPy.
"""

from collections.abc import Mapping
from enum import StrEnum

from roofline.model.plain_data import read_beside


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
_WORDS = read_beside(__file__, "causes.json")
CAUSE_LABELS: Mapping[Cause, str] = {cause: _WORDS[cause]["label"] for cause in Cause}
WHY_ABOVE: Mapping[Cause, str] = {cause: _WORDS[cause]["why"] for cause in Cause}

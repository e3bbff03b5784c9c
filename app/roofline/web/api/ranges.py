"""Parts of a profile's time: `?from_us=…&to_us=…` of its results and of its page."""

import math
from typing import Annotated

from fastapi import Depends, Query

from roofline.library.ranges import RangeResults, results_of_range
from roofline.library.reader import ProfileReader
from roofline.web.parts import ServerParts

_Time = Annotated[
    float | None,
    Query(
        ge=0,
        allow_inf_nan=False,
        description="Only this part of the capture's time, in us from its begin.",
    ),
]


def _range(from_us: _Time = None, to_us: _Time = None) -> tuple[float, float] | None:
    if from_us is None and to_us is None:
        return None
    return from_us or 0.0, math.inf if to_us is None else to_us


Range = Annotated[tuple[float, float] | None, Depends(_range)]


def results_for(
    parts: ServerParts, reader: ProfileReader, profile_id: str, part: tuple[float, float]
) -> RangeResults:
    """The results of a part of the profile's time, kept for the next who asks.

    Raises `NoSuchRangeError` for a part that the profile does not have, and as `reader.result`.
    """
    times = reader.times(profile_id)
    key = f"{profile_id} {times.etag} {part[0]!r} {part[1]!r}"
    found = parts.ranges.get(key)
    return found or parts.ranges.put(key, results_of_range(times, *part))

"""Parts of a profile: `?from_us=…&to_us=…`, `?host=…`, `?dvfs=on`, `?of=…` of results and pages."""

import math
from typing import Annotated, Literal

from fastapi import Depends, Query

from roofline.library.ranges import Part, RangeResults, StoredTimes, results_of_part
from roofline.library.reader import ProfileReader
from roofline.web.parts import ServerParts

_HOST_LENGTH = 1000
_OF_LENGTH = 200

_Time = Annotated[
    float | None,
    Query(
        ge=0,
        allow_inf_nan=False,
        description="Only this part of the capture's time, in us from its start.",
    ),
]
_Host = Annotated[
    str, Query(max_length=_HOST_LENGTH, description="Only this host of several, by its name.")
]
_Dvfs = Annotated[
    Literal["on", "off"],
    Query(
        description="With `on` compute and VMEM peaks are those at the clock that ran, where the"
        " capture says how far that was from the default one."
    ),
]
_Of = Annotated[
    str,
    Query(
        max_length=_OF_LENGTH,
        description="The subject that lengths, shares and savings are of: `step`, `step:6`,"
        " `serving:decode.32`, `capture`, `12.4ms..24.8ms`, `kernels`; docs/subject.md. The default"
        " one where it does not exist, and `subject.not_found` names it.",
    ),
]


def _part(
    from_us: _Time = None,
    to_us: _Time = None,
    host: _Host = "",
    dvfs: _Dvfs = "off",
    of: _Of = "",
) -> Part | None:
    if from_us is None and to_us is None and not host and dvfs == "off" and not of:
        return None
    return Part(
        from_us=from_us or 0.0,
        to_us=math.inf if to_us is None else to_us,
        host=host,
        dvfs=dvfs == "on",
        of=of,
    )


Range = Annotated[Part | None, Depends(_part)]


def times_for(reader: ProfileReader, profile_id: str, part: Part | None) -> StoredTimes:
    """The times from which a part of the profile is computed; raises as `reader.times`."""
    return reader.times(profile_id, by_host=part is not None and part.host != "")


def results_for(
    parts: ServerParts, reader: ProfileReader, profile_id: str, part: Part
) -> RangeResults:
    """The results of a part of the profile, kept for the next request.

    Raises as `results_of_part`, and as `reader.result`.
    """
    times = times_for(reader, profile_id, part)
    key = f"{profile_id} {times.etag} {part!r}"
    found = parts.ranges.get(key)
    return found or parts.ranges.put(key, results_of_part(times, part))

"""Other peaks than the profile's own: `?device=…&peak=…` of its advice."""

from functools import partial
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.concurrency import run_in_threadpool

from roofline.library.other_peaks import ChosenPeaks, advice_by
from roofline.library.ranges import Part
from roofline.library.reader import ProfileReader
from roofline.web.api.ranges import times_for
from roofline.web.api.results import computed
from roofline.web.parts import parts_of

_MOST_PEAKS = 40
_MOST_TEXT = 100

_Device = Annotated[
    str | None,
    Query(max_length=_MOST_TEXT, description="Hold the profile against the peaks of this part."),
]
_Peaks = Annotated[
    list[str] | None,
    Query(max_length=_MOST_PEAKS, description="Set a peak: `hbm=3.35TB/s`; may be repeated."),
]


def _other(device: _Device = None, peak: _Peaks = None) -> ChosenPeaks | None:
    return (
        ChosenPeaks(device, tuple(one[:_MOST_TEXT] for one in peak or ()))
        if device or peak
        else None
    )


OWN_PEAKS = ChosenPeaks(None, ())
OtherPeaks = Annotated[ChosenPeaks | None, Depends(_other)]


async def advice_for(
    request: Request,
    reader: ProfileReader,
    profile_id: str,
    chosen: ChosenPeaks,
    part: Part | None,
) -> bytes:
    """The advice by other peaks as JSON, kept for the next request. It has no decisions."""
    parts = parts_of(request)
    times = await computed(reader, profile_id, partial(times_for, reader, profile_id, part))
    key = f"{profile_id} {times.etag} {part!r} {chosen!r}"
    found = parts.other_advice.get(key)
    if found is None:
        found = await run_in_threadpool(advice_by, times, chosen, part)
        parts.other_advice.put(key, found)
    return found

"""Parts of a profile and other peaks: the parameters of results, of pages and of views.

`from_us` and `to_us`, `host`, `of`; `dvfs`, `device`, `peak`. Addresses of pages have `dev` and
`peak.hbm` in place of the last two.
"""

import hashlib
import math
from concurrent.futures import wait
from dataclasses import replace
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from starlette.concurrency import run_in_threadpool

from roofline.devices.choice import PeakChoice, read_choice, with_unit
from roofline.devices.measured import written_at_ns
from roofline.errors import BadViewError, NotReadyError
from roofline.library.ranges import (
    Part,
    RangeResults,
    StoredTimes,
    identity_of,
    prepared_part,
    results_of_part,
)
from roofline.library.reader import ProfileReader
from roofline.library.results_version import results_version
from roofline.web.parts import Reader, ServerParts

_WRITTEN_WITHIN_S = 5.0  # a thread of the pages waits no longer
_HOST_LENGTH = 1000
_OF_LENGTH = 200
_MOST_PEAKS = 40
_MOST_TEXT = 100
_PEAK_KEY = "peak."
_NAMES = frozenset(
    {"device", "usual", "dev", "peak", "dvfs", "infeed", "of", "host", "from_us", "to_us", "v"}
    | {"q", "sort"}
)

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

_Search = Annotated[
    str,
    Query(
        max_length=_MOST_TEXT,
        description="Operations with this in their name, in any case, of all that the profile has."
        " `facts` and `view` list them behind the longest thousand, other results alone.",
    ),
]
_Sort = Annotated[
    str,
    Query(
        max_length=_MOST_TEXT,
        description="The column of the CSV by which operations are found, `-gain_us` for its"
        " largest first.",
    ),
]

_Device = Annotated[
    str | None,
    Query(
        max_length=_MOST_TEXT,
        description="Under the peaks of this part of the catalogue, or of `this-machine`. `dev`, as"
        " addresses of pages have it, means the same.",
    ),
]
_Peaks = Annotated[
    list[str] | None,
    Query(
        max_length=_MOST_PEAKS,
        description="Set a peak: `hbm=3.35TB/s`; may be repeated. `peak.hbm=3350` means the same,"
        " in GB/s or GFLOP/s.",
    ),
]


async def _measured(
    from_us: _Time = None,
    to_us: _Time = None,
    host: _Host = "",
    dvfs: _Dvfs = "off",
    of: _Of = "",
) -> Part:
    return Part(
        from_us=from_us or 0.0,
        to_us=math.inf if to_us is None else to_us,
        host=host,
        dvfs=dvfs == "on",
        of=of,
    )


def _choice(
    request: Request, reader: Reader, device: _Device = None, peak: _Peaks = None
) -> PeakChoice:
    try:
        return _read_choice(request, device, peak)
    except BadViewError:
        # A profile that is not there comes first.
        if "profile_id" in request.path_params:
            reader.state(request.path_params["profile_id"])
        raise


def _read_choice(request: Request, device: str | None, peak: list[str] | None) -> PeakChoice:
    device = device or request.query_params.get("dev", "")[:_MOST_TEXT] or None
    texts = [text[:_MOST_TEXT] for text in peak or ()]
    for key, amount in request.query_params.multi_items():
        if key.startswith(_PEAK_KEY):
            texts.append(with_unit(key.removeprefix(_PEAK_KEY), amount)[:_MOST_TEXT])
    return read_choice(device, texts[:_MOST_PEAKS])


async def _choice_of_page(
    request: Request, device: _Device = None, peak: _Peaks = None
) -> PeakChoice:
    """The same for an address of a page, which opens without a choice that means nothing here.

    The page's script says so.
    """
    if not request.query_params:
        return PeakChoice()
    try:
        return await run_in_threadpool(_read_choice, request, device, peak)
    except BadViewError:
        return PeakChoice()


def _base_choice(request: Request, reader: Reader) -> PeakChoice:
    """The choice of a route whose `device` means something else."""
    return _choice(request, reader)


async def _searched(
    measured: Annotated[Part, Depends(_measured)], q: _Search = "", sort: _Sort = ""
) -> Part:
    return replace(measured, q=q, sort=sort)


async def _base(
    searched: Annotated[Part, Depends(_searched)],
    choice: Annotated[PeakChoice, Depends(_base_choice)],
) -> Part | None:
    return _with(searched, choice)


async def _part(
    searched: Annotated[Part, Depends(_searched)], choice: Annotated[PeakChoice, Depends(_choice)]
) -> Part | None:
    return _with(searched, choice)


async def _part_of_page(
    measured: Annotated[Part, Depends(_measured)],
    choice: Annotated[PeakChoice, Depends(_choice_of_page)],
) -> Part | None:
    return _with(measured, choice)


def _with(measured: Part, choice: PeakChoice) -> Part | None:
    """The part of an address, `None` for the whole by its own peaks."""
    part = replace(measured, device=choice.part_id or "", peaks=choice.peaks)
    return None if part == Part() else part


def query_of(part: Part) -> str:
    """The parameters of a part, in one order and spelling."""
    wanted: list[tuple[str, object]] = [
        ("device", part.device),
        ("dvfs", "on" if part.dvfs else ""),
        ("from_us", part.from_us if part.has_times else ""),
        ("host", part.host),
        ("of", part.of),
        *(("peak", peak) for peak in part.peaks),
        ("to_us", part.to_us if math.isfinite(part.to_us) else ""),
    ]
    return urlencode([(name, value) for name, value in wanted if value != ""])


Range = Annotated[Part | None, Depends(_part)]
BaseRange = Annotated[Part | None, Depends(_base)]
PageRange = Annotated[Part | None, Depends(_part_of_page)]


def check_names(request: Request) -> None:
    """Raises `BadViewError` for a parameter that means nothing: a view has one address."""
    unknown = [
        key for key in request.query_params if key not in _NAMES and not key.startswith(_PEAK_KEY)
    ]
    if unknown:
        raise BadViewError(
            f"These parameters are not known: {', '.join(unknown)[:_MOST_TEXT]}.",
            remedy=f"The known ones are: {', '.join(sorted(_NAMES))}.",
        )


def etag_of(stored: str, part: Part, *names: str) -> str:
    """The ETag of a document of a part: of what computes it, of what is `stored`, of the part."""
    inputs = (results_version(), written_at_ns(), stored, part, names)
    return hashlib.sha256(repr(inputs).encode()).hexdigest()[:16]


def times_for(reader: ProfileReader, profile_id: str, part: Part | None) -> StoredTimes:
    """The times from which a part of the profile is computed; raises as `reader.times`."""
    return reader.times(profile_id, by_host=part is not None and part.host != "")


def results_for(
    parts: ServerParts, reader: ProfileReader, profile_id: str, part: Part
) -> RangeResults:
    """The results of a part of the profile, kept for the next request.

    Raises as `prepared_part` and `results_of_part`, and as `reader.result`.
    """
    times, every = times_for(reader, profile_id, part), part.of_all_ops
    key = f"{profile_id} {etag_of(times.etag, every)}"
    found = parts.ranges.get(key) or parts.computations.once(
        key, lambda: parts.ranges.put(key, _computed(parts, times, every))
    )
    return found.searching(part)


def written_results(
    parts: ServerParts, reader: ProfileReader, profile_id: str, part: Part
) -> RangeResults:
    """As `results_for`, for a page that is ready while what a part is computed from is written."""
    try:
        return results_for(parts, reader, profile_id, part)
    except NotReadyError:
        pending = reader.pending(profile_id)
        if pending is not None:
            wait({pending}, _WRITTEN_WITHIN_S)
    return results_for(parts, reader, profile_id, part)


def _computed(parts: ServerParts, times: StoredTimes, part: Part) -> RangeResults:
    key = f"{times.id} {times.etag} {part.measured!r}"
    found = parts.prepared.get(key) or parts.prepared.put(key, prepared_part(times, part))
    return results_of_part(found, identity_of(times), part)

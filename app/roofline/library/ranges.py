"""Parts of a stored profile's time: the same results as of the whole, computed when asked for."""

import gzip
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from roofline.errors import BadViewError
from roofline.model.units import PS_PER_MS, PS_PER_US

if TYPE_CHECKING:
    from roofline.analysis.records import RooflineAnalysis
    from roofline.model.device import Device
    from roofline.model.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTimes:
    """What is stored of a profile for ranges, gzip, and what its page says beside the numbers.

    `etag` is that of the stored bytes.
    """

    id: str
    etag: str
    created_at: str
    file_sizes: dict[str, int]
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeResults:
    """The results of one range. What its page needs is there, the rest is made when asked for.

    `page`, `budget` and `advice` are JSON. `bounds_ms` are begin and end as they
    are printed, "10 to 20"; empty for the whole capture.
    """

    bounds_ms: str
    page: bytes
    budget: bytes
    advice: bytes
    analysis: "RooflineAnalysis"

    def roofline(self, *, infeed: bool) -> bytes:
        """The analysis as JSON, with or without infeed and outfeed."""
        from roofline.exports.records import analysis_to_json

        return analysis_to_json(self.analysis, include_infeed_outfeed=infeed)

    def csv(self, *, infeed: bool) -> bytes:
        """The ops as CSV, with or without infeed and outfeed."""
        from roofline.exports.records import ops_to_csv

        return ops_to_csv(self.analysis, include_infeed_outfeed=infeed)

    def op(self, index: int) -> bytes:
        """What the page does not carry about one op, as JSON; `index` counts as in its page."""
        from roofline.presentation.op_details import op_details

        found = next(islice(op_details(self.analysis), index, None), None) if index >= 0 else None
        if found is None:
            raise BadViewError(
                f"The range has no operation {index}.", remedy="Open the profile's page again."
            )
        return found


def results_of_range(times: StoredTimes, from_us: float, to_us: float) -> RangeResults:
    """The results of the profile from `from_us` to `to_us` after the begin of its capture.

    Raises `NoSuchRangeError` for a profile without a timeline and a range outside of it.
    """
    # The arithmetic is loaded when somebody asks: most servers answer other requests first.
    from roofline.advice.advise import advise
    from roofline.analysis.analyse import analyse
    from roofline.analysis.records import AnalysisOptions
    from roofline.exports.advice import advice_to_json
    from roofline.presentation.budget_bar import budget_json
    from roofline.presentation.json_text import to_json
    from roofline.presentation.page import PageIdentity, build_page

    profile, device = stored_profile(times, (from_us, to_us))
    analysis = analyse(profile, device, AnalysisOptions())
    identity = PageIdentity(id=times.id, created_at=times.created_at, file_sizes=times.file_sizes)
    return RangeResults(
        bounds_ms=_bounds_ms(analysis.profile.time_range_ps),
        page=build_page(analysis, identity),
        budget=to_json(budget_json(analysis)),
        advice=advice_to_json(advise(analysis), analysis),
        analysis=analysis,
    )


def stored_profile(
    times: StoredTimes, part: tuple[float, float] | None
) -> "tuple[Profile, Device]":
    """The stored profile and its device; only a `part` of its time, in us, where one is given.

    Raises `NoSuchRangeError` as `results_of_range`.
    """
    from roofline.analysis.time_range import in_range
    from roofline.model.stored import restored

    profile, device = restored(gzip.decompress(times.packed))
    if part is not None:
        profile = in_range(profile, part[0] * PS_PER_US, part[1] * PS_PER_US)
    return profile, device


def _bounds_ms(bounds_ps: tuple[int, int] | None) -> str:
    return "" if bounds_ps is None else " to ".join(f"{ps / PS_PER_MS:.6g}" for ps in bounds_ps)

"""Parts of a stored profile: the same results as of the whole, computed when asked for.

A part is a range of its time, one of its hosts, or its whole by the peaks at the clock that ran.
"""

import gzip
import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from roofline.errors import BadViewError, NoSuchRangeError
from roofline.model.units import PS_PER_MS, PS_PER_US

_NAMES_SHOWN = 10

if TYPE_CHECKING:
    from roofline.analysis.records import RooflineAnalysis
    from roofline.analysis.subjects.records import Subject
    from roofline.model.device import Device
    from roofline.model.profile import Profile
    from roofline.presentation.verdict import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The shown part of a profile: from `from_us` to `to_us` of its capture, one host (empty: all),
    and by which peaks: with `dvfs` those at the clock that ran. `of` is the address of the subject,
    empty for the default one."""

    from_us: float = 0.0
    to_us: float = math.inf
    host: str = ""
    dvfs: bool = False
    of: str = ""

    @property
    def has_times(self) -> bool:
        """True where it is a range of the time."""
        return self.from_us > 0 or math.isfinite(self.to_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTimes:
    """The stored times of a profile, or of each of its hosts, gzip, and the page's words beside.

    `etag` is that of the stored bytes.
    """

    id: str
    etag: str
    created_at: str
    file_sizes: dict[str, int]
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeResults:
    """The results of one part. What its page needs is there, the rest is made when asked for.

    `page`, `budget` and `advice` are JSON. `words` say which part it is; empty for the whole.
    """

    words: str
    page: bytes
    budget: bytes
    advice: bytes
    analysis: "RooflineAnalysis"
    answer: "Answer"

    def roofline(self, *, infeed: bool) -> bytes:
        """The analysis as JSON, with or without infeed and outfeed."""
        from roofline.exports.records import analysis_to_json

        return analysis_to_json(self.analysis, include_infeed_outfeed=infeed, answer=self.answer)

    def csv(self, *, infeed: bool, about: str = "") -> bytes:
        """The ops as CSV, with or without infeed and outfeed; each row with the address `about`."""
        from roofline.exports.about import csv_with_about
        from roofline.exports.records import ops_to_csv

        text = ops_to_csv(self.analysis, include_infeed_outfeed=infeed, subject=self.answer.subject)
        if not about:
            return text
        return csv_with_about(text, device=self.analysis.device.name, profile=about)

    def op(self, index: int) -> bytes:
        """Details of one op beyond the page's, as JSON; `index` counts as in its page."""
        from roofline.presentation.op_details import op_details

        found = next(islice(op_details(self.analysis), index, None), None) if index >= 0 else None
        if found is None:
            raise BadViewError(
                f"The range has no operation {index}.", remedy="Open the profile's page again."
            )
        return found


def results_of_part(times: StoredTimes, part: Part) -> RangeResults:
    """The results of a part of the profile.

    Raises `NoSuchRangeError` for a range of a profile without a timeline or outside of it, and for
    an unknown host; `BadViewError` for peaks at another clock where none is known.
    """
    # The arithmetic is loaded when somebody asks: most servers answer other requests first.
    from roofline.analysis.analyse import analyse
    from roofline.analysis.records import AnalysisOptions
    from roofline.exports.answering import answered
    from roofline.presentation.budget_bar import budget_json
    from roofline.presentation.json_text import to_json
    from roofline.presentation.page import PageIdentity, build_page

    profile, device = stored_profile(times, part)
    analysis = analyse(profile, device, AnalysisOptions())
    identity = PageIdentity(id=times.id, created_at=times.created_at, file_sizes=times.file_sizes)
    found = answered(analysis, part.of or None)
    return RangeResults(
        words=_words(profile, device, found.answer.subject if part.of else None),
        page=build_page(analysis, found.answer, identity),
        budget=to_json(budget_json(analysis, found.answer.subject)),
        advice=to_json(found.advice),
        analysis=analysis,
        answer=found.answer,
    )


def stored_profile(times: StoredTimes, part: Part | None) -> "tuple[Profile, Device]":
    """The stored profile and its device; only a `part` of it, where one is given.

    Raises as `results_of_part`.
    """
    from roofline.analysis.running_clock import at_running_clock
    from roofline.analysis.time_range import in_range
    from roofline.model.stored import restored

    part = part or Part()
    found = restored(gzip.decompress(times.packed))
    profile, device = _host(found, part.host) if part.host else found
    if part.has_times:
        profile = in_range(profile, part.from_us * PS_PER_US, part.to_us * PS_PER_US)
    return at_running_clock(profile, device) if part.dvfs else (profile, device)


def _host(hosts: "tuple[tuple[str, Profile, Device], ...]", name: str) -> "tuple[Profile, Device]":
    for known, profile, device in hosts:
        if known == name:
            return profile, device
    names = ", ".join(known for known, _, _ in hosts[:_NAMES_SHOWN])
    raise NoSuchRangeError(
        f"The profile has no host “{name[:200]}” that can be shown alone.",
        remedy=f"Its hosts are: {names}." if names else "Hosts of a JAX or XLA capture can.",
    )


def _words(profile: "Profile", device: "Device", subject: "Subject | None") -> str:
    """Which part it is, in sentences; `subject` is the one that was asked for, if any."""
    bounds = profile.time_range_ps
    parts = [f"the host {profile.host}, one of {len(profile.all_hosts)}"] if profile.host else []
    if bounds is not None:
        parts.append(" to ".join(f"{ps / PS_PER_MS:.6g}" for ps in bounds) + " ms of this capture")
    said = [f"All numbers are of {', and of '.join(parts)}."] if parts else []
    if device.dvfs_scale is not None:
        said.append(
            f"Compute and VMEM peaks are those at the clock that ran: × {device.dvfs_scale:.4g}."
        )
    if subject is not None:
        said.append(_about(subject))
    return " ".join(said)


def _about(subject: "Subject") -> str:
    """What the first sentences and the advice are of, where that was asked for."""
    said = f"The first sentences and the advice are of: {subject.label}."
    if not subject.not_found:
        return said
    return f"The profile has no subject “{subject.not_found}”. {said}"

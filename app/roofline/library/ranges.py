"""Parts of a stored profile, and the whole under other peaks: its results, computed when asked for.

A part is a range of its time, one of its hosts, or its whole by the peaks at the clock that ran, of
another device or set by hand.
"""

import gzip
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from roofline.errors import BadViewError, NoSuchRangeError
from roofline.model.units import PS_PER_MS, PS_PER_US

_NAMES_SHOWN = 10
# What a prepared part takes with all that is kept beside it (measured: 200 to 1,000 operations).
_LEAST_MEMORY_BYTES, _MEMORY_PER_STORED = 512 << 10, 3

if TYPE_CHECKING:
    from roofline.analysis.analyse import Prepared
    from roofline.analysis.records import RooflineAnalysis
    from roofline.analysis.subjects.records import Subject
    from roofline.exports.answering import Answered
    from roofline.model.device import Device
    from roofline.model.profile import Profile
    from roofline.presentation.charts.choices import Infeed
    from roofline.presentation.page import PageIdentity
    from roofline.presentation.verdict import Answer
    from roofline.presentation.what_if import OwnPeaks


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The shown part of a profile: from `from_us` to `to_us` of its capture, one host (empty: all),
    and by which peaks: with `dvfs` those at the clock that ran; those of `device`, the id of a part
    (empty: its own); `peaks` set by hand, as `hbm=3350GB/s`. `of` is the address of the subject,
    empty for the default one. Of its ops those with `q` in their name are found, ordered by the
    column `sort`."""

    from_us: float = 0.0
    to_us: float = math.inf
    host: str = ""
    dvfs: bool = False
    of: str = ""
    device: str = ""
    peaks: tuple[str, ...] = ()
    q: str = ""
    sort: str = ""

    @property
    def has_times(self) -> bool:
        """True where it is a range of the time."""
        return self.from_us > 0 or math.isfinite(self.to_us)

    @property
    def measured(self) -> "Part":
        """The part that was measured, whatever the peaks."""
        own = Part(from_us=self.from_us, to_us=self.to_us, host=self.host)
        return replace(own, q=self.q, sort=self.sort)

    @property
    def of_all_ops(self) -> "Part":
        """The part without a search or an order."""
        return replace(self, q="", sort="")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTimes:
    """The stored times of a profile, or of each of its hosts, gzip, and the page's words beside.

    `etag` is that of the stored bytes, which `read` gets.
    """

    id: str
    etag: str
    created_at: str
    file_sizes: dict[str, int]
    read: Callable[[], bytes]


@dataclass(slots=True, kw_only=True, eq=False)
class PreparedPart:
    """A part of a profile, ready to be computed under any peaks: its own are those of `device`.

    `facts` and its analysis under its `own` peaks are there once a view needed them; two threads
    that make them make the same. `memory_bytes` counts them, too.
    """

    prepared: "Prepared"
    device: "Device"
    memory_bytes: int
    facts: dict[str, Any] | None = None
    own: "RooflineAnalysis | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeResults:
    """The results of one part: its analysis, and each document of it, made when asked for.

    `words` say which part it is; empty for the whole. `own` is there under other peaks than its
    own. The page's documents are of `listed`, which has what was searched for beside the longest
    ops; exports have it alone.
    """

    words: str
    own: "OwnPeaks | None"
    identity: "PageIdentity"
    part: PreparedPart
    analysis: "RooflineAnalysis"
    answered: "Answered"
    listed: "RooflineAnalysis"

    @property
    def answer(self) -> "Answer":
        """What its sentences are of, and its verdict."""
        return self.answered.answer

    def page(self) -> bytes:
        """The page data."""
        from roofline.presentation.page import build_page

        return build_page(self.listed, self.answer, self.identity, self.own)

    def facts(self) -> bytes:
        """The page data that every device has in common."""
        from roofline.presentation.json_text import to_json

        return to_json(self._facts())

    def view(self, *, infeed: "Infeed") -> "tuple[dict[str, Any], dict[str, Any]]":
        """The page data that follow from the peaks, with the advice under them, and those of both
        documents together."""
        from roofline.presentation.facts_and_view import joined
        from roofline.presentation.page import view_data

        facts = self._facts()
        view = view_data(self.listed, self.answer, self.identity, infeed, facts, self.own)
        return {**view, "advice": self.answered.advice}, joined(facts, view, infeed)

    def _facts(self) -> dict[str, Any]:
        from roofline.presentation.page import facts_data

        if self.is_searched:
            return facts_data(self.listed, self.answer, self.identity)
        facts = self.part.facts or facts_data(self.analysis, self.answer, self.identity)
        self.part.facts = facts
        return facts

    @property
    def is_searched(self) -> bool:
        """True where ops were searched for."""
        return self.listed is not self.analysis

    def searching(self, part: Part) -> "RangeResults":
        """The results with the ops found that `part` asks for; raises `BadViewError`."""
        if part == part.of_all_ops:
            return self
        from roofline.presentation.listing import Listing, found_alone, found_beside

        listing, subject = Listing(q=part.q, sort=part.sort), self.answer.subject
        return replace(
            self,
            analysis=found_alone(self.analysis, subject, listing),
            listed=found_beside(self.analysis, subject, listing),
        )

    def on_parts(self, ids: Sequence[str], *, usual: bool = False) -> "Mapping[str, Any]":
        """What the subject would take on its own device and on parts of the catalogue.

        `usual` adds those that a table begins with.
        """
        from roofline.devices import catalogue
        from roofline.devices.choice import known_part
        from roofline.presentation.other_devices import on_parts, usual_parts

        chosen = list(map(known_part, ids))
        own = catalogue.find(self.analysis.device.part_id or "")
        shown = usual_parts(own) if usual else ()
        return on_parts(self.part.prepared, self.listed, self.answer.subject, chosen, shown)

    def advice(self) -> bytes:
        """The advice as JSON; nothing in it is decided."""
        from roofline.presentation.json_text import to_json

        return to_json(self.answered.advice)

    def roofline(self, *, infeed: bool) -> bytes:
        """The analysis as JSON, with or without infeed and outfeed."""
        from roofline.exports.records import analysis_to_json

        return analysis_to_json(self.analysis, include_infeed_outfeed=infeed, answer=self.answer)

    def csv(self, *, infeed: bool, about: str = "") -> bytes:
        """The ops as CSV, with or without infeed and outfeed; each row with the address `about`."""
        from roofline.exports.csv_files import csv_with_about
        from roofline.exports.records import ops_to_csv

        text = ops_to_csv(self.analysis, include_infeed_outfeed=infeed, subject=self.answer.subject)
        if not about:
            return text
        return csv_with_about(text, device=self.analysis.device.name, profile=about)

    def op(self, index: int) -> bytes:
        """Details of one op beyond the page's, as JSON; `index` counts as in its page."""
        from roofline.presentation.op_details import op_details

        found = next(islice(op_details(self.listed), index, None), None) if index >= 0 else None
        if found is None:
            raise BadViewError(
                f"The range has no operation {index}.", remedy="Open the profile's page again."
            )
        return found


def prepared_part(times: StoredTimes, part: Part) -> PreparedPart:
    """The measured part of a profile, restored and prepared.

    Raises `NoSuchRangeError` for a range of a profile without a timeline or outside of it, and for
    an unknown host.
    """
    # The arithmetic is loaded when somebody asks: most servers answer other requests first.
    from roofline.analysis.analyse import prepare
    from roofline.analysis.records import AnalysisOptions
    from roofline.analysis.time_range import in_range
    from roofline.devices.resolve import resolve
    from roofline.model.stored import restored

    content = gzip.decompress(times.read())
    found = restored(content)
    profile, device = _host(found, part.host) if part.host else found
    device = replace(device, network=resolve(profile.device).network)
    if part.has_times:
        profile = in_range(profile, part.from_us * PS_PER_US, part.to_us * PS_PER_US)
    memory_bytes = _LEAST_MEMORY_BYTES + _MEMORY_PER_STORED * len(content)
    return PreparedPart(
        prepared=prepare(profile, AnalysisOptions()), device=device, memory_bytes=memory_bytes
    )


def results_of_part(found: PreparedPart, identity: "PageIdentity", part: Part) -> RangeResults:
    """The results of a prepared part under the peaks that `part` names.

    Raises `BadViewError` for a device or a peak that is not known, `NoSuchRangeError` for peaks at
    another clock where none is known.
    """
    from roofline.analysis.analyse import hold
    from roofline.analysis.other_device import at_running_clock, under_other_peaks
    from roofline.analysis.subjects.choose import choose
    from roofline.analysis.verdict import verdict_of
    from roofline.devices.choice import read_choice
    from roofline.devices.measured import read_machine
    from roofline.devices.resolve import resolve
    from roofline.exports.answering import answered
    from roofline.presentation.verdict import Answer
    from roofline.presentation.what_if import OwnPeaks

    profile, device = found.prepared.profile, found.device
    own: OwnPeaks | None = None
    if part.device or part.peaks:
        choice = read_choice(part.device or None, part.peaks)
        found.own = found.own or hold(found.prepared, device)
        subject = choose(found.own, part.of or None)
        own_answer = Answer(subject=subject, verdict=verdict_of(found.own, subject))
        own = OwnPeaks(analysis=found.own, answer=own_answer, choice=choice)
        other = resolve(profile.device, choice=choice, machine=read_machine())
        profile, device = under_other_peaks(profile, device, other)
    if part.dvfs:
        profile, device = at_running_clock(profile, device)
    prepared = replace(found.prepared, profile=profile)
    analysis = hold(prepared, device)
    answer = answered(analysis, part.of or None)
    return RangeResults(
        words=_words(profile, device, answer.answer.subject if part.of else None),
        own=own,
        identity=identity,
        part=found,
        analysis=analysis,
        answered=answer,
        listed=analysis,
    )


def identity_of(times: StoredTimes) -> "PageIdentity":
    """Whose times these are, for its page."""
    from roofline.presentation.page import PageIdentity

    return PageIdentity(id=times.id, created_at=times.created_at, file_sizes=times.file_sizes)


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

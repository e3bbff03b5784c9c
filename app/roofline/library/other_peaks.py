"""Advice on a stored profile held against other peaks than its own."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roofline.library.ranges import Part, StoredTimes, stored_profile

if TYPE_CHECKING:
    from roofline.analysis.records import RooflineAnalysis


@dataclass(frozen=True, slots=True)
class ChosenPeaks:
    """Another device by name, `None` for the profile's own, and peaks such as "hbm=3.35TB/s"."""

    device: str | None
    peaks: tuple[str, ...]


def advice_by(times: StoredTimes, chosen: ChosenPeaks, part: Part | None = None) -> bytes:
    """The document of `roofline advise --device --peak --format json`, of a `part` of the profile.

    Raises `BadViewError` for a device or a peak that is not known, `NoSuchRangeError` for a part
    that the profile does not have.
    """
    from roofline.exports.answering import answered
    from roofline.presentation.json_text import to_json

    analysis = _analysis(times, chosen, part)
    return to_json(answered(analysis, (part.of if part else "") or None).advice)


def page_by(times: StoredTimes, chosen: ChosenPeaks, part: Part | None = None) -> bytes:
    """The page data by these peaks; raises as `advice_by`."""
    from roofline.exports.answering import answer_of
    from roofline.presentation.page import PageIdentity, build_page

    analysis = _analysis(times, chosen, part)
    identity = PageIdentity(id=times.id, created_at=times.created_at, file_sizes=times.file_sizes)
    return build_page(analysis, answer_of(analysis, (part.of if part else "") or None), identity)


def _analysis(times: StoredTimes, chosen: ChosenPeaks, part: Part | None) -> "RooflineAnalysis":
    # The arithmetic is loaded when somebody asks: most servers answer other requests first.
    from roofline.analysis.analyse import analyse
    from roofline.analysis.records import AnalysisOptions
    from roofline.analysis.running_clock import at_running_clock
    from roofline.devices import resolve
    from roofline.devices.choice import read_choice
    from roofline.devices.this_machine import read_machine

    choice = read_choice(chosen.device, chosen.peaks)
    profile, own = stored_profile(times, part)
    device = resolve(profile.device, choice=choice, machine=read_machine())
    if own.dvfs_scale is not None:
        profile, device = at_running_clock(profile, device)
    return analyse(profile, device, AnalysisOptions())

"""`what_if` and `in_formats`: a profile by other peaks, on other parts, in other number formats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from roofline.analysis.analyse import analyse, prepare
from roofline.analysis.records import AnalysisOptions
from roofline.api.agents.answers import OPS_SHOWN, answer, cell, head, number, quoted, tsv
from roofline.api.agents.reading import Reading, reading_of
from roofline.api.profiles import AnyPath, Profile, opened
from roofline.api.results import Record, Result
from roofline.compare.from_analysis import run_of
from roofline.devices import catalogue
from roofline.devices.choice import known_part, read_choice
from roofline.errors import BadViewError
from roofline.exports.certainty import MODELLED
from roofline.exports.number_formats import (
    Formats,
    formats_record,
    formats_text,
    link_words,
    with_formats,
)
from roofline.pipeline import under_choice
from roofline.presentation.other_device_words import HEADS
from roofline.presentation.other_devices import on_parts, usual_parts

_OPS_ON_PART = 5


def what_if(
    profile: Profile | AnyPath,
    *,
    device: str | None = None,
    peaks: Sequence[str] = (),
    sustained: Sequence[str] = (),
) -> Profile:
    """The profile by the peaks of another part, or by some that are given; its times stay.

    The options are those of `open_profile`. Raises `BadViewError` for an unknown part, and where
    nothing is changed.
    """
    found = opened(profile)
    choice = read_choice(device, peaks, sustained)
    if choice.is_empty:
        raise BadViewError("Nothing is changed.", remedy="Name a device, or peaks.")
    held = under_choice(found.analysis.measured, found.analysis.device, choice)
    return replace(found, analysis=analyse(*held, found.analysis.options))


@dataclass(frozen=True, eq=False, repr=False)
class InFormats(Result):
    """A profile with other number formats; docs/explore.md. `reading` is not a stable surface."""

    reading: Reading
    formats: Formats

    @cached_property
    def _document(self) -> dict[str, Any]:
        run = run_of(self.reading.profile.analysis, self.reading.name)
        return formats_record(with_formats(run, self.formats))

    @property
    def sentence(self) -> str:
        """How long it takes, how long it would, and what that saves."""
        return f"{self.to_text().partition(chr(10))[0]}."

    @property
    def after_us(self) -> float:
        """The time per unit and core in these formats, in us."""
        found: float = self._document["after_us"]
        return found

    @property
    def saving_us(self) -> float:
        """What that saves."""
        found: float = self._document["saving_us"]
        return found

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline whatif --format json`."""
        return dict(self._document)

    def to_text(self) -> str:
        """What `roofline whatif` prints."""
        return formats_text(self._document)

    def to_markdown(self) -> str:
        """What `roofline whatif --format markdown` prints."""
        record = self._document
        links = "fewer bytes over links" if "link_bytes" in record else ""
        named = ", ".join(one for one in (record["storage"], record["compute"], links) if one)
        keys = ("now_us", "after_us", "saving_us", "unknown_share")
        rows = [
            (
                *(number(one[key]) for key in ("now_us", "after_us")),
                one["limited_by"] or "-",
                quoted(one["name"]),
            )
            for one in self.rows()[:OPS_SHOWN]
        ]
        lines = tsv(("quantity", "value"), [(key, number(record[key])) for key in keys])
        lines += filter(None, [link_words(record)])
        lines += tsv(("now_us", "after_us", "limited_by", "name"), rows)
        return modelled(f"in {cell(named)}", lines, self.reading)

    def rows(self) -> Sequence[Record]:
        """One row per operation that changes, the largest change first."""
        found: Sequence[Record] = self._document["ops"]
        return found


def in_formats(
    profile: Profile | AnyPath,
    *,
    storage: str | None = None,
    compute: str | None = None,
    tensors: str = "auto",
    category: str = "",
    op: str = "",
    link_bytes: float | None = None,
) -> InFormats:
    """The profile with tensors stored, or products computed, in another number format.

    With `link_bytes` collectives move that part of their bytes: 0.5 with shorter gradients. The
    options are those of `roofline whatif`. Raises `BadViewError` for a format that is not known, or
    has no peak here, and without communication that takes time.
    """
    formats = Formats(
        storage=storage,
        tensors=tensors,
        compute=compute,
        category=category,
        op=op,
        link_bytes=link_bytes,
    )
    found = InFormats(reading_of(opened(profile)), formats)
    found.to_dict()
    return found


def over_parts(profile: Profile, names: Sequence[str], least: int = 0) -> Mapping[str, Any]:
    """The subject on its own device, on the parts of these names and on the usual ones.

    The longest operations stand on the named parts, or, where none is, on the `least` first of the
    usual ones. Raises `BadViewError` for a part that the catalogue does not have.
    """
    analysis = profile.analysis
    usual = usual_parts(catalogue.find(analysis.device.part_id or ""))
    chosen = [known_part(name) for name in names] or usual[:least]
    prepared = prepare(analysis.measured, AnalysisOptions())
    return on_parts(prepared, analysis, profile.answered.answer.subject, chosen, usual)


def on_part(reading: Reading, device: str) -> str:
    """The subject and its longest operations on another part, at best.

    Raises `BadViewError` for a part that the catalogue does not have.
    """
    part = known_part(device)
    found = over_parts(reading.profile, [part.id])
    here, others = found["here"], [*found["devices"], *found["usual"]]
    rows = [(quoted(f"{here['name']}, here"), *(one or "-" for one in here["texts"]))]
    rows += [(quoted(one["name"]), *one["texts"]) for one in others]
    lines = tsv(HEADS, [[cell(one) for one in row] for row in rows])
    lines += [f"{quoted(one['name'])}: {cell(note)}" for one in others for note in one["notes"]]
    best = zip(found["ops"], here["best"], found["devices"][0]["best"], strict=True)
    ops = [(quoted(name), cell(ours), cell(theirs)) for name, ours, theirs in best]
    lines += ["the longest operations, at best: rate, share of the peak, and what it is held by:"]
    lines += tsv(("name", "here", part.id), ops[:_OPS_ON_PART])
    return modelled(f"on {cell(part.name)}", lines, reading)


def under_peaks(reading: Reading, peaks: Sequence[str]) -> str:
    """The profile under peaks that were given."""
    reading = replace(reading, profile=what_if(reading.profile, peaks=peaks))
    return modelled(f"under {cell(', '.join(peaks))}", head(reading), reading)


def modelled(what: str, lines: Sequence[str], reading: Reading) -> str:
    """What an agent is told of a profile as it would be: `what` of it is not as it was measured."""
    first = f"{quoted(reading.name)} {what}: a calculation from this profile (certain: {MODELLED})"
    return answer([first, *lines], [])

"""Stored profiles against each other, with other number formats, on other parts, and over time.

The arithmetic is loaded when somebody asks: most servers answer other requests first.
"""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.compare.partners import LEAST_SAME, same_ratio
from roofline.errors import ProfileNotFoundError, SettingsError
from roofline.library.reader import ProfileLists, ProfileReader
from roofline.presentation.titles import series_name
from roofline.storage.records import Manifest

if TYPE_CHECKING:
    from roofline.compare.gate.budget import Budget
    from roofline.compare.gate.check import Report
    from roofline.compare.run import Run
    from roofline.compare.series_records import RunNumbers, Standing, TimeChange
    from roofline.estimate.llm.step import Step
    from roofline.library.ranges import RangeResults


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One capture: its title, and what a comparison needs of it, as stored (gzip)."""

    title: str
    etag: str
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The captures of both sides."""

    a: tuple[StoredRun, ...]
    b: tuple[StoredRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPage:
    """The page of a comparison: all its data as JSON (gzip), and the words of its frame."""

    packed: bytes
    frame: Mapping[str, Any]


_LEVEL = 5  # of gzip: a tenth larger than at 9, in a third of the time


def compare_profiles(sides: Sides, unit: str | None) -> bytes:
    """The document of `roofline compare --format json`.

    Raises `BadViewError` for a unit that a capture does not have.
    """
    from roofline.compare.comparison import compare
    from roofline.exports.comparison import comparison_to_json

    return comparison_to_json(compare(*runs_of(sides), unit))


def compare_for_page(sides: Sides, unit: str | None) -> ComparedPage:
    """The same for the page; raises like `compare_profiles`."""
    from roofline.compare.comparison import common_units, compare
    from roofline.exports.comparison_page import comparison_frame, comparison_page
    from roofline.presentation.json_text import to_json

    a, b = runs_of(sides)
    found, units = compare(a, b, unit), common_units((*a, *b))
    return ComparedPage(
        packed=gzip.compress(to_json(comparison_page(found) | {"units": units}), _LEVEL, mtime=0),
        frame=comparison_frame(found) | {"units": units},
    )


def packed_run(results: "RangeResults") -> bytes:
    """The run of a part of a profile, of its subject alone, as stored (gzip)."""
    from roofline.compare.from_analysis import run_of
    from roofline.compare.run import run_to_json

    run = run_of(results.analysis, subject=results.answer.subject)
    return gzip.compress(run_to_json(run), _LEVEL, mtime=0)


def runs_of(sides: Sides) -> tuple[list["Run"], list["Run"]]:
    """The stored captures of both sides, read."""
    return [*map(read_run, sides.a)], [*map(read_run, sides.b)]


def read_run(stored: StoredRun) -> "Run":
    """The run that a stored profile has."""
    return replace(_run(stored.packed), label=stored.title)


def formats_over(stored: StoredRun, given: Mapping[str, Any]) -> dict[str, Any]:
    """The document of `roofline whatif --format json`; `given` are the fields of `Formats`."""
    from roofline.exports.number_formats import Formats, formats_record, with_formats

    return formats_record(with_formats(read_run(stored), Formats(**given)))


def predict_over(step: "Step", stored: StoredRun) -> dict[str, Any]:
    """The `coverage` and `over` of `roofline predict --over`."""
    from roofline.exports.model_overlay import overlay, overlay_record

    return overlay_record(overlay(step, read_run(stored)))


def numbers_of(packed: bytes) -> Mapping[str, "RunNumbers"]:
    """The numbers of a stored run by unit, the best unit first; `packed` is gzip."""
    from roofline.compare.series import numbers_by_unit

    return numbers_by_unit(_run(packed))


def standing_of_pair(base: bytes, run: bytes, budget: "Budget", unit: str, day: date) -> "Standing":
    """Where a stored run stands against another one."""
    from roofline.compare.series import check_pair, standing_of

    return standing_of(check_pair(_run(base), _run(run), budget, unit, day, explains=False), budget)


def report_of_pair(base: bytes, run: bytes, budget: "Budget", unit: str, day: date) -> "Report":
    """The whole report on a stored run against another one."""
    from roofline.compare.series import check_pair

    return check_pair(_run(base), _run(run), budget, unit, day, explains=True)


def changes_of(numbers: Sequence["RunNumbers"]) -> tuple["TimeChange", ...]:
    """The lasting changes of time over the runs of a series."""
    from roofline.compare.series import changes_over

    return changes_over(numbers)


def words_of_change(change: "TimeChange", sides: Sides, unit: str, runs: int) -> str:
    """A lasting change in a series of `runs` runs in words; `sides` are those of the change."""
    from roofline.exports.series import change_words

    return change_words(change, *runs_of(sides), unit, runs)


def budget_of_server(path: Path | None) -> "Budget":
    """The limits of this server's series: those of the file, else the default ones.

    Raises `SettingsError` where the file cannot be read.
    """
    from roofline.compare.gate.budget import DEFAULT, read_budget

    if path is None:
        return DEFAULT
    try:
        return read_budget(path.read_bytes(), path.name)
    except OSError as error:
        raise SettingsError(
            "The budget of this server cannot be read.",
            remedy="Its administrator should check the file in ROOFLINE_BUDGET_FILE.",
        ) from error


def unit_of(runs: Sequence[Mapping[str, "RunNumbers"]]) -> str:
    """The best unit that all runs have; every capture has itself."""
    from roofline.compare.series import unit_of_all

    return unit_of_all(runs)


def words_of_report(report: "Report") -> dict[str, Any]:
    """A report as its page shows it."""
    from roofline.exports.gate import report_words

    return report_words(report)


@lru_cache(maxsize=2)  # a base and the run held against it
def _run(packed: bytes) -> "Run":
    from roofline.compare.run import run_from_json

    return run_from_json(gzip.decompress(packed))


MOST_LISTED = 30
MOST_LOOKED_AT = 500
"""Profiles whose operations are compared, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A profile to compare with.

    `same_ratio` is the share of the operations' time that both spend in the same ones, `None` where
    it is not known; `reason` says why it is likely, "" where it is not.
    """

    manifest: Manifest
    same_ratio: float | None
    reason: str


def partners(
    reader: ProfileReader, lists: ProfileLists, profile_id: str, text: str = ""
) -> tuple[Partner, ...]:
    """The partners of a ready profile, the likeliest one first; those with the words of `text`.

    First those with `LEAST_SAME` of the operations' time in common, then those of the same title,
    those with the same tag, and all others; the newest of equal ones first.
    """
    own = reader.manifest(profile_id)
    shares = lists.op_shares(profile_id, MOST_LOOKED_AT)
    mine = shares.pop(profile_id, {})
    same = {one: same_ratio(mine, other) for one, other in shares.items()} if mine else {}
    offered = _found(lists, text) if text else _likely(reader, lists, own, same)
    found = {one.id: one for one in offered if one.id != profile_id}
    listed = [_partner(own, one, same.get(one.id)) for one in found.values()]
    listed.sort(key=lambda one: one.manifest.created_at, reverse=True)
    listed.sort(key=lambda one: _rank(own, one))
    return tuple(listed[:MOST_LISTED])


def _found(lists: ProfileLists, text: str) -> Iterator[Manifest]:
    yield from lists.search(text, limit=MOST_LISTED + 1).profiles


def _likely(
    reader: ProfileReader, lists: ProfileLists, own: Manifest, same: dict[str, float]
) -> Iterator[Manifest]:
    for one in sorted(same, key=same.__getitem__, reverse=True)[:MOST_LISTED]:
        if same[one] >= LEAST_SAME:
            try:
                yield reader.manifest(one)
            except ProfileNotFoundError:  # deleted since
                continue
    yield from _found(lists, series_name(own.title))
    for tag in own.tags:
        yield from lists.search(tag=tag, limit=MOST_LISTED + 1).profiles
    yield from _found(lists, "")


def _partner(own: Manifest, other: Manifest, same: float | None) -> Partner:
    return Partner(manifest=other, same_ratio=same, reason=_reason(own, other, same or 0.0))


def _reason(own: Manifest, other: Manifest, same: float) -> str:
    if same >= LEAST_SAME:
        return f"{same:.0%} the same operations".replace("%", " %")
    if series_name(other.title) == series_name(own.title):
        return "same title"
    tag = next((one for one in own.tags if one in other.tags), "")
    return f"same tag: {tag}" if tag else ""


def _rank(own: Manifest, one: Partner) -> tuple[float, bool, bool]:
    same = one.same_ratio or 0.0
    return (
        -round(same, 2) if same >= LEAST_SAME else 0.0,
        series_name(one.manifest.title) != series_name(own.title),
        not set(own.tags) & set(one.manifest.tags),
    )

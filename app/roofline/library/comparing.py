"""Stored profiles against each other."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roofline.compare.run import Run
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


_IN_FRAME = ("unit", "a_us", "b_us", "verdict", "comparable", "notes", "differences", "checks")
_LEVEL = 5  # of gzip: a tenth larger than at 9, in a third of the time


def compare_profiles(sides: Sides, unit: str | None) -> bytes:
    """The document of `roofline compare --format json`.

    Raises `BadViewError` for a unit that a capture does not have.
    """
    # The arithmetic is loaded when somebody compares: most servers answer other requests first.
    from roofline.compare.comparison import compare
    from roofline.exports.comparison import comparison_to_json

    return comparison_to_json(compare(*runs_of(sides), unit))


def compare_for_page(sides: Sides, unit: str | None) -> ComparedPage:
    """The same for the page; raises like `compare_profiles`."""
    from roofline.compare.comparison import common_units, compare
    from roofline.exports.comparison_page import comparison_page
    from roofline.presentation.json_text import to_json

    a, b = runs_of(sides)
    record = {**comparison_page(compare(a, b, unit)), "units": common_units((*a, *b))}
    return ComparedPage(
        packed=gzip.compress(to_json(record), _LEVEL, mtime=0),
        frame={name: record[name] for name in _IN_FRAME} | {"sides": record["page"]["sides"]},
    )


def packed_run(results: "RangeResults") -> bytes:
    """The run of a part of a profile, of its subject alone, as stored (gzip)."""
    from roofline.compare.from_analysis import run_of
    from roofline.compare.run import run_to_json

    run = run_of(results.analysis, subject=results.answer.subject)
    return gzip.compress(run_to_json(run), _LEVEL, mtime=0)


def runs_of(sides: Sides) -> tuple[list["Run"], list["Run"]]:
    """The stored captures of both sides, read."""
    from roofline.compare.run import run_from_json

    a, b = (
        [replace(run_from_json(gzip.decompress(one.packed)), label=one.title) for one in side]
        for side in (sides.a, sides.b)
    )
    return a, b

"""Stored profiles against each other."""

import gzip
from dataclasses import dataclass, replace


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


def compare_profiles(sides: Sides, unit: str | None) -> bytes:
    """The document of `roofline compare --format json`.

    Raises `BadViewError` for a unit that a capture does not have.
    """
    # The arithmetic is loaded when somebody compares: most servers answer other requests first.
    from roofline.compare.comparison import compare
    from roofline.compare.run import run_from_json
    from roofline.exports.comparison import comparison_to_json

    a, b = (
        [replace(run_from_json(gzip.decompress(one.packed)), label=one.title) for one in side]
        for side in (sides.a, sides.b)
    )
    return comparison_to_json(compare(a, b, unit))

"""The groupings of ops, and how a person writes one: `layer:3` is three levels of the path."""

from typing import NamedTuple

LABELS = {
    "module": "module",
    "layer": "layer",
    "category": "category",
    "source": "source line",
    "program": "program",
    "kernel": "kernel template",
    "dtype": "element type",
    "phase": "phase",
    "bound": "bound",
}
DIMENSIONS = tuple(LABELS)
_EARLIER = {"path": "layer"}


class Grouping(NamedTuple):
    """The key of the groups of ops, and the most levels of groups; `None`: all."""

    by: str
    depth: int | None = None

    def __str__(self) -> str:
        return self.by if self.depth is None else f"{self.by}:{self.depth}"


def read_grouping(text: str) -> Grouping:
    """The grouping that `text` says; `ValueError` where it says none."""
    by, colon, levels = text.partition(":")
    by = _EARLIER.get(by, by)
    if by not in DIMENSIONS:
        raise ValueError(f"“{by}” is none of {', '.join(DIMENSIONS)}")
    if colon and not (levels.isascii() and levels.isdecimal() and int(levels) > 0):
        raise ValueError(f"“{levels}” is not a number of levels, as in {by}:3")
    return Grouping(by, int(levels) if colon else None)

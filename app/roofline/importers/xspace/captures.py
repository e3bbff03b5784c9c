"""Files of one host that were captured one after the other: runs of their own, not hosts of one."""

from collections.abc import Sequence
from typing import NamedTuple

from roofline.errors import FileGroup, MixedUploadError


class Captured(NamedTuple):
    """The host of a capture, "" where the file does not name it, and its time in ns since 1970;
    `None` where the file does not say both ends."""

    hostname: str
    span_ns: tuple[int, int] | None = None


def captures_of(files: Sequence[Captured]) -> list[list[int]]:
    """The places of the files of each run: the first capture of every host, the second, and so on.

    All are one run where no host was captured twice. Files that overlap in time, or do not say
    theirs, are processes of one run.
    """
    order = sorted(range(len(files)), key=lambda at: (files[at].span_ns or (0, 0), at))
    number: dict[int, int] = {}
    for at in order:
        before = [number[other] for other in number if _is_later(files[at], files[other])]
        number[at] = max(before, default=-1) + 1
    runs = range(max(number.values(), default=-1) + 1)
    return [[at for at in range(len(files)) if number[at] == run] for run in runs]


def _is_later(one: Captured, other: Captured) -> bool:
    """True for a capture of the same host that began after the other had ended."""
    if not one.hostname or one.hostname != other.hostname:
        return False
    return (
        one.span_ns is not None
        and other.span_ns is not None
        and (one.span_ns[0] >= other.span_ns[1])
    )


def several_captures(runs: Sequence[Sequence[int]], names: Sequence[str]) -> MixedUploadError:
    """The error for files that are several runs."""
    groups = [
        FileGroup(f"capture {number}", tuple(names[at] for at in run), tuple(run))
        for number, run in enumerate(runs, start=1)
    ]
    return MixedUploadError(
        f"These files are {len(runs)} captures of one host, one after the other, so they are not"
        " one profile.",
        remedy="Make one profile of each, and compare them.",
        groups=groups,
    )

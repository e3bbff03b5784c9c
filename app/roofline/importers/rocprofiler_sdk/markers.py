"""Ranges that a program marks with roctx, as the groups of the kernels launched inside them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from roofline.importers.rocprofiler_sdk.document import Process

MARKER = "MARKER"
"""The domain or category of roctx begins so."""

_INSTANCE = re.compile(r"[\s#:=_-]+\d{1,12}\Z")
_MOST_LETTERS = 200


class Marked(NamedTuple):
    """A range of a thread, or a launch, which has no length. Times are ns."""

    thread: int
    begin_ns: int
    end_ns: int
    name: str = ""


def paths(ranges: Iterable[Marked], launches: Sequence[Marked]) -> Iterator[str]:
    """The path of ranges around each launch, outermost first, without numbers of instances."""
    found: dict[tuple[int, int], str] = {}
    marks = [*(one for one in ranges if one.end_ns > one.begin_ns), *launches]
    marks.sort(key=lambda one: (one.thread, one.begin_ns, -one.end_ns))
    for _, of_thread in groupby(marks, key=lambda one: one.thread):
        open_ranges: list[Marked] = []
        for one in of_thread:
            while open_ranges and open_ranges[-1].end_ns <= one.begin_ns:
                open_ranges.pop()
            if one.end_ns > one.begin_ns:
                open_ranges.append(one)
            else:
                found[one.thread, one.begin_ns] = "/".join(map(_group, open_ranges))
    return (found[one.thread, one.begin_ns] for one in launches)


def _group(one: Marked) -> str:
    """`step 17` is `step`."""
    text = "".join(ch if ch.isprintable() else " " for ch in one.name[:_MOST_LETTERS]).strip()
    return (_INSTANCE.sub("", text) or text).replace("/", "∕") or "range"


def longest_paths(processes: Sequence[Process]) -> Mapping[str, str]:
    """The path in which each kernel ran longest, by its name."""
    times: dict[str, dict[str, int]] = {}
    for process in processes:
        for one in process.dispatches:
            lasted = one.times[1] - one.times[0] if one.times else 0
            mine = times.setdefault(one.kernel, {})
            mine[one.path] = mine.get(one.path, 0) + lasted
    return {kernel: max(mine, key=lambda path: mine[path]) for kernel, mine in times.items()}

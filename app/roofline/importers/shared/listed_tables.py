"""Tables of GPU work that profilers write as text: all launches in order, or sums by kernel.

A table is CSV, a list in JSON, or columns under a ruler of hyphens, in a box or not. It ends at an
empty line; several may follow each other, between lines that tell what the tool does. Their names
differ by version, so the words of their columns tell them.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from io import StringIO
from itertools import islice
from sys import intern

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError, UploadTooLargeError
from roofline.importers.shared.databases import ABSENT
from roofline.importers.shared.kernel_names import COPY
from roofline.importers.shared.launches import Launch, Launches, launch_tables, without_steps
from roofline.importers.shared.tables_text import (
    decimal_mark,
    decode,
    header_words,
    parse_number,
    sniff_delimiter,
)
from roofline.importers.source import SourceFile
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.notes import compared, differences, noted, notes_beside
from roofline.model.op_columns import I64
from roofline.model.profile import Host, Profile, Provenance
from roofline.model.units import (
    GIB,
    GIGA,
    KIB,
    KILO,
    MEGA,
    MIB,
    NS_PER_MS,
    NS_PER_S,
    NS_PER_US,
    PS_PER_NS,
    PS_PER_US,
)

Telling = Sequence[AbstractSet[str]]
"""Words of the columns that tell each kind of table, the fullest first."""

LaunchOf = Callable[..., Launch | None]
"""Makes a launch of a name, its calls and its time; `None` where it is of no GPU."""

Sizes = Mapping[tuple[str, int], list[int]] | None
"""Bytes by the name of a kind of copy and the count: one entry for each table of sizes."""

CALLS = ("instances", "count", "operations", "calls")
TIMES, NAMES = ("total time", "totaldurationns", "sum"), ("name", "operation", "kernel name")
_HEADER = re.compile(r"(?P<words>[^()]*?)\s*(?:\((?P<unit>[^()]*)\))?")
_MAY_BE_HEADER = re.compile(r"(?i)duration|total|sum")
_DASHES = re.compile(r"-{2,}")
_OF_STATS = re.compile(rb"Time \(%\)[ ,|\t]+Total Time \(")  # `nsys stats`: the host's come first
_LIST = re.compile(r"\s*\[\s*\{")
_LONGEST_HEADER, _NAME_SHOWN = 4_000, 60
_TOLERANCE = 0.01  # of the calls and times that another file states
_MOST, _MOST_ROWS = 2**60, 1_000_000
# Of times in ns, of sizes in bytes.
_UNITS = {
    "ns": 1, "nsec": 1, "us": NS_PER_US, "usec": NS_PER_US, "ms": NS_PER_MS, "msec": NS_PER_MS,
    "s": NS_PER_S, "sec": NS_PER_S, "seconds": NS_PER_S, "": 1,
    "b": 1, "kb": KILO, "mb": MEGA, "gb": GIGA, "kib": KIB, "mib": MIB, "gib": GIB,
}  # fmt: skip


class ListedTable:
    """A table of GPU work of the file `where`: its cells, by words of the columns.

    `rank` is its place among the kinds of tables.
    """

    def __init__(
        self,
        where: str,
        rank: int,
        header: Sequence[tuple[str, str]],
        rows: Iterator[Sequence[str]],
    ) -> None:
        self.where, self.rank = where, rank
        # Most cells repeat those of other rows.
        self._rows = [tuple(map(intern, row)) for row in islice(rows, _MOST_ROWS + 1)]
        if len(self._rows) > _MOST_ROWS:
            raise UploadTooLargeError(
                f"{where} lists more than {_MOST_ROWS:,} kernels and copies.",
                remedy="Give the profiler's database instead: for a report of Nsight Systems"
                " `nsys export --type sqlite -o report.sqlite report.nsys-rep` writes it.",
            )
        self._column = {words: k for k, (words, _) in reversed([*enumerate(header)])}
        self._unit = dict(reversed(header))
        short = next((k for k, row in enumerate(self._rows) if len(row) < len(header)), None)
        if short is not None:
            raise self._damaged(f"row {short + 1:,} of its table ends too early")

    def texts(self, *names: str) -> list[str]:
        """The cells of the first of these columns that there is; empty where there is none."""
        at = next((self._column[name] for name in names if name in self._column), None)
        return ["" if at is None else row[at].strip() for row in self._rows]

    def numbers(self, *names: str) -> I64:
        """The column in ns or bytes, `ABSENT` where a cell is empty."""
        values = self._values(*names)
        return np.array([ABSENT if one is None else round(one) for one in values], np.int64)

    def _values(self, *names: str) -> Iterator[float | None]:
        cells = self.texts(*names)
        unit = next((self._unit[name] for name in names if name in self._unit), "")
        factor, mark = _UNITS.get(unit.lower()), decimal_mark(cells)
        if factor is None:
            raise self._damaged(f"“{unit[:40]}” is not a unit of {names[0]}")
        for at, cell in enumerate(cells):
            try:
                value = int(cell) if cell.isdecimal() else parse_number(cell, mark)
            except ValueError as error:
                why = f"“{cell[:40]}” in row {at + 1:,} is not a number of {names[0]}"
                raise self._damaged(why) from error
            if value is not None and not 0 <= value * factor < _MOST:
                raise self._damaged(f"{cell[:40]} in row {at + 1:,} is beyond any capture")
            yield None if value is None else value * factor

    def sums(self, launch_of: LaunchOf, sizes: Sizes = None) -> Iterator[tuple[Launch, float]]:
        """The sum of each kernel, or kind of copy, and its time in ns with the fraction. Sizes are
        used up."""
        columns = (_apart(self.texts(*NAMES)), self.numbers(*CALLS).tolist(), self._values(*TIMES))
        for name, count, time_ns in zip(*columns, strict=True):
            time_ps = None if time_ns is None else round(time_ns * PS_PER_NS)
            size = {"size": found.pop(0)} if (found := (sizes or {}).get((name, count))) else {}
            launch = launch_of(name, calls=max(count, 1), time_ps=time_ps, **size)
            if launch is not None:
                yield launch, time_ns or 0.0

    def sizes(self) -> Iterator[tuple[tuple[str, int], int]]:
        """The bytes of each kind of copy, by its name and how many there were."""
        keys = zip(self.texts(*NAMES), self.numbers(*CALLS).tolist(), strict=True)
        return zip(keys, self.numbers("total").tolist(), strict=True)

    def _damaged(self, why: str) -> CorruptProfileError:
        return CorruptProfileError(
            f"{self.where}: {why}.", remedy="Let the profiler write the table again."
        )


def is_listed(source: SourceFile, told_by: Telling) -> bool:
    """True for a text with a table of GPU work: in its head, or behind tables of the host."""

    def holds(data: bytes) -> bool:
        return next(_headers(_lines(data), told_by), None) is not None

    return holds(source.head) or (bool(_OF_STATS.search(source.head)) and holds(bytes(source.data)))


def tables_of(data: bytes, where: str, told_by: Telling) -> Iterator[ListedTable]:
    """All tables of GPU work in a text."""
    lines = _lines(data)
    for at, rank, spans in _headers(lines, told_by):
        header = [_words(cell) for cell in next(_rows(lines[at : at + 1], lines[at], spans))]
        body = lines[at + (2 if spans else 1) :]
        end = next((k for k, row in enumerate(body) if not row.strip()), None)
        yield ListedTable(where, rank, header, _rows(body[:end], lines[at], spans))


def profile_of_sums(
    tables: Sequence[ListedTable],
    launch_of: LaunchOf,
    remedy: str,
    name: str = "",
    sizes: Sequence[ListedTable] = (),
) -> Profile:
    """The profile of sums: times without an order, of GPUs called `name`: one for each table of
    kernels, to which tables of copies and of their sizes belong. `remedy` says what has more."""
    moved: dict[tuple[str, int], list[int]] = {}
    for key, size in (one for table in sizes for one in table.sizes()):
        moved.setdefault(key, []).append(size)
    sums = [[launch for launch, _ in table.sums(launch_of, moved)] for table in tables]
    found = [launch for of_table in sums for launch in of_table]
    used = dict.fromkeys(table.where for table, some in zip(tables, sums, strict=True) if some)
    has_kernels = [any(one.category != COPY for one in of_table) for of_table in sums]
    gpus = Counter(one.where for one, has in zip(tables, has_kernels, strict=True) if has)
    gpus = gpus or Counter([*used])
    if not found:
        where = next(table.where for table in (*tables, *sizes))
        why = f"{where} adds up no time of a kernel or a copy on a GPU."
        raise IncompleteProfileError(why, remedy=remedy)
    ops, launches, *_ = launch_tables(Launches.of(found))
    return without_steps(
        ops,
        int(launches.time_ps.sum(dtype=np.uint64)),
        Provenance.MEASURED,
        device=ReportedDevice(kind=DeviceKind.GPU, name=name, core_count=gpus.total()),
        hosts=tuple(Host(file_name=one, hostname="", core_count=gpus[one]) for one in used),
        launches=launches,
        diagnostics=(noted(notes_beside(__file__), "work-summed", remedy=remedy),),
    )


def with_stated_sums(
    profile: Profile, tables: Sequence[ListedTable], launch_of: LaunchOf
) -> Profile:
    """The profile with the calls and times by kernel that other files of it state."""
    theirs: dict[str, tuple[int, float]] = {}
    for launch, time_ns in (one for table in tables for one in table.sums(launch_of)):
        known = theirs.get(launch.name, (0, 0.0))
        theirs[launch.name] = (known[0] + launch.calls, known[1] + time_ns)
    where = ", ".join(dict.fromkeys(table.where for table in tables))
    ops, place, stated = profile.ops, {name: k for k, name in enumerate(profile.ops.name)}, []
    for name, (calls, time_ns) in theirs.items():
        at, shown = place.get(name), name[:_NAME_SHOWN]
        ours, time_ps = (0, 0) if at is None else (int(ops.occurrences[at]), int(ops.time_ps[at]))
        ours_us, theirs_us = time_ps / PS_PER_US, time_ns / NS_PER_US
        stated += [
            compared(f"calls of {shown}", float(ours), float(calls), where, ratio=_TOLERANCE),
            compared(f"µs in {shown}", ours_us, theirs_us, where, ratio=_TOLERANCE),
        ]
    total_ps = sum(round(time_ns * PS_PER_NS) for _, time_ns in theirs.values())
    is_short = profile.op_time_ps < (1 - _TOLERANCE) * total_ps
    return replace(
        profile,
        stated=(*profile.stated, *stated),
        stated_total_ps=total_ps if is_short else None,
        diagnostics=(*profile.diagnostics, *differences(stated)),
    )


def _apart(names: Sequence[str]) -> Iterator[str]:
    """The names of sums: kernels whose names were cut to the same letters are others."""
    seen = Counter[str]()
    for name in names:
        seen[name] += 1
        is_cut = name.endswith(("…", "..."))
        yield f"{name} ({seen[name]})" if is_cut and seen[name] > 1 else name


def _lines(data: bytes) -> list[str]:
    text = "" if b"\x00" in data[:2] else decode(data)
    found = _LIST.match(text)
    return _of_list(text, found.end() - 1) if found else [*_unboxed(text.splitlines())]


def _unboxed(lines: Sequence[str]) -> Iterator[str]:
    """Lines without boxes: of the three rulers of each, the second stays, as hyphens."""
    rulers = 0
    for line in lines:
        if line.startswith("+-"):
            rulers += 1
            yield line.replace("+", " ") if rulers == 2 else ""
        else:
            rulers = rulers if line.startswith("|") else 0
            yield line.rstrip(" |") if rulers else line


def _of_list(text: str, at: int) -> list[str]:
    """A list of objects in JSON as lines of CSV, of which the last is short where it breaks off."""
    rows, decoder = list[list[str]](), json.JSONDecoder()
    try:
        while at >= 0:
            row, end = decoder.raw_decode(text, at)
            rows += [] if rows else [[*row]]
            rows.append(["" if cell is None else str(cell) for cell in row.values()])
            at = text.find("{", end)
        rows += [] if text.rstrip().endswith("]") else [[""]]
    except (ValueError, RecursionError):
        rows.append([""])
    lines = StringIO()
    csv.writer(lines).writerows(rows)
    return lines.getvalue().splitlines()


def _headers(lines: Sequence[str], told_by: Telling) -> Iterator[tuple[int, int, Sequence[slice]]]:
    """The place and rank of each header, and where its columns lie under a ruler."""
    for at, line in enumerate(lines):
        if not _MAY_BE_HEADER.search(line, 0, _LONGEST_HEADER):
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        is_ruler = not below.strip("- ")
        spans = [slice(*match.span()) for match in _DASHES.finditer(below)] if is_ruler else []
        words = {_words(cell)[0] for cell in next(_rows([line], line, spans))}
        rank = next((k for k, told in enumerate(told_by) if told <= words), None)
        if rank is not None:
            yield at, rank, spans


def _rows(lines: Sequence[str], header: str, spans: Sequence[slice]) -> Iterator[Sequence[str]]:
    """The cells of lines: as they lie under a ruler, else those of CSV."""
    if not spans:
        return iter(csv.reader(lines, delimiter=sniff_delimiter(header)))
    to_end = [*spans[:-1], slice(spans[-1].start, None)]
    return ([line[span] for span in to_end] for line in lines)


def _words(cell: str) -> tuple[str, str]:
    """A column's words, and the unit in its brackets."""
    match = _HEADER.fullmatch(cell.strip()[:100])
    return (header_words(match["words"]), match["unit"] or "") if match else ("", "")

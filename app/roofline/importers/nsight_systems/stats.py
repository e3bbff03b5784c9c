"""Tables that `nsys stats` writes as text: all work in the order of time, or sums by kernel.

A table is CSV, or columns under a ruler of hyphens. It ends at an empty line; several may follow
each other, between lines that tell what `nsys` does. Reports had other names until 2022
(`gputrace`, `gpukernsum`), so the columns tell a table.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from sys import intern

import numpy as np

from roofline.errors import CorruptProfileError, UploadTooLargeError
from roofline.importers.nsight_systems.tables import MEMSET, copy_name
from roofline.importers.shared.databases import ABSENT, Table
from roofline.importers.shared.events import Names
from roofline.importers.shared.kernel_names import COPY, kernel_category, shown
from roofline.importers.shared.launches import Launch
from roofline.importers.shared.tables_text import (
    decimal_mark,
    decode,
    header_words,
    parse_number,
    sniff_delimiter,
)
from roofline.model.op_columns import I64
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
)

# Words of the columns that tell a table, the fullest first; those of host calls count "num calls".
_TOLD_BY = (
    {"start", "duration", "corrid", "name"},
    {"total time", "instances", "category", "operation"},
    {"total time", "instances", "name"},
    {"total time", "count", "operation"},
    {"total time", "operations", "operation"},
)
WORK, ALL_SUMS = 0, 1
"""Ranks of a list of all work, and of sums of both kernels and copies."""

_HEADER = re.compile(r"(?P<words>[^()]*?)\s*(?:\((?P<unit>[^()]*)\))?")
_MAY_BE_HEADER = re.compile(r"(?i)(?:duration|total time) ?\(")
_DASHES = re.compile(r"-{2,}")
_LONGEST_HEADER = 4_000
_MOST, _MOST_ROWS = 2**60, 1_000_000
# Of times in ns, of sizes in bytes.
_UNITS = {
    "ns": 1, "nsec": 1, "us": NS_PER_US, "usec": NS_PER_US, "ms": NS_PER_MS, "msec": NS_PER_MS,
    "s": NS_PER_S, "sec": NS_PER_S, "seconds": NS_PER_S, "": 1,
    "b": 1, "kb": KILO, "mb": MEGA, "gb": GIGA, "kib": KIB, "mib": MIB, "gib": GIB,
}  # fmt: skip
_MOVE = re.compile(r"\[CUDA (?:memset|memcpy (?P<unified>unified )?(?P<way>[^\]]*))\]", re.I)
# `copyKind` of an export by the first letters of a copy's two ends; of unified memory; of others.
_WAYS, _UNIFIED, _OTHER = {"hd": 1, "dh": 2, "dd": 8, "hh": 9, "pp": 10}, {1: 11, 2: 12, 8: 13}, 99
_MEMSET, _KERNEL = 0, -1
_MEMORIES = {"pageable": 0, "pinned": 1, "device": 2, "array": 3, "managed": 4}
_ORDINAL = re.compile(r"\s*\(\d{1,4}\)\Z")
_EXPORTED = "CUPTI_ACTIVITY_KIND_"
_COLUMNS = {
    "start": "start", "duration": "lasted", "corrid": "correlationId", "bytes": "bytes",
    "grdx": "gridX", "grdy": "gridY", "grdz": "gridZ",
    "blkx": "blockX", "blky": "blockY", "blkz": "blockZ",
}  # fmt: skip


class StatsTable:
    """A table of GPU work of the file `where`: its cells, by words of the columns.

    `rank` is its place among the kinds of tables, the fullest first.
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
                remedy="Export the report: `nsys export --type sqlite -o report.sqlite"
                " report.nsys-rep`.",
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
        cells = self.texts(*names)
        unit = next((self._unit[name] for name in names if name in self._unit), "")
        factor, mark = _UNITS.get(unit.lower()), decimal_mark(cells)
        if factor is None:
            raise self._damaged(f"“{unit[:40]}” is not a unit of {names[0]}")
        found = np.full(len(cells), ABSENT)
        for at, cell in enumerate(cells):
            try:
                value = int(cell) if cell.isdecimal() else parse_number(cell, mark)
            except ValueError as error:
                why = f"“{cell[:40]}” in row {at + 1:,} is not a number of {names[0]}"
                raise self._damaged(why) from error
            if value is not None and not 0 <= value * factor < _MOST:
                raise self._damaged(f"{cell[:40]} in row {at + 1:,} is beyond any capture")
            found[at] = ABSENT if value is None else round(value * factor)
        return found

    def sums(self) -> Iterator[Launch]:
        """The sum of each kernel, or kind of copy."""
        calls = self.numbers("instances", "count", "operations").tolist()
        times_ns = self.numbers("total time").tolist()
        for name, count, time_ns in zip(
            self.texts("name", "operation"), calls, times_ns, strict=True
        ):
            kind = _kind(name)
            moved = MEMSET if kind == _MEMSET else copy_name(kind, ABSENT, ABSENT)
            yield Launch(
                name=shown(name) or "kernel" if kind == _KERNEL else moved,
                category=kernel_category(name) if kind == _KERNEL else COPY,
                calls=max(count, 1),
                time_ps=None if time_ns == ABSENT else time_ns * PS_PER_NS,
                flop=None if kind == _KERNEL else 0,
            )

    def _damaged(self, why: str) -> CorruptProfileError:
        return CorruptProfileError(
            f"{self.where}: {why}.",
            remedy="Write it again: `nsys stats -r cuda_gpu_trace --format csv report.nsys-rep`.",
        )


class ListedWork:
    """A list of all work as the tables of an export: `read` is that of a `Database`."""

    def __init__(self, table: StatsTable) -> None:
        names, gpus, texts = Names(), Names(), table.texts("name")
        kinds = {text: _kind(text) for text in dict.fromkeys(texts)}
        kind = np.array([kinds[text] for text in texts], np.int64)
        numbers = {to: table.numbers(of) for of, to in _COLUMNS.items()}
        numbers["name"] = np.array([names.number(text) for text in texts], np.int64)
        is_timed = (numbers["start"] != ABSENT) & (numbers["lasted"] != ABSENT)
        memories = {
            to: np.array(
                [_MEMORIES.get(cell.lower(), ABSENT) for cell in table.texts(of)], np.int64
            )
            for to, of in (("srcKind", "srcmemkd"), ("dstKind", "dstmemkd"))
        }
        events = Table(
            numbers={
                **numbers,
                **memories,
                "end": numbers["start"] + numbers.pop("lasted"),
                "demangledName": numbers["name"],
                "shortName": numbers["name"],
                "copyKind": kind,
                "deviceId": np.array([*map(gpus.number, table.texts("device"))], np.int64),
                "globalPid": np.zeros(len(texts), np.int64),
                # Sizes are in megabytes, to three digits: none left is not none moved.
                "bytes": np.where(numbers["bytes"] == 0, ABSENT, numbers["bytes"]),
            }
        )
        ordinals = np.arange(len(gpus.texts))
        self._tables = {
            f"{_EXPORTED}KERNEL": events.selected(is_timed & (kind == _KERNEL)),
            f"{_EXPORTED}MEMSET": events.selected(is_timed & (kind == _MEMSET)),
            f"{_EXPORTED}MEMCPY": events.selected(is_timed & (kind > _MEMSET)),
            "StringIds": Table(
                numbers={"id": np.arange(len(names.texts))}, texts={"value": [*names.texts]}
            ),
            "TARGET_INFO_GPU": Table(
                numbers={"id": ordinals, "cuDevice": ordinals},
                texts={"name": [_ORDINAL.sub("", text) for text in gpus.texts]},
            ),
        }

    def read(
        self,
        table: str,
        *,
        needed: Sequence[str] = (),
        optional: Sequence[str] = (),
        texts: Sequence[str] = (),
        distinct: Sequence[str] = (),
        numbered: tuple[bytes, bytes] = (b"", b""),
    ) -> Table:
        """Columns of a table, times in ns, sizes in bytes; no rows of one that a list lacks."""
        known, numbers = self._tables.get(table, Table()), (*needed, *optional, *distinct)
        absent = np.full(len(known), ABSENT)
        return Table(
            numbers={name: known.numbers.get(name, absent).copy() for name in numbers},
            texts={name: known.texts.get(name, [None] * len(known)) for name in texts},
            distinct={name: [] for name in distinct},
        )


def is_listed(head: bytes) -> bool:
    """True for the beginning of a text with a table of GPU work."""
    return next(_headers(_lines(head)), None) is not None


def tables_of(data: bytes, where: str) -> Iterator[StatsTable]:
    """All tables of GPU work in a text."""
    lines = _lines(data)
    for at, rank, spans in _headers(lines):
        header = [_words(cell) for cell in next(_rows(lines[at : at + 1], lines[at], spans))]
        body = lines[at + (2 if spans else 1) :]
        end = next((k for k, row in enumerate(body) if not row.strip()), None)
        yield StatsTable(where, rank, header, _rows(body[:end], lines[at], spans))


def _lines(data: bytes) -> list[str]:
    return [] if b"\x00" in data[:2] else decode(data).splitlines()


def _headers(lines: Sequence[str]) -> Iterator[tuple[int, int, Sequence[slice]]]:
    """The place and rank of each header, and where its columns lie under a ruler."""
    for at, line in enumerate(lines):
        if not _MAY_BE_HEADER.search(line, 0, _LONGEST_HEADER):
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        is_ruler = not below.strip("- ")
        spans = [slice(*match.span()) for match in _DASHES.finditer(below)] if is_ruler else []
        words = {_words(cell)[0] for cell in next(_rows([line], line, spans))}
        rank = next((k for k, told in enumerate(_TOLD_BY) if told <= words), None)
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


def _kind(name: str) -> int:
    """`copyKind` of a copy; of a memset, a kernel."""
    match = _MOVE.match(name)
    if match is None or match["way"] is None:
        return _KERNEL if match is None else _MEMSET
    ends = re.findall(r"[a-z]+", match["way"].lower().replace("array", "device"))
    ways = "".join(end[0] for end in ends if end != "to")
    if len(ends) == 1:  # "HtoD"
        ways = ends[0].replace("to", "").replace("a", "d")
    kind = _WAYS.get(ways, _OTHER)
    return _UNIFIED.get(kind, kind) if match["unified"] else kind

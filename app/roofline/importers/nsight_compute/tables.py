"""CSV of the command line: the raw page (a column per metric) and the long form (a row per metric).

Live captures mix it with the profiler's messages and the program's own output. A table starts at
a line with `"ID",`; below it only lines that start with a quote and an ID are rows. Spreadsheets
and scripts that save a table again drop the quotes; that is read, too. Key columns
differ between versions and with NVTX, so columns go by name, never by place. What the profiler
prints on a terminal becomes the long form, too: a line in brackets names the process; a kernel's
line has its launch, and before 2022 its time of day in place of the sizes. Tables below it, under
lines of dashes, have three columns: label or metric, unit, value. The dashes say where columns
begin and end, for a cell may touch the next.

Numbers, units and labels as Nsight Compute prints them, to metrics in base units.

Base units: ns, byte, Hz, per second. The profiler prints whole numbers, or two or six decimals; in
the user's locale on some pages. Before 2025 units are words ("usecond", "cycle/nsecond"), later
symbols ("us", "Ghz"). Labels of the details page stand for metrics, by label and unit.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from roofline.errors import CorruptProfileError, IncompleteProfileError, UnknownFormatError
from roofline.importers.nsight_compute.busy import DRAM_SHARE, is_counted, is_wanted
from roofline.importers.nsight_compute.launches import (
    HEADER,
    KERNEL_NAME,
    Capture,
    Extent,
    Launch,
    ResultKind,
    cells_of,
    is_measured,
    other_page,
)
from roofline.importers.shared.tables_text import decode
from roofline.importers.source import SourceFile
from roofline.model.plain_data import read_beside

METRIC_NAME, METRIC_UNIT, METRIC_VALUE = "Metric Name", "Metric Unit", "Metric Value"
COLUMNS = (
    "ID", "Process ID", "Process Name", "Host Name", KERNEL_NAME, "Grid Size", "Block Size",
    "Context", "Stream", "Device", "CC", METRIC_NAME, METRIC_UNIT, METRIC_VALUE,
)  # fmt: skip
_PROCESS = re.compile(r"\[(\d+)\] (.+)@([^@\s]*)")
_SIZES = r"(?: (\(\d+, \d+, \d+\))x(\(\d+, \d+, \d+\))|, \d{4}-\w{3}-\d\d \d\d:\d\d:\d\d)"
_PLACE = r", Context (\d+), Stream (\d+)(?:, Device (\d+), CC ([\d.]+))?"
_KERNEL = re.compile(rf"(.+?){_SIZES}{_PLACE}")
_DASHES = re.compile(r"\s*-{3,}(?: +-{3,})+\s*")


def terminal_rows(text: str) -> list[list[str]]:
    """A row of `COLUMNS` for each metric of each kernel; a row in which `text` ends is left out."""
    process, kernel = ["", "", ""], list[str]()
    spans, rows, kernels = list[tuple[int, int]](), list[list[str]](), 0
    for line in text[: text.rfind("\n") + 1].splitlines():
        if _DASHES.fullmatch(line):
            spans = [found.span() for found in re.finditer("-+", line)]
        elif found := _PROCESS.fullmatch(line.strip()):
            process = [*found.groups()]
        elif found := _KERNEL.fullmatch(line.strip()):
            kernel, spans = [str(kernels), *process, *(cell or "" for cell in found.groups())], []
            kernels += 1
        elif not line.strip():
            spans = []
        elif kernel and len(spans) == 3:
            cells = [line[begin:end].strip() for begin, end in spans]
            if cells[0] != METRIC_NAME:
                rows.append([*kernel, *cells])
    return rows


_KEY_COLUMNS = {
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context",
    "Stream", "Block Size", "Grid Size", "Device", "CC",
}  # fmt: skip
_LEAST_DIGITS = 3
_NO_HOST = {"", "127.0.0.1", "localhost"}

_LONGEST_WHOLE = 100  # digits and signs of what is a number at all
_WITH_CSV = "ncu --import REPORT.ncu-rep --csv --page raw > kernels.csv"


def read_tables(source: SourceFile) -> Capture:
    """The capture in a text file. Raises `UnknownFormatError` for pages that hold no kernels."""
    text = decode(bytes(source.data))
    tables = list(_tables(text)) or _printed(text)
    if not tables:
        raise _no_table(text, source.name)
    is_cut = not text.endswith(("\n", "\r")) and tables[-1].drop_cut_row(text)
    launches: list[Launch] = []
    vague = 0
    for table in tables:
        mark = decimal_mark(table.number_cells())
        for record in table.records(mark):
            launches.append(record.launch(len(launches)))
            vague += record.vague_cells
    if not launches:
        raise CorruptProfileError(
            f"{source.name} ends after the header of its table: it lists no kernel.",
            remedy="Check that it was copied completely, or export it again.",
        )
    return Capture(
        file_name=source.name,
        launches=tuple(launches),
        hostname=tables[0].hostname,
        program=tables[0].program,
        is_cut=is_cut,
        vague_cells=vague,
    )


def _no_table(text: str, name: str) -> UnknownFormatError | IncompleteProfileError:
    if what := other_page(text):
        return UnknownFormatError(
            f"{name} is {what}.", remedy=f"Upload the .ncu-rep itself, or make a table: {_WITH_CSV}"
        )
    return IncompleteProfileError(
        f"{name} holds only messages of Nsight Compute and no kernel: nothing was profiled.",
        remedy="Read its ==ERROR== and ==WARNING== lines. Profile again with: ncu --set full "
        "-o report PROGRAM, and upload report.ncu-rep.",
    )


@dataclass(slots=True)
class _Record:
    """One result while its metrics are gathered."""

    keys: Mapping[str, str]
    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    vague: set[str] = field(default_factory=set)

    @property
    def vague_cells(self) -> int:
        """How many numbers that the work is made of have lost digits."""
        has_bytes = any(name.startswith(("dram__bytes", "dram__sectors")) for name in self.numbers)
        return sum(
            is_counted(name) or (name == DRAM_SHARE and not has_bytes) for name in self.vague
        )

    def add(self, metric: str, cell: str, unit: str, decimal: str) -> None:
        """Take one metric's cell in `unit`; missing values leave no trace."""
        value = parse(cell, decimal)
        if value is None or not is_measured(value * factor(unit)):
            if cell and metric.startswith("device__attribute_"):
                self.texts[metric] = cell
            return
        self.numbers[metric] = value * factor(unit)
        if value and digits(cell) < _LEAST_DIGITS and _is_scaled(cell, decimal):
            self.vague.add(metric)

    def launch(self, number: int) -> Launch:
        """The finished result."""
        get = self.keys.get
        name = get(KERNEL_NAME, "")
        index = get("Device", "")
        for part, value in zip(("major", "minor"), get("CC", "").split("."), strict=False):
            if value.isdecimal() and len(value) < _LONGEST_WHOLE:
                self.numbers.setdefault(
                    f"device__attribute_compute_capability_{part}", float(value)
                )
        at_device = self.numbers.get("device__attribute_device_index")
        grid = _extent(get("Grid Size", ""))
        if grid == (0, 0, 0):  # profiling failed: counters print as 0
            self.numbers = {k: v for k, v in self.numbers.items() if k.startswith("device__")}
        return Launch(
            kind=ResultKind.KERNEL,
            name=name or f"Result {get('ID', number)}",
            number=number,
            grid=grid,
            block=_extent(get("Block Size", "")),
            context=get("Context", ""),
            stream=get("Stream", ""),
            device_index=_whole(index) if at_device is None else int(at_device),
            numbers=self.numbers,
            texts=self.texts,
        )


def _is_scaled(cell: str, decimal: str) -> bool:
    """True for a number with decimals: whole numbers are exact however short."""
    return decimal in strip(cell)


@dataclass(slots=True)
class _Table:
    """A header and the rows below it, cells as written."""

    header: tuple[str, ...]
    is_quoted: bool
    rows: list[list[str]] = field(default_factory=list)

    def holds(self, line: str) -> bool:
        """True if `line` can be a row: quoted as its header is, or as wide."""
        return line.startswith('"') if self.is_quoted else line.count(",") >= len(self.header) - 1

    def cells(self, line: str) -> list[str]:
        """The cells of a row. The profiler does not double the quotes within a kernel's name."""
        cells = cells_of(line)
        if self.is_quoted and len(cells) > len(self.header):
            return line.strip()[1:-1].split('","')
        return cells

    @property
    def is_long(self) -> bool:
        return METRIC_NAME in self.header and METRIC_VALUE in self.header

    @property
    def program(self) -> str:
        names = (self._keys(row).get("Process Name", "") for row in self.rows)
        return next((name for name in names if name), "")

    @property
    def hostname(self) -> str:
        names = (self._keys(row).get("Host Name", "") for row in self.rows)
        return next((name for name in names if name not in _NO_HOST), "")

    def drop_cut_row(self, text: str) -> bool:
        """Leave out the last row if `text` ends within it: half a number looks like a whole one."""
        line = text[max(text.rfind("\n"), text.rfind("\r")) + 1 :]
        if not self.rows or self.rows[-1] != self.cells(line):
            return False
        is_short = not self.is_long and len(self.rows[-1]) < len(self.header)
        is_open = self.is_quoted and line.count('"') % 2 == 1
        if is_short or is_open:
            self.rows.pop()
        return is_short or is_open

    def number_cells(self) -> Iterator[str]:
        """Cells that may show the decimal mark: those of metrics, not of keys and attributes."""
        if self.is_long:
            at = self.header.index(METRIC_VALUE)
            yield from (row[at] for row in self.rows if len(row) > at)
            return
        columns = [
            k
            for k, name in enumerate(self.header)
            if name not in _KEY_COLUMNS and not name.startswith(("device__", "breakdown:"))
        ]
        for row in self.rows:
            if row[0]:
                yield from (row[k] for k in columns if k < len(row))

    def records(self, decimal: str) -> Iterable[_Record]:
        return self._long(decimal) if self.is_long else self._wide(decimal)

    def _keys(self, row: Sequence[str]) -> dict[str, str]:
        return {
            name: cell for name, cell in zip(self.header, row, strict=False) if name in _KEY_COLUMNS
        }

    def _wide(self, decimal: str) -> Iterator[_Record]:
        wanted = [(k, name) for k, name in enumerate(self.header) if is_wanted(name)]
        units: Sequence[str] = ()
        for row in self.rows:
            if not row[0]:  # the row of units has no ID
                units = row
                continue
            record = _Record(self._keys(row))
            for k, name in wanted:
                if k < len(row):
                    record.add(name, row[k], units[k] if k < len(units) else "", decimal)
            yield record

    def _long(self, decimal: str) -> Iterable[_Record]:
        at = {name: k for k, name in enumerate(self.header)}
        name_at, value_at = at[METRIC_NAME], at[METRIC_VALUE]
        unit_at = at.get(METRIC_UNIT, -1)
        records: dict[tuple[str, str], _Record] = {}
        for row in self.rows:
            if not row[0] or len(row) <= max(name_at, value_at):
                continue
            keys = self._keys(row)
            record = records.setdefault((keys.get("Process ID", ""), row[0]), _Record(keys))
            unit = row[unit_at] if unit_at >= 0 else ""
            name = row[name_at]
            metric = name if is_wanted(name) else metric_of(name, unit)
            if metric:
                record.add(metric, row[value_at], unit, decimal)
        return records.values()


def _tables(text: str) -> Iterator[_Table]:
    table: _Table | None = None
    for line in text.splitlines():
        if line.startswith(HEADER):
            if table is not None:
                yield table
            table = _Table(tuple(cells_of(line)), is_quoted=line.startswith('"'))
        elif table is not None and table.holds(line) and _is_row(cells := table.cells(line)):
            table.rows.append(cells)
    if table is not None:
        yield table


def _printed(text: str) -> list[_Table]:
    """What the profiler printed on a terminal, as a table."""
    rows = terminal_rows(text)
    return [_Table(COLUMNS, is_quoted=True, rows=rows)] if rows else []


def _is_row(cells: Sequence[str]) -> bool:
    """True for a kernel's row and for the row of units; the program may print quotes as well."""
    return len(cells) > 1 and (cells[0] == "" or re.fullmatch(r"\d[\d.,]*", cells[0]) is not None)


def _extent(cell: str) -> Extent | None:
    sides = re.findall(r"\d+", cell[:_LONGEST_WHOLE])
    return (int(sides[0]), int(sides[1]), int(sides[2])) if len(sides) == 3 else None


def _whole(cell: str) -> int | None:
    return int(cell) if cell.strip().isdecimal() and len(cell) < _LONGEST_WHOLE else None


_SPACES = dict.fromkeys(map(ord, " \u00a0\u202f\u2009'’\t"))
_NUMERIC = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?")
_INSTANCES = re.compile(r"(?<!\s)\s++\(.*$", re.DOTALL)
_GROUP_DIGITS = 3
_ENOUGH_VOTES = 2_000

_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12}
_SECOND = re.compile(r"(?P<prefix>[num]?)s(?:econd)?")
_OTHER = re.compile(
    r"(?P<prefix>[KkMGT]?)(?:byte|hz|cycle|inst|sector|warp|thread|request)s?", re.I
)
_NS_EXPONENT = 9


def decimal_mark(cells: Iterable[str]) -> str:
    """The decimal mark of a file: "." or ",", by its clearest cells; "." if none tells.

    Two kinds of mark in a number: the last is decimal. One kind, twice: it groups. Once, before
    other than three digits: it is decimal, and certainly so, because three are never printed.
    """
    votes = {".": 0, ",": 0}
    hints = {".": 0, ",": 0}
    for cell in cells:
        mark, is_sure = _vote(strip(cell))
        if mark:
            (votes if is_sure else hints)[mark] += 1
        if votes["."] + votes[","] >= _ENOUGH_VOTES:
            break
    counted = votes if any(votes.values()) else hints
    return "," if counted[","] > counted["."] else "."


def strip(cell: str) -> str:
    """A cell without spaces, apostrophes, and the values per instance that follow in brackets."""
    return _INSTANCES.sub("", cell.strip()).translate(_SPACES)


def _vote(text: str) -> tuple[str, bool]:
    """The decimal mark that a cell speaks for, and whether it leaves no doubt."""
    if not _NUMERIC.fullmatch(text):
        return "", False
    dots, commas = text.count("."), text.count(",")
    if dots and commas:
        return max(".,", key=text.rfind), True
    mark = "." if dots else ","
    other = "," if dots else "."
    if dots + commas > 1:
        return other, True
    if dots + commas == 1:
        digits = len(text) - text.index(mark) - 1
        return (other, False) if digits == _GROUP_DIGITS else (mark, True)
    return "", False


def parse(cell: str, decimal: str) -> float | None:
    """The number in `cell`; `None` for what is empty, `n/a`, NaN, or no number."""
    text = strip(cell)
    if not _NUMERIC.fullmatch(text):
        return None
    text = text.replace("," if decimal == "." else ".", "").replace(decimal, ".")
    try:
        return float(text)
    except ValueError:  # two decimal marks
        return None


def digits(cell: str) -> int:
    """Significant digits of a number as printed; 0 for zero."""
    mantissa = re.split("[eE]", strip(cell))[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))


@lru_cache(maxsize=512)
def factor(unit: str) -> float:
    """The factor from a value in `unit` to base units; 1 for units without a scale.

    Times become nanoseconds, rates per second: "usecond" is 1e3, "Gbyte/second" 1e9, "/nsecond"
    1e9, "cycle/nsecond" 1e9. "%" and whatever is unknown stay as they are.
    """
    above, _, below = unit.strip().partition("/")
    exponent = 0
    if time := _SECOND.fullmatch(above):
        exponent = _EXPONENTS[time["prefix"]] + _NS_EXPONENT
    elif amount := _OTHER.fullmatch(above):
        exponent = _EXPONENTS[amount["prefix"]]
    if per := _SECOND.fullmatch(below):
        exponent -= _EXPONENTS[per["prefix"]]
    return 10.0**exponent


_LABELS: Mapping[str, Mapping[str, str]] = read_beside(__file__, "labels.json")
"""Metrics by the kind of unit and the label that the page has for them."""

_KINDS = {
    "ns": re.compile(r"[num]?s(econd)?"),
    "Hz": re.compile(r"[KkMGT]?hz|cycle/[num]?second", re.IGNORECASE),
    "byte/s": re.compile(r"[KkMGT]?byte/s(econd)?"),
    "%": re.compile("%"),
}


def metric_of(label: str, unit: str) -> str:
    """The metric that `label` stands for; empty where the arithmetic does not use it."""
    kind = next((kind for kind, unit_of in _KINDS.items() if unit_of.fullmatch(unit)), "")
    return _LABELS[kind].get(label, "")

"""CSV of the command line: the raw page (a column per metric) and the long form (a row per metric).

Live captures mix it with the profiler's messages and the program's own output. A table starts at
a line with `"ID",`; below it only lines that start with a quote and an ID are rows. Spreadsheets
and scripts that save a table again drop the quotes; that is read, too. Key columns
differ between versions and with NVTX, so columns go by name, never by place.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from roofline.errors import CorruptProfileError, IncompleteProfileError, UnknownFormatError
from roofline.importers.nsight_compute import quantities
from roofline.importers.nsight_compute.busy import DRAM_SHARE, is_counted, is_wanted
from roofline.importers.nsight_compute.launches import (
    Capture,
    Extent,
    Launch,
    ResultKind,
    is_measured,
)
from roofline.importers.nsight_compute.marks import (
    HEADER,
    KERNEL_NAME,
    SESSION,
    SUMMARY,
    TEXT_SECTION,
    cells_of,
)
from roofline.importers.nsight_compute.quantities import metric_of
from roofline.importers.shared.tables_text import decode
from roofline.importers.source import SourceFile

_METRIC_NAME, _METRIC_UNIT, _METRIC_VALUE = "Metric Name", "Metric Unit", "Metric Value"
_KEY_COLUMNS = {
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context",
    "Stream", "Block Size", "Grid Size", "Device", "CC",
}  # fmt: skip
_LEAST_DIGITS = 3
_NO_HOST = {"", "127.0.0.1", "localhost"}

_LONGEST_WHOLE = 100  # digits and signs of what is a number at all
_WITH_CSV = "ncu --import REPORT.ncu-rep --csv --page raw > kernels.csv"


def read_tables(source: SourceFile) -> Capture:
    """The capture in a CSV file. Raises `UnknownFormatError` for pages that hold no kernels."""
    text = decode(bytes(source.data))
    tables = list(_tables(text))
    if not tables:
        raise _no_table(text, source.name)
    is_cut = not text.endswith(("\n", "\r")) and tables[-1].drop_cut_row(text)
    launches: list[Launch] = []
    vague = 0
    for table in tables:
        mark = quantities.decimal_mark(table.number_cells())
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
    if SUMMARY.search(text):
        what = "a summary over all launches (--print-summary)"
    elif SESSION.search(text):
        what = "the session page, which describes the machine and holds no kernels"
    elif TEXT_SECTION.search(text):
        what = "Nsight Compute's output for people, not CSV"
    else:
        return IncompleteProfileError(
            f"{name} holds only messages of Nsight Compute and no kernel: nothing was profiled.",
            remedy="Read its ==ERROR== and ==WARNING== lines. Profile again with: ncu --set full "
            "-o report PROGRAM, and upload report.ncu-rep.",
        )
    return UnknownFormatError(
        f"{name} is {what}.",
        remedy=f"Upload the .ncu-rep itself, or make a table: {_WITH_CSV}",
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
        value = quantities.parse(cell, decimal)
        if value is None or not is_measured(value * quantities.factor(unit)):
            if cell and metric.startswith("device__attribute_"):
                self.texts[metric] = cell
            return
        self.numbers[metric] = value * quantities.factor(unit)
        if value and quantities.digits(cell) < _LEAST_DIGITS and _is_scaled(cell, decimal):
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
        return Launch(
            kind=ResultKind.KERNEL,
            name=name or f"Result {get('ID', number)}",
            number=number,
            grid=_extent(get("Grid Size", "")),
            block=_extent(get("Block Size", "")),
            context=get("Context", ""),
            stream=get("Stream", ""),
            device_index=_whole(index) if at_device is None else int(at_device),
            numbers=self.numbers,
            texts=self.texts,
        )


def _is_scaled(cell: str, decimal: str) -> bool:
    """True for a number with decimals: whole numbers are exact however short."""
    return decimal in quantities.strip(cell)


@dataclass(slots=True)
class _Table:
    """A header and the rows below it, cells as written."""

    header: tuple[str, ...]
    is_quoted: bool
    rows: list[list[str]] = field(default_factory=list)

    def holds(self, line: str) -> bool:
        """True if `line` can be a row: quoted as its header is, or as wide."""
        return line.startswith('"') if self.is_quoted else line.count(",") >= len(self.header) - 1

    @property
    def is_long(self) -> bool:
        return _METRIC_NAME in self.header and _METRIC_VALUE in self.header

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
        if not self.rows or self.rows[-1] != cells_of(line):
            return False
        is_short = not self.is_long and len(self.rows[-1]) < len(self.header)
        is_open = self.is_quoted and line.count('"') % 2 == 1
        if is_short or is_open:
            self.rows.pop()
        return is_short or is_open

    def number_cells(self) -> Iterator[str]:
        """Cells that may show the decimal mark: those of metrics, not of keys and attributes."""
        if self.is_long:
            at = self.header.index(_METRIC_VALUE)
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
        name_at, value_at = at[_METRIC_NAME], at[_METRIC_VALUE]
        unit_at = at.get(_METRIC_UNIT, -1)
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
        elif table is not None and table.holds(line) and _is_row(cells := cells_of(line)):
            table.rows.append(cells)
    if table is not None:
        yield table


def _is_row(cells: Sequence[str]) -> bool:
    """True for a kernel's row and for the row of units; the program may print quotes as well."""
    return len(cells) > 1 and (cells[0] == "" or re.fullmatch(r"\d[\d.,]*", cells[0]) is not None)


def _extent(cell: str) -> Extent | None:
    sides = re.findall(r"\d+", cell[:_LONGEST_WHOLE])
    return (int(sides[0]), int(sides[1]), int(sides[2])) if len(sides) == 3 else None


def _whole(cell: str) -> int | None:
    return int(cell) if cell.strip().isdecimal() and len(cell) < _LONGEST_WHOLE else None

"""The CSV files of a workload folder, told apart by their columns, and their cells.

Spelling varies by version: `KernelName` and `BeginNs` in Omniperf 1, `Kernel_Name` and
`Start_Timestamp` since; `HBMBwLow` beside `hbmBwHigh`. Names are compared in lower case.
"""

import math
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from roofline.errors import CorruptProfileError
from roofline.importers.shared.amd_counters import READ_COUNTERS
from roofline.importers.shared.tables_text import decode, parse_number, read_table
from roofline.importers.source import SourceFile

MAX_ROWS = 200_000
# Counters have at most 64 bits.
_LARGEST_COUNT = 2**64

_COUNTER = re.compile(r"(?:SQ|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF|GRBM)_\w+(?:\[\d+\])?")
_READ_COUNTER = re.compile(
    r"SQ_INSTS_VALU_(?:ADD|MUL|FMA|TRANS|MFMA_MOPS)_\w+|SQ_LDS_(?:IDX_ACTIVE|BANK_CONFLICT)"
    r"|(?:TCP_TOTAL_CACHE_ACCESSES|TCP_TCC_[A-Z_]+_REQ|TCC_EA0?_(?:RD|WR)REQ(?:_32B|_64B)?"
    r"|TCC_BUBBLE)(?:_sum|\[\d+\])"
)
_CHANNEL = re.compile(r"(\w+)\[\d+\]")
_ALIASES = {
    "index": "dispatch_id",
    "kernelname": "kernel_name",
    "beginns": "start_timestamp",
    "endns": "end_timestamp",
    "gpu-id": "gpu_id",
    "grd": "grid_size",
    "wgr": "workgroup_size",
}
_ROCPROFV3 = frozenset({"counter_name", "counter_value"})


class Kind(Enum):
    """The kind of a file of the folder."""

    COUNTERS = auto()
    TIMES = auto()
    SYSTEM = auto()
    ROOFS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One file: column names in lower case (counters as spelt) and the rows' cells."""

    name: str
    kind: Kind
    rows: tuple[dict[str, str], ...]
    lines: tuple[int, ...]
    n_columns: int


def kind_of(header: Sequence[str]) -> Kind | None:
    """The kind of file with these columns; `None` for other tables."""
    names = {column_name(cell) for cell in header}
    if "kernel_name" in names and not names & _ROCPROFV3:
        if any(_COUNTER.fullmatch(cell.strip()) for cell in header):
            return Kind.COUNTERS
        return Kind.TIMES if "dispatch_id" in names else None
    if {"workload_name", "command"} <= names:
        return Kind.SYSTEM
    return Kind.ROOFS if {"device", "hbmbw"} <= names else None


def column_name(cell: str) -> str:
    """A column's name: counters as they are, others in lower case and one spelling."""
    bare = cell.strip().strip("\ufeff")
    if _COUNTER.fullmatch(bare):
        return bare
    return _ALIASES.get(bare.lower(), bare.lower())


def read_file(source: SourceFile) -> Table:
    """The table in `source`. Raises `CorruptProfileError` where it was cut."""
    table = read_table(decode(bytes(source.data)), name=source.name, max_rows=MAX_ROWS)
    kind = kind_of(table.header)
    short = [k for k, row in enumerate(table.rows) if len(row) < len(table.header)]
    if kind is None or short or not table.ends_whole:
        line = table.lines[short[0]] if short else (table.lines or (1,))[-1]
        raise CorruptProfileError(
            f"{source.name} ends in the middle of a row (line {line:,}).",
            remedy="Copy the workload folder again.",
        )
    # The columns of a later pass repeat those of the first, and the first counts.
    columns = {column_name(cell): k for k, cell in reversed(list(enumerate(table.header)))}
    kept = {name: k for name, k in columns.items() if _is_read(name, kind, columns)}
    return Table(
        name=source.name,
        kind=kind,
        rows=tuple({name: row[k] for name, k in kept.items()} for row in table.rows),
        lines=table.lines,
        n_columns=len(table.header),
    )


def _is_read(column: str, kind: Kind, columns: Container[str]) -> bool:
    """False for most of thousands of counters: their cells would take most of the memory.

    Those of single channels are read where no other of `columns` has their sum.
    """
    if kind is not Kind.COUNTERS or not _COUNTER.fullmatch(column):
        return True
    channel = _CHANNEL.fullmatch(column)
    whole = f"{channel[1]}_sum" if channel else column
    if channel and whole in columns:
        return False
    return whole in READ_COUNTERS or _READ_COUNTER.fullmatch(column) is not None


def number(table: Table, row: int, column: str) -> float | None:
    """A cell as a number, `None` where it is missing or the column is."""
    cell = table.rows[row].get(column, "")
    try:
        value = parse_number(cell)
    except ValueError:
        value = math.inf
    if value is None or 0 <= value <= _LARGEST_COUNT:
        return value
    raise CorruptProfileError(
        f"{table.name}, line {table.lines[row]:,}: “{cell[:60]}” in column {column} is not a "
        "number.",
        remedy="Copy the workload folder again; spreadsheets change numbers when they save.",
    )


def counters(table: Table, row: int) -> dict[str, float]:
    """The counters of one dispatch; those of single channels are added up to `<name>_sum`."""
    result: dict[str, float] = {}
    sums: dict[str, float] = {}
    for column in table.rows[row]:
        if not _COUNTER.fullmatch(column):
            continue
        value = number(table, row, column)
        if value is None:
            continue
        channel = _CHANNEL.fullmatch(column)
        if channel:
            sums[f"{channel[1]}_sum"] = sums.get(f"{channel[1]}_sum", 0.0) + value
        else:
            result[column] = value
    for name, value in sums.items():
        result.setdefault(name, value)
    return result

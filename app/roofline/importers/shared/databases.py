"""SQLite files of strangers, read as columns: only tables, and only by statements of this program.

A database holds SQL: views, triggers, generated columns, virtual tables. None of it runs. SQLite
opens the file as immutable and does not trust its schema, an authorizer allows nothing but reading
columns of ordinary tables, and statements name only columns that `PRAGMA table_info` lists.
SQLite gives each cell a type of its own, so a row of which a cell has another type is left out.
"""

import math
import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import numpy as np

from roofline.errors import CorruptProfileError
from roofline.importers.source import SourceFile
from roofline.model.op_columns import I64

SIGNATURE = b"SQLite format 3\x00"
ABSENT = -(2**63)
"""The number in place of a cell that is NULL, in columns where that is allowed."""

_LONGEST_CELL = 16 << 20
_ROWS_AT_ONCE = 1 << 16
_MOST_DAMAGED = 0.01  # of the rows of a table
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_COLUMN, 200),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 50),
)
# A name that is not text: in SQL, or in SQLite's own message about a damaged schema.
_UNREADABLE = (sqlite3.Error, UnicodeError)
_PRAGMAS = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0")


def has_tables(source: SourceFile, prefixes: tuple[str, ...]) -> bool:
    """True for a database of which a table's name begins with one of `prefixes`. Never raises.

    The schema often lies in the first page, but may lie anywhere, so the file is opened. Of a
    damaged one the first page decides.
    """
    if not source.head.startswith(SIGNATURE):
        return False
    try:
        with Database(source) as database:
            return any(name.startswith(prefixes) for name in database.tables)
    except (CorruptProfileError, sqlite3.Error, OSError):
        return any(prefix.encode() in source.head for prefix in prefixes)


@dataclass(slots=True, kw_only=True)
class Table:
    """Columns of one table: whole numbers, texts (`None` where a cell is not a text), and numbers
    with a fraction (NaN where a cell is not a number)."""

    numbers: dict[str, I64] = field(default_factory=dict)
    texts: dict[str, list[str | None]] = field(default_factory=dict)
    reals: dict[str, list[float]] = field(default_factory=dict)
    damaged: int = 0

    def __len__(self) -> int:
        lengths = [*map(len, self.numbers.values()), *map(len, self.texts.values())]
        return lengths[0] if lengths else 0

    def __getitem__(self, name: str) -> I64:
        return self.numbers[name]


class Database:
    """One file, open while a `with` block runs."""

    def __init__(self, source: SourceFile) -> None:
        self._name = source.name
        _refuse_cut(source)
        self._connection = _connected(source.path)
        self._columns: dict[str, frozenset[str]] = {}
        try:
            self._configure()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    @property
    def tables(self) -> Mapping[str, frozenset[str]]:
        """The ordinary tables with their stored columns."""
        return self._columns

    def read(
        self,
        table: str,
        *,
        needed: Sequence[str] = (),
        optional: Sequence[str] = (),
        texts: Sequence[str] = (),
        reals: Sequence[str] = (),
    ) -> Table:
        """The table's columns; no rows where the table, or a needed column, is not in the file.

        Cells of `needed` columns are whole numbers, those of `optional` ones `ABSENT` where they
        are NULL or the column is missing. Raises `CorruptProfileError` where cells of more than a
        hundredth of the rows have another type.
        """
        there = self._columns.get(table, frozenset())
        if table not in self._columns or not set(needed) <= there:
            return Table(
                numbers={name: np.zeros(0, np.int64) for name in (*needed, *optional)},
                texts={name: [] for name in texts},
                reals={name: [] for name in reals},
            )
        known = [name for name in optional if name in there]
        spelled = [name for name in texts if name in there]
        with_fraction = [name for name in reals if name in there]
        plain, others = map(_quoted, needed), map(_quoted, [*spelled, *with_fraction])
        or_absent = (f"ifnull({_quoted(name)}, {ABSENT})" for name in known)
        rows = self._rows(table, [*plain, *or_absent, *others])
        result = _collected(rows, needed, known, spelled, with_fraction)
        if result.damaged > _MOST_DAMAGED * (len(result) + result.damaged):
            raise self._damaged(f"{result.damaged:,} rows of its table {table} are not numbers")
        for name in optional:
            result.numbers.setdefault(name, np.full(len(result), ABSENT))
        for name in texts:
            result.texts.setdefault(name, [None] * len(result))
        for name in reals:
            result.reals.setdefault(name, [math.nan] * len(result))
        return result

    def _rows(self, table: str, columns: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
        """Rows in pieces. `columns` are expressions, in which names of this file are in quotes."""
        listed = ", ".join(columns) or "NULL"
        try:
            cursor = self._connection.execute(f"SELECT {listed} FROM {_quoted(table)}")
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                yield rows
        except _UNREADABLE as error:
            raise self._damaged(f"its table {table} cannot be read ({error})") from error

    def _configure(self) -> None:
        for limit, value in _LIMITS:
            self._connection.setlimit(limit, value)
        try:
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}")
            found = self._connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
            names = [name for name, sql in found if _is_ordinary(name, sql)]
            for name in names:
                stored = self._connection.execute(f"PRAGMA table_info({_quoted(name)})")
                self._columns[name] = frozenset(row[1] for row in stored if isinstance(row[1], str))
        except _UNREADABLE as error:
            raise self._damaged(str(error)) from error
        # From here on only columns of these tables are read, and `ifnull` is called.
        self._connection.set_authorizer(self._is_allowed)

    def _is_allowed(
        self, action: int, first: str | None, second: str | None, _base: str | None,
        inner: str | None,
    ) -> int:  # fmt: skip
        reads = action == sqlite3.SQLITE_READ and first in self._columns and inner is None
        is_ours = action == sqlite3.SQLITE_FUNCTION and second == "ifnull"
        allowed = reads or ((action == sqlite3.SQLITE_SELECT or is_ours) and inner is None)
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _damaged(self, why: str) -> CorruptProfileError:
        return CorruptProfileError(
            f"{self._name} is not a sound SQLite database: {why}.",
            remedy="Export it again; a download or a copy may have been cut short.",
        )


def _connected(path: Path) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _is_ordinary(name: object, sql: object) -> bool:
    is_text = isinstance(name, str) and isinstance(sql, str)
    return is_text and not str(sql).lstrip().upper().startswith("CREATE VIRTUAL")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _refuse_cut(source: SourceFile) -> None:
    """Raise for a file that is shorter than its header says, or whose last changes lie beside it.

    Format: https://www.sqlite.org/fileformat.html: page size at byte 16, pages at 28, valid if the
    change counters at 24 and 92 agree; write-ahead log where bytes 18 and 19 are 2.
    """
    head = source.head
    page = int.from_bytes(head[16:18], "big")
    page = 65_536 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big")
    is_stated = head[24:28] == head[92:96] and pages > 0 and page > 0
    whole = source.size_bytes // page if page else 0
    if is_stated and whole < pages:
        raise CorruptProfileError(
            f"{source.name} is not a whole SQLite database: page {whole + 1:,} of {pages:,} is"
            " missing.",
            remedy="Copy or export it again. If a file *-wal lies beside it, run `sqlite3 FILE"
            " 'PRAGMA wal_checkpoint(TRUNCATE)'` first.",
        )


def _collected(
    pieces: Iterator[list[tuple[object, ...]]],
    needed: Sequence[str],
    optional: Sequence[str],
    texts: Sequence[str],
    reals: Sequence[str],
) -> Table:
    names, first_text = [*needed, *optional], len(needed) + len(optional)
    numbers, result = (
        [array("q") for _ in names],
        Table(texts={name: [] for name in texts}, reals={name: [] for name in reals}),
    )
    for rows in pieces:
        try:
            found = _arrays(rows, first_text)
        except TypeError:  # a cell of another type: look at each
            kept = [row for row in rows if _is_sound(row, len(needed), first_text)]
            result.damaged += len(rows) - len(kept)
            rows = kept
            found = _arrays([tuple(map(_or_absent, row[:first_text])) for row in rows], first_text)
        for column, piece in zip(numbers, found, strict=False):
            column.extend(piece)
        for k, name in enumerate(texts, first_text):
            result.texts[name] += [
                cell if isinstance(cell := row[k], str) else None for row in rows
            ]
        for k, name in enumerate(reals, first_text + len(texts)):
            result.reals[name] += [_real(row[k]) for row in rows]
    result.numbers = {
        name: np.frombuffer(column, np.int64) if column else np.zeros(0, np.int64)
        for name, column in zip(names, numbers, strict=True)
    }
    return result


def _arrays(rows: Sequence[tuple[Any, ...]], count: int) -> "list[array[int]]":
    """The first columns of `rows`; raises `TypeError` where a cell is not a whole number."""
    return [array("q", column) for column in list(zip(*rows, strict=True))[:count]]


def _is_sound(row: tuple[object, ...], n_needed: int, n_numbers: int) -> bool:
    return all(type(cell) is int for cell in row[:n_needed]) and all(
        cell is None or type(cell) is int for cell in row[n_needed:n_numbers]
    )


def _or_absent(cell: object) -> int:
    return cell if isinstance(cell, int) else ABSENT


def _real(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else math.nan

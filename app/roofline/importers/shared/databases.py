"""SQLite files of strangers, read as columns: no SQL of the file runs.

A database holds SQL: views, triggers, generated columns, virtual tables. SQLite tells the names and
columns of ordinary tables, from a file that it opens as immutable and whose schema it does not
trust; their rows are decoded from the pages (`database_rows.py`). Each cell has a type of its own,
so a row of which a cell has another type is left out.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.shared.database_rows import (
    BLOB,
    NULL,
    REAL,
    TEXT,
    WHOLE,
    DamagedRowsError,
    Pages,
    Rows,
)
from roofline.importers.source import SourceFile, release
from roofline.model.op_columns import F64, I64, Bools

SIGNATURE = b"SQLite format 3\x00"
ABSENT = -(2**63)
"""The number in place of a cell that is NULL, in columns where that is allowed."""

_NOT_KNOWN = (ABSENT, None, "")
_LONGEST_CELL = 16 << 20
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
_TEXT_IS = {2: "utf-16-le", 3: "utf-16-be"}
_NO_BYTES = np.zeros(0, np.uint8)
_GENERATED = 2  # and not stored
_PRAGMAS = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0")


def has_tables(source: SourceFile, prefixes: tuple[str, ...]) -> bool:
    """True for a database of which a table's name begins with one of `prefixes`. Never raises.

    The schema often lies in the first page, but may lie anywhere, so the file is opened. Of a
    damaged one the first page decides.
    """
    if not source.head.startswith(SIGNATURE):
        return False
    try:
        return any(name.startswith(prefixes) for name in Database(source).tables)
    except (CorruptProfileError, sqlite3.Error, OSError):
        return any(prefix.encode() in source.head for prefix in prefixes)


@dataclass(slots=True, kw_only=True)
class Table:
    """Columns of one table: whole numbers, texts (`None` where a cell is not a text), and numbers
    with a fraction (NaN where a cell is not a number).

    Of a column in `distinct` there are the distinct texts, and as a number the place of each among
    them, -1 where a cell is not a text. Blobs are texts with a character per byte.
    """

    numbers: dict[str, I64] = field(default_factory=dict)
    texts: dict[str, list[str | None]] = field(default_factory=dict)
    reals: dict[str, F64] = field(default_factory=dict)
    distinct: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        columns = (self.numbers, self.texts, self.reals)
        return next((len(column) for kind in columns for column in kind.values()), 0)

    def __getitem__(self, name: str) -> I64:
        return self.numbers[name]

    def selected(self, rows: I64 | Bools) -> "Table":
        """The numbers in these rows."""
        return Table(numbers={name: column[rows] for name, column in self.numbers.items()})

    def rows(self) -> list[dict[str, Any]]:
        """The numbers and texts of each row by their columns, without those that are not known."""
        columns = {name: column.tolist() for name, column in self.numbers.items()} | self.texts
        cells = (zip(columns, row, strict=True) for row in zip(*columns.values(), strict=True))
        return [{name: cell for name, cell in row if cell not in _NOT_KNOWN} for row in cells]

    def texts_by(self, key: str, name: str) -> dict[int, str | None]:
        """The texts of a column by the numbers of another."""
        return dict(zip(self[key].tolist(), self.texts[name], strict=True))


class Tables:
    """Tables in memory, which are read as those of a `Database` are."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables

    def read(self, table: str, **wanted: Any) -> Table:
        """The columns of a table, as `Database.read` gives them; no rows where there is none."""
        known = self.tables.get(table, Table())
        names = {kind: wanted.get(kind, ()) for kind in ("needed", "optional", "texts", "reals")}
        absent, none = np.full(len(known), ABSENT), list[str | None]([None] * len(known))
        return Table(
            numbers={
                name: known.numbers.get(name, absent).copy()
                for name in (*names["needed"], *names["optional"], *_distinct_of(wanted))
            },
            texts={name: known.texts.get(name, none) for name in names["texts"]},
            reals={name: known.reals.get(name, np.zeros(0)) for name in names["reals"]},
            distinct={name: [] for name in _distinct_of(wanted)},
        )


def _distinct_of(wanted: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return (*wanted.get("distinct", ()), *wanted.get("blobs", ()))


def numbered(texts: Sequence[str], column: str) -> Table:
    """Texts as a column, with their places as ids."""
    return Table(numbers={"id": np.arange(len(texts))}, texts={column: [*texts]})


def joined(tables: Sequence[Table], names: Sequence[str]) -> Table:
    """These columns of all tables, one table after the other; `ABSENT` where a table has none."""
    columns = {
        name: [
            table[name] if name in table.numbers else np.full(len(table), ABSENT)
            for table in tables
        ]
        for name in names
    }
    return Table(numbers={name: np.concatenate(parts) for name, parts in columns.items()})


class _Stored(NamedTuple):
    """A table of the file: the page of its tree, the names of its columns, those columns as they
    lie in a record (`None` for one that is computed), and the one that is the number of the row."""

    root: int
    names: Sequence[str]
    columns: Sequence[str | None]
    key: str | None


class Database:
    """The ordinary tables of one file."""

    def __init__(self, source: SourceFile) -> None:
        _refuse_cut(source)
        self._source = source
        self._codec = _TEXT_IS.get(int.from_bytes(source.head[56:60], "big"), "utf-8")
        try:
            with closing(_connected(source.path)) as connection:
                self._stored = dict(_stored_tables(connection))
        except _UNREADABLE as error:
            raise self._damaged(str(error)) from error

    @property
    def tables(self) -> Mapping[str, object]:
        """The ordinary tables by name."""
        return self._stored

    def read(
        self,
        table: str,
        *,
        needed: Sequence[str] = (),
        optional: Sequence[str] = (),
        texts: Sequence[str] = (),
        reals: Sequence[str] = (),
        distinct: Sequence[str] = (),
        blobs: Sequence[str] = (),
        numbered: tuple[bytes, bytes] = (b"", b""),
    ) -> Table:
        """The table's columns; no rows where the table is not in the file, or a needed column is
        computed by SQL.

        Cells of `needed` columns are whole numbers, those of `optional` ones `ABSENT` where they
        are NULL or the column is missing. Texts of `distinct` columns are one that differ only in
        numbers behind the words `numbered`. Raises `IncompleteProfileError` where a needed column
        is missing, and `CorruptProfileError` where cells of more than a hundredth of the rows have
        another type.
        """
        stored = self._stored.get(table)
        wanted = [*needed, *optional, *texts, *reals, *distinct, *blobs]
        slot = {name: k for k, name in enumerate(dict.fromkeys(wanted))}
        missing = [name for name in needed if stored and name not in stored.names]
        if missing:
            raise IncompleteProfileError(
                f"{self._source.name}: its table {table} has no column {missing[0]}.",
                remedy="Export it with another version of the profiler.",
            )
        is_there = stored is not None and set(needed) <= set(stored.columns)
        rows = self._rows(table, stored, slot) if stored and is_there else _no_rows(len(slot))
        kinds = {name: rows.kinds[k] for name, k in slot.items()}
        sound = np.ones(len(rows), np.bool_)
        for name in (*needed, *optional):
            is_empty = kinds[name] == NULL
            rows.values[slot[name]][is_empty] = ABSENT
            sound &= (kinds[name] == WHOLE) | (is_empty if name not in needed else False)
        if (damaged := int((~sound).sum())) > _MOST_DAMAGED * len(rows):
            raise self._damaged(f"{damaged:,} rows of its table {table} are not numbers")
        kept = np.flatnonzero(sound) if damaged else slice(None)
        result = Table(numbers={name: rows.values[slot[name]][kept] for name in slot})
        for name in texts:
            words, is_text = result.numbers.pop(name), (kinds[name][kept] == TEXT).tolist()
            result.texts[name] = [
                self._text(rows, word) if is_one else None
                for word, is_one in zip(words.tolist(), is_text, strict=True)
            ]
        for name in reals:
            whole = result.numbers.pop(name)
            known = np.where(kinds[name][kept] == REAL, whole.view(np.float64), np.nan)
            result.reals[name] = np.where(kinds[name][kept] == WHOLE, whole, known)
        for name in (*distinct, *blobs):
            is_text = kinds[name][kept] == (BLOB if name in blobs else TEXT)
            same = numbered if name in distinct else (b"", b"")
            words, place = rows.distinct(result.numbers[name][is_text], same)
            codec = self._codec if name in distinct else "latin-1"
            found = [rows.text(word).decode(codec, "replace") for word in words.tolist()]
            result.distinct[name] = found
            result.numbers[name] = np.full(len(is_text), -1)
            result.numbers[name][is_text] = place
        return result

    def _rows(self, name: str, stored: _Stored, slot: Mapping[str, int]) -> Rows:
        places = [-1 if column is None else slot.get(column, -1) for column in stored.columns]
        key = slot.get(stored.key, -1) if stored.key else -1
        try:
            data = np.frombuffer(self._source.data, np.uint8)
            rows = Pages(data).rows(stored.root, places, len(slot), key)
            release(data, 0, len(data))
            return rows
        except DamagedRowsError as error:
            raise self._damaged(f"its table {name} cannot be read ({error})") from error

    def _text(self, rows: Rows, word: int) -> str:
        return rows.text(word).decode(self._codec, "replace")

    def _damaged(self, why: str) -> CorruptProfileError:
        return CorruptProfileError(
            f"{self._source.name} is not a sound SQLite database: {why}.",
            remedy="Export it again; a download or a copy may have been cut short.",
        )


def _no_rows(n_columns: int) -> Rows:
    return Rows(np.zeros((n_columns, 0), np.int64), np.zeros((n_columns, 0), np.uint8), [_NO_BYTES])


def _connected(path: Path) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    for limit, value in _LIMITS:
        connection.setlimit(limit, value)
    return connection


def _stored_tables(connection: sqlite3.Connection) -> Iterator[tuple[str, _Stored]]:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    found = connection.execute(
        "SELECT name, sql, rootpage FROM sqlite_master WHERE type = 'table'"
    ).fetchall()
    for name, sql, root in found:
        if not _is_ordinary(name, sql) or type(root) is not int:
            continue
        listed = connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
        keys = [(column, kind) for _, column, kind, _, _, place, _ in listed if place]
        is_row = len(keys) == 1 and keys[0][1].upper() == "INTEGER"
        yield (
            name,
            _Stored(
                root=root,
                names=[column for _, column, *_ in listed],
                columns=[
                    None if hidden else column
                    for _, column, *_, hidden in listed
                    if hidden != _GENERATED
                ],
                key=keys[0][0] if is_row else None,
            ),
        )


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
    log = source.path.with_name(f"{source.path.name}-wal")
    why = f"page {whole + 1:,} of {pages:,} is missing" if is_stated and whole < pages else ""
    if head[18:20] == b"\2\2" and log.is_file() and log.stat().st_size:
        why = f"its last changes are in {log.name}"
    if why:
        raise CorruptProfileError(
            f"{source.name} is not a whole SQLite database: {why}.",
            remedy="Copy or export it again. If a file *-wal lies beside it, run `sqlite3 FILE"
            " 'PRAGMA wal_checkpoint(TRUNCATE)'` first.",
        )

"""Rows of SQLite tables, decoded from pages: as SQLite itself reads them, and damage is told."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.errors import CorruptProfileError
from roofline.importers.shared.databases import ABSENT, Database, Table
from roofline.importers.source import SourceFile

WHOLE = st.one_of(st.integers(-(2**63) + 1, 2**63 - 1), st.integers(-300, 300))
TEXT = st.one_of(st.none(), st.text(max_size=20), st.integers(0, 9_000).map("é".__mul__))
ROW = st.tuples(WHOLE, st.one_of(st.none(), WHOLE), TEXT, st.one_of(st.floats(-9, 9), st.none()))


def written(path: Path, *statements: str, rows: Iterable[Any] = (), page: int = 4096) -> Database:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size={page}")
        for statement in statements:
            connection.execute(statement)
        connection.executemany("INSERT INTO t(a, b, c, d) VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    return Database(SourceFile(path))


def table(database: Database) -> Table:
    return database.read("t", needed=("id", "a"), optional=("b", "e"), texts=("c",), reals=("d",))


@given(
    rows=st.lists(ROW, max_size=60),
    page=st.sampled_from([512, 1024, 4096, 65536]),
    encoding=st.sampled_from(["UTF-8", "UTF-16le", "UTF-16be"]),
)
def test_cells_are_those_that_sqlite_reads(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], page: int, encoding: str
) -> None:
    """Cells of all types and lengths; long texts go on in other pages, and numbers behind them."""
    path = tmp_path_factory.getbasetemp() / "a.sqlite"
    database = written(
        path,
        f"PRAGMA encoding='{encoding}'",
        "CREATE TABLE t (c, a INT, x INT AS (a + 1) VIRTUAL, id INTEGER PRIMARY KEY, d REAL, b)",
        rows=rows,
        page=page,
    )
    with closing(sqlite3.connect(path)) as connection:
        expected = connection.execute("SELECT id, a, b, c, d FROM t ORDER BY id").fetchall()
    found = table(database)
    reals = [None if value != value else value for value in found.reals["d"].tolist()]
    optional = [None if value == ABSENT else value for value in found["b"].tolist()]
    columns = (found["id"].tolist(), found["a"].tolist(), optional, found.texts["c"], reals)
    assert list(zip(*columns, strict=True)) == expected
    assert found["e"].tolist() == [ABSENT] * len(expected)


def test_a_tree_of_several_levels(tmp_path: Path) -> None:
    rows = [(k * 3, None, "x" * (k % 700), k / 2) for k in range(5_000)]
    columns = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d)"
    found = table(written(tmp_path / "a.sqlite", columns, rows=rows, page=512))
    assert found["a"].tolist() == [row[0] for row in rows]
    assert found.texts["c"] == [row[2] for row in rows]


def test_texts_that_differ_in_numbers_of_calls_are_one(tmp_path: Path) -> None:
    texts = [f"mm, seq = {k}, op_id = {9 * k}, sizes = [[{k % 2}]]" for k in range(40)]
    long = ["y" * 9_000 + f", seq = {k}" for k in range(3)]
    rows = [(0, 0, text, 0) for text in [*texts, *long, None, "mm, seq = , x", "mm, seq"]]
    database = written(tmp_path / "a.sqlite", "CREATE TABLE t (a, b, c, d)", rows=rows)
    found = database.read("t", distinct=("c",), numbered=(b", seq = ", b", op_id = "))
    named = [found.distinct["c"][at] if at >= 0 else None for at in found["c"].tolist()]
    assert len(found.distinct["c"]) == 5
    assert {text.partition("sizes")[2] for text in named[:40] if text} == {" = [[0]]", " = [[1]]"}
    assert [text and text[:9] for text in named[40:]] == ["y" * 9] * 3 + [
        None,
        "mm, seq =",
        "mm, seq",
    ]


def test_a_table_without_row_numbers_is_refused(tmp_path: Path) -> None:
    columns = "CREATE TABLE t (a PRIMARY KEY, b, c, d) WITHOUT ROWID"
    with pytest.raises(CorruptProfileError, match="its table t cannot be read"):
        written(tmp_path / "a.sqlite", columns).read("t", needed=("a",))


def test_a_page_that_is_its_own_child_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    columns = "CREATE TABLE t (a, b, c, d)"
    database = written(path, columns, rows=[(1, 2, "x" * 99, 3)] * 500, page=512)
    content = bytearray(path.read_bytes())
    content[512 + 8 : 512 + 12] = (2).to_bytes(4, "big")
    path.write_bytes(content)
    with pytest.raises(CorruptProfileError, match="its tree of pages is damaged"):
        Database(SourceFile(path)).read("t", needed=("a",))
    assert database.tables

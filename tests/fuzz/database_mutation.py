"""Databases of profilers, broken in their form: cells of other types, tables that are missing, and
SQL of the file that must never run."""

import random
import sqlite3
import tempfile
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from tests.fuzz.text_mutation import bytes_damaged, hostile_text

_SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"
_MOST_CHANGES = 4
# Each would take all memory, or write a file, if it ran.
_HOSTILE_SQL = (
    "CREATE VIEW {name} AS SELECT randomblob(900000000) AS start, 1 AS id",
    "CREATE TABLE {name} (id INT, start INT AS (length(zeroblob(900000000))) VIRTUAL)",
    "CREATE VIRTUAL TABLE {name} USING fts3(start, id)",
    "CREATE TRIGGER t_{name} AFTER INSERT ON {table} BEGIN SELECT randomblob(900000000); END",
    "CREATE INDEX i_{name} ON {table} (length(hex(rowid)))",
)


@cache
def _seeds() -> tuple[bytes, ...]:
    paths = [*_SAMPLES.rglob("*.sqlite"), *_SAMPLES.rglob("*.db")]
    return tuple(path.read_bytes() for path in sorted(paths))


def bent_database(number: int) -> bytes:
    """Input `number`: half of them are sound databases with content that is not expected."""
    rng = random.Random(number)
    seed = rng.choice(_seeds())
    return bytes_damaged(rng, seed) if rng.random() < 0.5 else _changed(rng, seed)


def _changed(rng: random.Random, seed: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bent.sqlite"
        path.write_bytes(seed)
        with closing(sqlite3.connect(path)) as connection:
            for _ in range(rng.randrange(1, _MOST_CHANGES)):
                with suppress(sqlite3.Error, UnicodeEncodeError):
                    _change(rng, connection)
            connection.commit()
        return path.read_bytes()


def _change(rng: random.Random, connection: sqlite3.Connection) -> None:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    table = rng.choice([name for (name,) in found if not name.startswith("sqlite_")])
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    column, kind = rng.choice(columns), rng.random()
    if kind < 0.2:
        connection.execute(f'DROP TABLE "{table}"')
        if rng.random() < 0.5:
            connection.execute(rng.choice(_HOSTILE_SQL).format(name=table, table=table))
    elif kind < 0.3:
        connection.execute(rng.choice(_HOSTILE_SQL).format(name=f"x{len(found)}", table=table))
    elif kind < 0.4:
        connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
    elif kind < 0.5:
        connection.execute(f'DELETE FROM "{table}" WHERE rowid % 2 = ?', (rng.randrange(2),))
    else:
        where = "" if rng.random() < 0.5 else f"WHERE rowid = {rng.randrange(1, 20)}"
        connection.execute(f'UPDATE "{table}" SET "{column}" = ? {where}', (_cell(rng),))


def _cell(rng: random.Random) -> object:
    return rng.choice(
        (
            None,
            -1,
            0,
            rng.randrange(-(2**63), 2**63),
            2**63 - 1,
            rng.random() * 1e300,
            float("inf"),
            b"\x00\xff" * 50,
            hostile_text(rng).encode("utf-8", "replace").decode("utf-8", "replace"),
            "sizes" + ", sizes = [[" * 200,
            "aten::mm, seq = 0, sizes = [[" + "9" * 18 + ", 2], [2, 3]]",
        )
    )

"""The database: SQLite in the data folder, or PostgreSQL. Connections, transactions, schema.

SQLite 3.7.0 to 3.51.2 can lose a write when two connections write or checkpoint at once, so one
connection of one process writes, and readers never checkpoint. What differs between the two
systems is in `_tune_sqlite`, `_lock` and `insert_new`, and nowhere else.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Insert,
    Row,
    Select,
    Table,
    UpdateBase,
    create_engine,
    event,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from roofline.errors import RooflineError, SettingsError, StorageFullError, StoreUnavailableError
from roofline.model.units import MS_PER_S

FILE_NAME = "roofline.db"
BUSY_WAIT_S = 10.0
# About a second of a start.
CHECKED_AT_START_BYTES = 256 << 20
RESTORE = (
    "Stop the server and restore the last backup into an empty data folder (`roofline restore`);"
    " `roofline doctor` says what is damaged."
)
READERS = 8
_MIGRATIONS = Path(__file__).parent / "migrations"
# The newest file below migrations/versions; a test holds them together.
SCHEMA = "0021"
# Any number will do, as long as every server of one database uses the same.
_SCHEMA_LOCK = 0x526F6F66
_CLAIM_LOCK = 0x526F6F67
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class Database:
    """One database. Safe to use from any thread; `url` is `None` for SQLite in `folder`."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.path = None if url else folder / FILE_NAME
        parsed = _parse(url) if url else URL.create("sqlite", database=str(self.path))
        self._writer = _engine(parsed, size=1 if self.path else READERS)
        self._reader = _engine(parsed, size=READERS) if self.path else self._writer
        if self.path is not None:
            _tune_sqlite(self._writer, writes=True, checkpoint_pages=1000)
            _tune_sqlite(self._reader, writes=False, checkpoint_pages=0)
        # A lock of our own: waiting for the pool's only connection would end in its time-out.
        self._write_lock = threading.RLock() if self.path else None

    @property
    def is_shared(self) -> bool:
        """True when other processes may write, too."""
        return self.path is None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the database."""
        with explained(), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, lasting: bool = True) -> Iterator[Connection]:
        """A transaction: committed at the end of the block, undone when it raises.

        One that is not `lasting` does not wait for the disk: a power cut may undo it, alone or with
        others like it, but nothing that was committed before. The end of a process does not.
        Raises `StorageFullError` or `StoreUnavailableError` when the database cannot be written.
        """
        writer = self._writer.execution_options(lasting=lasting)
        with self._alone(), explained(), writer.begin() as connection:
            yield connection

    def change(self, statement: UpdateBase) -> int:
        """Executes a statement in a transaction of its own; how many rows it changed."""
        with self.write() as connection:
            return connection.execute(statement).rowcount

    def rows(self, wanted: Select[Any]) -> Sequence[Row[Any]]:
        """The rows of one query."""
        with self.read() as connection:
            return connection.execute(wanted).all()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._write_lock is None:
            yield
        else:
            with self._write_lock:
                yield

    def migrate(self) -> None:
        """Brings the schema up to date; `SettingsError` if it is newer than this program."""
        with self.write() as connection:
            _lock(connection, [_SCHEMA_LOCK])
            if (found := schema_of(connection)) != SCHEMA:
                _refuse_newer(found)
                _upgrade(connection)

    def check(self) -> None:
        """Raises a `RooflineError` when it cannot be written now; writes nothing."""
        with self.write() as connection:
            # PostgreSQL begins a transaction on a standby, too; this row needs the right to write.
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT id FROM instance FOR UPDATE SKIP LOCKED"))

    def check_pages(self) -> None:
        """Raises `StoreUnavailableError` for a damaged page of SQLite, which would be served.

        A large file is not read at a start: the regular check reads it.
        """
        if self.path is None or not self.path.is_file():
            return
        is_large = self.path.stat().st_size > CHECKED_AT_START_BYTES
        fault = None if is_large else self.fault(quick=True)
        if fault is not None:
            raise _unavailable(f"is damaged ({fault})", RESTORE)

    def fault(self, *, quick: bool = False) -> str | None:
        """The fault that SQLite's own check finds, or `None`; `quick` leaves indexes out."""
        if self.path is None:
            return None
        check = "quick_check" if quick else "integrity_check"
        try:
            with self._reader.connect() as connection:
                found = connection.execute(text(f"PRAGMA {check}(1)")).scalar_one()
        except DBAPIError as error:
            return str(error.orig)
        return None if found == "ok" else " ".join(str(found).split())

    def close(self) -> None:
        """Gives every connection back."""
        # The writer last: closing it moves the log into the database file.
        self._reader.dispose()
        self._writer.dispose()


def schema_of(connection: Connection) -> str | None:
    """The schema's revision, `None` for an empty database."""
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _refuse_newer(found: str | None) -> None:
    known = {path.stem.split("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py")}
    if found is not None and found not in known:
        raise SettingsError(
            f"The database was written by a newer version of Roofline (schema {found}, this"
            f" version knows {SCHEMA}).",
            remedy="Start the newer version again, or restore the backup made before the upgrade.",
        )


def _upgrade(connection: Connection) -> None:
    # Imported only when there is something to do: it is a third of a second of every start.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def lock_digests(connection: Connection, digests: Iterable[str]) -> None:
    """Until the transaction ends, no other process may add or remove files with these digests."""
    _lock(connection, {int(digest[:15], 16) for digest in digests})


def lock_claims(connection: Connection) -> None:
    """Until the transaction ends, no other process may choose the job that is next."""
    _lock(connection, [_CLAIM_LOCK])


def _lock(connection: Connection, keys: Iterable[int]) -> None:
    """Holds `keys` until the transaction ends.

    SQLite needs nothing: a write transaction excludes every other.
    """
    if connection.dialect.name != "postgresql":
        return
    for key in sorted(keys):  # in order: no deadlock
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


def insert_new(connection: Connection, table: Table) -> Insert:
    """An INSERT that leaves a row alone whose key is there already."""
    # Imported by name: a server with SQLite does not load the other.
    dialect = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
    statement: Insert = dialect.insert(table).on_conflict_do_nothing()
    return statement


def _tune_sqlite(engine: Engine, *, writes: bool, checkpoint_pages: int) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where we say so, for DDL too
        for pragma in (
            f"busy_timeout={int(BUSY_WAIT_S * MS_PER_S)}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"wal_autocheckpoint={checkpoint_pages}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        if writes:
            _choose_sync(connection)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _choose_sync(connection: Connection) -> None:
    """Before a transaction of SQLite begins: whether its end waits for the disk."""
    lasting = connection.get_execution_options().get("lasting", True)
    connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise _bad_url() from error
    if parsed.get_backend_name() != "postgresql":
        raise _bad_url()
    return parsed.set(drivername="postgresql+psycopg")


def _bad_url() -> SettingsError:
    # The address itself is not repeated: it holds a password.
    return SettingsError(
        "ROOFLINE_DATABASE_URL is not the address of a PostgreSQL database.",
        remedy="Write it as postgresql://user:password@host/database, or unset it for SQLite.",
    )


def _engine(url: URL, *, size: int) -> Engine:
    try:
        return create_engine(
            url,
            poolclass=QueuePool,
            pool_size=size,
            max_overflow=0,
            pool_pre_ping=url.get_backend_name() == "postgresql",  # it may have been restarted
        )
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"PostgreSQL needs the Python package {error.name}, which is not installed.",
            remedy="Install the packages for teams as docs/operations.md says.",
        ) from error


@contextmanager
def explained() -> Iterator[None]:
    """Turns faults of the database that users can do something about into our errors."""
    try:
        yield
    except PoolTimeoutError as error:
        raise _unavailable("is too busy", "Try again in a few seconds.") from error
    except DBAPIError as error:
        found = _explain(error)
        if found is None:
            raise
        raise found from error


def _explain(error: DBAPIError) -> RooflineError | None:
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is None:
        return _explain_postgres(error)
    basic = code & 0xFF  # extended codes add the kind of fault above the basic one
    if basic in _FULL:
        return StorageFullError(
            "The server cannot store more: its database cannot be written.",
            remedy="Free space on the server's disk, and check that the data folder is writable.",
        )
    if basic in _DAMAGED:
        return _unavailable("is damaged", RESTORE)
    if basic in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return _unavailable("is in use by another program", "Try again in a few seconds.")
    if basic in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return _unavailable("cannot be read or written", "Check the disk of the data folder.")
    return None


def _explain_postgres(error: DBAPIError) -> RooflineError | None:
    match getattr(error.orig, "sqlstate", None):
        case "53100":
            return StorageFullError(
                "The server cannot store more: the disk of its database is full.",
                remedy="Free space on PostgreSQL's machine.",
            )
        case "25006":
            remedy = "Point ROOFLINE_DATABASE_URL at the primary; this may be a standby."
            return _unavailable("is read-only", remedy)
        case "42501":
            return SettingsError(
                "The database's user may not create or write Roofline's tables.",
                remedy="Grant it CREATE on the schema, or name their owner in"
                " ROOFLINE_DATABASE_URL.",
            )
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    remedy = "Try again; if it lasts, check that PostgreSQL runs and ROOFLINE_DATABASE_URL."
    return _unavailable("cannot be reached", remedy)


def _unavailable(what: str, remedy: str) -> StoreUnavailableError:
    return StoreUnavailableError(f"The server's database {what}.", remedy=remedy)

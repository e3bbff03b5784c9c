"""Backup and restore. A backup is a data folder: `roofline.db` and `blobs/`, without results.

Rows are copied first, from one state of the database, then the raw files they name: those never
change, so the server may go on meanwhile. The same two functions move an instance from SQLite to
PostgreSQL, or from a folder to an object store.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, insert, select

from roofline.errors import SettingsError
from roofline.storage import statements
from roofline.storage.blobs import BlobStore, FolderBlobs
from roofline.storage.database import FILE_NAME, SCHEMA, Database, schema_of
from roofline.storage.durable import explained_writes, make_directory, sync_directory
from roofline.storage.profiles import ProfileStore
from roofline.storage.raw import found_key
from roofline.storage.records import StoredFile
from roofline.storage.tables import instance, metadata

BATCH_ROWS = 1000
Tick = Callable[[int, int], None]
"""Called with the number of raw files copied, and that of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The content of a backup or restore; `missing` are files whose bytes could not be read."""

    profiles: int
    files: int
    stored_bytes: int
    missing: tuple[StoredFile, ...]


def back_up(store: ProfileStore, target: Path, tick: Tick) -> Copied:
    """Copies everything to `target`, an empty folder or none yet; the server may be serving."""
    _refuse_old(store.database)
    with explained_writes():
        if target.exists() and any(target.iterdir()):
            raise SettingsError(
                f"{target} is not empty.", remedy="Name a folder that does not exist yet."
            )
        make_directory(target)
    copy = Database(target)
    try:
        copy.migrate()
        _copy_rows(store.database, copy)
        copied = _copy_files(copy, store.blobs, FolderBlobs(target), target, tick)
        missing = _without_deleted(store, copy, copied.missing)
    finally:
        copy.close()
    sync_directory(target)
    return replace(copied, missing=missing)


def restore(source: Path, store: ProfileStore, scratch: Path, tick: Tick) -> Copied:
    """Fills `store`, which must be empty, from a backup; `scratch` is an empty folder."""
    if not (source / FILE_NAME).is_file():
        raise SettingsError(
            f"{source} is not a backup: it has no {FILE_NAME}.",
            remedy="Name a folder that `roofline backup` made.",
        )
    with store.database.read() as connection:
        if statements.profile_ids(connection):
            raise SettingsError(
                "The server to restore to has profiles already.",
                remedy="Restore to an empty ROOFLINE_DATA_DIR, or an empty database.",
            )
    with explained_writes():
        shutil.copy(source / FILE_NAME, scratch / FILE_NAME)
    backup = Database(scratch)  # a copy: the backup of an older release is brought up to date
    try:
        backup.migrate()
        copied = _copy_files(backup, FolderBlobs(source), store.blobs, scratch, tick)
        _copy_rows(backup, store.database)
    finally:
        backup.close()
    return copied


def _refuse_old(database: Database) -> None:
    with database.read() as connection:
        found = schema_of(connection)
    if found != SCHEMA:
        raise SettingsError(
            "The database is empty or of another version of Roofline.",
            remedy="Start this version's server once, then back up.",
        )


def _copy_rows(source: Database, target: Database) -> None:
    # One read transaction: every table as of the same moment.
    with source.read() as reader, target.write() as writer:
        if reader.dialect.name == "postgresql":
            reader = reader.execution_options(isolation_level="REPEATABLE READ")
        for table in metadata.sorted_tables:
            if table is not instance:  # a copy is an instance of its own
                _copy_table(reader, writer, table.name)


def _copy_table(reader: Connection, writer: Connection, name: str) -> None:
    table = metadata.tables[name]
    # Numbers are given anew, in the same order: PostgreSQL would not know that they are taken.
    columns = [column for column in table.columns if column.name != "number"]
    order = table.c.number if "number" in table.c else None
    rows = reader.execute(select(*columns).order_by(order))
    for batch in rows.mappings().partitions(BATCH_ROWS):
        writer.execute(insert(table), [dict(row) for row in batch])


def _copy_files(
    rows: Database, source: BlobStore, target: BlobStore, scratch: Path, tick: Tick
) -> Copied:
    with rows.read() as connection:
        profiles = len(statements.profile_ids(connection))
        files = {file.sha256: file for _, file in statements.needed_files(connection)}
    stored_bytes, missing = 0, []
    for number, file in enumerate(files.values(), 1):
        size_bytes = _copy_file(file, source, target, scratch)
        if size_bytes is None:
            missing.append(file)
        stored_bytes += size_bytes or 0
        tick(number, len(files))
    return Copied(
        profiles=profiles,
        files=len(files) - len(missing),
        stored_bytes=stored_bytes,
        missing=tuple(missing),
    )


def _copy_file(file: StoredFile, source: BlobStore, target: BlobStore, scratch: Path) -> int | None:
    """Copies the bytes as they are kept; their size, `None` when there are none."""
    key = found_key(source, file.sha256)
    if key is None:
        return None
    copy = scratch / ".copy"
    with explained_writes():
        with copy.open("wb") as writer:
            for chunk in source.open(key):
                writer.write(chunk)
            writer.flush()
            os.fsync(writer.fileno())
        target.put(key, copy)
        size_bytes = copy.stat().st_size
        copy.unlink()
    return size_bytes


def _without_deleted(
    store: ProfileStore, copy: Database, missing: tuple[StoredFile, ...]
) -> tuple[StoredFile, ...]:
    """Forgets profiles whose files went because they were deleted during the backup.

    Files that stay in `missing` are missing in the store itself.
    """
    if not missing:
        return ()
    with store.database.read() as connection:
        alive = statements.profile_ids(connection)
    with copy.write() as connection:
        for profile_id in statements.profile_ids(connection) - alive:
            statements.remove(connection, profile_id)
        needed = statements.referenced(connection, [file.sha256 for file in missing])
    return tuple(file for file in missing if file.sha256 in needed)


def verify(store: ProfileStore) -> tuple[StoredFile, ...]:
    """Reads every raw file; those that are not what was uploaded."""
    with store.database.read() as connection:
        files = {file.sha256: file for _, file in statements.needed_files(connection)}
    return tuple(file for file in files.values() if not store.raw.is_intact(file))

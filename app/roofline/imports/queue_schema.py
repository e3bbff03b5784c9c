"""Procrastinate's own tables: made, brought up to date, or refused, before anyone uses them.

The library comes with its schema and the steps between its versions, and leaves it to others to
remember which were taken. The comment on its main table says so here: the name of the last step.
"""

from pathlib import Path

import procrastinate
import psycopg
from psycopg import sql

from roofline.errors import SettingsError

Connection = psycopg.Connection[tuple[object, ...]]

# Any number will do, as long as every server of one database uses the same.
_LOCK = 0x526F6F67
_MARK = "roofline: "
# Tables without a mark were made by a release before marks, with the library's 3.5 or later.
_UNMARKED = "03.04.00_50"
_NEW_IN_UNMARKED = "procrastinate_retry_job_v2"


def prepare(url: str) -> None:
    """Makes the tables of the database at `url`, or brings them up to date.

    Raises `SettingsError` when they are of a newer library, or of one too old to take over.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        # One server after the other; the lock goes with the connection, however that ends.
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        steps = _steps()
        newest = max(steps)
        found = _version(connection)
        if found is None:
            _take(connection, procrastinate.schema.SchemaManager.get_schema().encode(), newest)
        elif found > newest:
            raise _newer(found, newest)
        for number in sorted(steps):
            if found is not None and number > found:
                _take(connection, steps[number].read_bytes(), number)


def _steps() -> dict[str, Path]:
    """The library's steps by version and serial number, such as `03.04.00_50`."""
    folder = Path(procrastinate.schema.SchemaManager.get_migrations_path())
    return {"_".join(path.stem.split("_")[:2]): path for path in folder.glob("[0-9]*.sql")}


def _version(connection: Connection) -> str | None:
    """The last step that was taken; `None` when there are no tables."""
    found = connection.execute(
        "SELECT coalesce(obj_description(oid, 'pg_class'), ''),"
        " EXISTS (SELECT FROM pg_proc WHERE proname = %s)"
        " FROM pg_class WHERE oid = to_regclass('procrastinate_jobs')",
        [_NEW_IN_UNMARKED],
    ).fetchone()
    if found is None:
        return None
    comment, is_known = str(found[0]), bool(found[1])
    if comment.startswith(_MARK):
        return comment.removeprefix(_MARK)
    if is_known:
        return _UNMARKED
    raise SettingsError(
        "The database has tables of a Procrastinate older than 3.5, which Roofline did not make.",
        remedy="Give Roofline a database of its own in ROOFLINE_DATABASE_URL, or apply"
        " Procrastinate's migrations up to 3.5.",
    )


def _take(connection: Connection, script: bytes, number: str) -> None:
    """Runs a script and notes it, both or neither."""
    mark = sql.SQL("COMMENT ON TABLE procrastinate_jobs IS {}").format(f"{_MARK}{number}")
    try:
        with connection.transaction():
            connection.execute(script)
            connection.execute(mark)
    except psycopg.errors.InsufficientPrivilege as error:
        raise SettingsError(
            "The database's user may not create or change the tables of the queue.",
            remedy="Start once as their owner, or grant CREATE on the schema to that user.",
        ) from error
    except psycopg.OperationalError:
        raise  # the connection, not the script
    except psycopg.Error as error:
        raise SettingsError(
            f"The queue's tables cannot be brought to step {number}: {error}.",
            remedy="Another program may use Procrastinate here: give Roofline a database of its"
            " own in ROOFLINE_DATABASE_URL.",
        ) from error


def _newer(found: str, newest: str) -> SettingsError:
    return SettingsError(
        f"The queue in the database is of a newer Procrastinate (step {found}, this one knows"
        f" {newest}).",
        remedy="Install the same version as the other servers and workers have.",
    )

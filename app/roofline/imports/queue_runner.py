"""Jobs through Procrastinate: a queue in the same PostgreSQL, and workers on any machine.

The queue holds job ids and nothing else. What it loses (a worker killed in mid-job keeps its id
for ever) is delivered again from the job table, and its own rows are deleted once a worker has
seen them. Workers look for such rows all the time, so none stays "doing".

The library comes with its schema and the steps between its versions, and leaves it to others to
remember which were taken. The comment on its main table says so here: the name of the last step.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator
from pathlib import Path

import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status
from psycopg import sql

from roofline.errors import SettingsError, StoreUnavailableError
from roofline.imports.job_runs import JobRuns

TASK = "roofline.run_job"
QUEUE = "roofline"
DEFER_CONNECTIONS = 4
# A worker beats every ten seconds.
STALLED_AFTER_S = 30.0
FORGET_EVERY_S = 15.0
# A worker whose database was lost looks for it again.
AGAIN_AFTER_S = 1.0
_log = logging.getLogger("roofline.jobs")
Connection = psycopg.Connection[tuple[object, ...]]
# Any number will do, as long as every server of one database uses the same.
_LOCK = 0x526F6F67
_MARK = "roofline: "
# Tables without a mark were made by a release before marks, with the library's 3.5 or later.
_UNMARKED = "03.04.00_50"
_NEW_IN_UNMARKED = "procrastinate_retry_job_v2"


class QueueRunner:
    """Puts job ids into the queue of the database at `url`."""

    def __init__(self, url: str) -> None:
        self._url = _plain(url)
        connector = procrastinate.SyncPsycopgConnector(
            conninfo=self._url, min_size=0, max_size=DEFER_CONNECTIONS
        )
        self._app = procrastinate.App(connector=connector)

    def start(self) -> None:
        """See `Runner`."""
        with _explained():
            prepare(self._url)
            self._app.open()

    def submit(self, job_id: str) -> None:
        """See `Runner`. Does nothing while the queue holds the id."""
        with _explained(), contextlib.suppress(AlreadyEnqueued):
            task = self._app.configure_task(TASK, queue=QUEUE, queueing_lock=job_id)
            task.defer(job_id=job_id)

    def close(self) -> None:
        """See `Runner`. Workers go on."""
        self._app.close()


def work(runs: JobRuns, url: str, concurrency: int) -> None:
    """Runs jobs from the queue until SIGINT or SIGTERM; interrupted jobs are queued again."""
    with _explained():
        prepare(_plain(url))
    asyncio.run(_work(runs, _plain(url), concurrency))


async def _work(runs: JobRuns, url: str, concurrency: int) -> None:
    stopped = asyncio.Event()

    def stop() -> None:
        runs.stop()
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    while not stopped.is_set():
        try:
            await _work_connected(runs, url, concurrency, stopped)
        except ConnectorException as error:  # the database died: it may come back
            _log.warning("the queue of imports cannot be reached: %s", error.__cause__ or error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), AGAIN_AFTER_S)


async def _work_connected(
    runs: JobRuns, url: str, concurrency: int, stopped: asyncio.Event
) -> None:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))
    app.task(name=TASK, queue=QUEUE)(runs.run)
    async with app.open_async():
        worker = asyncio.create_task(
            app.run_worker_async(
                queues=[QUEUE],
                concurrency=concurrency,
                delete_jobs="always",
                install_signal_handlers=False,
            )
        )
        stopping = asyncio.create_task(stopped.wait())
        forgetting = asyncio.create_task(_forget_stalled_for_ever(app))
        await asyncio.wait((worker, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        forgetting.cancel()
        worker.cancel()  # lets what runs end, which `runs.stop` has seen to
        with contextlib.suppress(asyncio.CancelledError):
            await worker
        for job_id in runs.released:  # at once, for other workers
            with contextlib.suppress(AlreadyEnqueued):
                again = app.configure_task(TASK, queue=QUEUE, queueing_lock=job_id)
                await again.defer_async(job_id=job_id)


async def _forget_stalled_for_ever(app: procrastinate.App) -> None:
    """Looks now and then: a worker may be killed at any time, and its last beat must be old."""
    while True:
        try:
            await _forget_stalled(app)
        except ConnectorException as error:
            _log.warning("ids of killed workers were not looked for: %s", error)
        await asyncio.sleep(FORGET_EVERY_S)


async def _forget_stalled(app: procrastinate.App) -> None:
    """Deletes ids that a killed worker held: the job table delivers them again."""
    stalled = app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=STALLED_AFTER_S)
    for job in await stalled:
        await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)


def _plain(url: str) -> str:
    """`url` as psycopg reads it, without SQLAlchemy's name of the driver."""
    scheme, _, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}://{rest}"


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (ConnectorException, psycopg.OperationalError) as error:
        raise StoreUnavailableError(
            "The queue of imports cannot be reached.",
            remedy="Check that PostgreSQL runs, and ROOFLINE_DATABASE_URL.",
        ) from error


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

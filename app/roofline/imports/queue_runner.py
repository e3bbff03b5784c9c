"""Jobs through Procrastinate: a queue in the same PostgreSQL, and workers on any machine.

The queue holds job ids and nothing else. What it loses (a worker killed in mid-job keeps its id
for ever) is delivered again from the job table, and its own rows are deleted once a worker has
seen them. Workers look for such rows all the time, so none stays "doing".
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator

import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status

from roofline.errors import StoreUnavailableError
from roofline.imports import queue_schema
from roofline.imports.job_runs import JobRuns

TASK = "roofline.run_job"
QUEUE = "roofline"
DEFER_CONNECTIONS = 4
# A worker beats every ten seconds.
STALLED_AFTER_S = 30.0
FORGET_EVERY_S = 15.0
_log = logging.getLogger("roofline.jobs")


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
            queue_schema.prepare(self._url)
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
        queue_schema.prepare(_plain(url))
    asyncio.run(_work(runs, _plain(url), concurrency))


async def _work(runs: JobRuns, url: str, concurrency: int) -> None:
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
        _stop_on_signals(runs, worker)
        forgetting = asyncio.create_task(_forget_stalled_for_ever(app))
        with contextlib.suppress(asyncio.CancelledError):
            await worker
        forgetting.cancel()
        for job_id in runs.released:  # at once, for other workers
            with contextlib.suppress(AlreadyEnqueued):
                again = app.configure_task(TASK, queue=QUEUE, queueing_lock=job_id)
                await again.defer_async(job_id=job_id)


def _stop_on_signals(runs: JobRuns, worker: "asyncio.Task[None]") -> None:
    def stop() -> None:
        runs.stop()
        worker.cancel()  # lets what runs end, which `runs.stop` has seen to

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)


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

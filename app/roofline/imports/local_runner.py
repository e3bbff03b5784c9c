"""Jobs on threads of this process, each watching one child."""

import logging
from concurrent.futures import Future, ThreadPoolExecutor

from roofline.imports.job_runs import JobRuns

_log = logging.getLogger("roofline.jobs")


class LocalRunner:
    """Up to `workers` jobs at a time; further ones wait in order."""

    def __init__(self, runs: JobRuns, workers: int) -> None:
        self._runs = runs
        self._workers = workers
        self._threads: ThreadPoolExecutor | None = None
        self._delivered: set[str] = set()

    def start(self) -> None:
        """See `Runner`."""
        self._runs.start()
        self._threads = ThreadPoolExecutor(self._workers, thread_name_prefix="import")

    def submit(self, job_id: str) -> None:
        """See `Runner`. Does nothing while the job waits or runs here, or when closed."""
        if self._threads is None or job_id in self._delivered:
            return
        self._delivered.add(job_id)
        future = self._threads.submit(self._runs.run, job_id)
        future.add_done_callback(lambda _: self._delivered.discard(job_id))
        future.add_done_callback(_log_fault)

    def close(self) -> None:
        """See `Runner`. Queued jobs stay queued in the job table."""
        self._runs.stop()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._threads = None


def _log_fault(future: "Future[None]") -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        _log.error("a job failed by a fault of the server", exc_info=error)

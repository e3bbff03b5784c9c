"""The jobs that this process runs: started by a runner, followed and stopped.

Numbers of the imports that ran in this process, for Prometheus: a server's, or a worker's.

Labels are few and bounded: formats and error codes, never names.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client import start_http_server as start_server

from roofline.children.confinement import missing
from roofline.errors import RooflineError, SettingsError
from roofline.imports.children import ImportTask, warm_up
from roofline.imports.job_run import ImportReport, JobRun, RunEnd, RunParts, claim

ID_CHARACTERS_LOGGED = 6  # a whole id is a link, and links are secrets
_log = logging.getLogger("roofline.jobs")


class JobRuns:
    """Runs jobs with `parts`. `on_end` hears the profile's id and a report of each.

    `released` are the jobs that `stop` interrupted.
    """

    def __init__(self, parts: RunParts, on_end: Callable[[str, ImportReport], None]) -> None:
        self._parts = parts
        self._on_end = on_end
        self.released: list[str] = []
        self._tasks: dict[str, ImportTask] = {}
        self._ended = threading.Condition()
        self._stopping = False

    def start(self) -> None:
        """Makes ready to run jobs, for the first time or after `stop`."""
        self._stopping = False
        for lacking in missing():
            _log.warning("this system lacks %s", lacking)
        warm_up()

    def task(self, profile_id: str) -> ImportTask | None:
        """The import of a profile that this process runs now."""
        return self._tasks.get(profile_id)

    def kill(self, profile_id: str, why: RooflineError, *, wait_s: float) -> None:
        """Stops the import of a profile if it runs here, and waits until it has ended."""
        task = self._tasks.get(profile_id)
        if task is None:
            return
        task.stop(why)
        with self._ended:
            self._ended.wait_for(lambda: self._tasks.get(profile_id) is not task, timeout=wait_s)

    def stop(self) -> None:
        """Stops every import; they are queued again, for the next start or another machine."""
        self._stopping = True
        for task in list(self._tasks.values()):
            task.interrupt()

    def run(self, job_id: str) -> None:
        """Runs one job that is due; returns when it has ended, or waits in the queue.

        Where a person may only run so many imports, others wait for one to end: it runs them, too.
        """
        while (end := self._run_once(job_id)) is not None:
            if end is not RunEnd.DUE and self._parts.most_running is None:
                return

    def _run_once(self, job_id: str) -> RunEnd | None:
        """How a run ended; `None` where nothing is due."""
        if self._stopping or (run := claim(self._parts, job_id)) is None:
            return None
        end = RunEnd.ENDED
        profile_id = run.job.profile_id
        self._tasks[profile_id] = run.task
        try:
            if self._stopping:  # asked to stop between the look above and now
                run.task.interrupt()
            end = run.run()
            if end is RunEnd.RELEASED:
                self.released.append(job_id)
        finally:
            with self._ended:
                self._tasks.pop(profile_id, None)
                self._ended.notify_all()
            if end is not RunEnd.DUE:
                self._report(run)
        return end

    def _report(self, run: JobRun) -> None:
        report = run.report()
        _log.info(
            "%s of %s…: %s, %d bytes",
            run.job.kind,
            run.job.profile_id[:ID_CHARACTERS_LOGGED],
            report.code,
            report.size_bytes,
        )
        self._on_end(run.job.profile_id, report)


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


class Runner(Protocol):
    """Delivers job ids to `JobRuns.run`, at least once each; all else is in the job table."""

    def start(self) -> None:
        """Makes ready to deliver."""

    def submit(self, job_id: str) -> None:
        """Has the job run, now or when a worker is free. May raise `StoreUnavailableError`."""

    def close(self) -> None:
        """Stops delivering; jobs delivered to this process have ended when this returns."""


IMPORT_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
READY = "ready"
# Metrics ask for no login, so only this machine can read them; other machines need an agent here.
ADDRESS = "127.0.0.1"
# They would be one more series for each, without a reader.
disable_created_metrics()  # type: ignore[no-untyped-call]


class ImportMetrics:
    """The ends of imports since this process started."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "roofline_import_seconds",
            "Time of imports in each of their phases.",
            ("format", "phase"),
            buckets=IMPORT_BUCKETS_S,
            registry=registry,
        )
        self._imports = Counter(
            "roofline_imports", "Imports that ended well.", ("format",), registry=registry
        )
        self._failures = Counter(
            "roofline_import_failures",
            "Imports that failed, by the error's code.",
            ("code",),
            registry=registry,
        )
        self._bytes = Counter(
            "roofline_import_bytes", "Bytes of uploads that were imported.", registry=registry
        )

    def count(self, report: ImportReport) -> None:
        """Counts an import that has ended."""
        format_id = report.format or "unknown"
        for phase, seconds in report.seconds_by_phase.items():
            self._seconds.labels(format_id, phase).observe(seconds)
        if report.code == READY:
            self._imports.labels(format_id).inc()
            self._bytes.inc(report.size_bytes)
        else:
            self._failures.labels(report.code).inc()


def serve_imports(port: int) -> ImportMetrics:
    """Answers with these numbers on `port` of this machine, on a thread of its own.

    Raises `SettingsError` when the port is taken.
    """
    registry = CollectorRegistry()
    metrics = ImportMetrics(registry)
    try:
        start_server(port, ADDRESS, registry)
    except OSError as error:
        raise SettingsError(
            f"The numbers cannot be served on {ADDRESS}:{port}: {error.strerror}.",
            remedy="Choose another port with --metrics-port.",
        ) from error
    return metrics

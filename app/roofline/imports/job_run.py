"""Desk.run(job_id): what every runner calls. Lease, raw files, child, results, in that order.

A job may be delivered twice or be cut off anywhere. Only the owner of its lease stores an outcome,
and the same files give the same results, so running it again does no harm.
"""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from roofline.errors import ImportStoppedError, RooflineError, StoreUnavailableError
from roofline.imports.children import Children, ImportTask, Outcome, Progress
from roofline.imports.messages import ImportLimits, WorkOrder
from roofline.storage.jobs import MAX_ATTEMPTS
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import QUEUED, Found, Job, Manifest, Pending, Summary
from roofline.storage.staging import Staging, StagingArea

# Progress in the job table more often than this is a commit for nobody.
BEAT_EVERY_S = 1.0
ID_CHARACTERS_LOGGED = 6  # a whole id is a link, and links are secrets
_log = logging.getLogger("roofline.jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """How a job went, for metrics: `code` is "ready" or an error's; `format` if it was known."""

    format: str | None
    code: str
    seconds_by_phase: dict[str, float]
    size_bytes: int


class Desk:
    """Runs jobs of `store` in this process. `on_end` hears the profile's id and a report.

    `released` are the jobs that `stop` interrupted.
    """

    def __init__(
        self,
        store: ProfileStore,
        staging: Staging,
        children: Children,
        limits: ImportLimits,
        on_end: Callable[[str, ImportReport], None],
    ) -> None:
        self._children = children
        self._store = store
        self._staging = staging
        self._limits = limits
        self._on_end = on_end
        self.released: list[str] = []
        self._tasks: dict[str, ImportTask] = {}
        self._ended = threading.Condition()
        self._stopping = False

    def start(self) -> None:
        """Makes ready to run jobs, for the first time or after `stop`."""
        self._stopping = False
        self._children.warm_up()

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
            task.stop(_interrupted())

    def run(self, job_id: str) -> None:
        """Runs a job, if it is due; returns when it has ended."""
        owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        version = self._store.results.version
        if self._stopping or (job := self._claim(job_id, owner, version)) is None:
            return
        run = _Run(job, owner)
        self._tasks[job.profile_id] = run.task
        try:
            if self._stopping:  # asked to stop between the look above and now
                run.task.stop(_interrupted())
            self._run(run)
        finally:
            with self._ended:
                self._tasks.pop(job.profile_id, None)
                self._ended.notify_all()
            self._report(run)

    def _claim(self, job_id: str, owner: str, version: str) -> Job | None:
        # On a full disk, too: only a job that runs can say that there is no room for it.
        claimed = self._store.with_room(lambda: self._store.jobs.claim(job_id, owner, version))
        if claimed is None:
            self._warn_of_other_version(job_id, version)
        return claimed

    def _warn_of_other_version(self, job_id: str, version: str) -> None:
        job = self._store.jobs.get(job_id)
        if job is not None and job.state == QUEUED and job.version != version:
            _log.warning(
                "a job waits for results of version %s, and this process computes %s: servers and"
                " workers must have the same release, with the same numpy and numba",
                job.version,
                version,
            )

    def _run(self, run: "_Run") -> None:
        run.error = _fault()  # what it is when neither of these ends is reached
        try:
            self._import(run)
            run.error = None
        except RooflineError as error:
            run.error = error
        finally:
            if run.error is not None:
                self._end_badly(run, run.error)

    def _end_badly(self, run: "_Run", error: RooflineError) -> None:
        """Notes why, or has it run again; does nothing for a job that is no longer ours."""
        if run.task.stopped is not None and self._stopping:
            self._store.jobs.release(run.job.id, run.owner)
            self.released.append(run.job.id)
        elif isinstance(error, StoreUnavailableError) and run.job.attempts < MAX_ATTEMPTS:
            _log.warning("the store could not be used; the job runs again: %s", error.message)
        else:
            self._store.fail(run.job, run.owner, error)

    def _import(self, run: "_Run") -> None:
        job = run.job
        if job.attempts > MAX_ATTEMPTS:
            raise _given_up()
        found = self._store.get(job.profile_id)
        if found is None:
            raise _lost()
        run.size_bytes = sum(file.size_bytes for file in found.files)
        area = self._staging.new()
        try:
            beat = _Beat(self, run)
            order = self._order(found, area, run.task, beat)
            outcome = self._children.run(order, run.task, beat)
            self._keep(run, area, outcome)
        finally:
            area.discard()

    def _keep(self, run: "_Run", area: StagingArea, outcome: Outcome) -> None:
        run.format = str(outcome["format"])
        summary = Summary(**outcome["summary"])
        found = Found(format=run.format, summary=summary, hosts=outcome.get("hosts", {}))
        if not self._store.finish(run.job, run.owner, area, found):
            raise _lost()

    def _order(
        self, found: Manifest | Pending, area: StagingArea, task: ImportTask, beat: "_Beat"
    ) -> WorkOrder:
        total = sum(file.size_bytes for file in found.files)
        done = 0

        def tick(size_bytes: int) -> None:
            nonlocal done
            done += size_bytes
            task.check()
            task.advance("unpack", done / total)
            beat(task.progress)

        files = []
        for number, file in enumerate(found.files):
            path = area.root / f"raw-{number:04d}"
            self._store.raw.fetch(file, path, tick=tick)
            files.append((file.name, path, file.size_bytes))
        return WorkOrder(
            profile_id=found.id,
            created_at=found.created_at,
            files=tuple(files),
            folder=area.root,
            results=area.results,
            limits=self._limits,
        )

    def beat(self, run: "_Run", progress: Progress) -> None:
        """Renews the lease of a run; ends it when it was cancelled or is another's."""
        if not self._store.jobs.beat(run.job.id, run.owner, progress.phase, progress.fraction):
            raise _lost()

    def _report(self, run: "_Run") -> None:
        code = "ready" if run.error is None else run.error.code
        _log.info(
            "%s of %s…: %s, %d bytes",
            run.job.kind,
            run.job.profile_id[:ID_CHARACTERS_LOGGED],
            code,
            run.size_bytes,
        )
        report = ImportReport(
            format=run.format,
            code=code,
            seconds_by_phase=run.seconds_by_phase,
            size_bytes=run.size_bytes,
        )
        self._on_end(run.job.profile_id, report)


class _Run:
    """One job on its way, under a lease of its own, and what its report will say."""

    def __init__(self, job: Job, owner: str) -> None:
        self.job = job
        self.owner = owner
        self.task = ImportTask()
        self.error: RooflineError | None = None
        self.format: str | None = None
        self.size_bytes = 0
        self.seconds_by_phase: dict[str, float] = {}


class _Beat:
    """Keeps the lease of a run and times its phases."""

    def __init__(self, desk: Desk, run: _Run) -> None:
        self._desk = desk
        self._run = run
        self._seen_at = self._beaten_at = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        spent = self._run.seconds_by_phase
        spent[progress.phase] = spent.get(progress.phase, 0.0) + now - self._seen_at
        self._seen_at = now
        if now - self._beaten_at >= BEAT_EVERY_S:
            self._beaten_at = now
            self._desk.beat(self._run, progress)


def _fault() -> ImportStoppedError:
    return ImportStoppedError(
        "The import ended by a fault of the server.",
        remedy="The server's log says why. Please report it together with the file.",
    )


def _lost() -> ImportStoppedError:
    """The job was cancelled, its profile deleted, or another process has it: nobody reads this."""
    return ImportStoppedError("The import is no longer wanted.", remedy="Upload the file again.")


def _interrupted() -> ImportStoppedError:
    return ImportStoppedError("The import was interrupted.", remedy="It goes on by itself.")


def _given_up() -> ImportStoppedError:
    return ImportStoppedError(
        f"The import was interrupted {MAX_ATTEMPTS} times: its server or worker ended each time.",
        remedy="Upload the file again; if it lasts, report it together with the server's log.",
    )

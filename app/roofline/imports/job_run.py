"""JobRun: one job on its way: raw files, child, results, in that order, under a lease of its own.

A job may be delivered twice or be cut off anywhere. Only the owner of its lease stores an outcome,
and the same files give the same results, so running it again does no harm.
"""

import json
import logging
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum, auto
from functools import partial
from pathlib import Path

from roofline.children.confinement import start_confined
from roofline.children.messages import Body
from roofline.children.program import ProgramLost, again
from roofline.children.sandbox import needed_environment
from roofline.errors import (
    ImportStoppedError,
    RooflineError,
    StorageFullError,
    StoreUnavailableError,
    UploadRejectedError,
)
from roofline.importers.intake.folders import EXPORT_BESIDE, Tick, export_report, is_report
from roofline.imports.children import ChildLost, ImportTask, died, run_import
from roofline.imports.messages import ImportRequest, Progress
from roofline.model.outer_limits import MAX_ATTEMPTS, ImportLimits
from roofline.model.units import MIB
from roofline.storage.disk_room import DiskRoom
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import QUEUED, Found, Job, Manifest, Pending, WaitsFor
from roofline.storage.staging import Staging, StagingArea

READY = "ready"
# A job that met a full disk, or a store that cannot be used, is not due again before this.
PAUSE_S = 15.0
# Room that an import needs beyond what it held when the disk was full, at the least.
MORE_BYTES = MIB
# Progress in the job table more often than this is a commit that nothing reads.
BEAT_EVERY_S = 1.0
_START_CONFINED = f"import {start_confined.__module__} as m; m.{start_confined.__name__}()"
_log = logging.getLogger("roofline.jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """How a job went, for metrics: `code` is "ready" or an error's; `format` if it was known."""

    format: str | None
    code: str
    seconds_by_phase: dict[str, float]
    size_bytes: int


class RunEnd(Enum):
    """The end of a run: it ended; or its job was queued again.

    `RELEASED` because this process ends; `WAITS` until a full disk or an absent store may be
    different, or for its pause after another fault of the machine; `DUE` at once after the first.
    """

    ENDED = auto()
    RELEASED = auto()
    WAITS = auto()
    DUE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """The shared parts of this process's runs; `most_running` imports of one person run at once.

    `on_page` hears the id of a profile whose page can be shown while its job goes on. `nsys` is the
    program that exports reports of Nsight Systems; without it they are refused.
    """

    store: ProfileStore
    staging: Staging
    limits: ImportLimits
    room: DiskRoom
    most_running: int | None = None
    nsys: Path | None = None
    on_page: Callable[[str], None] = lambda _id: None


class JobRun:
    """One job, claimed by this process under the name `owner`."""

    def __init__(self, parts: RunParts, job: Job, owner: str) -> None:
        self.job = job
        self.task = ImportTask()
        self._parts = parts
        self._store = parts.store
        self._owner = owner
        self._error: RooflineError | None = None
        self._format: str | None = None
        self._size_bytes = 0
        self._needs_bytes = job.needs_bytes or 0
        # By what the machine did, and not by what is in the files.
        self._is_lost = True
        self._beat = _Beat(self._renew)

    def run(self) -> RunEnd:
        """Runs the job until it has ended, well or not, or is queued again."""
        self._error = _fault()  # what it is when neither of these ends is reached
        end = RunEnd.ENDED
        try:
            self._import()
            self._error = None
        except RooflineError as error:
            self._error, self._is_lost = error, False
        except ChildLost as lost:
            self._error = lost.error
        except ProgramLost:
            self._error = died(-signal.SIGKILL, self._parts.limits)
        except Exception:  # noqa: BLE001 - a fault of ours costs no upload: it runs again
            _log.exception("a job failed by a fault of the server")
        finally:
            if self._error is not None:
                end = self._after(self._error)
        return end

    def report(self) -> ImportReport:
        """How it went, once it has ended."""
        return ImportReport(
            format=self._format,
            code=READY if self._error is None else self._error.code,
            seconds_by_phase=self._beat.seconds_by_phase,
            size_bytes=self._size_bytes,
        )

    def _after(self, error: RooflineError) -> RunEnd:
        try:
            return self._end_badly(error)
        except RooflineError as fault:
            _log.warning("how a job ended cannot be stored: %s", fault.message)
            return RunEnd.WAITS  # until its lease runs out

    def _end_badly(self, error: RooflineError) -> RunEnd:
        """Stores why, or has it run again; does nothing for a job that is another process's now."""
        jobs = self._store.jobs
        if self.task.is_interrupted:
            jobs.release(self.job.id, self._owner)
            return RunEnd.RELEASED
        if isinstance(error, StorageFullError | StoreUnavailableError):
            _log.warning("a job waits and runs again: %s", error.message)
            self._wait("disk" if isinstance(error, StorageFullError) else "store")
            return RunEnd.WAITS
        if self._is_lost and self.job.attempts < MAX_ATTEMPTS:
            pause_s = jobs.run_again(self.job, self._owner)
            _log.warning("a job runs again in %.0f s: %s", pause_s, error.message)
            return RunEnd.WAITS if pause_s else RunEnd.DUE
        self._store.with_room(lambda: self._store.fail(self.job, self._owner, error))
        return RunEnd.ENDED

    def _wait(self, waits_for: WaitsFor) -> None:
        """Queues the job again, for later; such an attempt does not count."""
        least_bytes = self._size_bytes if waits_for == "disk" else 0
        needs_bytes = max(self._needs_bytes, least_bytes)
        jobs, job_id = self._store.jobs, self.job.id
        self._store.with_room(
            lambda: jobs.wait(
                job_id, self._owner, waits_for, needs_bytes=needs_bytes, pause_s=PAUSE_S
            )
        )

    def _import(self) -> None:
        if self.job.attempts > MAX_ATTEMPTS:
            raise _given_up()
        found = self._store.queries.get(self.job.profile_id)
        if found is None:
            raise _lost()
        self._size_bytes = sum(file.size_bytes for file in found.files)
        with self._parts.room.taken(max(self._needs_bytes, self._size_bytes)):
            again(lambda: self._import_files(found))

    def _import_files(self, found: Manifest | Pending) -> None:
        area = self._parts.staging.new()
        try:
            request = self._request(found, area)
            outcome = run_import(request, self.task, self._beat, partial(self._show, area))
            self._keep(area, outcome)
        except StorageFullError:
            held_bytes = area.size_bytes
            more_bytes = max(MORE_BYTES, held_bytes // 16)
            self._needs_bytes = max(self._needs_bytes, held_bytes + more_bytes)
            raise
        finally:
            area.discard()

    def _show(self, area: StagingArea, outcome: Body) -> None:
        """The page can be opened while the child writes what is downloaded from it."""
        if not self._store.show(self.job, self._owner, area, Found.from_json(outcome)):
            raise _lost()
        self._parts.on_page(self.job.profile_id)

    def _keep(self, area: StagingArea, outcome: Body) -> None:
        found = Found.from_json(outcome)
        self._format = found.format
        if not self._store.finish(self.job, self._owner, area, found):
            raise _lost()

    def _request(self, found: Manifest | Pending, area: StagingArea) -> ImportRequest:
        done = 0

        def tick(size_bytes: int) -> None:
            nonlocal done
            done += size_bytes
            self.task.check()
            self._parts.room.check()
            self.task.advance("unpack", done / self._size_bytes)
            self._beat(self.task.progress)

        files, said = [], []
        for number, file in enumerate(found.files):
            name, path = file.name, area.root / f"raw-{number:04d}"
            self._store.raw.fetch(file, path, tick=tick)
            if self._parts.nsys is not None and is_report(path):
                export = f"{name.rpartition('.')[0] or name}.sqlite"
                if export in [other.name for other in found.files]:
                    said.append(EXPORT_BESIDE.format(name))
                    continue
                said.append(self._export(self._parts.nsys, path, name, partial(tick, 0)))
                name, path = export, path.with_suffix(".sqlite")
            files.append((name, str(path), path.stat().st_size))
        return ImportRequest(
            profile_id=found.id,
            created_at=found.created_at,
            files=files,
            digests=found.digests,
            folder=str(area.root),
            results=str(area.results),
            exports=str(area.exports),
            limits=self._parts.limits,
            keep_free_bytes=self._parts.room.kept_free_bytes,
            notes=said,
        )

    def _export(self, nsys: Path, report: Path, name: str, tick: Tick) -> str:
        """Exports a report by the server's own program, which sees it and a folder of its own.

        The export is moved out of that folder: no link in its place is followed.
        """
        folder = report.with_suffix(".export")
        folder.mkdir()
        given = {
            "limits": asdict(self._parts.limits),
            "size_bytes": report.stat().st_size,
            "reads": str(report.resolve()),
            "writes": str(folder),
        }
        command = (sys.executable, "-c", _START_CONFINED, json.dumps(given), str(nsys))
        own = dict.fromkeys(("HOME", "TMPDIR"), str(folder))
        environment, target = needed_environment() | own, folder / "report.sqlite"
        said = export_report(command, report, target, name, environment=environment, tick=tick)
        moved = target.rename(report.with_suffix(".sqlite"))
        if moved.is_symlink():
            raise UploadRejectedError(
                f"nsys left a link in place of the export of {name}.",
                remedy="Export it yourself, and upload the export.",
            )
        return said

    def _renew(self, progress: Progress) -> None:
        """Renews the lease; raises where the job was cancelled or is another process's."""
        jobs = self._store.jobs
        if not jobs.beat(self.job.id, self._owner, progress.phase, progress.fraction):
            raise _lost()


def claim(parts: RunParts, job_id: str) -> JobRun | None:
    """The run of the job that is next, now leased to this process; `None` where none is due.

    `job_id` is the one that was delivered: each delivery runs one job, and fairness says which.
    """
    store, version = parts.store, parts.store.results.version
    owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    # On a full disk, too: only a job that runs can say that there is no room for it.
    job = store.with_room(lambda: store.jobs.claim_next(owner, version, parts.most_running))
    if job is not None:
        return JobRun(parts, job, owner)
    found = store.jobs.get(job_id)
    if found is not None and found.state == QUEUED and found.version != version:
        _log.warning(
            "a job waits for results of version %s, and this process computes %s: servers and"
            " workers must have the same release, with the same numpy and numba",
            found.version,
            version,
        )
    return None


class _Beat:
    """Called with the progress of a run: renews its lease now and then, and times its phases."""

    def __init__(self, renew: Callable[[Progress], None]) -> None:
        self.seconds_by_phase: dict[str, float] = {}
        self._renew = renew
        self._seen_at = self._beaten_at = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        spent = self.seconds_by_phase.get(progress.phase, 0.0)
        self.seconds_by_phase[progress.phase] = spent + now - self._seen_at
        self._seen_at = now
        if now - self._beaten_at >= BEAT_EVERY_S:
            self._beaten_at = now
            self._renew(progress)


def _fault() -> ImportStoppedError:
    return ImportStoppedError(
        "The import ended by a fault of the server.",
        remedy="The server's log says why. Please report it together with the file.",
    )


def _lost() -> ImportStoppedError:
    """For a job that was cancelled, whose profile was deleted, or that another process has now."""
    return ImportStoppedError("The import is no longer wanted.", remedy="Upload the file again.")


def _given_up() -> ImportStoppedError:
    return ImportStoppedError(
        f"The import was interrupted {MAX_ATTEMPTS} times: its server or worker ended each time.",
        remedy="Try again; if it happens again, report the file together with the server's log.",
    )

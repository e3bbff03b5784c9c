"""Instance: the parts of one server or worker, put together, started and stopped."""

import hmac
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from roofline.children.sandbox import ImportLimits
from roofline.devices.this_machine import measurements_digest
from roofline.errors import RooflineError, SettingsError, StorageFullError
from roofline.imports.job_run import ImportReport, RunParts
from roofline.imports.job_runs import JobRuns, LocalRunner, Runner
from roofline.imports.run_process import RunEngine
from roofline.imports.waiting import Waiting
from roofline.library.data_folder import DataFolder
from roofline.library.run_keeper import RunKeeper
from roofline.library.upkeep import Scrubbing, Upkeep
from roofline.storage.disk_room import DiskRoom
from roofline.storage.profiles import FAILURES_KEPT, ProfileStore
from roofline.storage.records import EVERYBODY, Visibility
from roofline.storage.scrub import Scrub
from roofline.storage.staging import Staging
from roofline.storage.sweeping import empty_trash
from roofline.storage.user_quota import UserQuota

DAY_S = 24 * 3600.0
_log = logging.getLogger("roofline.upkeep")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceOptions:
    """Where things are kept and which runner imports; see `roofline.settings`."""

    workers: int = 1
    runner: str = ""
    database_url: str | None = None
    blobs: str | None = None
    retention_days: float | None = None
    quota_bytes: int | None = None
    disk_reserve_bytes: int | None = None
    failures_kept: timedelta = FAILURES_KEPT
    trash_kept: timedelta = timedelta(0)
    user_quota: UserQuota | None = None
    user_imports: int | None = None
    scrub_days: float = 7.0
    visibility: Visibility = EVERYBODY
    buckets: tuple[str, ...] = ()
    watch_s: float | None = None
    watch_rule: str = ""
    run_engine: RunEngine = field(default_factory=RunEngine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """The events that an instance tells others, from any thread.

    `on_import_end` hears of every job that ran in this process, `on_change` the id of each ready
    profile that this process changed or removed.
    """

    on_import_end: Callable[[ImportReport], None] = lambda _report: None
    on_change: Callable[[str], None] = lambda _id: None


class Instance:
    """The parts of one server or worker. `version` is that of the results."""

    def __init__(
        self,
        root: Path,
        version: str,
        *,
        limits: ImportLimits,
        options: InstanceOptions,
        listeners: Listeners,
    ) -> None:
        self.options = options
        self.folder = DataFolder(root, options.disk_reserve_bytes)
        self.store = ProfileStore(
            root,
            version,
            measurements=measurements_digest,
            database_url=options.database_url,
            blobs=options.blobs,
            failures_kept=options.failures_kept,
            trash_kept=options.trash_kept,
            user_quota=options.user_quota,
            on_change=listeners.on_change,
        )
        self.staging = Staging(root / "incoming")
        self.waiting = Waiting(self.store.jobs)
        parts = RunParts(
            store=self.store,
            staging=self.staging,
            limits=limits,
            room=DiskRoom(root, options.disk_reserve_bytes),
            most_running=options.user_imports,
            on_page=self.waiting.shown,
        )
        self.runs = JobRuns(parts, self._ended)
        self.upkeep = Upkeep(self.store, self.deliver, options.quota_bytes)
        self.run_keeper = RunKeeper(
            self.store,
            limits,
            place=options.blobs or f"file://{root.absolute()}",
            workers=options.workers,
            room=DiskRoom(root, options.disk_reserve_bytes),
            reads=options.buckets,
            engine=options.run_engine,
        )
        self._scrubbing = _scrubbing(self.store, self.deliver, options.scrub_days)
        self.damaged: tuple[Path, ...] = ()
        self._on_import_end = listeners.on_import_end
        self._runner = _runner(options, self.runs)
        self._secret = b""
        self._is_open = False

    @property
    def is_shared(self) -> bool:
        """True when other processes may change profiles, too."""
        return self.store.is_shared

    def claim(self) -> None:
        """Claims the data folder and brings the database up to date.

        Manifests of an older release that cannot be read are then in `damaged`. A second call does
        nothing. Raises `SettingsError` if another server uses the folder, it cannot be written, or
        the database is of a newer version.
        """
        if self.folder.is_claimed:
            return
        self.folder.claim()
        try:
            self._prepare()
            self._secret = self.store.instance_id().encode()
        except BaseException:
            self._give_back()
            raise

    def open(self) -> None:
        """Claims the data folder, and has pending imports go on beside what this process does.

        A second call does nothing. Raises what `claim` raises.
        """
        if self._is_open:
            return
        self.claim()
        try:
            self._runner.start()
            self.upkeep.start()
            self.run_keeper.start()
            if self._scrubbing is not None:
                self._scrubbing.start()
        except BaseException:
            self._give_back()
            raise
        self.waiting.open(poll=self.is_shared)
        self._is_open = True

    def work(self, concurrency: int) -> None:
        """Runs jobs of the queue until told to stop, beside servers of the same database."""
        url = self.options.database_url
        if url is None:
            raise SettingsError(
                "Workers share their jobs through PostgreSQL, and none is configured.",
                remedy="Set ROOFLINE_DATABASE_URL as for the server. Without it, the server runs"
                " imports itself.",
            )
        from roofline.imports.queue_runner import work

        self.staging.open()
        try:
            self.store.database.migrate()
            self.runs.start()
            work(self.runs, url, concurrency)
        finally:
            self.staging.close()
            self.store.close()

    def close(self) -> None:
        """Interrupts every import, to be resumed at the next start, and frees the data folder."""
        self._is_open = False
        self.waiting.close()
        if self._scrubbing is not None:
            self._scrubbing.stop()
        self.run_keeper.stop()
        self.upkeep.stop()
        self._runner.close()
        self._write_audit()
        self._give_back()

    def key_for(self, purpose: str) -> bytes:
        """A secret for one purpose, 32 bytes: the same in each server of this instance, for ever.

        Only once it is open.
        """
        assert self._secret
        return hmac.digest(self._secret, purpose.encode(), "sha256")

    def deliver(self, job_id: str) -> None:
        """Has a job run. A queue that cannot be reached gets it later."""
        try:
            self._runner.submit(job_id)
        except RooflineError as error:
            _log.warning("a job waits for its queue: %s", error.message)
            self.upkeep.deliver_soon()

    def check_room(self, size_bytes: int) -> None:
        """Raises `StorageFullError` when the disk cannot take so much and keep its reserve.

        Profiles in the trash make room, where their files are on this disk.
        """
        try:
            self.folder.check_room(size_bytes)
        except StorageFullError:
            if self.options.blobs is not None or not self._empty_trash(size_bytes):
                raise
            self.folder.check_room(size_bytes)

    def _empty_trash(self, size_bytes: int) -> int:
        def has_room() -> bool:
            try:
                self.folder.check_room(size_bytes)
            except StorageFullError:
                return False
            return True

        return empty_trash(self.store, until=has_room)

    def check(self) -> None:
        """Raises a `RooflineError` when profiles cannot be stored now."""
        self.store.check()
        self.folder.check()

    def _prepare(self) -> None:
        self.staging.open()
        self.damaged = self.store.prepare()
        self.upkeep.keeps_orphans = bool(self.damaged)
        if not self.is_shared:
            self.store.take_over()
        self._mark_files()

    def _mark_files(self) -> None:
        """Marks raw files as this database's before the first upload.

        Afterwards a file without a profile may be of an upload that was cut off, or be another's.
        """
        try:
            self.store.owner.is_this_database()
        except RooflineError as error:
            _log.warning("raw files are not marked with their database: %s", error.message)

    def _ended(self, profile_id: str, report: ImportReport) -> None:
        self.waiting.done(profile_id)
        self._on_import_end(report)

    def _write_audit(self) -> None:
        try:
            self.store.audit.flush()
        except RooflineError as error:
            _log.error("entries of the audit table are lost: %s", error.message)

    def _give_back(self) -> None:
        self.staging.close()
        self.store.close()
        self.folder.release()


def _scrubbing(
    store: ProfileStore, deliver: Callable[[str], None], days: float
) -> Scrubbing | None:
    """The regular check of everything; `None` where it is turned off."""
    return Scrubbing(Scrub(store, deliver, days * DAY_S)) if days else None


def _runner(options: InstanceOptions, runs: JobRuns) -> Runner:
    name, _, count = options.runner.partition(":")
    if name in ("", "local") and re.fullmatch(r"([1-9][0-9]{0,2})?", count):
        return LocalRunner(runs, int(count or options.workers))
    if name == "procrastinate" and not count:
        if options.database_url is None:
            raise SettingsError(
                "ROOFLINE_RUNNER=procrastinate keeps its queue in PostgreSQL.",
                remedy="Set ROOFLINE_DATABASE_URL, or use ROOFLINE_RUNNER=local:2.",
            )
        from roofline.imports.queue_runner import QueueRunner  # loads procrastinate

        return QueueRunner(options.database_url)
    raise SettingsError(
        f"ROOFLINE_RUNNER cannot be {options.runner!r}.",
        remedy="Write local:N for N imports at a time on this machine, or procrastinate.",
    )

"""Instance: the parts of one server or worker, put together, started and stopped.

The folder of one server: which process may use it, and whether its disk has room.
"""

import fcntl
import hmac
import logging
import math
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from roofline.devices import measured
from roofline.devices.measured import measurements_digest
from roofline.errors import RooflineError, SettingsError, StorageFullError
from roofline.fleet.dask_connection import address_of, cluster_of
from roofline.fleet.engine import EngineChoice
from roofline.imports.job_run import ImportReport, RunParts
from roofline.imports.job_runs import JobRuns, LocalRunner, Runner
from roofline.imports.waiting import Waiting
from roofline.library.run_keeper import RunKeeper
from roofline.library.upkeep import Scrubbing, Upkeep
from roofline.model.units import bytes_text
from roofline.settings import Settings
from roofline.storage.disk_room import DiskRoom, disk_reserve_bytes
from roofline.storage.durable import explained_writes, make_directory
from roofline.storage.profiles import LEFT_BYTES, ProfileStore
from roofline.storage.results import Draw
from roofline.storage.scrub import Scrub
from roofline.storage.staging import Staging
from roofline.storage.sweeping import empty_trash
from roofline.storage.user_quota import UserQuota

# More than a file system stores in the folder's own block.
PROBE_BYTES = 16 << 10


class DataFolder:
    """The folder `root`. Of its disk, `reserve_bytes` are kept free; `None` for a usual share."""

    def __init__(self, root: Path, reserve_bytes: int | None = None) -> None:
        self.root = root
        self._reserve_bytes = reserve_bytes
        self._lock: BinaryIO | None = None

    @property
    def is_claimed(self) -> bool:
        """True while this object holds the folder."""
        return self._lock is not None

    def claim(self) -> None:
        """Takes the folder for this process, until `release` or its end.

        Raises `SettingsError` if another process has it, or it cannot be written.
        """
        self._lock = _locked(self.root)

    def release(self) -> None:
        """Gives the folder back. A second call does nothing."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Holds the folder for the block."""
        self.claim()
        try:
            yield
        finally:
            self.release()

    def is_in_use(self) -> bool:
        """True if another process holds the folder, or it cannot be used."""
        try:
            _locked(self.root).close()
        except SettingsError:
            return True
        return False

    def check(self) -> None:
        """Raises `StorageFullError` when nothing can be stored in it now."""
        if not os.access(self.root, os.W_OK):
            raise StorageFullError(
                "The data folder is read-only.", remedy="Make it writable for the server's user."
            )
        self.check_room(LEFT_BYTES)
        # Free bytes are not all: files may have run out, or the share of the server's user.
        with explained_writes(), tempfile.TemporaryFile(dir=self.root, buffering=0) as probe:
            probe.write(bytes(PROBE_BYTES))

    def check_room(self, size_bytes: int) -> None:
        """Raises `StorageFullError` when the disk cannot take that much and keep its reserve.

        Files are unpacked for their import: until then they need as much as they say.
        """
        disk = shutil.disk_usage(self.root)
        reserve_bytes = disk_reserve_bytes(self._reserve_bytes, disk.total)
        if disk.free - reserve_bytes < size_bytes:
            raise StorageFullError(
                f"The server's disk has {bytes_text(disk.free)} left, of which"
                f" {bytes_text(reserve_bytes)} are kept free: too little to store"
                f" {bytes_text(size_bytes)}.",
                remedy="Delete profiles that are no longer needed, or free space on the server's"
                " disk. Stored profiles can still be read.",
            )


def _locked(root: Path) -> BinaryIO:
    """The lock of a data folder, held until it is closed."""
    try:
        make_directory(root)
        lock = (root / "lock").open("wb")
    except OSError as error:
        raise SettingsError(
            f"The data folder {root} cannot be used: {os.strerror(error.errno or 0).lower()}.",
            remedy="Choose another with --data-dir or ROOFLINE_DATA_DIR.",
        ) from error
    try:
        # Freed by the system when this process ends, however it ends.
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise SettingsError(
            f"Another server uses the data folder {root}.",
            remedy="Stop it, or choose another folder with --data-dir or ROOFLINE_DATA_DIR.",
        ) from error
    return lock


DAY_S = 24 * 3600.0
_log = logging.getLogger("roofline.upkeep")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """The events that an instance tells others, from any thread.

    `on_import_end` hears of every job that ran in this process, `on_change` the id of each ready
    profile that this process changed or removed (`None`: any); `draw` makes the pieces of a page.
    """

    on_import_end: Callable[[ImportReport], None] = lambda _report: None
    on_change: Callable[[str | None], None] = lambda _id: None
    draw: Draw = lambda _page, _advice: {}


class Instance:
    """The parts of one server or worker. `version` is that of the results."""

    def __init__(self, settings: Settings, version: str, listeners: Listeners) -> None:
        self.settings = settings
        root, limits, url = settings.data_dir, settings.import_limits, settings.database_url
        room = DiskRoom(root, settings.disk_reserve_bytes)
        self._database_url = url.get_secret_value() if url is not None else None
        self.folder = DataFolder(root, settings.disk_reserve_bytes)
        self.store = ProfileStore(
            root,
            version,
            measurements=measurements_digest,
            database_url=self._database_url,
            blobs=settings.blobs,
            failures_kept=timedelta(days=settings.failures_kept_days),
            trash_kept=timedelta(days=settings.trash_days),
            user_quota=UserQuota(
                size_bytes=settings.user_quota_bytes, profiles=settings.user_profiles
            ),
            links_last_s=math.inf if settings.link_days is None else settings.link_days * DAY_S,
            on_change=listeners.on_change,
            draw=listeners.draw,
        )
        self.staging = Staging(root / "incoming")
        self.waiting = Waiting(self.store.jobs)
        parts = RunParts(
            store=self.store,
            staging=self.staging,
            limits=limits,
            room=room,
            most_running=settings.user_imports,
            nsys=settings.nsys,
            on_page=self.waiting.shown,
        )
        self.runs = JobRuns(parts, self._ended)
        self.upkeep = Upkeep(self.store, self.deliver, settings.quota_bytes)
        self.run_keeper = RunKeeper(
            self.store,
            limits,
            place=settings.blobs or f"file://{root.absolute()}",
            workers=settings.import_workers,
            room=room,
            reads=settings.buckets,
            engine=_run_engine(settings),
        )
        self._scrubbing = _scrubbing(self.store, self.deliver, settings.scrub_days)
        self.damaged: tuple[Path, ...] = ()
        self._on_import_end = listeners.on_import_end
        self._runner = _runner(settings, self._database_url, self.runs)
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
        measured.elsewhere.append(self.store.machines.entry)
        self._is_open = True

    def work(self, concurrency: int) -> None:
        """Runs jobs of the queue until told to stop, beside servers of the same database."""
        url = self._database_url
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
        if self._is_open:
            measured.elsewhere.remove(self.store.machines.entry)
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
            if self.settings.blobs is not None or not self._empty_trash(size_bytes):
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


def _run_engine(settings: Settings) -> EngineChoice:
    """The engine of runs. Raises `SettingsError` for a cluster that is not named or not safe."""
    if settings.pods_engine == "local":
        return EngineChoice()
    if settings.dask_scheduler is None:
        raise SettingsError(
            "ROOFLINE_PODS_ENGINE=dask needs the address of a scheduler.",
            remedy="Set ROOFLINE_DASK_SCHEDULER to tls://HOST:PORT, or unset ROOFLINE_PODS_ENGINE.",
        )
    choice = EngineChoice(engine="dask", scheduler=settings.dask_scheduler).certified(settings)
    address_of(cluster_of(choice))
    return choice


def _scrubbing(
    store: ProfileStore, deliver: Callable[[str], None], days: float
) -> Scrubbing | None:
    """The regular check of everything; `None` where it is turned off."""
    return Scrubbing(Scrub(store, deliver, days * DAY_S)) if days else None


def _runner(settings: Settings, database_url: str | None, runs: JobRuns) -> Runner:
    name, _, count = settings.runner.partition(":")
    if name in ("", "local") and re.fullmatch(r"([1-9][0-9]{0,2})?", count):
        return LocalRunner(runs, int(count or settings.import_workers))
    if name == "procrastinate" and not count:
        if database_url is None:
            raise SettingsError(
                "ROOFLINE_RUNNER=procrastinate keeps its queue in PostgreSQL.",
                remedy="Set ROOFLINE_DATABASE_URL, or use ROOFLINE_RUNNER=local:2.",
            )
        from roofline.imports.queue_runner import QueueRunner  # loads procrastinate

        return QueueRunner(database_url)
    raise SettingsError(
        f"ROOFLINE_RUNNER cannot be {settings.runner!r}.",
        remedy="Write local:N for N imports at a time on this machine, or procrastinate.",
    )

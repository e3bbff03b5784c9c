"""Instance: the parts of one server put together: store, staging, desk and runner, and upkeep."""

import fcntl
import hmac
import logging
import os
import re
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from roofline.devices.this_machine import measurements_digest
from roofline.errors import RooflineError, SettingsError, StorageFullError
from roofline.imports.children import Children
from roofline.imports.job_run import Desk, ImportReport
from roofline.imports.local_runner import LocalRunner
from roofline.imports.messages import ImportLimits
from roofline.imports.runner import Runner
from roofline.model.units import GIB
from roofline.storage.durable import make_directory
from roofline.storage.manifests import import_manifests
from roofline.storage.profiles import ProfileStore
from roofline.storage.staging import Staging
from roofline.storage.upkeep import GRACE_S, sweep_expired, sweep_orphans, sweep_over_quota

# Jobs whose worker died are looked for this often, expired profiles each `SWEEP_EVERY` times.
REDELIVER_EVERY_S = 10.0
SWEEP_EVERY = 60
# A queue that lost a job id gets it again after this time.
LOST_AFTER_S = 60.0
_log = logging.getLogger("roofline.upkeep")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceOptions:
    """Where things are kept and who does the work; see `roofline.settings`."""

    workers: int = 1
    runner: str = ""
    database_url: str | None = None
    blobs: str | None = None
    retention_days: float | None = None
    quota_bytes: int | None = None
    disk_reserve_bytes: int | None = None


class Instance:
    """The parts of one server or worker. `on_end` hears of every job that ran in this process."""

    def __init__(
        self,
        root: Path,
        version: str,
        *,
        limits: ImportLimits,
        options: InstanceOptions,
        on_end: Callable[[str, ImportReport], None] = lambda _id, _report: None,
    ) -> None:
        self.root = root
        self.options = options
        self.store = ProfileStore(
            root,
            version,
            measurements=measurements_digest,
            database_url=options.database_url,
            blobs=options.blobs,
        )
        self.staging = Staging(root / "incoming")
        self.desk = Desk(self.store, self.staging, Children(), limits, on_end)
        self.damaged: tuple[Path, ...] = ()
        self._runner = _runner(options, self.desk)
        self._claim: BinaryIO | None = None
        self._upkeep: threading.Thread | None = None
        self._closing = threading.Event()
        self._secret = b""

    @property
    def is_shared(self) -> bool:
        """True when other processes may write to the same database."""
        return self.store.database.is_shared

    def open(self) -> None:
        """Makes ready to serve; a second call does nothing. See `ProfileLibrary.open`."""
        if self._claim is not None:
            return
        self._claim = claim(self.root)
        try:
            self._prepare()
            self._secret = self.store.instance_id().encode()
            self._runner.start()
            self._redeliver(lost_after_s=0.0)
        except BaseException:
            self._give_back()
            raise
        self._closing.clear()
        self._upkeep = threading.Thread(target=self._keep_up, name="upkeep", daemon=True)
        self._upkeep.start()

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
            self.desk.start()
            work(self.desk, url, concurrency)
        finally:
            self.staging.close()
            self.store.close()

    def close(self) -> None:
        """Interrupts every import, which go on at the next start, and frees the folder."""
        self._closing.set()
        self._runner.close()
        if self._upkeep is not None:
            self._upkeep.join()
            self._upkeep = None
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

    def check(self) -> None:
        """Raises a `RooflineError` when profiles cannot be stored now."""
        self.store.database.check()
        self.store.blobs.head("blobs/00/none")
        if not os.access(self.root, os.W_OK):
            raise StorageFullError(
                "The data folder is read-only.", remedy="Make it writable for the server's user."
            )
        self.check_room()

    def check_room(self, size_bytes: int = 0) -> None:
        """Raises `StorageFullError` when the disk cannot take that much and keep its reserve.

        Files are unpacked for their import: until then they need as much as they say.
        """
        disk = shutil.disk_usage(self.root)
        reserve_bytes = disk_reserve_bytes(self.options.disk_reserve_bytes, disk.total)
        if disk.free - reserve_bytes < size_bytes:
            raise StorageFullError(
                f"The server's disk has {disk.free / GIB:,.3g} GiB left, of which"
                f" {reserve_bytes / GIB:,.3g} GiB are kept free: too little to store"
                f" {f'{size_bytes / GIB:,.3g} GiB' if size_bytes else 'more'}.",
                remedy="Delete profiles that are no longer needed, or free space on the server's"
                " disk. Profiles can be read as ever.",
            )

    def _prepare(self) -> None:
        self.staging.open()
        self.store.database.migrate()
        self.damaged = import_manifests(self.root, self.store.database)
        if self.is_shared:
            return
        self.store.jobs.take_back()
        self._sweep_orphans(grace_s=0.0)
        self.store.ballast.hold()

    def _keep_up(self) -> None:
        turn = 0
        while not self._closing.wait(REDELIVER_EVERY_S):
            turn += 1
            try:
                self._redeliver(lost_after_s=LOST_AFTER_S)
                if turn % SWEEP_EVERY == 1:
                    self.sweep()
            except RooflineError as error:
                _log.warning("upkeep: %s", error.message)

    def sweep(self) -> None:
        """Removes what has expired or is too much."""
        expired = sweep_expired(self.store)
        quota_bytes = self.options.quota_bytes
        over = 0 if quota_bytes is None else sweep_over_quota(self.store, quota_bytes)
        orphans = self._sweep_orphans(grace_s=GRACE_S) if self.is_shared else 0
        if expired or over or orphans:
            _log.info("sweep: %d expired, %d over quota, %d orphans", expired, over, orphans)

    def _sweep_orphans(self, *, grace_s: float) -> int:
        # What a manifest that cannot be read needs would look like nobody's.
        if self.damaged:
            return 0
        try:
            return sweep_orphans(self.store, grace_s=grace_s)
        except SettingsError as error:
            _log.error("%s %s", error.message, error.remedy)
            return 0

    def _redeliver(self, *, lost_after_s: float) -> None:
        version = self.store.results.version
        for job_id in self.store.jobs.due(version, older_than_s=lost_after_s):
            self.deliver(job_id)

    def _give_back(self) -> None:
        self.staging.close()
        self.store.close()
        if self._claim is not None:
            self._claim.close()
            self._claim = None


def disk_reserve_bytes(chosen: int | None, disk_bytes: int) -> int:
    """What is kept free of a disk: as chosen, else 5 % of it, at most 2 GiB.

    A database on a full disk cannot even delete; the last bytes are for that.
    """
    return min(disk_bytes // 20, 2 << 30) if chosen is None else chosen


def claim(root: Path) -> BinaryIO:
    """The lock of a data folder, held until it is closed; `SettingsError` if it cannot be had."""
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


def _runner(options: InstanceOptions, desk: Desk) -> Runner:
    name, _, count = options.runner.partition(":")
    if name in ("", "local") and re.fullmatch(r"([1-9][0-9]{0,2})?", count):
        return LocalRunner(desk, int(count or options.workers))
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

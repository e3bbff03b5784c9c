"""ProfileStore: profiles in the database, raw files and results beside it, in an order that holds.

Order of writes, so that a crash at any time leaves no half profile: raw bytes on the disk, then
one transaction for the profile and its job; results on the disk, then one transaction that makes
it ready. Deletion goes the other way: rows, results, raw bytes. What a crash leaves in between
belongs to no row, and is swept.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

from sqlalchemy import Connection

from roofline.errors import RooflineError, StorageFullError
from roofline.storage import statements
from roofline.storage.database import Database, lock_digests
from roofline.storage.disk_reserve import Ballast
from roofline.storage.jobs import JobStore, cancel_jobs, count_jobs, end_job, insert_job
from roofline.storage.places import open_blobs
from roofline.storage.raw import RawStore
from roofline.storage.records import (
    READY,
    Facets,
    Found,
    Job,
    Listing,
    Manifest,
    NewProfile,
    Ownership,
    Pending,
    ProfileId,
    StoredFile,
    StoreStats,
    Summary,
    new_profile_id,
    timestamp,
)
from roofline.storage.results import ResultStore
from roofline.storage.staging import StagedFile, StagingArea

__all__ = ["Manifest", "ProfileId", "ProfileStore", "StoredFile", "Summary", "new_profile_id"]

FAILURES_KEPT = timedelta(days=7)
RESULT_FOLDER = "results"
# No upload takes the last of the disk: what is stored has to be imported, or to say why not.
LEFT_BYTES = 512 << 10
_MARK = "blobs/instance"
T = TypeVar("T")


class ProfileStore:
    """Profiles of one data folder, or of one database and one object store.

    `version` is that of the results; `measurements` gives the digest of what was measured on this
    machine. Safe to use from any thread.
    """

    def __init__(
        self,
        root: Path,
        version: str,
        *,
        measurements: Callable[[], str],
        database_url: str | None = None,
        blobs: str | None = None,
    ) -> None:
        self.root = root
        self.database = Database(root, database_url)
        self.jobs = JobStore(self.database)
        self.blobs = open_blobs(blobs, root)
        self.raw = RawStore(self.blobs)
        self.results = ResultStore(
            root / "derived", version, None if self.database.is_shared else measurements
        )
        self.ballast = Ballast(root)
        # What is ready stays so until `remove`, which is ours alone to call unless we share.
        self._ready: set[str] = set()
        # Hears the id of a ready profile that changed or went, after the commit, from any thread.
        self.on_change: Callable[[str], None] = lambda _id: None

    def close(self) -> None:
        """Gives the database's connections back."""
        self.database.close()

    def instance_id(self) -> str:
        """128 random bits, known only to who may read the database or the raw files."""
        return self._read(statements.instance_id)

    def add(self, new: NewProfile, files: Sequence[StagedFile]) -> str:
        """Stores a profile to be imported; the id of its job. Returns once it survives a crash."""
        self._check_room()
        for file in files:
            self.raw.put(file)
        with self.database.write() as connection:
            lock_digests(connection, [file.sha256 for file in files])
            for file in files:
                # Another profile's deletion may have taken the bytes since.
                if not self.raw.has(file.sha256):
                    self.raw.put(file)
            statements.add(connection, new)
            return insert_job(connection, new.id, "import", self.results.version)

    def _check_room(self) -> None:
        if shutil.disk_usage(self.root).free < LEFT_BYTES:
            raise StorageFullError(
                "The server cannot store more: its disk is full.",
                remedy="Delete profiles that are no longer needed, or free space on its disk.",
            )

    def finish(self, job: Job, owner: str, area: StagingArea, found: Found) -> bool:
        """Stores what a job found; false when the job is no longer `owner`'s."""
        key = self._share_results(job.profile_id, area)
        self.results.adopt(job.profile_id, area.results)
        size_bytes = self.results.size_bytes(job.profile_id)
        with self.database.write() as connection:
            counts = end_job(connection, job.id, owner)
            if counts:
                statements.set_ready(connection, job.profile_id, found.format, found.summary)
                statements.set_hosts(connection, job.profile_id, found.hosts)
                statements.set_result(connection, job.profile_id, job.version, key, size_bytes)
            gone = statements.state(connection, job.profile_id) is None
        if gone:
            self._remove_results(job.profile_id)
        self.on_change(job.profile_id)
        return counts

    def fail(self, job: Job, owner: str, error: RooflineError) -> bool:
        """Notes why a job failed; the raw bytes of a failed import go. False as in `finish`."""
        with self.database.write() as connection:
            counts = end_job(connection, job.id, owner, error)
            if counts and job.kind == "import":
                self._set_failed(connection, job.profile_id, error)
        if counts and job.kind == "import":
            self.drop_unreferenced(self._read(statements.digests_of, job.profile_id))
        return counts

    def cancel(self, profile_id: str, error: RooflineError) -> bool:
        """Ends what is under way for a profile with `error`; false when nothing is.

        The raw bytes stay until `drop_files`: a child may still read them.
        """
        with self.database.write() as connection:
            if not cancel_jobs(connection, profile_id, error):
                return False
            self._set_failed(connection, profile_id, error)
        return True

    def drop_files(self, profile_id: str) -> None:
        """Removes the raw bytes of a profile whose import did not end well."""
        self.drop_unreferenced(self._read(statements.digests_of, profile_id))

    def _set_failed(self, connection: Connection, profile_id: str, error: RooflineError) -> None:
        statements.set_failed(connection, profile_id, error, timestamp(FAILURES_KEPT))

    def remove(self, profile_id: str) -> frozenset[str] | None:
        """Deletes the rows of a profile; the digests to drop then, `None` when there is none."""
        digests = self.with_room(lambda: self._remove_rows(profile_id))
        self.on_change(profile_id)
        return digests

    def with_room(self, write: Callable[[], T]) -> T:
        """What `write` gives; on a full disk it may use the room that is held for deletions."""
        try:
            return write()
        except StorageFullError:
            if not self.ballast.release():
                raise
            return write()

    def _remove_rows(self, profile_id: str) -> frozenset[str] | None:
        with self.database.write() as connection:
            digests = statements.digests_of(connection, profile_id)
            removed = statements.remove(connection, profile_id)
            self._ready.discard(profile_id)
        return digests if removed else None

    def drop(self, profile_id: str, digests: Iterable[str]) -> None:
        """Deletes the results of a removed profile, and its bytes that no other profile needs."""
        self._remove_results(profile_id)
        self.on_change(profile_id)  # again: until now who had looked before could read results
        self.drop_unreferenced(digests)
        self.ballast.retake()

    def drop_unreferenced(self, digests: Iterable[str]) -> int:
        """Deletes the bytes of `digests` that no profile needs; how many."""
        wanted = frozenset(digests)
        if not wanted:
            return 0
        with self.database.write() as connection:
            lock_digests(connection, wanted)
            unneeded = wanted - statements.referenced(connection, wanted)
            for digest in unneeded:
                self.raw.remove(digest)
        return len(unneeded)

    def owns_blobs(self) -> bool:
        """True if the raw files are this database's; false: another's, which needs them all.

        So a server that was started with the wrong database removes nothing. Files without a mark
        are ours if we know one of them, or if there are none.
        """
        mine = self._read(statements.instance_id).encode()
        if self.blobs.head(_MARK) is not None:
            return b"".join(self.blobs.open(_MARK)) == mine
        found = [digest for digest, _ in self.raw.list()]
        if found and not self._read(statements.referenced).intersection(found):
            return False
        with NamedTemporaryFile(dir=self.root, prefix=".") as file:
            file.write(mine)
            file.flush()
            os.fsync(file.fileno())
            self.blobs.put(_MARK, Path(file.name))
        return True

    def obtain_results(self, profile_id: str, new_area: Callable[[], StagingArea]) -> bool:
        """Sees to it that results are in the data folder; false when they must be computed."""
        if self.results.has(profile_id):
            return True
        if self.results.is_outdated(profile_id):
            return False
        key = self._read(statements.result_key, profile_id, self.results.version)
        if key is None or self.blobs.head(key) is None:
            return False
        area = new_area()
        try:
            packed = area.root / "results.tar"
            with packed.open("xb") as file:
                file.writelines(self.blobs.open(key))
            self.results.adopt_packed(profile_id, packed, area.results)
        finally:
            area.discard()
        return self.results.has(profile_id)

    def get(self, profile_id: str) -> Manifest | Pending | None:
        """A profile, or `None` when there is none of this id."""
        return self._read(statements.get, profile_id)

    def is_ready(self, profile_id: str) -> bool:
        """True once a profile was imported."""
        if profile_id in self._ready:
            return True
        is_ready = self._read(statements.state, profile_id) == READY
        if is_ready and not self.database.is_shared:
            self._ready.add(profile_id)
        return is_ready

    def ownership(self, profile_id: str) -> Ownership | None:
        """Who may change a profile; `None` when there is none."""
        return self._read(statements.ownership, profile_id)

    def recent(self, limit: int) -> tuple[Manifest, ...]:
        """The newest ready profiles, newest first."""
        return self._read(statements.recent, limit)

    def search(self, text: str, *, offset: int, limit: int, **equal: str) -> Listing:
        """Ready profiles with every word of `text`; `equal`: `tag`, `device`, `uploader`."""
        chosen = {name: value for name, value in equal.items() if value}
        with self.database.read() as connection:
            return statements.search(
                connection, words=text.split(), equal=chosen, offset=offset, limit=limit
            )

    def facets(self) -> Facets:
        """Values to filter by."""
        return self._read(statements.facets)

    def edit(self, profile_id: str, *, tags: Sequence[str] | None = None, **values: object) -> bool:
        """Changes `title`, `note`, `pinned` or the tags; false when there is no such profile."""
        with self.database.write() as connection:
            found = statements.edit(connection, profile_id, values)
            if found and tags is not None:
                statements.set_tags(connection, profile_id, tags)
        self.on_change(profile_id)
        return found

    def sample(self, key: str) -> ProfileId | None:
        """The profile made from the bundled sample `key`, if it was opened before."""
        return self._read(statements.by_sample, key)

    def stats(self) -> StoreStats:
        """Sizes of the store."""
        with self.database.read() as connection:
            count, raw_bytes, stored_bytes = statements.sizes(connection)
            jobs = count_jobs(connection)
        return StoreStats(
            profile_count=count,
            raw_bytes=raw_bytes,
            stored_bytes=stored_bytes,
            queued_jobs=jobs.get("queued", 0),
            running_jobs=jobs.get("running", 0),
        )

    def _read(self, statement: Callable[..., T], *arguments: object) -> T:
        with self.database.read() as connection:
            return statement(connection, *arguments)

    @property
    def shares_results(self) -> bool:
        """True if raw files are not in our folder: who has them may not have our results."""
        return self.blobs.folder != self.root

    def _share_results(self, profile_id: str, area: StagingArea) -> str | None:
        """Puts results where other processes find them; the key, `None` when there are none."""
        if not self.shares_results:
            return None
        key = f"{RESULT_FOLDER}/{profile_id}/{self.results.version}.tar"
        packed = area.root / "results.tar"
        self.results.pack(area.results, packed)
        self.blobs.put(key, packed)
        return key

    def _remove_results(self, profile_id: str) -> None:
        self.results.remove(profile_id)
        if self.shares_results:
            for found in list(self.blobs.list(f"{RESULT_FOLDER}/{profile_id}/")):
                self.blobs.delete(found.key)

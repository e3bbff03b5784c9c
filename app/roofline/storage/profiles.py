"""ProfileStore: what changes profiles: rows in the database, raw files and results beside it.

Order of writes, so that a crash at any time leaves no half profile: raw bytes on the disk, then
one transaction for the profile and its job; results on the disk, then one transaction that makes
it ready. Deletion goes the other way: rows, results, raw bytes. What a crash leaves in between
belongs to no row, and is swept.
"""

import hashlib
import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from roofline.errors import RooflineError, StorageFullError, UploadRejectedError
from roofline.storage import checks, statements, trash
from roofline.storage.audit import AuditLog
from roofline.storage.blob_places import open_blobs
from roofline.storage.database import Database, lock_digests, schema_of
from roofline.storage.disk_room import HeldRoom
from roofline.storage.jobs import JobStore, cancel_jobs, end_job, insert_job, is_owned
from roofline.storage.ledger import AdviceLedger
from roofline.storage.machines import SentMachines
from roofline.storage.manifests import import_manifests
from roofline.storage.notes import PointNotes
from roofline.storage.queries import ProfileQueries
from roofline.storage.raw import BlobOwner, RawStore
from roofline.storage.records import (
    READY,
    TRASHED,
    Found,
    Job,
    JobKind,
    NewProfile,
    PackedResults,
    timestamp,
)
from roofline.storage.results import Draw, ResultStore
from roofline.storage.revocable import ApiTokens, EndedSessions, People, ShareLinks
from roofline.storage.runs import RunStore
from roofline.storage.search_text import write_search_text
from roofline.storage.shared_results import SharedResults
from roofline.storage.staging import StagedFile, StagingArea
from roofline.storage.user_quota import OF_RESTORING, UserQuota

# No upload takes the last of the disk: stored profiles must be imported, or say why not.
LEFT_BYTES = 512 << 10
# Least time for which a failed profile and its raw files are kept.
FAILURES_KEPT = timedelta(days=7)
T = TypeVar("T")


class ProfileStore:
    """Profiles of one data folder, or of one database and one object store.

    `version` is that of the results; `measurements` gives the digest of what was measured on this
    machine. Failed profiles are kept for `failures_kept`, those in the trash for `trash_kept`:
    without any time there is no trash. Share links last for `links_last_s` at most. `on_change`
    hears the id of each ready profile that this process changed or removed, `None` where it may be
    any, from any thread: after the change counts for readers, and before the request that made it
    is answered. Safe to use from any thread.
    """

    def __init__(
        self,
        root: Path,
        version: str,
        *,
        measurements: Callable[[], str],
        database_url: str | None = None,
        blobs: str | None = None,
        failures_kept: timedelta = FAILURES_KEPT,
        trash_kept: timedelta = timedelta(0),
        user_quota: UserQuota | None = None,
        links_last_s: float = math.inf,
        on_change: Callable[[str | None], None] = lambda _id: None,
        draw: Draw = lambda _page, _advice: {},
    ) -> None:
        self.root = root
        self.database = Database(root, database_url)
        self.queries = ProfileQueries(self.database)
        self.jobs = JobStore(self.database)
        self.ended_sessions = EndedSessions(self.database)
        self.api_tokens = ApiTokens(self.database)
        self.share_links = ShareLinks(self.database, longest_s=links_last_s)
        self.people = People(self.database)
        self.audit = AuditLog(self.database)
        self.advice = AdviceLedger(self.database)
        self.notes = PointNotes(self.database)
        self.machines = SentMachines(self.database)
        self.blobs = open_blobs(blobs, root)
        self.raw = RawStore(self.blobs)
        self.results = ResultStore(
            root / "derived", version, None if self.is_shared else measurements, draw
        )
        self.shared_results = SharedResults(root, self.results, self.blobs, self.database)
        self.owner = BlobOwner(self.database, self.blobs, self.raw, root)
        # Of jobs apart: they try again and again, and would leave none for a deletion.
        self._room = HeldRoom(root / "room-for-deletion")
        self._job_room = HeldRoom(root / "room-for-jobs")
        self._failures_kept = failures_kept
        self.trash_kept = trash_kept
        self._user_quota = user_quota or UserQuota()
        self.runs = RunStore(self.database, self.raw, self._user_quota)
        self.answers_changed = on_change

    @property
    def is_shared(self) -> bool:
        """True when other processes may write to the same database."""
        return self.database.is_shared

    def prepare(self) -> tuple[Path, ...]:
        """Brings the database up to date; manifests of an older release that cannot be read."""
        self.database.check_pages()
        self.database.migrate()
        self.ended_sessions.refresh()
        self.api_tokens.refresh()
        return import_manifests(self.root, self.database)

    def take_over(self) -> None:
        """For a process that is alone: makes jobs due that ran in another, and holds some room."""
        self.jobs.take_back()
        self._room.hold()
        self._job_room.hold()

    def check(self) -> None:
        """Raises a `RooflineError` when database or blobs cannot be used now."""
        self.database.check()
        self.blobs.head("blobs/00/none")

    def _changed_with(self, profile_id: str) -> str | None:
        """Whose answers change with it: any, where findings wait for it or it measured them."""
        return profile_id if self.advice.is_empty() else None

    def close(self) -> None:
        """Gives the database's connections back."""
        self.database.close()

    def schema(self) -> str | None:
        """The revision of the database's schema, `None` for an empty one."""
        with self.database.read() as connection:
            return schema_of(connection)

    def instance_id(self) -> str:
        """128 random bits, known only to readers of the database or the raw files."""
        with self.database.read() as connection:
            return statements.instance_id(connection)

    def add(self, new: NewProfile, files: Sequence[StagedFile]) -> str | None:
        """Stores a profile to be imported; the id of its job. Returns once it survives a crash.

        Those of its files that are not among the staged `files` are stored already. Without a job
        where an upload of this id and these files was stored before.
        """
        self._check_room()
        with self.database.read() as connection:  # and again below, beside other uploads
            if _is_repeated(connection, new):
                return None
            self._user_quota.check(connection, new)
        for file in files:
            self.raw.put(file)
        with self.database.write() as connection:
            digests = [file.sha256 for file in new.files]
            own = hashlib.sha256(new.id.encode()).hexdigest()
            lock_digests(connection, [*digests, own, self._user_quota.key(new.uploader)])
            if _is_repeated(connection, new):
                return None
            self._user_quota.check(connection, new)
            for file in files:
                # Another profile's deletion may have taken the bytes since.
                if not self.raw.has(file.sha256):
                    self.raw.put(file)
            if not all(map(self.raw.has, digests)):
                raise not_stored()
            statements.forget_failed_analyses(connection, digests)
            checks.forget_damage(connection, digests)
            statements.add(connection, new)
            return insert_job(connection, new.id, "import", self.results.version)

    def upload_of(self, profile_id: str) -> NewProfile | None:
        """A profile as it was added, in any state; `None` when there is none."""
        with self.database.read() as connection:
            return statements.upload_of(connection, profile_id)

    def split(self, profile_id: str, parts: Callable[[NewProfile], list[NewProfile]]) -> list[str]:
        """Stores the `parts` of an upload in its place, all to be imported; the ids of their jobs.

        The files of the upload that no part needs are gone then. Empty when there is no such
        profile.
        """
        with self.database.write() as connection:
            lock_digests(connection, statements.digests_of(connection, profile_id))
            upload = statements.upload_of(connection, profile_id)
            if upload is None:
                return []
            job_ids = []
            for part in parts(upload):
                statements.add(connection, part)
                job_ids.append(insert_job(connection, part.id, "import", self.results.version))
            statements.remove(connection, profile_id)
            self.queries.forget(profile_id)
        self.drop(profile_id, [file.sha256 for file in upload.files])
        return job_ids

    def _check_room(self) -> None:
        if shutil.disk_usage(self.root).free < LEFT_BYTES:
            raise StorageFullError(
                "The server cannot store more: its disk is full.",
                remedy="Delete profiles that are no longer needed, or free space on its disk.",
            )

    def show(self, job: Job, owner: str, area: StagingArea, found: Found) -> bool:
        """Makes a profile ready by what its page needs while its job goes on; as `finish`.

        Does nothing where other machines read results: those are packed for them when all are
        there.
        """
        if self.shared_results.is_shared:
            return True
        self.shared_results.show(job.profile_id, area)
        return self._set_ready(job, found, None, lambda one: is_owned(one, job.id, owner))

    def finish(self, job: Job, owner: str, area: StagingArea, found: Found) -> bool:
        """Stores what a job found; false when the job is no longer `owner`'s."""
        packed = self.shared_results.keep(job.profile_id, area)
        return self._set_ready(job, found, packed, lambda one: end_job(one, job.id, owner))

    def _set_ready(
        self,
        job: Job,
        found: Found,
        packed: PackedResults | None,
        may: Callable[[Connection], bool],
    ) -> bool:
        """Notes the results that are kept, where `may` says so: what it said."""
        size_bytes = self.results.size_bytes(job.profile_id)
        with self.database.write() as connection:
            counts = may(connection)
            if counts:
                if job.kind == "import" and found.title:
                    statements.set_title(connection, job.profile_id, found.title)
                statements.set_ready(connection, job.profile_id, found.format, found.summary)
                statements.set_op_shares(connection, job.profile_id, found.op_shares)
                statements.set_hosts(connection, job.profile_id, found.hosts)
                statements.set_result(connection, job.profile_id, job.version, packed, size_bytes)
            is_gone = statements.state(connection, job.profile_id) is None
        if is_gone:
            self.shared_results.remove(job.profile_id)
        self.answers_changed(self._changed_with(job.profile_id))
        return counts

    def fail(self, job: Job, owner: str, error: RooflineError) -> bool:
        """Notes why a job failed; the raw files are held, for another try. False as in `finish`."""
        with self.database.write() as connection:
            counts = end_job(connection, job.id, owner, error)
            if counts and job.kind == "import":
                self._set_failed(connection, job.profile_id, error)
        return counts

    def retry(self, profile_id: str, expires_at: str | None) -> str | None:
        """Queues a failed import again, or a failed analysis of a ready profile; its job's id.

        `None` where neither failed, or the raw files are gone, or another request was quicker.
        """
        try:
            with self.database.write() as connection:
                if statements.state(connection, profile_id) == READY:
                    kind: JobKind = "analyse"
                elif statements.set_importing(connection, profile_id, expires_at):
                    kind = "import"
                else:
                    return None
                return insert_job(connection, profile_id, kind, self.results.version)
        except IntegrityError:  # a job is under way
            return None

    def _set_failed(self, connection: Connection, profile_id: str, error: RooflineError) -> None:
        statements.set_failed(connection, profile_id, error, timestamp(self._failures_kept))

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
        """Removes the raw bytes of a profile whose import was cancelled."""
        with self.database.write() as connection:
            statements.let_go_of_files(connection, profile_id)
            digests = statements.digests_of(connection, profile_id)
        self.drop_unreferenced(digests)

    def edit(self, profile_id: str, *, tags: Sequence[str] | None = None, **values: object) -> bool:
        """Changes columns such as `title`, or the tags; false when there is no such profile."""
        with self.database.write() as connection:
            found = statements.edit(connection, profile_id, values)
            if found and tags is not None:
                statements.set_tags(connection, profile_id, tags)
            if found:
                write_search_text(connection, profile_id)
        self.answers_changed(self._changed_with(profile_id))
        return found

    def put_into_trash(self, profile_id: str, reason: str) -> bool:
        """Puts a profile into the trash; false when there is none outside it."""
        moved = _written(lambda: self._put_into_trash(profile_id, reason), self._room)
        self.answers_changed(self._changed_with(profile_id))
        self._retake_room()
        return moved

    def _put_into_trash(self, profile_id: str, reason: str) -> bool:
        with self.database.write() as connection:
            self.queries.forget(profile_id)
            return trash.put(connection, profile_id, reason)

    def take_out_of_trash(self, profile_id: str, expires_at: str | None) -> tuple[bool, str | None]:
        """Restores a profile: whether it was in the trash, and the id of its job if it has one.

        `OverQuotaError` where its uploader has no room for it now; it stays in the trash then.
        """
        with self.database.write() as connection:
            self._check_restored(connection, profile_id)
            found = trash.take_out(
                connection,
                profile_id,
                self.results.version,
                expires_at=expires_at,
                failure_expires_at=timestamp(self._failures_kept),
            )
        self.answers_changed(self._changed_with(profile_id))
        return found

    def _check_restored(self, connection: Connection, profile_id: str) -> None:
        held = statements.upload_of(connection, profile_id)
        if held is not None and trash.holds_files(connection, profile_id):
            lock_digests(connection, [self._user_quota.key(held.uploader)])
            self._user_quota.check(connection, held, words=OF_RESTORING)

    def remove(self, profile_id: str) -> frozenset[str] | None:
        """Deletes the rows of a profile; the digests to drop then, `None` when there is none."""
        changed = self._changed_with(profile_id)  # its own decisions go, too
        digests = _written(lambda: self._remove_rows(profile_id), self._room)
        self.answers_changed(changed)
        return digests

    def with_room(self, write: Callable[[], T]) -> T:
        """The result of a job's `write`, which on a full disk may use the room held for jobs."""
        return _written(write, self._job_room)

    def _retake_room(self) -> None:
        self._room.retake()
        self._job_room.retake()

    def _remove_rows(self, profile_id: str) -> frozenset[str] | None:
        with self.database.write() as connection:
            digests = statements.digests_of(connection, profile_id)
            self.advice.forget_hidden(connection, profile_id)
            removed = statements.remove(connection, profile_id)
            self.queries.forget(profile_id)
        return digests if removed else None

    def drop(self, profile_id: str, digests: Iterable[str]) -> None:
        """Deletes the results of a removed profile, and its bytes that no other profile needs."""
        self.shared_results.remove(profile_id)
        # Again: a reader that looked before the rows went could still have read the results.
        self.answers_changed(profile_id)
        self.drop_unreferenced(digests)
        self._retake_room()

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
            checks.forget_damage(connection, unneeded)
        return len(unneeded)


def not_stored() -> UploadRejectedError:
    """The error for files that are to be used again and are gone."""
    return UploadRejectedError(
        "The files of this profile are not stored any more.",
        remedy="Send all files of the program together.",
    )


def _is_repeated(connection: Connection, new: NewProfile) -> bool:
    """True where this upload was stored before. Another one with its id is refused."""
    there = statements.upload_of(connection, new.id)
    if there is None:
        return False
    if statements.state(connection, new.id) == TRASHED:
        raise UploadRejectedError(
            "The upload with this `Idempotency-Key` is in the trash.",
            remedy="Restore it, or send the files with another key.",
        )
    if [file.sha256 for file in there.files] != [file.sha256 for file in new.files]:
        raise UploadRejectedError(
            "Other files were uploaded with this `Idempotency-Key`.",
            remedy="Send these with a key of their own.",
        )
    return True


def _written(write: Callable[[], T], room: HeldRoom) -> T:
    """The result of `write`, which may use `room` on a full disk."""
    try:
        return write()
    except StorageFullError:
        if not room.release():
            raise
        return write()

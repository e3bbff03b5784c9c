"""RunStore: runs of many hosts: rows in the database, pushed files beside those of profiles.

A run is also its own job: the process that has its lease reads its hosts. A lease that ran out
makes it due again, and what was read until then is in rows and kept partials.
"""

import hashlib
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import and_, delete, func, or_, select, update

from roofline.model.outer_limits import LEASE_S
from roofline.storage import checks, run_statements
from roofline.storage.database import Database, lock_digests
from roofline.storage.raw import RawStore
from roofline.storage.records import Ownership, StoredFile, timestamp
from roofline.storage.run_records import (
    CANCELLED,
    COMPLETE,
    NO_LIST,
    READ,
    READING,
    UNREADABLE,
    WAITING,
    FoundHost,
    HostState,
    NewRun,
    Run,
    RunHost,
    RunsListed,
    RunState,
    TrashedRun,
)
from roofline.storage.staging import StagedFile
from roofline.storage.tables import run, run_host
from roofline.storage.user_quota import UserQuota
from roofline.storage.visibility import ALL_SEEING, Viewer, sees_runs


class RunStore:
    """The runs in `database`. Safe to use from any thread."""

    def __init__(self, database: Database, raw: RawStore, quota: UserQuota) -> None:
        self._database = database
        self._raw = raw
        self._quota = quota

    def add(self, new: NewRun) -> None:
        """Stores a run to be read. `OverQuotaError` where its uploader has no room for it."""
        with self._database.write() as connection:
            lock_digests(connection, [self._quota.key(new.uploader)])
            self._quota.check_run(connection, new.uploader, 0, is_new=True)
            run_statements.add(connection, new, time.time())

    def add_once(self, new: NewRun) -> bool:
        """Stores a run unless one of its address was stored before, also one in the trash."""
        of_address = select(run.c.id).where(run.c.address == new.address).limit(1)
        key = hashlib.sha256((new.address or "").encode()).hexdigest()
        with self._database.write() as connection:
            lock_digests(connection, [key, self._quota.key(new.uploader)])
            if connection.execute(of_address).first() is not None:
                return False
            self._quota.check_run(connection, new.uploader, 0, is_new=True)
            run_statements.add(connection, new, time.time())
            return True

    def get(self, run_id: str) -> Run | None:
        """A run, or `None` when there is none of this id outside the trash."""
        with self._database.read() as connection:
            return run_statements.get(connection, run_id)

    def ownership(self, run_id: str, *, in_trash: bool = False) -> Ownership | None:
        """The owner of a run that is not in the trash, or of one that is."""
        with self._database.read() as connection:
            return run_statements.ownership(connection, run_id, in_trash=in_trash)

    def listed(
        self, viewer: Viewer = ALL_SEEING, *, text: str = "", offset: int = 0, limit: int = 50
    ) -> RunsListed:
        """Runs that `viewer` sees with every word of `text`, the newest first.

        Words are looked for in title, address and uploader.
        """
        words = map(run_statements.has_word, text.split())
        seen = and_(run.c.trashed_at.is_(None), sees_runs(viewer), *words)
        newest = run.c.number.desc()
        # Hosts are counted for the runs of this page only.
        page = select(run.c.id).where(seen).order_by(newest).offset(offset).limit(limit)
        counted = run_statements.counted().where(run.c.id.in_(page)).order_by(newest)
        count = select(func.count()).select_from(run).where(seen)
        with self._database.read() as connection:
            rows = connection.execute(counted).all()
            total = int(connection.execute(count).scalar_one())
        return RunsListed(runs=tuple(map(run_statements.run_of, rows)), total=total)

    def imported(self, addresses: Collection[str], viewer: Viewer) -> frozenset[str]:
        """Those of `addresses` from which a run was imported that `viewer` sees."""
        seen = and_(run.c.trashed_at.is_(None), sees_runs(viewer))
        with self._database.read() as connection:
            rows = connection.execute(select(run.c.address).where(seen, run.c.address.is_not(None)))
            return frozenset(row.address for row in rows).intersection(addresses)

    def in_trash(self, owner: str | None) -> tuple[TrashedRun, ...]:
        """Runs in the trash of `owner`, or of everybody, the newest first."""
        with self._database.read() as connection:
            return run_statements.in_trash(connection, owner)

    def hosts(
        self, run_id: str, *, offset: int = 0, limit: int | None = None
    ) -> tuple[RunHost, ...]:
        """The files of a run in the order of reading."""
        wanted = select(run_host).where(run_host.c.run_id == run_id).order_by(run_host.c.turn)
        with self._database.read() as connection:
            rows = connection.execute(wanted.offset(offset).limit(limit)).all()
        return tuple(map(run_statements.host_of, rows))

    def host(self, run_id: str, identity: str) -> RunHost | None:
        """One file of a run."""
        wanted = select(run_host).where(
            run_host.c.run_id == run_id, run_host.c.identity == identity
        )
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else run_statements.host_of(row)

    def with_content(self, run_id: str, sha256: str) -> tuple[RunHost, ...]:
        """The files of a run that have this SHA-256, those whose bytes are here first."""
        of_run = (run_host.c.run_id == run_id, run_host.c.sha256 == sha256)
        order = (run_host.c.is_kept.desc(), run_host.c.turn)
        with self._database.read() as connection:
            rows = connection.execute(select(run_host).where(*of_run).order_by(*order)).all()
        return tuple(map(run_statements.host_of, rows))

    def push(self, run_id: str, files: Sequence[StagedFile]) -> int | None:
        """Adds files to a run; how many were new. Returns once they survive a crash.

        `None` when there is no such run. `OverQuotaError` where its uploader has no room.
        """
        for file in files:
            self._raw.put(file)
        digests, size_bytes = [file.sha256 for file in files], sum(one.size_bytes for one in files)
        with self._database.write() as connection:
            owned = run_statements.ownership(connection, run_id)
            if owned is None:
                return None
            lock_digests(connection, [*digests, self._quota.key(owned.uploader)])
            self._quota.check_run(connection, owned.uploader, size_bytes, is_new=False)
            for file in files:
                # The deletion of another run or profile may have taken the bytes since.
                if not self._raw.has(file.sha256):
                    self._raw.put(file)
            checks.forget_damage(connection, digests)
            return run_statements.add_pushed(connection, run_id, list(files), time.time())

    def add_found(self, run_id: str, found: Sequence[FoundHost], note: str) -> int:
        """Adds objects of a listing; how many were new."""
        now = time.time()
        with self._database.write() as connection:
            values = {"listed_at": now, "note": note, "attempts": 0}
            connection.execute(update(run).where(run.c.id == run_id).values(values))
            return run_statements.add_found(connection, run_id, list(found), now)

    def expect(self, run_id: str, hosts: int) -> None:
        """Notes with how many hosts a run is complete."""
        with self._database.write() as connection:
            connection.execute(update(run).where(run.c.id == run_id).values(expected_hosts=hosts))

    def open_runs(self) -> tuple[Run, ...]:
        """Runs that are being read and that no process reads now; the first waited longest."""
        free = or_(run.c.owner.is_(None), run.c.lease_until < time.time())
        due = run_statements.counted().where(
            run.c.state == READING, run.c.trashed_at.is_(None), free
        )
        order = (func.coalesce(run.c.lease_until, 0.0), run.c.number)
        with self._database.read() as connection:
            rows = connection.execute(due.order_by(*order)).all()
        return tuple(map(run_statements.run_of, rows))

    def claim(self, run_id: str, owner: str) -> bool:
        """Gives `owner` the lease of a run that is free; false when it is not."""
        now = time.time()
        free = or_(run.c.owner.is_(None), run.c.lease_until < now)
        due = (run.c.id == run_id, run.c.state == READING, run.c.trashed_at.is_(None), free)
        values = {"owner": owner, "lease_until": now + LEASE_S}
        with self._database.write() as connection:
            return connection.execute(update(run).where(*due).values(values)).rowcount == 1

    def beat(self, run_id: str, owner: str) -> bool:
        """Renews the lease; false when the run was ended, or is another process's now."""
        mine = (run.c.id == run_id, run.c.owner == owner, run.c.state == READING)
        values = {"lease_until": time.time() + LEASE_S}
        statement = update(run).where(*mine, run.c.trashed_at.is_(None)).values(values)
        with self._database.write() as connection:
            return connection.execute(statement).rowcount == 1

    def release(self, run_id: str, owner: str) -> None:
        """Gives the lease back. The run comes after those that waited longer."""
        values = {"owner": None, "lease_until": time.time()}
        mine = (run.c.id == run_id, run.c.owner == owner)
        with self._database.write() as connection:
            connection.execute(update(run).where(*mine).values(values))

    def take_back(self) -> None:
        """Makes every run due at once: the processes that read them are known to have ended."""
        with self._database.write() as connection:
            connection.execute(update(run).values(owner=None))

    def waiting(self, run_id: str, limit: int) -> tuple[RunHost, ...]:
        """Files to be read next. The digest of an object that some run has read is known."""
        wanted = select(run_host).where(run_host.c.run_id == run_id, run_host.c.state == WAITING)
        with self._database.read() as connection:
            rows = connection.execute(wanted.order_by(run_host.c.turn).limit(limit)).all()
            found = map(run_statements.host_of, rows)
            return tuple(
                replace(
                    one,
                    sha256=one.sha256 or run_statements.known_digest(connection, one.identity),
                )
                for one in found
            )

    def note_read(
        self, run_id: str, identity: str, state: HostState, *, digest: str, receipt: str
    ) -> None:
        """Notes what reading a file gave."""
        values: dict[str, object] = {"state": state, "receipt": receipt}
        one = (run_host.c.run_id == run_id, run_host.c.identity == identity)
        if digest:
            values["sha256"] = digest
        with self._database.write() as connection:
            connection.execute(update(run_host).where(*one).values(values))

    def read_again(self, run_id: str) -> None:
        """Has all hosts of a run read again that were read: their partials are gone."""
        of_run = (run_host.c.run_id == run_id, run_host.c.state.in_([READ, UNREADABLE]))
        with self._database.write() as connection:
            connection.execute(update(run_host).where(*of_run).values(state=WAITING))

    def receipts(self, run_id: str) -> list[str]:
        """The receipts of a run's files until now."""
        states = run_host.c.state.in_([READ, UNREADABLE])
        wanted = select(run_host.c.receipt).where(run_host.c.run_id == run_id, states)
        with self._database.read() as connection:
            found = connection.execute(wanted.order_by(run_host.c.turn)).scalars()
            return [str(one) for one in found if one is not None]

    def say(self, run_id: str, owner: str, document: str, said_of: int) -> bool:
        """Notes what is said of a run now; false when it is no longer `owner`'s."""
        mine = (run.c.id == run_id, run.c.owner == owner)
        values = {"document": document, "said_of": said_of, "version": run.c.version + 1}
        values |= {"reason": "", "attempts": 0}  # an earlier failure is over
        with self._database.write() as connection:
            return connection.execute(update(run).where(*mine).values(values)).rowcount == 1

    def complete(self, run_id: str, said_of: int) -> bool:
        """Ends a run whose hosts are all read; false where one came meanwhile."""
        waits = select(run_host.c.identity).where(
            run_host.c.run_id == run_id, run_host.c.state == WAITING
        )
        with self._database.write() as connection:
            if connection.execute(waits.limit(1)).first() is not None:
                return False
            open_run = (run.c.id == run_id, run.c.state == READING, run.c.said_of == said_of)
            statement = update(run).where(*open_run).values(state=COMPLETE)
            return connection.execute(statement).rowcount == 1

    def fail_once(self, run_id: str, reason: str, *, most: int) -> None:
        """Notes that the hosts of a run could not be listed; after `most` times it has failed."""
        tried = update(run).where(run.c.id == run_id)
        with self._database.write() as connection:
            connection.execute(tried.values(attempts=run.c.attempts + 1, reason=reason))
            over = (run.c.id == run_id, run.c.attempts >= most, run.c.state == READING)
            connection.execute(update(run).where(*over).values(state=NO_LIST))

    def end(self, run_id: str, state: RunState = CANCELLED) -> bool:
        """Ends a run that is being read; false when it is not."""
        statement = update(run).where(run.c.id == run_id, run.c.state == READING)
        with self._database.write() as connection:
            return connection.execute(statement.values(state=state)).rowcount == 1

    def set_profile(self, run_id: str, identity: str, profile_id: str) -> None:
        """Notes the profile that was made of a file."""
        one = (run_host.c.run_id == run_id, run_host.c.identity == identity)
        with self._database.write() as connection:
            connection.execute(update(run_host).where(*one).values(profile_id=profile_id))

    def trash(self, run_id: str) -> bool:
        """Puts a run into the trash; false when there is none outside it."""
        statement = update(run).where(run.c.id == run_id, run.c.trashed_at.is_(None))
        with self._database.write() as connection:
            return connection.execute(statement.values(trashed_at=timestamp())).rowcount == 1

    def restore(self, run_id: str) -> bool:
        """Takes a run out of the trash; false when it is not there."""
        statement = update(run).where(run.c.id == run_id, run.c.trashed_at.is_not(None))
        with self._database.write() as connection:
            return connection.execute(statement.values(trashed_at=None)).rowcount == 1

    def trashed(self, before: str) -> list[str]:
        """The runs that were put into the trash before a time as `timestamp` gives it."""
        wanted = select(run.c.id).where(run.c.trashed_at.is_not(None), run.c.trashed_at <= before)
        with self._database.read() as connection:
            return [str(one) for one in connection.execute(wanted).scalars()]

    def needed(self, keys: frozenset[str]) -> frozenset[str]:
        """Those of some digests of files or identities of objects that a host of a run has."""
        with self._database.read() as connection:
            found = [
                str(one)
                for column in (run_host.c.sha256, run_host.c.identity)
                for one in connection.execute(select(column).where(column.in_(keys))).scalars()
            ]
        return frozenset(found)

    def remove(self, run_id: str) -> frozenset[str] | None:
        """Deletes a run with its rows; the digests of raw files to drop, `None` without a run."""
        with self._database.write() as connection:
            digests = run_statements.kept_digests(connection, run_id)
            connection.execute(delete(run_host).where(run_host.c.run_id == run_id))
            removed = connection.execute(delete(run).where(run.c.id == run_id)).rowcount
        return digests if removed else None


def stored_file(host: RunHost) -> StoredFile:
    """A pushed file as one of those whose bytes are kept."""
    assert host.is_kept
    assert host.sha256 is not None
    return StoredFile(name=host.name, size_bytes=host.size_bytes, sha256=host.sha256)

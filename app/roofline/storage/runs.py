"""RunStore: runs of many hosts: rows in the database, pushed files beside those of profiles.

A run is also its own job: the process that has its lease reads its hosts. A lease that ran out
makes it due again, and what was read until then is in rows and kept partials.
"""

import hashlib
import time
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from roofline.model.outer_limits import LEASE_S
from roofline.model.plain_data import alike, taken
from roofline.storage import checks
from roofline.storage.database import Database, insert_new, lock_digests
from roofline.storage.raw import RawStore
from roofline.storage.records import Ownership, StoredFile, timestamp
from roofline.storage.run_records import (
    CANCELLED,
    COMPLETE,
    NO_LIST,
    NOT_A_HOST,
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
            add(connection, new, time.time())

    def add_once(self, new: NewRun) -> bool:
        """Stores a run unless one of its address was stored before, also one in the trash."""
        of_address = select(run.c.id).where(run.c.address == new.address).limit(1)
        key = hashlib.sha256((new.address or "").encode()).hexdigest()
        with self._database.write() as connection:
            lock_digests(connection, [key, self._quota.key(new.uploader)])
            if connection.execute(of_address).first() is not None:
                return False
            self._quota.check_run(connection, new.uploader, 0, is_new=True)
            add(connection, new, time.time())
            return True

    def get(self, run_id: str) -> Run | None:
        """A run, or `None` when there is none of this id outside the trash."""
        with self._database.read() as connection:
            return get(connection, run_id)

    def ownership(self, run_id: str, *, in_trash: bool = False) -> Ownership | None:
        """The owner of a run that is not in the trash, or of one that is."""
        with self._database.read() as connection:
            return ownership(connection, run_id, in_trash=in_trash)

    def listed(
        self, viewer: Viewer = ALL_SEEING, *, text: str = "", offset: int = 0, limit: int = 50
    ) -> RunsListed:
        """Runs that `viewer` sees with every word of `text`, the newest first.

        Words are looked for in title, address and uploader.
        """
        words = map(has_word, text.split())
        seen = and_(run.c.trashed_at.is_(None), sees_runs(viewer), *words)
        newest = run.c.number.desc()
        # Hosts are counted for the runs of this page only.
        page = select(run.c.id).where(seen).order_by(newest).offset(offset).limit(limit)
        listed = counted().where(run.c.id.in_(page)).order_by(newest)
        count = select(func.count()).select_from(run).where(seen)
        with self._database.read() as connection:
            rows = connection.execute(listed).all()
            total = int(connection.execute(count).scalar_one())
        return RunsListed(runs=tuple(alike(Run, row) for row in rows), total=total)

    def imported(self, addresses: Collection[str], viewer: Viewer) -> frozenset[str]:
        """Those of `addresses` from which a run was imported that `viewer` sees."""
        seen = and_(run.c.trashed_at.is_(None), sees_runs(viewer))
        with self._database.read() as connection:
            rows = connection.execute(select(run.c.address).where(seen, run.c.address.is_not(None)))
            return frozenset(row.address for row in rows).intersection(addresses)

    def in_trash(self, owner: str | None) -> tuple[TrashedRun, ...]:
        """Runs in the trash of `owner`, or of everybody, the newest first."""
        with self._database.read() as connection:
            return in_trash(connection, owner)

    def hosts(
        self, run_id: str, *, offset: int = 0, limit: int | None = None
    ) -> tuple[RunHost, ...]:
        """The files of a run in the order of reading."""
        wanted = select(run_host).where(run_host.c.run_id == run_id).order_by(run_host.c.turn)
        rows = self._database.rows(wanted.offset(offset).limit(limit))
        return tuple(alike(RunHost, row) for row in rows)

    def host(self, run_id: str, identity: str) -> RunHost | None:
        """One file of a run."""
        wanted = select(run_host).where(
            run_host.c.run_id == run_id, run_host.c.identity == identity
        )
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else alike(RunHost, row)

    def with_content(self, run_id: str, sha256: str) -> tuple[RunHost, ...]:
        """The files of a run that have this SHA-256, those whose bytes are here first."""
        of_run = (run_host.c.run_id == run_id, run_host.c.sha256 == sha256)
        order = (run_host.c.is_kept.desc(), run_host.c.turn)
        rows = self._database.rows(select(run_host).where(*of_run).order_by(*order))
        return tuple(alike(RunHost, row) for row in rows)

    def push(self, run_id: str, files: Sequence[StagedFile]) -> int | None:
        """Adds files to a run; how many were new. Returns once they survive a crash.

        `None` when there is no such run. `OverQuotaError` where its uploader has no room.
        """
        for file in files:
            self._raw.put(file)
        digests, size_bytes = [file.sha256 for file in files], sum(one.size_bytes for one in files)
        with self._database.write() as connection:
            owned = ownership(connection, run_id)
            if owned is None:
                return None
            lock_digests(connection, [*digests, self._quota.key(owned.uploader)])
            self._quota.check_run(connection, owned.uploader, size_bytes, is_new=False)
            for file in files:
                # The deletion of another run or profile may have taken the bytes since.
                if not self._raw.has(file.sha256):
                    self._raw.put(file)
            checks.forget_damage(connection, digests)
            return add_pushed(connection, run_id, list(files), time.time())

    def add_found(self, run_id: str, found: Sequence[FoundHost], note: str) -> int:
        """Adds objects of a listing; how many were new."""
        now = time.time()
        with self._database.write() as connection:
            values = {"listed_at": now, "note": note, "attempts": 0}
            connection.execute(update(run).where(run.c.id == run_id).values(values))
            return add_found(connection, run_id, list(found), now)

    def expect(self, run_id: str, hosts: int) -> None:
        """Notes with how many hosts a run is complete."""
        self._database.change(update(run).where(run.c.id == run_id).values(expected_hosts=hosts))

    def open_runs(self) -> tuple[Run, ...]:
        """Runs that are being read and that no process reads now; the first waited longest."""
        free = or_(run.c.owner.is_(None), run.c.lease_until < time.time())
        due = counted().where(run.c.state == READING, run.c.trashed_at.is_(None), free)
        order = (func.coalesce(run.c.lease_until, 0.0), run.c.number)
        rows = self._database.rows(due.order_by(*order))
        return tuple(alike(Run, row) for row in rows)

    def claim(self, run_id: str, owner: str) -> bool:
        """Gives `owner` the lease of a run that is free; false when it is not."""
        now = time.time()
        free = or_(run.c.owner.is_(None), run.c.lease_until < now)
        due = (run.c.id == run_id, run.c.state == READING, run.c.trashed_at.is_(None), free)
        values = {"owner": owner, "lease_until": now + LEASE_S}
        return self._database.change(update(run).where(*due).values(values)) == 1

    def beat(self, run_id: str, owner: str) -> bool:
        """Renews the lease; false when the run was ended, or is another process's now."""
        mine = (run.c.id == run_id, run.c.owner == owner, run.c.state == READING)
        values = {"lease_until": time.time() + LEASE_S}
        statement = update(run).where(*mine, run.c.trashed_at.is_(None)).values(values)
        return self._database.change(statement) == 1

    def release(self, run_id: str, owner: str) -> None:
        """Gives the lease back. The run comes after those that waited longer."""
        values = {"owner": None, "lease_until": time.time()}
        mine = (run.c.id == run_id, run.c.owner == owner)
        self._database.change(update(run).where(*mine).values(values))

    def take_back(self) -> None:
        """Makes every run due at once: the processes that read them are known to have ended."""
        self._database.change(update(run).values(owner=None))

    def waiting(self, run_id: str, limit: int) -> tuple[RunHost, ...]:
        """Files to be read next. The digest of an object that some run has read is known."""
        wanted = select(run_host).where(run_host.c.run_id == run_id, run_host.c.state == WAITING)
        with self._database.read() as connection:
            rows = connection.execute(wanted.order_by(run_host.c.turn).limit(limit)).all()
            return tuple(
                alike(RunHost, row, sha256=row.sha256 or known_digest(connection, row.identity))
                for row in rows
            )

    def note_read(
        self, run_id: str, identity: str, state: HostState, *, digest: str, receipt: str
    ) -> None:
        """Notes what reading a file gave."""
        values: dict[str, object] = {"state": state, "receipt": receipt}
        one = (run_host.c.run_id == run_id, run_host.c.identity == identity)
        if digest:
            values["sha256"] = digest
        self._database.change(update(run_host).where(*one).values(values))

    def read_again(self, run_id: str) -> None:
        """Has all hosts of a run read again that were read: their partials are gone."""
        of_run = (run_host.c.run_id == run_id, run_host.c.state.in_([READ, UNREADABLE]))
        self._database.change(update(run_host).where(*of_run).values(state=WAITING))

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
        return self._database.change(update(run).where(*mine).values(values)) == 1

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
        return self._database.change(statement.values(state=state)) == 1

    def set_profile(self, run_id: str, identity: str, profile_id: str) -> None:
        """Notes the profile that was made of a file."""
        one = (run_host.c.run_id == run_id, run_host.c.identity == identity)
        self._database.change(update(run_host).where(*one).values(profile_id=profile_id))

    def trash(self, run_id: str) -> bool:
        """Puts a run into the trash; false when there is none outside it."""
        statement = update(run).where(run.c.id == run_id, run.c.trashed_at.is_(None))
        return self._database.change(statement.values(trashed_at=timestamp())) == 1

    def restore(self, run_id: str) -> bool:
        """Takes a run out of the trash; false when it is not there."""
        statement = update(run).where(run.c.id == run_id, run.c.trashed_at.is_not(None))
        return self._database.change(statement.values(trashed_at=None)) == 1

    def trashed(self, before: str) -> list[str]:
        """The runs that were put into the trash before a time as `timestamp` gives it."""
        wanted = select(run.c.id).where(run.c.trashed_at.is_not(None), run.c.trashed_at <= before)
        return [str(one) for (one,) in self._database.rows(wanted)]

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
            digests = kept_digests(connection, run_id)
            connection.execute(delete(run_host).where(run_host.c.run_id == run_id))
            removed = connection.execute(delete(run).where(run.c.id == run_id)).rowcount
        return digests if removed else None


def stored_file(host: RunHost) -> StoredFile:
    """A pushed file as one of those whose bytes are kept."""
    assert host.is_kept
    assert host.sha256 is not None
    return StoredFile(name=host.name, size_bytes=host.size_bytes, sha256=host.sha256)


MOST_TRASHED_LISTED = 1000


def add(connection: Connection, new: NewRun, now: float) -> None:
    """A run without hosts yet."""
    values = taken(new, *NewRun.__slots__)
    connection.execute(insert(run).values(**values, state=READING, changed_at=now))


def counted() -> "Select[Any]":
    """Runs with the counts of their hosts."""
    counts = [
        func.coalesce(func.sum(case((run_host.c.state == state, 1), else_=0)), 0).label(name)
        for state, name in ((READ, "read"), (UNREADABLE, "unreadable"))
    ]
    is_host = and_(run_host.c.run_id == run.c.id, run_host.c.state != NOT_A_HOST)
    total = func.count(run_host.c.identity).label("total")
    columns = select(run).add_columns(*counts, total)
    return columns.select_from(run.outerjoin(run_host, is_host)).group_by(run.c.number)


def get(connection: Connection, run_id: str) -> Run | None:
    """A run that is not in the trash."""
    wanted = counted().where(run.c.id == run_id, run.c.trashed_at.is_(None))
    row = connection.execute(wanted).first()
    return None if row is None else alike(Run, row)


def has_word(word: str) -> ColumnElement[bool]:
    """True for runs with `word` in title, address or uploader, in any case."""
    columns = (run.c.title, run.c.address, run.c.uploader)
    return or_(*(column.icontains(word, autoescape=True) for column in columns))


def in_trash(connection: Connection, owner: str | None) -> tuple[TrashedRun, ...]:
    """Runs in the trash of `owner`, or of everybody, the newest first."""
    of_run = run_host.c.run_id == run.c.id
    hosts = select(func.count()).where(of_run, run_host.c.state != NOT_A_HOST).scalar_subquery()
    kept = func.coalesce(func.sum(run_host.c.size_bytes), 0)
    size = select(kept).where(of_run, run_host.c.is_kept).scalar_subquery()
    columns = (run.c.id, run.c.title, run.c.created_at, run.c.uploader, run.c.trashed_at)
    wanted = select(*columns, hosts.label("hosts"), size.label("size_bytes"))
    wanted = wanted.where(run.c.trashed_at.is_not(None))
    if owner is not None:
        wanted = wanted.where(run.c.uploader == owner)
    newest = wanted.order_by(run.c.trashed_at.desc(), run.c.number.desc())
    rows = connection.execute(newest.limit(MOST_TRASHED_LISTED)).all()
    return tuple(alike(TrashedRun, row) for row in rows)


def ownership(connection: Connection, run_id: str, *, in_trash: bool = False) -> Ownership | None:
    """The owner of a run that is not in the trash, or of one that is."""
    columns = select(run.c.uploader, run.c.delete_token_hash, run.c.visibility)
    place = run.c.trashed_at.is_not(None) if in_trash else run.c.trashed_at.is_(None)
    wanted = columns.where(run.c.id == run_id, place)
    row = connection.execute(wanted).first()
    return None if row is None else alike(Ownership, row)


def add_found(connection: Connection, run_id: str, found: list[FoundHost], now: float) -> int:
    """Adds objects that are not known yet; how many were new."""
    known = set(
        connection.execute(select(run_host.c.identity).where(run_host.c.run_id == run_id)).scalars()
    )
    rows = [
        taken(one, *FoundHost.__slots__)
        | {"run_id": run_id, "state": WAITING, "is_kept": False, "arrived_at": now}
        for one in found
        if one.identity not in known
    ]
    if rows:
        _forget_older(connection, run_id, [str(row["address"]) for row in rows])
        connection.execute(insert(run_host), rows)
        reopen(connection, run_id, now)
    return len(rows)


def _forget_older(connection: Connection, run_id: str, addresses: list[str]) -> None:
    """Other versions of these objects are not part of the run any more."""
    for first in range(0, len(addresses), 500):
        some = addresses[first : first + 500]
        older = run_host.delete().where(run_host.c.run_id == run_id, run_host.c.address.in_(some))
        connection.execute(older)


def add_pushed(connection: Connection, run_id: str, files: list[StagedFile], now: float) -> int:
    """Adds files whose bytes are kept; how many were new."""
    last = select(func.coalesce(func.max(run_host.c.turn), -1)).where(run_host.c.run_id == run_id)
    turn = int(connection.execute(last).scalar_one())
    added = 0
    for file in files:
        values = {
            "run_id": run_id,
            "identity": file.sha256,
            "turn": turn + 1 + added,
            **taken(file, "name", "size_bytes", "stored_bytes", "sha256"),
            "is_kept": True,
            "state": WAITING,
            "arrived_at": now,
        }
        added += connection.execute(insert_new(connection, run_host).values(values)).rowcount
    if added:
        reopen(connection, run_id, now)
    return added


def reopen(connection: Connection, run_id: str, now: float) -> None:
    """Has a run read on, and said anew: hosts came."""
    values = {"state": READING, "changed_at": now, "said_of": -1, "reason": ""}
    connection.execute(update(run).where(run.c.id == run_id).values(values))


def known_digest(connection: Connection, identity: str) -> str | None:
    """The SHA-256 of an object that some run has read."""
    wanted = select(run_host.c.sha256).where(
        run_host.c.identity == identity, run_host.c.sha256.is_not(None)
    )
    found = connection.execute(wanted.limit(1)).scalar()
    return None if found is None else str(found)


def kept_digests(connection: Connection, run_id: str) -> frozenset[str]:
    """The digests of raw files that belong to a run."""
    wanted = select(run_host.c.sha256).where(run_host.c.run_id == run_id, run_host.c.is_kept)
    return frozenset(str(one) for one in connection.execute(wanted).scalars())

"""The job table: which imports are due, who runs each, and how far it is.

A runner may deliver a job id twice or never: the lease decides which process runs the job, and a
lease that ran out makes the job due again. Times are Unix seconds of the machines' clocks,
which must agree to a few seconds.

The queue gives each person a turn, so that many imports of one do not hold up others'. Analyses
come first: a reader waits for them. Then comes the person with the fewest imports that run now, and
among these the one whose last import ended first. Uploads without a person are those of one.
"""

import secrets
import time
from typing import Any

from sqlalchemy import (
    Connection,
    Float,
    Row,
    Select,
    and_,
    case,
    cast,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from roofline.errors import RooflineError
from roofline.model import outer_limits
from roofline.model.outer_limits import pause_s
from roofline.model.plain_data import alike
from roofline.storage.database import Database, lock_claims
from roofline.storage.records import (
    CANCELLED,
    DONE,
    FAILED,
    QUEUED,
    RUNNING,
    Job,
    JobKind,
    WaitsFor,
)
from roofline.storage.statements import error_columns, error_of
from roofline.storage.tables import job, profile

_UNDER_WAY = job.c.state.in_([QUEUED, RUNNING])


class JobStore:
    """Jobs in `database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, job_id: str) -> Job | None:
        """A job, whatever its state."""
        with self._database.read() as connection:
            row = connection.execute(select(job).where(job.c.id == job_id)).first()
        return None if row is None else _job(row)

    def newest(self, profile_id: str) -> Job | None:
        """The job that was added last for a profile."""
        by_age = select(job).where(job.c.profile_id == profile_id).order_by(job.c.created_at.desc())
        with self._database.read() as connection:
            row = connection.execute(by_age.limit(1)).first()
        return None if row is None else _job(row)

    def add(self, profile_id: str, kind: JobKind, version: str) -> str | None:
        """A queued job's id; `None` when one is under way for the profile, or that has gone."""
        try:
            with self._database.write() as connection:
                return insert_job(connection, profile_id, kind, version)
        except IntegrityError:
            return None

    def claim(self, job_id: str, owner: str, version: str) -> Job | None:
        """The job, now run by `owner`; `None` when not due, or for code of another version."""
        with self._database.write() as connection:
            return _claim(connection, job_id, owner, version)

    def claim_next(self, owner: str, version: str, most_running: int | None = None) -> Job | None:
        """The due job that is next by `fair_queue`, now run by `owner`; `None` when none is.

        Not lasting: after a power cut the job is due again, as any job of a process that ended.
        """
        with self._database.write(lasting=False) as connection:
            lock_claims(connection)
            job_id = next_due(connection, version, most_running)
            return None if job_id is None else _claim(connection, job_id, owner, version)

    def beat(self, job_id: str, owner: str, phase: str, fraction: float) -> bool:
        """Renews the lease; false when the job is no longer `owner`'s and must be stopped."""
        values = {
            "lease_until": time.time() + outer_limits.LEASE_S,
            "phase": phase,
            "fraction": fraction,
        }
        with self._database.write(lasting=False) as connection:
            statement = update(job).where(_owned(job_id, owner)).values(values)
            return connection.execute(statement).rowcount == 1

    def release(self, job_id: str, owner: str) -> None:
        """Gives a job back that was interrupted through no fault of its own."""
        self._give_back(job_id, owner, attempts=job.c.attempts - 1)

    def wait(
        self, job_id: str, owner: str, waits_for: WaitsFor, *, needs_bytes: int, pause_s: float
    ) -> None:
        """Gives a job back that met a full disk or an absent store: not due for `pause_s`.

        `needs_bytes` is the free room without which it cannot end, as far as known.
        """
        later: dict[str, object] = {"not_before": time.time() + pause_s, "needs_bytes": needs_bytes}
        later["phase"] = waits_for
        self._give_back(job_id, owner, attempts=job.c.attempts - 1, **later)

    def run_again(self, found: Job, owner: str) -> float:
        """Gives a job back that ended by a fault of the machine, and the attempt counts. Answers
        for how many seconds it is not due."""
        pause = pause_s(found.attempts)
        self._give_back(found.id, owner, **_after(pause))
        return pause

    def _give_back(self, job_id: str, owner: str, **values: Any) -> None:
        queued = {"state": QUEUED, "owner": None, "lease_until": None, "phase": "queued"}
        with self._database.write() as connection:
            statement = update(job).where(_owned(job_id, owner))
            connection.execute(statement.values({"fraction": 0.0, **queued, **values}))

    def due(self, version: str, *, older_than_s: float = 0.0) -> list[str]:
        """Jobs to (re)deliver, oldest first; sets their version to `version`.

        Those queued for `older_than_s`, and those whose lease ran out. Their version may be that
        of workers which have been replaced since.
        """
        now = time.time()
        # One that waits for room was given back by its runner: nothing else delivers it.
        waited = or_(job.c.created_at <= now - older_than_s, job.c.not_before.is_not(None))
        queued = and_(job.c.state == QUEUED, waited, _is_past(job.c.not_before, now))
        lost = and_(job.c.state == RUNNING, job.c.lease_until < now)
        with self._database.read() as connection:
            statement = select(job.c.id).where(or_(queued, lost)).order_by(job.c.created_at)
            found = list(connection.execute(statement).scalars())
        if found:
            self._database.change(update(job).where(job.c.id.in_(found)).values(version=version))
        return found

    def take_back(self) -> None:
        """Makes every running job due, after the pause of its attempts: their process ended."""
        lost = select(job.c.id, job.c.attempts).where(job.c.state == RUNNING)
        with self._database.write() as connection:
            for job_id, attempts in connection.execute(lost).all():
                values = {"state": QUEUED, "owner": None, **_after(pause_s(attempts))}
                connection.execute(update(job).where(job.c.id == job_id).values(values))

    def under_way(self, profile_ids: list[str]) -> set[str]:
        """Those of `profile_ids` with a queued or running job."""
        statement = select(job.c.profile_id).where(_UNDER_WAY, job.c.profile_id.in_(profile_ids))
        with self._database.read() as connection:
            return set(connection.execute(statement).scalars())


def _after(pause: float) -> dict[str, object]:
    """The columns of a queued job that waits for so many seconds, if for any."""
    return {"not_before": time.time() + pause, "phase": "machine"} if pause else {}


def insert_job(connection: Connection, profile_id: str, kind: JobKind, version: str) -> str:
    """Adds a queued job; `IntegrityError` if one is under way for the profile."""
    job_id = secrets.token_hex(12)
    values = {"id": job_id, "profile_id": profile_id, "kind": kind, "version": version}
    rest = {"state": QUEUED, "phase": "queued", "fraction": 0.0, "created_at": time.time()}
    connection.execute(insert(job).values(**values, **rest))
    return job_id


def end_job(
    connection: Connection, job_id: str, owner: str, error: RooflineError | None = None
) -> bool:
    """Notes how a job ended; false when it is no longer `owner`'s: its outcome does not count."""
    state = DONE if error is None else FAILED
    values = {"state": state, "owner": None, "lease_until": None, "finished_at": time.time()}
    statement = update(job).where(_owned(job_id, owner)).values(**values, **error_columns(error))
    return connection.execute(statement).rowcount == 1


def is_owned(connection: Connection, job_id: str, owner: str) -> bool:
    """True while `owner` runs the job."""
    return connection.execute(select(job.c.id).where(_owned(job_id, owner))).first() is not None


def cancel_jobs(connection: Connection, profile_id: str, error: RooflineError) -> bool:
    """Cancels what is under way for a profile; false when nothing is."""
    statement = (
        update(job)
        .where(job.c.profile_id == profile_id, _UNDER_WAY)
        .values(state=CANCELLED, owner=None, finished_at=time.time(), **error_columns(error))
    )
    return connection.execute(statement).rowcount > 0


def count_jobs(connection: Connection) -> dict[str, int]:
    """How many jobs there are in each state."""
    statement = select(job.c.state, func.count()).group_by(job.c.state)
    return {str(state): int(count) for state, count in connection.execute(statement)}


def _claim(connection: Connection, job_id: str, owner: str, version: str) -> Job | None:
    now = time.time()
    expired = and_(job.c.state == RUNNING, job.c.lease_until < now)
    statement = (
        update(job)
        .where(job.c.id == job_id, job.c.version == version)
        .where(or_(and_(job.c.state == QUEUED, _is_past(job.c.not_before, now)), expired))
        .values(
            state=RUNNING,
            owner=owner,
            lease_until=now + outer_limits.LEASE_S,
            attempts=job.c.attempts + 1,
            phase="queued",
            fraction=0.0,
        )
    )
    if connection.execute(statement).rowcount != 1:
        return None
    return _job(connection.execute(select(job).where(job.c.id == job_id)).one())


def _is_past(moment: Any, now: float) -> Any:
    return or_(moment.is_(None), moment <= now)


def _owned(job_id: str, owner: str) -> Any:
    return and_(job.c.id == job_id, job.c.owner == owner, job.c.state == RUNNING)


def _job(row: "Row[Any]") -> Job:
    return alike(Job, row, error=error_of(row))


# Imports that ended before no longer count.
REMEMBERED_S = 24 * 3600.0


def next_due(connection: Connection, version: str, most_running: int | None) -> str | None:
    """The id of the job to run next, `None` where none is due for code of this `version`.

    No import of a person of whom `most_running` run already; `None` for any number.
    """
    now = time.time()
    served = _served(now).subquery()
    running, ended = func.coalesce(served.c.running, 0), func.coalesce(served.c.ended, 0.0)
    is_free = or_(job.c.not_before.is_(None), job.c.not_before <= now)
    is_lost = and_(job.c.state == RUNNING, job.c.lease_until < now)
    wanted = (
        select(job.c.id)
        .join(profile)
        .join(served, served.c.person == _PERSON, isouter=True)
        .where(job.c.version == version, or_(and_(job.c.state == QUEUED, is_free), is_lost))
        .order_by(job.c.kind == "import", running, ended, job.c.created_at, job.c.id)
        .limit(1)
    )
    if most_running is not None:
        wanted = wanted.where(or_(job.c.kind != "import", running < most_running))
    found = connection.execute(wanted).scalar()
    return None if found is None else str(found)


_PERSON = func.coalesce(profile.c.uploader, "")


def _served(now: float) -> "Select[tuple[str, int, float]]":
    """Of each person: imports that run now, and when the last one ended, in Unix seconds."""
    one, of = job.alias(), profile.alias()
    person = func.coalesce(of.c.uploader, "").label("person")
    runs = and_(one.c.state == RUNNING, one.c.lease_until >= now)
    running = func.sum(case((runs, 1), else_=0)).label("running")
    ended = cast(func.max(one.c.finished_at), Float).label("ended")
    counts = or_(one.c.state == RUNNING, one.c.finished_at > now - REMEMBERED_S)
    joined = one.join(of, one.c.profile_id == of.c.id)
    return select(person, running, ended).select_from(joined).where(counts).group_by(person)

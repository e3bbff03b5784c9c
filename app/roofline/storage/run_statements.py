"""Statements on single runs and their hosts."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    case,
    func,
    insert,
    or_,
    select,
    update,
)

from roofline.storage.database import insert_new
from roofline.storage.records import Ownership
from roofline.storage.run_records import (
    NOT_A_HOST,
    READ,
    READING,
    UNREADABLE,
    WAITING,
    FoundHost,
    NewRun,
    Run,
    RunHost,
    TrashedRun,
)
from roofline.storage.staging import StagedFile
from roofline.storage.tables import run, run_host

MOST_TRASHED_LISTED = 1000


def add(connection: Connection, new: NewRun, now: float) -> None:
    """A run without hosts yet."""
    values = {name: getattr(new, name) for name in NewRun.__slots__}
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
    return None if row is None else run_of(row)


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
    return tuple(TrashedRun(**row._mapping) for row in rows)


def run_of(row: "Row[Any]") -> Run:
    """A row of `counted`."""
    return Run(**{name: getattr(row, name) for name in Run.__slots__})


def ownership(connection: Connection, run_id: str, *, in_trash: bool = False) -> Ownership | None:
    """The owner of a run that is not in the trash, or of one that is."""
    columns = select(run.c.uploader, run.c.delete_token_hash, run.c.visibility)
    place = run.c.trashed_at.is_not(None) if in_trash else run.c.trashed_at.is_(None)
    wanted = columns.where(run.c.id == run_id, place)
    row = connection.execute(wanted).first()
    return None if row is None else Ownership(**row._mapping)


def host_of(row: "Row[Any]") -> RunHost:
    """A row of `run_host`."""
    return RunHost(**{name: getattr(row, name) for name in RunHost.__slots__})


def add_found(connection: Connection, run_id: str, found: list[FoundHost], now: float) -> int:
    """Adds objects that are not known yet; how many were new."""
    known = set(
        connection.execute(select(run_host.c.identity).where(run_host.c.run_id == run_id)).scalars()
    )
    rows = [
        {name: getattr(one, name) for name in FoundHost.__slots__}
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
            "name": file.name,
            "size_bytes": file.size_bytes,
            "stored_bytes": file.stored_bytes,
            "sha256": file.sha256,
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

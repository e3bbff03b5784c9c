"""Sign-ins: people that a provider vouched for, and sessions that ended before their time.

A provider names people by an id that never changes, which says nothing to a reader; e-mail
addresses and names change. So the name of the first log-in stays, with a mark of the id.

A log-out holds for every copy of a cookie. Each request asks, so the answer comes from memory.
Other servers of the same database learn of a log-out when they `refresh`.
"""

import hashlib
import time

from sqlalchemy import delete, select, update

from roofline.storage.database import Database, insert_new
from roofline.storage.tables import ended_session, person

MARK_LENGTH = 16


class People:
    """The people in `database`, by a digest of issuer and id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def log_in(self, digest: str, *, shown: str, is_admin: bool) -> str:
        """Notes a log-in; what the person's profiles remember of their uploader."""
        row = {"digest": digest, "owner": f"{shown}#{digest[:MARK_LENGTH]}"}
        now = {"is_admin": is_admin, "seen_at": time.time()}
        with self._database.write() as connection:
            connection.execute(insert_new(connection, person).values(**row, **now))
            known = person.c.digest == digest
            connection.execute(update(person).where(known).values(**now))
            return str(connection.execute(select(person.c.owner).where(known)).scalar_one())

    def is_admin(self, owner: str) -> bool:
        """True if the person was an administrator at the last log-in."""
        wanted = select(person.c.is_admin).where(person.c.owner == owner)
        with self._database.read() as connection:
            return bool(connection.execute(wanted).scalar())


class EndedSessions:
    """The ended sessions in `database`; only digests of their ids are stored."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._marks: frozenset[str] = frozenset()

    def has(self, session_id: str) -> bool:
        """True if the session was ended."""
        return bool(self._marks) and _mark(session_id) in self._marks

    def end(self, session_id: str, *, over_s: float) -> None:
        """Ends a session. `over_s` is when it would be over by itself, in Unix seconds."""
        mark = _mark(session_id)
        with self._database.write() as connection:
            row = {"mark": mark, "over_s": over_s}
            connection.execute(insert_new(connection, ended_session).values(row))
        self._marks |= {mark}

    def refresh(self) -> None:
        """Reads what other servers ended, and forgets sessions that are over by themselves."""
        wanted = select(ended_session.c.mark).where(ended_session.c.over_s > time.time())
        with self._database.read() as connection:
            self._marks = frozenset(connection.execute(wanted).scalars())

    def sweep(self) -> None:
        """Deletes the rows of sessions that are over by themselves."""
        with self._database.write() as connection:
            over = ended_session.c.over_s <= time.time()
            connection.execute(delete(ended_session).where(over))


def _mark(session_id: str) -> str:
    return hashlib.sha256(session_id.encode()).hexdigest()

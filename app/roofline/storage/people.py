"""People that a sign-in provider vouched for, and what their profiles remember of them.

A provider names people by an id that never changes, which says nothing to a reader; e-mail
addresses and names change. So the name of the first log-in stays, with a mark of the id.
"""

import time

from sqlalchemy import select, update

from roofline.storage.database import Database, insert_new
from roofline.storage.tables import person

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

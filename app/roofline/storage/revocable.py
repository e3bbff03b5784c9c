"""Rows that are valid until they are revoked or over, and whose last use is noted.

Such are the tokens of tools and the share links. Their tables have the columns `id`, `expires_at`,
`used_at` and `revoked_at`, all times in Unix seconds.
"""

from sqlalchemy import ColumnElement, Table, or_, update

from roofline.storage.database import Database


def is_valid(table: Table, now: float) -> ColumnElement[bool]:
    """True for rows of `table` that are neither revoked nor over."""
    lasts = or_(table.c.expires_at.is_(None), table.c.expires_at > now)
    return table.c.revoked_at.is_(None) & lasts


class LastUses:
    """The last uses of rows of `table`: noted in memory, written down now and then. Any thread."""

    def __init__(self, database: Database, table: Table) -> None:
        self._database = database
        self._table = table
        self._used: dict[str, float] = {}

    def note(self, row_id: str, now: float) -> None:
        """Notes a use, to be written down later."""
        self._used[row_id] = now

    def write_down(self) -> None:
        """Writes the noted uses to the database, where they are newer than those there."""
        used, self._used = self._used, {}
        if not used:
            return
        columns = self._table.c
        with self._database.write() as connection:
            for row_id, at in used.items():
                newer = or_(columns.used_at.is_(None), columns.used_at < at)
                statement = update(self._table).where(columns.id == row_id, newer)
                connection.execute(statement.values(used_at=at))

"""Notes that people keep with a profile, each on one operation or one point of the program."""

import hashlib
from dataclasses import dataclass

import orjson
from sqlalchemy import bindparam, delete, func, insert, select

from roofline.errors import BadEditError
from roofline.model.plain_data import alike, taken
from roofline.storage.database import Database
from roofline.storage.tables import point_note

MOST_NOTES = 200
"""Of one profile."""

_ID_LENGTH = 16
_NOTES = (
    select(point_note)
    .where(point_note.c.profile_id == bindparam("one"))
    .order_by(point_note.c.at, point_note.c.mark)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointNote:
    """A note on a point. `kind` is "operation" or "program"; `name` is the operation's, or the
    label of the program point. `program` tells operations of one name apart, where it is known.
    `at` is ISO 8601 in UTC; `author` is the owner key of the person, empty where it is not known.
    """

    kind: str
    name: str
    program: str
    text: str
    author: str
    at: str

    @property
    def id(self) -> str:
        """Tells the point from others of its profile."""
        content = orjson.dumps((self.kind, self.program, self.name))
        return hashlib.sha256(content).hexdigest()[:_ID_LENGTH]


class PointNotes:
    """Notes in `database`. For any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, profile_id: str) -> list[PointNote]:
        """The notes of a profile, the oldest first."""
        with self._database.read() as connection:
            return [
                alike(PointNote, row) for row in connection.execute(_NOTES, {"one": profile_id})
            ]

    def put(self, profile_id: str, note: PointNote) -> None:
        """Keeps a note in the place of the point's former one.

        Raises `BadEditError` where the profile has as many as it may have.
        """
        mine = point_note.c.profile_id == profile_id
        row = {
            "profile_id": profile_id,
            "mark": note.id,
            **taken(note, "kind", "name", "program", "text", "author", "at"),
        }
        with self._database.write() as connection:
            connection.execute(delete(point_note).where(mine, point_note.c.mark == note.id))
            count = select(func.count()).select_from(point_note).where(mine)
            if connection.execute(count).scalar_one() >= MOST_NOTES:
                raise BadEditError(
                    f"A profile keeps {MOST_NOTES} notes on its points.",
                    remedy="Remove some of them.",
                )
            connection.execute(insert(point_note).values(row))

    def remove(self, profile_id: str, note_id: str) -> bool:
        """Removes a note; false where there is none."""
        with self._database.write() as connection:
            gone = connection.execute(
                delete(point_note).where(
                    point_note.c.profile_id == profile_id, point_note.c.mark == note_id
                )
            )
            return gone.rowcount == 1

"""The ledger of advice in the database: decisions with their profile, hits without one."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import (
    Connection,
    Result,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from roofline.errors import BadEditError
from roofline.storage.database import Database
from roofline.storage.tables import advice_decision, advice_hit, profile
from roofline.storage.visibility import Viewer, is_hidden_from, is_seen_by

MOST_DECISIONS = 500
"""Of one profile."""

MOST_HITS = 100_000

HitRow = tuple[str, str, float]
"""Rule, device, and measured over predicted."""


class AdviceLedger:
    """Decisions on findings as JSON, and hits, in `database`. For any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, profile_id: str) -> list[bytes]:
        """The documents of what was decided of a profile's findings, in a fixed order."""
        with self._database.read() as connection:
            return _texts(connection.execute(_OF, {"one": profile_id}))

    def around(
        self, profile_id: str, viewer: Viewer
    ) -> tuple[list[bytes], list[bytes], list[HitRow]]:
        """`every`, `of` and `hits` at one moment."""
        with self._database.read() as connection:
            return (
                _texts(connection.execute(_every(viewer))),
                _texts(connection.execute(_OF, {"one": profile_id})),
                _hits(connection.execute(_HITS)),
            )

    def every(self, viewer: Viewer) -> list[bytes]:
        """The documents of all profiles that `viewer` sees, and that are not in the trash."""
        with self._database.read() as connection:
            return _texts(connection.execute(_every(viewer)))

    def is_empty(self) -> bool:
        """True where no finding was accepted or dismissed."""
        with self._database.read() as connection:
            return connection.execute(select(advice_decision.c.mark).limit(1)).first() is None

    def hidden_from(self, viewer: Viewer) -> set[str]:
        """The profiles that `viewer` does not see: their measurements are not told."""
        with self._database.read() as connection:
            rows = connection.execute(select(profile.c.id).where(is_hidden_from(viewer)))
            return set(rows.scalars())

    def put(self, profile_id: str, finding: str, document: bytes) -> None:
        """Notes a decision, in the place of the finding's former one; `BadEditError` where the
        profile has as many as it may have."""
        key, mine = (profile_id, finding), advice_decision.c.profile_id == profile_id
        with self._database.write() as connection:
            connection.execute(
                delete(advice_decision).where(mine, advice_decision.c.mark == _mark(key))
            )
            count = connection.execute(
                select(func.count()).select_from(advice_decision).where(mine)
            ).scalar_one()
            if count >= MOST_DECISIONS:
                raise BadEditError(
                    f"Decisions are kept for {MOST_DECISIONS} findings of a profile.",
                    remedy="Take some of them back.",
                )
            row = {"profile_id": profile_id, "mark": _mark(key), "document": document.decode()}
            connection.execute(insert(advice_decision).values(row))

    def forget(self, profile_id: str, finding: str) -> bool:
        """Takes a decision back; false where there is none. Hits stay."""
        with self._database.write() as connection:
            gone = connection.execute(
                delete(advice_decision).where(
                    advice_decision.c.profile_id == profile_id,
                    advice_decision.c.mark == _mark((profile_id, finding)),
                )
            )
            return gone.rowcount == 1

    def forget_hidden(self, connection: Connection, profile_id: str) -> None:
        """Forgets what a profile measured that is about to go, if it is hidden from anybody."""
        table = advice_decision
        named = table.c.document.contains(profile_id, autoescape=True)
        hidden = exists().where(profile.c.id == profile_id, is_hidden_from(Viewer()))
        found = select(table.c.mark, table.c.document).where(named, hidden)
        for mark, text in connection.execute(found).all():
            told = orjson.loads(text)
            if (told.get("measured") or {}).get("profile") == profile_id:
                values = {"document": orjson.dumps({**told, "measured": None}).decode()}
                connection.execute(update(table).where(table.c.mark == mark).values(values))

    def hits(self) -> list[HitRow]:
        """All hits."""
        with self._database.read() as connection:
            return _hits(connection.execute(_HITS))

    def put_hits(self, hits: Sequence[tuple[tuple[str, str], HitRow]]) -> None:
        """Notes hits by what they are one of: the profile and the finding, of which a digest is
        stored. Raises `BadEditError` where there are too many."""
        rows = {
            _mark(key): {"mark": _mark(key), "rule": rule, "device": device, "ratio": ratio}
            for key, (rule, device, ratio) in hits
        }
        if not rows:
            return
        with self._database.write() as connection:
            connection.execute(delete(advice_hit).where(advice_hit.c.mark.in_([*rows])))
            count = connection.execute(select(func.count()).select_from(advice_hit)).scalar_one()
            if count + len(rows) > MOST_HITS:
                raise BadEditError(f"The ledger keeps {MOST_HITS:,} hits.", remedy="Import fewer.")
            connection.execute(insert(advice_hit), list(rows.values()))


_OF = (
    select(advice_decision.c.document)
    .where(advice_decision.c.profile_id == bindparam("one"))
    .order_by(advice_decision.c.mark)
)
_HITS = select(advice_hit.c.rule, advice_hit.c.device, advice_hit.c.ratio).order_by(
    advice_hit.c.mark
)


@lru_cache(maxsize=256)
def _every(viewer: Viewer) -> "Select[Any]":
    return (
        select(advice_decision.c.document)
        .join(profile, profile.c.id == advice_decision.c.profile_id)
        .where(profile.c.trashed_at.is_(None), is_seen_by(viewer))
        .order_by(advice_decision.c.profile_id, advice_decision.c.mark)
    )


def _texts(found: "Result[Any]") -> list[bytes]:
    return [document.encode() for (document,) in found]


def _hits(found: "Result[Any]") -> list[HitRow]:
    return [(row.rule, row.device, row.ratio) for row in found]


def _mark(key: tuple[str, str]) -> str:
    return hashlib.sha256(orjson.dumps(key)).hexdigest()

"""Share links: each shows one profile to anyone who holds it, until it is revoked or over.

Every use asks the database, so a revoked link is over at once on all servers. When links were used
last is written down by `refresh`.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from roofline.errors import BadEditError
from roofline.storage.database import Database
from roofline.storage.revocable import LastUses, is_valid
from roofline.storage.tables import share_link

MOST_LINKS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLink:
    """One link without its secret. Times are Unix seconds; `None` is never.

    `used_at` is exact to some seconds.
    """

    id: str
    profile_id: str
    name: str
    maker: str
    created_at: float
    expires_at: float | None
    used_at: float | None


class ShareLinks:
    """The links in `database`; only digests of their secrets are stored. For any thread."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._uses = LastUses(database, share_link)

    def find(self, digest: str) -> ShareLink | None:
        """The valid link with this digest; that it was used now is written down later."""
        now = self._clock()
        wanted = select(share_link).where(share_link.c.digest == digest, is_valid(share_link, now))
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        if row is None:
            return None
        self._uses.note(row.id, now)
        return _link(row)

    def add(
        self, digest: str, *, profile_id: str, name: str, maker: str, expires_at: float | None
    ) -> ShareLink:
        """A new link; `BadEditError` when the profile has as many as one may have."""
        now = self._clock()
        new = ShareLink(
            id=secrets.token_hex(8),
            profile_id=profile_id,
            name=name,
            maker=maker,
            created_at=now,
            expires_at=expires_at,
            used_at=None,
        )
        kept = select(func.count()).where(
            share_link.c.profile_id == profile_id, is_valid(share_link, now)
        )
        with self._database.write() as connection:
            if connection.execute(kept).scalar_one() >= MOST_LINKS:
                raise BadEditError(
                    f"This profile has {MOST_LINKS} share links, as many as it may have.",
                    remedy="Revoke those that are no longer used.",
                )
            connection.execute(
                insert(share_link).values(
                    id=new.id,
                    digest=digest,
                    profile_id=profile_id,
                    name=name,
                    maker=maker,
                    created_at=now,
                    expires_at=expires_at,
                )
            )
        return new

    def list(self, profile_id: str) -> tuple[ShareLink, ...]:
        """The links of a profile that were not revoked, newest first."""
        self.refresh()
        wanted = select(share_link).where(
            share_link.c.profile_id == profile_id, share_link.c.revoked_at.is_(None)
        )
        ordered = wanted.order_by(share_link.c.created_at.desc(), share_link.c.id)
        with self._database.read() as connection:
            return tuple(map(_link, connection.execute(ordered)))

    def revoke(self, profile_id: str, link_id: str) -> bool:
        """Ends a link of a profile; false when there is none to end."""
        statement = update(share_link).where(
            share_link.c.id == link_id,
            share_link.c.profile_id == profile_id,
            share_link.c.revoked_at.is_(None),
        )
        with self._database.write() as connection:
            return connection.execute(statement.values(revoked_at=self._clock())).rowcount == 1

    def refresh(self) -> None:
        """Writes down when links were used."""
        self._uses.write_down()


def _link(row: "Row[Any]") -> ShareLink:
    return ShareLink(
        id=row.id,
        profile_id=row.profile_id,
        name=row.name,
        maker=row.maker,
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
    )

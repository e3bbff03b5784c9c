"""Share links: each shows one profile to anyone who holds it, until it is revoked or over.

One that an API token made is over when that is. Every use asks the database, so a revoked link is
over at once on all servers. When links were used last is written down by `refresh`.
"""

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, func, insert, or_, select, update

from roofline.errors import BadEditError
from roofline.storage.database import Database
from roofline.storage.revocable import LastUses, is_valid
from roofline.storage.tables import api_token, share_link

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
    """The links in `database`; only digests of their secrets are stored. For any thread.

    None lasts longer than `longest_s` seconds, whenever it was made; `math.inf` is for ever.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = time.time,
        longest_s: float = math.inf,
    ) -> None:
        self._database = database
        self._longest_s = longest_s
        self._clock = clock
        self._uses = LastUses(database, share_link)

    def find(self, digest: str) -> ShareLink | None:
        """The valid link with this digest; that it was used now is written down later."""
        now = self._clock()
        wanted = select(share_link).where(share_link.c.digest == digest, *self._valid(now))
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        if row is None:
            return None
        self._uses.note(row.id, now)
        return self._link(row)

    def _valid(self, now: float) -> list[ColumnElement[bool]]:
        """True for links that are not over, and whose token is not."""
        valid_tokens = select(api_token.c.id).where(is_valid(api_token, now))
        of_token = or_(share_link.c.token_id.is_(None), share_link.c.token_id.in_(valid_tokens))
        found = [is_valid(share_link, now), of_token]
        if self._longest_s < math.inf:
            found.append(share_link.c.created_at > now - self._longest_s)
        return found

    def add(
        self,
        digest: str,
        *,
        profile_id: str,
        name: str,
        maker: str,
        expires_at: float | None,
        token_id: str | None = None,
    ) -> ShareLink:
        """A new link; `BadEditError` when the profile has as many as one may have."""
        now = self._clock()
        values = {
            "id": secrets.token_hex(8),
            "digest": digest,
            "profile_id": profile_id,
            "name": name,
            "maker": maker,
            "created_at": now,
            "expires_at": expires_at,
            "token_id": token_id,
        }
        kept = select(func.count()).where(share_link.c.profile_id == profile_id, *self._valid(now))
        with self._database.write() as connection:
            if connection.execute(kept).scalar_one() >= MOST_LINKS:
                raise BadEditError(
                    f"This profile has {MOST_LINKS} share links, as many as it may have.",
                    remedy="Revoke those that are no longer used.",
                )
            connection.execute(insert(share_link).values(**values))
            wanted = select(share_link).where(share_link.c.id == values["id"])
            return self._link(connection.execute(wanted).one())

    def list(self, profile_id: str) -> tuple[ShareLink, ...]:
        """The links of a profile that were not revoked, nor their tokens, newest first."""
        self.refresh()
        ended = select(api_token.c.id).where(~is_valid(api_token, self._clock()))
        wanted = select(share_link).where(
            share_link.c.profile_id == profile_id,
            share_link.c.revoked_at.is_(None),
            or_(share_link.c.token_id.is_(None), share_link.c.token_id.not_in(ended)),
        )
        ordered = wanted.order_by(share_link.c.created_at.desc(), share_link.c.id)
        with self._database.read() as connection:
            return tuple(map(self._link, connection.execute(ordered)))

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

    def _link(self, row: "Row[Any]") -> ShareLink:
        latest = row.created_at + self._longest_s
        ends_at = latest if row.expires_at is None else min(row.expires_at, latest)
        return ShareLink(
            id=row.id,
            profile_id=row.profile_id,
            name=row.name,
            maker=row.maker,
            created_at=row.created_at,
            expires_at=ends_at if ends_at < math.inf else None,
            used_at=row.used_at,
        )

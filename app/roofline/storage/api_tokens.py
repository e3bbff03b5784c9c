"""Tokens that people make for their tools: named, limited, with an end, and to be revoked.

Each request asks, so the answer comes from memory. Other servers of the same database learn of a
new or revoked token when they `refresh`; that also writes down when tokens were used last.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Row, func, insert, select, update

from roofline.errors import BadEditError
from roofline.storage.database import Database
from roofline.storage.revocable import LastUses, is_valid
from roofline.storage.tables import api_token

Scope = Literal["read", "upload", "share", "admin"]

MOST_TOKENS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """One token without its secret. Times are Unix seconds; `None` is never.

    `owner` is what a profile remembers of its uploader. `used_at` is exact to some seconds.
    """

    id: str
    name: str
    owner: str
    scope: Scope
    created_at: float
    expires_at: float | None
    used_at: float | None
    revoked_at: float | None

    def is_valid(self, now: float) -> bool:
        """True until it is revoked or over."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class ApiTokens:
    """The tokens in `database`; only digests of them are stored. For any thread."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._valid: Mapping[str, ApiToken] = {}
        self._uses = LastUses(database, api_token)
        # A revocation counts although an earlier reading ends after it.
        self._lock = threading.Lock()

    def find(self, digest: str) -> ApiToken | None:
        """The valid token with this digest; that it was used now is written down later."""
        found = self._valid.get(digest)
        now = self._clock()
        if found is None or not found.is_valid(now):
            return None
        self._uses.note(found.id, now)
        return found

    def add(
        self, digest: str, *, name: str, owner: str, scope: Scope, expires_at: float | None
    ) -> ApiToken:
        """A new token; `BadEditError` when `owner` has as many as one may have."""
        now = self._clock()
        values = {"id": secrets.token_hex(8), "digest": digest, "name": name, "owner": owner}
        rest = {"scope": scope, "created_at": now, "expires_at": expires_at}
        with self._lock, self._database.write() as connection:
            kept = select(func.count()).where(api_token.c.owner == owner, is_valid(api_token, now))
            if connection.execute(kept).scalar_one() >= MOST_TOKENS:
                raise BadEditError(
                    f"You have {MOST_TOKENS} tokens, as many as one person may have.",
                    remedy="Revoke those that are no longer used.",
                )
            connection.execute(insert(api_token).values(**values, **rest))
            wanted = select(api_token).where(api_token.c.id == values["id"])
            added = _token(connection.execute(wanted).one())
            self._valid = {**self._valid, digest: added}
        return added

    def list(self, owner: str | None) -> tuple[ApiToken, ...]:
        """The tokens of `owner`, or of everybody, newest first; not those that are revoked."""
        wanted = select(api_token).where(api_token.c.revoked_at.is_(None))
        if owner is not None:
            wanted = wanted.where(api_token.c.owner == owner)
        ordered = wanted.order_by(api_token.c.created_at.desc(), api_token.c.id)
        self._uses.write_down()
        with self._database.read() as connection:
            return tuple(map(_token, connection.execute(ordered)))

    def revoke(self, token_id: str, owner: str | None) -> bool:
        """Ends a token of `owner`, or of anybody; false when there is none to end."""
        wanted = update(api_token).where(
            api_token.c.id == token_id, api_token.c.revoked_at.is_(None)
        )
        if owner is not None:
            wanted = wanted.where(api_token.c.owner == owner)
        with self._lock:
            with self._database.write() as connection:
                ended = connection.execute(wanted.values(revoked_at=self._clock())).rowcount == 1
            kept = self._valid.items()
            self._valid = {
                digest: one for digest, one in kept if not (ended and one.id == token_id)
            }
        return ended

    def refresh(self) -> None:
        """Reads what other servers changed, and writes down when tokens were used."""
        with self._lock, self._database.read() as connection:
            rows = connection.execute(
                select(api_token).where(is_valid(api_token, self._clock()))
            ).all()
            self._valid = {row.digest: _token(row) for row in rows}
        self._uses.write_down()


def _token(row: "Row[Any]") -> ApiToken:
    return ApiToken(
        id=row.id,
        name=row.name,
        owner=row.owner,
        scope=row.scope,
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
    )

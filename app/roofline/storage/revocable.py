"""Rows that are valid until they are revoked or over, and whose last use is noted.

Such are the tokens of tools and the share links. Their tables have the columns `id`, `expires_at`,
`used_at` and `revoked_at`, all times in Unix seconds.

Tokens that people make for their tools: named, limited, with an end, and to be revoked.

Each request asks, so the answer comes from memory. Other servers of the same database learn of a
new or revoked token when they `refresh`; that also writes down when tokens were used last.

Share links: each shows one profile to anyone who holds it, until it is revoked or over.

One that an API token made is over when that is. Every use asks the database, so a revoked link is
over at once on all servers. When links were used last is written down by `refresh`.

Sign-ins: people that a provider vouched for, and sessions that ended before their time.

A provider names people by an id that never changes, which says nothing to a reader; e-mail
addresses and names change. So the name of the first log-in stays, with a mark of the id.

A log-out holds for every copy of a cookie. Each request asks, so the answer comes from memory.
Other servers of the same database learn of a log-out when they `refresh`.
"""

import hashlib
import math
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, Table, delete, func, insert, or_, select, update

from roofline.errors import BadEditError
from roofline.model.plain_data import alike
from roofline.storage.database import Database, insert_new
from roofline.storage.tables import api_token, ended_session, person, share_link


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


Scope = Literal["read", "upload", "share", "capture", "admin"]

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
        return tuple(map(_token, self._database.rows(ordered)))

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
    return alike(ApiToken, row)


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
        return self._database.change(statement.values(revoked_at=self._clock())) == 1

    def refresh(self) -> None:
        """Writes down when links were used."""
        self._uses.write_down()

    def _link(self, row: "Row[Any]") -> ShareLink:
        latest = row.created_at + self._longest_s
        ends_at = latest if row.expires_at is None else min(row.expires_at, latest)
        return alike(ShareLink, row, expires_at=ends_at if ends_at < math.inf else None)


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

"""Questions about profiles: one of them, lists of them, and sizes of the whole store."""

from collections import Counter
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, and_, func, select

from roofline.storage import checks, statements, trash
from roofline.storage.database import Database
from roofline.storage.jobs import count_jobs
from roofline.storage.records import (
    FAILED,
    IMPORTING,
    QUEUED,
    READY,
    TRASHED,
    Listing,
    Manifest,
    Ownership,
    Pending,
    ProfileId,
    StoreStats,
    Trashed,
)
from roofline.storage.search_text import has_word
from roofline.storage.statements import HOLDS_FILES
from roofline.storage.tables import file, op_shares, profile, tag
from roofline.storage.visibility import ALL_SEEING, Viewer, is_hidden_from, is_seen_by

SORTS = {
    "title": func.lower(profile.c.title),
    "device": profile.c.device,
    "share": profile.c.efficiency_ratio,
    "added": profile.c.created_at,
}
"""The orders of lists; unknown values come last in both directions."""


class ProfileQueries:
    """Questions to `database` about profiles. Safe to use from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # A ready profile stays so until it is removed, by this process alone unless it shares.
        self._ready: set[str] = set()

    def get(self, profile_id: str) -> Manifest | Pending | None:
        """A profile, or `None` when there is none of this id."""
        with self._database.read() as connection:
            return statements.get(connection, profile_id)

    def is_ready(self, profile_id: str) -> bool:
        """True once a profile was imported: missing results can then be computed again."""
        if profile_id in self._ready:
            return True
        with self._database.read() as connection:
            is_ready = statements.state(connection, profile_id) == READY
        if is_ready and not self._database.is_shared:
            self._ready.add(profile_id)
        return is_ready

    def forget(self, profile_id: str) -> None:
        """The profile is being removed: call it before its rows are gone for others."""
        self._ready.discard(profile_id)

    def failed_uploads(self, uploader: str, limit: int | None) -> tuple[Pending, ...]:
        """Uploads of a person that failed and whose files are kept, the newest first."""
        with self._database.read() as connection:
            return statements.failed_uploads(connection, uploader, limit)

    def ownership(self, profile_id: str) -> Ownership | None:
        """The owner of a profile, in any state; `None` when there is no such profile."""
        with self._database.read() as connection:
            return statements.ownership(connection, profile_id)

    def trashed(self, owner: str | None) -> tuple[Trashed, ...]:
        """The content of the trash of `owner`, or of everybody, the newest first."""
        with self._database.read() as connection:
            return trash.contents(connection, owner)

    def by_sample(self, key: str) -> ProfileId | None:
        """The profile made from the bundled sample `key`, if it was opened before."""
        with self._database.read() as connection:
            return statements.by_sample(connection, key)

    def search(
        self,
        text: str = "",
        *,
        tag: str = "",
        device: str = "",
        offset: int = 0,
        limit: int = 50,
        sort: str = "",
        viewer: Viewer = ALL_SEEING,
    ) -> Listing:
        """Ready profiles that `viewer` sees with every word of `text`, pinned first, then newest.

        `sort` is one of `SORTS`, with "-" in front for the other direction: then pins do not count.

        Words are looked for in title, note, tags, device, uploader and file names.
        """
        wanted = and_(
            profile.c.state == READY,
            *(has_word(word) for word in text.split()),
            *([_has_tag(tag)] if tag else []),
            *([profile.c.device == device] if device else []),
        )
        count = select(func.count()).select_from(profile).where(wanted)
        page = select(profile).where(wanted).order_by(*_order(sort)).offset(offset).limit(limit)
        with self._database.read() as connection:
            if not viewer.sees_all:
                page = page.where(is_seen_by(viewer))
            found = statements.manifests(connection, page)
            # A list that ends here has told its length: counting looks at every profile.
            if len(found) < limit and (found or not offset):
                return Listing(profiles=found, total=offset + len(found))
            total = connection.execute(count).scalar_one()
            if not viewer.sees_all:  # an index counts all, and the hidden ones are few
                total -= connection.execute(count.where(is_hidden_from(viewer))).scalar_one()
            return Listing(profiles=found, total=total)

    def op_shares(
        self, profile_id: str, limit: int, viewer: Viewer = ALL_SEEING
    ) -> dict[str, dict[str, float]]:
        """Shares of the time by operation, by profile: of this one, and of the `limit` newest ready
        ones that `viewer` sees. One that was stored by an earlier release has none.
        """
        newest = (
            select(profile.c.id, op_shares.c.shares)
            .join(op_shares, op_shares.c.profile_id == profile.c.id)
            .where(profile.c.state == READY)
        )
        ordered = newest.order_by(*_order("")[1:]).limit(limit)
        seen = ordered if viewer.sees_all else ordered.where(is_seen_by(viewer))
        with self._database.read() as connection:
            rows = [
                *connection.execute(newest.where(profile.c.id == profile_id)),
                *connection.execute(seen),
            ]
        return {row.id: orjson.loads(row.shares) for row in rows}

    def frequent_tags(self, limit: int, viewer: Viewer = ALL_SEEING) -> tuple[tuple[str, int], ...]:
        """The tags of the most ready profiles that `viewer` sees, and how many have each.

        The most frequent is the first.
        """
        # Of all profiles, which an index counts, without the few that are not ready or not seen.
        every = select(tag.c.name, func.count()).group_by(tag.c.name)
        joined = every.select_from(profile.join(tag, tag.c.profile_id == profile.c.id))
        others = [joined.where(profile.c.state.in_([IMPORTING, FAILED, TRASHED]))]
        if not viewer.sees_all:
            others.append(joined.where(profile.c.state == READY, is_hidden_from(viewer)))
        with self._database.read() as connection:
            counts = Counter(dict(map(tuple, connection.execute(every))))
            for few in others:
                counts.subtract(dict(map(tuple, connection.execute(few))))
        found = sorted((-count, name) for name, count in counts.items() if count > 0)
        return tuple((name, -count) for count, name in found[:limit])

    def stats(self) -> StoreStats:
        """Sizes of the store and of its queue."""
        with self._database.read() as connection:
            count, raw_bytes, stored_bytes = _sizes(connection)
            jobs = count_jobs(connection)
            damaged = checks.damaged_files(connection)
            scrubs = checks.scrub_states(connection)
        return StoreStats(
            profile_count=count,
            raw_bytes=raw_bytes,
            stored_bytes=stored_bytes,
            queued_jobs=jobs.get(QUEUED, 0),
            damaged_files=len(damaged),
            scrubs=scrubs,
        )


def _has_tag(name: str) -> ColumnElement[bool]:
    return profile.c.id.in_(select(tag.c.profile_id).where(tag.c.name == name))


def _sizes(connection: Connection) -> tuple[int, int, int]:
    """Number of ready profiles, bytes of all files, and bytes kept (shared ones once)."""
    count = connection.execute(
        select(func.count()).select_from(profile).where(profile.c.state == READY)
    ).scalar_one()
    raw = select(func.coalesce(func.sum(file.c.size_bytes), 0)).join(profile).where(HOLDS_FILES)
    kept = func.max(func.coalesce(file.c.stored_bytes, file.c.size_bytes)).label("kept")
    each = select(kept).join(profile).where(HOLDS_FILES).group_by(file.c.sha256).subquery()
    stored = select(func.coalesce(func.sum(each.c.kept), 0))
    raw_bytes, stored_bytes = (connection.execute(one).scalar_one() for one in (raw, stored))
    return count, int(raw_bytes), int(stored_bytes)


def _order(sort: str) -> tuple[ColumnElement[Any], ...]:
    newest = profile.c.created_at.desc(), profile.c.number.desc()
    by = SORTS.get(sort.removeprefix("-"))
    if by is None:
        return profile.c.pinned.desc(), *newest
    return by.is_(None), by.desc() if sort.startswith("-") else by.asc(), *newest

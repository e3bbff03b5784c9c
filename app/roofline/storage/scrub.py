"""The regular check of everything that is stored: the pages of SQLite, raw files, then results;
and `doctor`, which checks every row against every file and repairs what can be.

Damage shows when somebody reads; by then the person who could upload the file again may have gone.
So everything is read once in a while, slowly. The table `scrub` has a row for each part with
the place that was reached: a restart goes on there. Where several servers share a database, the one
that holds the lease of a part checks it.
"""

import logging
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, or_, select, update

from roofline.storage import checks, statements
from roofline.storage.database import RESTORE, insert_new
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import IMPORTING, READY, StoredFile, timestamp
from roofline.storage.statements import HOLDS_FILES
from roofline.storage.sweeping import find_orphans, sweep_orphans
from roofline.storage.tables import file, profile, scrub

RAW, RESULTS, DATABASE = "raw", "results", "database"
PARTS = (DATABASE, RAW, RESULTS)
# A server that checks a large file says nothing for so long.
LEASE_S = 900.0

_log = logging.getLogger("roofline.scrub")

Tick = Callable[[int], None]
"""Called with the bytes of each piece that was read; whatever it raises ends the check."""


class Scrub:
    """Checks `store` in steps; each part begins anew `every_s` after its last beginning.

    `deliver` has a job run.
    """

    def __init__(self, store: ProfileStore, deliver: Callable[[str], None], every_s: float) -> None:
        self._store = store
        self._deliver = deliver
        self._every_s = every_s
        self._owner = secrets.token_hex(8)

    def step(self, tick: Tick = lambda _bytes: None) -> bool:
        """Checks one file, or the results of one profile; false when nothing is due."""
        parts = PARTS[1:] if self._store.is_shared else PARTS  # PostgreSQL looks after its own
        return any(self._step(part, tick) for part in parts)

    def _step(self, part: str, tick: Tick) -> bool:
        after = self._due(part)
        if after is None:
            return False
        if part == DATABASE:
            place, repaired = self._check_database(after), False
        elif part == RAW:
            place, repaired = self._check_raw(after, tick)
        else:
            place, repaired = self._check_results(after)
        self._note(part, place, repaired)
        return place is not None

    def _due(self, part: str) -> str | None:
        """The place after which the check goes on; `None` when none is due, or another has it."""
        now = time.time()
        ours = scrub.c.part == part
        if self._is_done(part, now):  # a look that writes nothing
            return None
        free = or_(
            scrub.c.owner == self._owner, scrub.c.lease_until.is_(None), scrub.c.lease_until < now
        )
        with self._store.database.write() as connection:
            first = insert_new(connection, scrub).values(part=part, started_at=now)
            connection.execute(first)
            ended = scrub.c.finished_at >= scrub.c.started_at
            again = update(scrub).where(ours, free, ended)
            connection.execute(again.values(after="", started_at=now, checked=0))
            lease = {"owner": self._owner, "lease_until": now + LEASE_S}
            if connection.execute(update(scrub).where(ours, free).values(lease)).rowcount != 1:
                return None
            return str(connection.execute(select(scrub.c.after).where(ours)).scalar_one())

    def _is_done(self, part: str, now: float) -> bool:
        with self._store.database.read() as connection:
            row = connection.execute(select(scrub).where(scrub.c.part == part)).first()
        if row is None or row.finished_at is None or row.finished_at < row.started_at:
            return False
        return bool(row.started_at > now - self._every_s)

    def _note(self, part: str, place: str | None, repaired: bool) -> None:
        """Where the check is now; `None` for its end."""
        values: dict[str, Any] = {"finished_at": time.time(), "owner": None, "lease_until": None}
        if place is not None:
            values = {"after": place, "checked": scrub.c.checked + 1}
            values["repaired"] = scrub.c.repaired + int(repaired)
        with self._store.database.write() as connection:
            mine = update(scrub).where(scrub.c.part == part, scrub.c.owner == self._owner)
            connection.execute(mine.values(values))

    def _check_database(self, after: str) -> str | None:
        if after:
            return None
        fault = self._store.database.fault()
        if fault is not None:
            _log.error("the database is damaged (%s). %s", fault, RESTORE)
        with self._store.database.write() as connection:
            if fault is None:
                checks.forget_damage(connection, [DATABASE])
            else:
                checks.note_damage(connection, DATABASE)
        return DATABASE

    def _check_raw(self, after: str, tick: Tick) -> tuple[str | None, bool]:
        with self._store.database.read() as connection:
            found = _next_file(connection, after)
        if found is None:
            return None, False
        is_intact = self._store.raw.is_intact(found, tick=tick)
        with self._store.database.write() as connection:
            if is_intact:
                return found.sha256, checks.forget_damage(connection, [found.sha256])
            # Deleted while it was read: not damaged.
            if statements.referenced(connection, [found.sha256]):
                checks.note_damage(connection, found.sha256)
        return found.sha256, False

    def _check_results(self, after: str) -> tuple[str | None, bool]:
        with self._store.database.read() as connection:
            profile_id = _next_profile(connection, after)
        if profile_id is None:
            return None, False
        store = self._store
        if store.shared_results.is_intact(profile_id):
            return profile_id, False
        store.shared_results.remove(profile_id)
        job_id = store.jobs.add(profile_id, "analyse", store.results.version)
        if job_id is not None:
            self._deliver(job_id)
        return profile_id, True


def _next_file(connection: Connection, after: str) -> StoredFile | None:
    wanted = select(file).join(profile).where(HOLDS_FILES, file.c.sha256 > after)
    row = connection.execute(wanted.order_by(file.c.sha256).limit(1)).first()
    return None if row is None else statements.stored_file(row)


def _next_profile(connection: Connection, after: str) -> str | None:
    wanted = select(profile.c.id).where(profile.c.state == READY, profile.c.id > after)
    return connection.execute(wanted.order_by(profile.c.id).limit(1)).scalar()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One disagreement: what, about which profile or file, and what was or can be done."""

    what: str
    subject: str
    remedy: str
    repaired: bool = False


def examine(store: ProfileStore, *, repair: bool, quick: bool, grace_s: float) -> Iterator[Finding]:
    """Everything that is wrong. `quick` does not read files; `grace_s` as in `find_orphans`."""
    damage = store.database.fault()
    if damage is not None:
        yield Finding(what=damage, subject="the database", remedy=RESTORE)
        return
    yield from _raw_files(store, quick=quick)
    yield from _jobs(store, repair=repair)
    if not quick:
        yield from _results(store, repair=repair)
    yield from _orphans(store, repair=repair, grace_s=grace_s)


def _raw_files(store: ProfileStore, *, quick: bool) -> Iterator[Finding]:
    with store.database.read() as connection:
        files = statements.needed_files(connection)
        # Of a quick look, what the server's own check read is known.
        checked: dict[str, str | None] = (
            dict.fromkeys(checks.damaged_files(connection), "damaged") if quick else {}
        )
    for profile_id, stored in files:
        if stored.sha256 not in checked:
            intact = store.raw.has(stored.sha256) if quick else store.raw.is_intact(stored)
            missing = not intact and not store.raw.has(stored.sha256)
            checked[stored.sha256] = None if intact else "missing" if missing else "damaged"
        if (state := checked[stored.sha256]) is not None:
            yield Finding(
                what=f"the raw file {stored.name} is {state}",
                subject=f"profile {profile_id}",
                remedy="Upload the same file again, under any title: it heals this profile too.",
            )


def _jobs(store: ProfileStore, *, repair: bool) -> Iterator[Finding]:
    def importing() -> frozenset[str]:
        with store.database.read() as connection:
            return statements.ids_in_state(connection, IMPORTING)

    before = importing()
    without_job = before - store.jobs.under_way(sorted(before))
    # An import that ended between the two looks is not lost.
    for profile_id in sorted(without_job & importing()):
        if repair:
            store.jobs.add(profile_id, "import", store.results.version)
        yield Finding(
            what="its import was lost",
            subject=f"profile {profile_id}",
            remedy="It is queued again.",
            repaired=repair,
        )


def _results(store: ProfileStore, *, repair: bool) -> Iterator[Finding]:
    with store.database.read() as connection:
        ready = statements.ids_in_state(connection, READY)
    for profile_id in sorted(ready):
        if store.shared_results.is_intact(profile_id):
            continue
        if repair:
            store.shared_results.remove(profile_id)
        yield Finding(
            what="its results are damaged",
            subject=f"profile {profile_id}",
            remedy="They are removed, and recomputed on the next request.",
            repaired=repair,
        )


def _orphans(store: ProfileStore, *, repair: bool, grace_s: float) -> Iterator[Finding]:
    if not store.owner.is_this_database():
        yield Finding(
            what="belong to another database",
            subject="the raw files",
            remedy="Check ROOFLINE_DATABASE_URL and ROOFLINE_BLOBS.",
        )
        return
    digests, results = find_orphans(store, grace_s=grace_s)
    if not digests and not results:
        return
    if repair:
        sweep_orphans(store, grace_s=grace_s)
    counts = f"{len(digests)} raw files and {len(results)} sets of results"
    yield Finding(
        what="belong to no profile", subject=counts, remedy="They are removed.", repaired=repair
    )


def log_repairs(store: ProfileStore, findings: list[Finding]) -> None:
    """Writes what was repaired into the log of removals."""
    repaired = [finding for finding in findings if finding.repaired]
    if not repaired:
        return
    with store.database.write() as connection:
        for finding in repaired:
            statements.log_sweep(
                connection,
                at=timestamp(),
                action="repaired",
                subject=finding.subject,
                title=finding.what,
            )

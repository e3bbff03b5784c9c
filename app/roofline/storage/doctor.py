"""Checks every row against every file, says what does not agree, and repairs what can be."""

from collections.abc import Iterator
from dataclasses import dataclass

from roofline.storage import checks, statements
from roofline.storage.database import RESTORE
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import IMPORTING, READY, timestamp
from roofline.storage.sweeping import find_orphans, sweep_orphans


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
    for profile_id, file in files:
        if file.sha256 not in checked:
            intact = store.raw.has(file.sha256) if quick else store.raw.is_intact(file)
            missing = not intact and not store.raw.has(file.sha256)
            checked[file.sha256] = None if intact else "missing" if missing else "damaged"
        if (state := checked[file.sha256]) is not None:
            yield Finding(
                what=f"the raw file {file.name} is {state}",
                subject=f"profile {profile_id}",
                remedy="Upload the same file again, under any title: it heals this profile too.",
            )


def _jobs(store: ProfileStore, *, repair: bool) -> Iterator[Finding]:
    with store.database.read() as connection:
        importing = statements.ids_in_state(connection, IMPORTING)
    for profile_id in sorted(importing - store.jobs.under_way(sorted(importing))):
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

"""Automatic removal, with a log line: expired profiles, those over the quota, unused files.

Profiles go to the trash first, where there is one, and are purged from there.
"""

import itertools
import time
from collections import Counter
from collections.abc import Callable, Sequence

from roofline.errors import SettingsError
from roofline.storage import raw, shared_results, statements, trash
from roofline.storage.profiles import ProfileStore
from roofline.storage.records import timestamp

# Where several processes write, bytes without a row may belong to an upload that is not done yet.
GRACE_S = 24 * 3600.0


def sweep_expired(store: ProfileStore) -> int:
    """Removes profiles past their expiry, except pinned ones; how many."""
    expired = find_expired(store)
    return sum(_let_go(store, profile_id, title, "expired") for profile_id, title in expired)


def find_expired(store: ProfileStore) -> list[tuple[str, str]]:
    """Profiles past their expiry, except pinned ones: id and title."""
    with store.database.read() as connection:
        return statements.due(connection, timestamp())


def sweep_over_quota(store: ProfileStore, quota_bytes: int) -> int:
    """Removes the oldest profiles, except pinned ones, until the raw files fit; how many."""
    too_many = find_over_quota(store, quota_bytes)
    return sum(_let_go(store, profile_id, title, "over quota") for profile_id, title in too_many)


def find_over_quota(store: ProfileStore, quota_bytes: int) -> list[tuple[str, str]]:
    """The profiles to go so that the raw files fit, shared ones counted once: id and title.

    Those in the trash do not count.
    """
    with store.database.read() as connection:
        candidates = statements.unpinned_by_age(connection)
        files = statements.needed_files(connection, of_trash=False)
    sizes = {file.sha256: file.stored_bytes or file.size_bytes for _, file in files}
    digests: dict[str, set[str]] = {}
    for profile_id, file in files:
        digests.setdefault(profile_id, set()).add(file.sha256)
    needed_by = Counter(digest for own in digests.values() for digest in own)
    held_bytes, chosen = sum(sizes.values()), []
    for profile_id, title in candidates:
        if held_bytes <= quota_bytes:
            break
        needed_by.subtract(digests[profile_id])
        held_bytes -= sum(sizes[digest] for digest in digests[profile_id] if not needed_by[digest])
        chosen.append((profile_id, title))
    return chosen


def sweep_trash(store: ProfileStore) -> int:
    """Purges profiles that were in the trash for their time; how many."""
    return sum(_remove(store, profile_id, title, "purged") for profile_id, title in in_trash(store))


def in_trash(store: ProfileStore, *, due: bool = True) -> list[tuple[str, str]]:
    """Profiles whose time in the trash is over, or all there, the first first: id and title."""
    with store.database.read() as connection:
        before = trash.due_before(store.trash_kept) if due else None
        return trash.longest_there(connection, before=before)


def empty_trash(store: ProfileStore, *, until: Callable[[], bool] = lambda: False) -> int:
    """Purges the profiles that are longest in the trash, all or until there is room; how many."""
    count = 0
    for profile_id, title in in_trash(store, due=False):
        if until():
            break
        count += _remove(store, profile_id, title, "purged for room")
    return count


def find_orphans(store: ProfileStore, *, grace_s: float) -> tuple[frozenset[str], frozenset[str]]:
    """Digests of raw files, and profiles' ids of results, that belong to no profile."""
    before = time.time() - grace_s
    digests = {digest for digest, info in store.raw.list() if info.modified_at <= before}
    results = store.shared_results.profile_ids(before=before)
    with store.database.read() as connection:
        known = statements.profile_ids(connection)
        return frozenset(digests - statements.referenced(connection)), frozenset(results - known)


def sweep_orphans(store: ProfileStore, *, grace_s: float) -> int:
    """Removes what belongs to no profile; how many raw files and sets of results.

    Raises `SettingsError` when all of it belongs to another database.
    """
    if not store.owner.is_this_database():
        raise SettingsError(
            "The raw files belong to another database than the one in use; nothing is removed.",
            remedy="Check ROOFLINE_DATABASE_URL and ROOFLINE_BLOBS; to begin with an empty"
            " database, use an empty place for raw files, too.",
        )
    for folder in (raw.FOLDER, shared_results.FOLDER):
        store.blobs.drop_unfinished(folder, time.time() - grace_s)
    digests, orphans = find_orphans(store, grace_s=grace_s)
    for profile_id in orphans:
        store.drop(profile_id, ())
    count = store.drop_unreferenced(digests) + len(orphans)
    if count:
        with store.database.write() as connection:
            statements.log_sweep(
                connection, at=timestamp(), action="orphans", subject=f"{count} without a profile"
            )
    return count


def _let_go(store: ProfileStore, profile_id: str, title: str, reason: str) -> bool:
    if not store.trash_kept:
        return _remove(store, profile_id, title, reason)
    if not store.put_into_trash(profile_id, reason):
        return False
    with store.database.write() as connection:
        statements.log_sweep(
            connection, at=timestamp(), action=reason, subject=profile_id, title=title
        )
    return True


def _remove(store: ProfileStore, profile_id: str, title: str, reason: str) -> bool:
    with store.database.read() as connection:
        found = statements.upload_of(connection, profile_id)
    size_bytes = sum(file.size_bytes for file in found.files) if found is not None else None
    digests = store.remove(profile_id)
    if digests is None:
        return False
    with store.database.write() as connection:
        statements.log_sweep(
            connection,
            at=timestamp(),
            action=reason,
            subject=profile_id,
            title=title,
            size_bytes=size_bytes,
        )
    store.drop(profile_id, digests)
    return True


# ------------------------------------------------------------------- partials of runs that are gone
# They are a cache below a key with the SHA-256 of the file, `addresses/` with the identity of an
# object. Those that a row of a host names stay, also rows of runs in the trash. Names of operations
# go afterwards (`fleet.pruning`): hosts share them, and only partials tell which they need.

PARTIALS, ADDRESSES = "partials", "addresses"
PARTIAL_GRACE_S = 24 * 3600.0
"""An entry that was written since may belong to a host that is being read."""
_AT_ONCE = 500


def sweep_partials(store: ProfileStore, *, grace_s: float = PARTIAL_GRACE_S) -> int:
    """Removes partials and digests of objects that no run needs; how many.

    Nothing goes where the blobs belong to another database.
    """
    if not store.owner.is_this_database():
        return 0
    before, count = time.time() - grace_s, 0
    for folder in (PARTIALS, ADDRESSES):
        old = (one.key for one in store.blobs.list(folder) if one.modified_at <= before)
        while keys := list(itertools.islice(old, _AT_ONCE)):
            count += _drop_unneeded(store, keys)
        store.blobs.drop_unfinished(folder, before)
    return count


def _drop_unneeded(store: ProfileStore, keys: Sequence[str]) -> int:
    needed = store.runs.needed(frozenset(key.split("/")[1] for key in keys))
    unneeded = [key for key in keys if key.split("/")[1] not in needed]
    for key in unneeded:
        store.blobs.delete(key)
    return len(unneeded)

"""Kept partials of runs that are gone: a server removes them once a day.

They are a cache below a key with the SHA-256 of the file, `addresses/` with the identity of an
object. Those that a row of a host names stay, also rows of runs in the trash. Names of operations
go afterwards (`fleet.pruning`): hosts share them, and only partials tell which they need.
"""

import itertools
import time
from collections.abc import Sequence

from roofline.storage.profiles import ProfileStore

PARTIALS, ADDRESSES = "partials", "addresses"
GRACE_S = 24 * 3600.0
"""An entry that was written since may belong to a host that is being read."""
_AT_ONCE = 500


def sweep_partials(store: ProfileStore, *, grace_s: float = GRACE_S) -> int:
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

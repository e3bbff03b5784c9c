"""The command line's own kept partials stay below a size: the oldest go first.

Partials that other code made are of no more use to it, and go before. Names of operations go with
the last partial that needs them, also those of a server, which removes partials by itself.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from roofline.fleet.kept import made_by_this_code
from roofline.model.units import GIB
from roofline.pods.partial import names_needed
from roofline.storage.blobs import BlobInfo, BlobStore
from roofline.storage.places import open_blobs

MAX_BYTES = 8 * GIB
_KEEP_SHARE = 0.8
"""So much of the size is left, so that not each command removes some."""


def prune(place: str, max_bytes: int = MAX_BYTES) -> int:
    """Removes partials until those at `place` take less than `max_bytes`; how many.

    Raises the errors of the store.
    """
    blobs = open_blobs(place, Path())
    found = [one for folder in ("partials", "addresses") for one in blobs.list(folder)]
    names = list(blobs.list("names"))
    held_bytes = sum(one.size_bytes for one in (*found, *names))
    if held_bytes <= max_bytes:
        return 0
    gone = _chosen(found, held_bytes - int(max_bytes * _KEEP_SHARE))
    for one in gone:
        blobs.delete(one.key)
    gone_keys = {one.key for one in gone}
    _drop_names(blobs, names, [one for one in found if one.key not in gone_keys])
    return len(gone)


def drop_unneeded_names(place: str, *, grace_s: float) -> int:
    """Removes names at `place` that no partial there needs, once they are so old; how many.

    A host that is read meanwhile may need names that are removed here: its partial counts as
    damaged then, and is made again.
    """
    blobs, before = open_blobs(place, Path()), time.time() - grace_s
    old = [one for one in blobs.list("names") if one.modified_at <= before]
    return _drop_names(blobs, old, list(blobs.list("partials"))) if old else 0


def _chosen(found: Sequence[BlobInfo], too_many_bytes: int) -> list[BlobInfo]:
    """The partials that go so that so many bytes are free: of other code first, then the oldest."""
    chosen = []
    for one in sorted(found, key=lambda one: (made_by_this_code(one.key), one.modified_at)):
        if too_many_bytes <= 0:
            break
        chosen.append(one)
        too_many_bytes -= one.size_bytes
    return chosen


def _drop_names(blobs: BlobStore, names: Sequence[BlobInfo], left: Sequence[BlobInfo]) -> int:
    """Removes names that none of the partials `left` needs; how many."""
    needed = {_names_of(blobs, one.key) for one in left}
    unneeded = [one.key for one in names if one.key.rpartition("/")[2] not in needed]
    for key in unneeded:
        blobs.delete(key)
    return len(unneeded)


def _names_of(blobs: BlobStore, key: str) -> str | None:
    try:
        return names_needed(b"".join(blobs.open(key)))
    except FileNotFoundError:  # it went meanwhile
        return None

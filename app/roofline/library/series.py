"""Runs of one title or tag, in the order of their uploads."""

from collections.abc import Iterable

from roofline.library.reader import ProfileLists
from roofline.presentation.titles import series_name
from roofline.storage.records import Manifest

_MOST_FOUND = 1000


def runs_of_series(lists: ProfileLists, name: str, by: str) -> list[Manifest]:
    """All ready runs of a title, whatever the day at its end, or of a tag; the oldest first."""
    if by == "tag":
        listing = lists.search(tag=name, limit=_MOST_FOUND)
    else:
        name = series_name(name)
        listing = lists.search(name, limit=_MOST_FOUND)
    # The listing has the newest first, also among those of one second.
    found = [
        one for one in reversed(listing.profiles) if by == "tag" or series_name(one.title) == name
    ]
    return sorted(found, key=lambda one: one.created_at)


def next_run(lists: ProfileLists, run: Manifest) -> Manifest | None:
    """The first ready run after `run` with its title or one of its tags."""
    names = [("title", run.title), *(("tag", tag) for tag in run.tags)]
    later = [_behind(run, runs_of_series(lists, name, by)) for by, name in names]
    return min(filter(None, later), key=lambda one: one.created_at, default=None)


def _behind(run: Manifest, runs: Iterable[Manifest]) -> Manifest | None:
    before = iter(runs)
    return next(before, None) if any(one.id == run.id for one in before) else None

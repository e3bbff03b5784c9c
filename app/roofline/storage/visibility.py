"""Visibility of profiles: one rule, asked of one profile and as a filter of lists.

| visibility  | seen by                                                              |
|-------------|----------------------------------------------------------------------|
| `everybody` | everybody with access to the server, and holders of its share links  |
| `link`      | its uploader, administrators, and holders of its share links         |
| `owner`     | its uploader and administrators; its share links show nothing        |
"""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, false, or_, true

from roofline.storage.records import EVERYBODY, LINK, OWNER, Ownership
from roofline.storage.tables import profile, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The person or link behind a request.

    `owner` is what profiles of this person remember of their uploader, empty for a request
    without a person. `linked` is the profile of a share link: its holder sees no other.
    """

    owner: str = ""
    sees_all: bool = False
    linked: str | None = None


ALL_SEEING = Viewer(sees_all=True)


def may_see(viewer: Viewer, profile_id: str, ownership: Ownership) -> bool:
    """True if `viewer` may know that the profile exists, and read it."""
    if viewer.sees_all:
        return True
    if viewer.linked is not None:
        return viewer.linked == profile_id and ownership.visibility != OWNER
    is_own = viewer.owner != "" and viewer.owner == ownership.uploader
    return is_own or ownership.visibility == EVERYBODY


def is_seen_by(viewer: Viewer) -> ColumnElement[bool]:
    """The same of every row of `profile`, for viewers who may have lists: holders of links not."""
    assert viewer.linked is None
    if viewer.sees_all:
        return true()
    is_open = profile.c.visibility == EVERYBODY
    return or_(is_open, profile.c.uploader == viewer.owner) if viewer.owner else is_open


def sees_runs(viewer: Viewer) -> ColumnElement[bool]:
    """The same of every row of `run`. Runs have no share links."""
    if viewer.sees_all:
        return true()
    if viewer.linked is not None:
        return false()
    is_open = run.c.visibility == EVERYBODY
    return or_(is_open, run.c.uploader == viewer.owner) if viewer.owner else is_open


def is_hidden_from(viewer: Viewer) -> ColumnElement[bool]:
    """The contrary, in a form that an index finds: most profiles are visible, and are not read."""
    if viewer.sees_all:
        return false()
    is_closed = profile.c.visibility.in_([LINK, OWNER])
    if not viewer.owner:
        return is_closed
    is_of_others = or_(profile.c.uploader.is_(None), profile.c.uploader != viewer.owner)
    return and_(is_closed, is_of_others)

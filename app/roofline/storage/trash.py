"""The trash: profiles that were deleted, expired or over the quota, until they are purged.

A profile in the trash is in no list and behind no link. Its rows, raw files and results stay, so
that it can be restored; what ran for it is cancelled.
"""

from datetime import timedelta

from sqlalchemy import Connection, func, select, update

from roofline.errors import ImportStoppedError, RooflineError
from roofline.model.plain_data import alike
from roofline.storage.jobs import cancel_jobs, insert_job
from roofline.storage.records import (
    FAILED,
    IMPORTING,
    TRASHED,
    Trashed,
    timestamp,
)
from roofline.storage.statements import HOLDS_FILES
from roofline.storage.tables import file, profile


def put(connection: Connection, profile_id: str, reason: str) -> bool:
    """Puts a profile into the trash; false if there is none, or it is there already."""
    statement = update(profile).where(profile.c.id == profile_id, profile.c.state != TRASHED)
    values = {"state": TRASHED, "trashed_from": profile.c.state}
    moved = connection.execute(
        statement.values(trashed_at=timestamp(), trash_reason=reason, **values)
    )
    if moved.rowcount != 1:
        return False
    cancel_jobs(connection, profile_id, stopped())
    return True


def take_out(
    connection: Connection,
    profile_id: str,
    version: str,
    *,
    expires_at: str | None,
    failure_expires_at: str,
) -> tuple[bool, str | None]:
    """Restores a profile: whether it was in the trash, and the id of its job if it has one.

    An import that was cancelled starts again.
    """
    in_trash = (profile.c.id == profile_id, profile.c.state == TRASHED)
    former = connection.execute(select(profile.c.trashed_from).where(*in_trash)).scalar()
    if former is None:
        return False, None
    values = {"expires_at": failure_expires_at if former == FAILED else expires_at}
    nothing = {"trashed_at": None, "trashed_from": None, "trash_reason": None}
    restored = update(profile).where(*in_trash).values(state=former, **values, **nothing)
    if connection.execute(restored).rowcount != 1:  # another request was quicker
        return False, None
    if former != IMPORTING:
        return True, None
    return True, insert_job(connection, profile_id, "import", version)


def contents(connection: Connection, owner: str | None) -> tuple[Trashed, ...]:
    """The content of the trash of `owner`, or of everybody, the newest first."""
    size = func.coalesce(func.sum(file.c.size_bytes), 0)
    of_each = select(size).where(file.c.profile_id == profile.c.id).scalar_subquery()
    wanted = select(profile, of_each.label("size_bytes")).where(profile.c.state == TRASHED)
    if owner is not None:
        wanted = wanted.where(profile.c.uploader == owner)
    newest = wanted.order_by(profile.c.trashed_at.desc(), profile.c.number.desc())
    return tuple(
        alike(Trashed, row, reason=row.trash_reason, size_bytes=int(row.size_bytes))
        for row in connection.execute(newest)
    )


def longest_there(connection: Connection, *, before: str | None = None) -> list[tuple[str, str]]:
    """Profiles in the trash since `before`, or all, the first to go first: id and title."""
    wanted = select(profile.c.id, profile.c.title).where(profile.c.state == TRASHED)
    if before is not None:
        wanted = wanted.where(profile.c.trashed_at <= before)
    ordered = wanted.order_by(profile.c.trashed_at, profile.c.number)
    return [(row.id, row.title) for row in connection.execute(ordered)]


def is_there(connection: Connection, profile_id: str) -> bool:
    """True if the profile is in the trash."""
    wanted = select(profile.c.id).where(profile.c.id == profile_id, profile.c.state == TRASHED)
    return connection.execute(wanted).first() is not None


def holds_files(connection: Connection, profile_id: str) -> bool:
    """True if the profile is in the trash with its files: they count once it is restored."""
    wanted = (profile.c.id == profile_id, profile.c.state == TRASHED, HOLDS_FILES)
    return connection.execute(select(profile.c.id).where(*wanted)).first() is not None


def due_before(kept: timedelta) -> str:
    """The time since which the trash has held a profile for `kept`."""
    return timestamp(-kept)


def stopped() -> RooflineError:
    """Why the import of a profile in the trash ended."""
    return ImportStoppedError(
        "The profile was moved to the trash.", remedy="Restore it from there."
    )

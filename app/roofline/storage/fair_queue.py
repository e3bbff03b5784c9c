"""The order of the queue: each person in turn, so that many imports of one do not hold up others'.

Analyses come first: a reader waits for them. Then comes the person with the fewest imports that
run now, and among these the one whose last import ended first. Uploads without a person are those
of one.
"""

import time

from sqlalchemy import Connection, Float, Select, and_, case, cast, func, or_, select

from roofline.storage.records import QUEUED, RUNNING
from roofline.storage.tables import job, profile

# Imports that ended before no longer count.
REMEMBERED_S = 24 * 3600.0


def next_due(connection: Connection, version: str, most_running: int | None) -> str | None:
    """The id of the job to run next, `None` where none is due for code of this `version`.

    No import of a person of whom `most_running` run already; `None` for any number.
    """
    now = time.time()
    served = _served(now).subquery()
    running, ended = func.coalesce(served.c.running, 0), func.coalesce(served.c.ended, 0.0)
    is_free = or_(job.c.not_before.is_(None), job.c.not_before <= now)
    is_lost = and_(job.c.state == RUNNING, job.c.lease_until < now)
    wanted = (
        select(job.c.id)
        .join(profile)
        .join(served, served.c.person == _PERSON, isouter=True)
        .where(job.c.version == version, or_(and_(job.c.state == QUEUED, is_free), is_lost))
        .order_by(job.c.kind == "import", running, ended, job.c.created_at, job.c.id)
        .limit(1)
    )
    if most_running is not None:
        wanted = wanted.where(or_(job.c.kind != "import", running < most_running))
    found = connection.execute(wanted).scalar()
    return None if found is None else str(found)


_PERSON = func.coalesce(profile.c.uploader, "")


def _served(now: float) -> "Select[tuple[str, int, float]]":
    """Of each person: imports that run now, and when the last one ended, in Unix seconds."""
    one, of = job.alias(), profile.alias()
    person = func.coalesce(of.c.uploader, "").label("person")
    runs = and_(one.c.state == RUNNING, one.c.lease_until >= now)
    running = func.sum(case((runs, 1), else_=0)).label("running")
    ended = cast(func.max(one.c.finished_at), Float).label("ended")
    counts = or_(one.c.state == RUNNING, one.c.finished_at > now - REMEMBERED_S)
    joined = one.join(of, one.c.profile_id == of.c.id)
    return select(person, running, ended).select_from(joined).where(counts).group_by(person)

"""Sessions that were logged out: for every server of a database, until their cookies are over."""

import time
from pathlib import Path

import pytest
from sqlalchemy import func, select

from roofline.storage.database import Database
from roofline.storage.revocable import EndedSessions
from roofline.storage.tables import ended_session


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "sqlite":
        return None
    found: str = request.getfixturevalue("postgres_url")
    return found


def test_log_out_is_known_to_other_servers_and_forgotten_in_time(
    tmp_path: Path, url: str | None
) -> None:
    ours = Database(tmp_path, url)
    ours.migrate()
    theirs = Database(tmp_path, url)
    here, there = EndedSessions(ours), EndedSessions(theirs)
    here.end("one", over_s=time.time() + 1000)
    here.end("one", over_s=time.time() + 1000)
    here.end("two", over_s=time.time() - 1)
    assert here.has("one") and not here.has("other")
    assert not there.has("one")
    there.refresh()
    assert there.has("one") and not there.has("two")
    here.sweep()
    with ours.read() as connection:
        count = connection.execute(select(func.count()).select_from(ended_session)).scalar_one()
        marks = set(connection.execute(select(ended_session.c.mark)).scalars())
    assert count == 1
    assert "one" not in marks, "only digests are stored"
    ours.close()
    theirs.close()

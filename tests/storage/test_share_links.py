"""Share links in both databases: of each server of one, and over on all of them at once."""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import delete, func, insert, select

from roofline.errors import BadEditError
from roofline.storage import revocable
from roofline.storage.database import Database
from roofline.storage.records import timestamp
from roofline.storage.revocable import ApiTokens, ShareLinks
from roofline.storage.tables import profile, share_link

SHARED = "shared-profile"


@pytest.fixture(params=["sqlite", "postgres"])
def databases(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Database, Database]]:
    """As two servers open the same one. It has the profile `SHARED`."""
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    ours, theirs = Database(tmp_path, url), Database(tmp_path, url)
    ours.migrate()
    values = {"id": SHARED, "title": "x", "created_at": timestamp(), "state": "ready"}
    with ours.write() as connection:
        connection.execute(insert(profile).values(values))
    yield ours, theirs
    with ours.write() as connection:
        connection.execute(delete(profile).where(profile.c.id == SHARED))
    ours.close()
    theirs.close()


def test_link_is_known_to_every_server_until_it_is_revoked_or_over(
    databases: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocable, "MOST_LINKS", 2)
    now = 1000.0
    here, there = (ShareLinks(one, clock=lambda: now) for one in databases)
    made = here.add("d1", profile_id=SHARED, name="vendor", maker="ada", expires_at=None)
    over = here.add("d2", profile_id=SHARED, name="one day", maker="ada", expires_at=1010.0)
    assert there.find("d1") == made and there.find("d2") == over
    with pytest.raises(BadEditError, match="2 share links"):
        there.add("d3", profile_id=SHARED, name="more", maker="eve", expires_at=None)
    now = 1010.0
    assert there.find("d2") is None, "at its end"
    there.refresh()
    assert {one.id: one.used_at for one in here.list(SHARED)} == {made.id: 1000.0, over.id: 1000.0}
    here.add("d3", profile_id=SHARED, name="in its place", maker="eve", expires_at=None)
    assert not there.revoke("another-profile", made.id)
    assert here.find("d1") == replace(made, used_at=1000.0)
    assert there.revoke(SHARED, made.id) and not here.revoke(SHARED, made.id)
    assert here.find("d1") is None and there.find("d1") is None


def test_links_end_with_their_profile(databases: tuple[Database, Database]) -> None:
    here, there = (ShareLinks(one) for one in databases)
    here.add("d4", profile_id=SHARED, name="vendor", maker="ada", expires_at=None)
    kept = select(func.count()).where(share_link.c.profile_id == SHARED)
    with databases[0].write() as connection:
        connection.execute(delete(profile).where(profile.c.id == SHARED))
        assert connection.execute(kept).scalar_one() == 0
    assert there.find("d4") is None


def test_links_end_with_their_token_and_with_the_longest_life(
    databases: tuple[Database, Database],
) -> None:
    now, mark = 1000.0, secrets.token_hex(4)
    database, other = databases
    tokens = ApiTokens(database, clock=lambda: now)
    token = tokens.add(mark, name="ci", owner="ada", scope="share", expires_at=1010.0)
    links = ShareLinks(database, clock=lambda: now)
    add = partial(links.add, profile_id=SHARED, maker="ada", expires_at=None)
    made = add(f"{mark}1", name="of a token", token_id=token.id)
    add(f"{mark}2", name="of a person")
    assert links.find(f"{mark}1") == made
    now = 1010.0
    for one in (links, ShareLinks(other, clock=lambda: now)):
        assert one.find(f"{mark}1") is None, "the token is over"
        assert [link.name for link in one.list(SHARED)] == ["of a person"]
    short = ShareLinks(database, clock=lambda: now, longest_s=10.0)
    assert short.find(f"{mark}2") is None, "also one that was made before the setting"
    assert short.list(SHARED)[0].expires_at == 1010.0

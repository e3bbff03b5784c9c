"""API tokens: for every server of a database, until they are revoked or over."""

import time
from pathlib import Path

import pytest
from sqlalchemy import select

from roofline.errors import BadEditError
from roofline.storage import revocable
from roofline.storage.database import Database
from roofline.storage.revocable import ApiTokens
from roofline.storage.tables import api_token


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "sqlite":
        return None
    found: str = request.getfixturevalue("postgres_url")
    return found


def test_token_is_known_to_other_servers_until_it_is_revoked(
    tmp_path: Path, url: str | None
) -> None:
    ours, theirs = Database(tmp_path, url), Database(tmp_path, url)
    ours.migrate()
    here, there = ApiTokens(ours), ApiTokens(theirs)
    made = here.add("d1", name="ci", owner="ada", scope="upload", expires_at=None)
    assert here.find("d1") == made
    assert there.find("d1") is None
    there.refresh()
    found = there.find("d1")
    assert found is not None and found.owner == "ada"
    (listed,) = there.list("ada")
    assert listed.used_at is not None and abs(listed.used_at - time.time()) < 60
    assert there.list("eve") == () and len(there.list(None)) == 1
    assert not here.revoke(made.id, "eve")
    assert here.find("d1") is not None
    assert here.revoke(made.id, "ada") and not here.revoke(made.id, None)
    assert here.find("d1") is None and here.list(None) == ()
    there.refresh()
    assert there.find("d1") is None
    with ours.read() as connection:
        row = connection.execute(select(api_token)).one()
    assert row.revoked_at is not None, "the row stays: it says who had the token"
    ours.close()
    theirs.close()


def test_token_ends_by_itself(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.migrate()
    now = 1000.0
    tokens = ApiTokens(database, clock=lambda: now)
    tokens.add("d", name="ci", owner="ada", scope="read", expires_at=1010.0)
    assert tokens.find("d") is not None
    now = 1010.0
    assert tokens.find("d") is None
    tokens.refresh()
    assert tokens.find("d") is None
    assert len(tokens.list("ada")) == 1, "its owner sees that it has ended"
    database.close()


def test_one_person_has_so_many_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocable, "MOST_TOKENS", 2)
    database = Database(tmp_path)
    database.migrate()
    tokens = ApiTokens(database)
    for digest in ("a", "b"):
        tokens.add(digest, name="x", owner="ada", scope="read", expires_at=None)
    with pytest.raises(BadEditError, match="2 tokens"):
        tokens.add("c", name="x", owner="ada", scope="read", expires_at=None)
    tokens.add("d", name="x", owner="eve", scope="read", expires_at=None)
    database.close()

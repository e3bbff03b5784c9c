"""What profiles are found by: every field, in any case, as it is now."""

from importlib import import_module
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import create_engine, event, text

from roofline.storage.database import Database
from roofline.storage.profiles import ProfileStore
from roofline.storage.queries import ProfileQueries
from roofline.storage.records import NewProfile, ProfileId, StoredFile, Summary
from roofline.storage.statements import add as add_row
from roofline.storage.statements import set_ready

SUMMARY = Summary(
    device="TPU v5e",
    device_kind="TPU",
    core_count=1,
    core_word="core",
    host_count=1,
    op_count=1,
    bound_by=None,
    bound_kind=None,
    bound_token=None,
    efficiency_ratio=None,
)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ProfileStore:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    found = ProfileStore(tmp_path, "1", measurements=lambda: "", database_url=url)
    found.prepare()
    request.addfinalizer(found.close)
    return found


def add(store: ProfileStore, profile_id: str, tags: tuple[str, ...] = ()) -> None:
    new = NewProfile(
        id=ProfileId(profile_id),
        title="Größe 100% a_b",
        created_at="2026-01-01T00:00:00Z",
        files=(StoredFile(name="Host_7.pb", size_bytes=1, sha256="0" * 64, stored_bytes=1),),
        sample=None,
        note="Line one\nTWO",
        tags=tags,
        uploader="Zoë@example.org",
        expires_at=None,
        delete_token_hash=None,
        digests=None,
    )
    with store.database.write() as connection:
        add_row(connection, new)
        set_ready(connection, profile_id, "XSpace", SUMMARY)


def test_every_field_is_found_in_any_case_and_forgotten_when_it_changes(
    store: ProfileStore,
) -> None:
    profile_id = f"search-{store.database.is_shared}"
    add(store, profile_id, ("Unmistakable",))

    def finds(words: str) -> bool:
        return profile_id in {one.id for one in store.queries.search(words, limit=999).profiles}

    try:
        for words in ("GRÖSSE", "100% A_B", "host_7", "two zoë", "v5E tpu", "unmistakable"):
            assert finds(words), words
        for words in ("a%b", "100_", "onetwo", "host_7 missing"):
            assert not finds(words), words
        assert "Unmistakable" in dict(store.queries.frequent_tags(999))
        store.edit(profile_id, tags=("other",), title="New", note="")
        assert finds("new other")
        for words in ("größe", "two", "unmistakable"):
            assert not finds(words), words
        assert "Unmistakable" not in dict(store.queries.frequent_tags(999))
        assert store.queries.search(tag="other", limit=999).total == 1
    finally:
        store.remove(profile_id)


def test_tags_of_profiles_that_are_not_ready_are_not_listed(store: ProfileStore) -> None:
    profile_id = f"tags-{store.database.is_shared}"
    add(store, profile_id, ("waiting",))
    with store.database.write() as connection:
        statement = "UPDATE profile SET state = 'importing' WHERE id = :id"
        connection.execute(text(statement), {"id": profile_id})
    assert "waiting" not in dict(store.queries.frequent_tags(999))
    store.remove(profile_id)


def test_total_is_right_on_every_page_and_past_the_end(tmp_path: Path) -> None:
    """A list that ends within its page has told its length; others are counted."""
    store = ProfileStore(tmp_path, "1", measurements=lambda: "")
    store.prepare()
    for number in range(3):
        add(store, f"p{number}")
    for offset, limit in ((0, 2), (2, 2), (0, 3), (0, 4), (3, 2), (9, 2), (1, 2)):
        listing = store.queries.search("host_7", offset=offset, limit=limit)
        assert (listing.total, len(listing.profiles)) == (3, max(0, min(limit, 3 - offset)))
    assert store.queries.search("nothing").total == 0
    store.close()


def test_search_looks_into_one_table(tmp_path: Path) -> None:
    """A look into two other tables for each profile and word took up to 740 ms with 10,000."""
    database = Database(tmp_path)
    database.migrate()
    asked: list[str] = []
    with database.read() as connection:

        @event.listens_for(connection.engine, "before_cursor_execute")
        def hear(*given: object) -> None:
            asked.append(str(given[2]))

    ProfileQueries(database).search("some words")
    assert any("LIKE" in statement for statement in asked)
    assert not [one for one in asked if "LIKE" in one and ("FROM tag" in one or "FROM file" in one)]
    database.close()


def test_profiles_of_an_older_release_are_found(tmp_path: Path) -> None:
    """The step that adds the text fills it for what is there."""
    step = import_module("roofline.storage.migrations.versions.0006_search_text")
    engine = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with engine.begin() as connection:
        for table in ("profile (id, title, note, device, uploader)", "tag (profile_id, name)",
                      "file (profile_id, name)"):  # fmt: skip
            connection.execute(text(f"CREATE TABLE {table}"))
        connection.execute(text("INSERT INTO profile VALUES ('a', 'Größe', '', NULL, 'Zoë')"))
        connection.execute(text("INSERT INTO tag VALUES ('a', 'Nightly')"))
        connection.execute(text("INSERT INTO file VALUES ('a', 'Host_7.pb')"))
        with Operations.context(MigrationContext.configure(connection)):
            step.upgrade()
        found = connection.execute(text("SELECT search_text FROM profile")).scalar_one()
    assert set(found.split("\n")) == {"grösse", "zoë", "nightly", "host_7.pb"}
    engine.dispose()

"""Older data folders are taken over at the first start, and newer ones are refused."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import text

from roofline.errors import CorruptProfileError, SettingsError
from roofline.library.reader import Ready
from roofline.storage import database as database_module
from roofline.storage import statements
from roofline.storage.database import SCHEMA, Database, schema_of
from roofline.storage.manifests import DONE_FOLDER, import_manifests
from roofline.storage.records import Pending
from roofline.storage.results import PAGE
from roofline.storage.tables import metadata
from tests.storage.places import Place, raw_bytes, settled, stored

FIRST_RELEASE = Path(__file__).parent / "first_release"
ONE_HOST, TWO_HOSTS = "fWi2hSOXoiqIfXrM1AMQ_g", "fjPcYZnr3jX6Rk3Q6gl01g"


@pytest.fixture
def old(folder: Place) -> Place:
    """A folder of the release before the database."""
    shutil.copytree(FIRST_RELEASE, folder.root / "server")
    return folder


def test_every_link_of_the_release_before_the_database_keeps_working(old: Place) -> None:
    server = old.server()
    assert [m.id for m in server.queries.search(limit=10).profiles] == [TWO_HOSTS, ONE_HOST]
    one = server.reader.manifest(ONE_HOST)
    assert (one.title, one.created_at) == ("One host", "2026-11-21T14:55:38Z")
    assert (one.summary.bound_by, one.summary.efficiency_ratio) == ("VMEM Write", 0.191589)
    assert (one.pinned, one.expires_at, one.uploader) == (False, None, None)
    for profile_id in (ONE_HOST, TWO_HOSTS):
        assert isinstance(settled(server, profile_id), Ready)
        assert b"VMEM Write" in server.reader.result(profile_id, PAGE).plain()
    blobs = FIRST_RELEASE / "blobs"
    originals = {path.name: path.read_bytes() for path in blobs.glob("??/*")}
    files = server.reader.manifest(TWO_HOSTS).files
    assert raw_bytes(server, TWO_HOSTS) == [originals[file.sha256] for file in files]


def test_upgraded_folder_is_upgraded_once(old: Place) -> None:
    first = old.server()
    first.library.remove(ONE_HOST)
    first.library.edit(TWO_HOSTS, title="Renamed")
    first.instance.close()
    second = old.server()
    assert [m.title for m in second.queries.search(limit=10).profiles] == ["Renamed"]
    assert len(raw_bytes(second, TWO_HOSTS)) == 2  # the shared file is still needed
    second.library.remove(TWO_HOSTS)
    assert not list((old.root / "server").glob("blobs/*/*"))


def test_upgrade_that_was_cut_off_goes_on(old: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    root = old.root / "server"
    database = Database(root)
    database.migrate()
    with monkeypatch.context() as patch:
        patch.setattr("roofline.storage.manifests._put_aside", lambda *_: None)
        import_manifests(root, database)
    assert import_manifests(root, database) == ()
    database.close()
    assert {path.stem for path in (root / DONE_FOLDER).iterdir()} == {ONE_HOST, TWO_HOSTS}
    assert old.server().queries.search().total == 2


def test_damaged_manifest_is_kept_and_keeps_every_raw_file(old: Place) -> None:
    path = old.root / "server" / "profiles" / f"{ONE_HOST}.json"
    path.write_bytes(path.read_bytes()[:40])
    (old.root / "server" / "profiles" / f"{TWO_HOSTS}.json").unlink()
    server = old.server()
    assert server.instance.damaged == (path,)
    assert server.queries.search().total == 0
    assert len(list((old.root / "server").glob("blobs/*/*"))) == 2


def test_uploading_a_file_of_the_old_release_again_shares_its_fate(old: Place) -> None:
    server = old.server()
    content = raw_bytes(server, ONE_HOST)[0]
    again = stored(server, content)
    server.library.remove(ONE_HOST)
    server.library.remove(TWO_HOSTS)
    assert raw_bytes(server, again) == [content]
    server.library.remove(again)
    assert not list((old.root / "server").glob("blobs/*/*"))


def test_newer_schema_is_refused_with_the_way_out(folder: Place) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub")
    server.instance.close()
    database = Database(folder.root / "server")
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(SettingsError, match="newer version") as caught:
        folder.server()
    assert "backup" in caught.value.remedy
    with Database(folder.root / "server").write() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{SCHEMA}'"))
    assert raw_bytes(folder.server(), profile_id) == [b"stub"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_migrations_make_the_tables_that_the_code_uses(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = None if kind == "sqlite" else request.getfixturevalue("postgres_url")
    database = Database(tmp_path, url)
    database.migrate()
    database.migrate()  # a second start does nothing
    with database.write() as connection:
        options = {"include_object": lambda _thing, name, *_: not name.startswith("procrastinate")}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
    database.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rows_of_the_first_schema_stay(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = None if kind == "sqlite" else request.getfixturevalue("own_postgres").url
    database = Database(tmp_path, url)
    with database.write() as connection:
        config = Config()
        config.set_main_option("script_location", str(database_module._MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text(
                "INSERT INTO profile (id, title, created_at, state, error_code, error_message,"
                " error_remedy) VALUES ('old', 'Old', '2026-01-01T00:00:00Z', 'failed',"
                " 'corrupt-profile', 'It is broken.', 'Mend it.')"
            )
        )
    database.migrate()
    with database.read() as connection:
        assert schema_of(connection) == SCHEMA
        found = statements.get(connection, "old")
    assert isinstance(found, Pending)
    assert isinstance(found.error, CorruptProfileError)
    assert (found.error.message, found.digests) == ("It is broken.", None)
    database.close()


def test_newest_migration_is_the_schema_that_the_code_names() -> None:
    steps = sorted(path.stem for path in database_module._MIGRATIONS.glob("versions/[0-9]*.py"))
    assert steps[-1].split("_")[0] == SCHEMA


def test_alembic_is_loaded_only_when_a_step_is_due(
    folder: Place, run_python: Callable[..., object]
) -> None:
    folder.server().instance.close()
    said = run_python(
        "import sys; from pathlib import Path; from roofline.storage.database import Database\n"
        f"Database(Path({str(folder.root / 'server')!r})).migrate()\n"
        "print('alembic' in sys.modules)"
    )
    assert said == "False"


def test_terminal_commands_load_nothing_of_the_store(run_python: Callable[..., object]) -> None:
    said = run_python(
        "import sys; import roofline.cli.main, roofline.exports.render\n"
        "import roofline.imports.child\n"
        "print(sorted({'sqlalchemy', 'alembic', 'obstore', 'procrastinate'} & set(sys.modules)))"
    )
    assert said == "[]"

"""A place to keep profiles, in both ways; the servers are started once and emptied by each test."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roofline.storage.database import Database
from roofline.storage.tables import audit, instance, metadata
from tests.conftest import PYTHON_PATH
from tests.storage.children import WORK
from tests.storage.places import LEASE_S, Place, Workers
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.services import Postgres, object_store, postgres, postgres_folder


def skip_without_postgres() -> None:
    if postgres_folder() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql (as root) adds it")


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A server of this test alone, which may be stopped."""
    skip_without_postgres()
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    skip_without_postgres()
    with postgres() as server:
        yield server.url


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        with object_store() as place:
            yield place


@pytest.fixture(scope="session")
def workers(
    postgres_url: str, bucket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Workers, dict[str, str]]]:
    options = {"database_url": postgres_url, "blobs": bucket, "runner": "procrastinate"}
    started = Workers(tmp_path_factory.mktemp("workers"), options)
    for _ in range(2):
        started.start()
    yield started, options
    assert set(started.stop()) == {0}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Place]:
    """SQLite and a folder, imports in this process."""
    place = Place(root=tmp_path)
    with place.stack:
        yield place


@pytest.fixture
def servers(tmp_path: Path, workers: tuple[Workers, dict[str, str]]) -> Iterator[Place]:
    """PostgreSQL, an S3 API, and two worker processes."""
    started, options = workers
    database = Database(tmp_path, options["database_url"])
    database.migrate()
    with database.write() as connection:
        for table in reversed(
            [table for table in metadata.sorted_tables if table not in (audit, instance)]
        ):
            connection.execute(table.delete())
    database.close()
    place = Place(root=tmp_path, options=options, workers=started)
    with place.stack:
        yield place


@pytest.fixture(params=["folder", "servers"])
def place(request: pytest.FixtureRequest) -> Place:
    """Both, one after the other: what a test says holds for each."""
    result: Place = request.getfixturevalue(request.param)
    return result


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofline.imports.children.WORK", WORK)
    monkeypatch.setattr("roofline.model.outer_limits.LEASE_S", LEASE_S)
    monkeypatch.setattr("roofline.imports.job_run.PAUSE_S", 0.5)
    monkeypatch.setattr("roofline.model.outer_limits.FIRST_PAUSE_S", 0.1)
    monkeypatch.setattr("roofline.library.upkeep.REDELIVER_EVERY_S", 0.5)
    # A sweep of its own would do what a test has just asked for.
    monkeypatch.setattr("roofline.library.upkeep.FIRST_SWEEP", -1)
    monkeypatch.setattr("roofline.library.upkeep.LOST_AFTER_S", 5.0)


@pytest.fixture
def run_python() -> Callable[[str], str]:
    """Runs code in a fresh interpreter; what it printed."""

    def run(code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            env={**os.environ, "PYTHONPATH": PYTHON_PATH},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    return run


@pytest.fixture
def capture_bytes(tmp_path: Path) -> bytes:
    """A small TPU profile."""
    (path,) = write_profile(Config(n_events=300, n_steps=2, n_distinct_ops=20), tmp_path)
    return path.read_bytes()

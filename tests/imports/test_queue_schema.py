"""Procrastinate's tables: made, taken over from every version, brought up to date, or refused."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import procrastinate
import psycopg
import pytest
from psycopg import sql

from roofline.errors import SettingsError, StoreUnavailableError
from roofline.imports import queue_runner
from roofline.imports.queue_runner import QueueRunner
from roofline.storage.database import Database

NAMES = (f"queue_{number}" for number in itertools.count())
STEPS = queue_runner._steps()
NEWEST = max(STEPS)


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    """An empty database of this test alone."""
    name = next(NAMES)
    quoted = sql.Identifier(name)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(quoted))
        yield f"{postgres_url.rpartition('/')[0]}/{name}"
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(quoted))


def ask(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def mark(url: str) -> str:
    ((found,),) = ask(url, "SELECT obj_description('procrastinate_jobs'::regclass, 'pg_class')")
    return str(found)


def shape(url: str) -> list[tuple[object, ...]]:
    """Every column and function there is."""
    return ask(
        url,
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public'"
        " UNION ALL SELECT 'function', proname, '' FROM pg_proc"
        " WHERE proname LIKE 'procrastinate%' ORDER BY 1, 2, 3",
    )


def written_by(url: str, last: str) -> None:
    """The tables as the server's releases up to `last` left them, one after the other."""
    with psycopg.connect(url, autocommit=True) as connection:
        for number in sorted(STEPS):
            if number <= last:
                connection.execute(STEPS[number].read_bytes())


def set_mark(url: str, text: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(f"COMMENT ON TABLE procrastinate_jobs IS '{text}'".encode())


def deliver(url: str) -> int:
    """Puts a job into the queue twice; how many it holds."""
    runner = QueueRunner(url)
    runner.start()
    try:
        runner.submit("a job")
        runner.submit("a job")
    finally:
        runner.close()
    return len(ask(url, "SELECT id FROM procrastinate_jobs"))


def test_tables_are_made_once_and_say_of_which_version(url: str) -> None:
    assert deliver(url) == 1
    assert mark(url) == f"roofline: {NEWEST}"
    assert deliver(url) == 1, "a second start changes nothing"


@pytest.mark.parametrize("last", ["03.02.00_50", "03.03.00_01"])
def test_older_tables_are_brought_up_to_date(url: str, last: str) -> None:
    written_by(url, last)
    set_mark(url, f"roofline: {last}")
    before = shape(url)
    assert deliver(url) == 1
    assert mark(url) == f"roofline: {NEWEST}"
    assert ("function", "procrastinate_retry_job_v2", "") in set(shape(url)) - set(before)


def test_tables_without_a_mark_are_those_of_earlier_releases(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(procrastinate.schema.SchemaManager.get_schema().encode())
    assert deliver(url) == 1


def test_step_that_fails_is_not_noted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written_by(url, "03.03.00_01")
    set_mark(url, "roofline: 03.03.00_01")
    with psycopg.connect(url) as connection:
        connection.execute("ALTER TYPE procrastinate_job_event_type ADD VALUE 'retried'")
    with pytest.raises(SettingsError, match=r"step 03\.04\.00_01") as caught:
        queue_runner.prepare(url)
    assert "of its own" in caught.value.remedy
    assert mark(url) == "roofline: 03.03.00_01"


def test_tables_of_a_newer_library_are_refused(url: str) -> None:
    deliver(url)
    set_mark(url, "roofline: 99.00.00_01")
    with pytest.raises(SettingsError, match=r"newer Procrastinate .*99\.00\.00_01"):
        QueueRunner(url).start()


def test_tables_that_somebody_else_made_long_ago_are_refused(url: str) -> None:
    written_by(url, "03.02.00_50")
    with pytest.raises(SettingsError, match="older than"):
        queue_runner.prepare(url)


def test_user_who_may_not_make_tables_is_told(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
    with pytest.raises(SettingsError, match="may not create"):
        queue_runner.prepare(url.replace("roofline@", "reader@"))


def test_servers_that_start_at_the_same_time_do_not_disturb_each_other(url: str) -> None:
    with ThreadPoolExecutor() as threads:
        for started in [threads.submit(queue_runner.prepare, url) for _ in range(6)]:
            started.result()
    assert deliver(url) == 1


def test_user_who_may_not_write_our_tables_is_told(url: str, tmp_path: Path) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
    with (
        closing(Database(tmp_path, url.replace("roofline@", "reader@"))) as database,
        pytest.raises(SettingsError, match="may not create"),
    ):
        database.migrate()


def test_standby_is_not_ready(url: str, tmp_path: Path) -> None:
    with closing(Database(tmp_path, url)) as database:
        database.migrate()
        database.check()
    read_only = f"{url}?options=-c%20default_transaction_read_only%3Don"
    with (
        closing(Database(tmp_path, read_only)) as standby,
        pytest.raises(StoreUnavailableError, match="read-only"),
    ):
        standby.check()

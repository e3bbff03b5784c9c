"""`roofline worker` as it is installed: its work, its numbers, its log, and its end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import procrastinate
import psycopg
import pytest

from roofline.imports import queue_runner
from roofline.library.reader import Ready
from tests.conftest import ROOT
from tests.storage.places import Place, add, eventually, settled
from tests.tools.services import Postgres, free_port


@pytest.fixture
def shared(folder: Place, own_postgres: Postgres, tmp_path: Path) -> Place:
    """A server whose jobs are done by whichever worker there is."""
    options = {
        "database_url": own_postgres.url,
        "blobs": f"file://{tmp_path / 'blobs'}",
        "runner": "procrastinate",
    }
    return Place(root=tmp_path, options=options, stack=folder.stack)


@pytest.fixture
def worker(shared: Place, tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """The command's process, and the port of its numbers."""
    port = free_port()
    secret = tmp_path / "database-url"
    secret.write_text(f"{shared.options['database_url']}\n")
    command = ["worker", "--data-dir", str(tmp_path / "worker"), "--metrics-port", str(port)]
    with subprocess.Popen(
        [sys.executable, "-m", "roofline", *command],
        env={
            **os.environ,
            "ROOFLINE_DATABASE_URL_FILE": str(secret),
            "ROOFLINE_BLOBS": shared.options["blobs"],
            "ROOFLINE_RUNNER": "procrastinate",
            "ROOFLINE_LOG_FORMAT": "json",
        },
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield process, port
        process.kill()


def test_worker_imports_counts_logs_and_ends_when_told(
    shared: Place, worker: tuple["subprocess.Popen[str]", int], capture_bytes: bytes
) -> None:
    process, port = worker
    server = shared.server()
    profile_id = add(server, capture_bytes)
    assert isinstance(settled(server, profile_id), Ready)

    def is_counted() -> bool:
        numbers = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        return f"roofline_import_bytes_total {float(len(capture_bytes))}" in numbers

    eventually(is_counted)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert any(line["event"].startswith("import of ") for line in lines)
    assert profile_id not in log, "a link is a secret"


def test_worker_outlives_its_database(
    shared: Place, worker: tuple["subprocess.Popen[str]", int], capture_bytes: bytes
) -> None:
    """A worker ended with a traceback where the database died while it was asked for work."""
    process, _ = worker
    server = shared.server()
    settled(server, add(server, capture_bytes))
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND query LIKE '%fetch_job%'"
    )
    url = shared.options["database_url"]
    with psycopg.connect(url) as holding, psycopg.connect(url, autocommit=True) as cutting:
        holding.execute("LOCK TABLE procrastinate_jobs")
        eventually(lambda: cutting.execute(cut).fetchall() != [])
    assert isinstance(settled(server, add(server, capture_bytes)), Ready)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "the queue of imports cannot be reached" in log


def test_ids_of_killed_workers_do_not_stay_in_the_queue(
    own_postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that started within 30 s of another's death looked once, and too early."""
    monkeypatch.setattr(queue_runner, "STALLED_AFTER_S", 0.5)
    monkeypatch.setattr(queue_runner, "FORGET_EVERY_S", 0.1)
    queue_runner.prepare(own_postgres.url)

    async def left_after_a_while() -> int:
        connector = procrastinate.PsycopgConnector(conninfo=own_postgres.url)
        app = procrastinate.App(connector=connector)
        app.task(name=queue_runner.TASK, queue=queue_runner.QUEUE)(print)
        async with app.open_async():
            await app.configure_task(queue_runner.TASK, queue=queue_runner.QUEUE).defer_async()
            (dead,) = await connector.execute_query_all_async(
                "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now()) RETURNING id"
            )
            doing = "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %(id)s"
            await connector.execute_query_async(doing, id=dead["id"])
            looking = asyncio.create_task(queue_runner._forget_stalled_for_ever(app))
            rows = [object()]
            for _ in range(100):
                await asyncio.sleep(0.1)
                rows = await connector.execute_query_all_async("SELECT id FROM procrastinate_jobs")
                if not rows:
                    break
            looking.cancel()
            return len(rows)

    # In a thread: browser tests of the same process leave a loop running.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(left_after_a_while())).result() == 0

"""The machine fails: processes killed, disks full or read-only, databases locked or damaged."""

import contextlib
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from roofline.errors import RooflineError, SettingsError, StorageFullError, StoreUnavailableError
from roofline.library.build import Backend
from roofline.library.reader import Failed, Importing, Ready
from roofline.model.outer_limits import MAX_ATTEMPTS
from roofline.storage.database import FILE_NAME
from roofline.web.upkeep import run_doctor, run_gc
from tests.conftest import PYTHON_PATH, ROOT
from tests.storage.places import (
    LEASE_S,
    Place,
    Workers,
    add,
    eventually,
    logged_sweeps,
    raw_bytes,
    settled,
    stored,
)
from tests.storage.test_both_places import store_of
from tests.tools.services import Postgres

# One crash of a server, a fork server, a child, a disk, and a worker; `make crash` has 500.
CYCLES = 5


def running(server: Backend, *profile_ids: str) -> list[str]:
    """Waits until each profile is in mid-job; the owners of the leases."""
    deadline = time.monotonic() + 30
    while True:
        with store_of(server).database.read() as connection:
            rows = connection.exec_driver_sql("SELECT profile_id, owner, phase FROM job").all()
        owners = {row[0]: row[1] for row in rows if row[2] == "read"}
        if set(profile_ids) <= set(owners):
            return [owners[profile_id] for profile_id in profile_ids]
        assert time.monotonic() < deadline, rows
        time.sleep(0.05)


def test_killing_processes_and_filling_disks_again_and_again_loses_nothing_that_was_promised(
    tmp_path: Path,
) -> None:
    given = ["--folder", str(tmp_path), "--cycles", str(CYCLES)]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tests.storage.crash", *given],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(rf"{CYCLES} crashes, (\d+) uploads promised, none lost", done.stdout)
    assert found is not None
    assert int(found[1]) >= CYCLES
    for kind in ("server", "fork server", "child"):
        assert f"crashes of: {kind}" in done.stdout


def test_job_of_a_killed_worker_is_done_by_the_other(servers: Place, tmp_path: Path) -> None:
    assert servers.workers is not None
    gate = tmp_path / "gate"
    server = servers.server()
    ids = [add(server, b"wait %s %d" % (bytes(gate), number)) for number in range(2)]
    owners = running(server, *ids)
    pids = [int(owner.split(":")[1]) for owner in owners]
    assert len(set(pids)) == 2, "each worker has one"
    servers.workers.kill(pids[0])
    gate.touch()
    try:
        for profile_id in ids:
            assert isinstance(settled(server, profile_id), Ready)
        job = store_of(server).jobs.newest(ids[0])
        assert job is not None
        assert job.attempts == 2
        assert raw_bytes(server, ids[0]) == [b"wait %s 0" % bytes(gate)]
    finally:
        servers.workers.start()


def test_restart_of_the_database_in_mid_job_loses_nothing(
    folder: Place, own_postgres: Postgres, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    options = {
        "database_url": own_postgres.url,
        "blobs": f"file://{tmp_path / 'blobs'}",
        "runner": "procrastinate",
    }
    workers = Workers(tmp_path, options)
    workers.start()
    server = Place(root=tmp_path, stack=folder.stack, options=options).server()
    profile_id = add(server, b"wait %s" % bytes(gate))
    running(server, profile_id)
    own_postgres.stop()
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        server.reader.state(profile_id)
    own_postgres.start()
    gate.touch()
    assert isinstance(settled(server, profile_id), Ready)
    stored(server, b"stub afterwards")
    assert workers.stop() == [0]


def test_results_do_not_depend_on_who_computed_them_and_how_often(
    servers: Place, folder: Place, capture_bytes: bytes
) -> None:
    elsewhere, here = servers.server("team"), folder.server("own")
    pages = []
    for server in (elsewhere, here):
        profile_id = stored(server, capture_bytes, title="same")
        store_of(server).results.remove(profile_id)
        assert isinstance(settled(server, profile_id), Ready)
        page = server.reader.result(profile_id, "roofline-in.json").plain()
        pages.append(page.replace(profile_id.encode(), b""))
    assert pages[0] == pages[1]


def test_stopping_the_server_queues_its_imports_for_the_next_start(
    folder: Place, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    server = folder.server()
    ids = [add(server, b"wait %s %d" % (bytes(gate), number)) for number in range(3)]
    running(server, *ids[:2])
    server.instance.close()
    assert not list((tmp_path / "server" / "incoming").glob("*/*"))
    gate.touch()
    server = folder.server()
    for profile_id in ids:
        assert isinstance(settled(server, profile_id), Ready)
        job = store_of(server).jobs.newest(profile_id)
        assert job is not None
        assert job.attempts == 1  # being interrupted does not count


def test_import_that_always_takes_its_process_along_is_given_up(
    folder: Place, tmp_path: Path
) -> None:
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "never"))
    running(server, profile_id)
    with store_of(server).database.write() as connection:
        connection.exec_driver_sql(
            f"UPDATE job SET attempts = {MAX_ATTEMPTS}, lease_until = 0, owner = 'dead'"
        )
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert f"interrupted {MAX_ATTEMPTS} times" in state.error.message
    assert state.can_retry


def test_two_deliveries_of_a_job_are_one_import(folder: Place, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(gate))
    running(server, profile_id)
    job = store_of(server).jobs.newest(profile_id)
    assert job is not None
    server.instance.deliver(job.id)
    gate.touch()
    assert isinstance(settled(server, profile_id), Ready)
    server.instance.deliver(job.id)
    job = store_of(server).jobs.newest(profile_id)
    assert job is not None
    assert (job.state, job.attempts) == ("done", 1)


def test_job_queued_by_an_older_version_is_done_by_the_next(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "gate"))
    running(server, profile_id)
    server.instance.close()
    store = store_of(server)
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE job SET version = 'v0-older'")
    job = store.jobs.newest(profile_id)
    assert job is not None
    assert store.jobs.claim(job.id, "a worker of this version", store.results.version) is None
    store.database.close()
    (tmp_path / "gate").touch()
    assert isinstance(settled(folder.server(), profile_id), Ready)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 12 MiB, of which SQLite's log keeps up to 4."""
    mount = tmp_path / "disk"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", mount], capture_output=True, text=True
    )
    if made.returncode != 0:
        pytest.skip(f"mounting a small disk needs root: {made.stderr.strip()}")
    yield mount
    subprocess.run(["umount", "--lazy", mount], check=True)


def test_full_disk_refuses_uploads_and_reads_go_on(folder: Place, small_disk: Path) -> None:
    place = Place(root=small_disk, stack=folder.stack)
    server = place.server()
    ids: list[str] = []
    for size in (200_000, 2_000):
        with pytest.raises(StorageFullError) as caught:
            ids.extend(add(server, b"stub " + os.urandom(size)) for _ in range(100))
        assert "Delete profiles" in caught.value.remedy or "space" in caught.value.remedy
    assert len(ids) >= 5
    n_ready, since = 0, time.monotonic()
    while ids:
        states = [server.reader.state(profile_id) for profile_id in ids]
        assert not [state for state in states if isinstance(state, Failed)]
        at = next((k for k, state in enumerate(states) if isinstance(state, Ready)), None)
        if at is not None:
            assert len(raw_bytes(server, ids[at])[0]) >= 2000
            n_ready += 1
        elif time.monotonic() < since + 3:
            time.sleep(0.05)
            continue
        # Imports without room wait until somebody deletes an upload. They cannot hinder that.
        server.library.remove(ids.pop(-1 if at is None else at))
        since = time.monotonic()
        assert time.monotonic() < since + 30
    assert n_ready
    stored(server, b"stub " + os.urandom(200_000))
    server.instance.close()
    assert run_doctor(place.settings(), quick=False, check_only=True) == 0


def test_profiles_can_be_deleted_when_others_filled_the_disk(
    folder: Place, small_disk: Path
) -> None:
    place = Place(root=small_disk, stack=folder.stack)
    server = place.server()
    kept, gone = (stored(server, b"stub " + os.urandom(400_000)) for _ in range(2))
    # A reader: until it is done, the log of the database can only grow.
    with store_of(server).database.read() as reader:
        reader.execute(text("SELECT count(*) FROM profile")).scalar_one()
        with pytest.raises(StorageFullError):
            for number in range(200):  # the log has room of its own, and an import gives some back
                fill(small_disk / f"of-another-program-{number}")
                server.library.edit(kept, note=f"{number} " + "x" * 9_000)
        server.library.remove(gone)
    assert [m.id for m in server.queries.search().profiles] == [kept]
    server.library.edit(kept, note="x" * 9_000)  # what was deleted left room


def fill(path: Path) -> None:
    """Takes all that the disk has."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


def test_database_that_cannot_grow_is_said_and_recovers(folder: Place) -> None:
    server = folder.server()
    kept = stored(server, b"stub kept")
    engine = store_of(server).database._writer
    with engine.connect() as connection:  # the same connection: there is only one
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageFullError, match="database"):
        for number in range(100):
            server.library.edit(kept, note=f"{number} " * 4000)
            stored(server, b"stub %d" % number)
    assert raw_bytes(server, kept) == [b"stub kept"]
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    stored(server, b"stub again")


def test_locked_database_is_busy_not_broken(folder: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofline.storage.database.BUSY_WAIT_S", 0.1)
    server = folder.server()
    profile_id = stored(server, b"stub")
    other = sqlite3.connect(folder.root / "server" / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="in use by another program"):
        server.library.edit(profile_id, title="x")
    assert isinstance(server.reader.state(profile_id), Ready)  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    assert server.library.edit(profile_id, title="x").title == "x"


def test_damaged_database_is_said_at_the_start_and_by_the_doctor(
    folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    server = folder.server()
    for number in range(20):
        add(server, b"stub %d" % number, note="x" * 5000)
    server.instance.close()
    path = folder.root / "server" / FILE_NAME
    content = path.read_bytes()
    path.write_bytes(b"not a database at all" * 1000)
    with pytest.raises(RooflineError, match="damaged") as caught:
        folder.server()
    assert "backup" in caught.value.remedy
    half = len(content) // 2  # the tables begin in the first half, their rows go on in the second
    path.write_bytes(content[:half] + bytes(len(content) - half))
    with pytest.raises(StoreUnavailableError, match="damaged") as found:
        folder.server()
    assert "backup" in found.value.remedy
    assert run_doctor(folder.settings(), quick=False, check_only=True) == 1
    assert "the database" in capsys.readouterr().out


def test_read_only_folder_is_refused_in_words(tmp_path: Path) -> None:
    if os.getuid() == 0:
        mount = tmp_path / "readonly"
        mount.mkdir()
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", mount], capture_output=True, text=True
        )
        if made.returncode != 0:
            pytest.skip(f"mounting a read-only disk is not allowed here: {made.stderr.strip()}")
    else:
        mount = tmp_path / "readonly"
        mount.mkdir(mode=0o500)
    try:
        with pytest.raises(SettingsError, match=r"cannot be used: .*(read-only|permission)"):
            Place(root=mount).server()
    finally:
        if os.getuid() == 0:
            subprocess.run(["umount", "--lazy", mount], check=True)


def test_second_server_on_one_folder_is_refused(folder: Place) -> None:
    folder.server()
    with pytest.raises(SettingsError, match="Another server"):
        folder.server()


def test_database_that_is_gone_is_said_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://user:geheim@127.0.0.1:1/nothing"
    place = Place(root=tmp_path, options={"database_url": url})
    with pytest.raises(StoreUnavailableError, match="cannot be reached") as caught:
        place.server()
    assert "geheim" not in caught.value.message + caught.value.remedy
    with pytest.raises(SettingsError, match="PostgreSQL") as refused:
        Place(root=tmp_path, options={"database_url": "mysql://u:geheim@h/d"}).server()
    assert "geheim" not in refused.value.message + refused.value.remedy


def test_object_store_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim")
    monkeypatch.setattr("roofline.storage.object_connection.RETRY_S", 0.1)
    place = Place(root=tmp_path, options={"blobs": "s3://b/p?endpoint=http://127.0.0.1:1&region=x"})
    with pytest.raises(StoreUnavailableError, match="object store"):
        server = place.server()
        place.stack.callback(server.instance.close)
        server.instance.check()
    place.stack.close()


@pytest.mark.parametrize("runner", ["celery", "local:0", "local:x", "procrastinate:2"])
def test_runner_that_does_not_exist_is_refused(tmp_path: Path, runner: str) -> None:
    with pytest.raises(SettingsError, match="ROOFLINE_RUNNER"):
        Place(root=tmp_path, options={"runner": runner}).server()


def test_queue_without_postgresql_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="PostgreSQL"):
        Place(root=tmp_path, options={"runner": "procrastinate"}).server()


def test_what_was_removed_is_written_down(folder: Place) -> None:
    server = folder.server()
    store_of(server).raw.put(server.library.stage().receive_all("x", [b"1"]))
    server.instance.close()
    store = store_of(folder.server())

    def written() -> list[Any]:
        with store.database.read() as connection:
            return list(logged_sweeps(connection))

    eventually(lambda: len(written()) == 1)  # the server sweeps after its first answers
    (entry,) = written()
    assert (entry["action"], entry["subject"]) == ("orphans", "1 without a profile")


def test_server_started_with_the_wrong_database_removes_nothing(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    server = place.server()
    profile_id = stored(server, b"stub precious")
    if place.is_shared:
        wrong = Place(root=place.root, stack=place.stack, options={"blobs": place.options["blobs"]})
        wrong.server("other").instance.close()
        settings = wrong.settings("other")
    else:
        server.instance.close()
        database = place.root / "server" / FILE_NAME
        database.rename(place.root / "put aside")
        wrong = Place(root=place.root, stack=place.stack)
        wrong.server().instance.close()
        settings = wrong.settings()
    with pytest.raises(SettingsError, match="another database"):
        run_gc(settings, dry_run=False)
    assert run_doctor(settings, quick=True, check_only=False) == 1
    assert "the raw files: belong to another database" in capsys.readouterr().out
    if not place.is_shared:
        (place.root / "put aside").rename(database)
        server = place.server()
    assert raw_bytes(server, profile_id) == [b"stub precious"]


def test_raw_files_may_lie_in_another_folder(folder: Place, tmp_path: Path) -> None:
    options = {"blobs": f"file://{tmp_path / 'elsewhere'}"}
    server = folder.server(**options)
    profile_id = stored(server, b"stub far")
    assert not (tmp_path / "server" / "blobs").exists()
    store = store_of(server)
    store.results.remove(profile_id)
    assert isinstance(server.reader.state(profile_id), Ready)  # fetched, not computed again
    server.library.remove(profile_id)
    assert not list((tmp_path / "elsewhere").rglob("*.*"))


def test_lease_is_longer_than_two_beats() -> None:
    from roofline.imports import job_run
    from roofline.model import outer_limits

    assert outer_limits.LEASE_S == LEASE_S  # as the tests set it; the real one is in the module
    assert job_run.BEAT_EVERY_S * 2 <= LEASE_S


def test_library_that_was_closed_is_opened_again_and_goes_on(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "gate"), title="survivor")
    running(server, profile_id)
    server.instance.close()
    server.instance.open()
    state = server.reader.state(profile_id)
    assert isinstance(state, Importing)
    assert state.title == "survivor"
    (tmp_path / "gate").touch()
    assert isinstance(settled(server, profile_id), Ready)

"""What a start does before it answers, and what it leaves for later."""

from pathlib import Path

import pytest

from roofline.errors import StoreUnavailableError
from roofline.imports.job_runs import LocalRunner
from roofline.library import upkeep
from roofline.library.reader import Importing, Ready
from roofline.storage.jobs import JobStore
from tests.storage.places import Place, add, eventually, settled


def test_imports_go_on_after_the_folder_is_claimed(folder: Place, tmp_path: Path) -> None:
    """A hundred queued imports do not hold up the first answers."""
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "gate"))
    eventually(lambda: server.instance.runs.task(profile_id) is not None)
    server.instance.close()
    (tmp_path / "gate").touch()
    server.instance.claim()
    assert isinstance(server.reader.state(profile_id), Importing)
    assert server.instance.runs.task(profile_id) is None
    job = server.instance.store.jobs.newest(profile_id)
    assert job is not None and job.state == "queued"
    server.instance.open()
    assert isinstance(settled(server, profile_id), Ready)


def test_what_belongs_to_no_profile_goes_soon_after_a_start(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    add(server, b"stub 1")
    server.instance.close()
    lost = tmp_path / "server" / "blobs" / "ab" / f"{'ab' * 32}.zst"
    lost.parent.mkdir(exist_ok=True)
    lost.write_bytes(b"cut off")
    server.instance.open()
    eventually(lambda: not lost.exists())


def test_upload_that_was_cut_off_does_not_make_the_files_strange(
    folder: Place, postgres_url: str, tmp_path: Path
) -> None:
    """Its file is stored before its row; a server killed in between knew none of its own files."""
    server = folder.server(database_url=postgres_url, blobs=f"file://{tmp_path / 'new'}")
    area = server.library.stage()
    staged = area.receive_all("host_0.pb", [b"stub of nobody"])
    server.instance.store.raw.put(staged)
    area.discard()
    assert server.instance.store.owner.is_this_database()


def test_upkeep_outlives_any_fault(folder: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread delivers lost jobs: it ended silently with any error that was not ours."""
    server, failed = folder.server(), list[str]()
    due = JobStore.due

    def fails_once(jobs: JobStore, version: str, *, older_than_s: float = 0.0) -> list[str]:
        if not failed:
            failed.append(version)
            raise RuntimeError("a connection in an unknown state")
        return due(jobs, version, older_than_s=older_than_s)

    monkeypatch.setattr(JobStore, "due", fails_once)
    eventually(lambda: bool(failed))
    with monkeypatch.context() as patch:
        patch.setattr(LocalRunner, "submit", lambda _runner, _id: None)  # the queue loses it
        profile_id = add(server, b"stub 1")
    assert isinstance(settled(server, profile_id), Ready)


def test_job_whose_queue_was_away_is_delivered_in_the_next_turn(
    folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after the minute that a queue has to deliver by itself."""
    monkeypatch.setattr(upkeep, "LOST_AFTER_S", 3600.0)
    server, submit, refused = folder.server(), LocalRunner.submit, list[str]()

    def away_once(runner: LocalRunner, job_id: str) -> None:
        if not refused:
            refused.append(job_id)
            raise StoreUnavailableError("The queue is away.", remedy="Wait.")
        submit(runner, job_id)

    monkeypatch.setattr(LocalRunner, "submit", away_once)
    profile_id = add(server, b"stub 1")
    assert isinstance(settled(server, profile_id), Ready) and refused

"""Faults that are not the file's: they cost no upload, and another try is one call away."""

import os
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from roofline.errors import DamagedCopyError
from roofline.imports import children
from roofline.library.build import Backend
from roofline.library.reader import Failed, Importing, Ready
from roofline.model.outer_limits import MAX_ATTEMPTS, pause_s
from roofline.storage import statements
from roofline.storage.sweeping import sweep_over_quota
from tests.children.processes import children_of, program_id
from tests.storage.places import Place, add, eventually, raw_bytes, settled, stored
from tests.storage.test_both_places import digests, store_of
from tests.storage.test_faults import running


def held(server: Backend, profile_id: str) -> list[bytes]:
    """The raw files of a profile in any state."""
    found = store_of(server).queries.get(profile_id)
    assert found is not None
    return [b"".join(store_of(server).raw.chunks(file)) for file in found.files]


def fork_server() -> int:
    """The process that the imports of this process are forked from."""
    return program_id(children._PROGRAM)


def given_up(server: Backend, profile_id: str) -> Failed:
    """The profile after its server died in all attempts."""
    with store_of(server).database.write() as connection:
        connection.exec_driver_sql(
            f"UPDATE job SET attempts = {MAX_ATTEMPTS}, lease_until = 0, owner = 'dead'"
        )
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert f"interrupted {MAX_ATTEMPTS} times" in state.error.message
    return state


def test_import_that_was_given_up_is_tried_again(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    content = b"wait %s" % bytes(tmp_path / "gate")
    profile_id = add(server, content, title="mine", tags=["kept"])
    running(server, profile_id)
    assert given_up(server, profile_id).can_retry
    assert held(server, profile_id) == [content]
    (tmp_path / "gate").touch()
    server.library.retry(profile_id)
    state = settled(server, profile_id)
    assert isinstance(state, Ready)
    assert (state.manifest.title, state.manifest.tags) == ("mine", ("kept",))
    assert state.manifest.expires_at is None
    assert raw_bytes(server, profile_id) == [content]
    server.library.retry(profile_id)  # nothing is left to try
    assert isinstance(server.reader.state(profile_id), Ready)


def test_failed_import_is_kept_for_a_week_and_after_a_restart(folder: Place) -> None:
    server = folder.server()
    profile_id = add(server, b"fail for good")
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert not state.can_retry, "this is about the file"
    server.instance.close()
    server = folder.server()
    server.instance.upkeep.sweep()
    assert held(server, profile_id) == [b"fail for good"]
    with store_of(server).database.read() as connection:
        upload = statements.upload_of(connection, profile_id)
    assert upload is not None
    assert upload.expires_at is not None
    kept_until = datetime.fromisoformat(upload.expires_at)
    assert kept_until > datetime.now(UTC) + timedelta(days=6, hours=23)
    server.library.retry(profile_id)  # a newer release may read it
    again = settled(server, profile_id)
    assert isinstance(again, Failed)
    assert again.error.message == state.error.message


def test_kept_failures_count_and_go_with_the_quota(folder: Place) -> None:
    server = folder.server()
    before = digests(server)
    profile_id = add(server, b"fail " + os.urandom(50_000))
    settled(server, profile_id)
    assert server.queries.stats().stored_bytes > 50_000
    assert sweep_over_quota(store_of(server), 1_000) == 1
    assert digests(server) == before


def test_retry_while_an_import_runs_does_nothing(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "gate"))
    running(server, profile_id)
    server.library.retry(profile_id)
    (tmp_path / "gate").touch()
    assert isinstance(settled(server, profile_id), Ready)


def test_two_requests_to_try_again_are_one_import(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "gate"))
    running(server, profile_id)
    given_up(server, profile_id)
    (tmp_path / "gate").touch()
    threads = [threading.Thread(target=server.library.retry, args=(profile_id,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isinstance(settled(server, profile_id), Ready)


def test_analysis_that_failed_is_tried_again_at_once(folder: Place) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub")
    store = store_of(server)
    (file,) = server.reader.manifest(profile_id).files
    packed = next(folder.root.glob(f"server/blobs/??/{file.sha256}*"))
    aside = packed.rename(folder.root / "aside")
    store.results.remove(profile_id)
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert isinstance(state.error, DamagedCopyError)
    assert state.can_retry
    aside.rename(packed)
    server.library.retry(profile_id)
    assert isinstance(settled(server, profile_id), Ready)


def test_fork_server_that_is_killed_between_imports_is_replaced(folder: Place) -> None:
    server = folder.server()
    stored(server, b"stub first")
    os.kill(fork_server(), signal.SIGKILL)
    stored(server, b"stub second")


def test_fork_server_that_dies_while_it_starts_an_import_costs_no_attempt(folder: Place) -> None:
    server = folder.server()
    stored(server, b"stub first")
    pid = fork_server()
    os.kill(pid, signal.SIGSTOP)  # it takes the connection, and answers nothing
    profile_id = add(server, b"stub second")
    eventually(lambda: attempts(server, profile_id) == 1)
    time.sleep(0.2)
    os.kill(pid, signal.SIGKILL)
    assert isinstance(settled(server, profile_id), Ready)
    assert attempts(server, profile_id) == 1


def attempts(server: Backend, profile_id: str) -> int:
    job = store_of(server).jobs.newest(profile_id)
    assert job is not None
    return job.attempts


def has_begun(server: Backend, profile_id: str, attempt: int) -> bool:
    return attempts(server, profile_id) == attempt


def test_child_that_is_killed_again_and_again_is_started_again(
    folder: Place, tmp_path: Path
) -> None:
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "gate"))
    for kills in range(1, 5):
        running(server, profile_id)
        (child,) = children_of(fork_server())
        os.kill(child, signal.SIGKILL)
        eventually(partial(has_begun, server, profile_id, kills + 1))
        assert isinstance(server.reader.state(profile_id), Importing)
    (tmp_path / "gate").touch()
    assert isinstance(settled(server, profile_id), Ready)


def test_a_restart_after_two_kills_waits_for_a_pause_and_says_so(
    folder: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roofline.model.outer_limits.FIRST_PAUSE_S", 60.0)
    server = folder.server()
    profile_id = add(server, b"wait %s" % bytes(tmp_path / "gate"))
    running(server, profile_id)
    with store_of(server).database.write() as connection:
        connection.exec_driver_sql("UPDATE job SET attempts = 2")
    store_of(server).jobs.take_back()
    state = server.reader.state(profile_id)
    assert isinstance(state, Importing)
    assert state.waits_for == "machine"
    assert store_of(server).jobs.due(store_of(server).results.version) == []


def test_pauses_grow_to_a_quarter_of_an_hour() -> None:
    pauses = [pause_s(attempts) for attempts in range(1, MAX_ATTEMPTS)]
    assert pauses[:4] == [0, 0.1, 0.2, 0.4]  # as the tests set the first; the real one is 2 s
    assert max(pauses) < 900 == pause_s(MAX_ATTEMPTS + 9)

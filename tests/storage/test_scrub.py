"""The regular check: everything is read, what can be repaired is, and the rest is reported."""

import time
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from roofline.library.build import Backend
from roofline.library.reader import Importing
from roofline.library.upkeep import Scrubbing
from roofline.storage.jobs import JobStore
from roofline.storage.raw import key_of
from roofline.storage.records import ScrubState
from roofline.storage.results import PAGE
from roofline.storage.scrub import Scrub, examine
from roofline.web.upkeep import run_doctor
from tests.storage.places import Place, add, eventually, settled, stored
from tests.storage.test_both_places import damage, store_of
from tests.storage.test_healing import flipped, read_all, results_of

WEEK_S = 7 * 24 * 3600.0


def scrub_of(server: Backend, every_s: float = WEEK_S) -> Scrub:
    return Scrub(store_of(server), server.instance.deliver, every_s)


def checked_all(scrub: Scrub) -> int:
    """Checks until nothing is due; how many files and profiles."""
    count = 0
    while scrub.step():
        count += 1
    return count


def states(server: Backend) -> dict[str, ScrubState]:
    return {one.part: one for one in server.queries.stats().scrubs}


def test_everything_is_read_once_in_a_week(place: Place) -> None:
    server = place.server()
    for number in range(3):
        stored(server, b"stub %d" % number)
    settled(server, add(server, b"fail but kept"))
    scrub = scrub_of(server)
    database = 0 if place.is_shared else 1
    assert checked_all(scrub) == 4 + 3 + database
    found = states(server)
    assert (found["raw"].checked, found["results"].checked) == (4, 3)
    for one in found.values():
        assert one.finished_at == pytest.approx(time.time(), abs=60)
    assert checked_all(scrub) == 0
    with store_of(server).database.write() as connection:
        past = {"s": time.time() - WEEK_S}
        connection.execute(text("UPDATE scrub SET started_at = :s, finished_at = :s"), past)
    assert checked_all(scrub) == 7 + database


def test_page_of_the_database_that_rots_is_said_by_the_next_check(
    folder: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = folder.server()
    stored(server, b"stub")
    monkeypatch.setattr(store_of(server).database, "fault", lambda: "row 7 missing")
    checked_all(scrub_of(server))
    assert "the database is damaged (row 7 missing). Stop the server and restore" in caplog.text
    assert server.queries.stats().damaged_files == 1
    monkeypatch.undo()
    checked_all(scrub_of(server, every_s=0.0))
    assert server.queries.stats().damaged_files == 0


def test_damaged_raw_file_is_reported_until_it_is_uploaded_again(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = place.server()
    content = b"stub " + bytes(range(256)) * 40
    profile_id = stored(server, content)
    checked_all(scrub_of(server))
    assert server.queries.stats().damaged_files == 0
    damage(server, profile_id, tmp_path / "flipped", lambda old: old[:60] + flipped(old[60:]))
    checked_all(scrub_of(server, every_s=0))
    assert server.queries.stats().damaged_files == 1
    assert run_doctor(place.settings(), quick=True, check_only=True) == 1
    said = capsys.readouterr().out
    assert "the raw file host_0.pb is damaged" in said
    assert "Last checked by the server: raw, 20" in said
    add(server, content)
    assert server.queries.stats().damaged_files == 0
    assert run_doctor(place.settings(), quick=True, check_only=True) == 0


def test_an_import_that_ends_during_the_check_is_not_lost(
    folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = folder.server()
    store, asked = store_of(server), type(store_of(server).jobs).under_way

    def has_ended(profile_id: str) -> bool:
        return not isinstance(server.reader.state(profile_id), Importing)

    def asked_when_all_have_ended(jobs: JobStore, profile_ids: list[str]) -> set[str]:
        for profile_id in profile_ids:
            eventually(partial(has_ended, profile_id))
        return asked(jobs, profile_ids)

    monkeypatch.setattr(type(store.jobs), "under_way", asked_when_all_have_ended)
    for number in range(20):
        add(server, b"stub " + bytes([number]) * 50)
        assert not list(examine(store, repair=True, quick=True, grace_s=60.0))


def test_damage_is_forgotten_with_the_file(folder: Place) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub lost")
    (file,) = server.reader.manifest(profile_id).files
    store_of(server).blobs.delete(key_of(file.sha256))
    checked_all(scrub_of(server))
    assert server.queries.stats().damaged_files == 1
    server.library.remove(profile_id)
    assert server.queries.stats().damaged_files == 0


def test_damaged_results_are_repaired(folder: Place) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub results")
    whole = read_all(server, profile_id)
    path = results_of(folder, profile_id) / PAGE
    path.write_bytes(flipped(path.read_bytes()))
    checked_all(scrub_of(server))
    assert states(server)["results"].repaired == 1
    eventually(lambda: store_of(server).results.has(profile_id))
    assert path.read_bytes()
    assert store_of(server).results.is_intact(profile_id)
    assert read_all(server, profile_id) == whole


def test_damaged_results_in_the_object_store_are_repaired(servers: Place, tmp_path: Path) -> None:
    server = servers.server()
    profile_id = stored(server, b"stub results")
    store = store_of(server)
    (key,) = [info.key for info in store.blobs.list(f"results/{profile_id}/")]
    packed = b"".join(store.blobs.open(key))
    (tmp_path / "damaged").write_bytes(flipped(packed))
    store.blobs.put(key, tmp_path / "damaged")
    checked_all(scrub_of(server))
    assert states(server)["results"].repaired == 1
    settled(server, profile_id)
    eventually(lambda: store.blobs.head(key) is not None)
    assert b"".join(store.blobs.open(key)) == packed


def test_check_goes_on_after_a_restart(folder: Place) -> None:
    server = folder.server()
    for number in range(4):
        stored(server, b"stub %d" % number)
    scrub = scrub_of(server)
    assert scrub.step()
    assert scrub.step()
    with store_of(server).database.write() as connection:  # the one that ended had it
        connection.execute(text("UPDATE scrub SET lease_until = 0"))
    assert checked_all(scrub_of(server)) == 3 + 4


def test_one_server_checks_at_a_time(folder: Place) -> None:
    server = folder.server()
    stored(server, b"stub 1")
    first, second = scrub_of(server), scrub_of(server)
    assert first.step() and first.step()  # the database, and the file
    assert not second._step("raw", lambda _bytes: None)
    assert checked_all(first) == 1


def test_server_checks_by_itself_and_stops_at_once(
    folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roofline.library.upkeep.FIRST_AFTER_S", 0.0)
    server = folder.server()
    stored(server, b"stub 1")
    server.instance.close()
    server = folder.server()
    eventually(lambda: any(one.finished_at for one in server.queries.stats().scrubs))
    monkeypatch.setattr("roofline.library.upkeep.BYTES_PER_S", 1e-9)
    slow = Scrubbing(scrub_of(server, every_s=0))
    slow.start()
    time.sleep(0.2)
    before = time.monotonic()
    slow.stop()
    assert time.monotonic() - before < 5


def test_check_may_be_turned_off(folder: Place) -> None:
    assert folder.server(scrub_days=0.0).instance._scrubbing is None

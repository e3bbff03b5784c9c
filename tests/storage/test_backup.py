"""Backup, restore, gc and doctor, as the command line runs them."""

import threading
from pathlib import Path

import pytest

from roofline.errors import SettingsError
from roofline.library.reader import Ready
from roofline.settings import Settings
from roofline.storage.database import FILE_NAME
from roofline.storage.raw import key_of
from roofline.web.upkeep import run_backup, run_doctor, run_gc, run_restore
from tests.storage.places import Place, add, raw_bytes, settled, stored
from tests.storage.test_both_places import damage, digests, store_of


def test_backup_while_serving_is_restored_elsewhere(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = place.server()
    one = stored(server, b"stub one", b"stub two", title="One", tags=["t"], uploader="ada")
    two = stored(server, b"stub one", title="Two", note="n")
    server.library.edit(two, pinned=True)
    assert run_backup(place.settings(), tmp_path / "backup") == 0
    assert "2 profiles, 2 raw files" in capsys.readouterr().out
    manifests = {m.id: m for m in server.queries.search().profiles}

    elsewhere = Place(root=tmp_path / "elsewhere", stack=place.stack)
    elsewhere.root.mkdir()
    assert run_restore(elsewhere.settings(), tmp_path / "backup") == 0
    restored = elsewhere.server()
    assert {m.id: m for m in restored.queries.search().profiles} == manifests
    assert raw_bytes(restored, one) == [b"stub one", b"stub two"]
    assert isinstance(settled(restored, one), Ready)  # results are computed again
    restored.instance.close()
    with pytest.raises(SettingsError, match="already"):
        run_restore(elsewhere.settings(), tmp_path / "backup")


def test_folder_moves_to_servers_by_backup_and_restore(
    folder: Place, servers: Place, tmp_path: Path
) -> None:
    server = folder.server()
    first, second = (stored(server, b"stub %d" % number, title=f"{number}") for number in (1, 2))
    run_backup(folder.settings(), tmp_path / "backup")
    assert run_restore(servers.settings("moved"), tmp_path / "backup") == 0
    moved = servers.server("moved")
    shown, was = (one.queries.search(limit=5).profiles for one in (moved, server))
    assert [m.id for m in shown] == [m.id for m in was]
    assert raw_bytes(moved, first) == [b"stub 1"]
    assert isinstance(settled(moved, second), Ready)
    third = stored(moved, b"stub 3")  # numbers go on after those that were moved
    assert moved.queries.search().total == 3
    moved.library.remove(third)


def test_backup_is_whole_while_profiles_come_and_go(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    kept = stored(server, b"stub kept")
    done = threading.Event()

    def come_and_go() -> None:
        number = 0
        while not done.is_set():
            number += 1
            server.library.remove(add(server, b"stub %d" % number))

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        statuses = [run_backup(folder.settings(), tmp_path / f"b{number}") for number in range(5)]
    finally:
        done.set()
        thread.join()
    assert statuses == [0] * 5
    for number in range(5):
        settings = Settings.from_env(data_dir=tmp_path / f"r{number}")
        assert run_restore(settings, tmp_path / f"b{number}") == 0
        assert run_doctor(settings, quick=False, check_only=True) == 0
        restored = Place(root=tmp_path, stack=folder.stack).server(f"r{number}")
        assert raw_bytes(restored, kept) == [b"stub kept"]
        restored.instance.close()


def test_backup_refuses_a_full_folder_and_restore_what_is_no_backup(
    folder: Place, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="no store"):
        run_backup(folder.settings("nothing"), tmp_path / "b")
    folder.server().instance.close()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(SettingsError, match="not empty"):
        run_backup(folder.settings(), tmp_path / "full")
    with pytest.raises(SettingsError, match="not a backup"):
        run_restore(folder.settings("new"), tmp_path / "full")


def test_doctor_says_what_is_wrong_and_repairs_what_it_can(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = place.server()
    whole, cut, gone = (stored(server, b"stub %d" % n + bytes(range(200))) for n in range(3))
    damage(server, cut, tmp_path / "cut", lambda packed: packed[:30])
    store = store_of(server)
    (file,) = server.reader.manifest(gone).files
    store.blobs.delete(key_of(file.sha256))
    (page,) = tmp_path.glob(f"server/derived/{whole}/*/page.json")
    page.write_bytes(page.read_bytes()[:-4])
    area = server.library.stage()
    store.raw.put(area.receive_all("x", [b"orphan"]))
    lost = add(server, b"wait %s" % bytes(tmp_path / "never"))
    with store.database.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM job WHERE profile_id = '{lost}'")
    server.instance.close()

    assert run_doctor(place.settings(), quick=False, check_only=False) == 1
    said = capsys.readouterr().out
    assert f"profile {cut}: the raw file host_0.pb is damaged" in said
    assert f"profile {gone}: the raw file host_0.pb is missing" in said
    assert f"repaired: profile {whole}: its results are damaged" in said
    assert f"repaired: profile {lost}: its import was lost" in said
    if not place.is_shared:  # beside others, fresh bytes may belong to an upload under way
        assert "repaired: 1 raw files and 0 sets of results: belong to no profile" in said
    (tmp_path / "never").touch()

    server = place.server()
    for profile_id in (cut, gone):
        number = [cut, gone].index(profile_id) + 1
        stored(server, b"stub %d" % number + bytes(range(200)))
    assert isinstance(settled(server, lost), Ready)
    assert isinstance(settled(server, whole), Ready)
    server.instance.close()
    assert run_doctor(place.settings(), quick=False, check_only=False) == 0
    assert "0 findings" in capsys.readouterr().out


def test_doctor_beside_a_server_only_looks(
    folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub")
    store_of(server).raw.remove(server.reader.manifest(profile_id).files[0].sha256)
    assert run_doctor(folder.settings(), quick=True, check_only=False) == 1
    said = capsys.readouterr().out
    assert "nothing is repaired" in said
    assert "is missing" in said


def test_gc_removes_what_its_dry_run_names(
    folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    server = folder.server()
    kept = stored(server, b"stub kept")
    orphan = server.library.stage().receive_all("x", [b"orphan"])
    store_of(server).raw.put(orphan)
    with pytest.raises(SettingsError, match="Another server"):
        run_gc(folder.settings(), dry_run=False)
    server.instance.close()
    small = folder.settings().model_copy(update={"quota_bytes": 1})
    assert run_gc(small, dry_run=True) == 0
    said = capsys.readouterr().out
    assert orphan.sha256 in said
    assert f"over quota: {kept}" in said
    run_gc(folder.settings(), dry_run=False)
    assert "1 without a profile" in capsys.readouterr().out
    server = folder.server()
    assert len(digests(server)) == 1
    assert raw_bytes(server, kept) == [b"stub kept"]


def test_backup_of_an_older_schema_is_brought_up_to_date(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    stored(server, b"stub")
    run_backup(folder.settings(), tmp_path / "backup")
    before = (tmp_path / "backup" / FILE_NAME).read_bytes()
    assert run_restore(folder.settings("new"), tmp_path / "backup") == 0
    assert (tmp_path / "backup" / FILE_NAME).read_bytes() == before

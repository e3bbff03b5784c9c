"""The trash: nothing in it is shown, all of it can be restored, and it is purged in time."""

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import text

from roofline.errors import ProfileNotFoundError, StorageFullError
from roofline.library.build import Backend
from roofline.library.reader import Failed, Ready
from roofline.storage.sweeping import empty_trash, sweep_expired, sweep_over_quota, sweep_trash
from roofline.web.upkeep import run_gc
from tests.storage.places import Place, add, logged_sweeps, raw_bytes, settled, stored

WEEK = timedelta(days=7)


def is_gone(server: Backend, profile_id: str) -> bool:
    try:
        server.reader.state(profile_id)
    except ProfileNotFoundError:
        return True
    return False


def age(server: Backend, column: str, moment: str = "2020-01-01T00:00:00Z") -> None:
    with server.instance.store.database.write() as connection:
        statement = text(f"UPDATE profile SET {column} = :moment WHERE {column} IS NOT NULL")
        connection.execute(statement, {"moment": moment})


def test_deleted_profile_is_restored_whole(place: Place) -> None:
    server = place.server(trash_days=7)
    profile_id = stored(server, b"stub one", title="Mine", tags=["x"], uploader="ada")
    server.library.edit(profile_id, pinned=True)
    before = server.reader.manifest(profile_id)
    server.library.delete(profile_id)
    assert is_gone(server, profile_id)
    assert server.queries.search().total == 0 and server.queries.frequent_tags(5) == ()
    (found,) = server.queries.trashed("ada")
    assert (found.id, found.title, found.reason) == (profile_id, "Mine", "deleted")
    assert server.queries.trashed("eve") == () and len(server.queries.trashed(None)) == 1
    for change in (server.library.delete, server.library.retry):
        with pytest.raises(ProfileNotFoundError):
            change(profile_id)
    with pytest.raises(ProfileNotFoundError):
        server.library.edit(profile_id, title="Other")
    server.library.restore(profile_id)
    assert server.reader.manifest(profile_id) == before
    assert isinstance(settled(server, profile_id), Ready)
    assert raw_bytes(server, profile_id) == [b"stub one"]
    with pytest.raises(ProfileNotFoundError):
        server.library.restore(profile_id)


def test_trash_outlives_a_restart_and_the_sweeps_of_files(folder: Place) -> None:
    server = folder.server(trash_days=7)
    profile_id = stored(server, b"stub kept")
    server.library.delete(profile_id)
    server.instance.close()
    server = folder.server(trash_days=7)
    server.instance.upkeep.sweep()
    server.instance.upkeep.sweep_orphans(grace_s=-5)
    server.library.restore(profile_id)
    assert raw_bytes(server, profile_id) == [b"stub kept"]


def test_import_that_was_deleted_stops_and_starts_again(place: Place) -> None:
    server = place.server(trash_days=7)
    profile_id = add(server, b"nap 3")
    server.library.delete(profile_id)
    assert is_gone(server, profile_id)
    server.library.restore(profile_id)
    assert isinstance(settled(server, profile_id), Ready)


def test_failed_profile_is_restored_as_such(place: Place) -> None:
    server = place.server(trash_days=7)
    profile_id = add(server, b"fail now")
    assert isinstance(settled(server, profile_id), Failed)
    server.library.delete(profile_id)
    age(server, "expires_at")
    server.library.restore(profile_id)
    assert sweep_expired(server.instance.store) == 0, "it has its week again"
    state = server.reader.state(profile_id)
    assert isinstance(state, Failed)


def test_expiry_and_quota_put_profiles_into_the_trash(place: Place) -> None:
    server = place.server(trash_days=7, retention_days=1)
    store = server.instance.store
    ids = [stored(server, b"stub %d" % number + bytes(1000)) for number in range(3)]
    each = server.queries.stats().stored_bytes // 3
    assert sweep_over_quota(store, each + each // 2) == 2
    assert sweep_over_quota(store, each + each // 2) == 0, "the trash does not count"
    age(server, "expires_at")
    assert sweep_expired(store) == 1
    assert sweep_expired(store) == 0
    reasons = {one.id: one.reason for one in server.queries.trashed(None)}
    assert reasons == {ids[0]: "over quota", ids[1]: "over quota", ids[2]: "expired"}
    server.library.restore(ids[2])
    assert sweep_expired(store) == 0, "it has its time again"
    assert raw_bytes(server, ids[2]) == [b"stub 2" + bytes(1000)]


def test_trash_is_purged_after_its_time_and_not_before(place: Place) -> None:
    server = place.server(trash_days=7)
    store = server.instance.store
    gone, twin = stored(server, b"stub same"), stored(server, b"stub same")
    alone = stored(server, b"stub alone")
    for one in (gone, alone):
        server.library.delete(one)
    assert sweep_trash(store) == 0
    age(server, "trashed_at")
    assert sweep_trash(store) == 2
    assert server.queries.trashed(None) == ()
    with pytest.raises(ProfileNotFoundError):
        server.library.restore(gone)
    assert raw_bytes(server, twin) == [b"stub same"], "its bytes are another's, too"
    assert sha256(b"stub alone").hexdigest() not in {digest for digest, _ in store.raw.list()}
    with store.database.read() as connection:
        assert [one["action"] for one in logged_sweeps(connection)] == ["purged", "purged"]


def test_purge_takes_one_out_of_the_trash_for_good(folder: Place) -> None:
    server = folder.server(trash_days=7)
    kept, gone = stored(server, b"stub kept"), stored(server, b"stub gone")
    with pytest.raises(ProfileNotFoundError):
        server.library.purge(kept)
    server.library.delete(gone)
    server.library.purge(gone)
    assert server.queries.trashed(None) == ()
    assert len(list(server.instance.store.raw.list())) == 1


def test_trash_makes_room_for_an_upload(folder: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    server = folder.server(trash_days=7)
    ids = [stored(server, b"stub %d" % number) for number in range(3)]
    for one in ids:
        server.library.delete(one)
    store = server.instance.store

    def check_room(size_bytes: int) -> None:
        if size_bytes > 2 - len(list(store.raw.list())):
            raise StorageFullError("The disk is full.", remedy="Free space.")

    monkeypatch.setattr(server.instance.folder, "check_room", check_room)
    server.instance.check_room(1)
    assert [one.id for one in server.queries.trashed(None)] == ids[:1:-1], "the oldest go first"
    with pytest.raises(StorageFullError):
        server.instance.check_room(5)


def test_gc_purges_what_is_due_or_all(folder: Place, capsys: pytest.CaptureFixture[str]) -> None:
    server = folder.server(trash_days=7)
    due, young = stored(server, b"stub due"), stored(server, b"stub young")
    server.library.delete(due)
    age(server, "trashed_at")
    server.library.delete(young)
    server.instance.close()

    def gc(**options: Any) -> str:
        assert run_gc(folder.settings(), **options) == 0
        return capsys.readouterr().out

    assert f"purged from the trash: {due}" in gc(dry_run=True)
    assert f"purged from the trash: {young}" in gc(dry_run=True, empties_trash=True)
    gc(dry_run=False)
    assert f"purged from the trash: {young}" in gc(dry_run=True, empties_trash=True)
    assert "1 purged from the trash" in gc(dry_run=False, empties_trash=True)
    server = folder.server(trash_days=7)
    assert server.queries.trashed(None) == () and not list(server.instance.store.raw.list())


def test_without_a_trash_a_profile_is_deleted_at_once(folder: Place) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub one")
    server.library.delete(profile_id)
    assert not list(server.instance.store.raw.list())
    assert empty_trash(server.instance.store) == 0

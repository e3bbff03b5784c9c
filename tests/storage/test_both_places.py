"""What the store promises: on SQLite with a folder, and on PostgreSQL with S3 and workers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from roofline.errors import BadEditError, CorruptProfileError, ProfileNotFoundError
from roofline.library.build import Backend
from roofline.library.reader import Failed, Importing, Ready
from roofline.storage import statements
from roofline.storage.profiles import ProfileStore
from roofline.storage.raw import key_of
from roofline.storage.records import Manifest
from roofline.storage.results import PAGE
from roofline.storage.sweeping import sweep_expired, sweep_orphans, sweep_over_quota
from tests.storage.places import Place, add, logged_sweeps, raw_bytes, settled, stored
from tests.tools.generate_xspace import Config, write_profile


def store_of(server: Backend) -> ProfileStore:
    return server.instance.store


def digests(server: Backend) -> set[str]:
    return {digest for digest, _ in store_of(server).raw.list()}


def test_real_profile_is_imported_and_read_back(place: Place, tmp_path: Path) -> None:
    (path,) = write_profile(Config(n_events=600, n_steps=3, n_distinct_ops=40), tmp_path)
    server = place.server()
    profile_id = stored(server, path.read_bytes(), title="Real", tags=["b", "a", "b"])
    manifest = server.reader.manifest(profile_id)
    assert (manifest.title, manifest.tags) == ("Real", ("a", "b"))
    assert manifest.format.startswith("XSpace")
    assert manifest.files[0].host
    assert manifest.summary.op_count > 0
    assert raw_bytes(server, profile_id) == [path.read_bytes()]
    assert b'"schema":2' in server.reader.result(profile_id, PAGE).plain()
    assert b"name" in server.reader.op_details(profile_id, 0)


def test_profile_outlives_the_server_under_the_same_address(place: Place) -> None:
    first = place.server()
    profile_id = stored(first, b"stub one", b"stub two", uploader="ada", note="a note")
    manifest = first.reader.manifest(profile_id)
    first.instance.close()
    second = place.server()
    assert second.reader.manifest(profile_id) == manifest
    assert raw_bytes(second, profile_id) == [b"stub one", b"stub two"]
    assert isinstance(second.reader.state(profile_id), Ready)


def test_equal_files_share_one_blob_until_the_last_profile_goes(place: Place) -> None:
    server = place.server()
    before = digests(server)
    first = stored(server, b"stub alpha", b"stub beta")
    second = stored(server, b"stub alpha")
    assert len(digests(server) - before) == 2
    server.library.remove(first)
    assert digests(server) - before == {server.reader.manifest(second).files[0].sha256}
    assert raw_bytes(server, second) == [b"stub alpha"]
    server.library.remove(second)
    assert digests(server) == before
    with pytest.raises(ProfileNotFoundError):
        server.library.remove(second)


def test_failed_import_says_why_and_keeps_its_bytes_until_it_is_deleted(place: Place) -> None:
    server = place.server()
    before = digests(server)
    profile_id = add(server, b"fail this", title="bad", uploader="ada")
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert (state.error.code, state.error.message) == ("corrupt-profile", "It is broken.")
    (file,) = state.files
    assert (state.title, state.uploader) == ("bad", "ada")
    assert (file.name, file.size_bytes) == ("host_0.pb", 9)
    assert digests(server) - before == {file.sha256}
    with pytest.raises(CorruptProfileError):
        server.reader.manifest(profile_id)
    assert server.queries.search().total == 0
    server.library.remove(profile_id)
    assert digests(server) == before
    with pytest.raises(ProfileNotFoundError):
        server.reader.state(profile_id)


def test_import_is_followed_and_cancelled(place: Place, tmp_path: Path) -> None:
    server = place.server()
    before = digests(server)
    profile_id = add(server, b"wait %s for ever" % bytes(tmp_path / "gate"))
    state = server.reader.state(profile_id)
    assert isinstance(state, Importing)
    server.library.cancel(profile_id)
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert "cancelled" in state.error.message
    assert digests(server) == before
    server.library.cancel(profile_id)  # nothing runs: nothing happens


def test_deleting_an_import_under_way_leaves_nothing(place: Place, tmp_path: Path) -> None:
    server = place.server()
    before = digests(server)
    profile_id = add(server, b"wait %s for ever" % bytes(tmp_path / "gate"))
    server.library.remove(profile_id)
    with pytest.raises(ProfileNotFoundError):
        server.reader.state(profile_id)
    assert digests(server) == before
    assert server.reader.pending(profile_id) is None


def test_results_that_went_are_found_or_computed_again(place: Place) -> None:
    server = place.server()
    profile_id = stored(server, b"stub results")
    page = server.reader.result(profile_id, PAGE).plain()
    store_of(server).results.remove(profile_id)
    assert isinstance(settled(server, profile_id), Ready)
    assert server.reader.result(profile_id, PAGE).plain() == page


def test_title_note_tags_and_pin_are_edited(place: Place) -> None:
    server = place.server()
    profile_id = stored(server, b"stub edit", title="old", tags=["x"])
    edited = server.library.edit(
        profile_id, title="  new\ntitle ", note="line\r\nline", tags=["b", "a"], pinned=True
    )
    assert (edited.title, edited.note) == ("new title", "line\nline")
    assert (edited.tags, edited.pinned) == (("a", "b"), True)
    assert server.library.edit(profile_id, pinned=False).title == "new title"
    for title in (" ", "x" * 201):
        with pytest.raises(BadEditError):
            server.library.edit(profile_id, title=title)
    with pytest.raises(BadEditError):
        server.library.edit(profile_id, note="x" * 10_001)
    for tags in (["x" * 41], [str(number) for number in range(21)]):
        with pytest.raises(BadEditError):
            server.library.edit(profile_id, tags=tags)
    with pytest.raises(ProfileNotFoundError):
        server.library.edit("nobody", title="x")


def test_profiles_are_found_by_words_tags_devices_and_people(place: Place) -> None:
    server = place.server()
    one = stored(server, b"stub 1", title="Llama 50%", tags=["nightly"], uploader="ada")
    two = stored(server, b"stub 2", title="llama_b", note="after the fix", uploader="bob")
    server.library.edit(one, pinned=True)

    def found(words: str = "", **equal: Any) -> list[str]:
        return [manifest.id for manifest in server.queries.search(words, **equal).profiles]

    assert found() == found("LLAMA") == found("tpu v9") == found("host_0") == [one, two]
    assert found("50%") == found("nightly") == found(tag="nightly") == found("ADA llama") == [one]
    assert found("llama_") == found("fix") == found("bob") == [two]
    assert found("llama nothing") == found(device="TPU") == []
    assert found(device="TPU v9", tag="nightly") == [one]
    page = server.queries.search(offset=1, limit=1)
    assert (page.total, [manifest.id for manifest in page.profiles]) == (2, [two])
    server.library.edit(two, tags=["a", "nightly"])
    assert server.queries.frequent_tags(5) == (("nightly", 2), ("a", 1))
    assert server.queries.frequent_tags(1) == (("nightly", 2),)


def test_ownership_is_known_in_every_state(place: Place) -> None:
    server = place.server()
    profile_id = add(server, b"fail it", uploader="ada", delete_token_hash="ab12")
    settled(server, profile_id)
    owner = server.library.ownership(profile_id)
    assert (owner.uploader, owner.delete_token_hash) == ("ada", "ab12")
    with pytest.raises(ProfileNotFoundError):
        server.library.ownership("nobody")


def test_identical_uploads_at_once_are_one_blob(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = place.server()
    before = digests(server)
    count = 40 if place.is_shared else 80
    with monkeypatch.context() as patch, ThreadPoolExecutor(16) as threads:
        patch.setattr(server.instance, "deliver", lambda _job_id: None)  # imports are not at issue
        ids = list(threads.map(lambda _: add(server, b"stub the same"), range(count)))
    assert len(digests(server) - before) == 1
    assert server.queries.stats().stored_bytes < 100
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(server.library.remove, ids[1:]))
    assert raw_bytes_of(server, before) == [b"stub the same"]
    server.library.remove(ids[0])
    assert digests(server) == before


def raw_bytes_of(server: Backend, before: set[str]) -> list[bytes]:
    """The raw files that came since, of any profile."""
    with store_of(server).database.read() as connection:
        files = {file.sha256: file for _, file in statements.needed_files(connection)}
    new = digests(server) - before
    return [b"".join(store_of(server).raw.chunks(files[digest])) for digest in new]


def test_upload_and_deletion_of_the_same_bytes_at_once_lose_nothing(place: Place) -> None:
    server = place.server()
    ids = [stored(server, b"stub contended") for _ in range(6)]
    with ThreadPoolExecutor(12) as threads:
        removals = [threads.submit(server.library.remove, profile_id) for profile_id in ids]
        added = [threads.submit(add, server, b"stub contended") for _ in range(6)]
        for removal in removals:
            removal.result()
    for future in added:
        profile_id = future.result()
        assert isinstance(settled(server, profile_id), Ready)
        assert raw_bytes(server, profile_id) == [b"stub contended"]


def test_what_expired_goes_unless_it_is_pinned_and_is_noted(place: Place) -> None:
    server = place.server(retention_days=1)
    gone, pinned, young = (
        stored(server, b"stub %d" % number, title=f"run {number}") for number in range(3)
    )
    server.library.edit(pinned, pinned=True)
    store = store_of(server)
    with store.database.write() as connection:
        connection.execute(
            text("UPDATE profile SET expires_at = '2020-01-01T00:00:00Z' WHERE id <> :young"),
            {"young": young},
        )
    assert sweep_expired(store) == 1
    with pytest.raises(ProfileNotFoundError):
        server.reader.state(gone)
    assert {m.id for m in server.queries.search().profiles} == {pinned, young}
    with store.database.read() as connection:
        (entry,) = logged_sweeps(connection)
    assert (entry["action"], entry["subject"], entry["title"]) == ("expired", gone, "run 0")
    assert entry["size_bytes"] == 6


def test_oldest_profiles_go_when_the_quota_is_exceeded(place: Place) -> None:
    server = place.server()
    ids = [stored(server, b"stub %d" % number + bytes(1000)) for number in range(4)]
    twin = stored(server, b"stub 3" + bytes(1000))  # takes no room of its own
    server.library.edit(ids[0], pinned=True)
    each = server.queries.stats().stored_bytes // 4
    assert sweep_over_quota(store_of(server), each * 2 + each // 2) == 2
    assert {m.id for m in server.queries.search().profiles} == {ids[0], ids[3], twin}
    assert sweep_over_quota(store_of(server), 0) == 2  # never the pinned one


def test_orphans_are_swept_and_what_is_needed_stays(place: Place) -> None:
    server = place.server()
    kept = stored(server, b"stub kept")
    before = digests(server)
    area = server.library.stage()
    orphan = area.receive_all("x", [b"orphan"])
    store_of(server).raw.put(orphan)
    assert sweep_orphans(store_of(server), grace_s=3600) == 0
    assert sweep_orphans(store_of(server), grace_s=-5) >= 1
    assert orphan.sha256 not in digests(server)
    assert digests(server) <= before
    assert raw_bytes(server, kept) == [b"stub kept"]


def test_damaged_raw_file_is_an_error_and_heals_by_uploading_it_again(
    place: Place, tmp_path: Path
) -> None:
    server = place.server()
    content = b"stub " + bytes(range(256)) * 40
    profile_id = stored(server, content)
    damage(server, profile_id, tmp_path / "cut", lambda packed: packed[:100])
    with pytest.raises(CorruptProfileError):
        raw_bytes(server, profile_id)
    stored(server, content)
    assert raw_bytes(server, profile_id) == [content]


def test_flipped_bit_is_an_error_and_heals_too(place: Place, tmp_path: Path) -> None:
    """The damaged copy is as large as the right one."""
    server = place.server()
    content = b"stub " + bytes(range(256)) * 40
    profile_id = stored(server, content)
    flip = lambda packed: packed[:60] + bytes([packed[60] ^ 1]) + packed[61:]  # noqa: E731
    damage(server, profile_id, tmp_path / "flipped", flip)
    with pytest.raises(CorruptProfileError):
        raw_bytes(server, profile_id)
    stored(server, content)
    assert raw_bytes(server, profile_id) == [content]


def damage(
    server: Backend, profile_id: str, scratch: Path, change: Callable[[bytes], bytes]
) -> None:
    """Changes the bytes of a profile's only raw file as they are kept."""
    (file,) = server.reader.manifest(profile_id).files
    store, key = store_of(server), key_of(file.sha256)
    scratch.write_bytes(change(b"".join(store.blobs.open(key))))
    store.blobs.put(key, scratch)
    assert not store.raw.is_intact(file)


def test_sizes_count_shared_bytes_once(place: Place) -> None:
    server = place.server()
    for _ in range(3):
        stored(server, b"stub size" + bytes(100_000))
    stats = server.queries.stats()
    assert stats.profile_count == 3
    assert stats.raw_bytes == 3 * 100_009
    assert 0 < stats.stored_bytes < 1000
    assert stats.queued_jobs == 0
    server.instance.check()


def test_thousand_profiles_are_listed(place: Place) -> None:
    server = place.server()
    profile_id = stored(server, b"stub list", tags=["a", "b"])
    copy_rows(server, profile_id, 999)
    listing = server.queries.search(limit=50)
    assert listing.total == 1000
    assert all(isinstance(m, Manifest) and m.tags == ("a", "b") for m in listing.profiles)
    assert len(server.queries.search("stub tpu", offset=950, limit=1000).profiles) == 0
    assert len(server.queries.search("tpu", offset=950, limit=1000).profiles) == 50


def copy_rows(server: Backend, profile_id: str, count: int) -> None:
    """Fills the database with copies of a profile."""
    known = "title, created_at, state, format, device, bound_by, efficiency_ratio, summary"
    columns = f"{known}, search_text"
    copies = [{"id": f"copy{number}", "of": profile_id} for number in range(count)]
    with store_of(server).database.write() as connection:
        connection.execute(
            text(
                f"INSERT INTO profile (id, {columns}) SELECT :id, {columns} FROM profile"
                " WHERE id = :of"
            ),
            copies,
        )
        for table, rest in (("file", "position, name, sha256, size_bytes"), ("tag", "name")):
            connection.execute(
                text(
                    f"INSERT INTO {table} (profile_id, {rest}) SELECT :id, {rest} FROM {table}"
                    " WHERE profile_id = :of"
                ),
                copies,
            )

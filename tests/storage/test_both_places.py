"""What the store promises: on SQLite with a folder, and on PostgreSQL with S3 and workers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from roofline.errors import BadEditError, CorruptProfileError, ProfileNotFoundError
from roofline.library.profiles import Failed, Importing, ProfileLibrary, Ready
from roofline.storage import statements
from roofline.storage.raw import key_of
from roofline.storage.records import Manifest
from roofline.storage.results import PAGE
from roofline.storage.upkeep import sweep_expired, sweep_orphans, sweep_over_quota
from tests.storage.places import Place, add, eventually, raw_bytes, settled, stored
from tests.tools.generate_xspace import Config, write_profile


def store_of(library: ProfileLibrary):
    return library._instance.store


def digests(library: ProfileLibrary) -> set[str]:
    return {digest for digest, _ in store_of(library).raw.list()}


def test_real_profile_is_imported_and_read_back(place: Place, tmp_path: Path):
    (path,) = write_profile(Config(n_events=600, n_steps=3, n_distinct_ops=40), tmp_path)
    library = place.library()
    profile_id = stored(library, path.read_bytes(), title="Real", tags=["b", "a", "b"])
    manifest = library.manifest(profile_id)
    assert (manifest.title, manifest.tags) == ("Real", ("a", "b"))
    assert manifest.format.startswith("XSpace")
    assert manifest.files[0].host
    assert manifest.summary.op_count > 0
    assert raw_bytes(library, profile_id) == [path.read_bytes()]
    assert b'"schema":1' in library.result(profile_id, PAGE).plain()
    assert b"name" in library.op_details(profile_id, 0)


def test_profile_outlives_the_server_under_the_same_address(place: Place):
    first = place.library()
    profile_id = stored(first, b"stub one", b"stub two", uploader="ada", note="a note")
    manifest = first.manifest(profile_id)
    first.close()
    second = place.library()
    assert second.manifest(profile_id) == manifest
    assert raw_bytes(second, profile_id) == [b"stub one", b"stub two"]
    assert isinstance(second.state(profile_id), Ready)


def test_equal_files_share_one_blob_until_the_last_profile_goes(place: Place):
    library = place.library()
    before = digests(library)
    first = stored(library, b"stub alpha", b"stub beta")
    second = stored(library, b"stub alpha")
    assert len(digests(library) - before) == 2
    library.remove(first)
    assert digests(library) - before == {library.manifest(second).files[0].sha256}
    assert raw_bytes(library, second) == [b"stub alpha"]
    library.remove(second)
    assert digests(library) == before
    with pytest.raises(ProfileNotFoundError):
        library.remove(second)


def test_failed_import_says_why_and_keeps_no_bytes(place: Place):
    library = place.library()
    before = digests(library)
    profile_id = add(library, b"fail this", title="bad", uploader="ada")
    state = settled(library, profile_id)
    assert isinstance(state, Failed)
    assert (state.error.code, state.error.message) == ("corrupt-profile", "It is broken.")
    assert (state.title, state.files, state.uploader) == ("bad", (("host_0.pb", 9),), "ada")
    eventually(lambda: digests(library) == before)
    with pytest.raises(CorruptProfileError):
        library.manifest(profile_id)
    assert library.search().total == 0
    library.remove(profile_id)
    with pytest.raises(ProfileNotFoundError):
        library.state(profile_id)


def test_import_is_followed_and_cancelled(place: Place, tmp_path: Path):
    library = place.library()
    before = digests(library)
    profile_id = add(library, b"wait %s for ever" % bytes(tmp_path / "gate"))
    state = library.state(profile_id)
    assert isinstance(state, Importing)
    library.cancel(profile_id)
    state = settled(library, profile_id)
    assert isinstance(state, Failed)
    assert "cancelled" in state.error.message
    assert digests(library) == before
    library.cancel(profile_id)  # nothing runs: nothing happens


def test_deleting_an_import_under_way_leaves_nothing(place: Place, tmp_path: Path):
    library = place.library()
    before = digests(library)
    profile_id = add(library, b"wait %s for ever" % bytes(tmp_path / "gate"))
    library.remove(profile_id)
    with pytest.raises(ProfileNotFoundError):
        library.state(profile_id)
    assert digests(library) == before
    assert library.pending(profile_id) is None


def test_results_that_went_are_found_or_computed_again(place: Place):
    library = place.library()
    profile_id = stored(library, b"stub results")
    page = library.result(profile_id, PAGE).plain()
    store_of(library).results.remove(profile_id)
    assert isinstance(settled(library, profile_id), Ready)
    assert library.result(profile_id, PAGE).plain() == page


def test_title_note_tags_and_pin_are_edited(place: Place):
    library = place.library()
    profile_id = stored(library, b"stub edit", title="old", tags=["x"])
    edited = library.edit(
        profile_id, title="  new\ntitle ", note="line\r\nline", tags=["b", "a"], pinned=True
    )
    assert (edited.title, edited.note) == ("new title", "line\nline")
    assert (edited.tags, edited.pinned) == (("a", "b"), True)
    assert library.edit(profile_id, pinned=False).title == "new title"
    for bad in ({"title": " "}, {"title": "x" * 201}, {"note": "x" * 10_001}):
        with pytest.raises(BadEditError):
            library.edit(profile_id, **bad)
    for tags in (["x" * 41], [str(number) for number in range(21)]):
        with pytest.raises(BadEditError):
            library.edit(profile_id, tags=tags)
    with pytest.raises(ProfileNotFoundError):
        library.edit("nobody", title="x")


def test_profiles_are_found_by_words_tags_devices_and_people(place: Place):
    library = place.library()
    one = stored(library, b"stub 1", title="Llama 50%", tags=["nightly"], uploader="ada")
    two = stored(library, b"stub 2", title="llama_b", note="after the fix", uploader="bob")
    library.edit(one, pinned=True)

    def found(words: str = "", **equal: str) -> list[str]:
        return [manifest.id for manifest in library.search(words, **equal).profiles]

    assert found() == found("LLAMA") == found("tpu v9") == found("host_0") == [one, two]
    assert found("50%") == found("nightly") == found(tag="nightly") == found("ADA llama") == [one]
    assert found("llama_") == found("fix") == found(uploader="bob") == [two]
    assert found("llama nothing") == found(device="TPU") == []
    assert found(device="TPU v9", tag="nightly") == [one]
    page = library.search(offset=1, limit=1)
    assert (page.total, [manifest.id for manifest in page.profiles]) == (2, [two])
    facets = library.facets()
    assert (facets.devices, facets.tags) == ((("TPU v9", 2),), (("nightly", 1),))
    assert facets.uploaders == (("ada", 1), ("bob", 1))


def test_ownership_is_known_in_every_state(place: Place):
    library = place.library()
    profile_id = add(library, b"fail it", uploader="ada", delete_token_hash="ab12")
    settled(library, profile_id)
    owner = library.ownership(profile_id)
    assert (owner.uploader, owner.delete_token_hash) == ("ada", "ab12")
    with pytest.raises(ProfileNotFoundError):
        library.ownership("nobody")


def test_identical_uploads_at_once_are_one_blob(place: Place, monkeypatch: pytest.MonkeyPatch):
    library = place.library()
    before = digests(library)
    count = 40 if place.is_shared else 200
    with monkeypatch.context() as patch, ThreadPoolExecutor(16) as threads:
        patch.setattr(
            library._instance, "deliver", lambda _job_id: None
        )  # imports are not at issue
        ids = list(threads.map(lambda _: add(library, b"stub the same"), range(count)))
    assert len(digests(library) - before) == 1
    assert library.stats().stored_bytes < 100
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(library.remove, ids[1:]))
    assert raw_bytes_of(library, before) == [b"stub the same"]
    library.remove(ids[0])
    assert digests(library) == before


def raw_bytes_of(library: ProfileLibrary, before: set[str]) -> list[bytes]:
    """The raw files that came since, of any profile."""
    with store_of(library).database.read() as connection:
        files = {file.sha256: file for _, file in statements.needed_files(connection)}
    new = digests(library) - before
    return [b"".join(store_of(library).raw.chunks(files[digest])) for digest in new]


def test_upload_and_deletion_of_the_same_bytes_at_once_lose_nothing(place: Place):
    library = place.library()
    ids = [stored(library, b"stub contended") for _ in range(6)]
    with ThreadPoolExecutor(12) as threads:
        removals = [threads.submit(library.remove, profile_id) for profile_id in ids]
        added = [threads.submit(add, library, b"stub contended") for _ in range(6)]
        for removal in removals:
            removal.result()
    for future in added:
        profile_id = future.result()
        assert isinstance(settled(library, profile_id), Ready)
        assert raw_bytes(library, profile_id) == [b"stub contended"]


def test_what_expired_goes_unless_it_is_pinned_and_is_noted(place: Place):
    library = place.library(retention_days=1)
    gone, pinned, young = (
        stored(library, b"stub %d" % number, title=f"run {number}") for number in range(3)
    )
    library.edit(pinned, pinned=True)
    store = store_of(library)
    with store.database.write() as connection:
        connection.execute(
            text("UPDATE profile SET expires_at = '2020-01-01T00:00:00Z' WHERE id <> :young"),
            {"young": young},
        )
    assert sweep_expired(store) == 1
    with pytest.raises(ProfileNotFoundError):
        library.state(gone)
    assert {m.id for m in library.search().profiles} == {pinned, young}
    with store.database.read() as connection:
        (entry,) = statements.sweeps(connection, 10)
    assert (entry["action"], entry["subject"], entry["title"]) == ("expired", gone, "run 0")
    assert entry["size_bytes"] == 6


def test_oldest_profiles_go_when_the_quota_is_exceeded(place: Place):
    library = place.library()
    ids = [stored(library, b"stub %d" % number + bytes(1000)) for number in range(4)]
    twin = stored(library, b"stub 3" + bytes(1000))  # takes no room of its own
    library.edit(ids[0], pinned=True)
    each = library.stats().stored_bytes // 4
    assert sweep_over_quota(store_of(library), each * 2 + each // 2) == 2
    assert {m.id for m in library.search().profiles} == {ids[0], ids[3], twin}
    assert sweep_over_quota(store_of(library), 0) == 2  # never the pinned one


def test_orphans_are_swept_and_what_is_needed_stays(place: Place):
    library = place.library()
    kept = stored(library, b"stub kept")
    before = digests(library)
    area = library.stage()
    orphan = area.receive_all("x", [b"orphan"])
    store_of(library).raw.put(orphan)
    assert sweep_orphans(store_of(library), grace_s=3600) == 0
    assert sweep_orphans(store_of(library), grace_s=-5) >= 1
    assert orphan.sha256 not in digests(library)
    assert digests(library) <= before
    assert raw_bytes(library, kept) == [b"stub kept"]


def test_damaged_raw_file_is_an_error_and_heals_by_uploading_it_again(place: Place, tmp_path: Path):
    library = place.library()
    content = b"stub " + bytes(range(256)) * 40
    profile_id = stored(library, content)
    damage(library, profile_id, tmp_path / "cut", lambda packed: packed[:100])
    with pytest.raises(CorruptProfileError):
        raw_bytes(library, profile_id)
    stored(library, content)
    assert raw_bytes(library, profile_id) == [content]


def test_flipped_bit_on_the_disk_is_an_error_and_heals_too(folder: Place, tmp_path: Path):
    library = folder.library()
    content = b"stub " + bytes(range(256)) * 40
    profile_id = stored(library, content)
    flip = lambda packed: packed[:60] + bytes([packed[60] ^ 1]) + packed[61:]  # noqa: E731
    damage(library, profile_id, tmp_path / "flipped", flip)
    with pytest.raises(CorruptProfileError):
        raw_bytes(library, profile_id)
    stored(library, content)
    assert raw_bytes(library, profile_id) == [content]


def damage(
    library: ProfileLibrary, profile_id: str, scratch: Path, change: Callable[[bytes], bytes]
) -> None:
    """Changes the bytes of a profile's only raw file as they are kept."""
    (file,) = library.manifest(profile_id).files
    store, key = store_of(library), key_of(file.sha256)
    scratch.write_bytes(change(b"".join(store.blobs.open(key))))
    store.blobs.put(key, scratch)
    assert not store.raw.is_intact(file)


def test_sizes_count_shared_bytes_once(place: Place):
    library = place.library()
    for _ in range(3):
        stored(library, b"stub size" + bytes(100_000))
    stats = library.stats()
    assert stats.profile_count == 3
    assert stats.raw_bytes == 3 * 100_009
    assert 0 < stats.stored_bytes < 1000
    assert (stats.queued_jobs, stats.running_jobs) == (0, 0)
    library.check()


def test_thousand_profiles_are_listed(place: Place):
    library = place.library()
    profile_id = stored(library, b"stub list", tags=["a", "b"])
    copy_rows(library, profile_id, 999)
    listing = library.search(limit=50)
    assert listing.total == 1000
    assert all(isinstance(m, Manifest) and m.tags == ("a", "b") for m in listing.profiles)
    assert len(library.search("stub tpu", offset=950, limit=1000).profiles) == 0
    assert len(library.search("tpu", offset=950, limit=1000).profiles) == 50


def copy_rows(library: ProfileLibrary, profile_id: str, count: int) -> None:
    """Fills the database with copies of a profile."""
    columns = "title, created_at, state, format, device, bound_by, efficiency_ratio, summary"
    with store_of(library).database.write() as connection:
        for number in range(count):
            values = {"id": f"copy{number}", "of": profile_id}
            connection.execute(
                text(
                    f"INSERT INTO profile (id, {columns}) SELECT :id, {columns} FROM profile"
                    " WHERE id = :of"
                ),
                values,
            )
            for table, rest in (("file", "position, name, sha256, size_bytes"), ("tag", "name")):
                connection.execute(
                    text(
                        f"INSERT INTO {table} (profile_id, {rest}) SELECT :id, {rest} FROM {table}"
                        " WHERE profile_id = :of"
                    ),
                    values,
                )

"""The store keeps whole profiles or none: blobs, results and manifests."""

import os
from pathlib import Path

import pytest

from app.errors import StorageFullError
from app.storage import durable
from app.storage.blobs import BlobStore
from app.storage.profiles import Manifest, ProfileStore, StoredFile, Summary, new_profile_id
from app.storage.results import OPS, PAGE, ResultStore, ResultWriter
from app.storage.staging import Staging, StagingArea

SUMMARY = Summary(
    device="TPU v9",
    device_kind="tpu",
    core_count=4,
    core_word="TensorCore",
    host_count=1,
    op_count=17,
    bound_by="HBM",
    bound_kind="slanted",
    bound_token="--roof-hbm",
    efficiency_ratio=0.5,
)


def tree(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def staged(root: Path, *contents: bytes) -> StagingArea:
    area = Staging(root / "incoming").new()
    for number, content in enumerate(contents):
        area.receive_all(f"host_{number}.pb", [content[:2], content[2:]])
    writer = ResultWriter(area.results)
    writer.add(PAGE, b'{"schema":1}')
    writer.add_ops([b'{"name":"a"}', b'{"name":"bb"}'])
    writer.finish()
    return area


def committed(
    store: ProfileStore, root: Path, *contents: bytes, at: str = "2026-01-01"
) -> Manifest:
    area = staged(root, *contents)
    manifest = Manifest(
        id=new_profile_id(),
        title="run",
        created_at=at,
        format="XSpace",
        files=tuple(
            StoredFile(name=f.name, size_bytes=f.size_bytes, sha256=f.sha256) for f in area.files
        ),
        summary=SUMMARY,
    )
    store.commit(manifest, area.files, area.results)
    area.discard()
    return manifest


@pytest.fixture
def store(tmp_path: Path) -> ProfileStore:
    return ProfileStore(tmp_path, "v1")


def test_committed_profile_is_read_back_by_another_store(store: ProfileStore, tmp_path: Path):
    manifest = committed(store, tmp_path, b"alpha", b"beta")
    reopened = ProfileStore(tmp_path, "v1")
    reopened.load()
    assert reopened.get(manifest.id) == manifest
    blob = reopened.blobs.path(manifest.files[1].sha256)
    assert blob.read_bytes() == b"beta"
    page = reopened.results.file(manifest.id, PAGE)
    assert page is not None
    assert page.plain() == b'{"schema":1}'


def test_equal_files_share_one_blob_until_the_last_profile_goes(
    store: ProfileStore, tmp_path: Path
):
    first = committed(store, tmp_path, b"alpha", b"beta")
    second = committed(store, tmp_path, b"alpha")
    assert len(list(store.blobs.digests())) == 2
    assert store.remove(first.id)
    assert list(store.blobs.digests()) == [second.files[0].sha256]
    assert store.remove(second.id)
    assert not store.remove(second.id)
    left = {"incoming", "blobs", "derived", "profiles"}
    assert tree(tmp_path) == left


def test_recent_is_newest_first_and_limited(store: ProfileStore, tmp_path: Path):
    for day in ("2026-01-02", "2026-01-03", "2026-01-01"):
        committed(store, tmp_path, day.encode(), at=day)
    assert [m.created_at for m in store.recent(2)] == ["2026-01-03", "2026-01-02"]


def test_failed_commit_leaves_nothing(
    store: ProfileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = committed(store, tmp_path, b"kept", b"shared")
    before = tree(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.storage.profiles.write_whole", full)
    with pytest.raises(StorageFullError) as caught:
        committed(store, tmp_path, b"shared", b"new")
    assert "space" in caught.value.message
    Staging(tmp_path / "incoming").sweep()
    assert tree(tmp_path) == before
    assert store.blobs.path(kept.files[1].sha256).read_bytes() == b"shared"


def test_sweep_removes_what_belongs_to_no_manifest(store: ProfileStore, tmp_path: Path):
    kept = committed(store, tmp_path, b"kept")
    before = tree(tmp_path)
    orphan = staged(tmp_path, b"orphan")
    store.blobs.adopt(orphan.files[0].path, orphan.files[0].sha256)
    store.results.adopt("gone", orphan.results)
    orphan.discard()
    reopened = ProfileStore(tmp_path, "v1")
    reopened.load()
    assert reopened.sweep() == 2
    assert tree(tmp_path) == before
    assert reopened.get(kept.id) is not None


def test_damaged_manifest_keeps_every_blob(store: ProfileStore, tmp_path: Path):
    manifest = committed(store, tmp_path, b"precious")
    path = tmp_path / "profiles" / f"{manifest.id}.json"
    path.write_bytes(path.read_bytes()[:20])
    reopened = ProfileStore(tmp_path, "v1")
    reopened.load()
    assert reopened.damaged == (path,)
    assert reopened.sweep() == 0
    assert reopened.blobs.path(manifest.files[0].sha256).read_bytes() == b"precious"


def test_manifest_of_a_newer_server_is_left_alone(store: ProfileStore, tmp_path: Path):
    manifest = committed(store, tmp_path, b"x")
    path = tmp_path / "profiles" / f"{manifest.id}.json"
    path.write_text(path.read_text().replace('"schema":1', '"schema":99'))
    reopened = ProfileStore(tmp_path, "v1")
    reopened.load()
    assert reopened.get(manifest.id) is None
    assert path in reopened.damaged


def test_blob_cut_by_the_disk_is_replaced_by_the_next_upload(tmp_path: Path):
    store = BlobStore(tmp_path / "blobs")
    area = Staging(tmp_path / "incoming").new()
    first, second = (area.receive_all("a", [b"content"]) for _ in range(2))
    store.adopt(first.path, first.sha256)
    store.path(first.sha256).write_bytes(b"con")
    store.adopt(second.path, second.sha256)
    assert store.path(first.sha256).read_bytes() == b"content"


def test_blob_store_takes_only_digests_as_names(tmp_path: Path):
    with pytest.raises(ValueError, match="digest"):
        BlobStore(tmp_path).path("../../etc/passwd")


def test_results_of_another_version_are_not_seen(tmp_path: Path):
    area = staged(tmp_path)
    ResultStore(tmp_path / "derived", "v1").adopt("p", area.results)
    assert ResultStore(tmp_path / "derived", "v1").has("p")
    assert not ResultStore(tmp_path / "derived", "v2").has("p")
    assert ResultStore(tmp_path / "derived", "v2").file("p", PAGE) is None


def test_op_details_are_read_one_at_a_time(tmp_path: Path):
    area = staged(tmp_path)
    results = ResultStore(tmp_path / "derived", "v1")
    results.adopt("p", area.results)
    assert results.op("p", 1) == b'{"name":"bb"}'
    for index in (-1, 2):
        with pytest.raises(IndexError):
            results.op("p", index)


@pytest.mark.parametrize("name", [PAGE, OPS, "index.json"])
def test_missing_result_file_is_told_apart_from_a_present_one(tmp_path: Path, name: str):
    area = staged(tmp_path)
    results = ResultStore(tmp_path / "derived", "v1")
    results.adopt("p", area.results)
    (tmp_path / "derived" / "p" / "v1" / name).unlink()
    if name != OPS:
        assert results.file("p", PAGE) is None
    if name != PAGE:
        assert results.op("p", 0) is None


def test_staging_is_swept(tmp_path: Path):
    staging = Staging(tmp_path / "incoming")
    for _ in range(2):
        staging.new().receive_all("x", [b"1"])
    assert staging.sweep() == 2
    assert tree(tmp_path) == {"incoming"}


def test_hostile_file_name_stays_a_name(tmp_path: Path):
    area = Staging(tmp_path / "incoming").new()
    staged_file = area.receive_all("../../../etc/cron.d/x", [b"1"])
    assert staged_file.name == "../../../etc/cron.d/x"
    assert staged_file.path.parent == area.root


def test_write_whole_leaves_the_old_file_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = tmp_path / "m.json"
    durable.write_whole(target, b"old")

    def failing(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="Input/output"):
        durable.write_whole(target, b"new")
    assert target.read_bytes() == b"old"
    assert tree(tmp_path) == {"m.json"}


def test_profile_ids_cannot_be_guessed():
    ids = {new_profile_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(profile_id) >= 22 for profile_id in ids)

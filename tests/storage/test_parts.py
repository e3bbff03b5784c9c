"""The parts that lie on the disk: staging, durable writes, blobs in a folder, results."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from roofline.errors import SettingsError, StorageFullError
from roofline.storage import durable
from roofline.storage.blob_places import open_blobs
from roofline.storage.blobs import FolderBlobs
from roofline.storage.raw import RawStore, key_of
from roofline.storage.records import StoredFile, new_profile_id
from roofline.storage.results import CSV, OPS, PAGE, ROOFLINE, ResultStore, ResultWriter
from roofline.storage.staging import StagedFile, Staging, StagingArea
from tests.conftest import PYTHON_PATH


def tree(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[Staging]:
    staging = Staging(tmp_path / "incoming")
    staging.open()
    yield staging
    staging.close()


@pytest.fixture
def area(staging: Staging) -> StagingArea:
    area = staging.new()
    writer = ResultWriter(area.results)
    writer.add(PAGE, b'{"schema":1}')
    writer.add_ops([b'{"name":"a"}', b'{"name":"bb"}'])
    writer.finish()
    return area


def test_a_result_for_both_views_is_read_as_two(tmp_path: Path) -> None:
    writer = ResultWriter(tmp_path / "results")
    both, alone = b"op\r\n" * 9, (b"with", b"without")
    writer.add_pair(CSV, (both, both))
    writer.add_pair(ROOFLINE, alone)
    writer.finish()
    store = ResultStore(tmp_path / "derived", "v")
    store.adopt("p", tmp_path / "results")
    assert store.is_intact("p")
    found = [
        store.file("p", names[infeed]) for names in (CSV, ROOFLINE) for infeed in ("in", "out")
    ]
    assert [one and one.plain() for one in found] == [both, both, *alone]


def stored(file: StagedFile) -> StoredFile:
    return StoredFile(name=file.name, size_bytes=file.size_bytes, sha256=file.sha256)


def test_staged_file_is_compressed_and_comes_back(staging: Staging, tmp_path: Path) -> None:
    content = b"many of the same " * 100_000
    file = staging.new().receive_all("a", [content[:7], content[7:]])
    assert file.size_bytes == len(content)
    assert file.stored_bytes == file.path.stat().st_size < len(content) / 100
    raw = RawStore(FolderBlobs(tmp_path))
    raw.put(file)
    assert b"".join(raw.chunks(stored(file))) == content
    assert max(len(chunk) for chunk in raw.chunks(stored(file))) <= 1 << 20
    ticks: list[int] = []
    raw.fetch(stored(file), tmp_path / "plain", tick=ticks.append)
    assert (tmp_path / "plain").read_bytes() == content
    assert sum(ticks) == len(content)


def test_empty_file_is_kept(staging: Staging, tmp_path: Path) -> None:
    file = staging.new().receive_all("a", [])
    raw = RawStore(FolderBlobs(tmp_path))
    raw.put(file)
    assert list(raw.chunks(stored(file))) == []
    assert raw.is_intact(stored(file))


def test_hostile_file_name_stays_a_name(staging: Staging) -> None:
    area = staging.new()
    staged_file = area.receive_all("../../../etc/cron.d/x", [b"1"])
    assert staged_file.name == "../../../etc/cron.d/x"
    assert staged_file.path.parent == area.root


def test_staging_sweeps_ended_processes_and_leaves_living_ones(
    tmp_path: Path, staging: Staging
) -> None:
    mine = staging.new().receive_all("x", [b"1"])
    (tmp_path / "incoming" / "of-an-older-release").mkdir()
    code = (
        "import os, sys; from pathlib import Path; from roofline.storage.staging import Staging\n"
        f"s = Staging(Path({str(tmp_path / 'incoming')!r})); s.open()\n"
        "s.new().receive_all('x', [b'1']); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run(
        [sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": PYTHON_PATH}
    )
    assert killed.returncode == -9
    assert len(list((tmp_path / "incoming").glob("*/*/file-0000"))) == 2
    other = Staging(tmp_path / "incoming")
    other.open()
    other.close()
    assert [path.parent for path in (tmp_path / "incoming").glob("*/*/file-0000")] == [
        mine.path.parent
    ]


@pytest.mark.parametrize("key", ["../x", "/etc/passwd", "a/../b", "a//b", "", ".hidden", "a\0b"])
def test_folder_takes_only_keys_that_stay_inside(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        FolderBlobs(tmp_path).head(key)


def test_only_digests_name_raw_files() -> None:
    with pytest.raises(ValueError, match="digest"):
        key_of("../../etc/passwd")


def test_folder_on_another_disk_gets_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_disk(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_disk)
    (tmp_path / "staged").write_bytes(b"content")
    blobs = FolderBlobs(tmp_path / "store")
    blobs.put("blobs/ab/abc", tmp_path / "staged")
    assert b"".join(blobs.open("blobs/ab/abc")) == b"content"
    assert [info.key for info in blobs.list("blobs")] == ["blobs/ab/abc"]
    assert tree(tmp_path / "store") == {"blobs", "blobs/ab", "blobs/ab/abc"}


def test_folder_elsewhere_is_named_as_a_file_address(tmp_path: Path) -> None:
    assert open_blobs(f"file://{tmp_path / 'x'}", tmp_path).folder == tmp_path / "x"
    assert open_blobs(None, tmp_path).folder == tmp_path


def test_write_that_was_cut_off_is_not_listed_and_swept(tmp_path: Path) -> None:
    (tmp_path / "blobs" / "ab").mkdir(parents=True)
    (tmp_path / "blobs" / "ab" / ".abc.zst.1234").write_bytes(b"half")
    blobs = FolderBlobs(tmp_path)
    assert list(blobs.list("blobs")) == []
    assert blobs.drop_unfinished("blobs", before=0) == 0
    assert blobs.drop_unfinished("blobs", before=1e12) == 1
    assert not list((tmp_path / "blobs").rglob("*"))


def test_bytes_can_be_put_while_the_same_are_deleted(tmp_path: Path) -> None:
    (tmp_path / "staged").write_bytes(b"bytes")
    blobs = FolderBlobs(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        calls = [
            threads.submit(change, *arguments)
            for _ in range(400)
            for change, *arguments in (
                (blobs.put, "blobs/ab/abc.zst", tmp_path / "staged"),
                (blobs.delete, "blobs/ab/abc.zst"),
            )
        ]
    assert not [call.exception() for call in calls if call.exception()]


def test_folder_of_a_deleted_blob_stays_for_writes_under_way_until_swept(tmp_path: Path) -> None:
    (tmp_path / "staged").write_bytes(b"bytes")
    blobs = FolderBlobs(tmp_path)
    blobs.put("blobs/ab/abc.zst", tmp_path / "staged")
    blobs.delete("blobs/ab/abc.zst")
    assert blobs.drop_unfinished("blobs", before=0) == 0
    assert (tmp_path / "blobs" / "ab").is_dir()
    blobs.drop_unfinished("blobs", before=1e12)
    assert not (tmp_path / "blobs" / "ab").exists()


@pytest.mark.parametrize(
    "place", ["ftp://x/y", "s3://", "file://relative", "bucket", "s3://b/p?secret_key=1"]
)
def test_place_that_cannot_be_is_refused_without_repeating_secrets(
    place: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        open_blobs(place, tmp_path)
    assert "ROOFLINE_BLOBS" in caught.value.message
    assert "=1" not in caught.value.message


def test_results_of_another_version_are_not_seen(tmp_path: Path, area: StagingArea) -> None:
    ResultStore(tmp_path / "derived", "v1").adopt("p", area.results)
    assert ResultStore(tmp_path / "derived", "v1").has("p")
    assert not ResultStore(tmp_path / "derived", "v2").has("p")
    assert ResultStore(tmp_path / "derived", "v2").file("p", PAGE) is None


def test_op_details_are_read_one_at_a_time(tmp_path: Path, area: StagingArea) -> None:
    results = ResultStore(tmp_path / "derived", "v1")
    results.adopt("p", area.results)
    assert results.op("p", 1) == b'{"name":"bb"}'
    for index in (-1, 2):
        with pytest.raises(IndexError):
            results.op("p", index)


@pytest.mark.parametrize("name", [PAGE, OPS, "index.json"])
def test_missing_result_file_is_told_apart_from_a_present_one(
    tmp_path: Path, area: StagingArea, name: str
) -> None:
    results = ResultStore(tmp_path / "derived", "v1")
    results.adopt("p", area.results)
    (tmp_path / "derived" / "p" / "v1" / name).unlink()
    if name != OPS:
        assert results.file("p", PAGE) is None
    if name != PAGE:
        assert results.op("p", 0) is None


def test_packed_results_are_the_same_bytes_every_time(tmp_path: Path, area: StagingArea) -> None:
    results = ResultStore(tmp_path / "derived", "v1")
    for name in ("one.tar", "two.tar"):
        results.pack(area.results, tmp_path / name)
        os.utime(area.results / PAGE, (1, 1))
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    results.adopt_packed("p", tmp_path / "one.tar", tmp_path / "unpacked")
    page = results.file("p", PAGE)
    assert page is not None
    assert page.plain() == b'{"schema":1}'


def test_write_whole_leaves_the_old_file_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "m.json"
    durable.write_whole(target, b"old")

    def failing(_descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="Input/output"):
        durable.write_whole(target, b"new")
    assert target.read_bytes() == b"old"
    assert tree(tmp_path) == {"m.json"}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_full_disk_is_said_in_words(code: int) -> None:
    with pytest.raises(StorageFullError), durable.explained_writes():
        raise OSError(code, "x")


def test_profile_ids_cannot_be_guessed() -> None:
    ids = {new_profile_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(profile_id) >= 22 for profile_id in ids)

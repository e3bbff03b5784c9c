"""The data folder: one process at a time, and a disk that keeps some room."""

import errno
import shutil
import tempfile
from pathlib import Path

import pytest

from roofline.errors import SettingsError, StorageFullError
from roofline.library.instance import DataFolder
from roofline.model.units import bytes_text
from roofline.storage.disk_room import disk_reserve_bytes


@pytest.mark.parametrize(
    ("chosen", "disk_bytes", "kept_bytes"),
    [(None, 20 << 20, 1 << 20), (None, 1 << 50, 2 << 30), (0, 1 << 50, 0), (7, 1 << 50, 7)],
)
def test_reserve_of_the_disk(chosen: int | None, disk_bytes: int, kept_bytes: int) -> None:
    assert disk_reserve_bytes(chosen, disk_bytes) == kept_bytes


def test_folder_has_one_holder_at_a_time(tmp_path: Path) -> None:
    first, second = DataFolder(tmp_path / "data"), DataFolder(tmp_path / "data")
    assert not second.is_in_use()
    with first.claimed():
        assert first.is_claimed
        assert second.is_in_use()
        with pytest.raises(SettingsError, match="Another server uses"):
            second.claim()
        assert not second.is_claimed
    assert not first.is_claimed
    second.claim()
    assert first.is_in_use()
    second.release()
    second.release()
    assert not first.is_in_use()


def test_folder_that_cannot_be_made_is_said_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    folder = DataFolder(tmp_path / "file" / "data")
    with pytest.raises(SettingsError) as refused:
        folder.claim()
    assert str(folder.root) in refused.value.message
    assert folder.is_in_use()


def test_room_is_what_the_disk_has_beyond_its_reserve(tmp_path: Path) -> None:
    DataFolder(tmp_path, 0).check_room(1)
    DataFolder(tmp_path, 0).check()
    with pytest.raises(StorageFullError, match="kept free"):
        DataFolder(tmp_path, 1 << 60).check()
    with pytest.raises(StorageFullError, match="too little to store 1"):
        DataFolder(tmp_path, 0).check_room(1 << 60)


def test_full_disk_is_not_ready_with_any_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: full)
    with pytest.raises(StorageFullError, match="0 bytes left"):
        DataFolder(tmp_path, 0).check()


def test_disk_that_takes_no_file_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its free bytes may be of no use: files have run out, or the share of the server's user."""

    def no_file(**_options: object) -> None:
        raise OSError(errno.EDQUOT, "quota")

    monkeypatch.setattr(tempfile, "TemporaryFile", no_file)
    with pytest.raises(StorageFullError):
        DataFolder(tmp_path, 0).check()


def test_sizes_are_said_in_their_own_unit(tmp_path: Path) -> None:
    with pytest.raises(StorageFullError) as refused:
        DataFolder(tmp_path, 1 << 60).check_room(210)
    assert refused.value.message.endswith("too little to store 210 bytes.")
    assert "e-" not in refused.value.message


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1024, "1 KiB"), (3 << 29, "1.5 GiB"),
     (1 << 60, "1,048,576 TiB"), (-2048, "-2 KiB")],
)  # fmt: skip
def test_bytes_as_people_write_them(size_bytes: int, shown: str) -> None:
    assert bytes_text(size_bytes) == shown

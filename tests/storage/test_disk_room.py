"""A disk that fills: imports keep the reserve free, wait for room, and lose nothing."""

import gzip
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roofline.errors import StorageFullError
from roofline.library.build import Backend
from roofline.library.reader import Failed, Importing, Ready
from roofline.storage.disk_room import DiskRoom
from tests.storage.places import Place, add, eventually, settled, stored
from tests.storage.test_both_places import store_of
from tests.storage.test_retry import held

DISK_BYTES = 24 << 20
RESERVE_BYTES = 4 << 20


class Disk:
    """A small disk at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._watched: list[int] = []

    @property
    def free_bytes(self) -> int:
        return shutil.disk_usage(self.root).free

    def resize(self, size_bytes: int) -> None:
        options = f"remount,size={size_bytes}"
        subprocess.run(["mount", "-o", options, self.root], check=True)

    def least_free_bytes(self, server: Backend, profile_id: str) -> int:
        """The least that was free until the import of a profile had met a full disk."""
        least, deadline = self.free_bytes, time.monotonic() + 30
        while not waits(server, profile_id):
            least = min(least, self.free_bytes)
            assert time.monotonic() < deadline
        return least


def waits(server: Backend, profile_id: str) -> bool:
    job = store_of(server).jobs.newest(profile_id)
    assert job is not None
    return job.needs_bytes is not None


def said(server: Backend, profile_id: str) -> tuple[str, str | None, int | None]:
    """What the page says of a waiting import, between two looks at the disk."""
    state = server.reader.state(profile_id)
    assert isinstance(state, Importing)
    return state.progress.phase, state.waits_for, state.needs_bytes


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    root = tmp_path / "disk"
    root.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", root],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        pytest.skip(f"mounting a small disk needs root: {made.stderr.strip()}")
    yield Disk(root)
    subprocess.run(["umount", "--lazy", root], check=True)


@pytest.fixture
def server(folder: Place, disk: Disk) -> Backend:
    place = Place(root=disk.root, stack=folder.stack)
    return place.server(disk_reserve_bytes=RESERVE_BYTES)


def test_import_that_unpacks_to_more_than_the_disk_waits_and_runs_when_there_is_room(
    server: Backend, disk: Disk
) -> None:
    colleague = stored(server, b"stub of a colleague")
    packed = gzip.compress(b"neither this nor that " * (60 << 20 >> 4))
    assert len(packed) < 1 << 20
    profile_id = add(server, packed)
    assert disk.least_free_bytes(server, profile_id) > RESERVE_BYTES - (2 << 20)
    assert isinstance(server.reader.state(profile_id), Importing)
    assert held(server, profile_id) == [packed]
    eventually(lambda: disk.free_bytes > DISK_BYTES - (4 << 20))
    assert server.library.edit(colleague, note="edits go on " * 500).note
    stored(server, b"stub uploaded meanwhile")
    disk.resize(200 << 20)
    state = settled(server, profile_id)
    assert isinstance(state, Failed)  # by the file itself: there was room to read it
    assert state.error.code == "unknown-format"
    job = store_of(server).jobs.newest(profile_id)
    assert job is not None
    assert job.attempts == 1, "waiting does not count"


def test_import_that_meets_a_disk_filled_by_others_is_not_failed(
    server: Backend, disk: Disk
) -> None:
    ballast = disk.root / "of another program"
    with ballast.open("wb") as file:
        file.write(bytes(disk.free_bytes - RESERVE_BYTES + 8192))
    profile_id = add(server, b"stub waits")
    eventually(lambda: waits(server, profile_id))
    assert isinstance(server.reader.state(profile_id), Importing)
    time.sleep(2)  # it is looked after, and not begun
    assert isinstance(server.reader.state(profile_id), Importing)
    eventually(lambda: said(server, profile_id) == ("queued", "disk", len(b"stub waits")))
    ballast.unlink()
    assert isinstance(settled(server, profile_id), Ready)
    assert held(server, profile_id) == [b"stub waits"]


def test_room_that_one_import_takes_is_not_there_for_another(disk: Disk) -> None:
    room = DiskRoom(disk.root, RESERVE_BYTES)
    assert room.kept_free_bytes == RESERVE_BYTES
    half = room.left_bytes * 6 // 10
    with room.taken(half), pytest.raises(StorageFullError), room.taken(half):
        pass
    with room.taken(half):
        pass
    with pytest.raises(StorageFullError), room.taken(room.left_bytes + 1):
        pass

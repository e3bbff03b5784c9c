"""Results are a cache: damaged ones are never shown, but found elsewhere or computed again."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from roofline.errors import NotReadyError
from roofline.library.build import Backend
from roofline.library.reader import Failed, Ready
from roofline.storage.raw import key_of
from roofline.storage.results import CSV, OPS, PAGE, ROOFLINE
from roofline.web.upkeep import run_doctor
from tests.storage.places import Place, add, settled, stored
from tests.storage.test_both_places import damage, store_of

Change = Callable[[bytes], bytes]
DAMAGE: dict[str, Change] = {
    "a flipped bit": lambda old: old[: len(old) // 2] + flipped(old[len(old) // 2 :]),
    "cut short": lambda old: old[:-3],
    "empty": lambda old: b"",
    "zeros": lambda old: bytes(len(old)),
    "longer": lambda old: old + b"more",
}


def flipped(content: bytes) -> bytes:
    return bytes([content[0] ^ 1]) + content[1:]


def read_all(server: Backend, profile_id: str) -> dict[str, bytes]:
    """Every result as readers get them, once it is there."""
    names = (PAGE, *ROOFLINE.values(), *CSV.values())
    reader = server.reader
    found = {name: waited(partial(_packed, server, profile_id, name)) for name in names}
    ops = [waited(partial(reader.op_details, profile_id, number)) for number in range(2)]
    return {**found, OPS: b"".join(ops)}


def _packed(server: Backend, profile_id: str, name: str) -> bytes:
    return server.reader.packed(profile_id, name)[1]


def waited(read: Callable[[], bytes]) -> bytes:
    deadline = time.monotonic() + 30
    while True:
        try:
            return read()
        except NotReadyError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def results_of(place: Place, profile_id: str) -> Path:
    """The folder with the results of a profile."""
    (folder,) = place.root.glob(f"server/derived/{profile_id}/*")
    return folder


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_results_are_never_shown_and_heal(folder: Place, how: str) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub results")
    whole = read_all(server, profile_id)
    names = [path.name for path in results_of(folder, profile_id).iterdir()]
    assert len(names) == 7
    for name in names:
        path = results_of(folder, profile_id) / name
        path.write_bytes(DAMAGE[how](path.read_bytes()))
        assert read_all(server, profile_id) == whole, name
        assert isinstance(settled(server, profile_id), Ready)


def test_damaged_results_of_one_machine_are_found_with_the_others(servers: Place) -> None:
    server = servers.server()
    profile_id = stored(server, b"stub shared")
    whole = read_all(server, profile_id)
    jobs = store_of(server).jobs
    before = jobs.newest(profile_id)
    path = results_of(servers, profile_id) / PAGE
    path.write_bytes(flipped(path.read_bytes()))
    assert read_all(server, profile_id) == whole
    assert jobs.newest(profile_id) == before, "nothing was computed"


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_results_in_the_object_store_are_computed_again(
    servers: Place, tmp_path: Path, how: str
) -> None:
    server = servers.server()
    profile_id = stored(server, b"stub shared")
    whole = read_all(server, profile_id)
    store = store_of(server)
    (key,) = [info.key for info in store.blobs.list(f"results/{profile_id}/")]
    (tmp_path / "damaged").write_bytes(DAMAGE[how](b"".join(store.blobs.open(key))))
    store.blobs.put(key, tmp_path / "damaged")
    store.results.remove(profile_id)
    assert read_all(server, profile_id) == whole
    store.results.remove(profile_id)
    assert isinstance(settled(server, profile_id), Ready)
    assert read_all(server, profile_id) == whole


def test_uploading_the_same_file_again_heals_raw_file_and_results(
    place: Place, tmp_path: Path
) -> None:
    server = place.server()
    content = b"stub " + bytes(range(256)) * 40
    profile_id = stored(server, content)
    whole = read_all(server, profile_id)
    store = store_of(server)
    (file,) = server.reader.manifest(profile_id).files
    packed = b"".join(store.blobs.open(key_of(file.sha256)))
    damage(server, profile_id, tmp_path / "flipped", lambda old: old[:60] + flipped(old[60:]))
    store.shared_results.remove(profile_id)
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert state.error.code == "damaged-copy"
    add(server, content)
    assert b"".join(store.blobs.open(key_of(file.sha256))) == packed
    assert isinstance(settled(server, profile_id), Ready)
    assert read_all(server, profile_id) == whole


def test_doctor_finds_damaged_details_of_ops_too(
    folder: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    server = folder.server()
    profile_id = stored(server, b"stub results")
    path = results_of(folder, profile_id) / OPS
    path.write_bytes(flipped(path.read_bytes()))
    server.instance.close()
    assert run_doctor(folder.settings(), quick=False, check_only=True) == 1
    assert "its results are damaged" in capsys.readouterr().out


def test_file_of_the_first_release_that_was_damaged_is_not_imported(folder: Place) -> None:
    server = folder.server()
    content = b"stub kept as it came"
    profile_id = stored(server, content)
    (file,) = server.reader.manifest(profile_id).files
    packed = next(folder.root.glob(f"server/blobs/??/{file.sha256}.zst"))
    packed.with_suffix("").write_bytes(flipped(content))  # as large as the right one
    packed.unlink()
    store_of(server).results.remove(profile_id)
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert state.error.code == "damaged-copy"

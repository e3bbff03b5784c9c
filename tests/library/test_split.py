"""An upload of several profiles fails, keeps its files, and is split without a new upload."""

import io
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from roofline.errors import BadEditError, MixedUploadError, ProfileNotFoundError
from roofline.library.build import Backend
from roofline.library.reader import Failed, Ready
from roofline.storage.records import ProfileId, timestamp
from roofline.storage.results import PAGE
from roofline.storage.sweeping import sweep_expired, sweep_orphans, sweep_over_quota
from tests.conftest import SAMPLES
from tests.storage.places import Place, raw_bytes, settled, stored

V4 = (SAMPLES / "xspace" / "v4-training-cmem.xplane.pb").read_bytes()
V6E = (SAMPLES / "xspace" / "v6e-training.xplane.pb").read_bytes()
V5E = [path.read_bytes() for path in sorted((SAMPLES / "xspace" / "v5e-three-hosts").iterdir())]
NO_HASH = "0" * 64


def packed(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def upload(server: Backend, *files: tuple[str, bytes], **described: Any) -> ProfileId:
    area = server.library.stage()
    for name, content in files:
        area.receive_all(name, [content])
    return server.library.add(area, **described)


def refused(server: Backend, profile_id: str) -> MixedUploadError:
    state = settled(server, profile_id)
    assert isinstance(state, Failed)
    assert isinstance(state.error, MixedUploadError)
    return state.error


def split(server: Backend, profile_id: str, *groups: int) -> tuple[ProfileId, ...]:
    return server.library.split(profile_id, groups or None, lambda: NO_HASH)


def device(server: Backend, profile_id: str) -> str:
    state = settled(server, profile_id)
    assert isinstance(state, Ready), state
    return state.manifest.summary.device


def digests(server: Backend) -> set[str]:
    return {digest for digest, _ in server.instance.store.raw.list()}


def test_two_machines_become_two_profiles(folder: Place) -> None:
    server = folder.server()
    profile_id = upload(server, ("v4.pb", V4), ("v6e.pb", V6E), note="a note", uploader="ada")
    error = refused(server, profile_id)
    assert [(group.files, group.uploads) for group in error.groups] == [
        (("v4.pb",), (0,)),
        (("v6e.pb",), (1,)),
    ]
    assert [group.digests for group in error.groups] == [None, None]
    first, second = split(server, profile_id)
    assert (device(server, first), device(server, second)) == ("TPU v4", "TPU v6 lite")
    assert raw_bytes(server, first) == [V4]
    manifest = server.reader.manifest(second)
    assert (manifest.title, manifest.note, manifest.uploader) == ("v6e", "a note", "ada")
    with pytest.raises(ProfileNotFoundError):
        server.reader.state(profile_id)
    assert len(digests(server)) == 2
    for one in (first, second):
        server.library.remove(one)
    assert digests(server) == set()


def test_title_that_was_given_stays_with_the_device(folder: Place) -> None:
    server = folder.server()
    profile_id = upload(server, ("v4.pb", V4), ("v6e.pb", V6E), title="Nightly")
    refused(server, profile_id)
    titles = [
        server.reader.manifest(i).title for i in split(server, profile_id) if device(server, i)
    ]
    assert titles == ["Nightly, TPU v4", "Nightly, TPU v6e (Trillium)"]


def test_file_that_cannot_be_read_is_left_out(folder: Place) -> None:
    server = folder.server()
    profile_id = upload(server, ("good.pb", V4), ("bad.pb", V6E[:1000]))
    error = refused(server, profile_id)
    assert [one.name for one in error.unreadable] == ["bad.pb"]
    assert [group.uploads for group in error.groups] == [(0,)]
    assert len(digests(server)) == 2
    (only,) = split(server, profile_id)
    assert device(server, only) == "TPU v4"
    assert [file.name for file in server.reader.manifest(only).files] == ["good.pb"]
    assert len(digests(server)) == 1, "the bytes that cannot be read are gone"


def test_one_archive_with_two_machines(folder: Place) -> None:
    server = folder.server()
    hosts = [(f"run/{number}/host.xplane.pb", content) for number, content in enumerate(V5E)]
    archive = packed(("a/host.xplane.pb", V4), *hosts, ("notes.txt", b"words"))
    profile_id = upload(server, ("all.zip", archive))
    error = refused(server, profile_id)
    assert [group.uploads for group in error.groups] == [(0,), (0,)]
    assert [len(group.digests or ()) for group in error.groups] == [1, 3]
    alone, hosts_of_one = split(server, profile_id)
    assert device(server, alone) == "TPU v4"
    assert device(server, hosts_of_one) == "TPU v5 lite"
    assert server.reader.manifest(hosts_of_one).summary.host_count == 3
    assert server.reader.manifest(alone).summary.host_count == 1
    for one in (alone, hosts_of_one):
        assert raw_bytes(server, one) == [archive]
    # Computed again, from the archive, it is the same.
    page = server.reader.result(alone, PAGE).plain()
    server.instance.store.results.remove(alone)
    assert device(server, alone) == "TPU v4"
    assert server.reader.result(alone, PAGE).plain() == page


def test_an_archive_per_machine_stays_whole(folder: Place) -> None:
    server = folder.server()
    one, other = packed(("host.xplane.pb", V4)), packed(("host.xplane.pb", V6E))
    profile_id = upload(server, ("one.zip", one), ("other.zip", other))
    error = refused(server, profile_id)
    assert [(group.uploads, group.digests) for group in error.groups] == [
        ((0,), None),
        ((1,), None),
    ]
    first, second = split(server, profile_id)
    assert (device(server, first), device(server, second)) == ("TPU v4", "TPU v6 lite")
    assert (raw_bytes(server, first), raw_bytes(server, second)) == ([one], [other])


def test_one_group_of_several_is_taken_alone(folder: Place) -> None:
    server = folder.server()
    profile_id = upload(server, ("v4.pb", V4), ("v6e.pb", V6E))
    refused(server, profile_id)
    for wrong in ((2,), (0, -1)):
        with pytest.raises(BadEditError, match="2 groups"):
            split(server, profile_id, *wrong)
    (only,) = split(server, profile_id, 1)
    assert device(server, only) == "TPU v6 lite"
    assert len(digests(server)) == 1


def test_other_profiles_cannot_be_split(folder: Place) -> None:
    server = folder.server()
    for content in (b"stub", b"fail it"):
        profile_id = upload(server, ("a.pb", content))
        settled(server, profile_id)
        with pytest.raises(BadEditError, match="cannot be split"):
            split(server, profile_id)
    with pytest.raises(ProfileNotFoundError):
        split(server, "nobody")


def test_it_can_be_split_after_a_restart_and_only_once(folder: Place) -> None:
    first = folder.server()
    profile_id = upload(first, ("v4.pb", V4), ("v6e.pb", V6E))
    error = refused(first, profile_id)
    first.instance.close()
    second = folder.server()
    assert refused(second, profile_id).details == error.details
    assert orjson.loads(orjson.dumps(error.details)) == error.details
    assert len(split(second, profile_id)) == 2
    with pytest.raises(ProfileNotFoundError):
        split(second, profile_id)


def test_files_that_wait_to_be_split_are_swept_with_their_profile_only(folder: Place) -> None:
    server = folder.server()
    store = server.instance.store
    profile_id = upload(server, ("v4.pb", V4), ("v6e.pb", V6E))
    refused(server, profile_id)
    assert sweep_orphans(store, grace_s=-5) == 0
    assert server.queries.stats().raw_bytes == len(V4) + len(V6E)
    store.edit(profile_id, expires_at=timestamp(timedelta(days=-1)))
    assert sweep_expired(store) == 1
    assert digests(server) == set()


def test_files_that_wait_to_be_split_count_against_the_quota(folder: Place) -> None:
    server = folder.server()
    profile_id = upload(server, ("v4.pb", V4), ("v6e.pb", V6E))
    refused(server, profile_id)
    kept = stored(server, b"stub")
    assert sweep_over_quota(server.instance.store, 1000) == 1
    with pytest.raises(ProfileNotFoundError):
        server.reader.state(profile_id)
    assert isinstance(server.reader.state(kept), Ready)


def test_deleting_it_removes_its_files(folder: Place) -> None:
    server = folder.server()
    profile_id = upload(server, ("v4.pb", V4), ("v6e.pb", V6E))
    refused(server, profile_id)
    server.library.remove(profile_id)
    assert digests(server) == set()


def test_a_stored_mixture_of_an_older_release_is_split_when_it_is_computed_again(
    folder: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until now two machines became one profile; newer code finds two."""
    server = folder.server()
    profile_id = stored(server, b"stub one", b"stub two")
    store = server.instance.store
    with monkeypatch.context() as patched:
        patched.setattr(store, "raw", _Replaced(store.raw, [V4, V6E]))
        store.results.remove(profile_id)
        error = refused(server, profile_id)
    assert [group.uploads for group in error.groups] == [(0,), (1,)]
    first, second = split(server, profile_id)
    with pytest.raises(ProfileNotFoundError):
        server.reader.state(profile_id)
    assert all(isinstance(settled(server, one), Ready) for one in (first, second))
    assert [raw_bytes(server, one) for one in (first, second)] == [[b"stub one"], [b"stub two"]]


class _Replaced:
    """Raw files as they would be of another upload."""

    def __init__(self, raw: object, contents: list[bytes]) -> None:
        self._raw = raw
        self._contents = iter(contents)

    def __getattr__(self, name: str) -> object:
        return getattr(self._raw, name)

    def fetch(self, _file: object, target: Path, **_options: object) -> None:
        target.write_bytes(next(self._contents))


def test_a_file_is_added_to_a_profile(folder: Place) -> None:
    """Both make a new profile, not more visible than the first, which stays."""
    server = folder.server()
    hosts = [(f"host{k}.pb", content) for k, content in enumerate(V5E)]
    first = upload(server, *hosts[:2], uploader="ada", visibility="owner")
    whole = upload(server, hosts[1], hosts[2], uploader="ada", joined=first)
    device(server, whole)
    manifest = server.reader.manifest(whole)
    assert [file.name for file in manifest.files] == ["host0.pb", "host1.pb", "host2.pb"]
    assert (manifest.visibility, len(digests(server))) == ("owner", 3)
    device(server, first)
    server.library.remove(first)
    assert raw_bytes(server, whole) == V5E
    with pytest.raises(ProfileNotFoundError):
        upload(server, hosts[0], joined=first)

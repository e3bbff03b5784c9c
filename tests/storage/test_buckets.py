"""Runs in buckets: listed, fetched once each, through failures, delays and changes."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import obstore
import pytest
from obstore.store import ObjectStore

from roofline.errors import StoreUnavailableError, UploadRejectedError
from roofline.pods.fetching import fetch_folder, fetch_steady, sources_of
from roofline.pods.listing import list_run
from roofline.storage import buckets
from roofline.storage.object_connection import connect
from tests.cli.test_main import refused, run
from tests.conftest import SAMPLES
from tests.storage.flaky import Flaky, flaky
from tests.tools.make_rocprof_folder import workload

THREE_HOSTS = SAMPLES / "xspace" / "v5e-three-hosts"
FILES = sorted(THREE_HOSTS.glob("*.xplane.pb"))


@pytest.fixture
def store(bucket: str) -> Iterator[Flaky]:
    """moto's S3 with a session of three hosts, behind a server that can fail."""
    endpoint = bucket.split("endpoint=")[1].split("&")[0]
    httpx.put(f"{endpoint}/runs")
    with flaky(endpoint) as server:
        for file in FILES:
            put(server, file.name, file.read_bytes())
        put(server, "ALL_HOSTS.op_stats_v2.pb", b"a result of XProf's")
        yield server


def put(server: Flaky, name: str, content: bytes) -> None:
    obstore.put(_behind(server), name, content)


def _behind(server: Flaky) -> ObjectStore:
    """The folder of the session, without the server that fails."""
    place = f"s3://runs/plugins/profile/one?endpoint={server.behind}&region=us-east-1"
    return connect(place, named_by="the test")


def address(server: Flaky, key: str) -> str:
    return f"s3://runs/{key}?endpoint={server.address}&region=us-east-1"


def analysed(*places: str | Path) -> Any:
    return json.loads(run("analyze", "--engine", "local", "--format", "json", *places).stdout)


def test_a_session_in_a_bucket_is_the_same_run_as_its_folder(store: Flaky) -> None:
    store.delay_s, store.fails_every = 0.2, 4
    assert analysed(address(store, "plugins/profile/one/")) == analysed(THREE_HOSTS)
    assert store.failed
    fetched = {path: count for path, count in store.read.items() if path.endswith(".pb")}
    assert fetched == {f"/runs/plugins/profile/one/{file.name}": 1 for file in FILES}
    store.delay_s, store.fails_every = 0.0, 0
    put(store, FILES[0].name, FILES[1].read_bytes())
    analysed(address(store, "plugins/profile/one/"))
    again = {path: count for path, count in store.read.items() if path.endswith(".pb")}
    assert again == {**fetched, f"/runs/plugins/profile/one/{FILES[0].name}": 2}, (
        "only what changed"
    )


def test_a_folder_that_is_one_host_has_the_bytes_of_that_on_disk(
    store: Flaky, tmp_path: Path
) -> None:
    folder = tmp_path / "rank_3"
    folder.mkdir()
    for name, text in workload().items():
        (folder / name).write_text(text)
        put(store, f"rank_3/{name}", text.encode())
    put(store, "rank_3/log.txt", b"words")
    wanted, found = tmp_path / "disk", tmp_path / "bucket"
    fetch_folder(f"{folder}/", wanted)
    place = address(store, "plugins/profile/one/rank_3/")
    fetch_folder(place, found)
    assert found.read_bytes() == wanted.read_bytes()
    (host,) = sources_of([place])
    assert (host.address, host.name, host.is_folder) == (place, "rank_3", True)
    put(store, "rank_3/pmc_perf.csv", b"other bytes")
    (changed,) = sources_of([place])
    assert changed.version != host.version
    kept = [f"rank_3/{name}" for name in (*workload(), "log.txt")]
    obstore.delete(_behind(store), kept)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("plugins/profile/one", 4),
        ("plugins/profile/one/", 4),
        ("plugins/profile/one/host_1.xplane.pb", 1),
        ("plugins/profile/on", 0),
        ("plugins/*/one/host_?.xplane.pb", 3),
        ("plugins/profile/one/host_[!0].xplane.pb", 2),
        ("**/*.xplane.pb", 3),
        ("plugins/**/one/**/host_1*", 1),
        ("plugins/*.pb", 0),
        ("", 4),
    ],
)
def test_an_address_is_an_object_a_folder_or_a_pattern(store: Flaky, key: str, found: int) -> None:
    assert len(buckets.list_objects(address(store, key))) == found


def test_a_pattern_is_matched_in_time_that_grows_as_its_length() -> None:
    """Each of these took minutes by the regular expression of a pattern."""
    for pattern, key in (
        ("*a" * 300 + "b", "a" * 1_000),
        ("**/" * 3 + "*a" * 20 + "*b", "/".join(["a" * 20] * 48)),
    ):
        began = time.process_time()
        assert not buckets.matches(pattern.split("/"), key.split("/"))
        assert time.process_time() - began < 5.0, "a hang, whatever the machine"


@pytest.mark.parametrize(
    "key",
    [
        "a/../b/", "./a", "a//b", "a\nb", "a\0b", "\u202eb", "x" * 1_025,
        "**/" * 4 + "a",
    ],
)  # fmt: skip
def test_what_cannot_be_an_address_is_refused_before_anything_is_asked(key: str) -> None:
    with pytest.raises(UploadRejectedError) as caught:
        buckets.check(f"s3://runs/{key}")
    assert caught.value.message.isprintable()


def test_a_place_with_too_many_objects_is_refused(
    store: Flaky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "MOST_LISTED", 3)
    assert len(buckets.list_objects(address(store, "**/*.xplane.pb"))) == 3
    with pytest.raises(UploadRejectedError, match="more than 3 files"):
        buckets.list_objects(address(store, "plugins/"))


def test_an_object_that_changes_is_read_as_it_is_now(store: Flaky, tmp_path: Path) -> None:
    (listed,) = buckets.list_objects(address(store, "plugins/profile/one/host_1.xplane.pb"))
    put(store, "host_1.xplane.pb", b"other bytes")
    with pytest.raises(buckets.ChangedError):
        buckets.fetch(listed, tmp_path / "file")
    now, digest = fetch_steady(listed, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"other bytes"
    assert (now.size_bytes, len(digest)) == (11, 64)
    assert now.identity != listed.identity


def test_an_object_that_changes_each_time_is_refused(store: Flaky, tmp_path: Path) -> None:
    (listed,) = buckets.list_objects(address(store, "plugins/profile/one/host_1.xplane.pb"))
    store.before = lambda path: put(store, "host_1.xplane.pb", f"{path}{id(object())}".encode())
    put(store, "host_1.xplane.pb", b"as long as no other")
    with pytest.raises(UploadRejectedError, match="changes while it is read"):
        fetch_steady(listed, tmp_path / "file")


def test_an_object_that_went_is_that_hosts_alone(store: Flaky) -> None:
    def remove(path: str) -> None:
        if path.endswith("host_2.xplane.pb"):
            obstore.delete(_behind(store), "host_2.xplane.pb")

    store.before = remove
    states = {one["host"]: one["state"] for one in analysed(address(store, "plugins"))["hosts"]}
    assert states == {"host-0": "read", "host-1": "read", "host_2.xplane.pb": "unreadable"}


def test_a_bucket_without_an_answer_is_explained(
    store: Flaky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roofline.storage.object_connection.RETRY_S", 0.1)
    store.fails_every = 1
    with pytest.raises(StoreUnavailableError, match="s3://runs/plugins cannot be read now"):
        buckets.list_objects(address(store, "plugins"))


def test_an_empty_folder_is_refused(store: Flaky) -> None:
    said = refused("analyze", "--engine", "local", address(store, "none/"))
    assert "There are no objects at s3://runs/none/." in said
    with pytest.raises(UploadRejectedError, match=r"no files at s3://runs/none/\.$") as caught:
        list_run(address(store, "none/"))
    assert "endpoint" not in caught.value.message, "it becomes the reason of a run"


def test_an_address_needs_an_engine() -> None:
    assert "Add --engine local" in refused("analyze", "s3://runs/one/host_0.xplane.pb")


def test_a_pattern_of_paths_names_a_run(tmp_path: Path) -> None:
    assert analysed(THREE_HOSTS / "host_[01].xplane.pb")["hosts"][1]["host"] == "host-1"
    (tmp_path / "link").symlink_to(THREE_HOSTS)
    assert analysed(tmp_path / "l*")["digest"] == analysed(THREE_HOSTS)["digest"]

"""Runs of many hosts over HTTP: imported, pushed, followed, read, deleted."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from roofline.exports.run_report import run_record
from roofline.model import outer_limits
from roofline.pods.partial import pack
from roofline.pods.reading import partial_of
from roofline.pods.reduce import reduce_run
from roofline.settings import Settings
from roofline.storage.sweeping import sweep_partials
from roofline.web.api.run_bodies import NOTHING_YET
from tests.cli.test_main import run as command
from tests.conftest import SAMPLES
from tests.profiles import imported
from tests.web.conftest import Client, Launch, running
from tests.web.http.test_access import ADMIN, BEARER, TOKEN, session

API = "/api/v1/runs"
THREE_HOSTS = SAMPLES / "xspace" / "v5e-three-hosts"
FILES = sorted(THREE_HOSTS.glob("*.xplane.pb"))
OF_THE_RUN = set(json.loads(NOTHING_YET))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server for tests that read hosts: its reading process starts once."""
    options: dict[str, Any] = {"buckets": [str(THREE_HOSTS.parent)]}
    folder = tmp_path_factory.mktemp("runs")
    with running(Settings.from_env(data_dir=folder, **options)) as client:
        yield client


def made(client: Client, *, headers: dict[str, str] | None = None, **wish: Any) -> Any:
    answer = client.post(API, json=wish, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


def pushed(
    client: Client, run_id: str, *files: tuple[str, bytes], **options: Any
) -> httpx.Response:
    return client.post(f"{API}/{run_id}/hosts", files=[("file", one) for one in files], **options)


def settled(client: Client, run_id: str) -> Any:
    """The run when it is not read any more; a busy machine may take minutes."""
    for _ in range(10):
        answer = client.get(f"{API}/{run_id}?wait=60")
        assert answer.status_code == 200, answer.text
        if answer.json()["state"] != "reading":
            break
    return answer.json()


def in_trash(client: Client, headers: dict[str, str] | None = None) -> Any:
    return client.get("/api/v1/trash", headers=headers).json()["runs"]


def analysed(*places: Path) -> Any:
    """What the command says of these files."""
    return json.loads(command("analyze", "--engine", "local", "--format", "json", *places).stdout)


def said(document: Any) -> Any:
    """What a document says of the run, without what a server knows of it."""
    return {name: value for name, value in document.items() if name in OF_THE_RUN}


def test_a_run_of_no_hosts_says_nothing_in_the_same_words() -> None:
    assert set(run_record(reduce_run([]))) == OF_THE_RUN


def test_a_folder_is_imported_and_says_what_the_command_says(
    server: Client,
) -> None:
    client = server
    run = made(client, uri=str(THREE_HOSTS), title="Three", hosts=3)
    assert (run["state"], run["title"]) == ("reading", "Three")
    assert run["url"] == f"http://localhost/r/{run['id']}"
    document = settled(client, run["id"])
    assert said(document) == analysed(THREE_HOSTS)
    assert (document["state"], document["read"], document["total"]) == ("complete", 3, 3)
    hosts = client.get(f"{API}/{run['id']}/hosts").json()["hosts"]
    assert {one["name"] for one in hosts} == {file.name for file in FILES}
    op = document["ops"][0]
    of_op = client.get(f"{API}/{run['id']}/ops/{op['id']}/hosts").json()["hosts"]
    assert max(one["self_us"] for one in of_op) == pytest.approx(op["max_us"], abs=1e-5)
    assert client.get(f"{API}/{run['id']}/ops/none/hosts").status_code == 404
    page = client.post(f"{API}/{run['id']}/hosts/{hosts[0]['file']}/profile").json()
    again = client.post(f"{API}/{run['id']}/hosts/{hosts[0]['file']}/profile").json()
    assert page["id"] == again["id"]
    assert page["state"] in ("importing", "ready")
    names = [one["host"] for one in document["hosts"]]
    opened = client.post(f"{API}/{run['id']}/profiles", json={"hosts": names[:2]}).json()
    assert page["id"] in [one["id"] for one in opened["profiles"]] or page["title"].endswith("2.pb")
    first, second = (one["id"] for one in opened["profiles"])
    assert opened["compare_url"] == f"/c/{first}..{second}"
    for wrong, status in ([], 400), (["host-9"], 404), (names * 9, 400):
        refused = client.post(f"{API}/{run['id']}/profiles", json={"hosts": wrong})
        assert refused.status_code == status
    assert run["id"] in [one["id"] for one in client.get(API).json()["runs"]]
    answer = client.get(f"{API}/{run['id']}")
    same = client.get(f"{API}/{run['id']}", headers={"if-none-match": answer.headers["etag"]})
    assert same.status_code == 304


def test_pushed_hosts_and_partials_are_one_run(server: Client) -> None:
    from roofline.pods.folders import digest_of

    client, run = server, made(server)
    partial = partial_of(imported(FILES[1]), file_digest=digest_of(FILES[1]))
    packed = (f"{FILES[1].name}.partial", pack(partial))
    whole = [(file.name, file.read_bytes()) for file in FILES]
    assert pushed(client, run["id"], whole[0], packed).json()["added"] == 2
    assert pushed(client, run["id"], whole[0]).json()["added"] == 0, "known by its digest"
    assert pushed(client, run["id"], whole[2], whole[1]).json()["added"] == 2
    assert client.post(f"{API}/{run['id']}/close").status_code == 200
    document = settled(client, run["id"])
    assert said(document) == analysed(THREE_HOSTS), "a partial and its file count once"
    assert (document["state"], document["read"]) == ("complete", 4)
    hosts = client.get(f"{API}/{run['id']}/hosts").json()["hosts"]
    (sent,) = [one["file"] for one in hosts if one["name"].endswith(".partial")]
    assert client.post(f"{API}/{run['id']}/hosts/{sent}/profile").status_code == 409


def test_a_host_in_a_packed_file_is_opened_and_one_of_a_partial_is_not(server: Client) -> None:
    from roofline.pods.folders import digest_of

    client, run = server, made(server, hosts=2)
    partial = partial_of(imported(FILES[1]), file_digest=digest_of(FILES[1]))
    pushed(client, run["id"], (f"{FILES[0].name}.gz", gzip.compress(FILES[0].read_bytes())))
    pushed(client, run["id"], (f"{FILES[1].name}.partial", pack(partial)))
    document = settled(client, run["id"])
    names = [one["host"] for one in document["hosts"]]
    path = f"{API}/{run['id']}/profiles"
    (opened,) = client.post(path, json={"hosts": names[:1]}).json()["profiles"]
    assert opened["files"][0]["name"] == f"{FILES[0].name}.gz"
    assert client.post(path, json={"hosts": names[1:]}).status_code == 409


def test_a_broken_host_is_listed_and_the_others_count(server: Client) -> None:
    client, run = server, made(server, hosts=3)
    files = [(file.name, file.read_bytes()) for file in FILES[:2]]
    broken = ("../broken.partial", b"roofline packed partial 1\nnothing")
    pushed(client, run["id"], *files, broken)
    document = settled(client, run["id"])
    assert (document["read"], document["unreadable"], document["total"]) == (2, 1, 3)
    states = {one["host"]: one["state"] for one in document["hosts"]}
    assert states == {"host-0": "read", "host-1": "read", "broken.partial": "unreadable"}
    hosts = client.get(f"{API}/{run['id']}/hosts").json()["hosts"]
    (why,) = [one["reason"] for one in hosts if one["state"] == "unreadable"]
    assert "damaged" in why


def test_later_hosts_make_a_new_version(server: Client) -> None:
    client, run = server, made(server, hosts=1)
    pushed(client, run["id"], (FILES[0].name, FILES[0].read_bytes()))
    first = settled(client, run["id"])
    assert (first["state"], len(first["hosts"])) == ("complete", 1)
    pushed(client, run["id"], (FILES[1].name, FILES[1].read_bytes()))
    second = settled(client, run["id"])
    assert (second["state"], len(second["hosts"])) == ("complete", 2)
    assert second["version"] > first["version"]


def test_only_configured_places_are_read(launch: Launch, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    client = launch(buckets=[str(inside), "s3://team/profiles?endpoint=http://127.0.0.1:9"])
    for place in (
        str(outside),
        f"{inside}/../outside",
        f"{inside}/link",
        f"{inside}/*",
        "inside",
        "s3://other/profiles/run",
        "s3://team/profiles-of-others/run",
        "gs://team/profiles/run",
        "https://team/profiles",
    ):
        answer = client.post(API, json={"uri": place})
        assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed"), place
    for place in ("s3://team/profiles/../x", "s3://team/profiles/a\nb", f"{inside}/a\0b"):
        assert client.post(API, json={"uri": place}).status_code == 400, place
    options = client.post(API, json={"uri": "s3://team/profiles/a?endpoint=http://127.0.0.1:8"})
    assert options.status_code == 400, "a user does not choose who gets the credentials"
    for wish, said in (
        ({"title": "x" * 70_000}, "The title is too long."),  # it was cut
        ({"titel": "x"}, "These keys of the body are not known: titel."),
    ):
        refused = client.post(API, json={"uri": str(inside), **wish})
        assert (refused.status_code, refused.json()["message"]) == (400, said)
    nothing = made(client, uri=str(inside))
    failed = settled(client, nothing["id"])
    assert (failed["state"], failed["hosts"]) == ("failed", [])
    assert "There are no files" in failed["reason"]
    (outside / "host_0.xplane.pb").write_bytes(FILES[0].read_bytes())
    (inside / "host_0.xplane.pb").symlink_to(outside / "host_0.xplane.pb")
    led_out = settled(client, made(client, uri=str(inside))["id"])
    assert (led_out["state"], led_out["read"]) == ("failed", 0)
    assert "links" in led_out["reason"]


def test_a_listing_that_takes_too_long_is_stopped_and_fails_its_run_alone(
    server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outer_limits, "LISTING", replace(outer_limits.LISTING, wall_seconds=0.0))
    # On a busy machine the answer may be there before anybody waits for it.
    runs = (settled(server, made(server, uri=str(THREE_HOSTS))["id"]) for _ in range(9))
    slow = next(run for run in runs if run["state"] == "failed")
    assert slow["reason"].startswith("Listing this place took longer than")
    monkeypatch.undo()
    assert settled(server, made(server, uri=str(THREE_HOSTS), hosts=3)["id"])["read"] == 3


def test_rights_to_runs(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    file = (FILES[0].name, FILES[0].read_bytes())
    run = made(client, headers=ada, visibility="owner", title="Mine")
    path = f"{API}/{run['id']}"
    for other in (eve, BEARER):
        assert client.get(path, headers=other).status_code == 404
        assert client.get(f"{path}/events", headers=other).status_code == 404
        assert pushed(client, run["id"], file, headers=other).status_code == 404
        assert client.post(f"{path}/close", headers=other).status_code == 404
        assert client.delete(path, headers=other).status_code == 404
        assert client.get(API, headers=other).json() == {"runs": [], "total": 0}
        assert run["id"] not in client.get("/", headers={**other, "accept": "text/html"}).text
    assert run["id"] in client.get("/?q=mine+ADA", headers={**ada, "accept": "text/html"}).text
    client.delete(path, headers=ada)
    assert [one["id"] for one in in_trash(client, ada)] == [run["id"]]
    assert in_trash(client, eve) == in_trash(client, BEARER) == []
    assert client.delete(f"/api/v1/trash/runs/{run['id']}", headers=eve).status_code == 404
    assert client.post(f"{path}/restore", headers=ada).status_code == 200
    holder = {**BEARER, "x-delete-token": run["delete_token"]}
    assert pushed(client, run["id"], file, headers=holder).status_code == 200
    assert client.get(API, headers=ada).json()["runs"][0]["uploader"] == "Ada"
    shared = made(client, headers=ada)
    assert pushed(client, shared["id"], file, headers=eve).status_code == 403
    assert client.delete(f"{API}/{shared['id']}", headers=eve).status_code == 403
    of_all = made(client, headers=BEARER)
    assert pushed(client, of_all["id"], file, headers=BEARER).status_code == 200
    admin = {"authorization": f"Bearer {ADMIN}"}
    actions = [
        json.loads(line)["action"]
        for line in client.get("/api/v1/audit", headers=admin).text.splitlines()
    ]
    assert {"import run", "push to run"} <= set(actions)


def test_a_host_opened_as_a_hidden_profile_is_not_shown_to_others(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    path = f"{API}/{made(client, headers=ada)['id']}/hosts"
    files = [("file", (FILES[0].name, FILES[0].read_bytes()))]
    assert client.post(path, files=files, headers=ada).status_code == 200
    (host,) = client.get(path, headers=ada).json()["hosts"]
    opened = f"{path}/{host['file']}/profile"
    hidden = client.post(opened, headers=ada).json()["id"]
    change = {"visibility": "owner"}
    address = f"/api/v1/profiles/{hidden}"
    assert client.get(f"{address}?wait=60", headers=ada).json()["state"] == "ready"
    assert client.request("PATCH", address, json=change, headers=ada).status_code == 200
    assert hidden in client.get(path, headers=ada).text
    assert hidden not in client.get(path, headers=eve).text
    assert client.post(opened, headers=ada).json()["id"] == hidden
    assert client.post(opened, headers=eve).json()["id"] != hidden


def test_a_deleted_run_is_restored_or_gone(launch: Launch, tmp_path: Path) -> None:
    client = launch()
    run = made(client)
    path = f"{API}/{run['id']}"
    pushed(client, run["id"], (FILES[0].name, FILES[0].read_bytes()))
    assert client.delete(f"/api/v1/trash/runs/{run['id']}").status_code == 404, "not in the trash"
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert pushed(client, run["id"], (FILES[0].name, b"x")).status_code == 404
    (trashed,) = in_trash(client)
    assert (trashed["hosts"], trashed["size_bytes"]) == (1, FILES[0].stat().st_size)
    assert f'data-restore-run="{run["id"]}"' in client.get("/trash").text
    assert client.post(trashed["restore_url"]).status_code == 200
    assert client.get(path).status_code == 200
    assert client.delete(path).status_code == 204
    assert client.delete(f"/api/v1/trash/runs/{run['id']}").status_code == 204
    assert in_trash(client) == []
    assert not list((client.settings.data_dir / "blobs").rglob("*.zst"))
    gone = launch(trash_days=0, data_dir=tmp_path / "without")
    other = made(gone, hosts=1)
    pushed(gone, other["id"], (FILES[0].name, FILES[0].read_bytes()))
    settled(gone, other["id"])
    store = gone.parts.instance.store
    assert sweep_partials(store, grace_s=0) == 0, "a run needs them"
    assert gone.delete(f"{API}/{other['id']}").status_code == 204
    assert not list((gone.settings.data_dir / "blobs").rglob("*.zst"))
    assert not list((gone.settings.data_dir / "runs").rglob("*.json"))
    assert sweep_partials(store) == 0, "they are new"
    assert sweep_partials(store, grace_s=0) == 1
    assert not list((gone.settings.data_dir / "partials").glob("*/*"))


def test_a_run_is_followed(server: Client) -> None:
    client, run = server, made(server, hosts=1)
    pushed(client, run["id"], (FILES[0].name, FILES[0].read_bytes()))
    text = client.get(f"{API}/{run['id']}/events").text
    events = [line.removeprefix("event: ") for line in text.splitlines() if "event: " in line]
    assert events[-1] == "complete"
    data = [line.removeprefix("data: ") for line in text.splitlines() if "data: " in line]
    last = orjson.loads(data[-1])
    assert (last["read"], last["total"], last["id"]) == (1, 1, run["id"])


def test_quota_counts_runs_and_pushed_bytes(launch: Launch) -> None:
    client = launch(user_profiles=1, user_quota_bytes=FILES[0].stat().st_size + 10)
    run = made(client)
    assert client.post(API, json={}).status_code == 507
    assert pushed(client, run["id"], (FILES[0].name, FILES[0].read_bytes())).status_code == 200
    more = pushed(client, run["id"], (FILES[1].name, FILES[1].read_bytes()))
    assert (more.status_code, more.json()["code"]) == (507, "over-quota")


def test_runs_are_found_and_imported_by_rule(launch: Launch, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    folder = root / "plugins" / "profile" / "one"
    folder.mkdir(parents=True)
    (folder / "host_0.xplane.pb").write_bytes(FILES[0].read_bytes())
    client = launch(buckets=[str(root)], watch_rule=f"{root}/*")
    watch = client.parts.runs.watch
    watch.look()
    watch.look()
    (found,) = client.get("/api/v1/found-runs").json()["runs"]
    assert (found["uri"], found["name"], found["hosts"]) == (f"{folder}/", "one", 1)
    assert found["is_complete"] and found["size_bytes"] == FILES[0].stat().st_size
    assert f'data-import-run="{folder}/"' not in client.get("/").text, "the rule imported it"
    client.parts.runs.add_by_rule(found["uri"])
    (run,) = client.get(API).json()["runs"]
    assert (run["title"], run["uri"]) == ("one", str(folder)), "it is imported once"
    (folder / "host_1.xplane.pb").write_bytes(FILES[1].read_bytes())
    watch.look()
    (found,) = client.get("/api/v1/found-runs").json()["runs"]
    assert (found["hosts"], found["is_complete"]) == (2, False)
    assert client.delete(f"{API}/{run['id']}").status_code == 204
    home = client.get("/").text
    assert f'data-import-run="{folder}/"' in home and "2 hosts" in home
    assert "may still be written" in home
    assert "data-import-run" not in client.get("/?q=one").text

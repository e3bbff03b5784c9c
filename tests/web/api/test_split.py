"""Uploads of several profiles over the API: what the answer says, and how it is gone on with."""

from typing import Any

import httpx
import pytest

from tests.conftest import SAMPLES
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import BEARER, TOKEN, session

API = "/api/v1/profiles"
V4 = (SAMPLES / "xspace" / "v4-training-cmem.xplane.pb").read_bytes()
V6E = (SAMPLES / "xspace" / "v6e-training.xplane.pb").read_bytes()


def mixed(client: Client, **options: Any) -> httpx.Response:
    return client.upload(V4, V6E, names=("v4.pb", "v6e.pb"), **options)


def test_answer_says_which_files_belong_together_and_how_to_go_on(client: Client) -> None:
    answer = mixed(client)
    body = answer.json()
    assert (answer.status_code, body["code"]) == (400, "mixed-upload")
    assert [group["files"] for group in body["details"]["groups"]] == [["v4.pb"], ["v6e.pb"]]
    assert body["details"]["unreadable"] == []
    assert body["split_url"] == f"{API}/{body['id']}/split"
    assert body["url"] == f"http://localhost/p/{body['id']}"
    assert body["delete_token"]
    state = client.get(f"{API}/{body['id']}").json()
    assert (state["state"], state["details"]) == ("failed", body["details"])
    assert "delete_token" not in state


def test_each_group_becomes_a_profile_with_a_token_of_its_own(client: Client) -> None:
    refused = mixed(client, note="Both").json()
    answer = client.post(refused["split_url"])
    body = answer.json()
    assert (answer.status_code, body["total"]) == (201, 2)
    made = body["profiles"]
    assert [one["state"] for one in made] == ["ready", "ready"]
    assert [one["summary"]["device"] for one in made] == ["TPU v4", "TPU v6 lite"]
    assert {one["note"] for one in made} == {"Both"}
    assert len({one["delete_token"] for one in made} | {refused["delete_token"]}) == 3
    assert client.get(f"{API}/{refused['id']}").status_code == 404
    assert client.post(refused["split_url"]).status_code == 404
    assert client.get(API).json()["total"] == 2


def test_file_that_cannot_be_read_is_left_out(client: Client) -> None:
    refused = client.upload(V4, V6E[:999], names=("good.pb", "bad.pb")).json()
    (bad,) = refused["details"]["unreadable"]
    assert (bad["name"], bad["code"]) == ("bad.pb", "corrupt-profile")
    (only,) = client.post(refused["split_url"]).json()["profiles"]
    assert [file["name"] for file in only["files"]] == ["good.pb"]


def test_some_groups_are_chosen_by_number(client: Client) -> None:
    refused = mixed(client).json()
    for wrong in ("group=2", "group=-1", "group=x"):
        assert client.post(f"{refused['split_url']}?{wrong}").status_code == 400
    (only,) = client.post(f"{refused['split_url']}?group=1").json()["profiles"]
    assert only["summary"]["device"] == "TPU v6 lite"


def test_import_that_was_not_waited_for_says_it_in_its_state(client: Client) -> None:
    profile_id = mixed(client, wait=0).json()["id"]
    state = client.get(f"{API}/{profile_id}?wait=60").json()
    assert state["code"] == "mixed-upload"
    assert len(client.post(f"{API}/{profile_id}/split").json()["profiles"]) == 2


def test_profiles_that_are_not_mixed_cannot_be_split(client: Client, capture: bytes) -> None:
    profile_id = client.upload(capture).json()["id"]
    answer = client.post(f"{API}/{profile_id}/split")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-edit")
    assert client.get(f"{API}/{profile_id}").json()["state"] == "ready"
    assert client.post(f"{API}/unknown/split").status_code == 404


def test_split_needs_the_uploader_or_the_token_of_the_upload(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN)
    owner, other = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    refused = mixed(client, headers=owner).json()
    url = refused["split_url"]
    assert client.post(url).status_code == 401
    assert client.post(url, headers=other).status_code == 403
    assert client.post(url, headers={**owner, "x-csrf-token": ""}).status_code == 403
    assert client.post(url, headers={**BEARER, "x-delete-token": "guessed"}).status_code == 403
    held = {**BEARER, "x-delete-token": refused["delete_token"]}
    made = client.post(url, headers=held).json()["profiles"]
    assert {one["uploader"] for one in made} == {"Ada"}
    assert client.request("PATCH", f"{API}/{made[0]['id']}", headers=owner, json={}).is_success
    tool = mixed(client, headers=BEARER).json()
    assert client.post(tool["split_url"], headers=BEARER).status_code == 403
    held = {**BEARER, "x-delete-token": tool["delete_token"]}
    assert client.post(tool["split_url"], headers=held).status_code == 201


def test_split_counts_as_an_upload(launch: Launch) -> None:
    client = launch(uploads_per_hour=2)
    refused = mixed(client).json()
    assert client.post(refused["split_url"]).status_code == 201
    assert client.upload(V4).status_code == 429


def test_split_is_written_down(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    refused = mixed(client).json()
    client.post(refused["split_url"])
    said = "".join(capsys.readouterr())
    assert "event='split'" in said
    assert refused["delete_token"] not in said


def test_page_of_the_failed_upload_carries_the_groups(client: Client) -> None:
    refused = mixed(client).json()
    page = client.get(f"/p/{refused['id']}", headers={"accept": "text/html"}).text
    assert "data-failure=" in page
    assert "data-may-change" in page
    assert "v6e.pb" in page

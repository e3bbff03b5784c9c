"""Another try over the API: for failed imports whose files the server has kept."""

import pytest

from tests.web.conftest import Client, Launch
from tests.web.http.test_access import BEARER, TOKEN, session

API = "/api/v1/profiles"


def failed(
    client: Client, capture: bytes, patch: pytest.MonkeyPatch, headers: dict[str, str] | None = None
) -> dict[str, str]:
    """What the server answered to an upload whose import ended by a fault of the machine."""
    with patch.context() as patched:
        patched.setattr("roofline.imports.children.WORK", "tests.web.children:leave")
        answer = client.upload(capture, title="Mine", headers=headers)
    assert answer.status_code == 422
    body: dict[str, str] = answer.json()
    return body


def test_answer_says_how_to_try_again_and_another_try_succeeds(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = failed(client, capture, monkeypatch)
    assert body["retry_url"] == f"{API}/{body['id']}/retry"
    assert body["url"] == f"http://localhost/p/{body['id']}"
    state = client.get(f"{API}/{body['id']}").json()
    assert (state["state"], state["retry_url"]) == ("failed", body["retry_url"])
    answer = client.post(body["retry_url"])
    assert answer.status_code == 200
    again = answer.json()
    assert (again["state"], again["title"], again["id"]) == ("ready", "Mine", body["id"])
    assert client.get(f"{API}/{body['id']}/source").content == capture
    assert client.post(body["retry_url"]).json() == again, "nothing is left to try"


def test_try_that_fails_again_says_so(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = failed(client, capture, monkeypatch)
    monkeypatch.setattr("roofline.imports.children.WORK", "tests.web.children:leave")
    again = client.post(body["retry_url"]).json()
    assert (again["state"], again["retry_url"]) == ("failed", body["retry_url"])
    assert "exit status 3" in again["message"]


def test_error_about_the_file_offers_no_other_try(client: Client) -> None:
    body = client.upload(b"neither this nor that").json()
    assert body["code"] == "unknown-format"
    assert "retry_url" not in body
    assert "data-retry-url" not in client.get(f"/p/{body['id']}").text
    assert client.post(f"{API}/{body['id']}/retry").json()["state"] == "failed"  # on one's own
    assert client.post(f"{API}/unknown/retry").status_code == 404


def test_another_try_needs_the_uploader_or_the_token_of_the_upload(
    launch: Launch, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = launch(auth="token", token=TOKEN)
    owner, other = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    body = failed(client, capture, monkeypatch, headers=owner)
    url = body["retry_url"]
    assert client.post(url).status_code == 401
    assert client.post(url, headers=other).status_code == 403
    assert client.post(url, headers={**owner, "x-csrf-token": ""}).status_code == 403
    assert client.post(url, headers={**BEARER, "x-delete-token": "guessed"}).status_code == 403
    held = {**BEARER, "x-delete-token": body["delete_token"]}
    assert client.post(url, headers=held).json()["state"] == "ready"


def test_another_try_counts_as_an_upload(
    launch: Launch, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = launch(uploads_per_hour=2)
    body = failed(client, capture, monkeypatch)
    assert client.post(body["retry_url"]).status_code == 200
    assert client.post(body["retry_url"]).status_code == 429


def test_failed_upload_stands_on_the_home_page_of_its_uploader_alone(
    launch: Launch, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = launch(auth="token", token=TOKEN)
    owner, other = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    body = failed(client, capture, monkeypatch, headers=owner)
    button = f'data-retry-upload="{body["retry_url"]}"'
    assert button in client.get("/", headers=owner).text
    assert button not in client.get("/", headers=other).text
    (listed,) = client.get("/api/v1/failed-uploads", headers=owner).json()["profiles"]
    assert (listed["id"], listed["retry_url"]) == (body["id"], body["retry_url"])
    behind = client.get("/api/v1/failed-uploads?offset=1", headers=owner).json()
    assert behind == {"profiles": [], "total": 1}
    for headers in (other, BEARER):
        assert client.get("/api/v1/failed-uploads", headers=headers).json()["total"] == 0
    assert client.post(body["retry_url"], headers=owner).json()["state"] == "ready"
    assert client.get("/api/v1/failed-uploads", headers=owner).json()["total"] == 0


def test_wait_lasts_until_results_of_an_earlier_release_are_computed_again(
    client: Client, capture: bytes
) -> None:
    profile_id = client.upload(capture).json()["id"]
    client.parts.instance.store.results.remove(profile_id)
    assert client.get(f"{API}/{profile_id}?wait=60").json()["state"] == "ready"

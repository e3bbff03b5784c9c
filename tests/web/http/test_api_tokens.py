"""API tokens: what each scope allows, and how they end."""

from typing import Any

import pytest

from roofline.settings import Settings
from tests.web.conftest import Client, Launch, running
from tests.web.http.test_access import ADMIN, BEARER, TOKEN, session

TOKENS = "/api/v1/tokens"
PROFILES = "/api/v1/profiles"


@pytest.fixture
def guarded(launch: Launch) -> Client:
    return launch(auth="token", token=TOKEN, admin_token=ADMIN)


def make(client: Client, headers: dict[str, str], **options: Any) -> dict[str, Any]:
    answer = client.post(TOKENS, json={"name": "ci", **options}, headers=headers)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def bearer(made: dict[str, Any]) -> dict[str, str]:
    return {"authorization": f"Bearer {made['token']}"}


def ada(client: Client) -> dict[str, str]:
    headers = session(client, name="Ada")
    client.forget_cookies()
    return headers


def test_uploads_with_a_token_are_its_makers(guarded: Client, capture: bytes) -> None:
    headers = ada(guarded)
    made = make(guarded, headers)
    assert made["token"].startswith("rfl_") and len(made["token"]) > 40
    body = guarded.upload(capture, headers=bearer(made)).json()
    assert body["uploader"] == "Ada"
    path = f"{PROFILES}/{body['id']}"
    assert guarded.request("PATCH", path, json={"note": "x"}, headers=headers).status_code == 200
    answer = guarded.request("PATCH", path, json={"note": "y"}, headers=bearer(made))
    assert answer.status_code == 200
    other = guarded.upload(capture, headers=BEARER).json()
    answer = guarded.delete(f"{PROFILES}/{other['id']}", headers=bearer(made))
    assert answer.status_code == 403, "of somebody else"


def test_token_that_reads_changes_nothing(guarded: Client, capture: bytes) -> None:
    headers = ada(guarded)
    reading = bearer(make(guarded, headers, scope="read"))
    mine = guarded.upload(capture, headers=headers).json()["id"]
    assert guarded.get(f"{PROFILES}/{mine}", headers=reading).status_code == 200
    answer = guarded.upload(capture, headers=reading)
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")
    assert "`upload`" in answer.json()["remedy"]
    assert guarded.delete(f"{PROFILES}/{mine}", headers=reading).status_code == 403


def test_only_administrators_make_tokens_with_their_rights(guarded: Client, capture: bytes) -> None:
    answer = guarded.post(TOKENS, json={"name": "x", "scope": "admin"}, headers=ada(guarded))
    assert answer.status_code == 403
    admin = session(guarded, ADMIN)
    guarded.forget_cookies()
    mine = guarded.upload(capture, headers=ada(guarded)).json()["id"]
    for scope, status in (("upload", 403), ("admin", 204)):
        tool = bearer(make(guarded, admin, scope=scope))
        assert guarded.delete(f"{PROFILES}/{mine}", headers=tool).status_code == status


def test_no_token_makes_or_revokes_tokens(guarded: Client) -> None:
    admin = session(guarded, ADMIN)
    made = make(guarded, admin, scope="admin")
    guarded.forget_cookies()
    assert guarded.post(TOKENS, json={"name": "x"}, headers=bearer(made)).status_code == 403
    assert guarded.delete(f"{TOKENS}/{made['id']}", headers=bearer(made)).status_code == 403
    assert guarded.post(TOKENS, json={"name": "x"}, headers=BEARER).status_code == 400


def test_revoked_token_is_over_at_once(guarded: Client) -> None:
    mine, other = ada(guarded), ada(guarded)
    made = make(guarded, mine)
    assert guarded.get(PROFILES, headers=bearer(made)).status_code == 200
    assert guarded.delete(f"{TOKENS}/{made['id']}", headers=other).status_code == 404
    assert guarded.get(PROFILES, headers=bearer(made)).status_code == 200
    assert guarded.delete(f"{TOKENS}/{made['id']}", headers=mine).status_code == 204
    assert guarded.get(PROFILES, headers=bearer(made)).status_code == 401
    assert guarded.get(TOKENS, headers=mine).json() == {"tokens": [], "total": 0}


def test_tokens_are_listed_with_their_last_use_and_without_their_secret(guarded: Client) -> None:
    mine = ada(guarded)
    made = make(guarded, mine, scope="read", expires_days=1)
    assert "last_used_at" not in guarded.get(TOKENS, headers=mine).json()["tokens"][0]
    guarded.get(PROFILES, headers=bearer(made))
    answer = guarded.get(TOKENS, headers=mine)
    (listed,) = answer.json()["tokens"]
    assert listed["last_used_at"] >= listed["created_at"] < listed["expires_at"]
    assert (listed["name"], listed["scope"], listed["owner"]) == ("ci", "read", "Ada")
    assert made["token"] not in answer.text
    assert guarded.get(TOKENS, headers=ada(guarded)).json() == {"tokens": [], "total": 0}
    assert guarded.get(f"{TOKENS}?everybody=true", headers=mine).status_code == 403
    admin = {"authorization": f"Bearer {ADMIN}"}
    assert guarded.get(f"{TOKENS}?everybody=true", headers=admin).json()["tokens"] == [listed]


def test_page_shows_tokens_and_escapes_their_names(guarded: Client) -> None:
    mine = ada(guarded)
    made = make(guarded, mine, name="<b>ci</b>")
    page = guarded.get("/tokens", headers={**mine, "accept": "text/html"})
    assert "&lt;b&gt;ci&lt;/b&gt;" in page.text and "<b>ci" not in page.text
    assert made["token"] not in page.text and f'data-revoke="{made["id"]}"' in page.text
    assert "data-token-form" in page.text
    with_tool = guarded.get("/tokens", headers={**BEARER, "accept": "text/html"})
    assert "data-token-form" not in with_tool.text


@pytest.mark.parametrize(
    "wrong",
    [{"name": ""}, {"name": " \n"}, {"name": "x" * 81}, {"name": "x", "scope": "root"}]
    + [{"name": "x", "expires_days": days} for days in (0, -1, 1e9)],
)
def test_token_that_cannot_be_is_refused(guarded: Client, wrong: dict[str, Any]) -> None:
    assert guarded.post(TOKENS, json=wrong, headers=ada(guarded)).status_code == 400


def test_token_is_not_stored_and_ends_with_the_secret_that_opened_its_session(
    launch: Launch, tmp_path: Any
) -> None:
    first = Settings.from_env(data_dir=tmp_path / "d", auth="token", token=TOKEN)
    with running(first) as client:
        made = make(client, ada(client))
        stored = b"".join(path.read_bytes() for path in (tmp_path / "d").glob("roofline.db*"))
        assert made["id"].encode() in stored
        assert made["token"].encode() not in stored
    with running(first) as client:
        assert client.get(PROFILES, headers=bearer(made)).status_code == 200
    changed = Settings.from_env(data_dir=tmp_path / "d", auth="token", token=f"{TOKEN} 2")
    with running(changed) as client:
        assert client.get(PROFILES, headers=bearer(made)).status_code == 401


def test_tokens_behind_a_proxy_are_those_of_its_users(launch: Launch, capture: bytes) -> None:
    server = launch(auth="proxy", proxy_addresses="10.1.0.0/16", admins="root@example.org")
    proxy, outside = server.at("10.1.0.1"), server.at("10.9.9.9")
    made = make(proxy, {"x-forwarded-user": "ada@example.org"})
    assert outside.upload(capture, headers=bearer(made)).json()["uploader"] == "ada@example.org"
    root = make(proxy, {"x-forwarded-user": "root@example.org"}, scope="admin")
    mine = outside.upload(capture, headers=bearer(made)).json()["id"]
    assert outside.delete(f"{PROFILES}/{mine}", headers=bearer(root)).status_code == 204
    both = {**bearer(made), "x-forwarded-user": "root@example.org"}
    assert proxy.get(f"{TOKENS}?everybody=true", headers=both).status_code == 403


def test_wrong_tokens_cannot_be_tried_one_after_the_other(guarded: Client) -> None:
    guess = guarded.at("10.9.9.9")
    headers = [{"authorization": f"Bearer rfl_{n}"} for n in range(11)]
    assert [guess.get(PROFILES, headers=one).status_code for one in headers] == [401] * 10 + [429]


def test_open_server_makes_no_tokens(client: Client) -> None:
    assert client.post(TOKENS, json={"name": "x"}).status_code == 403
    assert client.get(TOKENS).json() == {"tokens": [], "total": 0}


def test_tokens_are_read_in_parts(guarded: Client) -> None:
    headers = ada(guarded)
    names = [make(guarded, headers, name=f"ci {k}")["name"] for k in range(3)]
    part = guarded.get(f"{TOKENS}?offset=1&limit=1", headers=headers).json()
    assert ([one["name"] for one in part["tokens"]], part["total"]) == ([names[1]], 3)

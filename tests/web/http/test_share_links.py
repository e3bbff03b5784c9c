"""Share links: one profile without a log-in, and nothing else, until they are revoked."""

import json
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from roofline.storage import revocable
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import ADMIN
from tests.web.http.test_rights import (
    ALL_MODES,
    API,
    Instance,
    operations_of,
    share,
    token_instance,
)

SHOWN = ("", "/state", "/page", "/roofline", "/roofline.csv", "/advice", "/ops/0", "/source")
AS_HTML = {"accept": "text/html"}


@pytest.fixture
def instance(launch: Launch, capture: bytes) -> Instance:
    return token_instance(launch, capture)


def edit(instance: Instance, **values: Any) -> None:
    path = f"{API}/{instance.profile_id}"
    answer = instance.client.request("PATCH", path, json=values, headers=instance.actors["owner"])
    assert answer.status_code == 200


@pytest.mark.parametrize("mode", ALL_MODES)
def test_link_shows_one_profile_without_a_log_in(launch: Launch, capture: bytes, mode: str) -> None:
    instance = ALL_MODES[mode](launch, capture)
    client, base = instance.client.at("10.9.9.9"), f"/l/{instance.link_token}"
    for visibility in ("everybody", "link"):
        edit(instance, visibility=visibility)
        for part in (*SHOWN, "/devices"):
            answer = client.get(f"{base}{part}")
            assert answer.status_code == 200, part
            assert answer.headers["x-robots-tag"] == "noindex, nofollow"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "immutable" not in answer.headers["cache-control"]
    assert client.get(f"{base}/source").content == capture
    state = client.get(f"{base}/state").json()
    assert (state["url"], "uploader" in state) == (f"http://localhost{base}", False)
    page = client.get(base, headers=AS_HTML).text
    assert '<meta name="robots" content="noindex, nofollow">' in page
    assert '<meta name="referrer" content="no-referrer">' in page
    # Not what needs access, nor the person behind the profile.
    for hidden in (
        f"{API}/",
        "/api/v1/",
        "csrf-token",
        "data-drop-compare",
        "/?tag=",
        "/model?",
        "data-share",
    ):
        assert hidden not in page, hidden
    assert "ada" not in page.lower().replace("adapt", "").replace("metadata", "")
    for actor in ("owner", "admin"):
        assert client.get(base, headers={**AS_HTML, **instance.actors[actor]}).text == page


def test_link_reaches_nothing_else(instance: Instance, capture: bytes) -> None:
    client, token = instance.client, instance.link_token
    other = client.upload(capture, headers=instance.actors["owner"]).json()["id"]
    operations = operations_of(client)
    parts = {path.removeprefix("/l/{token}") for _, path in operations if path.startswith("/l/")}
    assert parts == {"", "/state", "/page", "/roofline", "/roofline.csv", "/advice"} | {
        "/advice-card",
        "/xprof",
        "/xprof.csv",
        "/facts",
        "/figures",
        "/figure.{form}",
        "/view",
        "/parts",
        "/ops/{index}",
        "/source",
        "/devices",
    }
    for method, path in operations:
        if path.startswith("/l/"):
            continue
        for last in (path, path.replace("{profile_id}", other), path.rpartition("}")[2]):
            if last in parts or last == "/":
                continue
            status = client.request(method.upper(), f"/l/{token}{last}").status_code
            assert status in (404, 405), (method, last)
    for method in ("POST", "PATCH", "PUT", "DELETE"):
        for part in SHOWN:
            assert client.request(method, f"/l/{token}{part}").status_code == 405
    for headers in ({"authorization": f"Bearer {token}"}, {"cookie": f"roofline_session={token}"}):
        assert client.get(f"/p/{instance.profile_id}", headers=headers).status_code == 401


def test_link_that_is_over_is_an_unknown_address(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, owner = instance.client, instance.actors["owner"]
    links = f"{API}/{instance.profile_id}/links"
    first, second = (share(client, instance.profile_id, owner, name=n) for n in ("one", "two"))
    short = share(client, instance.profile_id, owner, expires_days=1)
    assert client.delete(f"{links}/{first['id']}", headers=owner).status_code == 204
    assert client.delete(f"{links}/{first['id']}", headers=owner).status_code == 404
    edit(instance, visibility="link")
    late = time.time() + 86_401
    monkeypatch.setattr(client.parts.instance.store.share_links, "_clock", lambda: late)
    for part in (*SHOWN, "/devices"):
        unknown = client.get(f"/l/{'A' * 43}{part}")
        for token in (first["token"], short["token"]):
            over = client.get(f"/l/{token}{part}")
            assert (over.status_code, over.json()) == (404, unknown.json()), part
            assert over.headers["referrer-policy"] == "no-referrer"
        assert client.get(f"/l/{second['token']}{part}").status_code == 200
    etag = client.get(f"/l/{second['token']}/page").headers["etag"]
    edit(instance, visibility="owner")
    held = {"if-none-match": etag}
    for part in SHOWN:
        assert client.get(f"/l/{second['token']}{part}", headers=held).status_code == 404
    edit(instance, visibility="everybody")
    assert client.get(f"/l/{second['token']}").status_code == 200
    client.delete(f"{API}/{instance.profile_id}", headers=owner)
    assert client.get(f"/l/{second['token']}").status_code == 404, "it is in the trash"
    client.post(f"{API}/{instance.profile_id}/restore", headers=owner)
    assert client.get(f"/l/{second['token']}").status_code == 200


def test_links_are_listed_with_their_last_use_and_stored_as_digests(instance: Instance) -> None:
    client, owner = instance.client, instance.actors["owner"]
    links = f"{API}/{instance.profile_id}/links"
    made = share(client, instance.profile_id, owner, name="<b>vendor</b>", expires_days=30)
    newest, oldest = client.get(links, headers=owner).json()["links"]
    assert newest == {k: v for k, v in made.items() if k not in ("url", "token")}
    assert "last_used_at" not in newest and "expires_at" not in oldest
    client.get(f"/l/{made['token']}")
    answer = client.get(links, headers=owner)
    assert answer.json()["links"][0]["last_used_at"] >= newest["created_at"] < newest["expires_at"]
    assert made["token"] not in answer.text
    folder = client.settings.data_dir
    stored = b"".join(path.read_bytes() for path in folder.glob("roofline.db*"))
    assert made["id"].encode() in stored and made["token"].encode() not in stored


def test_what_is_done_with_links_is_in_the_audit_table(instance: Instance) -> None:
    client, owner = instance.client, instance.actors["owner"]
    made = share(client, instance.profile_id, owner, name="vendor")
    for part in ("", "/source", "/page"):
        client.get(f"/l/{made['token']}{part}")
    path = f"{API}/{instance.profile_id}/links/{made['id']}"
    client.delete(path, headers=owner)
    client.get(f"/l/{made['token']}")
    lines = client.get("/api/v1/audit", headers={"authorization": f"Bearer {ADMIN}"}).text
    rows = [json.loads(line) for line in lines.splitlines()]
    entries = [(one["action"], one["person"], one["subject"]) for one in rows]
    of_link = [one for one in entries if "link" in " ".join(one[:2])]
    subject = instance.profile_id
    assert sorted(of_link[1:]) == sorted(  # after the first link of this server
        [
            ("make link", "Ada", subject),
            ("read profile", "link vendor", subject),
            ("read source", "link vendor", subject),
            ("download", "link vendor", subject),
            ("read page", "link vendor", subject),
            ("revoke link", "Ada", subject),
        ]
    )


def test_secrets_of_links_stay_out_of_logs(
    instance: Instance, capsys: pytest.CaptureFixture[str]
) -> None:
    instance.client.get(f"/l/{instance.link_token}")
    instance.client.get(f"/l/{instance.link_token}/nothing")
    assert instance.link_token not in "".join(capsys.readouterr())


def test_profile_has_so_many_links(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocable, "MOST_LINKS", 2)
    one = client.upload(capture).json()["id"]
    for _ in range(2):
        share(client, one, {})
    answer = client.post(f"{API}/{one}/links", json={})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-edit")
    for wrong in ({"name": "x" * 81}, {"expires_days": 0}, {"expires_days": 1e9}):
        answer = client.post(f"{API}/{one}/links", json=wrong)
        assert (answer.status_code, answer.json()["code"]) == (400, "bad-view"), answer.text


def made_by(instance: Instance, actor: str, **options: Any) -> httpx.Response:
    """The answer to a tool that asks for a link."""
    path, headers = f"{API}/{instance.profile_id}/links", instance.actors[actor]
    return instance.client.post(path, json=options, headers=headers)


def test_link_of_a_token_needs_its_scope_and_ends_with_it(instance: Instance) -> None:
    client, owner = instance.client, instance.actors["owner"]
    for actor in ("owner's token", "owner's reading token"):
        refused = made_by(instance, actor)
        assert refused.status_code == 403
        assert f"/l/{instance.link_token}" not in refused.text
    path = urlsplit(made_by(instance, "owner's sharing token", name="of a tool").json()["url"]).path
    assert client.get(path).status_code == 200
    tokens = client.get("/api/v1/tokens", headers=owner).json()["tokens"]
    (sharing,) = (one["id"] for one in tokens if one["scope"] == "share")
    assert client.delete(f"/api/v1/tokens/{sharing}", headers=owner).status_code == 204
    assert client.get(path).status_code == 404
    links = client.get(f"{API}/{instance.profile_id}/links", headers=owner).json()["links"]
    assert "of a tool" not in [one["name"] for one in links]
    assert client.get(f"/l/{instance.link_token}").status_code == 200, "made in a browser"


def test_server_limits_the_life_of_links(launch: Launch, capture: bytes) -> None:
    instance = token_instance(partial(launch, link_days=2), capture)
    refused = made_by(instance, "owner", expires_days=2.5)
    assert (refused.status_code, "2 days" in refused.json()["message"]) == (400, True)
    made = made_by(instance, "owner").json()
    assert made["expires_at"][:10] == str((datetime.now(UTC) + timedelta(days=2)).date())

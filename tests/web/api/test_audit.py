"""The audit table over HTTP: what people do and read is in it, for administrators."""

import json
from typing import Any

from tests.web.conftest import Client, Launch
from tests.web.http.test_access import ADMIN, BEARER, TOKEN, session

API = "/api/v1"
AS_ADMIN = {"authorization": f"Bearer {ADMIN}"}


def table(client: Client, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"{API}/audit{query}", headers=AS_ADMIN)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_every_change_and_read_is_in_the_table(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN)
    client.post("/login", data={"token": "wrong", "name": "Eve"})
    ada = session(client, name="Ada")
    client.forget_cookies()
    one = client.upload(capture, headers=ada).json()["id"]
    path = f"{API}/profiles/{one}"
    made = client.post(f"{API}/tokens", json={"name": "ci"}, headers=ada).json()
    tool = {"authorization": f"Bearer {made['token']}"}
    client.request("PATCH", path, json={"note": "x"}, headers=ada)
    for _ in range(3):  # the second is answered from memory
        client.get(f"/p/{one}", headers=ada)
        client.get(f"{path}/page", headers=tool)
    client.get(f"{path}/source", headers=BEARER)
    client.get(f"{path}/roofline")  # refused
    client.get(f"{API}/profiles/unknown", headers=ada)
    client.get(f"{API}/compare?a={one}&b={one}", headers=BEARER)
    client.delete(path, headers=ada)
    client.post(f"{path}/restore", headers=ada)
    client.delete(f"{API}/tokens/{made['id']}", headers=ada)
    client.post("/logout", headers=ada, data={"csrf": ada["x-csrf-token"]})
    entries = [(row["action"], row["person"], row["subject"]) for row in table(client)]
    assert sorted(entries) == sorted(
        [
            ("log-in refused", "Eve", ""),
            ("log-in", "Ada", ""),
            ("upload", "Ada", one),
            ("make token", "Ada", made["id"]),
            ("edit", "Ada", one),
            ("read profile", "Ada", one),
            ("read page", "Ada (token ci)", one),
            ("download", "token", one),
            ("read source", "token", one),
            ("read comparison", "token", one),
            ("delete", "Ada", one),
            ("restore", "Ada", one),
            ("revoke token", "Ada", made["id"]),
            ("log-out", "Ada", ""),
            ("read audit", "admin token", ""),
        ]
    )
    assert {row["address"] for row in table(client)} == {"127.0.0.1"}


def test_table_is_for_administrators(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN)
    for headers in (BEARER, session(client, name="Ada")):
        client.forget_cookies()
        assert client.get(f"{API}/audit", headers=headers).status_code == 403
    assert client.get(f"{API}/audit").status_code == 401


def test_later_entries_can_be_asked_for(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN)
    last = table(client)[-1]["number"]
    assert [row["number"] for row in table(client, f"?after={last}")] == [last + 1]
    assert table(client, "?since=9999") == []

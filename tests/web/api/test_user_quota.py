"""Quotas over HTTP: an upload past them is refused in words, and the limits are told."""

from tests.web.conftest import Launch


def test_upload_past_the_quota_of_its_person_is_refused(launch: Launch, capture: bytes) -> None:
    server = launch(auth="proxy", proxy_addresses="10.1.0.0/16", user_profiles=1)
    proxy = server.at("10.1.0.1")
    ada, eve = ({"x-forwarded-user": name} for name in ("ada", "eve"))
    first = proxy.upload(capture, headers=ada)
    assert first.status_code == 201
    refused = proxy.upload(capture, headers=ada)
    assert (refused.status_code, refused.json()["code"]) == (507, "over-quota")
    assert "one person may have 1" in refused.json()["message"]
    assert proxy.upload(capture, headers=eve).status_code == 201
    proxy.delete(f"/api/v1/profiles/{first.json()['id']}", headers=ada)
    assert proxy.upload(capture, headers=ada).status_code == 201
    groups = proxy.get("/api/v1/limits", headers=ada).json()["groups"]
    told = {one["id"]: one["value"] for group in groups for one in group["limits"]}
    assert told["user_profiles"] == 1 and told["user_imports"] is None

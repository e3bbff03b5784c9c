"""The trash over HTTP: its owner, its administrators, its page."""

from tests.web.conftest import Client, Launch
from tests.web.http.test_access import ADMIN, BEARER, TOKEN, session

API = "/api/v1"
EMPTY = {"profiles": [], "runs": [], "total": 0, "runs_total": 0}


def test_deleted_profile_is_restored_by_its_owner(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    body = client.upload(capture, headers=ada, title="<i>Mine</i>").json()
    path = f"{API}/profiles/{body['id']}"
    assert client.get(f"/p/{body['id']}", headers=ada).status_code == 200
    assert client.delete(path, headers=ada).status_code == 204
    for gone in (path, f"{path}/page", f"{path}/source", f"/p/{body['id']}"):
        assert client.get(gone, headers=ada).status_code == 404, gone
    (one,) = client.get(f"{API}/trash", headers=ada).json()["profiles"]
    assert (one["id"], one["reason"], one["uploader"]) == (body["id"], "deleted", "Ada")
    assert one["gone_at"][:10] > one["trashed_at"][:10]
    page = client.get("/trash", headers={**ada, "accept": "text/html"}).text
    assert f'data-restore="{body["id"]}"' in page and "&lt;i&gt;Mine" in page
    for other in (eve, BEARER):
        assert client.get(f"{API}/trash", headers=other).json() == EMPTY
        assert client.post(one["restore_url"], headers=other).status_code == 403
        assert client.delete(f"{API}/trash/{body['id']}", headers=other).status_code == 403
    admin = {"authorization": f"Bearer {ADMIN}"}
    assert client.get(f"{API}/trash", headers=admin).json() == {
        "profiles": [one],
        "runs": [],
        "total": 1,
        "runs_total": 0,
    }
    restored = client.post(one["restore_url"], headers=ada)
    assert (restored.status_code, restored.json()["state"]) == (200, "ready")
    assert client.get(f"/p/{body['id']}", headers=ada).status_code == 200
    assert client.get(f"{API}/trash", headers=ada).json() == EMPTY


def test_purged_profile_is_gone_for_good(client: Client, capture: bytes) -> None:
    profile_id = client.upload(capture).json()["id"]
    path = f"{API}/trash/{profile_id}"
    assert client.delete(path).status_code == 404, "it is not in the trash"
    assert client.get(f"/p/{profile_id}").status_code == 200
    client.delete(f"{API}/profiles/{profile_id}")
    assert client.delete(path).status_code == 204
    assert client.post(f"{API}/profiles/{profile_id}/restore").status_code == 404
    assert not list((client.settings.data_dir / "blobs").rglob("*.*"))


def test_delete_token_restores_what_it_deleted(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token=TOKEN)
    body = client.upload(capture, headers=BEARER).json()
    path = f"{API}/profiles/{body['id']}"
    holder = {**BEARER, "x-delete-token": body["delete_token"]}
    assert client.delete(path, headers=holder).status_code == 204
    assert client.post(f"{path}/restore", headers=BEARER).status_code == 403
    assert client.post(f"{path}/restore", headers=holder).status_code == 200


def test_trash_can_be_turned_off(launch: Launch, capture: bytes) -> None:
    client = launch(trash_days=0)
    profile_id = client.upload(capture).json()["id"]
    page = client.get(f"/p/{profile_id}", headers={"accept": "text/html"}).text
    assert 'data-sure="Delete it for good"' in page
    assert 'href="/trash"' not in client.get("/", headers={"accept": "text/html"}).text
    client.delete(f"{API}/profiles/{profile_id}")
    assert client.get(f"{API}/trash").json() == EMPTY
    assert not list((client.settings.data_dir / "blobs").rglob("*.*"))


def test_the_trash_is_read_in_parts(client: Client, capture: bytes) -> None:
    uploads = [client.upload(capture).json() for _ in range(3)]
    for one in uploads:
        client.delete(f"{API}/profiles/{one['id']}")
    whole = client.get(f"{API}/trash").json()["profiles"]
    assert [one["id"] for one in whole] == [one["id"] for one in uploads[::-1]]
    part = client.get(f"{API}/trash?offset=1&limit=1").json()
    assert (part["profiles"], part["total"], part["runs_total"]) == (whole[1:2], 3, 0)

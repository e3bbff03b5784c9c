"""Visibility: for all but its uploader and administrators a hidden profile is an unknown one.

Routes are those of the application: a new one fails here until it says where it takes a profile.
"""

import inspect
from typing import Any

import httpx
import pytest

from roofline.errors import ProfileNotFoundError
from roofline.library.reader import ProfileReader
from roofline.storage.results import PAGE
from roofline.storage.visibility import ALL_SEEING, Viewer
from roofline.web.api.events import newest_run
from tests.conftest import SAMPLES
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import BEARER, TOKEN, session
from tests.web.http.test_rights import (
    ALL_MODES,
    API,
    LINKS,
    PUBLIC,
    SAFE,
    UNKNOWN,
    Instance,
    operations_of,
    token_instance,
)

NOTHING = "AAAAAAAAAAAAAAAAAAAAAA"  # as long as an id
# Routes that take a profile elsewhere than in `{profile_id}`: the address and the body.
PREDICTION = {"model": "llama-3-8b", "device": "h100-sxm", "phase": "decode", "context": 9}
ELSEWHERE: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("get", "/c/{pair}"): ("/c/{id}..{other}", {}),
    ("head", "/c/{pair}"): ("/c/{other}..{id}", {}),
    ("get", "/model"): ("/model?over={id}", {}),
    ("head", "/model"): ("/model?over={id}", {}),
    ("get", "/model.csv"): ("/model.csv?over={id}", {}),
    ("head", "/model.csv"): ("/model.csv?over={id}", {}),
    ("get", "/explore"): ("/explore?of={id}", {}),
    ("head", "/explore"): ("/explore?of={id}", {}),
    ("get", "/api/v1/compare"): ("/api/v1/compare?a={other}&b={id}", {}),
    ("get", "/api/v1/compare/page"): ("/api/v1/compare/page?a={other}&a={id}&b={other}", {}),
    ("get", "/api/v1/series/check"): ("/api/v1/series/check?name=Unmistakable&run={id}", {}),
    ("post", "/api/v1/predict"): ("/api/v1/predict", {**PREDICTION, "over": "{id}"}),
}
# What routes with a body want in it.
BODIES: dict[str, dict[str, Any]] = {
    f"{API}/{{profile_id}}": {"title": "x"},
    f"{API}/{{profile_id}}/decisions": {"finding": "x", "state": "accepted"},
    f"{API}/{{profile_id}}/notes": {"name": "x"},
    f"{API}/{{profile_id}}/measured": {"after": NOTHING},
}
# Routes that take none: their answers must not show one that is hidden.
WITHOUT = {
    *(
        "/",
        "/api",
        "/calculator",
        "/devices",
        "/devices.csv",
        "/limits",
        "/llms.txt",
        "/tokens",
        "/trash",
        "/openapi.json",
        "/metrics",
        "/logout",
    ),
    *("/s/{name:path}", "/api/v1/profiles", "/api/v1/series", "/api/v1/samples"),
    *("/api/v1/samples/{name}", "/api/v1/devices", "/api/v1/estimate", "/api/v1/limits"),
    *("/api/v1/ledger", "/api/v1/ledger/rates", "/api/v1/series/events"),
    *("/api/v1/failed-uploads",),  # one's own alone
    *("/api/v1/machines", "/api/v1/machines/{machine_id}"),
    *("/api/v1/captures", "/api/v1/captures/{capture_id}"),  # one's own alone
    *("/api/v1/found-runs", "/api/v1/runs", "/r/{run_id}", "/api/v1/runs/{run_id}"),
    *("/api/v1/trash/runs/{run_id}", "/api/v1/runs/{run_id}/profiles"),
    *(f"/api/v1/runs/{{run_id}}/{rest}" for rest in ("close", "events", "hosts", "restore")),
    *("/api/v1/runs/{run_id}/hosts/{file}/profile", "/api/v1/runs/{run_id}/ops/{op_id}/hosts"),
    *("/api/v1/audit", "/api/v1/tokens", "/api/v1/tokens/{token_id}", "/api/v1/trash"),
}
SEE_IT = {"owner", "admin", "admin tool", "admin's token"} | {
    f"owner's {name}" for name in ("token", "reading token", "sharing token")
}
STRANGERS = {"of the same name", "tool", "admin's narrow token"}
LISTS = (
    *("/", "/?q=unmistakable", "/?tag=unmistakable-tag", "/trash"),
    *("/s/Unmistakable", "/s/unmistakable-tag?by=tag"),
    *(API, f"{API}?q=unmistakable", f"{API}?tag=unmistakable-tag", "/api/v1/trash"),
    *("/api/v1/series?name=Unmistakable", "/api/v1/series?by=tag&name=unmistakable-tag"),
)


def hide(instance: Instance, visibility: str = "owner") -> None:
    """Hides the profile, which can be found by title and tag wherever it is listed."""
    edit = {"title": "Unmistakable", "tags": ["unmistakable-tag"], "visibility": visibility}
    path = f"{API}/{instance.profile_id}"
    answer = instance.client.request("PATCH", path, json=edit, headers=instance.actors["owner"])
    assert answer.json()["visibility"] == visibility


def asked(
    instance: Instance, operation: tuple[str, str], headers: dict[str, str], **ids: str
) -> httpx.Response:
    """The answer for the profile `ids["id"]`, wherever this operation takes one."""
    method, path = operation
    address, body = ELSEWHERE.get(operation, (path, BODIES.get(path, {})))
    address = (
        address.replace("{profile_id}", "{id}")
        .replace("{link_id}", "none")
        .replace("{note_id}", "none")
    )
    options: dict[str, Any] = {"headers": headers}
    if method in ("patch", "post"):
        options["json"] = {**body, "over": body["over"].format(**ids)} if "over" in body else body
    return instance.client.request(
        method.upper(), address.format(index=0, form="svg", **ids), **options
    )


def comparable(answer: httpx.Response, profile_id: str) -> tuple[int, str, dict[str, str]]:
    """The answer without its request's number, which error pages quote, and without the id."""
    headers = {name: text for name, text in answer.headers.items() if name != "x-request-id"}
    text = answer.text.replace(answer.headers["x-request-id"], "").replace(profile_id, "")
    return answer.status_code, text, headers


@pytest.mark.parametrize("mode", ALL_MODES)
def test_hidden_profile_is_answered_like_an_unknown_one(
    launch: Launch, capture: bytes, mode: str
) -> None:
    instance = ALL_MODES[mode](launch, capture)
    client = instance.client
    other = client.upload(capture, headers=instance.actors["tool"]).json()["id"]
    hide(instance)
    operations = operations_of(client)
    taking = [one for one in operations if "{profile_id}" in one[1] or one in ELSEWHERE]
    rest = {path for _, path in set(operations) - set(taking)} - PUBLIC - {"/logout"}
    assert {path for path in rest if not path.startswith("/l/")} == WITHOUT - {"/logout"}
    assert len(taking) >= 20
    for operation in taking:
        for actor in STRANGERS:
            headers = instance.actors[actor]
            hidden = asked(instance, operation, headers, id=instance.profile_id, other=other)
            unknown = asked(instance, operation, headers, id=NOTHING, other=other)
            # Told before anything is looked up: this token makes no links of any profile.
            is_link = actor == "admin's narrow token" and operation[1].startswith(LINKS)
            wanted = 403 if is_link and operation[0] not in SAFE else 404
            assert unknown.status_code == wanted, (operation, actor, unknown.text)
            told = comparable(hidden, instance.profile_id)
            assert told == comparable(unknown, NOTHING), (operation, actor)
    for actor in UNKNOWN:
        answer = client.get(f"/p/{instance.profile_id}", headers=instance.actors[actor])
        assert answer.status_code == 401, actor
    for actor in SEE_IT:
        answer = client.get(f"/p/{instance.profile_id}", headers=instance.actors[actor])
        assert answer.status_code == 200, actor
    entries = client.get("/api/v1/audit", headers=instance.actors["admin"]).text
    assert '"action":"edit"' in entries and "visible to owner" in entries


@pytest.mark.parametrize("visibility", ["owner", "link"])
def test_hidden_profile_is_in_nobody_elses_lists(
    launch: Launch, capture: bytes, visibility: str
) -> None:
    instance = token_instance(launch, capture)
    client = instance.client
    hide(instance, visibility)
    counts = {}
    for actor in SEE_IT | STRANGERS:
        texts = [client.get(one, headers=instance.actors[actor]).text for one in LISTS]
        counts[actor] = sum(instance.profile_id in text for text in texts)
        has_tag = ["unmistakable-tag" in texts[0], "unmistakable-tag" in texts[6]]
        assert has_tag == [actor in SEE_IT] * 2, actor
    assert counts == {**dict.fromkeys(SEE_IT, len(LISTS) - 2), **dict.fromkeys(STRANGERS, 0)}
    for name, by in (("Unmistakable", "title"), ("unmistakable-tag", "tag")):
        assert newest_run(client.parts.lists_for(Viewer(owner="Eve")), name, by) is None
        assert newest_run(client.parts.lists_for(ALL_SEEING), name, by) is not None
    client.delete(f"{API}/{instance.profile_id}", headers=instance.actors["owner"])
    for actor in SEE_IT | STRANGERS:
        for path in ("/trash", "/api/v1/trash"):
            text = client.get(path, headers=instance.actors[actor]).text
            assert (instance.profile_id in text) is (actor in SEE_IT), actor


def test_totals_and_tags_count_what_is_seen(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token=TOKEN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    for visibility in ("everybody", "link", "owner"):
        client.upload(capture, headers=ada, visibility=visibility, tag=f"of-{visibility}")
    for headers, count in ((ada, 3), (eve, 1), (BEARER, 1)):
        answer = client.get(f"{API}?limit=1", headers=headers).json()
        assert (answer["total"], len(answer["profiles"])) == (count, 1)
        page = client.get("/", headers={**headers, "accept": "text/html"}).text
        assert sum(f"of-{one}" in page for one in ("everybody", "link", "owner")) == count


def test_kept_answers_and_validators_do_not_show_a_hidden_profile(
    launch: Launch, capture: bytes
) -> None:
    client = launch(auth="token", token=TOKEN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    one = client.upload(capture, headers=ada).json()["id"]
    paths = [f"/p/{one}", *(f"{API}/{one}/{name}" for name in ("page", "roofline", "advice"))]
    known = {path: client.get(path, headers=eve) for path in paths}
    assert {answer.status_code for answer in known.values()} == {200}
    change = client.request("PATCH", f"{API}/{one}", json={"visibility": "owner"}, headers=ada)
    assert change.status_code == 200
    for path, before in known.items():
        for _ in range(2):  # the second of Ada's could be from memory
            assert client.get(path, headers=ada).status_code == 200
            held = {"if-none-match": before.headers.get("etag", "*")}
            assert client.get(path, headers={**eve, **held}).status_code == 404, path
    rev = client.get(f"{API}/{one}", headers=ada).json()["rev"]
    again = client.get(f"{API}/{one}/page?rev={rev}", headers=ada)
    assert again.headers["cache-control"] == "private, no-cache", "browsers ask each time"


def test_what_a_hidden_profile_measured_is_not_told(launch: Launch, capture: bytes) -> None:
    """The id and the times of the later profile stood in the ledger, for everybody."""
    client = launch(auth="token", token=TOKEN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    before, after = (client.upload(capture, headers=ada).json()["id"] for _ in range(2))
    path = f"{API}/{before}"
    finding = client.get(f"{path}/advice", headers=ada).json()["findings"][0]["id"]
    accepted = {"finding": finding, "state": "accepted"}
    assert client.post(f"{path}/decisions", json=accepted, headers=ada).status_code == 204
    measured = client.post(f"{path}/measured", json={"after": after}, headers=ada)
    assert after in measured.text
    told = ("/api/v1/ledger", f"{path}/advice")
    for visibility, sees in (("everybody", True), ("owner", False)):
        change = {"visibility": visibility}
        client.request("PATCH", f"{API}/{after}", json=change, headers=ada)
        for one in told:
            assert after in client.get(one, headers=ada).text
            assert (after in client.get(one, headers=eve).text) is sees, one
        page = client.get(f"/p/{before}", headers={**eve, "accept": "text/html"}).text
        assert ("measured 0" in page) is sees
    client.erase(after, headers=ada)
    for one in (*told, f"/p/{before}"):
        text = client.get(one, headers=eve).text
        assert after not in text and "measured 0" not in text, "its row hid it"


def test_a_hidden_run_of_a_series_changes_nothing_for_others(
    launch: Launch, capture: bytes
) -> None:
    """It measured what others wait for: that they wait was gone, and their run measured nothing."""
    client = launch(auth="token", token=TOKEN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    before = client.upload(capture, headers=ada, title="nightly").json()["id"]
    path = f"{API}/{before}"
    finding = client.get(f"{path}/advice", headers=ada).json()["findings"][0]["id"]
    accepted = {"finding": finding, "state": "accepted"}
    assert client.post(f"{path}/decisions", json=accepted, headers=ada).status_code == 204
    told = (f"/p/{before}", f"{path}/advice", f"{API[:-8]}series?name=nightly", "/s/nightly")

    def seen() -> list[str]:
        answers = [client.get(one, headers=eve) for one in told]
        return [answer.text.replace(answer.headers["x-request-id"], "") for answer in answers]

    first = seen()
    assert "wait" in first[2]
    hidden = client.upload(capture, headers=ada, title="nightly", visibility="owner").json()["id"]
    for one in (f"/p/{hidden}", f"/p/{before}"):
        assert "measured 0" in client.get(one, headers=ada).text
    assert seen() == first
    client.upload(capture, headers=eve, title="nightly")
    assert "measured 0" in seen()[0]


def test_setting_says_who_sees_new_profiles(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token=TOKEN, visibility="owner")
    ada = session(client, name="Ada")
    client.forget_cookies()
    assert client.upload(capture, headers=ada).json()["visibility"] == "owner"
    wanted = client.upload(capture, headers=ada, visibility="everybody")
    assert wanted.json()["visibility"] == "everybody"
    # An upload with the shared token has no owner who could show it to others.
    assert client.upload(capture, headers=BEARER).json()["visibility"] == "everybody"
    refused = client.upload(capture, headers=BEARER, visibility="owner")
    assert (refused.status_code, refused.json()["code"]) == (400, "bad-edit")
    assert client.upload(capture, headers=ada, visibility="friends").status_code == 400


def test_parts_of_a_hidden_upload_are_hidden(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    files = [
        SAMPLES / "xspace" / f"{name}.xplane.pb" for name in ("v4-training-cmem", "v6e-training")
    ]
    contents = [path.read_bytes() for path in files]
    failed = client.upload(*contents, headers=ada, visibility="owner").json()
    assert client.get(f"{API}/{failed['id']}", headers=eve).status_code == 404
    made = client.post(failed["split_url"], headers=ada).json()["profiles"]
    assert [one["visibility"] for one in made] == ["owner", "owner"]
    for one in made:
        assert client.get(f"{API}/{one['id']}", headers=eve).status_code == 404


def test_every_method_that_reads_checks_first(client: Client, capture: bytes) -> None:
    one = client.upload(capture).json()["id"]
    client.request("PATCH", f"{API}/{one}", json={"visibility": "link"})
    methods = {
        name: list(inspect.signature(method).parameters)
        for name, method in vars(ProfileReader).items()
        if not name.startswith("_") and name not in ("seen_by", "is_for_everybody")
    }
    assert len(methods) >= 10 and {taken[1] for taken in methods.values()} == {"profile_id"}
    for viewer in (Viewer(), Viewer(owner="eve"), Viewer(linked="another")):
        reader = client.parts.reader_for(viewer)
        for name, taken in methods.items():
            given = {"index": 0, "name": PAGE}
            with pytest.raises(ProfileNotFoundError):
                getattr(reader, name)(one, **{k: v for k, v in given.items() if k in taken})
    assert client.parts.reader_for(Viewer(linked=one)).is_stored(one)

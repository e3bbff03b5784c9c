"""Rights: every route of the application × every kind of sender, in every mode.

A mode says who sends, a route what this sender may do: all pairs that are refused are asked in one
mode. Of the others, and in the other modes, each sender asks a third of the routes; one without a
name asks all of them.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from roofline.settings import Settings
from roofline.web.http.access import uploads_per_hour
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import ADMIN, BEARER, TOKEN, session

SECRET = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"

API = "/api/v1/profiles"
TOKENS = "/api/v1/tokens"
CAPTURES = "/api/v1/captures"
SAFE = {"get", "head"}
# Tokens whose scopes do not contain `capture`.
OF_OTHER_SCOPES = {"owner's token", "owner's sharing token", "admin's narrow token"}
Actors = dict[str, dict[str, str]]


@dataclass
class Instance:
    """A server of one mode with a profile of `owner`; the headers of everybody."""

    client: Client
    profile_id: str
    delete_token: str
    actors: dict[str, dict[str, str]] = field(default_factory=dict)
    link_token: str = ""


def api_tokens(client: Client, owner: dict[str, str], admin: dict[str, str]) -> Actors:
    """The headers of tools with tokens of each scope, and with one that was revoked."""
    made = {
        "owner's token": (owner, "upload"),
        "owner's sharing token": (owner, "share"),
        "owner's reading token": (owner, "read"),
        "admin's token": (admin, "admin"),
        "admin's narrow token": (admin, "upload"),
        "revoked token": (admin, "admin"),
    }
    actors: Actors = {}
    for name, (person, scope) in made.items():
        answer = client.post(TOKENS, json={"name": name, "scope": scope}, headers=person).json()
        actors[name] = {"authorization": f"Bearer {answer['token']}"}
        if name == "revoked token":
            client.delete(f"{TOKENS}/{answer['id']}", headers=person)
    return actors


def share(client: Client, profile_id: str, headers: dict[str, str], **options: Any) -> Any:
    """A new share link, with its `token`."""
    answer = client.post(f"{API}/{profile_id}/links", json=options, headers=headers)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    return {**made, "token": made["url"].rpartition("/")[2]}


def open_instance(launch: Launch, capture: bytes) -> Instance:
    """Everyone may do everything, but other sites and by other names."""
    client = launch()
    body = client.upload(capture, title="Mine").json()
    actors = {
        "anybody": {},
        "anybody with a token": BEARER,
        "anybody with a cookie": {"cookie": "roofline_session=1.admin.0.0.0.0"},
        "other site": {"sec-fetch-site": "cross-site"},
        "other host": {"host": "evil.example"},
    }
    link = share(client, body["id"], {})
    return Instance(client, body["id"], body["delete_token"], actors, link["token"])


def token_instance(launch: Launch, capture: bytes) -> Instance:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN, reached="behind-proxy")
    owner, other = session(client, name="Ada"), session(client, name="Ada")
    client.forget_cookies()
    body = client.upload(capture, headers=owner, title="Mine").json()
    admin = session(client, ADMIN)
    actors = {
        "owner": owner,
        "of the same name": other,
        "tool": BEARER,
        "admin tool": {"authorization": f"Bearer {ADMIN}"},
        "admin": admin,
        "nobody": {},
        "wrong token": {"authorization": "Bearer something else"},
        "forged cookie": {"cookie": "roofline_session=1.admin.0.0.0.0"},
        "without csrf": {"cookie": owner["cookie"]},
        "other site": {**owner, "sec-fetch-site": "cross-site"},
        "other host": {**owner, "host": "evil.example"},
    }
    client.forget_cookies()
    actors.update(api_tokens(client, owner, admin))
    link = share(client, body["id"], owner)
    return Instance(client, body["id"], body["delete_token"], actors, link["token"])


def proxy_instance(launch: Launch, capture: bytes) -> Instance:
    server = launch(auth="proxy", proxy_addresses="10.1.0.0/16", admins="root@example.org")
    client = server.at("10.1.0.1")

    def user(name: str) -> dict[str, str]:
        headers = {"x-forwarded-user": name}
        page = client.get("/", headers={**headers, "accept": "text/html"}).text
        found = re.search(r'name="csrf-token" content="([^"]+)"', page)
        assert found
        return {**headers, "x-csrf-token": found[1], "sec-fetch-site": "same-origin"}

    owner = user("ada@example.org")
    body = client.upload(capture, headers=owner, title="Mine").json()
    assert body["uploader"] == "ada@example.org"
    actors = {
        "owner": owner,
        "of the same name": user("Ada@example.org"),
        "tool": {"x-forwarded-user": "ci@example.org"},
        "admin tool": {"x-forwarded-user": "root@example.org"},
        "admin": user("root@example.org"),
        "nobody": {},
        "wrong token": BEARER,
        "forged cookie": {"cookie": "roofline_session=1.admin.0.0.0.0"},
        "without csrf": {k: v for k, v in owner.items() if k != "x-csrf-token"},
        "other site": {**owner, "sec-fetch-site": "cross-site"},
        "other host": {**owner, "host": "evil.example"},
    }
    actors.update(api_tokens(client, owner, user("root@example.org")))
    link = share(client, body["id"], owner)
    return Instance(client, body["id"], body["delete_token"], actors, link["token"])


def oidc_instance(launch: Launch, capture: bytes) -> Instance:
    """People whom a provider has vouched for; it is not asked here, see `test_oidc`."""
    issuer = {"oidc_issuer": "https://login.example.org", "oidc_client_id": "roofline"}
    client = launch(
        auth="oidc",
        **issuer,
        oidc_client_secret=SECRET,
        oidc_admin_groups="root",
        reached="behind-proxy",
    )
    oidc = client.parts.oidc
    assert oidc is not None

    def user(sub: str, *groups: str, email: str = "ada@example.org") -> dict[str, str]:
        cookie, _ = oidc.end({"sub": sub, "email": email, "groups": list(groups)})
        headers = {"cookie": f"roofline_session={cookie}"}
        page = client.get("/", headers={**headers, "accept": "text/html"}).text
        found = re.search(r'name="csrf-token" content="([^"]+)"', page)
        assert found
        return {**headers, "x-csrf-token": found[1], "sec-fetch-site": "same-origin"}

    owner, admin = user("1"), user("2", "root", email="root@example.org")
    body = client.upload(capture, headers=owner, title="Mine").json()
    assert body["uploader"] == "ada@example.org"
    actors = {
        "owner": owner,
        "of the same name": user("3"),
        "tool": user("4", email="ci@example.org"),
        "admin tool": user("5", "root", email="root@example.org"),
        "admin": admin,
        "nobody": {},
        "wrong token": BEARER,
        "forged cookie": {"cookie": with_another_signature(owner["cookie"])},
        "without csrf": {"cookie": owner["cookie"]},
        "other site": {**owner, "sec-fetch-site": "cross-site"},
        "other host": {**owner, "host": "evil.example"},
    }
    actors.update(api_tokens(client, owner, admin))
    link = share(client, body["id"], owner)
    return Instance(client, body["id"], body["delete_token"], actors, link["token"])


def with_another_signature(cookie: str) -> str:
    """The last character stays: base64 ignores its low bits, so another can mean the same."""
    return cookie[:-5] + ("B" if cookie[-5] == "A" else "A") + cookie[-4:]


MODES = {"token": token_instance, "proxy": proxy_instance}
ALL_MODES = {**MODES, "oidc": oidc_instance}
LINKS = f"{API}/{{profile_id}}/links"
CHANGES_OF_ONE = {
    ("patch", f"{API}/{{profile_id}}"),
    ("delete", f"{API}/{{profile_id}}"),
    ("post", f"{API}/{{profile_id}}/split"),
    ("post", f"{API}/{{profile_id}}/retry"),
    ("post", f"{API}/{{profile_id}}/restore"),
    ("delete", "/api/v1/trash/{profile_id}"),
    ("get", LINKS),
    ("post", LINKS),
    ("delete", f"{LINKS}/{{link_id}}"),
    ("post", f"{API}/{{profile_id}}/notes"),
    ("delete", f"{API}/{{profile_id}}/notes/{{note_id}}"),
}
OF_ADMINS = {("get", "/api/v1/audit")}
ADMINS = {"admin", "admin tool", "admin's token"}
UNKNOWN = {"nobody", "wrong token", "forged cookie", "revoked token"}
MAY_CHANGE = {"owner", "admin", "admin tool", "admin's token"} | {
    "owner's token",
    "owner's sharing token",
}
OWNERS_WHO_READ = {"owner's reading token", "without csrf", "other site"}
# HEAD runs the route of GET: these show that it asks at all.
OF_HEAD = {"owner", "nobody", "without csrf", "other host"}
PUBLIC = {"/healthz", "/readyz", "/login", "/login/callback", "/static/{build}/{name:path}"}


def expected(actor: str, operation: tuple[str, str]) -> set[int]:
    """The statuses that are right; an empty set is any but a refusal."""
    method, path = operation
    if actor == "other host":
        return {403}
    if operation in {("post", "/login"), ("get", "/login/callback")}:  # without token or log-in
        return {403}
    if path in PUBLIC or path.startswith("/l/"):
        return set()
    if actor in UNKNOWN:
        return {401}
    if method not in SAFE and actor in ("without csrf", "other site"):
        return {403}
    if operation == ("post", "/logout"):  # without the token of its form, which tools do not have
        return {303, 403}
    if method not in SAFE and "token" in actor and path.startswith(TOKENS):
        return {403}
    if method not in SAFE and actor == "owner's reading token" and path != "/api/v1/estimate":
        return {403}
    if method not in SAFE and actor == "owner's token" and path.startswith(LINKS):
        return {403}
    if method not in SAFE and actor in OF_OTHER_SCOPES and path.startswith(CAPTURES):
        return {403}
    if operation in OF_ADMINS and actor not in ADMINS:
        return {403}
    if operation in CHANGES_OF_ONE and actor not in MAY_CHANGE:
        return set() if method == "get" and actor in OWNERS_WHO_READ else {403}
    return set()


@pytest.mark.parametrize("mode", ALL_MODES)
def test_every_route_asks_who_asks(launch: Launch, capture: bytes, mode: str) -> None:
    instance = ALL_MODES[mode](launch, capture)
    operations = operations_of(instance.client)
    assert len(operations) >= 40
    assert len(instance.actors) == 17 and instance.actors.keys() > OF_HEAD
    places = {actor: place for place, actor in enumerate(instance.actors)}
    seen = 0
    # Deletion comes last: the others need the profile.
    for row, operation in enumerate(sorted(operations, key=lambda found: found[0] == "delete")):
        for actor, headers in sorted(instance.actors.items(), key=lambda a: a[0] in MAY_CHANGE):
            if operation[0] == "head" and actor not in OF_HEAD:
                continue
            wanted = expected(actor, operation)
            asks_all = actor == "nobody" or (mode == "token" and wanted)
            if not asks_all and (row + places[actor]) % 3:
                continue
            # Each from an address of its own: one that guesses tokens would be told to wait.
            status = ask(
                instance, operation, {**headers, "x-forwarded-for": f"2001:db8:0:{seen:x}::1"}
            )
            if wanted:
                assert status in wanted, (actor, operation, status)
            else:
                assert status not in (401, 403, 500), (actor, operation, status)
            seen += 1


def test_open_server_refuses_other_sites_and_other_names_alone(
    launch: Launch, capture: bytes
) -> None:
    instance = open_instance(launch, capture)
    places = {actor: place for place, actor in enumerate(instance.actors)}
    operations = sorted(operations_of(instance.client), key=lambda one: one[0] == "delete")
    for row, operation in enumerate(operations):
        for actor, headers in reversed(instance.actors.items()):
            is_change = operation[0] not in SAFE
            is_refused = actor == "other host" or (actor == "other site" and is_change)
            if not is_refused and (row + places[actor]) % 2:
                continue
            status = ask(instance, operation, headers)
            if is_refused:
                assert status == 403, (actor, operation)
            else:
                assert status not in (401, 403, 500), (actor, operation, status)


def operations_of(client: Client) -> list[tuple[str, str]]:
    """Every method of every route that the application has, the API's and the pages'."""
    found = [
        (method.lower(), getattr(route, "path", ""))
        for route in client.app.routes
        for method in sorted(getattr(route, "methods", None) or ())
    ]
    described = client.app.openapi()["paths"]
    api = {(verb, path) for path, item in described.items() for verb in item}
    assert api <= set(found), "a route is described and cannot be found"
    assert len(found) == len(set(found)) and not [path for _, path in found if not path]
    return found


def ask(instance: Instance, operation: tuple[str, str], headers: dict[str, str]) -> int:
    method, path = operation
    address = path.replace("{profile_id}", instance.profile_id).replace("{index}", "0")
    address = address.replace("{pair}", f"{instance.profile_id}..{instance.profile_id}")
    address = address.replace("{token}", instance.link_token).replace("{link_id}", "none")
    options: dict[str, Any] = {"headers": headers}
    if path.endswith("/links"):
        options["json"] = {}
    if path.endswith("/notes"):
        options["json"] = {"name": "none"}
    if method == "patch":
        options["json"] = {"title": "Changed"}
    answer = instance.client.request(method.upper(), address.replace("{name}", "none"), **options)
    return answer.status_code


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("visibility", ["everybody", "owner"])
def test_runs_tokens_and_series_ask_whose_they_are(
    launch: Launch, capture: bytes, mode: str, visibility: str
) -> None:
    instance = MODES[mode](launch, capture)
    client, owner = instance.client, instance.actors["owner"]
    wish = {"visibility": visibility, "title": "A run"}
    run = client.post("/api/v1/runs", json=wish, headers=owner).json()["id"]
    token = client.post(TOKENS, json={"name": "mine", "scope": "read"}, headers=owner).json()["id"]
    change = {"visibility": visibility, "tags": ["theirs"]}
    client.request("PATCH", f"{API}/{instance.profile_id}", json=change, headers=owner)
    asked = 0
    for method, path in sorted(operations_of(client), key=lambda one: one[0] == "delete"):
        if "{run_id}" not in path and "{token_id}" not in path:
            continue
        sees = "{run_id}" in path and visibility == "everybody"
        for actor in ("nobody", "of the same name", "tool", "owner"):
            if path.endswith("/events") and (sees or actor == "owner"):
                continue  # it is followed without an end
            asked += 1
            of_one = path.replace("{run_id}", run).replace("{token_id}", token)
            headers = {**instance.actors[actor], "x-forwarded-for": f"2001:db8:0:{asked:x}::1"}
            answer = client.request(method.upper(), of_one.replace("{name}", "x"), headers=headers)
            said = (actor, method, path, answer.status_code)
            if actor == "nobody":
                assert answer.status_code == 401, said
            elif actor == "owner":
                assert answer.status_code not in (401, 403), said
            elif method not in SAFE:  # 403 says that it is there: for those who see it alone
                refusals = (400, 403, 404) if sees or "{token_id}" in path else (404,)
                assert answer.status_code in refusals, said
            elif not sees:
                assert answer.status_code == 404, said
    assert asked >= 40
    series = {"by": "tag", "name": "theirs"}
    for actor, is_theirs in (("owner", True), ("tool", visibility == "everybody")):
        headers = instance.actors[actor]
        found = client.get("/api/v1/series", params=series, headers=headers).json()["runs"]
        page = client.get("/s/theirs", params={"by": "tag"}, headers=headers).text
        assert (len(found) == 1, instance.profile_id in page) == (is_theirs, is_theirs), actor


@pytest.mark.parametrize("mode", MODES)
def test_pages_ask_who_asks(launch: Launch, capture: bytes, mode: str) -> None:
    instance = MODES[mode](launch, capture)
    profile = f"/p/{instance.profile_id}"
    paths = ("/", "/api", profile, "/openapi.json", "/metrics", "/nothing")
    for number, path in enumerate(paths):
        # From an address of its own: one that guesses tokens again and again is told to wait.
        address = {"x-forwarded-for": f"2001:db8:0:{number:x}::1"}
        for actor in UNKNOWN:
            answer = instance.client.get(path, headers={**instance.actors[actor], **address})
            assert answer.status_code == 401, (path, actor)
            assert "Mine" not in answer.text
        known = instance.client.get(path, headers=instance.actors["of the same name"])
        assert known.status_code == (404 if path == "/nothing" else 200), path


@pytest.mark.parametrize("mode", MODES)
def test_delete_token_deletes_for_who_has_it_and_only_that_profile(
    launch: Launch, capture: bytes, mode: str
) -> None:
    instance = MODES[mode](launch, capture)
    client, path = instance.client, f"{API}/{instance.profile_id}"
    other = client.upload(capture, headers=instance.actors["tool"]).json()
    for wrong in (other["delete_token"], instance.delete_token[:-1], "", "x"):
        headers = {**instance.actors["tool"], "x-delete-token": wrong}
        assert client.delete(path, headers=headers).status_code == 403
    stranger = {"x-delete-token": instance.delete_token}
    assert client.delete(path, headers=stranger).status_code == 401
    headers = {**instance.actors["tool"], "x-delete-token": instance.delete_token}
    assert client.delete(path, headers=headers).status_code == 204


def test_delete_token_is_given_once_and_stored_as_a_hash(client: Client, capture: bytes) -> None:
    body = client.upload(capture).json()
    token = body["delete_token"]
    again = client.get(f"{API}/{body['id']}")
    assert token not in again.text
    assert token not in client.get(f"/p/{body['id']}").text
    stored = b"".join(path.read_bytes() for path in client.settings.data_dir.glob("roofline.db*"))
    assert body["id"].encode() in stored
    assert token.encode() not in stored


def test_uploader_is_shown_by_name_without_what_tells_sessions_apart(
    launch: Launch, capture: bytes
) -> None:
    instance = token_instance(launch, capture)
    headers = instance.actors["of the same name"]
    body = instance.client.get(f"{API}/{instance.profile_id}", headers=headers).json()
    assert body["uploader"] == "Ada"
    page = instance.client.get("/", headers={**headers, "accept": "text/html"}).text
    assert "Ada" in page
    assert not re.search(r"Ada#[0-9a-f]", page)


def test_editing_is_offered_to_who_may_edit(launch: Launch, capture: bytes) -> None:
    instance = token_instance(launch, capture)
    for actor, offered in (("owner", True), ("admin", True), ("of the same name", False)):
        headers = {**instance.actors[actor], "accept": "text/html"}
        page = instance.client.get(f"/p/{instance.profile_id}", headers=headers).text
        assert ("data-about-delete" in page) is offered, actor


def test_secrets_stay_out_of_logs(
    launch: Launch, capture: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = token_instance(launch, capture)
    headers = {**instance.actors["tool"], "x-delete-token": instance.delete_token}
    instance.client.delete(f"{API}/{instance.profile_id}", headers=headers)
    instance.client.post("/login", data={"token": "a wrong token"})
    instance.client.get(f"/p/{instance.profile_id}?secret=yes", headers=instance.actors["owner"])
    said = "".join(capsys.readouterr())
    assert "request" in said
    for secret in (
        TOKEN,
        ADMIN,
        "a wrong token",
        instance.delete_token,
        instance.profile_id,
        instance.actors["owner"]["cookie"],
        instance.actors["owner"]["x-csrf-token"],
        "secret=yes",
    ):
        assert secret not in said


def test_uploads_are_limited_by_person_and_hour(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN, uploads_per_hour=2)
    first, second = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    refused = [client.upload(b"x", headers=first) for _ in range(3)]
    assert [answer.status_code for answer in refused[:2]] == [415, 415]
    assert refused[2].status_code == 429
    assert refused[2].json()["code"] == "too-many-requests"
    assert 0 < int(refused[2].headers["retry-after"]) <= 1800
    assert client.upload(b"x", headers=second).status_code == 415
    tools = [
        client.at(f"10.0.0.{n}").upload(b"x", headers=BEARER).status_code for n in (1, 1, 1, 2)
    ]
    assert tools == [415, 415, 429, 415]


def test_nobody_counts_on_an_open_server(client: Client) -> None:
    assert uploads_per_hour(Settings(auth="open")) is None
    assert {client.upload(b"x").status_code for _ in range(5)} == {415}

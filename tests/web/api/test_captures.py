"""Captures that people ask a server for: rights, limits, audit, and what becomes of an answer."""

import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import orjson
import pytest

from roofline.capture import profiler_service
from roofline.library import captures as book
from tests.capture.profiler import Answer, failing, profiler
from tests.capture.test_targets import FORBIDDEN, LISTED
from tests.conftest import SAMPLES
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import ADMIN, BEARER, TOKEN, session
from tests.web.pages.test_agents import ACCEPT, called

CAPTURES, TOKENS = "/api/v1/captures", "/api/v1/tokens"
LAPTOP = {"capture_targets": "127.0.0.1"}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiler_service, "BUSY_PAUSES_S", (0.0,) * 5)
    monkeypatch.setattr(profiler_service, "RETRY_PAUSE_S", 0.0)
    monkeypatch.setattr(book, "PAUSE_S", 0.0)


@pytest.fixture(scope="module")
def space() -> bytes:
    """An answer of a program: the bytes of a capture in field 8."""
    content = next(iter(sorted((SAMPLES / "xspace").rglob("*.xplane.pb")))).read_bytes()
    size, digits = len(content), bytearray()
    while size > 0x7F:
        digits.append(size & 0x7F | 0x80)
        size >>= 7
    return b"\x42" + bytes([*digits, size]) + content


def giving(content: bytes) -> Answer:
    return lambda _request, _context: content


def ask(client: Client, *addresses: str, **options: Any) -> Any:
    headers = options.pop("headers", None)
    body = {"addresses": addresses, "duration_ms": 20, "retries": 0, **options}
    return client.post(CAPTURES, json=body, headers=headers)


def ended(client: Client, capture: Any, **options: Any) -> Any:
    """The capture when nothing of it is under way."""
    while capture["state"] == "running":
        answer = client.get(f"{CAPTURES}/{capture['id']}?wait=20", **options)
        assert answer.status_code == 200, answer.text
        capture = answer.json()
    return capture


def audit(client: Client, **options: Any) -> list[Any]:
    lines = client.get("/api/v1/audit", **options).text.splitlines()
    return [row for row in map(orjson.loads, lines) if row["action"].startswith("capture.")]


def test_nothing_is_there_where_nothing_is_listed(launch: Launch) -> None:
    client = launch()
    for answer in (ask(client, "127.0.0.1:9012"), client.get(f"{CAPTURES}/x")):
        assert answer.status_code == 404
    assert "data-capture" not in client.get("/", headers={"accept": "text/html"}).text


def test_a_program_becomes_a_profile(launch: Launch, space: bytes) -> None:
    client = launch(**LAPTOP)
    assert "data-capture-open" in client.get("/", headers={"accept": "text/html"}).text
    requests: list[bytes] = []

    def answer(request: bytes, _context: grpc.ServicerContext) -> bytes:
        requests.append(request)
        return space

    with profiler(Profile=answer) as address:
        asked = ask(client, address, title="Nightly", tags=["ci"])
        assert asked.status_code == 202, asked.text
        assert asked.headers["location"] == f"{CAPTURES}/{asked.json()['id']}"
        capture = ended(client, asked.json())
    assert len(requests) == 1
    (host,) = capture["hosts"]
    assert (host["address"], host["state"]) == (address, "reading")
    assert host["bytes"] > 1000
    profile = client.get(f"/api/v1/profiles/{capture['profile'][3:]}?wait=60").json()
    assert profile["title"] == "Nightly"
    assert client.get("/api/v1/profiles?tag=ci").json()["total"] == 1
    rows = audit(client)
    assert [row["action"] for row in rows] == ["capture.asked", "capture.done"]
    assert address in rows[0]["details"]
    assert f"{address}=ipv4:{address} {host['bytes']} B" in rows[1]["details"]
    assert rows[1]["subject"] == capture["profile"].rpartition("/")[2]


def test_several_programs_are_a_run_and_one_that_fails_says_why(
    launch: Launch, space: bytes
) -> None:
    client = launch(**LAPTOP)
    secret = "the remote's own words"
    broken = failing(grpc.StatusCode.PERMISSION_DENIED, secret)
    with (
        profiler(Profile=giving(space)) as one,
        profiler(Profile=giving(space)) as other,
        profiler(Profile=broken) as third,
    ):
        capture = ended(client, ask(client, one, other, third).json())
    states = {host["address"]: host["state"] for host in capture["hosts"]}
    assert states == {one: "reading", other: "reading", third: "failed"}
    text = capture["hosts"][2]["text"]
    assert f"The program at {third} could not record: permission denied." in text
    assert secret not in orjson.dumps(capture).decode()
    run = client.get(f"/api/v1/runs/{capture['run'].rpartition('/')[2]}?wait=60").json()
    assert run["total"] in (1, 2)  # both answered with the same bytes: one file of the run


def test_an_address_that_is_not_listed_is_not_connected_to(
    launch: Launch, space: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = launch(capture_targets="127.0.0.1:1024-65535")
    monkeypatch.setattr(book, "ProfilerClient", None)
    with profiler(Profile=giving(space)) as address:
        answer = ask(client, address, "169.254.169.254:9012")
    assert answer.status_code == 403
    assert answer.json()["message"] == "This server does not capture from 169.254.169.254:9012."
    assert [row["action"] for row in audit(client)] == ["capture.asked"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"addresses": []}, {"addresses": ["127.0.0.1:9012"] * 257}, {"duration_ms": 9},
        {"duration_ms": 60_001}, {"host_level": 4}, {"retries": 6},
        {"addresses": ["127.0.0.1:9012", "127.0.0.1:9012"]},
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(launch: Launch, wrong: dict[str, Any]) -> None:
    addresses = wrong.pop("addresses", ["127.0.0.1:9"])
    assert ask(launch(**LAPTOP), *addresses, **wrong).status_code == 400


def test_one_capture_of_a_program_at_a_time(launch: Launch, space: bytes) -> None:
    client = launch(**LAPTOP)
    answered: list[bool] = []

    def slow(_request: bytes, context: grpc.ServicerContext) -> bytes:
        while not answered:
            if not context.is_active():
                break
        return space

    def terminate(_request: bytes, _context: grpc.ServicerContext) -> bytes:
        answered.append(True)
        return b""

    with profiler(Profile=slow, Terminate=terminate) as address:
        first = ask(client, address).json()
        refused = ask(client, address)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        # *Stop* has the program end its recording, and what it has is used.
        while client.get(f"{CAPTURES}/{first['id']}").json()["hosts"][0]["state"] == "waiting":
            pass
        assert client.delete(f"{CAPTURES}/{first['id']}").status_code == 204
        assert ended(client, first)["profile"]


def test_captures_an_hour_are_limited(launch: Launch) -> None:
    client = launch(**LAPTOP, captures_per_hour=2)
    # Each another program: the same one has to wait between two captures.
    answers = [ask(client, f"127.0.0.1:{port}") for port in (1, 2, 3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert "2 captures within the hour" in answers[2].json()["detail"]


def test_an_answer_past_the_limit_of_uploads_is_refused(launch: Launch, space: bytes) -> None:
    client = launch(**LAPTOP, max_upload_bytes=1000)
    with profiler(Profile=giving(space)) as address:
        capture = ended(client, ask(client, address).json())
    assert "is larger than" in capture["hosts"][0]["text"]
    assert "profile" not in capture


def test_bytes_that_are_no_capture_fail_as_an_upload_does(launch: Launch) -> None:
    client = launch(**LAPTOP)
    with profiler(Profile=giving(b"\x42\x05space")) as address:
        capture = ended(client, ask(client, address).json())
    state = client.get(f"/api/v1/profiles/{capture['profile'].rpartition('/')[2]}?wait=60")
    assert state.json()["state"] == "failed"


# ----------------------------------------------------------------------------------------- rights


@pytest.fixture
def people(launch: Launch) -> Iterator[tuple[Client, Callable[..., dict[str, str]]]]:
    """A server with log-ins, and the headers of a token of some scope."""
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN, reached="behind-proxy", **LAPTOP)

    def token(person: dict[str, str], scope: str) -> dict[str, str]:
        made = client.post(TOKENS, json={"name": scope, "scope": scope}, headers=person)
        assert made.status_code == 201, made.text
        return {"authorization": f"Bearer {made.json()['token']}"}

    yield client, token


def test_who_may_capture(people: tuple[Client, Callable[..., dict[str, str]]]) -> None:
    client, token = people
    user, admin = session(client, name="Ada"), session(client, ADMIN)
    client.forget_cookies()
    senders = {
        "user": user, "tool": BEARER, "upload": token(user, "upload"),
        "share": token(user, "share"),
        "read": token(user, "read"), "upload of an admin": token(admin, "upload"),
        "capture": token(admin, "capture"), "admin": admin, "admin's token": token(admin, "admin"),
        "nobody": {}, "other site": {**admin, "sec-fetch-site": "cross-site"},
        "without csrf": {"cookie": admin["cookie"]},
    }  # fmt: skip
    may = {"capture", "admin", "admin's token"}
    found = {}
    for place, (name, headers) in enumerate(senders.items()):
        found[name] = ask(client, f"127.0.0.1:{place + 1}", headers=headers).status_code
        client.forget_cookies()
    assert {name for name, status in found.items() if status == 202} == may
    assert {status for name, status in found.items() if name not in may} == {401, 403}


def test_a_token_that_captures_does_nothing_else(
    people: tuple[Client, Callable[..., dict[str, str]]],
) -> None:
    client, token = people
    user, admin = session(client, name="Ada"), session(client, ADMIN)
    client.forget_cookies()
    refused = client.post(TOKENS, json={"name": "x", "scope": "capture"}, headers=user)
    assert refused.status_code == 403
    captures = token(admin, "capture")
    client.forget_cookies()
    assert client.upload(b"x", headers=captures).status_code == 403
    assert client.post("/api/v1/runs", json={}, headers=captures).status_code == 403
    assert client.get("/api/v1/profiles", headers=captures).status_code == 200
    # What one person asked for is not there for another, nor the dialog.
    capture = ask(client, "127.0.0.1:1", headers=captures).json()
    assert ended(client, capture, headers=captures)["state"] == "ended"
    assert client.get(f"{CAPTURES}/{capture['id']}", headers=user).status_code == 403
    page = client.get("/", headers={**user, "accept": "text/html"}).text
    assert not re.search("data-capture", page)


def test_people_of_a_group_capture_and_do_no_more(launch: Launch) -> None:
    provider = {"oidc_issuer": "https://login.example.org", "oidc_client_id": "roofline"}
    secret = {"oidc_client_secret": "9f8e7d6c5b4a39281706f5e4d3c2b1a0", "reached": "behind-proxy"}
    client = launch(auth="oidc", **provider, **secret, **LAPTOP, capture_groups="ml, infra")
    oidc = client.parts.oidc
    assert oidc is not None
    cookies = [oidc.end({"sub": one, "groups": [one]})[0] for one in ("infra", "sales")]
    cookies.append(oidc._sessions.dumps(["0" * 32, "Ada#1", "Ada", False]))  # of an older release
    for place, (cookie, may) in enumerate(zip(cookies, (True, False, False), strict=True)):
        headers = {"cookie": f"roofline_session={cookie}"}
        page = client.get("/", headers={**headers, "accept": "text/html"}).text
        assert bool(re.search("data-capture", page)) is may
        found = re.search(r'name="csrf-token" content="([^"]+)"', page)
        assert found is not None
        asked = ask(client, f"127.0.0.1:{place + 1}", headers=headers | {"x-csrf-token": found[1]})
        assert asked.status_code == (202 if may else 403)
        assert client.get("/api/v1/audit", headers=headers).status_code == 403


def test_share_links_capture_nothing(launch: Launch) -> None:
    client = launch(**LAPTOP)
    assert client.post("/l/" + "x" * 43 + "/captures", json={}).status_code in (404, 405)


# ----------------------------------------------------------------------------------- as a tool


def tools(client: Client, headers: dict[str, str]) -> Any:
    """The answer to the question which tools there are."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return client.post("/mcp", json=message, headers=ACCEPT | headers)


def test_the_tool_records_a_program_and_tells_what_binds_it(launch: Launch, space: bytes) -> None:
    client = launch(**LAPTOP)
    with profiler(Profile=giving(space)) as address:
        text, failed = called(client, {}, "capture", address=address, seconds=0.02)
    assert not failed, text
    rows = audit(client)
    assert [row["action"] for row in rows] == ["capture.asked", "capture.done"]
    assert f"{address} for 20 ms" in rows[0]["details"]
    assert text == client.get(f"/p/{rows[1]['subject']}.md").text
    forged = {"origin": "https://elsewhere.example", "sec-fetch-site": "cross-site"}
    assert tools(client, forged).status_code == 403
    assert ask(client, "127.0.0.1:1", headers=forged).status_code == 403
    text, failed = called(client, {}, "capture", address="127.0.0.1:1", seconds=0.02)
    assert failed
    assert "Nothing listens at 127.0.0.1:1." in text


def test_the_tool_connects_to_what_is_listed_alone(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = launch(capture_targets=",".join(LISTED), captures_per_hour=1000)
    monkeypatch.setattr(book, "ProfilerClient", None)
    monkeypatch.setattr(socket, "getaddrinfo", None)
    for typed in FORBIDDEN:
        text, failed = called(client, {}, "capture", address=typed, seconds=0.02)
        assert failed, typed
        refused = ask(client, typed).json()
        said = f"{refused['message']} {refused['remedy']}"
        assert text == f"Error executing tool capture: {said}"
        assert refused["message"].startswith("This server does not capture from ")


def test_who_has_the_tool(people: tuple[Client, Callable[..., dict[str, str]]]) -> None:
    client, token = people
    user, admin = session(client, name="Ada"), session(client, ADMIN)
    client.forget_cookies()
    senders = {
        "user": user, "tool": BEARER, "upload": token(user, "upload"),
        "share": token(user, "share"),
        "read": token(user, "read"), "upload of an admin": token(admin, "upload"),
        "capture": token(admin, "capture"), "admin": admin, "admin's token": token(admin, "admin"),
    }  # fmt: skip
    found = {}
    for name, headers in senders.items():
        client.forget_cookies()
        listed = {tool["name"] for tool in tools(client, headers).json()["result"]["tools"]}
        text, failed = called(client, headers, "capture", address="127.0.0.1:1", seconds=0.02)
        assert failed
        assert ("capture" in listed) == ("Nothing listens" in text) == ("Unknown" not in text)
        found[name] = "capture" in listed
    assert {name for name, has in found.items() if has} == {"capture", "admin", "admin's token"}
    for headers in ({}, {**admin, "sec-fetch-site": "cross-site"}, {"cookie": admin["cookie"]}):
        client.forget_cookies()
        assert tools(client, headers).status_code in (401, 403)

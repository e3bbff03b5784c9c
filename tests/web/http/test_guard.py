"""Access, and the headers of every answer."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from roofline.errors import RooflineError
from roofline.library.reader import ProfileLists
from roofline.web.http.access import Actor
from roofline.web.http.gate import PER_ADDRESS
from roofline.web.http.guard import CONTENT_SECURITY_POLICY, Guard, Policy, refusal_of
from roofline.web.http.rate_limit import Attempts
from tests.web.conftest import PROBLEM_KEYS, Client, Launch

PATHS = [
    "/",
    "/api",
    "/healthz",
    "/openapi.json",
    "/p/unknown",
    "/api/v1/profiles",
    "/api/v1/samples",
    "/api/v1/profiles/unknown",
    "/static/x/missing.js",
    "/nothing",
]


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_security_headers(reader: Client, path: str) -> None:
    headers = reader.get(path, headers={"accept": "text/html"}).headers
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers
    assert len(headers["x-request-id"]) == 12


def test_policy_allows_no_foreign_host_and_no_inline_script() -> None:
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY
    for loose in ("unsafe", "http:", "https:", "*", "data:"):
        assert loose not in CONTENT_SECURITY_POLICY


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/profiles"),
        ("POST", "/api/v1/samples/x"),
        ("DELETE", "/api/v1/profiles/x"),
    ],
)
def test_request_from_another_site_is_refused(
    reader: Client, method: str, path: str, headers: Mapping[str, str]
) -> None:
    answer = reader.request(method, path, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["code"] == "not-allowed"
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-site": "same-origin", "origin": "http://localhost"},
        {"sec-fetch-site": "none"},
    ],
)
def test_own_pages_and_tools_may_change_things(reader: Client, headers: Mapping[str, str]) -> None:
    assert reader.delete("/api/v1/profiles/x", headers=headers).status_code == 404


def test_reading_from_a_link_on_another_site_is_allowed(reader: Client) -> None:
    assert reader.get("/healthz", headers={"sec-fetch-site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example"])
def test_other_host_names_are_not_answered_on_loopback(reader: Client, host: str) -> None:
    answer = reader.get("/api/v1/profiles", headers={"host": host})
    assert answer.status_code == 403
    assert "ROOFLINE_ALLOWED_HOSTS" in answer.json()["remedy"]


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_loopback_names_are_answered(reader: Client, host: str) -> None:
    assert reader.get("/healthz", headers={"host": host}).status_code == 200


def test_allowed_hosts_replace_the_loopback_names(launch: Launch) -> None:
    client = launch(allowed_hosts=("roofline.example",))
    assert client.get("/healthz", headers={"host": "roofline.example"}).status_code == 200
    assert client.get("/healthz").status_code == 403


def test_server_on_a_public_address_answers_any_name() -> None:
    assert refusal_of("GET", {"host": "anything"}, None) is None


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not-found"),
        ("PUT", "/api/v1/profiles", 405, "method-not-allowed"),
        ("GET", "/api/v1/profiles/unknown", 404, "profile-not-found"),
        ("GET", "/api/v1/profiles?limit=0", 400, "bad-view"),
        ("GET", "/api/v1/profiles/x/roofline?infeed=maybe", 400, "bad-view"),
        ("POST", "/api/v1/samples/unknown", 404, "profile-not-found"),
        ("GET", "/static/x/../../pyproject.toml", 404, "not-found"),
        ("GET", "/static/x/%2e%2e/%2e%2e/pyproject.toml", 404, "not-found"),
    ],
)
def test_errors_have_one_shape(
    reader: Client, method: str, path: str, status: int, code: str
) -> None:
    answer = reader.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()) == PROBLEM_KEYS
    assert answer.json()["code"] == code


def test_body_nobody_asked_for_is_not_read(reader: Client) -> None:
    answer = reader.post("/api/v1/samples/unknown", content=bytes(2 << 20))
    assert answer.status_code == 404


def test_fault_of_the_server_is_answered_in_the_same_shape(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(ProfileLists, "search", broken)
    answer = reader.get("/api/v1/profiles")
    assert answer.status_code == 500
    assert answer.headers["connection"] == "close", "the server ends it, and has to say so"
    assert answer.json()["code"] == "fault"
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    page = reader.get("/", headers={"accept": "text/html"})
    assert page.status_code == 500
    assert page.headers["x-request-id"] in page.text


def test_one_address_behind_a_proxy_takes_no_more_places_than_without_one() -> None:
    """The gate sees the address of the proxy; what a client has under way counts here."""
    # On a thread of its own: that of the tests may have the loop of a browser.
    with ThreadPoolExecutor(1) as threads:
        ends = threads.submit(lambda: asyncio.run(_ends_behind_a_proxy())).result()
    assert ends == {"10.9.9.9": [503] * 3, "10.9.9.8": [204]}


async def _ends_behind_a_proxy() -> dict[str, list[int]]:
    """The statuses by address: `PER_ADDRESS` answers of the first one are not taken."""
    taken = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            await taken.wait()
        await send({"type": "http.response.start", "status": 204})

    policy = Policy(
        answered_hosts=None,
        identify=lambda _headers, _peer: Actor(),
        proxies=(ip_network("127.0.0.1/32"),),
        logs_in=False,
        reads_metrics=lambda _headers: False,
        attempts=Attempts(),
        idle_seconds=60.0,
        note_read=lambda *_: None,
    )
    guard = Guard(app, policy, refuse=_as_503, count=lambda *_: None)
    slow = [asyncio.create_task(_status(guard, "10.9.9.9", "/slow")) for _ in range(PER_ADDRESS)]
    await asyncio.sleep(0)
    ends = {
        "10.9.9.9": [await _status(guard, "10.9.9.9", "/") for _ in range(3)],
        "10.9.9.8": [await _status(guard, "10.9.9.8", "/")],
    }
    taken.set()
    assert set(await asyncio.gather(*slow)) == {204}
    assert await _status(guard, "10.9.9.9", "/") == 204, "the places are free again"
    return ends


def _as_503(_request: object, _error: RooflineError) -> Response:
    return Response(status_code=503)


async def _status(guard: Guard, address: str, path: str) -> int:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "scheme": "http",
        "client": ("127.0.0.1", 1),
        "headers": [(b"x-forwarded-for", address.encode())],
    }
    await guard(scope, receive, send)
    return int(sent[0]["status"])

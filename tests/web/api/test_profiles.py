"""Finding and sharing: the list, notes and tags, link previews, events, numbers."""

import html
import re
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import httpx
import orjson
import pytest

from tests.web.conftest import PROBLEM_KEYS, Client, Launch

API = "/api/v1/profiles"
HTML = {"accept": "text/html"}
METRICS_TOKEN = "only for the numbers"


def described(client: Client, capture: bytes, **fields: Any) -> str:
    return str(client.upload(capture, **fields).json()["id"])


def titles(answer: httpx.Response) -> list[str]:
    return [profile["title"] for profile in answer.json()["profiles"]]


def test_upload_takes_title_note_and_tags(client: Client, capture: bytes) -> None:
    body = client.upload(
        capture, title="Run", note="first\nsecond", tag=["nightly", "llama, v5e"]
    ).json()
    assert body["note"] == "first\nsecond"
    assert body["tags"] == ["llama", "nightly", "v5e"]


def test_list_is_searched_and_paged(client: Client, capture: bytes) -> None:
    described(client, capture, title="Alpha", tag="nightly")
    described(client, capture, title="Beta", tag="weekly")
    described(client, capture, title="Gamma", tag="nightly")
    assert set(titles(client.get(f"{API}?tag=nightly"))) == {"Alpha", "Gamma"}
    assert titles(client.get(f"{API}?q=BETA")) == ["Beta"]
    assert titles(client.get(f"{API}?q=beta+nightly")) == []
    pages = [client.get(f"{API}?limit=2&offset={offset}") for offset in (0, 2, 4)]
    assert [len(titles(page)) for page in pages] == [2, 1, 0]
    assert {page.json()["total"] for page in pages} == {3}


def test_pinned_profile_comes_first(client: Client, capture: bytes) -> None:
    first = described(client, capture, title="Old")
    described(client, capture, title="New")
    assert client.request("PATCH", f"{API}/{first}", json={"pinned": True}).json()["pinned"]
    assert titles(client.get(API))[0] == "Old"


def test_edit_changes_what_is_given_and_nothing_else(client: Client, capture: bytes) -> None:
    profile_id = described(client, capture, title="Before", note="Note", tag="one")
    body = client.request("PATCH", f"{API}/{profile_id}", json={"title": "After"}).json()
    assert (body["title"], body["note"], body["tags"]) == ("After", "Note", ["one"])
    client.request("PATCH", f"{API}/{profile_id}", json={"tags": [], "note": ""})
    again = client.get(f"{API}/{profile_id}").json()
    assert (again["title"], again["note"], again["tags"]) == ("After", "", [])


def test_edit_that_cannot_be_kept_is_refused(client: Client, capture: bytes) -> None:
    profile_id = described(client, capture, title="Kept")
    edits: tuple[Any, ...] = (
        {"title": ""},
        {"title": "x" * 300},
        {"note": "x" * 20_000},
        {"tags": [str(number) for number in range(100)]},
        {"tags": ["x" * 100]},
        {"tags": "no list"},
        {"title": 5},
        {"pinned": "maybe"},
        {"titel": "A typing error"},
        {"title": "Changed", "titel": "A typing error"},
        [],
    )
    for edit in edits:
        answer = client.request("PATCH", f"{API}/{profile_id}", json=edit)
        assert answer.status_code == 400, answer.text
        assert set(answer.json()) == PROBLEM_KEYS
        assert client.get(f"{API}/{profile_id}").json()["title"] == "Kept", edit
        said = "These keys of the body are not known: titel."
        assert (answer.json()["message"] == said) == ("titel" in edit), "it was answered with 200"


def test_body_of_an_edit_is_limited(client: Client, capture: bytes) -> None:
    profile_id = described(client, capture)
    answer = client.request(
        "PATCH",
        f"{API}/{profile_id}",
        content=b'{"note": "' + b"x" * (2 << 20) + b'"}',
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 413


def test_home_searches_and_pages_without_scripts(client: Client, capture: bytes) -> None:
    described(client, capture, title="Alpha", tag="nightly & <b>")
    described(client, capture, title="Beta")
    everything = client.get("/", headers=HTML).text
    assert "Alpha" in everything
    assert "Beta" in everything
    assert "nightly &amp; &lt;b&gt;" in everything
    assert 'href="/?tag=nightly+%26+%3Cb%3E"' in everything
    found = client.get("/?q=alpha", headers=HTML).text
    assert "Alpha" in found
    assert "Beta" not in found
    assert "No profile matches" in client.get("/?q=nothing", headers=HTML).text


def test_long_list_has_pages(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roofline.web.pages.routes.PAGE_SIZE", 2)
    for number in range(5):
        described(client, capture, title=f"Run {number}", tag="t")
    middle = client.get("/?tag=t&page=2", headers=HTML).text
    assert "3–4 of 5" in middle
    assert 'href="/?tag=t"' in middle
    assert 'href="/?tag=t&amp;page=3"' in middle
    assert middle.count('class="open"') == 2
    assert "5–5 of 5" in client.get("/?tag=t&page=9", headers=HTML).text


@pytest.mark.parametrize("query", ["page=0", "page=x", "page=99999999", f"q={'x' * 300}"])
def test_list_that_cannot_be_is_refused(reader: Client, query: str) -> None:
    assert reader.get(f"/?{query}", headers=HTML).status_code == 400


def test_link_preview_names_device_and_headline(client: Client, capture: bytes) -> None:
    profile_id = described(client, capture, title='Run "7" <x>')
    page = client.get(f"/p/{profile_id}", headers=HTML).text
    summary = client.get(f"{API}/{profile_id}").json()["summary"]
    assert 'property="og:title" content="Run &#34;7&#34; &lt;x&gt;"' in page
    picture = re.search(r'property="og:image" content="([^"]+)"', page)
    assert picture is not None
    assert picture[1].startswith("http://")
    assert client.get(html.unescape(picture[1])).content[:4] == b"\x89PNG"
    found = re.search(r'property="og:description" content="([^"]+)"', page)
    assert found
    assert summary["device"] in found[1]
    assert found[1].startswith(summary["headline"])
    assert summary["subject"]["first"]["title"][1:] in found[1]


def test_link_preview_tells_strangers_nothing(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token="0123456789abcdef")
    headers = {"authorization": "Bearer 0123456789abcdef"}
    profile_id = client.upload(capture, title="Secret plan", headers=headers).json()["id"]
    answer = client.get(f"/p/{profile_id}", headers=HTML)
    assert answer.status_code == 303
    page = client.get(answer.headers["location"], headers=HTML).text
    assert "og:" not in page
    assert "Secret" not in page


def events(answer: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block for block in answer.text.split("\n\n") if block.startswith("event:")]
    lines = [block.split("\n") for block in blocks]
    return [(name[7:], orjson.loads(data[6:])) for name, data in lines]


def test_events_of_a_ready_profile_are_one(client: Client, capture: bytes) -> None:
    profile_id = described(client, capture, title="Run")
    answer = client.get(f"{API}/{profile_id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert "no-store" in answer.headers["cache-control"]
    ((name, body),) = events(answer)
    assert name == "ready"
    assert body == client.get(f"{API}/{profile_id}").json()


def test_events_follow_an_import_to_its_end(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roofline.imports.children.WORK", "tests.web.children:linger")
    profile_id = client.upload(b"content", wait=0).json()["id"]
    stream: Future[httpx.Response] = client.start("GET", f"{API}/{profile_id}/events")
    while client.get(f"{API}/{profile_id}").json()["progress"]["phase"] != "read":
        pass
    client.parts.library.cancel(profile_id)
    heard = events(stream.result(timeout=30))
    assert [name for name, _ in heard[:-1]] == ["importing"] * (len(heard) - 1)
    name, body = heard[-1]
    assert (name, body["code"]) == ("failed", "import-stopped")


def test_events_end_when_the_server_stops(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofline.imports.children.WORK", "tests.web.children:linger")
    profile_id = client.upload(b"content", wait=0).json()["id"]
    stream = client.start("GET", f"{API}/{profile_id}/events")
    client.parts.streams.is_closing = True
    assert events(stream.result(timeout=30))[-1][0] == "importing"
    assert client.get("/readyz").status_code == 503


def test_streams_of_one_address_are_limited(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roofline.imports.children.WORK", "tests.web.children:linger")
    monkeypatch.setattr("roofline.web.http.rate_limit.STREAMS_PER_ADDRESS", 2)
    path = f"{API}/{client.upload(b'content', wait=0).json()['id']}"
    streams = [client.start("GET", f"{path}/events") for _ in range(3)]
    ended, going = wait(streams, timeout=30, return_when=FIRST_COMPLETED)
    assert [stream.result().status_code for stream in ended] == [429]
    other = client.at("10.0.0.9").start("GET", f"{path}/events")
    client.delete(path)
    assert all(stream.result(timeout=30).status_code == 200 for stream in going)
    assert other.result(timeout=30).status_code in (200, 404)  # opened before, or after


def test_events_of_an_unknown_profile_are_404(reader: Client) -> None:
    assert reader.get(f"{API}/unknown/events").status_code == 404


def numbers(client: Client, **headers: str) -> dict[str, float]:
    text = client.get("/metrics", headers=headers).text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_metrics_count_requests_imports_failures_and_bytes(client: Client, capture: bytes) -> None:
    profile_id = described(client, capture)
    failed = client.upload(b"neither this nor that").json()["id"]
    client.erase(failed)
    client.get(f"{API}/{profile_id}")
    client.get("/some/address/nobody/serves")
    found = numbers(client)
    one = 'roofline_requests_total{method="GET",route="/api/v1/profiles/{profile_id}",status="200"}'
    assert found[one] == 1
    assert found['roofline_requests_total{method="GET",route="-",status="404"}'] == 1
    assert found['roofline_import_failures_total{code="unknown-format"}'] == 1
    assert found["roofline_import_bytes_total"] == len(capture)
    assert found['roofline_store_bytes{kind="raw"}'] == len(capture)
    assert 0 < found['roofline_store_bytes{kind="stored"}'] < len(capture)
    assert found["roofline_profiles"] == 1
    assert found["roofline_damaged_files"] == 0
    assert any("roofline_import_seconds_sum" in name and 'phase="read"' in name for name in found)
    assert not any(profile_id in name for name in found)


def test_metrics_have_a_token_of_their_own(launch: Launch) -> None:
    client = launch(auth="token", token="0123456789abcdef", metrics_token=METRICS_TOKEN)
    assert client.get("/metrics").status_code == 401
    bearer = {"authorization": f"Bearer {METRICS_TOKEN}"}
    assert "roofline_profiles" in numbers(client, **bearer)
    assert client.get(API, headers=bearer).status_code == 401
    assert client.get("/metrics", headers={"authorization": "Bearer no"}).status_code == 401


def test_unheard_of_methods_are_one_number(client: Client) -> None:
    for method in ("BREW", "PROPFIND", "X" * 50):
        client.request(method, "/")
    assert 'method="other"' in client.get("/metrics").text
    assert "BREW" not in client.get("/metrics").text


def test_readiness_says_what_is_missing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/readyz").json() == {"status": "ready"}
    from roofline.errors import StoreUnavailableError

    def broken() -> None:
        raise StoreUnavailableError("The database is gone.", remedy="Bring it back.")

    monkeypatch.setattr(client.parts.instance, "check", broken)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["message"]) == (503, "The database is gone.")
    assert client.get("/healthz").status_code == 200

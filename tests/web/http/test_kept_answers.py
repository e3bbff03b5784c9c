"""Answers kept in memory: the same as drawn ones, never older, never of another person.

Most tests ask twice. `drawn` counts how often routes read a result or the state of a profile, so
that a test knows whether the second answer came from memory.
"""

import random
import re
import shutil
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import anyio
import httpx
import pytest
import structlog
from fastapi import Request
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.devices.measured import machine_files
from roofline.library.reader import ProfileReader
from roofline.settings import Settings
from roofline.storage import profiles
from roofline.storage.records import timestamp
from roofline.web.app import room_for_answers
from roofline.web.http.computing import Memory
from roofline.web.http.encodings import OFFER_LENGTH, accepts
from roofline.web.offline.assets import packed
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import ADMIN, BEARER, TOKEN, session

API = "/api/v1/profiles"
PLAIN = {"accept-encoding": "identity"}
OF_ONE_ANSWER = {"x-request-id", "date"}


class Drawn(list[str]):
    """What routes asked the reader about ready profiles; `new()` since it was asked last."""

    def new(self) -> list[str]:
        seen, self[:] = list(self), []
        return seen


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    seen = Drawn()

    def counted(name: str) -> Callable[..., Any]:
        asked = getattr(ProfileReader, name)

        def ask(self: ProfileReader, *arguments: Any) -> Any:
            seen.append(name)
            return asked(self, *arguments)

        return ask

    for name in ("state", "packed"):
        monkeypatch.setattr(ProfileReader, name, counted(name))
    return seen


@pytest.fixture
def profile_id(client: Client, capture: bytes) -> str:
    return str(client.upload(capture, title="Before", note="Old", tag="old").json()["id"])


def paths_of(profile_id: str) -> list[str]:
    path = f"{API}/{profile_id}"
    return [f"/p/{profile_id}", f"{path}/page", f"{path}/roofline", f"{path}/roofline.csv"]


def lasting(answer: httpx.Response) -> list[tuple[str, str]]:
    """The headers of an answer that do not differ from one to the next."""
    return sorted(pair for pair in answer.headers.items() if pair[0] not in OF_ONE_ANSWER)


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_kept_answer_is_the_drawn_one(
    client: Client, profile_id: str, drawn: Drawn, encoding: str
) -> None:
    headers, policy = {"accept-encoding": encoding}, "content-security-policy"
    for path in paths_of(profile_id):
        drawn.new()
        first = client.get(path, headers=headers)
        assert drawn.new(), path
        second = client.get(path, headers=headers)
        assert not drawn.new(), path
        assert (second.status_code, second.content) == (200, first.content)
        assert lasting(second) == lasting(first)
        assert second.headers["x-request-id"] != first.headers["x-request-id"]
        assert second.headers[policy] == first.headers[policy]


def test_who_holds_it_is_told_so(client: Client, profile_id: str, drawn: Drawn) -> None:
    path = f"{API}/{profile_id}/roofline.csv"
    held = {"if-none-match": client.get(f"{path}?infeed=out").headers["etag"]}
    first = client.get(f"{path}?infeed=out&x=1", headers=held)  # drawn: another address
    drawn.new()
    second = client.get(f"{path}?infeed=out", headers=held)
    assert not drawn.new()
    assert (first.status_code, second.status_code, second.content) == (304, 304, b"")
    assert lasting(second) == lasting(first)
    other = client.get(f"{path}?infeed=out", headers={"if-none-match": '"other"'})
    assert other.status_code == 200


def test_encodings_and_queries_are_not_mixed_up(client: Client, profile_id: str) -> None:
    path = f"{API}/{profile_id}/page"
    rev = client.get(f"{API}/{profile_id}").json()["rev"]
    for encoding in ("gzip", "zstd") * 2:
        packed = client.get(path, headers={"accept-encoding": encoding})
        plain = client.get(path, headers=PLAIN)
        assert (packed.headers["content-encoding"], packed.content) == (encoding, plain.content)
        assert "content-encoding" not in plain.headers
        assert packed.headers["etag"] != plain.headers["etag"]
        assert "immutable" in client.get(f"{path}?rev={rev}").headers["cache-control"]
        assert "immutable" not in client.get(f"{path}?rev=other").headers["cache-control"]
        roofline = f"{API}/{profile_id}/roofline"
        within, without = (client.get(f"{roofline}?infeed={infeed}") for infeed in ("in", "out"))
        assert within.headers["etag"] != without.headers["etag"]
        assert client.get(f"{roofline}?infeed=bad").status_code == 400


def test_head_and_other_methods_are_answered_as_before(client: Client, profile_id: str) -> None:
    page, roofline = f"/p/{profile_id}", f"{API}/{profile_id}/roofline"
    drawn, _ = client.get(page), client.get(roofline)
    head = client.request("HEAD", page)
    assert (head.status_code, lasting(head)) == (200, lasting(drawn))
    assert client.request("HEAD", roofline).status_code == 405
    assert client.post(page).status_code == 405


@pytest.mark.parametrize(
    ("edit", "shown"),
    [
        ({"title": "After"}, "After"),
        ({"note": "New words"}, "New words"),
        ({"tags": ["fresh"]}, "fresh"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_edit_is_seen_at_once(
    client: Client, profile_id: str, edit: dict[str, Any], shown: str
) -> None:
    page, csv = f"/p/{profile_id}", f"{API}/{profile_id}/roofline.csv"
    for path in (page, page, csv, csv):
        assert client.get(path).status_code == 200
    client.request("PATCH", f"{API}/{profile_id}", json=edit)
    assert shown in client.get(page).text
    title = edit.get("title", "Before")
    assert f"{title}-roofline.csv" in client.get(csv).headers["content-disposition"]


def test_pin_is_seen_at_once(client: Client, profile_id: str) -> None:
    page = f"/p/{profile_id}"
    before = [client.get(page).text for _ in range(2)]
    client.request("PATCH", f"{API}/{profile_id}", json={"pinned": True})
    assert client.get(page).text != before[1]
    client.request("PATCH", f"{API}/{profile_id}", json={"pinned": False})
    assert client.get(page).text == before[0]


def test_deleted_profile_is_gone_at_once(client: Client, profile_id: str) -> None:
    for path in paths_of(profile_id) * 2:
        assert client.get(path).status_code == 200
    client.delete(f"{API}/{profile_id}")
    for path in paths_of(profile_id) * 2:
        assert client.get(path).status_code == 404, path


def test_other_profiles_stay_kept(
    client: Client, profile_id: str, capture: bytes, drawn: Drawn
) -> None:
    other = client.upload(capture).json()["id"]
    for _ in range(2):
        client.get(f"/p/{profile_id}")
        client.get(f"/p/{other}")
    client.delete(f"{API}/{other}")
    drawn.new()
    assert client.get(f"/p/{profile_id}").status_code == 200
    assert not drawn.new()


def test_swept_profile_is_gone_at_once(client: Client, profile_id: str) -> None:
    for path in paths_of(profile_id) * 2:
        client.get(path)
    client.parts.instance.store.edit(profile_id, expires_at=timestamp(timedelta(days=-1)))
    for path in paths_of(profile_id) * 2:
        assert client.get(path).status_code == 200
    client.parts.instance.upkeep.sweep()
    for path in paths_of(profile_id):
        assert client.get(path).status_code == 404, path


def test_profile_that_is_not_ready_is_not_kept(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch, drawn: Drawn
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("roofline.imports.children.WORK", "tests.web.children:linger")
        profile_id = client.upload(capture, wait=0).json()["id"]
        for _ in range(2):
            drawn.new()
            assert client.get(f"/p/{profile_id}").status_code == 200
            assert "state" in drawn.new()
            assert client.get(f"{API}/{profile_id}/roofline").status_code == 409
        client.parts.library.cancel(profile_id)
    for _ in range(2):
        drawn.new()
        assert "cancelled" in client.get(f"/p/{profile_id}").text
        assert "state" in drawn.new()


def test_results_computed_again_replace_kept_ones(
    client: Client, profile_id: str, drawn: Drawn
) -> None:
    page = f"/p/{profile_id}"
    for _ in range(2):
        client.get(page)
    shutil.rmtree(client.settings.data_dir / "derived" / profile_id)
    assert client.get(f"{API}/{profile_id}/roofline?infeed=out").status_code == 200  # computes
    drawn.new()
    assert client.get(page).status_code == 200
    assert drawn.new()


def test_answer_drawn_before_a_change_is_not_kept(
    client: Client, profile_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit between the look into the database and the last byte of the page."""
    state = ProfileReader.state

    def slow(self: ProfileReader, asked: str) -> Any:
        found = state(self, asked)
        client.parts.library.edit(asked, title="After")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(ProfileReader, "state", slow)
        assert "Before" in client.get(f"/p/{profile_id}").text
    assert "After" in client.get(f"/p/{profile_id}").text


def test_answer_drawn_during_a_deletion_is_not_kept(
    client: Client, profile_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are gone, results not yet: a reader that checked earlier may still read them, once."""
    path = f"{API}/{profile_id}/roofline"
    remove, answers = profiles.ProfileStore.remove, []

    def interrupted(store: profiles.ProfileStore, asked: str) -> Any:
        removed = remove(store, asked)
        store.queries._ready.add(asked)  # by a request that had read "ready" before the commit
        answers.append(client.get(path).status_code)
        store.queries._ready.discard(asked)
        return removed

    monkeypatch.setattr(profiles.ProfileStore, "remove", interrupted)
    client.parts.library.remove(profile_id)
    assert answers == [200]
    assert client.get(path).status_code == 404


def test_nothing_kept_gets_past_the_guard(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN)
    profile_id = client.upload(capture, headers=BEARER).json()["id"]
    for path in paths_of(profile_id):
        for _ in range(2):
            assert client.get(path, headers=BEARER).status_code == 200
        for stranger in ({}, {"authorization": "Bearer wrong"}, {"cookie": "roofline_session=x"}):
            assert client.get(path, headers=stranger).status_code == 401, path
        elsewhere = {**BEARER, "host": "evil.example"}
        assert client.get(path, headers=elsewhere).status_code == 403, path


def test_session_that_is_over_is_answered_nothing_kept(
    launch: Launch, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = launch(auth="token", token=TOKEN)
    ada = session(client, name="Ada")
    page = f"/p/{client.upload(capture, headers=ada).json()['id']}"
    assert [client.get(page, headers=ada).status_code for _ in range(2)] == [200, 200]
    monkeypatch.setattr("roofline.web.http.sessions.LIFETIME_S", -1)
    assert client.get(page, headers=ada).status_code == 401


def test_page_of_one_session_is_nobody_elses(launch: Launch, capture: bytes, drawn: Drawn) -> None:
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN)
    people = {
        "owner": session(client, name="Ada"),
        "of the same name": session(client, name="Ada"),
        "admin": session(client, ADMIN, name="Ada"),
        "tool": BEARER,
    }
    body = client.upload(capture, headers=people["owner"]).json()
    page, roofline = f"/p/{body['id']}", f"{API}/{body['id']}/roofline"
    for turn in range(2):
        drawn.new()
        texts = {who: client.get(page, headers=headers).text for who, headers in people.items()}
        assert bool(drawn.new()) == (turn == 0)
        for who, headers in people.items():
            found = re.findall(r'name="csrf-token" content="([^"]+)"', texts[who])
            assert found == ([headers["x-csrf-token"]] if "x-csrf-token" in headers else []), who
        offers = {who for who, text in texts.items() if "data-share-open" in text}
        assert offers == {"owner", "admin"}
    client.get(roofline, headers=people["owner"])
    drawn.new()
    assert client.get(roofline, headers=people["tool"]).status_code == 200
    assert not drawn.new(), "an answer that is equal for all is drawn once for all"


def test_page_of_one_user_of_a_proxy_is_nobody_elses(launch: Launch, capture: bytes) -> None:
    server = launch(auth="proxy", proxy_addresses="10.1.0.0/16")
    proxy = server.at("10.1.0.1")
    ada, grace = ({"x-forwarded-user": name} for name in ("ada", "grace"))
    page = f"/p/{proxy.upload(capture, headers=ada).json()['id']}"
    for _ in range(2):
        hers, others = (proxy.get(page, headers=who).text for who in (ada, grace))
        assert csrf(hers) != csrf(others)
        assert proxy.get(page).status_code == 401
        assert server.at("10.2.0.1").get(page, headers=ada).status_code == 401


def csrf(page: str) -> str:
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    assert found
    return found[1]


def test_kept_answers_are_counted_and_logged_alike(client: Client, profile_id: str) -> None:
    page = f"/p/{profile_id}"
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            client.get(page)
    logged = [(line["route"], line["status"], line["profile"]) for line in lines]
    assert logged == [("/p/{profile_id}", 200, profile_id[:6])] * 3
    name = 'roofline_requests_total{method="GET",route="/p/{profile_id}",status="200"} 3.0'
    assert name in client.get("/metrics").text


def test_encrypted_connection_is_told_to_stay_so(launch: Launch, capture: bytes) -> None:
    client = launch(reached="behind-proxy")
    page = f"/p/{client.upload(capture).json()['id']}"
    for _ in range(2):
        assert "strict-transport-security" not in client.get(page).headers
        through_tls = client.get(page, headers={"x-forwarded-proto": "https"})
        assert "strict-transport-security" in through_tls.headers


def test_no_memory_keeps_nothing(launch: Launch, capture: bytes, drawn: Drawn) -> None:
    client = launch(kept_answers_bytes=0)
    page = f"/p/{client.upload(capture).json()['id']}"
    for _ in range(2):
        drawn.new()
        assert client.get(page).status_code == 200
        assert drawn.new()


def test_servers_that_share_a_database_keep_nothing() -> None:
    """A profile that one of them deletes must be gone from all."""
    for shared, is_kept in (
        (Settings.from_env(), True),
        (Settings.from_env(database_url="postgresql://db/roofline"), False),
    ):
        answers = room_for_answers(shared)
        answers.put("page", b"drawn")
        assert (answers.get("page") is not None) == is_kept


def test_memory_is_limited_and_goes_to_what_is_asked_for() -> None:
    kept = Memory[bytes](10, len)
    for number in range(10):
        kept.put(str(number), b"x")
    assert kept.get("0")
    kept.put("new", b"x")
    assert [number for number in range(10) if kept.get(str(number)) is None] == [1]
    assert kept.get("new")
    kept.put("large", bytes(11))
    assert kept.get("large") is None


@pytest.mark.parametrize("encoding", ["zstd", "gzip"])
def test_a_packed_answer_takes_no_more_memory_than_its_bytes(encoding: str) -> None:
    """What zstandard returns holds room for the worst case: caches took four times their limit."""
    content = random.Random(1).randbytes(2_000) * 60
    packed(content, encoding)  # loads the module
    tracemalloc.start()
    kept = packed(content, encoding)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) < taken < 2 * len(kept)


def test_page_depends_on_what_was_measured_on_this_machine(
    client: Client, profile_id: str, drawn: Drawn
) -> None:
    page, path = f"/p/{profile_id}", machine_files()[0]
    client.get(page)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    drawn.new()
    try:
        client.get(page)
    finally:
        path.unlink()
    assert drawn.new()


def test_what_many_ask_for_and_cannot_be_kept_is_answered_to_all(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = [client.start("GET", f"{API}/unknown/roofline") for _ in range(20)]
    assert {request.result(timeout=60).status_code for request in asking} == {404}

    def broken(_self: ProfileReader, _asked: str) -> Any:
        raise RuntimeError("a fault of the server")

    monkeypatch.setattr(ProfileReader, "state", broken)
    asking = [client.start("GET", "/p/any") for _ in range(20)]
    assert {request.result(timeout=60).status_code for request in asking} == {500}


def test_nobody_waits_for_a_slow_client(client: Client, profile_id: str) -> None:
    """A client that asked first, and reads nothing, does not delay others with the same page."""
    path = f"/p/{profile_id}"
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"accept-encoding", b"gzip")],
        "scheme": "http",
        "http_version": "1.1",
    }
    stuck = threading.Event()

    async def receive() -> dict[str, Any]:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(_message: Any) -> None:
        stuck.set()
        await anyio.sleep_forever()

    slow = client._portal.start_task_soon(client.app, scope, receive, send)
    assert stuck.wait(timeout=60)
    answers = [client.start("GET", path, headers={"accept-encoding": "gzip"}) for _ in range(5)]
    assert {answer.result(timeout=60).status_code for answer in answers} == {200}
    slow.cancel()


def test_long_offer_of_encodings_is_cut_behind_one_that_is_whole() -> None:
    """`gzip;q=0`, cut in two, offered what it refuses."""
    offered = b"x" * (OFFER_LENGTH - 6) + b", gzip;q=0"
    request = Request({"type": "http", "headers": [(b"accept-encoding", offered)]})
    assert not accepts(request, "gzip")
    assert accepts(
        Request({"type": "http", "headers": [(b"accept-encoding", b"br, gzip")]}), "gzip"
    )


def spelled(text: str, choice: random.Random) -> str:
    """The same text with some of its characters percent-encoded."""
    return "".join(
        f"%{ord(ch):02{choice.choice('xX')}}" if choice.random() < 0.3 else ch for ch in text
    )


SHOWN_BY = (
    *(("from_us", "0"), ("to_us", "3000"), ("to_us", "1e9"), ("dvfs", "on")),
    *(("dev", "h100-sxm"), ("peak.hbm", "100"), ("v", "2"), ("fro m_us", "0")),
)


@contextmanager
def nothing_kept(client: Client) -> Iterator[None]:
    """As if the server had just been started."""
    memories: tuple[Memory[Any], ...] = (client.parts.answers, client.parts.ranges)
    kept: list[dict[str, Any]] = [dict(memory._values) for memory in memories]
    for memory in memories:
        memory._values.clear()
    yield
    for memory, values in zip(memories, kept, strict=True):
        for key, value in values.items():
            memory._values[key] = value


def test_pages_follow_the_run_that_measured_what_was_done(client: Client, capture: bytes) -> None:
    """A kept page said that a finding waits for a run that had gone, or had measured it."""
    before, after = (client.upload(capture, title="nightly").json()["id"] for _ in range(2))
    finding = client.get(f"{API}/{before}/advice").json()["findings"][0]["id"]
    decision = f"{API}/{before}/decisions"

    def decide(state: str) -> None:
        client.post(decision, json={"finding": finding, "state": state})

    steps: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "done": lambda: decide("accepted"),
        "measured": lambda: client.get(f"/p/{after}"),
        "trash": lambda: client.delete(f"{API}/{before}"),
        "restored": lambda: client.post(f"{API}/{before}/restore"),
        "taken back": lambda: decide("open"),
        "done again": lambda: decide("accepted"),
        "gone": lambda: client.erase(before),
    }
    for name, step in steps.items():
        step()
        for page in (f"/p/{after}", f"/p/{before}"):
            kept = client.get(page)
            with nothing_kept(client):
                drawn = client.get(page)
            assert kept.status_code == drawn.status_code, (name, page)
            assert kept.status_code == 404 or kept.text == drawn.text, (name, page)


@pytest.mark.parametrize(
    ("kept_bytes", "examples"), [(1 << 25, 8), (0, 4)], ids=["alone", "with a shared database"]
)
def test_no_spelling_of_an_address_gets_the_page_of_another(
    launch: Launch, capture: bytes, kept_bytes: int, examples: int
) -> None:
    client = launch(kept_answers_bytes=kept_bytes)
    page = f"/p/{client.upload(capture).json()['id']}"

    @settings(max_examples=examples, deadline=None, database=None)
    @given(st.lists(st.sampled_from(SHOWN_BY), max_size=3), st.randoms(use_true_random=False))
    def is_the_same(pairs: list[tuple[str, str]], choice: random.Random) -> None:
        query = "&".join(
            f"{spelled(name, choice)}={spelled(value, choice)}" for name, value in pairs
        )
        answer = client.get(f"{page}?{query}")
        with nothing_kept(client):
            drawn = client.get(f"{page}?{query}")
        assert (answer.status_code, answer.text) == (drawn.status_code, drawn.text)

    client.get(page)
    is_the_same()


def test_a_page_is_of_what_the_database_says_now(launch: Launch, capture: bytes) -> None:
    client = launch(kept_answers_bytes=0)
    body = client.upload(capture, title="Before").json()
    assert "Before" in client.get(f"/p/{body['id']}").text
    with client.parts.instance.store.database.write() as connection:  # as another server does
        connection.exec_driver_sql("UPDATE profile SET title = 'After <it>'")
    page = client.get(f"/p/{body['id']}").text
    assert "After &lt;it&gt;" in page
    assert "Before" not in page


def test_frame_holds_no_person(launch: Launch, capture: bytes) -> None:
    client = launch(auth="token", token=TOKEN, kept_answers_bytes=0)
    ada, eve = session(client, name="Ada <3"), session(client, name="Eve")
    client.forget_cookies()
    path = f"/p/{client.upload(capture, headers=BEARER).json()['id']}"
    pages = [client.get(path, headers=headers).text for headers in (ada, eve, BEARER)]
    for page, headers, name in zip(pages, (ada, eve), ("Ada &lt;3", "Eve"), strict=False):
        assert page.count(headers["x-csrf-token"]) == 2
        assert f"Logged in as {name}" in page
    assert "Logged in" not in pages[2] and "csrf" not in pages[2]
    assert (
        pages[1]
        .replace(eve["x-csrf-token"], ada["x-csrf-token"])
        .replace("Logged in as Eve", "Logged in as Ada &lt;3")
        == pages[0]
    )

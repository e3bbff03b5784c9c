"""Imports run in children: followed, cancelled, limited, and never the end of the server."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from roofline.children.program import Program
from tests.web import children
from tests.web.conftest import Client, Launch


def wait_for(
    client: Client, profile_id: str, *, phase: str | None = None, state: str = ""
) -> dict[str, Any]:
    """Polls until the profile is in `phase` or `state`."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        body: dict[str, Any] = client.get(f"/api/v1/profiles/{profile_id}").json()
        if body["state"] == state or (phase and body.get("progress", {}).get("phase") == phase):
            return body
        time.sleep(0.02)
    raise AssertionError(f"still {body}")


def misbehave(monkeypatch: pytest.MonkeyPatch, child: Callable[..., object]) -> None:
    work = f"tests.web.children:{child.__name__}"
    monkeypatch.setattr("roofline.imports.children.WORK", work)


def test_import_can_be_followed_and_cancelled(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, children.linger)
    before = client.listing()
    answer = client.upload(b"content", wait=0, title="slow")
    body = answer.json()
    assert (answer.status_code, body["state"], body["title"]) == (201, "importing", "slow")
    profile_id = body["id"]
    progress = wait_for(client, profile_id, phase="read")["progress"]
    assert progress["fraction"] == 0.5
    assert 0 < progress["overall"] < 1
    for result in ("page", "roofline", "roofline.csv", "ops/0", "source"):
        early = client.get(f"/api/v1/profiles/{profile_id}/{result}")
        assert (early.status_code, early.json()["code"]) == (409, "not-ready")
        assert early.headers["retry-after"]
    page = client.get(f"/p/{profile_id}", headers={"accept": "text/html"})
    assert page.status_code == 200
    assert "slow" in page.text
    client.erase(profile_id)
    assert client.listing() == before
    assert client.get(f"/api/v1/profiles/{profile_id}").status_code == 404


def test_waiting_ends_after_the_time_asked_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, children.linger)
    started = time.monotonic()
    body = client.upload(b"content", wait=0.3).json()
    assert body["state"] == "importing"
    assert 0.3 <= time.monotonic() - started < 5
    client.erase(body["id"])


@pytest.mark.parametrize(
    ("child", "said"),
    [
        (children.abort, "SIGABRT"),
        (children.leave, "exit status 3"),
        (children.babble, "unexpectedly"),
    ],
)
def test_child_that_dies_is_a_failed_profile_with_a_message(
    client: Client, monkeypatch: pytest.MonkeyPatch, child: Callable[..., object], said: str
) -> None:
    misbehave(monkeypatch, child)
    before = client.listing()
    answer = client.upload(b"content")
    assert answer.status_code == 422
    body = answer.json()
    assert said in body["message"]
    assert body["code"] == "import-stopped"
    assert body["remedy"]
    assert client.get(f"/api/v1/profiles/{body['id']}").json()["retry_url"] == body["retry_url"]
    deletes(client, body)
    assert client.listing() == before
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("child", [children.be_killed, children.promise])
def test_what_the_machine_or_the_server_ends_is_tried_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, child: Callable[..., object]
) -> None:
    with monkeypatch.context() as patched:
        misbehave(patched, child)
        body = client.upload(b"content", wait=1).json()
    assert body["state"] == "importing"
    assert wait_for(client, body["id"], state="failed")["code"] == "unknown-format"
    deletes(client, body)


def test_failure_is_remembered_for_the_page(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, children.linger)
    profile_id = client.upload(b"content", wait=0).json()["id"]
    client.parts.library.cancel(profile_id)
    body = wait_for(client, profile_id, state="failed")
    assert body["code"] == "import-stopped"
    assert "cancelled" in body["message"]
    page = client.get(f"/p/{profile_id}", headers={"accept": "text/html"})
    assert "cancelled" in page.text
    assert client.delete(f"/api/v1/profiles/{profile_id}").status_code == 204
    assert client.get(f"/api/v1/profiles/{profile_id}").status_code == 404


def test_import_past_its_duration_is_stopped(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, children.linger)
    body = launch(import_wall_seconds=0.3).upload(b"content").json()
    assert "ROOFLINE_IMPORT_WALL_SECONDS" in body["remedy"]


def test_import_past_its_processor_time_is_stopped(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, children.spin)
    body = launch(import_cpu_seconds=1).upload(b"content").json()
    assert "ROOFLINE_IMPORT_CPU_SECONDS" in body["remedy"]


def test_import_past_its_memory_is_stopped(launch: Launch, capture: bytes) -> None:
    client = launch(import_memory_bytes=1)
    before = client.listing()
    body = client.upload(capture).json()
    assert body["code"] == "import-stopped"
    assert "memory" in body["message"]
    deletes(client, body)
    assert client.listing() == before


def deletes(client: Client, refused: dict[str, str]) -> None:
    """The uploader of a failed import does not want its files kept."""
    held = {"x-delete-token": refused["delete_token"]}
    client.erase(refused["id"], headers=held)


def test_imports_wait_for_a_free_worker(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    misbehave(monkeypatch, children.linger)
    client = launch(import_workers=1)
    first, second = (client.upload(b"content", wait=0).json()["id"] for _ in range(2))
    wait_for(client, first, phase="read")
    assert wait_for(client, second, phase="queued")["progress"]["overall"] == 0
    for profile_id in (second, first):
        assert client.delete(f"/api/v1/profiles/{profile_id}").status_code == 204
    assert not [path for path in client.listing() if path.startswith("incoming/")]


def test_stopping_the_server_ends_its_imports(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, children.linger)
    client = launch()
    profile_id = client.upload(b"content", wait=0).json()["id"]
    wait_for(client, profile_id, phase="read")
    started = time.monotonic()
    client.parts.instance.close()
    assert time.monotonic() - started < 5
    assert not [path for path in client.listing() if path.startswith("incoming/")]


def test_import_reaches_nobody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "from roofline.children.sandbox import give_up_network; print(give_up_network())"
    may_leave = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    if may_leave.stdout.strip() != "True":
        pytest.skip("this system lets no process of this user leave the network")
    misbehave(monkeypatch, children.reach)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        body = client.upload(address.encode()).json()
    assert body["message"] in ("EPERM", "ENETUNREACH"), "no sockets at all, else no network"


def test_import_knows_no_secret(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"AWS_SECRET_ACCESS_KEY": "x", "PGPASSWORD": "x", "ROOFLINE_DATABASE_URL": "x"}
    for name, value in {**secrets, "LC_ALL": "C"}.items():
        monkeypatch.setenv(name, value)
    misbehave(monkeypatch, children.tell)
    with fresh_fork_server(monkeypatch):
        known = client.upload(b"content").json()["message"].split()
    assert not set(known) & {*secrets, "requests"}
    assert {"LC_ALL", "PATH"} <= set(known)


@contextmanager
def fresh_fork_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """That of this process was started before the test changed the variables."""
    program = Program("roofline.children.forkserver", "roofline.imports.child")
    monkeypatch.setattr("roofline.imports.children._PROGRAM", program)
    try:
        yield
    finally:
        program.close()

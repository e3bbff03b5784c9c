"""Uploads: accepted and refused ones, and that a refusal leaves no trace."""

import gzip
import io
import itertools
import random
import time
import zipfile
from collections.abc import AsyncIterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from roofline.settings import Settings
from roofline.storage.staging import IncomingFile
from roofline.web.parts import UPLOAD_WRITERS
from tests.web.conftest import PROBLEM_KEYS, Client, Launch, running


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def refused(answer: httpx.Response, *statuses: int) -> dict[str, str]:
    body = answer.json()
    assert answer.status_code in (statuses or (400, 413, 415, 422)), body
    kept = {"id", "url", "delete_token"} if "id" in body else set()
    assert set(body) == PROBLEM_KEYS | kept
    assert body["message"].endswith((".", "?"))
    assert body["remedy"]
    result: dict[str, str] = body
    return result


def test_upload_answers_with_the_link_of_a_ready_profile(client: Client, capture: bytes) -> None:
    answer = client.upload(capture, title="My run")
    body = answer.json()
    assert answer.status_code == 201
    assert body["state"] == "ready"
    assert body["title"] == "My run"
    assert body["url"] == f"http://localhost/p/{body['id']}" == answer.headers["location"]
    assert body["summary"]["device_kind"] == "tpu"
    assert body["summary"]["op_count"] > 0
    assert len(body.pop("delete_token")) >= 32
    assert client.get(f"/api/v1/profiles/{body['id']}").json() == body


def test_longest_note_and_every_tag_come_with_the_upload(client: Client, capture: bytes) -> None:
    note, tags = "é" * 10_000, [f"tag {number:02}" for number in range(20)]
    body = client.upload(capture, tag=tags, title="Run", note=note).json()
    assert (body["title"], body["note"], body["tags"]) == ("Run", note, tags)


def test_title_is_taken_from_the_file_names(client: Client, hosts: tuple[bytes, ...]) -> None:
    assert client.upload(hosts[0], names=("runA.xplane.pb.gz",)).json()["title"] == "runA"
    many = client.upload(*hosts, names=("llama-0.pb", "llama-1.pb", "llama-2.pb")).json()
    assert many["title"] == "llama-0 and 2 more"


def test_title_is_of_folder_or_program_where_the_files_say_nothing(
    client: Client, hosts: tuple[bytes, ...]
) -> None:
    """Lists had "host_0" a hundred times, and "reference" six times."""
    one = client.upload(hosts[0]).json()
    assert one["title"] == "train_step"
    assert client.get("/s/train_step").text.count(f"/p/{one['id']}"), "a series has its runs"
    inside = client.upload(hosts[0], folder="logs/llama-7b/plugins/profile/2026_11_22").json()
    assert inside["title"] == "llama-7b"
    given = client.upload(hosts[0], title="host_0").json()
    assert given["title"] == "host_0", "a title that a person gave stays"


def test_several_files_are_the_hosts_of_one_profile(
    client: Client, hosts: tuple[bytes, ...]
) -> None:
    body = client.upload(*hosts).json()
    assert body["summary"]["host_count"] == 3
    assert [file["name"] for file in body["files"]] == [f"host_{k}.xplane.pb" for k in range(3)]


@pytest.mark.parametrize("name", ["h.xplane.pb.gz", "no-suffix"])
def test_gzip_is_read(client: Client, capture: bytes, name: str) -> None:
    assert client.upload(gzip.compress(capture), names=(name,)).status_code == 201


def test_zip_of_hosts_is_read_and_other_files_in_it_are_noted(
    client: Client, hosts: tuple[bytes, ...]
) -> None:
    members = {f"run/h{k}.xplane.pb": content for k, content in enumerate(hosts)}
    answer = client.upload(zipped({**members, "README.md": b"# Notes"}), names=("run.zip",))
    body = answer.json()
    assert (answer.status_code, body["summary"]["host_count"]) == (201, 3)
    page = client.get(f"/api/v1/profiles/{body['id']}/page").json()
    notes = [note for note in page["diagnostics"] if note["code"] == "skipped-files"]
    assert "README.md" in notes[0]["message"]


def bad_inputs(capture: bytes) -> dict[str, tuple[str, bytes]]:
    tenth = len(capture) // 10
    cuts = {f"cut-{k}": ("cut.pb", capture[: k * tenth + 1]) for k in range(1, 10)}
    return {
        **cuts,
        "empty": ("empty.pb", b""),
        "random": ("random.bin", random.Random(7).randbytes(5000)),
        "text": ("notes.txt", b"These are notes, not a profile.\n" * 50),
        "html": ("page.html", b"<!doctype html><title>x</title>"),
        "zip in zip": ("outer.zip", zipped({"inner.zip": zipped({"a.pb": capture})})),
        "zip bomb": ("bomb.zip", zipped({"zeros": bytes(30 << 20)})),
        "gzip bomb": ("bomb.gz", gzip.compress(bytes(30 << 20))),
        "zip of text": ("notes.zip", zipped({"README.md": b"# Notes"})),
        "empty zip": ("empty.zip", zipped({})),
        "cut gzip": ("cut.gz", gzip.compress(capture)[:-100]),
    }


def test_every_bad_file_is_explained_and_leaves_no_trace_once_deleted(
    launch: Launch, capture: bytes
) -> None:
    client = launch(max_unpacked_bytes=10 << 20)
    client.upload(capture)
    before = client.listing()
    for label, (name, content) in bad_inputs(capture).items():
        body = refused(client.upload(content, names=(name,)))
        assert "Traceback" not in body["message"], label
        client.erase(body["id"])
        assert client.listing() == before, label


def test_bad_file_among_good_ones_refuses_all_and_keeps_them(
    client: Client, capture: bytes
) -> None:
    before = client.listing()
    answer = client.upload(capture, b"hello, world" * 20, names=("a.pb", "b.txt"))
    body = answer.json()
    assert (answer.status_code, body["code"]) == (400, "mixed-upload")
    assert "b.txt" in body["message"]
    assert client.listing() != before, "to go on without the bad one"
    client.erase(body["id"])
    assert client.listing() == before


def test_upload_past_the_limit_is_413(launch: Launch) -> None:
    client = launch(max_upload_bytes=100_000)
    before = client.listing()
    for content in (bytes(100_001), bytes(3_000_000)):
        assert refused(client.upload(content), 413)["code"] == "upload-too-large"
    assert client.listing() == before


def test_limit_holds_without_a_declared_length(launch: Launch) -> None:
    client = launch(max_upload_bytes=100_000)

    async def body() -> AsyncIterator[bytes]:
        yield b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        for _ in range(40):
            yield bytes(10_000)
        yield b"\r\n--XX--\r\n"

    answer = client.post(
        "/api/v1/profiles",
        content=body(),
        headers={"content-type": "multipart/form-data; boundary=XX"},
    )
    refused(answer, 413)


def test_too_many_files_are_refused(launch: Launch) -> None:
    client = launch(max_files=3)
    before = client.listing()
    assert "more than 3 files" in refused(client.upload(*[b"x"] * 4), 400)["message"]
    assert client.listing() == before


PART = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.pb"\r\n\r\n'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(b"", "ended before", id="nothing"),
        pytest.param(PART + b"abc", "ended before", id="cut in a file"),
        pytest.param(PART + b"abc\r\n--XX", "ended before", id="cut in a boundary"),
        pytest.param(b"garbage" * 10, "malformed", id="no boundary"),
        pytest.param(b"--XX\r\nbroken header\x00\r\n\r\nx", "malformed", id="bad header"),
        pytest.param(b"--XX--\r\n", "no file", id="no parts"),
        pytest.param(
            b'--XX\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n--XX--\r\n',
            "no file",
            id="only a title",
        ),
        pytest.param(
            b'--XX\r\nContent-Disposition: form-data; name="title"\r\n\r\n' + b"T" * 70_000,
            "too long",
            id="long title",
        ),
        pytest.param(
            b'--XX\r\nContent-Disposition: form-data; name="tag"\r\n\r\nT\r\n' * 42,
            "more than 40 text fields",
            id="too many tags",
        ),
        pytest.param(
            PART.replace(b'"file"', b'"upload"') + b"abc\r\n--XX--\r\n",
            "named 'file'",
            id="other field",
        ),
    ],
)
def test_malformed_body_is_explained(client: Client, body: bytes, said: str) -> None:
    before = client.listing()
    answer = refused(client.raw(body), 400)
    assert said in answer["message"] + answer["remedy"]
    assert client.listing() == before


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data", "text/plain"])
def test_body_that_is_no_form_is_explained(client: Client, kind: str) -> None:
    assert "curl" in refused(client.raw(b"{}", kind), 400)["remedy"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\host.pb", "host.pb"),
        ("/", "unnamed"),
        ("Größe – 测试.pb", "Größe – 测试.pb"),
        ("a" * 400, "a" * 255),
        ("<img src=x onerror=alert(1)>.pb", "<img src=x onerror=alert(1)>.pb"),
    ],
)
def test_file_names_are_data(client: Client, capture: bytes, name: str, shown: str) -> None:
    body = client.upload(capture, names=(name,)).json()
    assert body["files"][0]["name"] == shown
    stored = "\n".join(client.listing())
    assert not any(part in stored for part in ("passwd", "host.pb", "img", "aaaa"))


def test_identical_uploads_share_blobs_and_are_separate_profiles(
    client: Client, capture: bytes
) -> None:
    first, second = (client.upload(capture).json()["id"] for _ in range(2))
    blobs = [
        path for path in client.listing() if path.startswith("blobs/") and path.count("/") == 2
    ]
    assert len(blobs) == 1
    assert client.delete(f"/api/v1/profiles/{first}").status_code == 204
    assert client.get(f"/api/v1/profiles/{second}/source").content == capture


def test_concurrent_uploads_all_succeed(client: Client, capture: bytes) -> None:
    def send(number: int) -> Future[httpx.Response]:
        content = capture + b"" if number % 2 else gzip.compress(capture, mtime=number)
        return client.start("POST", "/api/v1/profiles", files=[("file", (f"{number}.pb", content))])

    answers = [task.result(timeout=120) for task in [send(number) for number in range(8)]]
    assert [answer.status_code for answer in answers] == [201] * 8
    assert len({answer.json()["id"] for answer in answers}) == 8
    assert not [path for path in client.listing() if path.startswith("incoming/")]


def test_upload_that_would_fill_the_disk_is_refused_before_it_is_read(
    launch: Launch, capture: bytes
) -> None:
    client = launch(disk_reserve_bytes=1 << 60)
    before = client.listing()
    body = refused(client.upload(capture), 507)
    assert "kept free" in body["message"]
    assert client.listing() == before
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["message"][:18]) == (503, body["message"][:18])
    assert client.get("/api/v1/profiles").status_code == 200


def test_client_that_goes_away_leaves_no_trace(client: Client) -> None:
    before = client.listing()
    arriving: list[dict[str, Any]] = [
        {"type": "http.request", "body": PART + bytes(3 << 20), "more_body": True},
        {"type": "http.disconnect"},
    ]
    statuses = client.call("POST", "/api/v1/profiles", arriving)
    assert statuses == [400]
    assert client.listing() == before


def test_client_that_trickles_is_given_up(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then is neither silence nor an upload."""
    seconds = itertools.count()
    monkeypatch.setattr(
        "roofline.web.api.uploads.time", SimpleNamespace(monotonic=seconds.__next__)
    )
    before = client.listing()
    pieces = [PART, *[b"x"] * 100]
    arriving = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    assert client.call("POST", "/api/v1/profiles", arriving) == [400]
    assert 60 < next(seconds) / 2 < 70, "given up after the pause that is allowed"
    assert client.listing() == before


def test_client_that_falls_silent_is_given_up(launch: Launch) -> None:
    client = launch(upload_idle_seconds=0.2)
    before = client.listing()
    arriving = [{"type": "http.request", "body": PART + bytes(1000), "more_body": True}]
    assert client.call("POST", "/api/v1/profiles", arriving) == [400]
    assert client.listing() == before


def test_long_file_names_are_cut_and_longer_ones_said(client: Client, capture: bytes) -> None:
    def send(length: int) -> dict[str, Any]:
        head = f'--XX\r\nContent-Disposition: form-data; name="file"; filename="{"n" * length}"'
        body = head.encode() + b"\r\n\r\n" + capture + b"\r\n--XX--\r\n"
        found: dict[str, Any] = client.raw(body).json()
        return found

    assert len(send(6000)["files"][0]["name"]) == 255
    error = send(20_000)
    assert "malformed" not in error["message"]
    assert "name" in error["message"]
    assert "shorter name" in error["remedy"]


def test_uploads_at_the_same_time_share_their_writers(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread for each of twenty uploads made every other answer wait for Python's lock."""
    writing: list[int] = []
    most = [0]
    write = IncomingFile.write

    def watched(file: IncomingFile, chunk: bytes | memoryview) -> None:
        writing.append(1)
        most[0] = max(most[0], len(writing))
        time.sleep(0.002)
        write(file, chunk)
        writing.pop()

    monkeypatch.setattr(IncomingFile, "write", watched)
    content = capture + bytes(6 << 20)
    sent = [
        client.start("POST", "/api/v1/profiles?wait=0", files={"file": (f"{n}.pb", content)})
        for n in range(8)
    ]
    assert {one.result(timeout=60).status_code for one in sent} == {201}
    assert most[0] == UPLOAD_WRITERS


def test_a_data_folder_named_from_the_working_directory_takes_uploads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capture: bytes
) -> None:
    """`make run` names it so, and children that read uploads work in folders of their own."""
    monkeypatch.chdir(tmp_path)
    with running(Settings.from_env(data_dir=Path("data"))) as client:
        assert client.upload(capture).json()["state"] == "ready"
    assert (tmp_path / "data").is_dir()

"""What becomes slow when a server grows: answers beside uploads, and lists of many profiles."""

import http.client
import multiprocessing
import random
import secrets
import statistics
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import orjson
from sqlalchemy import insert, text

from roofline.storage import tables
from roofline.storage.database import Database
from roofline.storage.records import Summary
from roofline.storage.search_text import search_text
from tests.browser.serving import Server, serving
from tests.tools.services import postgres, postgres_folder

T = TypeVar("T")
UPLOADS, UPLOAD_BYTES = 20, 30_000_000
HEALTH_MS, LIST_MS = 50, 60
ASKED = 200
WORDS = ("llama", "gemma", "moe", "decode", "prefill", "batch", "nightly", "fused", "bf16", "fp8")
SUMMARY = Summary(
    device="TPU v5e",
    device_kind="TPU",
    core_count=8,
    core_word="core",
    host_count=4,
    op_count=400,
    bound_by="HBM",
    bound_kind="memory",
    bound_token="hbm",
    efficiency_ratio=0.5,
)


def during_uploads(server: Server) -> list[str]:
    """How long `/healthz` takes while twenty files of 30 MB come in."""
    port = port_of(server)
    _, said = beside(port, upload_many, port)
    size = f"{UPLOADS} uploads of {UPLOAD_BYTES / 1e6:.0f} MB"
    return ["", f"`/healthz` beside {size}: {said}."]


def beside(port: int, work: Callable[..., T], *given: Any) -> tuple[T, str]:
    """What `work` returns, and what is to be said of `/healthz` meanwhile.

    The work is done in a process of its own: senders of this one would wait for each other and for
    the one that asks, and that would count as the server's time.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        done = process.submit(work, *given)
        times = _times(port, "/healthz", iter(done.done, True))
        return done.result(), _said(times, HEALTH_MS)


def port_of(server: Server) -> int:
    """The port at which a server of a bench listens."""
    return int(server.url.rpartition(":")[2])


def upload_many(port: int) -> None:
    """Sends the files, all at the same time."""
    content = random.Random(1).randbytes(UPLOAD_BYTES)
    uploads = [threading.Thread(target=_upload, args=(port, content)) for _ in range(UPLOADS)]
    for upload in uploads:
        upload.start()
    for upload in uploads:
        upload.join()


def many_profiles(root: Path, count: int) -> list[str]:
    """How long the home page and a search take with `count` profiles of ten users."""
    lines = _lists(root, count, "SQLite", None)
    if postgres_folder() is None:
        return [*lines, "", "PostgreSQL is not installed here."]
    with postgres() as database:
        return lines + _lists(
            root.with_name(f"{root.name}-team"), count, "PostgreSQL", database.url
        )


def _lists(root: Path, count: int, name: str, url: str | None) -> list[str]:
    _fill(root / "data", count, url)
    lines = ["", f"With {count:,} profiles of ten users in {name}:"]
    settings = {} if url is None else {"ROOFLINE_DATABASE_URL": url, "ROOFLINE_RUNNER": "local:1"}
    with serving(root, settings) as server:
        port = port_of(server)
        with urllib.request.urlopen(f"{server.url}/api/v1/profiles?limit=1") as answer:
            assert orjson.loads(answer.read())["total"] == count
        for name, path in (
            ("home page", "/"),
            ("search, some found", "/?q=llama+decode"),
            ("search, none found", "/?q=nothing"),
            ("tag", "/?tag=nightly"),
        ):
            times = _times(port, path, iter(range(ASKED)))
            lines.append(f"{name}: {_said(times, LIST_MS)}.")
    return lines


def _times(port: int, path: str, turns: Iterator[object]) -> list[float]:
    """The milliseconds of one answer in each turn."""
    connection, times = http.client.HTTPConnection("127.0.0.1", port), []
    for _ in turns:
        started = time.perf_counter()
        connection.request("GET", path)
        connection.getresponse().read()
        times.append((time.perf_counter() - started) * 1000)
        time.sleep(0.005)
    connection.close()
    return times


def _said(times: list[float], aim_ms: float) -> str:
    p99 = statistics.quantiles(times, n=100, method="inclusive")[98]
    missed = "" if p99 < aim_ms else " missed"
    median = statistics.median(times)
    return f"p50 {median:.3g} ms, p99 {p99:.3g} ms (aim: p99 < {aim_ms} ms{missed})"


def _upload(port: int, content: bytes) -> None:
    head = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Content-Type": "multipart/form-data; boundary=XX"}
    body = b"".join((head, content, b"\r\n--XX--\r\n"))
    connection.request("POST", "/api/v1/profiles?wait=0", body, headers)
    connection.getresponse().read()
    connection.close()


def _fill(root: Path, count: int, url: str | None) -> None:
    """Rows as imports leave them."""
    root.mkdir(parents=True)
    database, chance = Database(root, url), random.Random(1)
    database.migrate()
    profiles, files, tags = [], [], []
    for number in range(count):
        row, own_files, own_tags = rows_of_profile(number, chance)
        profiles.append(row)
        files.extend(own_files)
        tags.extend(own_tags)
    with database.write() as connection:
        for table, rows in ((tables.profile, profiles), (tables.file, files), (tables.tag, tags)):
            connection.execute(insert(table), rows)
        # Both databases plan by counts of rows; the autovacuum of PostgreSQL takes them within a
        # minute of such growth.
        connection.execute(text("ANALYZE"))
    database.close()


Row = dict[str, Any]


def rows_of_profile(number: int, chance: random.Random) -> tuple[Row, list[Row], list[Row]]:
    """The rows of one profile of ten users: its own, those of its files, those of its tags."""
    profile_id = secrets.token_urlsafe(16)
    title, note = " ".join(chance.choices(WORDS, k=5)), " ".join(chance.choices(WORDS, k=30))
    uploader, tags = f"user{number % 10}@example.org", sorted(set(chance.choices(WORDS, k=3)))
    files = [f"host_{host}.xplane.pb" for host in range(4)]
    row = {
        "id": profile_id,
        "title": title,
        "note": note,
        "uploader": uploader,
        "created_at": f"2026-01-{1 + number % 28:02d}T00:00:00Z",
        "state": "ready",
        "format": "XSpace",
        "device": SUMMARY.device,
        "summary": orjson.dumps(asdict(SUMMARY)).decode(),
        "search_text": search_text([title, note, SUMMARY.device, uploader, *tags, *files]),
    }
    sizes = {"size_bytes": 10_000_000, "stored_bytes": 2_000_000}
    own_files = [
        {
            "profile_id": profile_id,
            "position": at,
            "name": name,
            "sha256": secrets.token_hex(32),
            **sizes,
        }
        for at, name in enumerate(files)
    ]
    return row, own_files, [{"profile_id": profile_id, "name": name} for name in tags]

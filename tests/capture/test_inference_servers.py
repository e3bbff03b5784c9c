"""Captures of vLLM and SGLang, by servers that answer as they do."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from roofline.capture import inference_servers
from roofline.capture.inference_servers import ServerCapture, capture_server
from roofline.errors import CaptureFailedError

TRACE = json.dumps({"traceEvents": []})


class _Server(http.server.BaseHTTPRequestHandler):
    """Writes a trace into the folder of the request (SGLang), or into its own (vLLM)."""

    routes: frozenset[str] = frozenset()
    folder: Path
    asked: list[tuple[str, Any]]

    def log_message(self, *_arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(self.path in self.routes)

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(size)) if size else None
        self.asked.append((self.path, body))
        ends = self.path == "/stop_profile" or (body or {}).get("num_steps")
        if ends and self.path in self.routes:
            (self.folder / "rank0.pt.trace.json").write_text(TRACE)
        self._answer(self.path in self.routes)

    def _answer(self, is_known: bool) -> None:
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def serving(folder: Path, *routes: str) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    asked: list[tuple[str, Any]] = []
    facts = {"routes": frozenset(routes), "folder": folder, "asked": asked}
    handler = type("Handler", (_Server,), facts)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference_servers, "_STILL_S", 0.1)
    monkeypatch.setattr(inference_servers, "_LOOK_S", 0.05)


def taken(url: str, **wish: Any) -> list[str]:
    found = capture_server(ServerCapture(url=url, duration_ms=10, **wish), lambda _text: None)
    return [path.name for path in found]


def test_vllm_writes_into_the_folder_that_it_was_started_with(tmp_path: Path) -> None:
    (tmp_path / "older.json").write_text(TRACE)
    with serving(tmp_path, "/start_profile", "/stop_profile") as (url, asked):
        assert taken(url, remote_dir=tmp_path) == ["rank0.pt.trace.json"]
    assert asked == [("/start_profile", None), ("/stop_profile", None)]


def test_sglang_is_told_the_folder_and_ends_by_itself_after_its_steps(tmp_path: Path) -> None:
    routes = ("/get_server_info", "/start_profile", "/stop_profile")
    with serving(tmp_path, *routes) as (url, asked):
        assert taken(url, remote_dir=tmp_path, steps=4) == ["rank0.pt.trace.json"]
    ((path, body),) = asked
    assert path == "/start_profile"
    assert body == {
        "output_dir": str(tmp_path),
        "num_steps": 4,
        "activities": ["CPU", "GPU"],
        "record_shapes": True,
        "with_stack": False,
    }


def test_a_server_without_its_profiler(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _), pytest.raises(CaptureFailedError) as caught:
        taken(url, remote_dir=tmp_path)
    assert caught.value.message == "This server was started without its profiler."
    assert "--profiler-config" in caught.value.remedy


def test_a_folder_is_needed_where_the_server_chooses_it(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "/start_profile") as (url, asked),
        pytest.raises(CaptureFailedError, match="its own disk") as caught,
    ):
        taken(url)
    assert "--remote-dir" in caught.value.remedy
    assert asked == []


def test_no_server() -> None:
    with pytest.raises(CaptureFailedError, match="Nothing answers"):
        taken("http://127.0.0.1:1")

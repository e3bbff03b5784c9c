"""Captures of servers that answer as programs do: each way to fail has its sentence."""

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from roofline.capture import profiler_service
from roofline.capture.profiler_service import (
    CaptureOptions,
    ProfilerClient,
    capture_hosts,
    file_names,
)
from roofline.errors import CaptureFailedError
from tests.capture.profiler import Answer, failing, profiler

SHORT = CaptureOptions(duration_ms=20)
EMPTY = bytes.fromhex("38014200")
_XSPACE = b"\x42\x05space"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiler_service, "BUSY_PAUSES_S", (0.0,) * 5)
    monkeypatch.setattr(profiler_service, "RETRY_PAUSE_S", 0.0)


@pytest.fixture
def http_address() -> Iterator[str]:
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def captured(address: str, options: CaptureOptions = SHORT, most_bytes: int = 1 << 20) -> bytes:
    client = ProfilerClient(address, most_bytes=most_bytes)
    try:
        return client.capture(options, retries=0)
    finally:
        client.close()


def in_turn(*answers: Answer) -> Answer:
    left = list(answers)
    return lambda request, context: (left.pop(0) if len(left) > 1 else left[0])(request, context)


def giving(content: bytes) -> Answer:
    return lambda _request, _context: content


BUSY = failing(grpc.StatusCode.INTERNAL, "Another profiling session active.")


def test_the_bytes_of_the_answer_are_the_file() -> None:
    with profiler(Profile=giving(_XSPACE)) as address:
        assert captured(address) == b"space"


def test_waits_while_another_capture_runs() -> None:
    with profiler(Profile=in_turn(BUSY, BUSY, giving(_XSPACE))) as address:
        assert captured(address) == b"space"


def test_an_empty_capture_is_taken_again_for_twice_the_time() -> None:
    asked: list[bytes] = []

    def answer(request: bytes, _context: grpc.ServicerContext) -> bytes:
        asked.append(request)
        return _XSPACE if len(asked) == 2 else EMPTY

    with profiler(Profile=answer) as address:
        assert captured(address, CaptureOptions(duration_ms=500)) == b"space"
    assert [one[:3].hex() for one in asked] == ["08f403", "08e807"]


SAID: list[tuple[Answer, str, str]] = [
    (BUSY, "Another capture of the program at {} is running.", "Wait"),
    (giving(EMPTY), "Nothing ran on {} in 40 ms.", "--duration"),
    (giving(b""), "The program at {} is too old to send its capture", "--remote-dir"),
    (
        failing(grpc.StatusCode.UNIMPLEMENTED),
        "{} serves another protocol.",
        "start_server",
    ),
    (failing(grpc.StatusCode.DEADLINE_EXCEEDED), "The program at {} did not answer", "500ms"),
    (
        failing(grpc.StatusCode.RESOURCE_EXHAUSTED),
        "The capture of {} is larger than 1 MB.",
        "--duration 10 ms",
    ),
    (giving(b"\x42\xff\xff\x7f" + b"x" * (2 << 20)), "The capture of {} is larger than", "10 ms"),
    (failing(grpc.StatusCode.INTERNAL, "secret"), "The program at {} could not record", "log"),
]


@pytest.mark.parametrize(("answer", "message", "remedy"), SAID)
def test_each_failure_has_its_sentence(answer: Answer, message: str, remedy: str) -> None:
    with profiler(Profile=answer) as address, pytest.raises(CaptureFailedError) as caught:
        captured(address)
    assert caught.value.message.startswith(message.format(address))
    assert remedy in caught.value.remedy
    assert "secret" not in f"{caught.value.message} {caught.value.remedy}"


def test_nothing_listens() -> None:
    with pytest.raises(CaptureFailedError, match=r"Nothing listens at 127\.0\.0\.1:1\.") as caught:
        captured("127.0.0.1:1")
    assert caught.value.remedy == "Does the program call `jax.profiler.start_server(1)`?"


def test_an_http_server(http_address: str) -> None:
    with pytest.raises(CaptureFailedError, match="speaks HTTP") as caught:
        captured(http_address)
    assert f"http://{http_address}" in caught.value.remedy


def test_an_unknown_name() -> None:
    with pytest.raises(CaptureFailedError, match=r"The name nowhere\.invalid is not known"):
        captured("nowhere.invalid:9012")


def test_a_host_that_fails_does_not_end_the_others(tmp_path: Path) -> None:
    def took(*addresses: str) -> Callable[[], list[str | None]]:
        hosts = capture_hosts(
            addresses, SHORT, into=tmp_path, retries=0, most_bytes=1 << 20, say=lambda _text: None
        )
        return lambda: [None if one.path is None else one.path.name for one in hosts]

    with profiler(Profile=giving(_XSPACE)) as first, profiler(Profile=giving(_XSPACE)) as second:
        names = took(first, second, "127.0.0.1:1")()
    ports = [address.rpartition(":")[2] for address in (first, second)]
    assert names == [*(f"127.0.0.1_{port}.xplane.pb" for port in ports), None]


def test_hosts_have_the_names_they_were_asked_by() -> None:
    assert list(file_names(["tpu-w0:9012", "tpu-w1:9012", "[::1]:7"]).values()) == [
        "tpu-w0.xplane.pb",
        "tpu-w1.xplane.pb",
        "__1.xplane.pb",
    ]
